/*
 * cmd_try.c: sotto try: what a campaign would come to on one's own table.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/watch.h"
#include "host/text.h"
#include "verb/class_label.h"
#include "verb/records.h"
#include "verb/train_kinds.h"
#include "verb/try_tell.h"

#define COLUMNS_TOLD 8u

struct try_job {
    struct sotto_table *table;
    struct sotto_try_options options;
    struct tried tried;
    char *list; /* of epsilons, cut into words */
    const char *eps[SOTTO_TRY_EPS_MAX];
    const char **drop, **keep, **category;
    struct sotto_schema *schema; /* of --schema; NULL: none */
};

/* ---- Options --------------------------------------------------------------
 */

/* Cuts the list of epsilons at its commas; the library reads each, exactly. */
static int
read_eps(const struct cli_args *args, struct try_job *job)
{
    const char *text = cli_value(args, "eps");
    char *rest;
    job->list = strdup(text != NULL ? text : "1,2,4,8");
    if (job->list == NULL) {
        return cli_no_memory();
    }
    for (char *word = strtok_r(job->list, ",", &rest); word != NULL;
         word = strtok_r(NULL, ",", &rest)) {
        char *end = NULL;
        double eps = strtod(word, &end);
        if (*end != '\0' || !(eps >= CLI_EPS_MIN && eps <= CLI_EPS_MAX)) {
            return cli_bad("--eps: '%.40s' is no epsilon from %g to %d; give "
                           "them as 1,2,4,8",
                           word, CLI_EPS_MIN, CLI_EPS_MAX);
        }
        if (job->options.eps_count == SOTTO_TRY_EPS_MAX) {
            return cli_bad("--eps: at most %u epsilons", SOTTO_TRY_EPS_MAX);
        }
        job->eps[job->options.eps_count++] = word;
    }
    job->options.eps = job->eps;
    return job->options.eps_count > 0
               ? CLI_EXIT_DONE
               : cli_bad("--eps is empty: give epsilons as 1,2,4,8");
}

static int
read_options(const struct cli_args *args, struct try_job *job)
{
    uint64_t draws = 3, threads = 0, people = 0;
    if (!cli_whole(args, "draws", 1, 1000, &draws) ||
        !cli_whole(args, "people", 40, UINT32_MAX, &people) ||
        !cli_whole(args, "threads", 1, 64, &threads) ||
        !cli_whole(args, "seed", 0, UINT64_MAX, &job->options.seed)) {
        return CLI_EXIT_BAD;
    }
    job->options.draws = (uint32_t)draws;
    job->options.people = (size_t)people;
    job->options.threads = (unsigned)threads;
    job->options.label = cli_value(args, "label");
    if (job->options.label == NULL && cli_given(args, "labels")) {
        job->options.label = "label";
    }
    return read_eps(args, job);
}

/* ---- Columns --------------------------------------------------------------
 */

