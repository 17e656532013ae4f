/*
 * train_direct.c: train direct: columns straight through channels.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "verb/train_kinds.h"

/* What the options come to; every array has room for all of its kind. */
struct plan {
    struct sotto_direct_options options;
    const char **drop;
    struct sotto_range *range;
    char **text; /* the ranges' column names */
};

/* COL=LOW:HIGH; the last '=' counts, a name may hold others. */
static int
plan_range(const char *given, const struct sotto_table *table,
           struct plan *plan)
{
    struct sotto_range *range = &plan->range[plan->options.range_count];
    char *name = strdup(given);
    size_t column;
    if (name == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    plan->text[plan->options.range_count++] = name;
    char *low = strrchr(name, '=');
    char *high = low != NULL ? strchr(low, ':') : NULL;
    if (high == NULL) {
        return cli_bad("--range %.80s: write COLUMN=LOW:HIGH, for example "
                       "age=0:120",
                       given);
    }
    *low++ = '\0';
    *high++ = '\0';
    range->column = name;
    if (!cli_read_number(low, &range->low) ||
        !cli_read_number(high, &range->high) || range->low >= range->high) {
        return cli_bad("--range %.80s: LOW and HIGH must be numbers, LOW the "
                       "smaller",
                       given);
    }
    return train_column(table, "range", name, &column);
}

static int
plan_ranges(const struct cli_args *args, const struct sotto_table *table,
            struct plan *plan)
{
    const char *given;
    int status = CLI_EXIT_DONE;
    for (size_t i = 0;
         status == CLI_EXIT_DONE && (given = cli_nth(args, "range", i)) != NULL;
         i++) {
        status = plan_range(given, table, plan);
    }
    plan->options.ranges = plan->range;
    return status;
}

static void
plan_clear(struct plan *plan)
{
    for (size_t i = 0; plan->text != NULL && i < plan->options.range_count;
         i++) {
        free(plan->text[i]);
    }
    free(plan->drop);
    free(plan->range);
    free(plan->text);
}

static int
plan_make(const struct cli_args *args, const struct sotto_table *table,
          struct plan *plan)
{
    size_t most = sotto_table_columns(table) + args->given_count;
    uint64_t l = 0;
    plan->options.eps = cli_value(args, "eps");
    plan->options.name = cli_value(args, "name");
    plan->options.campaign = cli_value(args, "campaign");
    plan->options.numbers = cli_value(args, "numbers");
    plan->options.categories = cli_value(args, "categories");
    plan->options.label_channel = cli_value(args, "label-channel");
    plan->options.delta = cli_value(args, "delta");
    if (!cli_whole(args, "l", &l)) {
        return CLI_EXIT_BAD;
    }
    if (cli_given(args, "l") && l == 0) {
        return cli_bad("--l 0: at least one step is needed");
    }
    /* What does not fit is too many for the library in any case. */
    plan->options.l = l < UINT32_MAX ? (uint32_t)l : UINT32_MAX;
    plan->range = calloc(most, sizeof *plan->range);
    plan->text = calloc(most, sizeof *plan->text);
    if (plan->range == NULL || plan->text == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    int status = train_label(args, table, &plan->options.label);
    if (status == CLI_EXIT_DONE) {
        status = train_drops(args, table, plan->options.label, &plan->drop,
                             &plan->options.drops);
        plan->options.drop = plan->drop;
    }
    if (status == CLI_EXIT_DONE) {
        status = plan_ranges(args, table, plan);
    }
    return status;
}

static void
tell(const struct cli_args *args, const char *path,
     const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    FILE *to = cli_summary(path);
    sotto_mechanism_info(mechanism, &info);
    if (cli_given(args, "json")) {
        train_json(to, path, &info);
        json_end(to);
    } else {
        train_text(to, path, &info);
    }
}

int
train_direct(const struct cli_args *args, const struct sotto_table *table)
{
    const char *path = cli_value(args, "output");
    struct sotto_mechanism *mechanism = NULL;
    struct plan plan = {0};
    struct sotto_error err = {0};
    int status = plan_make(args, table, &plan);
    if (status == CLI_EXIT_DONE &&
        sotto_train_direct(table, &plan.options, path, &mechanism, &err) !=
            SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    if (status == CLI_EXIT_DONE) {
        tell(args, path, mechanism);
    }
    sotto_mechanism_free(mechanism);
    plan_clear(&plan);
    return status;
}
