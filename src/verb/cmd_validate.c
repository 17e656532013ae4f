/*
 * cmd_validate.c: sotto validate: how often a model is right, from people who
 * each answered one private question.
 */
#include <math.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "host/confidence.h"
#include "verb/learning.h"
#include "verb/records.h"
#include "verb/report_source.h"
#include "verb/right_print.h"

struct validate_job {
    struct sotto_mechanism *mechanism;
    struct sotto_right right;
    double confidence;
    double clean; /* NAN: nobody looked */
};

/* ---- Answers --------------------------------------------------------------
 */

static int
read_answers(const struct cli_args *args, struct validate_job *job)
{
    struct sotto_report_reader *reader = NULL;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    if (report_source_open_all(job->mechanism, args->word + 1, args->words - 1,
                               &reader, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (sotto_right_estimate(job->mechanism, reader,
                             confidence_z(job->confidence), &job->right,
                             &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, args->word[0]);
    } else if (sotto_report_reader_repeated(reader) > 0) {
        cli_note("%zu reports came more than once and count once",
                 sotto_report_reader_repeated(reader));
    }
    sotto_report_reader_free(reader);
    return status;
}

/* --data: what answers of these rows would come to. */
static int
simulate_answers(const struct cli_args *args, struct validate_job *job)
{
    const char *data = cli_value(args, "data");
    struct sotto_table *table = NULL;
    struct sotto_records *records = NULL;
    struct sotto_error err = {0};
    uint64_t people = 0, seed = 0;
    if (!cli_whole(args, "people", 1, 1000000000, &people) ||
        !cli_whole(args, "seed", 0, UINT64_MAX, &seed)) {
        return CLI_EXIT_BAD;
    }
    int status = records_read(args, data, cli_value(args, "labels"), &table);
    status = CLI_THEN(
        status, records_match(job->mechanism, table, data, NULL, &records));
    if (status == CLI_EXIT_DONE &&
        sotto_right_simulate(job->mechanism, table, (size_t)people, seed,
                             confidence_z(job->confidence), &job->right,
                             &job->clean, &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, data);
    }
    sotto_records_free(records);
    sotto_table_free(table);
    return status;
}

/* ---- The verb -------------------------------------------------------------
 */

static int
check_validate(const struct cli_args *args)
{
    static const char *const these[] = {"labels", "people", "seed", "header"};
    bool data = cli_given(args, "data");
    if (data == (args->words > 1)) {
        return data ? cli_bad("reports and --data do not go together: the ones "
                              "are answers, the other simulates them")
                    : cli_bad("needs R, the reports of people who were asked; "
                              "or --data F, to simulate them");
    }
    for (size_t i = 0; !data && i < sizeof these / sizeof *these; i++) {
        if (cli_given(args, these[i])) {
            return cli_bad("--%s belongs to --data, which simulates answers",
                           these[i]);
        }
    }
    return CLI_EXIT_DONE;
}

static void
tell_validate(const struct cli_args *args, const struct validate_job *job)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(job->mechanism, &info);
    const struct right_print more = {.eps = info.eps_text,
                                     .campaign = info.campaign,
                                     .confidence = job->confidence,
                                     .clean = job->clean};
    if (cli_given(args, "json")) {
        json_begin(stdout);
        json_text(stdout, "mechanism", args->word[0]);
        right_print_json(stdout, &job->right, &more);
        json_end(stdout);
    } else {
        right_print(stdout, &job->right, &more);
    }
    if (job->right.simulated > 0) {
        cli_note("the answers are simulated: for planning and experiments");
    }
}

static int
run_validate(const struct cli_args *args)
{
    struct validate_job job = {.confidence = 0.95, .clean = (double)NAN};
    struct sotto_error err = {0};
    int status = check_validate(args);
    if (status != CLI_EXIT_DONE ||
        !cli_share(args, "confidence", 0.5, 0.999999, &job.confidence)) {
        return CLI_EXIT_BAD;
    }
    if (sotto_mechanism_read(args->word[0], &job.mechanism, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status = cli_given(args, "data") ? simulate_answers(args, &job)
                                     : read_answers(args, &job);
    if (status == CLI_EXIT_DONE) {
        tell_validate(args, &job);
    }
    sotto_mechanism_free(job.mechanism);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", "R (reports)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "confidence", "C",
     "of the interval: 0.5 to 0.999999 (0.95)"},
    {0, false, false, "data", "F",
     "in place of R: simulate the answers of these records,\n"
     "a curator's, with their labels"},
    {0, false, false, "labels", "F", "a file with the label of each record"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed"},
    RECORDS_READING,
    {0, false, false, "people", "N",
     "with --data: so many answer, drawn from the rows by\n"
     "lot, with replacement (each row once)"},
    {0, false, false, "seed", "S", "with --data: of lot and noise (0)"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_validate = {
    .name = "validate",
    .summary = "say how often a model is right, from private answers",
    .usage = "M R... [--confidence 0.95] | M --data F [--labels F]",
    .about =
        "M was made by sotto train right, and asks a person whether a model is "
        "right\nabout them; R are the answers, one bit each, through flip. "
        "Prints the share of\npeople that it is right about, with an exact "
        "interval, and what the answers\ncost. Ask people who neither reported "
        "nor were asked before: M counts in the\ncampaign of the reports, so a "
        "ledger refuses them. Of a model that won a\nchoice (sotto choose, "
        "sotto tune), ask others than those who chose it: their\nanswers are "
        "too good on average (docs/validation.md).\n",
    .example = "sotto validate wdbc-right.sotto wdbc-right.reports\n"
               "sotto validate wdbc-right.sotto --data data/wdbc.csv --people "
               "10000\n",
    .wanted = wanted,
    .optional = 1,
    .more = true,
    .options = options,
    .computes = true,
    .run = run_validate,
};
