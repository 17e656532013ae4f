/*
 * cmd_try.c: sotto try: what a campaign would come to on one's own table.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/watch.h"
#include "host/text.h"
#include "verb/records.h"
#include "verb/try_tell.h"

#define CLASSES_MOST 20u /* different whole numbers that may be classes */

struct try_job {
    struct sotto_table *table;
    struct sotto_try_options options;
    struct tried tried;
    char *list; /* of epsilons, cut into words */
    const char *eps[SOTTO_TRY_EPS_MAX];
    const char **drop;
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
    size_t drops = 0;
    if (!cli_whole(args, "draws", 1, 1000, &draws) ||
        !cli_whole(args, "people", 40, UINT32_MAX, &people) ||
        !cli_whole(args, "threads", 1, 64, &threads) ||
        !cli_whole(args, "seed", 0, UINT64_MAX, &job->options.seed)) {
        return CLI_EXIT_BAD;
    }
    while (cli_nth(args, "drop", drops) != NULL) {
        drops++;
    }
    job->drop = calloc(drops + 1, sizeof *job->drop);
    if (job->drop == NULL) {
        return cli_no_memory();
    }
    for (size_t i = 0; i < drops; i++) {
        job->drop[i] = cli_nth(args, "drop", i);
    }
    job->options.drop = job->drop;
    job->options.drops = drops;
    job->options.draws = (uint32_t)draws;
    job->options.people = (size_t)people;
    job->options.threads = (unsigned)threads;
    job->options.label = cli_value(args, "label");
    return read_eps(args, job);
}

/* ---- The label ------------------------------------------------------------
 */

/* How many different numbers a column has, up to one more than CLASSES_MOST,
   which also stands for one that is not whole. */
static size_t
count_numbers(const struct sotto_table *table, size_t column)
{
    double seen[CLASSES_MOST];
    size_t count = 0, rows = sotto_table_rows(table);
    for (size_t i = 0; i < rows && count <= CLASSES_MOST; i++) {
        struct sotto_value cell = sotto_table_cell(table, i, column);
        size_t j = 0;
        if (cell.kind == SOTTO_VALUE_MISSING) {
            continue;
        }
        while (j < count && seen[j] != cell.number) {
            j++;
        }
        if (cell.number != floor(cell.number) ||
            (j == count && count == CLASSES_MOST)) {
            return CLASSES_MOST + 1;
        }
        if (j == count) {
            seen[count++] = cell.number;
        }
    }
    return count;
}

/* Finds the label; a few whole numbers are taken as classes. */
static int
prepare_label(const struct cli_args *args, struct try_job *job)
{
    const char *label = job->options.label;
    size_t column = sotto_table_find(job->table, label);
    struct sotto_error err = {0};
    if (column == SIZE_MAX) {
        const char *names[256];
        size_t count = 0;
        while (count < sotto_table_columns(job->table) && count < 256) {
            names[count] = sotto_table_name(job->table, count);
            count++;
        }
        const char *nearest = cli_nearest(label, names, count);
        return cli_bad("'%.240s' has no column \"%.80s\"%s%.80s%s: %s",
                       args->word[0], label,
                       nearest != NULL ? " (did you mean \"" : "",
                       nearest != NULL ? nearest : "",
                       nearest != NULL ? "\"?)" : "", records_advice(label));
    }
    if (sotto_table_kind(job->table, column) != SOTTO_COLUMN_NUMBER) {
        return CLI_EXIT_DONE;
    }
    if (count_numbers(job->table, column) > CLASSES_MOST) {
        return cli_bad("column \"%.80s\" holds numbers, more than %u different "
                       "ones: it is no class label, and try compares "
                       "classifiers. Take a column of classes; or learn the "
                       "number itself with train codebook, whose devices tell "
                       "the range that it lies in (docs/regression.md)",
                       label, CLASSES_MOST);
    }
    job->tried.number = true;
    return cli_exit(sotto_table_set_category(job->table, column, &err), &err);
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
    status =
        CLI_THEN(status, records_read(args, args->word[0],
                                      cli_value(args, "labels"), &job.table));
    if (status == CLI_EXIT_DONE && job.options.label == NULL) {
        job.options.label = cli_given(args, "labels") ? "label" : NULL;
        status = job.options.label != NULL
                     ? CLI_EXIT_DONE
                     : cli_bad("--label COL is missing: the column to predict");
    }
    job.tried.file = args->word[0];
    job.tried.label = job.options.label;
    job.tried.drop = job.drop;
    job.tried.drops = job.options.drops;
    status = CLI_THEN(status, prepare_label(args, &job));
    status = CLI_THEN(status, simulate(args, &job));
    sotto_table_free(job.table);
    free(job.list);
    free(job.drop);
    return status;
}

static const char *const wanted[] = {"F (a table)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "label", "COL", "the column to predict: a class"},
    {0, false, false, "labels", "FILE", "a file with the label of each record"},
    {0, false, false, "eps", "E,E,...",
     "privacy budgets of a report (1,2,4,8)"},
    {0, false, true, "drop", "COL", "leave this column out"},
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
             "epsilon; and tests what was learnt, beside the largest class and "
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
