/*
 * cmd_train.c: sotto train: makes a mechanism from auxiliary data.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/records.h"

static const char *const kinds[] = {"direct"};

/* What the options come to; every array has room for all of its kind. */
struct plan {
    struct sotto_direct_options options;
    const char **drop;
    struct sotto_range *range;
    char **text; /* the ranges' column names */
};

/* A named column, or a message that says what there is. */
static int
find_column(const struct sotto_table *table, const char *option,
            const char *name, size_t *ret_column)
{
    size_t columns = sotto_table_columns(table);
    *ret_column = records_column(table, name);
    if (*ret_column < columns) {
        return CLI_EXIT_DONE;
    }
    const char **names = calloc(columns + 1, sizeof *names);
    if (names == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    for (size_t i = 0; i < columns; i++) {
        names[i] = sotto_table_name(table, i);
    }
    const char *nearest = cli_nearest(name, names, columns);
    int status = cli_bad(
        "--%s: the data has no column \"%.80s\"; its %zu "
        "column%s \"%.80s\"%s%s",
        option, name, columns, columns == 1 ? " is" : "s include",
        nearest != NULL ? nearest : names[0], nearest != NULL ? "" : ": ",
        nearest != NULL ? "" : records_advice(name));
    free(names);
    return status;
}

/* ---- Columns ------------------------------------------------------------ */

static int
set_categories(const struct cli_args *args, struct sotto_table *table)
{
    const char *name;
    for (size_t i = 0; (name = cli_nth(args, "category", i)) != NULL; i++) {
        size_t column;
        struct sotto_error err = {0};
        int status = find_column(table, "category", name, &column);
        if (status != CLI_EXIT_DONE) {
            return status;
        }
        if (sotto_table_set_category(table, column, &err) != SOTTO_STATUS_OK) {
            return cli_fail(&err);
        }
    }
    return CLI_EXIT_DONE;
}

static bool
is_kept(const struct cli_args *args, const char *name, const char *label)
{
    const char *kept;
    bool found = label != NULL && strcmp(label, name) == 0;
    for (size_t i = 0; !found && (kept = cli_nth(args, "keep", i)) != NULL;
         i++) {
        found = strcmp(kept, name) == 0;
    }
    return found;
}

/* --drop as it is given; --keep drops all others but the label. */
static int
plan_drops(const struct cli_args *args, const struct sotto_table *table,
           struct plan *plan)
{
    const char *name;
    size_t column, columns = sotto_table_columns(table);
    bool keep = cli_given(args, "keep");
    const char *option = keep ? "keep" : "drop";
    if (keep && cli_given(args, "drop")) {
        return cli_bad("--keep and --drop exclude each other: give one kind");
    }
    for (size_t i = 0; (name = cli_nth(args, option, i)) != NULL; i++) {
        int status = find_column(table, option, name, &column);
        if (status != CLI_EXIT_DONE) {
            return status;
        }
        if (!keep) {
            plan->drop[plan->options.drops++] = name;
        }
    }
    for (size_t i = 0; keep && i < columns; i++) {
        name = sotto_table_name(table, i);
        if (!is_kept(args, name, plan->options.label)) {
            plan->drop[plan->options.drops++] = name;
        }
    }
    plan->options.drop = plan->drop;
    return CLI_EXIT_DONE;
}

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
    return find_column(table, "range", name, &column);
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

/* ---- The plan ----------------------------------------------------------- */

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
plan_label(const struct cli_args *args, const struct sotto_table *table,
           struct plan *plan)
{
    size_t column;
    const char *label = cli_value(args, "label");
    if (cli_given(args, "labels")) {
        label = sotto_table_name(table, sotto_table_columns(table) - 1);
    }
    plan->options.label = label;
    return label == NULL ? CLI_EXIT_DONE
                         : find_column(table, "label", label, &column);
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
    plan->drop = calloc(most, sizeof *plan->drop);
    plan->range = calloc(most, sizeof *plan->range);
    plan->text = calloc(most, sizeof *plan->text);
    if (plan->drop == NULL || plan->range == NULL || plan->text == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    int status = plan_label(args, table, plan);
    if (status == CLI_EXIT_DONE) {
        status = plan_drops(args, table, plan);
    }
    if (status == CLI_EXIT_DONE) {
        status = plan_ranges(args, table, plan);
    }
    return status;
}

/* ---- The summary -------------------------------------------------------- */

static void
summary_json(const char *path, const struct sotto_mechanism_info *info)
{
    FILE *to = cli_summary(path);
    json_begin(to);
    json_text(to, "mechanism", path);
    json_text(to, "name", info->name);
    json_text(to, "campaign", info->campaign);
    json_number(to, "eps", info->eps);
    json_number(to, "delta", info->delta);
    json_size(to, "columns", info->columns);
    json_size(to, "report_size", info->report_size);
    json_text(to, "hash", info->hash);
    json_end(to);
}

static void
summary_text(const char *path, const struct sotto_mechanism_info *info)
{
    FILE *to = cli_summary(path);
    (void)fprintf(to, "Wrote ");
    cli_put(to, path, strlen(path));
    (void)fprintf(to,
                  ": %zu column%s, epsilon %s%s%s per report in all, %zu "
                  "bytes a report.\nMechanism %s\n"
                  "See what it promises with sotto inspect, then sign it.\n",
                  info->columns, info->columns == 1 ? "" : "s", info->eps_text,
                  info->delta > 0 ? " and delta " : "",
                  info->delta > 0 ? info->delta_text : "", info->report_size,
                  info->hash);
}

static void
tell(const struct cli_args *args, const char *path,
     const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    if (cli_given(args, "json")) {
        summary_json(path, &info);
    } else {
        summary_text(path, &info);
    }
}

/* ---- The verb ----------------------------------------------------------- */

static int
check_usage(const struct cli_args *args)
{
    if (strcmp(args->word[0], kinds[0]) != 0) {
        return cli_bad("unknown kind '%.80s': this version has: %s",
                       args->word[0], kinds[0]);
    }
    if (cli_given(args, "labels") && cli_given(args, "label")) {
        return cli_bad("--labels names a file, --label a column of the data: "
                       "give one of them");
    }
    const char *const inputs[] = {cli_value(args, "data"),
                                  cli_value(args, "labels")};
    double eps;
    if (!cli_eps(args, "eps", &eps)) {
        return CLI_EXIT_BAD;
    }
    return output_file_check(cli_value(args, "output"), inputs,
                             sizeof inputs / sizeof *inputs);
}

static int
run(const struct cli_args *args)
{
    const char *path = cli_value(args, "output");
    struct sotto_table *table = NULL;
    struct sotto_mechanism *mechanism = NULL;
    struct plan plan = {0};
    struct sotto_error err = {0};
    int status = check_usage(args);
    if (status == CLI_EXIT_DONE) {
        status = records_read(args, cli_value(args, "data"),
                              cli_value(args, "labels"), &table);
    }
    if (status == CLI_EXIT_DONE) {
        status = set_categories(args, table);
    }
    if (status == CLI_EXIT_DONE) {
        status = plan_make(args, table, &plan);
    }
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
    sotto_table_free(table);
    return status;
}

static const char *const wanted[] = {"KIND", NULL};

static const struct cli_option options[] = {
    {0, true, false, "data", "FILE",
     "auxiliary records, best public ones: CSV or IDX,\n"
     "also gzipped"},
    {0, false, false, "labels", "FILE", "a file with the label of each record"},
    {0, false, false, "label", "COL", "the column of the data that is a label"},
    {0, true, false, "eps", "E",
     "privacy budget of a report, all its answers together:\n"
     "a decimal from 0.000001 to 32"},
    {0, false, true, "keep", "COL",
     "use this column, and no others but those kept and\n"
     "the label"},
    {0, false, true, "drop", "COL", "leave this column out"},
    {0, false, true, "range", "COL=LOW:HIGH",
     "a number's public range; else it is taken from the\n"
     "data"},
    {0, false, true, "category", "COL",
     "this column of numbers holds categories"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed"},
    {0, false, false, "numbers", "CHANNEL",
     "laplace, window, duchi or gaussian (laplace)"},
    {0, false, false, "categories", "CHANNEL", "flip or subset (flip)"},
    {0, false, false, "label-channel", "CHANNEL",
     "the label's (window for a number, flip for a\n"
     "category)"},
    {0, false, false, "delta", "D",
     "with gaussian only: the report's delta, a decimal\n"
     "far below one in the number of people"},
    {0, false, false, "l", "N",
     "steps from the middle of a range to its end (4096;\n"
     "with gaussian 256)"},
    {0, false, false, "name", "TEXT", "a name for people (direct)"},
    {0, false, false, "campaign", "TEXT",
     "the campaign it counts in (the name)"},
    {'o', true, false, "output", "M.sotto", "the mechanism to write"},
    CLI_OPTION_JSON,
    CLI_OPTION_HELP,
    CLI_OPTION_END,
};

const struct cli_verb cmd_train = {
    .name = "train",
    .summary = "make a mechanism from auxiliary data",
    .usage = "KIND --data F [--label COL] --eps E [OPTIONS] -o M.sotto",
    .about =
        "KIND is direct: columns go straight through channels, the budget "
        "split evenly\nbetween them, numbers with noise and categories by "
        "randomised response. So\nkeep few columns, or send the numbers "
        "together: --numbers duchi. A number as the\nlabel is the target of a "
        "regression. Categories, and ranges not given, come\nfrom the data, "
        "which gets no protection by that: use public records, not those\nto "
        "be protected. The example gives every range, and its categories are "
        "the two\nwords everybody knows for a diagnosis, B and M: so it tells "
        "of no record.\n",
    .example = "sotto train direct --data data/wdbc.csv --label diagnosis "
               "--eps 4 \\\n    --keep radius_mean --range radius_mean=5:30 "
               "\\\n    --keep texture_mean --range texture_mean=5:45 "
               "-o wdbc.sotto\n",
    .wanted = wanted,
    .options = options,
    .run = run,
};
