/*
 * cmd_plan.c: sotto plan: how many people, at which epsilon, and what comes of
 * it: before anybody is asked (docs/plan.md).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/output_file.h"
#include "verb/plan.h"
#include "verb/records.h"
#include "verb/train_kinds.h"

#define EPS_DEFAULT "1,2,4"
#define PEOPLE_DEFAULT "1000,5000,20000"

const char *
plan_count(double number)
{
    static char text[4][32];
    static unsigned turn;
    char plain[32], *to = text[turn++ % 4], *start = to;
    int size = snprintf(plain, sizeof plain, "%.0f", fmin(number, 1e15));
    for (int i = 0; i < size; i++) {
        *to++ = plain[i];
        if ((size - i) % 3 == 1 && i + 1 < size) {
            *to++ = ',';
        }
    }
    *to = '\0';
    return start;
}

/* ---- Lists --------------------------------------------------------------- */

/* Cuts "1,2,4" into rising numbers and their texts. */
static int
read_list(const char *option, const char *text, double low, double high,
          char ret_text[][PLAN_EPS_SIZE], double *ret_number, size_t *ret_count)
{
    size_t count = 0;
    while (text != NULL) {
        size_t size = strcspn(text, ",");
        char word[PLAN_EPS_SIZE] = "", *end = word;
        if (size > 0 && size < sizeof word) {
            memcpy(word, text, size);
        }
        double number = strtod(word, &end);
        if (*word == '\0' || *end != '\0' || !(number >= low) ||
            !(number <= high) || strspn(word, "0123456789.") != size) {
            return cli_bad("--%s: '%.*s' is no number from %g to %.10g", option,
                           (int)(size < 40 ? size : 40), text, low, high);
        }
        if (count == PLAN_LIST_MOST ||
            (count > 0 && number <= ret_number[count - 1])) {
            return cli_bad("--%s: give at most %u numbers, each larger than "
                           "the one before",
                           option, PLAN_LIST_MOST);
        }
        if (ret_text != NULL) {
            memcpy(ret_text[count], word, sizeof word);
        }
        ret_number[count++] = number;
        text = text[size] == ',' ? text + size + 1 : NULL;
    }
    *ret_count = count;
    return CLI_EXIT_DONE;
}

static int
read_numbers(struct plan_job *job)
{
    const struct cli_args *args = job->args;
    const char *eps = cli_value(args, "eps");
    const char *people = cli_value(args, "people");
    job->confidence = 0.95;
    job->silent = 1.0 / 3;
    job->liars = 0.05;
    if (!cli_share(args, "confidence", 0.5, 0.999999, &job->confidence) ||
        !cli_share(args, "silent", 0, 0.99, &job->silent) ||
        !cli_share(args, "liars", 0, 0.99, &job->liars) ||
        !cli_share(args, "share", 0.00001, 0.5, &job->share) ||
        !cli_share(args, "mean", 0.00001, 0.5, &job->mean) ||
        !cli_share(args, "accuracy", 0.01, 1, &job->accuracy)) {
        return CLI_EXIT_BAD;
    }
    int status =
        read_list("eps", eps != NULL ? eps : EPS_DEFAULT, CLI_EPS_MIN,
                  CLI_EPS_MAX, job->eps, job->eps_number, &job->eps_count);
    if (people != NULL) {
        status = CLI_THEN(status, read_list("people", people, 2, 1e9, NULL,
                                            job->people, &job->people_count));
    }
    return status;
}

/* ---- Inputs -------------------------------------------------------------- */

