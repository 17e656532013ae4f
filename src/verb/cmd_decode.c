/*
 * cmd_decode.c: sotto decode: what the collector learns from reports.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "verb/confidence.h"
#include "verb/decode_features.h"
#include "verb/report_source.h"

#define NAME_WIDTH_MAX 40
#define REPORTS_LEAST 2u /* for an interval */

struct decode_job {
    struct sotto_mechanism *mechanism;
    struct sotto_mechanism_info info;
    struct sotto_report_reader *reader;
    struct sotto_estimate *estimate;
    size_t simulated;
};

/* ---- The reports, one a line -------------------------------------------- */

/* Calls for every integer of a report, in order; a header if it is NULL. */
static bool
put_integers(const struct decode_job *job, const uint8_t *report, FILE *to)
{
    for (size_t p = 0; p < job->info.parts; p++) {
        struct sotto_part_info part;
        sotto_mechanism_part(job->mechanism, p, &part);
        int64_t *values = calloc(part.values + 1, sizeof *values);
        if (values == NULL) {
            return false;
        }
        for (size_t b = 0; b < part.blocks; b++) {
            if (report != NULL) {
                sotto_report_values(job->mechanism, report, p, b, values);
            }
            for (size_t i = 0; i < part.values; i++) {
                if (report != NULL) {
                    (void)fprintf(to, ",%" PRId64, values[i]);
                } else {
                    (void)fprintf(to, ",part%zu.b%zu.%zu", p + 1, b, i);
                }
            }
        }
        free(values);
    }
    (void)fputc('\n', to);
    return true;
}

static bool
put_csv(const struct decode_job *job, const uint8_t *report, FILE *to)
{
    if (report == NULL) {
        (void)fputs(job->info.books > 1 ? "id,simulated,book" : "id,simulated",
                    to);
        return put_integers(job, NULL, to);
    }
    const uint8_t *id = sotto_report_id(report);
    for (size_t i = 0; i < SOTTO_ID_SIZE; i++) {
        (void)fprintf(to, "%02x", id[i]);
    }
    (void)fputs(sotto_report_simulated(report) ? ",yes" : ",no", to);
    if (job->info.books > 1) {
        (void)fprintf(to, ",%zu", sotto_report_book(job->mechanism, report));
    }
    return put_integers(job, report, to);
}

static bool
put_json(const struct decode_job *job, const uint8_t *report, FILE *to)
{
    char *text = NULL;
    if (report == NULL) {
        return true;
    }
    if (sotto_report_json(job->mechanism, report, &text, NULL) !=
        SOTTO_STATUS_OK) {
        return false;
    }
    (void)fprintf(to, "%s\n", text);
    free(text);
    return true;
}

static bool
ends_in(const char *path, const char *end)
{
    size_t size = strlen(path), tail = strlen(end);
    return size >= tail && strcmp(path + size - tail, end) == 0;
}

static int
write_lines(const struct decode_job *job, const char *path)
{
    size_t count = sotto_report_reader_count(job->reader);
    bool (*put)(const struct decode_job *, const uint8_t *, FILE *) =
        ends_in(path, ".jsonl") ? put_json : put_csv;
    struct output_file file;
    struct progress bar;
    if (!output_file_open(&file, path)) {
        return CLI_EXIT_FAILED;
    }
    progress_start(&bar, "writing", count);
    bool good = put(job, NULL, file.stream);
    for (size_t i = 0; good && i < count && ferror(file.stream) == 0; i++) {
        good = put(job, sotto_report_reader_at(job->reader, i), file.stream);
        progress_step(&bar, i + 1);
    }
    progress_end(&bar);
    if (!good) {
        cli_error("out of memory");
        output_file_drop(&file);
        return CLI_EXIT_FAILED;
    }
    return output_file_commit(&file) ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}

/* ---- The estimates ------------------------------------------------------ */

static const char *
kind_of(const struct sotto_estimate_row *row)
{
    return row->category == NULL ? "mean" : "frequency";
}

static void
put_row_json(const struct decode_job *job, const struct sotto_estimate_row *row,
             double confidence, FILE *to)
{
    json_begin(to);
    json_text(to, "name", row->name);
    json_text(to, "kind", kind_of(row));
    json_text(to, "category", row->category);
    json_number(to, "value", row->value);
    json_number(to, "low", row->low);
    json_number(to, "high", row->high);
    json_number(to, "confidence", confidence);
    json_number(to, "noise_deviation", row->noise_deviation);
    json_size(to, "reports", sotto_report_reader_count(job->reader));
    json_number(to, "eps", job->info.eps);
    json_number(to, "delta", job->info.delta);
    json_size(to, "simulated", job->simulated);
    json_end(to);
}

static void
row_name(const struct sotto_estimate_row *row, char *text, size_t size)
{
    (void)snprintf(text, size, "%.100s%s%.100s", row->name,
                   row->category != NULL ? " = " : "",
                   row->category != NULL ? row->category : "");
}

static int
name_width(const struct decode_job *job, double z)
{
    int width = 4;
    for (size_t i = 0; i < sotto_estimate_rows(job->estimate); i++) {
        struct sotto_estimate_row row;
        char name[256];
        sotto_estimate_row(job->estimate, i, z, &row);
        row_name(&row, name, sizeof name);
        int size = (int)strlen(name);
        width = size > width ? size : width;
    }
    return width < NAME_WIDTH_MAX ? width : NAME_WIDTH_MAX;
}

