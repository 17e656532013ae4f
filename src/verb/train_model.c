/*
 * train_model.c: sotto train code and class: what a device sends to have its
 * record classified by a model.
 */
#include <string.h>

#include "cli/json_print.h"
#include "verb/learning.h"
#include "verb/train_kinds.h"

static void
tell_model(const struct cli_args *args, const struct sotto_mechanism *mechanism,
           double expected)
{
    const char *path = cli_value(args, "output");
    FILE *to = cli_summary(path);
    struct sotto_mechanism_info info;
    struct sotto_part_info part;
    sotto_mechanism_info(mechanism, &info);
    sotto_mechanism_part(mechanism, 0, &part);
    if (cli_given(args, "json")) {
        train_json(to, path, &info);
        json_text(to, "channel", part.channel);
        json_size(to, "k", part.size);
        json_number(to, "expected", expected);
        json_end(to);
        return;
    }
    (void)fprintf(to,
                  "One of %zu %s, by %s. If the model is right about itself, "
                  "%.1f%% of records\nget their class from one report.\n",
                  part.size,
                  strcmp(args->word[0], "class") == 0 ? "classes" : "codes",
                  part.channel, 100 * expected);
    train_text(to, path, &info);
}

int
train_model(const struct cli_args *args)
{
    const char *from = cli_value(args, "model");
    const char *path = cli_value(args, "output"), *eps = cli_value(args, "eps");
    bool class = strcmp(args->word[0], "class") == 0;
    struct sotto_model *model = NULL;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_error err = {0};
    enum sotto_status status;
    double expected = 0;
    if (sotto_model_read(from, &model, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status =
        class ? sotto_model_mechanism_class(model, eps, path, &mechanism, &err)
              : sotto_model_mechanism_code(model, eps,
                                           cli_value(args, "channel"), path,
                                           &mechanism, &err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_model_expect(model, mechanism, &expected, &err);
    }
    sotto_model_free(model);
    if (status == SOTTO_STATUS_OK) {
        tell_model(args, mechanism, expected);
    }
    sotto_mechanism_free(mechanism);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE
                                     : learning_fail(&err, from);
}