/* Names columns for a message: all, or the first few. */
static void
list_columns(const struct sotto_table *table, char *text, size_t size)
{
    size_t columns = sotto_table_columns(table), used = 0;
    for (size_t i = 0; i < columns && used < size; i++) {
        if (i == COLUMNS_TOLD) {
            (void)snprintf(text + used, size - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, size - used, "%s\"%.30s\"",
                                 i > 0 ? ", " : "", sotto_table_name(table, i));
    }
}

/* Says that there is no such column, and which is near. */
static int
fail_label(const char *file, const struct sotto_table *table, const char *label)
{
    size_t columns = sotto_table_columns(table);
    const char **names = calloc(columns + 1, sizeof *names);
    char all[400];
    if (names == NULL) {
        return cli_no_memory();
    }
    for (size_t i = 0; i < columns; i++) {
        names[i] = sotto_table_name(table, i);
    }
    const char *near = cli_nearest(label, names, columns);
    near = near != NULL ? near : cli_begun(label, names, columns);
    list_columns(table, all, sizeof all);
    free(names);
    return near != NULL
               ? cli_bad("'%.240s' has no column \"%.80s\" (did you mean "
                         "\"%.80s\"?): --label is the column to predict",
                         file, label, near)
               : cli_bad("'%.240s' has no column \"%.80s\": it has %s. If its "
                         "first row does not name them, say --header no",
                         file, label, all);
}

/* Whether a schema says that the label is a number. */
static bool
is_number_by_schema(const struct try_job *job)
{
    const struct sotto_schema_column *label =
        job->schema != NULL ? sotto_schema_label(job->schema) : NULL;
    return label != NULL && sotto_schema_is_number(label->type);
}

/* Finds the label, which the schema may name; a few whole numbers are taken as
   classes, unless the schema calls them numbers. */
static int
prepare_label(const struct cli_args *args, struct try_job *job)
{
    const char *label = job->options.label;
    if (label == NULL) {
        return cli_bad("--label COL is missing: the column to predict");
    }
    size_t column = sotto_table_find(job->table, label);
    if (column == SIZE_MAX) {
        return fail_label(args->word[0], job->table, label);
    }
    if (is_number_by_schema(job) || !class_label_fits(job->table, column)) {
        return CLI_EXIT_DONE; /* the number itself is learnt */
    }
    return class_label_take(job->table, column, &job->tried.number);
}

/* Reads --schema, if it is given, and what it says of the label. */
static int
prepare_schema(const struct cli_args *args, struct try_job *job)
{
    if (!cli_given(args, "schema")) {
        return CLI_EXIT_DONE;
    }
    int status =
        train_schema(args, job->table, &job->options.label, &job->schema);
    job->options.schema = job->schema;
    return CLI_THEN(status, train_schema_categories(job->schema, job->table));
}

/* Copies the values of an option that may be given more than once. */
static int
take_list(const struct cli_args *args, const char *option, const char ***list,
          size_t *count)
{
    *list = calloc(args->given_count + 1, sizeof **list);
    if (*list == NULL) {
        return cli_no_memory();
    }
    while (((*list)[*count] = cli_nth(args, option, *count)) != NULL) {
        ++*count;
    }
    return CLI_EXIT_DONE;
}

/* Reads what options say of columns; they must be there. */
static int
prepare_columns(const struct cli_args *args, struct try_job *job)
{
    struct sotto_try_options *options = &job->options;
    const char **checked = NULL;
    size_t count = 0;
    int status = take_list(args, "drop", &job->drop, &options->drops);
    status =
        CLI_THEN(status, take_list(args, "keep", &job->keep, &options->keeps));
    status = CLI_THEN(status, take_list(args, "category", &job->category,
                                        &job->tried.categories));
    status = CLI_THEN(status, train_categories(args, job->table));
    status = CLI_THEN(status, prepare_schema(args, job));
    status = CLI_THEN(status, prepare_label(args, job));
    status = CLI_THEN(status, train_drops(args, job->table, options->label,
                                          &checked, &count));
    free(checked);
    options->drop = job->drop;
    options->keep = job->keep;
    job->tried.drop = job->drop;
    job->tried.drops = options->drops;
    job->tried.keep = job->keep;
    job->tried.keeps = options->keeps;
    job->tried.category = job->category;
    job->tried.schema = cli_value(args, "schema");
    job->tried.label = options->label;
    return status;
}

/* ---- The folder -----------------------------------------------------------
 */

/* The folder that a path lies in. */
static void
find_parent(const char *path, char *parent, size_t room)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') {
        size--;
    }
    while (size > 0 && path[size - 1] != '/') {
        size--;
    }
    (void)snprintf(parent, room, "%.*s", size > 0 ? (int)size : 1,
                   size > 0 ? path : ".");
}

/* Whether the page can be written, asked before long work. */
static int
check_folder(const char *folder)
{
    struct stat about;
    char within[PATH_MAX];
    if (folder == NULL) {
        return CLI_EXIT_DONE;
    }
    bool there = stat(folder, &about) == 0;
    if (there && !S_ISDIR(about.st_mode)) {
        return cli_bad("-o %.240s is a file, and the page and the plot go into "
                       "a folder: name another",
                       folder);
    }
    if (there) {
        (void)snprintf(within, sizeof within, "%s", folder);
    } else {
        find_parent(folder, within, sizeof within);
    }
    return access(within, W_OK | X_OK) == 0
               ? CLI_EXIT_DONE
               : cli_bad("-o %.240s: nothing can be written in '%.240s': %s",
                         folder, within, strerror(errno));
}

