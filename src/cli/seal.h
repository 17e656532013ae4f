/*
 * seal.h: a process that holds people's records is nobody else's to look at.
 */
#ifndef SOTTO_CLI_SEAL_H
#define SOTTO_CLI_SEAL_H

#include "cli/cli.h"

#define SEAL_OPTION                                                            \
    {                                                                          \
        0, false, false, "allow-core", NULL,                                   \
            "let debuggers attach and a crash leave a core file:\n"            \
            "either shows the records"                                         \
    }

/*
 * Forbids core files and tracing of this process, and of what it forks, unless
 * --allow-core is given; to be called before a record is read. A process with
 * CAP_SYS_PTRACE is not kept out. Returns the exit status, the message printed.
 */
int seal_process(const struct cli_args *args);

#endif
