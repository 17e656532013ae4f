/*
 * train_expiry.c: sotto train --expires: the end of a mechanism.
 *
 * It is inside the bytes that are signed. Every kind is made first and given
 * its end then: nobody has signed it before.
 */
#include <sys/stat.h>
#include <time.h>

#include "host/clock.h"
#include "verb/train_kinds.h"

int
train_check_expiry(const struct cli_args *args)
{
    const char *given = cli_value(args, "expires");
    const char *path = cli_value(args, "output");
    struct stat file;
    uint64_t end = 0;
    if (given == NULL) {
        return CLI_EXIT_DONE;
    }
    if (!host_utc_read(given, &end)) {
        return cli_bad("--expires '%.80s' is no day: write 2030-01-31, or "
                       "2030-01-31T12:00:00Z, in UTC",
                       given);
    }
    if (end <= (uint64_t)time(NULL)) {
        return cli_bad("--expires %.80s has passed: no device would report",
                       given);
    }
    if (stat(path, &file) == 0 && !S_ISREG(file.st_mode)) {
        return cli_bad("--expires needs a file to write: -o '%.240s' is none",
                       path);
    }
    return CLI_EXIT_DONE;
}

int
train_expire(const struct cli_args *args, struct sotto_mechanism **mechanism)
{
    struct sotto_mechanism *made = NULL;
    struct sotto_error err = {0};
    uint64_t end = 0;
    if (!cli_given(args, "expires") ||
        !host_utc_read(cli_value(args, "expires"), &end)) {
        return CLI_EXIT_DONE;
    }
    if (sotto_mechanism_expire(*mechanism, end, cli_value(args, "output"),
                               &made, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_mechanism_free(*mechanism);
    *mechanism = made;
    return CLI_EXIT_DONE;
}