/* ---- The verb -------------------------------------------------------------
 */

static int
tell_try(const struct cli_args *args, const struct try_job *job)
{
    const char *folder = cli_value(args, "output");
    int status = CLI_EXIT_DONE;
    if (cli_given(args, "json")) {
        try_tell_json(stdout, &job->tried);
    } else {
        try_tell_text(stdout, &job->tried);
    }
    if (folder != NULL) {
        status = try_page_write(&job->tried, folder);
    }
    return status;
}

static int
simulate(const struct cli_args *args, struct try_job *job)
{
    struct sotto_try *result = NULL;
    struct sotto_error err = {0};
    struct watch watch;
    enum sotto_status status;
    int exit_status;
    watch_start(&watch);
    job->options.watch = watch_port(&watch);
    status = sotto_try_new(job->table, &job->options, &result, &err);
    watch_end(&watch);
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    job->tried.result = result;
    exit_status = tell_try(args, job);
    sotto_try_free(result);
    return exit_status;
}

static int
run_try(const struct cli_args *args)
{
    struct try_job job = {.options = {.seed = 0}};
    int status = read_options(args, &job);
    status = CLI_THEN(status, check_folder(cli_value(args, "output")));
    status =
        CLI_THEN(status, records_read(args, args->word[0],
                                      cli_value(args, "labels"), &job.table));
    job.tried.file = args->word[0];
    status = CLI_THEN(status, prepare_columns(args, &job));
    status = CLI_THEN(status, simulate(args, &job));
    sotto_table_free(job.table);
    sotto_schema_free(job.schema);
    free(job.list);
    free(job.drop);
    free(job.keep);
    free(job.category);
    return status;
}

static const char *const wanted[] = {"F (a table)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "label", "COL",
     "the column to predict: a class or a number"},
    {0, false, false, "labels", "FILE", "a file with the label of each record"},
    {0, false, false, "eps", "E,E,...",
     "privacy budgets of a report (1,2,4,8)"},
    {0, false, true, "keep", "COL",
     "use this column, and no others but those kept and\n"
     "the label"},
    {0, false, true, "drop", "COL", "leave this column out"},
    {0, false, true, "category", "COL",
     "this column of numbers holds categories"},
    {0, false, false, "schema", "S",
     "what the columns are, as sotto schema infer writes\n"
     "it and you edit it; else it is told from the data"},
    {0, false, false, "draws", "N",
     "collections at every epsilon, for the spread (3)"},
    {0, false, false, "people", "N",
     "about so many people, where the table is large and\n"
     "time is short (all rows that are left)"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed"},
    RECORDS_READING,
    {0, false, false, "seed", "S", "the same seed, the same answer (0)"},
    {0, false, false, "threads", "N",
     "the result does not depend on it (all cores)"},
    {'o', false, false, "output", "DIR",
     "also write a page, DIR/try.html, and the plot,\n"
     "DIR/try.svg"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_try = {
    .name = "try",
    .summary = "simulate the whole campaign on one's own table",
    .usage = "F --label COL [--eps 1,2,4,8] [-o DIR]",
    .about = "Splits the rows of F into auxiliary rows, people and test rows; "
             "chooses\n"
             "settings on the auxiliary rows; simulates the people's reports "
             "at every\n"
             "epsilon; and tests what was learnt, beside the best constant and "
             "a fit without\n"
             "privacy. Says what can be learnt at which epsilon, and the "
             "commands for the\n"
             "real campaign. Nothing is sent and no mechanism is written. "
             "Settings chosen on\n"
             "F are fitted to F: whoever is in F has no protection by them.\n",
    .example = "sotto try data/wdbc.csv --label diagnosis --eps 1,4 -o "
               "wdbc-try\n",
    .wanted = wanted,
    .options = options,
    .computes = true,
    .run = run_try,
};
