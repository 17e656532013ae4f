/*
 * train_model.c: sotto train code and class: what a device sends to have its
 * record classified by a model.
 */
#include <string.h>

#include "cli/json_print.h"
#include "cli/learning.h"
#include "cli/train.h"

int
train_model(const struct cli_args *args)
{
    const char *from = cli_value(args, "model");
    const char *path = cli_value(args, "output"), *eps = cli_value(args, "eps");
    bool class = strcmp(args->word[0], "class") == 0;
    struct sotto_model *model = NULL;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_mechanism_info info;
    struct sotto_error err = {0};
    enum sotto_status status;
    FILE *to = cli_summary(path);
    if (sotto_model_read(from, &model, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status =
        class ? sotto_model_mechanism_class(model, eps, path, &mechanism, &err)
              : sotto_model_mechanism_code(model, eps, path, &mechanism, &err);
    sotto_model_free(model);
    if (status != SOTTO_STATUS_OK) {
        return learning_fail(&err, from);
    }
    sotto_mechanism_info(mechanism, &info);
    if (cli_given(args, "json")) {
        train_json(to, path, &info);
        json_end(to);
    } else {
        train_text(to, path, &info);
    }
    sotto_mechanism_free(mechanism);
    return CLI_EXIT_DONE;
}
