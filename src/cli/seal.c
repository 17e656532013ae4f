/*
 * seal.c: a process that holds people's records is nobody else's to look at.
 *
 * Not dumpable says both to Linux: no core file, whatever a pattern pipes it
 * into, and no ptrace, nor /proc/PID/mem, by another process of the same user.
 * The limit says the first once more, where another system has no such word.
 */
#include "cli/seal.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

int
seal_process(const struct cli_args *args)
{
    const struct rlimit none = {0, 0};
    if (cli_given(args, "allow-core")) {
        return CLI_EXIT_DONE;
    }
    if (setrlimit(RLIMIT_CORE, &none) != 0 ||
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
        cli_error("cannot forbid core files and tracing: %s; --allow-core "
                  "goes on without",
                  strerror(errno));
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_DONE;
}
