/*
 * seen_file.c: M.seen, beside a mechanism: the rows that it was fitted to.
 *
 * It is on the machine of the curator who trained the mechanism, never on a
 * device: there, whether to report may not depend on the record.
 */
#include "verb/seen_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "host/text.h"
#include "sotto/seen.h"
#include "verb/train_kinds.h"

/* M.seen for M.sotto; to free, NULL for lack of memory. */
static char *
name_file(const char *path)
{
    size_t size = strlen(path);
    if (size > 6 && strcmp(path + size - 6, ".sotto") == 0) {
        size -= 6;
    }
    return host_text_path("%.*s.seen", (int)size, path);
}

int
seen_file_check(const struct cli_args *args, const char *path,
                const char *const *inputs, size_t count)
{
    char *name = name_file(path);
    int status =
        name != NULL ? output_file_check(name, inputs, count) : cli_no_memory();
    status = CLI_THEN(status, train_check_replace(args, name));
    free(name);
    return status;
}

int
seen_file_write(const char *path, struct sotto_mechanism *mechanism,
                const struct sotto_table *table)
{
    struct sotto_error err = {0};
    char *name = name_file(path);
    int status =
        name != NULL
            ? cli_exit(sotto_seen_write(mechanism, table, name, &err), &err)
            : cli_no_memory();
    free(name);
    return status;
}

static int
judge(const struct sotto_seen *seen, const char *path, const char *name)
{
    if (seen->auxiliary) {
        cli_error("'%.200s': %zu of %zu rows are among those that '%.200s' was "
                  "fitted to. A report would promise its person a protection "
                  "that these people do not have. Ask other people, or "
                  "simulate with --seed",
                  name, seen->same, seen->rows, path);
        return CLI_EXIT_REFUSED;
    }
    if (seen->same > 0) {
        cli_note("%zu of %zu rows are as rows that the mechanism was fitted to "
                 "are; if they are the same people, leave them out",
                 seen->same, seen->rows);
    }
    return CLI_EXIT_DONE;
}

int
seen_file_look(const char *path, struct sotto_mechanism *mechanism,
               const struct sotto_table *table, const char *name,
               bool *ret_looked)
{
    struct sotto_error err = {0};
    struct sotto_seen seen;
    char *file = name_file(path);
    int status = CLI_EXIT_DONE;
    *ret_looked = false;
    if (file == NULL) {
        return cli_no_memory();
    }
    if (access(file, F_OK) == 0) {
        status = cli_exit(sotto_seen_look(mechanism, table, file, &seen, &err),
                          &err);
        status = CLI_THEN(status, judge(&seen, path, name));
        *ret_looked = status == CLI_EXIT_DONE;
    }
    free(file);
    return status;
}