static void
put_row_text(const struct sotto_estimate_row *row, int width, FILE *to)
{
    char name[256];
    row_name(row, name, sizeof name);
    int size = (int)strlen(name);
    cli_put(to, name, (size_t)size);
    (void)fprintf(to, "%*s  %-9s  %12.6g  %12.6g  %12.6g\n",
                  size < width ? width - size : 0, "", kind_of(row), row->value,
                  row->low, row->high);
}

static void
put_estimates(const struct cli_args *args, const struct decode_job *job,
              double confidence, FILE *to)
{
    double z = confidence_z(confidence);
    bool json = cli_given(args, "json");
    int width = json ? 0 : name_width(job, z);
    if (!json) {
        (void)fprintf(
            to, "%zu reports, epsilon %s%s%s each; %g%% intervals\n\n",
            sotto_report_reader_count(job->reader), job->info.eps_text,
            job->info.delta > 0 ? " and delta " : "",
            job->info.delta > 0 ? job->info.delta_text : "", 100 * confidence);
        (void)fprintf(to, "%-*s  %-9s  %12s  %12s  %12s\n", width, "name",
                      "kind", "estimate", "low", "high");
    }
    for (size_t i = 0; i < sotto_estimate_rows(job->estimate); i++) {
        struct sotto_estimate_row row;
        sotto_estimate_row(job->estimate, i, z, &row);
        if (sotto_report_reader_count(job->reader) < REPORTS_LEAST) {
            row.low = row.high = NAN; /* null: there is no spread yet */
        }
        if (json) {
            put_row_json(job, &row, confidence, to);
        } else {
            put_row_text(&row, width, to);
        }
    }
}

/* ---- The verb ----------------------------------------------------------- */

static int
read_reports(const struct cli_args *args, struct decode_job *job)
{
    struct sotto_error err = {0};
    struct progress bar;
    if (sotto_mechanism_read(args->word[0], &job->mechanism, &err) !=
            SOTTO_STATUS_OK ||
        report_source_open(job->mechanism, args->word[1], &job->reader, &err) !=
            SOTTO_STATUS_OK ||
        sotto_estimate_new(job->mechanism, &job->estimate, &err) !=
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
        progress_step(&bar, i + 1);
    }
    progress_end(&bar);
    if (job->simulated > 0 && job->simulated < count) {
        return cli_bad("'%.240s' mixes %zu simulated with %zu real reports: "
                       "no estimate from both means anything; separate them",
                       args->word[1], job->simulated, count - job->simulated);
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
    if (count < REPORTS_LEAST) {
        cli_note("%zu report%s too few: an interval needs at least two "
                 "reports, and thousands are useful",
                 count, count == 1 ? " is" : "s are");
    }
}

static int
check_output(const struct cli_args *args, const char *path)
{
    const char *const inputs[] = {args->word[0], args->word[1],
                                  cli_value(args, "analyst")};
    if (path == NULL && cli_given(args, "analyst")) {
        return cli_bad("--analyst decodes records to a file: name it with -o");
    }
    if (path != NULL && ends_in(path, ".npy") && !cli_given(args, "analyst")) {
        return cli_bad("an NPY file holds decoded records: give the decoder "
                       "with --analyst, or another name");
    }
    return output_file_check(path, inputs, sizeof inputs / sizeof *inputs);
}

static int
run_decode(const struct cli_args *args)
{
    const char *path = cli_value(args, "output");
    double confidence = 0.95;
    struct decode_job job = {0};
    if (!cli_number(args, "confidence", 0.5, 0.999999, &confidence)) {
        return CLI_EXIT_BAD;
    }
    int status = check_output(args, path);
    status = CLI_THEN(status, read_reports(args, &job));
    if (status == CLI_EXIT_DONE && path != NULL) {
        const char *analyst = cli_value(args, "analyst");
        status = analyst != NULL
                     ? decode_features(job.mechanism, job.reader, analyst, path)
                     : write_lines(&job, path);
    }
    if (status == CLI_EXIT_DONE) {
        note_reports(&job);
        if (cli_given(args, "json") ||
            sotto_report_reader_count(job.reader) >= REPORTS_LEAST) {
            put_estimates(args, &job, confidence, cli_summary(path));
        }
    }
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
    CLI_OPTION_END,
};

const struct cli_verb cmd_decode = {
    .name = "decode",
    .summary = "estimate means and frequencies from reports",
    .usage = "M R [-o F [--analyst A]] [--confidence 0.95]",
    .about =
        "Prints unbiased estimates with their intervals. R is a file of "
        "reports in either\nform. With -o also the reports' integers: CSV has "
        "the columns id, simulated and\npartP.bB.i, which is integer i of "
        "block B, both from 0, of part P, from 1 as in\nsotto inspect. A "
        "single report says next to nothing: that is the point.\nWith "
        "--analyst, the decoder of a learnt mechanism makes a record of each "
        "report,\nin the columns' own units; that costs no privacy. The label "
        "stands as it was\nreported: a set that came through subset is one "
        "field, a|b|c.\n",
    .example = "sotto decode wdbc.sotto wdbc.reports -o wdbc.decoded.csv\n",
    .wanted = wanted,
    .options = options,
    .run = run_decode,
};
