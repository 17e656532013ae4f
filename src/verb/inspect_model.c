/*
 * inspect_model.c: what sotto inspect says of a model and of an analyst file.
 * It is apart from cmd_inspect.c, as a collector's program has nothing that
 * opens either.
 */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "verb/exchanged.h"

/* Whether the learner says how sure it is of the classes' names. */
static bool
is_doubt_known(const struct sotto_model *model)
{
    double p = sotto_model_exchanged(model, 0, 0);
    return p >= 0;
}

/* Whether it was learnt from records in the clear. */
static bool
is_of_records(const struct sotto_model *model)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(sotto_model_mechanism(model), &info);
    return info.label_only;
}

static void
tell_json_model(const struct sotto_model *model)
{
    struct sotto_number number;
    json_begin(stdout);
    json_text(stdout, "kind", "model");
    if (sotto_model_number(model, &number)) {
        json_text(stdout, "number", number.name);
        json_number(stdout, "low", number.edge[0]);
        json_number(stdout, "high", number.edge[number.classes]);
    }
    json_size(stdout, "classes", sotto_model_classes(model));
    json_size(stdout, "networks", sotto_model_networks(model));
    json_bool(stdout, "doubt_known", is_doubt_known(model));
    if (is_of_records(model)) {
        json_bool(stdout, "label_only", true);
    }
    json_end(stdout);
}

static void
tell_model(const struct sotto_model *model)
{
    size_t classes = sotto_model_classes(model);
    struct sotto_number number;
    if (is_of_records(model)) {
        (void)printf("The record is not protected. The model was learnt from "
                     "records in the clear, beside\nreports about their labels "
                     "alone, and tells of the records.\n");
    }
    if (sotto_model_number(model, &number)) {
        (void)printf("A model: it tells a number, \"%s\", from %.6g to "
                     "%.6g.\n",
                     cli_shown(number.name), number.edge[0],
                     number.edge[number.classes]);
        return;
    }
    (void)printf("A model: it tells %zu classes apart:", classes);
    for (size_t y = 0; y < classes; y++) {
        (void)printf("%s \"%s\"", y > 0 ? "," : "",
                     cli_shown(sotto_model_class(model, y)));
    }
    (void)printf(
        ".\n%s\n",
        is_doubt_known(model)
            ? "Classes that the reports leave in doubt are named below,"
              " if there are any."
            : "It does not say how sure it is which class is which.");
}

/* An analyst file's own words. */
static int
inspect_analyst(const char *path, bool json)
{
    struct sotto_analyst *analyst = NULL;
    struct sotto_error err = {0};
    char *text = NULL;
    int status = CLI_EXIT_BAD;
    if (sotto_analyst_read(path, &analyst, &err) == SOTTO_STATUS_OK &&
        sotto_analyst_describe(analyst, json, &text, &err) == SOTTO_STATUS_OK) {
        (void)fputs(text, stdout);
        status = CLI_EXIT_DONE;
    }
    free(text);
    sotto_analyst_free(analyst);
    return status;
}

int
cmd_inspect_model(const char *path, bool json)
{
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    if (sotto_model_read(path, &model, &err) != SOTTO_STATUS_OK) {
        return inspect_analyst(path, json);
    }
    if (json) {
        tell_json_model(model);
    } else {
        tell_model(model);
    }
    exchanged_tell(model, json);
    sotto_model_free(model);
    return CLI_EXIT_DONE;
}
