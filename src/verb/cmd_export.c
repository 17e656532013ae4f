/*
 * cmd_export.c: sotto export: what a collector has released, as a file of
 * reports.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/watch.h"
#include "verb/report_lines.h"

/* CSV for other tools, if the name ends so; else what sotto reads again. */
static int
write_reports(const struct sotto_mechanism *mechanism,
              const struct sotto_report_reader *reader, const char *path)
{
    struct sotto_report_writer *writer = NULL;
    struct sotto_error err = {0};
    struct progress bar;
    size_t count = sotto_report_reader_count(reader);
    if (report_lines_named(path, ".csv")) {
        return report_lines_write(mechanism, reader, path);
    }
    enum sotto_status status =
        sotto_report_writer_new(mechanism, path, &writer, &err);
    progress_start(&bar, "writing", count);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < count; i++) {
        status = sotto_report_writer_add(
            writer, sotto_report_reader_at(reader, i), &err);
        progress_step(&bar, i + 1);
    }
    progress_end(&bar);
    if (status != SOTTO_STATUS_OK) {
        sotto_report_writer_free(writer);
        return cli_fail(&err);
    }
    status = sotto_report_writer_commit(writer, &err);
    return cli_exit(status, &err);
}

static void
tell_export(const struct cli_args *args, const char *path, size_t count)
{
    FILE *to = cli_summary(path);
    if (cli_given(args, "json")) {
        json_begin(to);
        json_size(to, "reports", count);
        json_bool(to, "simulated", cli_given(args, "simulation"));
        json_end(to);
    } else {
        (void)fprintf(to, "%zu released report%s%s\n", count,
                      count == 1 ? "" : "s",
                      cli_given(args, "simulation") ? ", simulated" : "");
    }
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

static enum sotto_status
open_reports(const struct cli_args *args,
             const struct sotto_mechanism *mechanism,
             struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    bool simulation = cli_given(args, "simulation");
    if (cli_given(args, "store")) {
        return sotto_store_reports(mechanism, cli_value(args, "store"),
                                   simulation, ret_reader, err);
    }
    struct watch watch;
    watch_start(&watch);
    const struct sotto_gather_options options = {
        .url = cli_value(args, "from"),
        .token_file = cli_value(args, "admin-token-file"),
        .ca = cli_value(args, "ca"),
        .simulation = simulation,
        .watch = watch_port(&watch)};
    enum sotto_status status =
        sotto_gather_reports(mechanism, &options, ret_reader, err);
    watch_end(&watch);
    return status;
}

static int
run_export(const struct cli_args *args)
{
    const char *store = cli_value(args, "store");
    const char *path = cli_value(args, "output");
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_report_reader *reader = NULL;
    struct sotto_error err = {0};
    int status = check_source(args);
    status =
        CLI_THEN(status, report_lines_check(path, "take .csv, .jsonl (JSON "
                                                  "Lines), or any other ending "
                                                  "for the binary form"));
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    const char *const inputs[] = {
        args->word[0], store != NULL ? strchr(store, ':') + 1
                                     : cli_value(args, "admin-token-file")};
    status = output_file_check(path, inputs, sizeof inputs / sizeof *inputs);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (sotto_mechanism_read(args->word[0], &mechanism, &err) !=
            SOTTO_STATUS_OK ||
        open_reports(args, mechanism, &reader, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    } else {
        status = write_reports(mechanism, reader, path);
    }
    if (status == CLI_EXIT_DONE) {
        tell_export(args, path, sotto_report_reader_count(reader));
    }
    sotto_report_reader_free(reader);
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
     "the reports: JSON Lines if it ends in .jsonl, CSV if\n"
     "in .csv (for other tools: sotto does not read it\n"
     "back), else binary"},
    {0, false, false, "simulation", NULL,
     "the collector is one for simulation"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_export = {
    .name = "export",
    .summary = "write what a collector has released",
    .usage = "M -o R (--store sqlite:PATH | --from URL --admin-token-file F\n"
             "      [--ca FILE]) [--simulation]",
    .about =
        "Writes all reports of the mechanism M that a collector has released, "
        "as a file\nfor sotto decode and sotto fit: out of its store, while it "
        "may be writing there,\nor over HTTP. sotto decode and sotto fit also "
        "take the store itself in place of\na file: sotto fit M sqlite:PATH. "
        "Reports that wait for the end of their window,\nor for others to be "
        "shuffled with, are not among them.\n",
    .example = "sotto export wdbc.sotto --store sqlite:reports.db -o "
               "wdbc.reports\n",
    .wanted = wanted,
    .options = options,
    .run = run_export,
};
