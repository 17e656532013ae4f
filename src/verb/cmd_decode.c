/*
 * cmd_decode.c: sotto decode: what the collector learns from reports.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "host/confidence.h"
#include "verb/decode_features.h"
#include "verb/decode_page.h"
#include "verb/decode_rows.h"
#include "verb/decode_shapes.h"
#include "verb/report_lines.h"
#include "verb/report_source.h"

static int
read_reports(const struct cli_args *args, struct decode_job *job)
{
    struct sotto_error err = {0};
    struct progress bar;
    if (sotto_mechanism_read(args->word[0], &job->mechanism, &err) !=
            SOTTO_STATUS_OK ||
        report_source_open_all(job->mechanism, args->word + 1, args->words - 1,
                               &job->reader, &err) != SOTTO_STATUS_OK ||
        sotto_estimate_new(job->mechanism, &job->estimate, &err) !=
            SOTTO_STATUS_OK ||
        sotto_margins_new(job->mechanism, &job->margins, &err) !=
            SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_mechanism_info(job->mechanism, &job->info);
    size_t count = sotto_report_reader_count(job->reader);
    progress_start(&bar, "estimating", count);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *report = sotto_report_reader_at(job->reader, i);
        job->simulated += sotto_report_simulated(report) ? 1 : 0;
        sotto_estimate_add(job->estimate, report);
        sotto_margins_add(job->margins, report);
        progress_step(&bar, i + 1);
    }
    progress_end(&bar);
    if (job->simulated > 0 && job->simulated < count) {
        return cli_bad("'%.240s'%s mix%s %zu simulated with %zu real reports: "
                       "no estimate from both means anything; separate them",
                       args->word[1], args->words > 2 ? " and the others" : "",
                       args->words > 2 ? "" : "es", job->simulated,
                       count - job->simulated);
    }
    return CLI_EXIT_DONE;
}

static void
note_reports(const struct decode_job *job)
{
    size_t count = sotto_report_reader_count(job->reader);
    size_t repeated = sotto_report_reader_repeated(job->reader);
    if (repeated > 0) {
        cli_note("%zu report%s came more than once and count%s once", repeated,
                 repeated == 1 ? "" : "s", repeated == 1 ? "s" : "");
    }
    if (job->simulated > 0) {
        cli_note("the report%s simulated: for experiments only",
                 count == 1 ? " is" : "s are");
    }
    if (count < DECODE_REPORTS_LEAST) {
        cli_note("%zu report%s too few: an interval needs at least two "
                 "reports, and thousands are useful",
                 count, count == 1 ? " is" : "s are");
    }
}

static int
check_output(const struct cli_args *args, const char *path)
{
    const char *const analyst[] = {cli_value(args, "analyst")};
    int status;
    if (path == NULL && cli_given(args, "analyst")) {
        return cli_bad("--analyst decodes records to a file: name it with -o");
    }
    if (path != NULL && report_lines_named(path, ".npy") &&
        !cli_given(args, "analyst")) {
        return cli_bad("an NPY file holds decoded records: give the decoder "
                       "with --analyst, or another name");
    }
    status = output_file_check(path, analyst, 1);
    return CLI_THEN(status, output_file_check(path, args->word, args->words));
}

static int
run_decode(const struct cli_args *args)
{
    const char *path = cli_value(args, "output");
    struct decode_job job = {.confidence = 0.95};
    struct decode_shapes shapes;
    if (!decode_shapes_read(args, &shapes)) {
        return CLI_EXIT_BAD;
    }
    if (!cli_share(args, "confidence", 0.5, 0.999999, &job.confidence)) {
        return CLI_EXIT_BAD;
    }
    job.z = confidence_z(job.confidence);
    job.json = cli_given(args, "json");
    job.shares = cli_given(args, "shares");
    int status = check_output(args, path);
    status = CLI_THEN(status, decode_page_check(args));
    if (status == CLI_EXIT_DONE && path != NULL) {
        status = report_lines_check(path, "take .csv or .jsonl (JSON Lines)");
    }
    status = CLI_THEN(status, read_reports(args, &job));
    if (status == CLI_EXIT_DONE && path != NULL) {
        const char *analyst = cli_value(args, "analyst");
        status = analyst != NULL
                     ? decode_features(job.mechanism, job.reader, analyst, path)
                     : report_lines_write(job.mechanism, job.reader, path);
    }
    if (status == CLI_EXIT_DONE) {
        note_reports(&job);
        if (job.json ||
            sotto_report_reader_count(job.reader) >= DECODE_REPORTS_LEAST) {
            status = decode_rows_put(&job, cli_summary(path));
        }
    }
    if (status == CLI_EXIT_DONE && decode_shapes_wanted(&shapes)) {
        status = decode_shapes(&shapes, job.mechanism, job.reader,
                               job.confidence, cli_summary(path));
    }
    status = CLI_THEN(status, decode_page_write(args, &job));
    sotto_margins_free(job.margins);
    sotto_estimate_free(job.estimate);
    sotto_report_reader_free(job.reader);
    sotto_mechanism_free(job.mechanism);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", "R (reports)", NULL};

static const struct cli_option options[] = {
    {'o', false, false, "output", "FILE",
     "also write every report: JSON Lines if it ends in\n"
     ".jsonl, else CSV"},
    {0, false, false, "analyst", "A",
     "with -o: write the records that the reports decode\n"
     "to, NPY if it ends in .npy, else CSV"},
    {0, false, false, "confidence", "C",
     "of the intervals: 0.5 to 0.999999 (0.95)"},
    {0, false, false, "shares", NULL,
     "frequencies as shares: none below 0, and their sum 1;\n"
     "easier to read, and biased"},
    {0, false, false, "quantiles", "LIST",
     "also quantiles of numbers that went through laplace,\n"
     "such as 0.1,0.5,0.9: 16 at most"},
    {0, false, false, "histogram", "BINS",
     "also their shares in so many bins of equal width,\n"
     "from 2 to 100"},
    {0, false, false, "html", "FILE",
     "also write a page to look at, which needs nothing from\n"
     "anywhere: what is promised, estimates, liars"},
    {0, false, false, "plan", "P",
     "with --html: draw the accuracies in P, which\n"
     "sotto plan --json printed"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_decode = {
    .name = "decode",
    .summary = "estimate means and frequencies from reports",
    .usage =
        "M R... [--shares] [-o F [--analyst A]] [--confidence 0.95]\n"
        "       [--quantiles LIST] [--histogram BINS] [--html FILE [--plan "
        "P]]",
    .about = "Prints estimates with their intervals: frequencies and means, "
             "which are\n"
             "unbiased for what the mechanism says a value counts as (a number "
             "beyond its\n"
             "range as the nearer end). Where the mechanism tells what is "
             "missing: the share\n"
             "that is, and the mean of those who have a value. Where it does "
             "not, a missing\n"
             "number counts as the middle of its range. Quantiles and "
             "histograms are by\n"
             "maximum likelihood. Beside each estimate is how far 1% and 5% of "
             "forged reports\n"
             "can move it.\n"
             "R is a file of reports in either form, or - for standard input; "
             "of several\n"
             "files a report that came twice counts once. Where a report is "
             "about a\n"
             "combination, such as a codebook's code and the label, the "
             "label's frequencies\n"
             "and each code's come first. A single report says next to "
             "nothing: that is the\n"
             "point.\n"
             "With -o also the reports' integers: CSV has the columns id, "
             "simulated and\n"
             "partP.bB.i, which is integer i of block B, both from 0, of part "
             "P, from 1 as\n"
             "in sotto inspect. With --analyst, the decoder of a learnt "
             "mechanism makes a\n"
             "record of each report, in the columns' own units; that costs no "
             "privacy. The\n"
             "label stands as it was reported: a set that came through subset "
             "is one field,\n"
             "a|b|c.\n",
    .example = "sotto decode wdbc.sotto wdbc.reports -o wdbc.decoded.csv\n"
               "sotto decode wdbc.sotto wdbc.reports --quantiles 0.1,0.5,0.9\n"
               "sotto decode wdbc.sotto wdbc.reports --html wdbc.html\n",
    .wanted = wanted,
    .more = true,
    .options = options,
    .run = run_decode,
};
