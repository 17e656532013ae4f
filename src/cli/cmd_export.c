/*
 * cmd_export.c: sotto export: what a collector's store has released, as a file
 * of reports.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/progress.h"

static int
write_reports(const struct sotto_mechanism *mechanism,
              const struct sotto_report_reader *reader, const char *path)
{
    struct sotto_report_writer *writer = NULL;
    struct sotto_error err = {0};
    struct progress bar;
    size_t count = sotto_report_reader_count(reader);
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
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}

static void
tell(const struct cli_args *args, const char *path, size_t count)
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
run(const struct cli_args *args)
{
    const char *store = cli_value(args, "store");
    const char *path = cli_value(args, "output");
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_report_reader *reader = NULL;
    struct sotto_error err = {0};
    int status;
    if (!sotto_store_named(store)) {
        return cli_bad("--store '%.200s' names no store: give sqlite:PATH, as "
                       "sotto serve was given it",
                       store);
    }
    const char *const inputs[] = {args->word[0], strchr(store, ':') + 1};
    status = output_file_check(path, inputs, sizeof inputs / sizeof *inputs);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (sotto_mechanism_read(args->word[0], &mechanism, &err) !=
            SOTTO_STATUS_OK ||
        sotto_store_reports(mechanism, store, cli_given(args, "simulation"),
                            &reader, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    } else {
        status = write_reports(mechanism, reader, path);
    }
    if (status == CLI_EXIT_DONE) {
        tell(args, path, sotto_report_reader_count(reader));
    }
    sotto_report_reader_free(reader);
    sotto_mechanism_free(mechanism);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", NULL};

static const struct cli_option options[] = {
    {0, true, false, "store", "sqlite:PATH", "the collector's store"},
    {'o', true, false, "output", "R",
     "the reports: JSON Lines if it ends in .jsonl, else\n"
     "binary"},
    {0, false, false, "simulation", NULL,
     "the store is of a collector for simulation"},
    CLI_OPTION_JSON,
    CLI_OPTION_HELP,
    CLI_OPTION_END,
};

const struct cli_verb cmd_export = {
    .name = "export",
    .summary = "write what a collector's store has released",
    .usage = "M --store sqlite:PATH -o R [--simulation]",
    .about =
        "Writes all reports of the mechanism M that the store has released, "
        "as a file\nfor sotto decode and sotto fit, which also take the store "
        "itself in place of a\nfile: sotto fit M sqlite:PATH. A collector may "
        "be writing to the store meanwhile.\nReports that wait for the end of "
        "their window, or for others to be shuffled\nwith, are not among "
        "them.\n",
    .example = "sotto export wdbc.sotto --store sqlite:reports.db -o "
               "wdbc.reports\n",
    .wanted = wanted,
    .options = options,
    .run = run,
};
