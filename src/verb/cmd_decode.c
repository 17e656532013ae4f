/*
 * cmd_decode.c: sotto decode: what the collector learns from reports.
 */
#include <inttypes.h>
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

/* What is made of every report besides the estimates. */
struct outputs {
    struct report_lines *lines;
    struct decode_features *features;
    struct decode_shapes shapes;
};

static int
open_outputs(const struct cli_args *args, const struct decode_job *job,
             struct outputs *outputs)
{
    const char *path = cli_value(args, "output");
    const char *analyst = cli_value(args, "analyst");
    int status = CLI_EXIT_DONE;
    if (decode_shapes_wanted(&outputs->shapes)) {
        status = decode_shapes_start(&outputs->shapes, job->mechanism);
    }
    if (status != CLI_EXIT_DONE || path == NULL) {
        return status;
    }
    return analyst != NULL
               ? decode_features_open(job->mechanism, analyst, path,
                                      &outputs->features)
               : report_lines_open(job->mechanism, path, &outputs->lines);
}

static int
commit_outputs(struct outputs *outputs)
{
    int status = CLI_EXIT_DONE;
    if (outputs->lines != NULL) {
        status = report_lines_commit(outputs->lines);
        outputs->lines = NULL;
    }
    if (outputs->features != NULL) {
        status = decode_features_commit(outputs->features);
        outputs->features = NULL;
    }
    return status;
}

static void
clear_outputs(struct outputs *outputs)
{
    report_lines_free(outputs->lines);
    decode_features_free(outputs->features);
    decode_shapes_clear(&outputs->shapes);
}

/* One block, to all that wants it. */
static int
add_block(struct decode_job *job, struct outputs *outputs,
          const struct sotto_report_block *block)
{
    int status = CLI_EXIT_DONE;
    sotto_estimate_add_block(job->estimate, block);
    sotto_margins_add_block(job->margins, block);
    decode_shapes_add(&outputs->shapes, block, job->info.report_size);
    if (outputs->lines != NULL) {
        status = report_lines_add(outputs->lines, block);
    }
    if (outputs->features != NULL) {
        status = decode_features_add(outputs->features, block);
    }
    return status;
}

static int
check_reports(const struct cli_args *args, const struct decode_job *job)
{
    const struct sotto_report_seen *seen = &job->seen;
    struct sotto_error err = {0};
    if (report_source_check(args->word[1], seen, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (seen->simulated > 0 && seen->simulated < seen->reports) {
        return cli_bad("'%.240s'%s mix%s %" PRIu64 " simulated with %" PRIu64
                       " real reports: no estimate from both means anything; "
                       "separate them",
                       args->word[1], args->words > 2 ? " and the others" : "",
                       args->words > 2 ? "" : "es", seen->simulated,
                       seen->reports - seen->simulated);
    }
    return CLI_EXIT_DONE;
}

static int
read_blocks(const struct cli_args *args, struct decode_job *job,
            struct sotto_report_stream *stream, struct outputs *outputs)
{
    struct sotto_report_block block = {.count = 1};
    struct sotto_error err = {0};
    struct progress bar;
    int status = CLI_EXIT_DONE;
    progress_start(&bar, "estimating", 0);
    while (status == CLI_EXIT_DONE && block.count > 0) {
        if (sotto_report_stream_next(stream, &block, &err) != SOTTO_STATUS_OK) {
            progress_end(&bar);
            return cli_fail(&err);
        }
        status = add_block(job, outputs, &block);
        sotto_report_stream_seen(stream, &job->seen);
        progress_step(&bar, job->seen.reports);
    }
    progress_end(&bar);
    return CLI_THEN(status, check_reports(args, job));
}

static int
read_reports(const struct cli_args *args, struct decode_job *job,
             struct outputs *outputs)
{
    struct sotto_report_stream *stream = NULL;
    struct sotto_error err = {0};
    int status;
    if (sotto_mechanism_read(args->word[0], &job->mechanism, &err) !=
            SOTTO_STATUS_OK ||
        sotto_estimate_new(job->mechanism, &job->estimate, &err) !=
            SOTTO_STATUS_OK ||
        sotto_margins_new(job->mechanism, &job->margins, &err) !=
            SOTTO_STATUS_OK ||
        report_source_stream(job->mechanism, args->word + 1, args->words - 1,
                             &stream, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_mechanism_info(job->mechanism, &job->info);
    status = open_outputs(args, job, outputs);
    status = CLI_THEN(status, read_blocks(args, job, stream, outputs));
    sotto_report_stream_free(stream);
    return CLI_THEN(status, commit_outputs(outputs));
}

static void
note_reports(const struct decode_job *job)
{
    size_t count = (size_t)job->seen.reports;
    report_source_note(&job->seen);
    if (job->seen.simulated > 0) {
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
    struct outputs outputs = {0};
    if (!decode_shapes_read(args, &outputs.shapes)) {
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
    status = CLI_THEN(status, read_reports(args, &job, &outputs));
    if (status == CLI_EXIT_DONE) {
        FILE *to = cli_summary(path);
        note_reports(&job);
        if (job.json || job.seen.reports >= DECODE_REPORTS_LEAST) {
            status = decode_rows_put(&job, to);
        }
        if (status == CLI_EXIT_DONE && decode_shapes_wanted(&outputs.shapes)) {
            decode_shapes_put(&outputs.shapes, job.mechanism, job.seen.reports,
                              job.confidence, to);
        }
    }
    status = CLI_THEN(status, decode_page_write(args, &job));
    clear_outputs(&outputs);
    sotto_margins_free(job.margins);
    sotto_estimate_free(job.estimate);
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
     "also write a page to look at: what is promised,\n"
     "estimates, liars"},
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
