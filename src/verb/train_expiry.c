/*
 * train_expiry.c: sotto train --expires: the end of a mechanism.
 *
 * It is inside the bytes that are signed. Every kind is made first and given
 * its end then: nobody has signed it before. What is made from another
 * mechanism, or from a model of one, ends when that does, unless told.
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

uint64_t
train_end(const struct cli_args *args, const struct sotto_mechanism *from)
{
    const char *given = cli_value(args, "expires");
    struct sotto_mechanism_info info;
    uint64_t end = 0;
    sotto_mechanism_info(from, &info);
    return given != NULL && host_utc_read(given, &end) ? end : info.expires;
}

int
train_check_end(const struct cli_args *args, const char *path,
                const struct sotto_mechanism *from)
{
    uint64_t end = train_end(args, from);
    char text[HOST_UTC_SIZE];
    if (end == 0 || end > (uint64_t)time(NULL)) {
        return CLI_EXIT_DONE;
    }
    host_utc_write(end, text);
    return cli_bad("the mechanism of '%.240s' expired at %s, and what is made "
                   "from it ends when it does: no device would report. Give a "
                   "later --expires",
                   path, text);
}

int
train_expire(const struct cli_args *args, struct sotto_mechanism **mechanism)
{
    struct sotto_mechanism *made = NULL;
    struct sotto_error err = {0};
    if (!cli_given(args, "expires")) {
        return CLI_EXIT_DONE;
    }
    if (sotto_mechanism_expire(*mechanism, train_end(args, *mechanism),
                               cli_value(args, "output"), &made,
                               &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_mechanism_free(*mechanism);
    *mechanism = made;
    return CLI_EXIT_DONE;
}
