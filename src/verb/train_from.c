/*
 * train_from.c: sotto train KIND --from: another budget for a mechanism,
 * without training.
 */
#include <string.h>

#include "cli/json_print.h"
#include "verb/train_kinds.h"

static void
tell_from(const struct cli_args *args, const char *path,
          const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    FILE *to = cli_summary(path);
    sotto_mechanism_info(mechanism, &info);
    if (!cli_given(args, "json")) {
        train_text(to, path, &info);
        return;
    }
    train_json(to, path, &info);
    json_text(to, "analyst", NULL);
    json_end(to);
}

/*
 * Whether the mechanism can be of the kind that was said. A file does not name
 * its kind, but direct has no encoder, and that of pca has one layer, as a
 * linear one of vlm.
 */
static int
check_kind(const char *kind, const char *path,
           const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    if (info.layers == 0 && strcmp(kind, "direct") != 0) {
        return cli_bad("--from '%.240s' has no encoder: its KIND is direct, "
                       "not %s",
                       path, kind);
    }
    if (info.layers > 0 && strcmp(kind, "direct") == 0) {
        return cli_bad("--from '%.240s' has an encoder: its KIND is not direct",
                       path);
    }
    if (strcmp(kind, "task-linear") == 0 || strcmp(kind, "task-codes") == 0) {
        return cli_bad("--from is not for %s: its %s and its decoder are made "
                       "for one epsilon; train again",
                       kind,
                       strcmp(kind, "task-linear") == 0 ? "scales" : "cells");
    }
    if (info.layers > 1 && strcmp(kind, "pca") == 0) {
        return cli_bad("--from '%.240s' has an encoder of %zu layers: its "
                       "KIND is not pca",
                       path, info.layers);
    }
    return CLI_EXIT_DONE;
}

int
train_from(const struct cli_args *args)
{
    const char *from = cli_value(args, "from");
    const char *path = cli_value(args, "output");
    struct sotto_mechanism *old = NULL, *mechanism = NULL;
    struct sotto_error err = {0};
    double lambda = 0;
    int status;
    if (!cli_number(args, "lambda", 0.000001, 0.999999, &lambda)) {
        return CLI_EXIT_BAD;
    }
    if (sotto_mechanism_read(from, &old, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status = check_kind(args->word[0], from, old);
    status = CLI_THEN(status, train_check_end(args, from, old));
    status = CLI_THEN(status, cli_exit(sotto_mechanism_rebudget(
                                           old, cli_value(args, "eps"), lambda,
                                           cli_value(args, "label-channel"),
                                           path, &mechanism, &err),
                                       &err));
    status = CLI_THEN(status, train_expire(args, &mechanism));
    if (status == CLI_EXIT_DONE) {
        tell_from(args, path, mechanism);
    }
    sotto_mechanism_free(old);
    sotto_mechanism_free(mechanism);
    return status;
}
