/*
 * cmd_export.c: sotto export: what a collector has released, as a file of
 * reports.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/watch.h"
#include "host/error.h"
#include "verb/report_lines.h"
#include "verb/report_source.h"

struct export_job {
    const char *path, *from; /* to what, and where from */
    enum sotto_report_form form;
    uint64_t after; /* the last batch that is there already */
    struct sotto_report_seen seen;
};

/* Writes one block after the other, and completes the file. */
static enum sotto_status
write_blocks(struct sotto_report_stream *stream, struct export_job *job,
             struct sotto_report_export *to, struct sotto_error *err)
{
    struct sotto_report_block block = {.count = 1};
    struct progress bar;
    enum sotto_status status = SOTTO_STATUS_OK;
    progress_start(&bar, "writing", 0);
    while (status == SOTTO_STATUS_OK && block.count > 0) {
        status = sotto_report_stream_next(stream, &block, err);
        status = HOST_THEN(status, sotto_report_export_add(to, &block, err));
        sotto_report_stream_seen(stream, &job->seen);
        progress_step(&bar, job->seen.reports);
    }
    progress_end(&bar);
    if (status == SOTTO_STATUS_OK && job->after > 0 && job->seen.reports == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "'%s' has released no batch of this mechanism "
                           "behind number %" PRIu64 " yet",
                           host_shown(job->from), job->after);
    }
    status = HOST_THEN(status, report_source_check(job->from, &job->seen, err));
    if (status != SOTTO_STATUS_OK) {
        sotto_report_export_free(to);
        return status;
    }
    return sotto_report_export_commit(to, &job->seen, err);
}

static void
tell_export(const struct cli_args *args, const struct export_job *job)
{
    FILE *to = cli_summary(job->path);
    const struct sotto_report_seen *seen = &job->seen;
    bool simulated = cli_given(args, "simulation");
    if (cli_given(args, "json")) {
        json_begin(to);
        json_size(to, "reports", (size_t)seen->reports);
        json_bool(to, "simulated", simulated);
        json_size(to, "damaged", (size_t)seen->damaged);
        json_size(to, "unreadable_batches", seen->unread_batches);
        json_size(to, "batches", (size_t)seen->batches);
        json_size(to, "last_batch", (size_t)seen->last_batch);
        json_end(to);
        return;
    }
    report_source_note(seen);
    (void)fprintf(to,
                  "%" PRIu64 " released report%s%s in %" PRIu64
                  " batch%s; for those behind them: --after %" PRIu64 "\n",
                  seen->reports, seen->reports == 1 ? "" : "s",
                  simulated ? ", simulated," : "", seen->batches,
                  seen->batches == 1 ? "" : "es", seen->last_batch);
}

static int
check_source(const struct cli_args *args)
{
    const char *store = cli_value(args, "store");
    if (cli_given(args, "store") == cli_given(args, "from")) {
        return cli_bad("give --store, or --from and --admin-token-file: where "
                       "the reports are");
    }
    if (store != NULL && !sotto_store_named(store)) {
        return cli_bad("--store '%.200s' names no store: give sqlite:PATH, as "
                       "sotto serve was given it",
                       store);
    }
    if (cli_given(args, "from") != cli_given(args, "admin-token-file")) {
        return cli_bad("--from and --admin-token-file go together: a collector "
                       "gives reports to those who have its token");
    }
    if (store != NULL && cli_given(args, "ca")) {
        return cli_bad("--ca is for --from: a store has no certificate");
    }
    return CLI_EXIT_DONE;
}

/* The form that --format names, or else the file's name. */
static int
read_form(const struct cli_args *args, struct export_job *job)
{
    const char *format = cli_value(args, "format");
    if (format == NULL) {
        job->form = sotto_report_form_of(job->path);
        return job->form != SOTTO_FORM_BINARY
                   ? CLI_EXIT_DONE
                   : report_lines_check(job->path,
                                        "take .parquet, .csv, .jsonl (JSON "
                                        "Lines), or any other ending for the "
                                        "binary form");
    }
    return sotto_report_form_named(format, &job->form)
               ? CLI_EXIT_DONE
               : cli_bad("--format takes parquet, csv, jsonl or binary, and "
                         "not '%.60s'",
                         format);
}

