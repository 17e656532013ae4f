/*
 * learning.c: what the verbs that learn share: train, fit, predict, evaluate.
 */
#include "verb/learning.h"

#include <string.h>

#include "host/error.h"

int
learning_fail(const struct sotto_error *err, const char *path)
{
    struct sotto_error about = *err;
    if (err->status == SOTTO_STATUS_STOPPED) {
        cli_error("stopped; nothing was written");
        return CLI_EXIT_FAILED;
    }
    if (path != NULL && err->about != SOTTO_ABOUT_FILE &&
        !cli_names_option(err) && err->status != SOTTO_STATUS_MEMORY) {
        (void)snprintf(about.message, sizeof about.message, "'%.120s': %.350s",
                       path, err->message);
    }
    return cli_fail(&about);
}

void
learning_note_thinned(size_t there, size_t most, size_t used, size_t reports)
{
    size_t wanted = most > 0 && most < there ? most : there;
    if (used < wanted) {
        cli_note("the prior was thinned: %zu of %zu points, drawn by lot, as "
                 "the weights of %zu reports may take 2 GB; fewer reports "
                 "leave room for more points",
                 used, wanted, reports);
    }
}