static int
read_inputs(struct plan_job *job)
{
    const struct cli_args *args = job->args;
    bool made = cli_given(args, "number") || cli_given(args, "categories");
    bool data = cli_given(args, "data"), schema = cli_given(args, "schema");
    struct sotto_error err = {0};
    if ((args->words > 0) + made + (data || schema) != 1 &&
        !(args->words > 0 && data && !made && !schema)) {
        return cli_bad("give a mechanism M, records with --data F, or what "
                       "will be asked: with --schema S, or --number age=0:120 "
                       "and --categories region=40");
    }
    if (args->words > 0 && sotto_mechanism_read(args->word[0], &job->mechanism,
                                                &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (args->words > 0 && cli_given(args, "eps")) {
        return cli_bad("M has its own epsilon: leave --eps out, or give --data "
                       "in place of M");
    }
    return data     ? plan_read_table(job)
           : schema ? plan_make_schema_table(job)
           : made   ? plan_make_table(job)
                    : CLI_EXIT_DONE;
}

/* Whether some record has a label. */
static bool
has_labels(const struct plan_job *job)
{
    size_t column = job->label != NULL && job->table != NULL
                        ? sotto_table_find(job->table, job->label)
                        : SIZE_MAX;
    for (size_t i = 0; column != SIZE_MAX && i < sotto_table_rows(job->table);
         i++) {
        if (sotto_table_cell(job->table, i, column).kind !=
            SOTTO_VALUE_MISSING) {
            return true;
        }
    }
    return false;
}

/* ---- The verb ------------------------------------------------------------ */

static int
answer(struct plan_job *job)
{
    bool labels = job->mechanism == NULL && job->real && has_labels(job);
    bool shares = job->share > 0 || job->mean > 0;
    int status = CLI_EXIT_DONE;
    if (job->accuracy > 0 && !labels) {
        return cli_bad(
            "no record has a label, so nobody can tell how well the label "
            "follows from the record: an accuracy may be anything from the "
            "largest class's share to 1. Give records of which some have one "
            "(--label COL; 200 say much), or ask for shares (--share 0.01)");
    }
    if (!labels || shares) {
        if (!labels && job->real && !shares && !cli_given(job->args, "json")) {
            cli_note("no record has a label: what a model would get right "
                     "cannot be told; here is the error of shares and means");
        }
        status = plan_shares(job);
    }
    if (labels && (job->accuracy > 0 || !shares)) {
        if (job->people_count == 0) {
            status = CLI_THEN(status,
                              read_list("people", PEOPLE_DEFAULT, 2, 1e9, NULL,
                                        job->people, &job->people_count));
        }
        status = CLI_THEN(status, plan_accuracy(job));
    }
    return status;
}

/* The plot is SVG: under another name no program would open it. */
static int
check_plot(const char *path)
{
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    name = name != NULL ? name + 1 : path;
    const char *end = name != NULL ? strrchr(name, '.') : NULL;
    if (end == NULL || strcasecmp(end, ".svg") == 0) {
        return CLI_EXIT_DONE;
    }
    return cli_bad("-o %.240s: the plot is written as SVG, which every browser "
                   "shows: say -o %.*s.svg",
                   path, (int)(end - path < 240 ? end - path : 240), path);
}

/* Whether --kind is one that plan can simulate. */
static int
check_kind(const char *kind)
{
    const char *names[16];
    struct sotto_train_kind at;
    size_t count = 0;
    if (kind == NULL || train_kind_find(kind, &at)) {
        return CLI_EXIT_DONE;
    }
    while (count < 16 && sotto_train_kind_at(count, &at)) {
        names[count++] = at.name;
    }
    const char *nearest = cli_nearest(kind, names, count);
    return nearest != NULL
               ? cli_bad("there is no kind '%.40s': did you mean '%s'?", kind,
                         nearest)
               : cli_bad("there is no kind '%.40s' to simulate: take codebook "
                         "or direct",
                         kind);
}

static int
run_plan(const struct cli_args *args)
{
    struct plan_job job = {.args = args};
    const char *const inputs[] = {
        args->words > 0 ? args->word[0] : NULL, cli_value(args, "data"),
        cli_value(args, "labels"), cli_value(args, "schema")};
    int status = output_file_check(cli_value(args, "output"), inputs,
                                   sizeof inputs / sizeof *inputs);
    status = CLI_THEN(status, check_plot(cli_value(args, "output")));
    status = CLI_THEN(status, check_kind(cli_value(args, "kind")));
    status = CLI_THEN(status, read_numbers(&job));
    status = CLI_THEN(status, read_inputs(&job));
    status = CLI_THEN(status, answer(&job));
    sotto_mechanism_free(job.mechanism);
    sotto_table_free(job.table);
    sotto_schema_free(job.schema);
    free(job.drop);
    free(job.answer);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "people", "N,N,...",
     "how many are asked (for accuracy 1000,5000,20000)"},
    {0, false, false, "eps", "E,E,...", "the epsilon of a report (1,2,4)"},
    {0, false, false, "share", "S",
     "every share within S to either side: 0.01 or 1% is a\n"
     "point"},
    {0, false, false, "mean", "S",
     "every mean within S of its range to either side"},
    {0, false, false, "accuracy", "A",
     "a model that is right about A of people: 0.9 or 90%"},
    {0, false, false, "data", "FILE",
     "auxiliary records: for accuracy some with a label"},
    {0, false, false, "labels", "FILE", "a file with the label of each record"},
    {0, false, false, "label", "COL", "the column of the data that is a label"},
    {0, false, false, "label-values", "V,V,...",
     "data without labels: what people's labels may be"},
    {0, false, true, "number", "COL=LOW:HIGH",
     "without data: a number that will be asked"},
    {0, false, true, "categories", "COL=K",
     "without data: a category of K values"},
    {0, false, false, "schema", "S",
     "what the columns are, as sotto schema infer writes\n"
     "it and you edit it; without data it stands for them"},
    {0, false, true, "keep", "COL",
     "use this column, and no others but those kept and\n"
     "the label"},
    {0, false, true, "drop", "COL", "leave this column out"},
    {0, false, true, "category", "COL",
     "this column of numbers holds categories"},
    {0, false, true, "range", "COL=LOW:HIGH", "a number's public range"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns"},
    {0, false, false, "silent", "S", "the share that does not answer (0.333)"},
    {0, false, false, "liars", "S", "the share that lies (0.05)"},
    {0, false, false, "confidence", "C",
     "of the intervals of shares and means (0.95)"},
    {0, false, false, "kind", "KIND",
     "the mechanism to simulate (codebook and direct, which\n"
     "are compared)"},
    {0, false, false, "campaigns", "N",
     "simulated for every row, 2 to 1000 (12; direct with\n"
     "few people up to 40)"},
    {0, false, false, "seed", "N", "of all that is simulated (1)"},
    {0, false, false, "threads", "N",
     "the result does not depend on it (all cores)"},
    {'o', false, false, "output", "FILE.svg",
     "a plot of accuracies, or of errors, against epsilon"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_plan = {
    .name = "plan",
    .summary = "how many people, at which epsilon: before anybody is asked",
    .usage = "[M | --data F | --schema S | --categories C=K] [--eps E] "
             "[OPTIONS]",
    .about =
        "Shares and means by formula: how wide decode's intervals will be, "
        "and how many\npeople or which epsilon a width needs. Accuracy by "
        "simulated campaigns on\nrecords of which some have a label: what to "
        "expect, with an interval that holds\nnine times in ten, and which "
        "kind does better; where campaigns differ by more\nthan 20 points, "
        "that nothing can be told. A question may go either way: --people\n"
        "and --eps tell what to expect; --share, --mean and --accuracy tell "
        "which people\nand which epsilon that needs. All of it costs no "
        "privacy and writes nothing but\nthe plot.\n",
    .example =
        "sotto plan --categories region=40 --share 0.01 --people 5000 --eps 1\n"
        "sotto plan --data data/wdbc.csv --label diagnosis --keep radius_mean "
        "\\\n    --kind direct --eps 4 --people 500 --campaigns 2\n",
    .wanted = wanted,
    .optional = 1,
    .options = options,
    .computes = true,
    .run = run_plan,
};