static enum sotto_status
export_reports(const struct cli_args *args, struct export_job *job,
               const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    struct sotto_report_stream *stream = NULL;
    struct sotto_report_export *to = NULL;
    struct watch watch;
    enum sotto_status status;
    watch_start(&watch);
    const struct sotto_gather_options options = {
        .url = cli_value(args, "from"),
        .token_file = cli_value(args, "admin-token-file"),
        .ca = cli_value(args, "ca"),
        .simulation = cli_given(args, "simulation"),
        .watch = watch_port(&watch)};
    status =
        options.url != NULL
            ? sotto_gather_stream(mechanism, &options, job->after, &stream, err)
            : sotto_store_stream(mechanism, job->from, options.simulation,
                                 job->after, &stream, err);
    status = HOST_THEN(status, sotto_report_export_new(mechanism, job->path,
                                                       job->form, &to, err));
    status = HOST_THEN(status, write_blocks(stream, job, to, err));
    sotto_report_stream_free(stream);
    watch_end(&watch);
    return status;
}

static int
run_export(const struct cli_args *args)
{
    const char *store = cli_value(args, "store");
    struct export_job job = {.path = cli_value(args, "output"),
                             .from = store != NULL ? store
                                                   : cli_value(args, "from")};
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_error err = {0};
    int status = check_source(args);
    status = CLI_THEN(status, read_form(args, &job));
    if (status == CLI_EXIT_DONE &&
        !cli_whole(args, "after", 0, INT64_MAX, &job.after)) {
        status = CLI_EXIT_BAD;
    }
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    const char *const inputs[] = {
        args->word[0], store != NULL ? strchr(store, ':') + 1
                                     : cli_value(args, "admin-token-file")};
    status =
        output_file_check(job.path, inputs, sizeof inputs / sizeof *inputs);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (sotto_mechanism_read(args->word[0], &mechanism, &err) !=
            SOTTO_STATUS_OK ||
        export_reports(args, &job, mechanism, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    } else {
        tell_export(args, &job);
    }
    sotto_mechanism_free(mechanism);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "store", "URL",
     "the collector's store: sqlite:PATH or postgres://..."},
    {0, false, false, "from", "URL",
     "https://HOST[:PORT]/v1/campaigns/NAME of a collector\n"
     "that is running; http for loopback addresses alone"},
    {0, false, false, "admin-token-file", "F",
     "the collector's token for analysts, with --from"},
    {0, false, false, "ca", "FILE",
     "trust these certificate authorities, in PEM, and not\n"
     "the system's"},
    {'o', true, false, "output", "R",
     "the reports, in the form that its name ends in:\n"
     ".parquet, .csv (for other tools: sotto does not read\n"
     "them back), .jsonl, else binary"},
    {0, false, false, "format", "F",
     "parquet, csv, jsonl or binary, whatever R is called"},
    {0, false, false, "after", "N",
     "batches behind number N alone: what was released\n"
     "since an export that ended with it"},
    {0, false, false, "simulation", NULL,
     "the collector is one for simulation"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_export = {
    .name = "export",
    .summary = "write what a collector has released",
    .usage = "M -o R (--store sqlite:PATH | --from URL --admin-token-file F\n"
             "      [--ca FILE]) [--format F] [--after N] [--simulation]",
    .about =
        "Writes all reports of the mechanism M that a collector has released, "
        "as a file\nfor sotto decode and sotto fit, or for other tools "
        "(docs/export.md): out of its\nstore, while it may be writing there, "
        "or "
        "over HTTP. sotto decode and sotto fit\nalso take the store itself in "
        "place of a file: sotto fit M sqlite:PATH. Reports\nthat wait for the "
        "end of their window, or for others to be shuffled with, are "
        "not\namong "
        "them. Batches come one after the other, in memory of one of them, and "
        "never\nchange: --after goes on behind the last one. "
        "What is damaged is left out,\ncounted and told.\n",
    .example = "sotto export wdbc.sotto --store sqlite:reports.db -o "
               "wdbc.reports\n"
               "sotto export wdbc.sotto --store sqlite:reports.db --after 12 "
               "-o part2.parquet\n",
    .wanted = wanted,
    .options = options,
    .run = run_export,
};
