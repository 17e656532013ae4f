/*
 * cmd_choose.c: sotto choose: which of several models is right most often, by
 * people's answers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "host/confidence.h"
#include "verb/learning.h"
#include "verb/report_source.h"

struct choose_job {
    size_t n;
    const char **path; /* of each mechanism */
    struct sotto_mechanism **mechanism;
    struct sotto_right *right;
    size_t best;
};

/* ---- Reading ------------------------------------------------------------- */

static int
read_answers(const struct cli_args *args, double z, size_t i,
             struct choose_job *job)
{
    const char *reports = args->word[2 * i + 1];
    struct sotto_report_reader *reader = NULL;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    job->path[i] = args->word[2 * i];
    if (sotto_mechanism_read(job->path[i], &job->mechanism[i], &err) !=
            SOTTO_STATUS_OK ||
        report_source_open(job->mechanism[i], reports, &reader, &err) !=
            SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (sotto_right_estimate(job->mechanism[i], reader, z, &job->right[i],
                             &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, job->path[i]);
    } else if (sotto_report_reader_repeated(reader) > 0) {
        cli_note("%zu reports of '%.240s' came more than once and count once",
                 sotto_report_reader_repeated(reader), reports);
    }
    sotto_report_reader_free(reader);
    return status;
}

/* Refuses a mechanism that is given twice: its reports belong together. */
static int
check_distinct(const struct choose_job *job)
{
    for (size_t i = 0; i < job->n; i++) {
        for (size_t j = 0; j < i; j++) {
            struct sotto_mechanism_info a, b;
            sotto_mechanism_info(job->mechanism[i], &a);
            sotto_mechanism_info(job->mechanism[j], &b);
            if (strcmp(a.hash, b.hash) == 0) {
                return cli_bad("'%.200s' and '%.200s' ask the same question: "
                               "put their reports together",
                               job->path[j], job->path[i]);
            }
        }
    }
    return CLI_EXIT_DONE;
}

static int
read_all(const struct cli_args *args, double z, struct choose_job *job)
{
    int status = CLI_EXIT_DONE;
    size_t simulated = 0, reports = 0;
    for (size_t i = 0; i < job->n && status == CLI_EXIT_DONE; i++) {
        status = read_answers(args, z, i, job);
        simulated += job->right[i].simulated;
        reports += job->right[i].reports;
    }
    status = CLI_THEN(status, check_distinct(job));
    if (status == CLI_EXIT_DONE && simulated > 0 && simulated < reports) {
        return cli_bad("%zu answers are simulated and %zu are not: nothing "
                       "compares them",
                       simulated, reports - simulated);
    }
    if (status == CLI_EXIT_DONE && simulated > 0) {
        cli_note("the reports are simulated: for experiments only");
    }
    return status;
}

/* ---- Telling ------------------------------------------------------------- */

static void
tell_json(const struct choose_job *job, double confidence, FILE *to)
{
    for (size_t i = 0; i < job->n; i++) {
        const struct sotto_right *right = &job->right[i];
        json_begin(to);
        json_text(to, "mechanism", job->path[i]);
        json_size(to, "reports", right->reports);
        json_size(to, "simulated", right->simulated);
        json_number(to, "right", right->share);
        json_number(to, "error", right->error);
        json_number(to, "low", right->low);
        json_number(to, "high", right->high);
        json_number(to, "confidence", confidence);
        json_bool(to, "chosen", i == job->best);
        json_end(to);
    }
}

/* By how much the best is ahead of the next, in standard errors. */
static void
tell_lead(const struct choose_job *job, FILE *to)
{
    const struct sotto_right *best = &job->right[job->best], *next = NULL;
    for (size_t i = 0; i < job->n; i++) {
        if (i != job->best &&
            (next == NULL || job->right[i].share > next->share)) {
            next = &job->right[i];
        }
    }
    (void)fprintf(to, "\nChosen: %s", cli_shown(job->path[job->best]));
    if (next != NULL) {
        (void)fprintf(to,
                      ", ahead of the next by %.1f of 100, with a standard "
                      "error of %.1f",
                      100 * (best->share - next->share),
                      100 * hypot(best->error, next->error));
    }
    (void)fprintf(to, ".\nThe winner's own share is too high on average: noise "
                      "helped it to win. Ask\nother people how good it is.\n");
}

static void
tell_text(const struct choose_job *job, double confidence, FILE *to)
{
    (void)fprintf(to,
                  "right, in percent, with its standard error and a %g%% "
                  "interval\n\n%8s  %8s  %8s  %8s  %8s\n",
                  100 * confidence, "right", "error", "low", "high", "reports");
    for (size_t i = 0; i < job->n; i++) {
        const struct sotto_right *right = &job->right[i];
        (void)fprintf(to, "%8.1f  %8.1f  %8.1f  %8.1f  %8zu  %s\n",
                      100 * right->share, 100 * right->error, 100 * right->low,
                      100 * right->high, right->reports,
                      cli_shown(job->path[i]));
    }
    if (job->n > 1) {
        tell_lead(job, to);
    }
}

/* ---- Keeping ------------------------------------------------------------- */

/* --model, -o: writes the model with the chosen network alone. */
static int
keep_best(const struct cli_args *args, const struct choose_job *job)
{
    const char *from = cli_value(args, "model"),
               *path = cli_value(args, "output");
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    if (from == NULL) {
        return CLI_EXIT_DONE;
    }
    if (sotto_model_read(from, &model, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (sotto_model_keep_right(model, job->mechanism[job->best], NULL, &err) !=
        SOTTO_STATUS_OK) {
        status = learning_fail(&err, job->path[job->best]);
    } else if (sotto_model_write(model, path, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    sotto_model_free(model);
    return status;
}

/* ---- The verb ------------------------------------------------------------ */

static int
check_choose(const struct cli_args *args)
{
    const char *path = cli_value(args, "output");
    int status = CLI_EXIT_DONE;
    if (args->words % 2 != 0) {
        return cli_bad("every mechanism needs its reports behind it: M R M R");
    }
    if (cli_given(args, "model") != (path != NULL)) {
        return cli_bad("--model and -o go together: the model whose networks "
                       "were asked about, and what is kept of it");
    }
    if (path != NULL) {
        status = output_file_check(
            path, (const char *const[]){cli_value(args, "model")}, 1);
    }
    return CLI_THEN(status, output_file_check(path, args->word, args->words));
}

static int
run_choose(const struct cli_args *args)
{
    struct choose_job job = {.n = args->words / 2};
    double confidence = 0.95;
    int status = check_choose(args);
    if (status != CLI_EXIT_DONE ||
        !cli_share(args, "confidence", 0.5, 0.999999, &confidence)) {
        return CLI_EXIT_BAD;
    }
    job.path = calloc(job.n, sizeof *job.path);
    job.mechanism = calloc(job.n, sizeof *job.mechanism);
    job.right = calloc(job.n, sizeof *job.right);
    if (job.path == NULL || job.mechanism == NULL || job.right == NULL) {
        status = cli_no_memory();
        goto done;
    }
    status = read_all(args, confidence_z(confidence), &job);
    if (status == CLI_EXIT_DONE) {
        job.best = sotto_right_best(job.right, job.n);
        status = keep_best(args, &job);
    }
    if (status == CLI_EXIT_DONE) {
        FILE *to = cli_summary(cli_value(args, "output"));
        (cli_given(args, "json") ? tell_json : tell_text)(&job, confidence, to);
    }
done:
    for (size_t i = 0; job.mechanism != NULL && i < job.n; i++) {
        sotto_mechanism_free(job.mechanism[i]);
    }
    free(job.path);
    free(job.mechanism);
    free(job.right);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", "R (reports)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "confidence", "C",
     "of the intervals: 0.5 to 0.999999 (0.95)"},
    {0, false, false, "model", "MODEL",
     "the model whose networks the mechanisms ask about"},
    {'o', false, false, "output", "KEPT",
     "with --model: write it, the chosen network alone"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_choose = {
    .name = "choose",
    .summary = "find the model that people say is right about them",
    .usage = "M R [M R]... [--model MODEL -o KEPT] [--confidence 0.95]",
    .about =
        "Each M was made by sotto train right, and asks people whether a model "
        "is right\nabout them; R are the answers. Prints the share that it is "
        "right about, and\nwhich model has the largest. Ask everybody about "
        "one model only, through a\nledger: then a person spends one epsilon, "
        "and the shares are those of different\npeople.\n",
    .example =
        "sotto privatise wdbc-right.sotto data/wdbc.csv -o wdbc-right.reports\n"
        "sotto choose wdbc-right.sotto wdbc-right.reports\n",
    .wanted = wanted,
    .more = true,
    .options = options,
    .computes = true,
    .run = run_choose,
};
