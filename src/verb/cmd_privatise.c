/*
 * cmd_privatise.c: sotto privatise: each row of a file becomes a report, made
 * as its owner's device would make it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/seal.h"
#include "host/csv_field.h"
#include "host/error.h"
#include "verb/inquiry.h"
#include "verb/misfits.h"
#include "verb/records.h"
#include "verb/report_lines.h"
#include "verb/seen_file.h"

struct privatise_job {
    const char *at, *data; /* paths of the mechanism and of the records */
    struct sotto_mechanism *mechanism;
    struct inquiry inquiry;
    size_t reports; /* written */
    bool simulated;
    bool looked; /* that no row is one that the mechanism was fitted to */
    uint64_t seed;
    struct misfits misfits;  /* without a ledger: of a curator's rows */
    struct output_file keys; /* whose each report is; open if it has a stream */
    size_t key;              /* the column that says it; SIZE_MAX: none */
};

/* Opens the mechanism; with --pub, only if the signature is right; with --pin,
   only if it is the one that was agreed to. */
static int
open_mechanism(const struct cli_args *args, struct privatise_job *job)
{
    const char *path = args->word[0], *pub = cli_value(args, "pub");
    struct sotto_error err = {0};
    enum sotto_status status =
        pub != NULL ? sotto_mechanism_read_verified(path, pub, NULL,
                                                    &job->mechanism, &err)
                    : sotto_mechanism_read(path, &job->mechanism, &err);
    if (status == SOTTO_STATUS_OK && cli_given(args, "pin")) {
        status = sotto_mechanism_pinned(job->mechanism, cli_value(args, "pin"),
                                        &err);
    }
    if (status == SOTTO_STATUS_OK && !job->simulated) {
        status = sotto_mechanism_check(job->mechanism, &err);
    }
    return cli_exit(status, &err);
}

/* Without a ledger: a new report every time. */
static enum sotto_status
make_report(struct privatise_job *job, size_t row, uint8_t *report,
            struct sotto_error *err)
{
    const struct sotto_value *values =
        sotto_records_at(job->inquiry.records, row);
    size_t count = sotto_records_columns(job->inquiry.records);
    size_t size = job->inquiry.info.report_size;
    enum sotto_status status =
        job->simulated
            ? sotto_simulate(job->mechanism, job->seed,
                             job->inquiry.before + row, values, count, report,
                             size)
            : sotto_client_privatise(sotto_mechanism_client(job->mechanism),
                                     values, count, report, size);
    if (status != SOTTO_STATUS_OK) {
        err->status = status;
        (void)snprintf(err->message, sizeof err->message,
                       "no report could be made: %s",
                       sotto_status_message(status));
        inquiry_name_row(&job->inquiry, row, err);
    }
    return status;
}

/* ---- Whose each report is ------------------------------------------------ */

/* Finds the column of keys. The keys go in clear to whoever gets the reports,
   so none may be what a report protects: neither a column that the mechanism
   asks for nor one of --labels, which is the table's last. */
static int
find_key(const struct cli_args *args, const char *name,
         struct privatise_job *job)
{
    const struct sotto_table *table = job->inquiry.table;
    size_t key = sotto_table_find(table, name);
    if (sotto_mechanism_find(job->mechanism, name) != SIZE_MAX) {
        return cli_bad("--key: the mechanism asks for \"%.80s\": the keys "
                       "would tell in clear what the reports protect",
                       name);
    }
    if (key == SIZE_MAX || sotto_table_width(table, key) > 0) {
        return cli_bad("'%.240s' has no column \"%.80s\" of keys",
                       args->word[1], name);
    }
    if (cli_given(args, "labels") && key + 1 == sotto_table_columns(table)) {
        return cli_bad("--key: \"%.80s\" is the column of --labels: the keys "
                       "would tell labels in clear",
                       name);
    }
    job->key = key;
    return CLI_EXIT_DONE;
}

static int
open_keys(const struct cli_args *args, struct privatise_job *job)
{
    const char *path = cli_value(args, "keys"), *name = cli_value(args, "key");
    if ((path == NULL) != (name == NULL)) {
        return cli_bad("--keys FILE and --key COL go together");
    }
    if (path == NULL) {
        return CLI_EXIT_DONE;
    }
    if (!job->inquiry.info.label_only) {
        return cli_bad("--keys is for a mechanism for the label only (train "
                       "direct --label-only): a report of any other must not "
                       "be tied to a person");
    }
    int status = find_key(args, name, job);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (!output_file_open(&job->keys, path)) {
        return CLI_EXIT_FAILED;
    }
    (void)fputs("id,", job->keys.stream);
    csv_field_print(job->keys.stream, name);
    (void)fputs("\n", job->keys.stream);
    return CLI_EXIT_DONE;
}

/* Adds the id of a report, and the key of its row. */
static enum sotto_status
add_key(struct privatise_job *job, size_t row, const uint8_t *report,
        struct sotto_error *err)
{
    struct sotto_value cell =
        sotto_table_cell(job->inquiry.table, row, job->key);
    const uint8_t *id = sotto_report_id(report);
    if (cell.data == NULL || cell.size == 0) {
        err->status = SOTTO_STATUS_INPUT;
        (void)snprintf(err->message, sizeof err->message, "it has no key");
        inquiry_name_row(&job->inquiry, row, err);
        return SOTTO_STATUS_INPUT;
    }
    char *text = strndup(cell.data, cell.size);
    if (text == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < SOTTO_ID_SIZE; i++) {
        (void)fprintf(job->keys.stream, "%02x", id[i]);
    }
    (void)fputs(",", job->keys.stream);
    csv_field_print(job->keys.stream, text);
    (void)fputs("\n", job->keys.stream);
    free(text);
    return SOTTO_STATUS_OK;
}

/* The report of one row into the file; none if it was refused. */
static enum sotto_status
add_row(struct privatise_job *job, size_t row, uint8_t *report,
        struct sotto_report_writer *writer, struct sotto_error *err)
{
    bool given = true;
    enum sotto_status status =
        job->inquiry.people.ledger != NULL
            ? inquiry_report(&job->inquiry, row, report, &given, err)
            : make_report(job, row, report, err);
    if (status == SOTTO_STATUS_OK && given) {
        status = sotto_report_writer_add(writer, report, err);
        if (status == SOTTO_STATUS_OK && job->key != SIZE_MAX) {
            status = add_key(job, row, report, err);
        }
    }
    job->reports += status == SOTTO_STATUS_OK && given ? 1 : 0;
    return status;
}

/* Completes the keys, then the reports, and frees the writer: keys without
   reports tell nothing and cost nobody, reports without keys are spent. */
static int
commit_files(struct privatise_job *job, struct sotto_report_writer *writer)
{
    struct output_file keys = job->keys;
    struct sotto_error err = {0};
    job->keys = (struct output_file){0};
    if (keys.stream != NULL && !output_file_commit(&keys)) {
        sotto_report_writer_free(writer);
        return CLI_EXIT_FAILED;
    }
    return cli_exit(sotto_report_writer_commit(writer, &err), &err);
}

/* Looks at a curator's rows: whether the mechanism was fitted to them, and what
   does not fit. Rows that go through a ledger are people's on this device: what
   they hold decides nothing, and nobody is told about them (invariant 4). */
static int
look_at_rows(struct privatise_job *job)
{
    int status = CLI_EXIT_DONE;
    if (job->inquiry.people.ledger != NULL) {
        return status;
    }
    if (!job->simulated) {
        status = seen_file_look(job->at, job->mechanism, job->inquiry.table,
                                job->data, &job->looked);
    }
    return CLI_THEN(status, misfits_count(job->mechanism, job->inquiry.records,
                                          sotto_table_rows(job->inquiry.table),
                                          &job->misfits));
}

/* The rows of the table at hand, in order. */
static int
add_rows(struct privatise_job *job, uint8_t *report,
         struct sotto_report_writer *writer, struct progress *bar)
{
    size_t rows = sotto_table_rows(job->inquiry.table);
    struct sotto_error err = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    int looked = look_at_rows(job);
    if (looked != CLI_EXIT_DONE) {
        return looked;
    }
    for (size_t row = 0; status == SOTTO_STATUS_OK && row < rows; row++) {
        status = add_row(job, row, report, writer, &err);
        progress_step(bar, job->inquiry.before + row + 1);
    }
    return cli_exit(status, &err);
}

/* All rows of the file, in order, into the file at `path`. */
static int
write_reports(struct privatise_job *job, const char *path)
{
    struct sotto_report_writer *writer = NULL;
    struct progress bar;
    struct sotto_error err = {0};
    uint8_t *report = malloc(job->inquiry.info.report_size);
    bool more = true;
    if (report == NULL) {
        return cli_no_memory();
    }
    progress_start(
        &bar, "privatising",
        job->inquiry.stream != NULL ? 0 : sotto_table_rows(job->inquiry.table));
    int status = cli_exit(
        sotto_report_writer_new(job->mechanism, path, &writer, &err), &err);
    while (status == CLI_EXIT_DONE && more) {
        status = add_rows(job, report, writer, &bar);
        status = CLI_THEN(status, inquiry_next(&job->inquiry, &more));
    }
    progress_end(&bar);
    free(report);
    if (status == CLI_EXIT_DONE) {
        return commit_files(job, writer);
    }
    sotto_report_writer_free(writer);
    return status;
}

static void
tell_json_privatise(const struct cli_args *args,
                    const struct privatise_job *job, const char *path, FILE *to)
{
    const struct sotto_mechanism_info *info = &job->inquiry.info;
    const struct people *people = &job->inquiry.people;
    json_begin(to);
    json_text(to, "reports_file", path);
    json_size(to, "reports", job->reports);
    json_size(to, "report_size", info->report_size);
    json_number(to, "eps", info->eps);
    json_number(to, "delta", info->delta);
    json_bool(to, "simulated", job->simulated);
    json_bool(to, "seen_checked", job->looked);
    json_bool(to, "verified", cli_given(args, "pub"));
    json_text(to, "mechanism", info->hash);
    if (people->ledger != NULL) {
        json_size(to, "new", people->made);
        json_size(to, "replayed", people->replayed);
        json_size(to, "refused", people->refused);
    } else {
        misfits_json(to, &job->misfits);
    }
    json_end(to);
}

static void
tell_privatise(const struct cli_args *args, const struct privatise_job *job,
               const char *path)
{
    const struct sotto_mechanism_info *info = &job->inquiry.info;
    const struct people *people = &job->inquiry.people;
    FILE *to = cli_summary(path);
    if (cli_given(args, "json")) {
        tell_json_privatise(args, job, path, to);
        return;
    }
    (void)fprintf(
        to, "Wrote %s: %zu report%s of %zu bytes; each %s epsilon %s%s%s.\n",
        cli_shown(path), job->reports, job->reports == 1 ? "" : "s",
        info->report_size,
        job->simulated           ? "simulates"
        : people->ledger != NULL ? "new one spent"
                                 : "spent",
        info->eps_text, info->delta > 0 ? " and delta " : "",
        info->delta > 0 ? info->delta_text : "");
    if (people->ledger != NULL) {
        (void)fprintf(to, "new: %zu; replayed: %zu; refused: %zu\n",
                      people->made, people->replayed, people->refused);
    } else {
        misfits_print(to, &job->misfits);
    }
    if (job->simulated) {
        cli_note("simulated: not private, never to be sent");
    }
}

/* Checks that what an option names is writable, and neither an input nor a file
   of the ledger. */
static int
check_output(const struct cli_args *args, const char *option, const char *shown)
{
    const char *ledger = cli_value(args, "ledger");
    char secret[4200] = "", mark[4200] = "";
    const char *const inputs[] = {args->word[0],
                                  args->word[1],
                                  cli_value(args, "labels"),
                                  cli_value(args, "people"),
                                  cli_value(args, "pub"),
                                  ledger,
                                  secret,
                                  mark};
    if (ledger != NULL) {
        (void)snprintf(secret, sizeof secret, "%s.secret", ledger);
        (void)snprintf(mark, sizeof mark, "%s.mark", ledger);
    }
    int status = people_check_output(args, option);
    return status != CLI_EXIT_DONE
               ? status
               : output_file_check_option(shown, cli_value(args, option),
                                          inputs,
                                          sizeof inputs / sizeof *inputs);
}

/* Reports are no table: what is called one would surprise whoever opens it. */
static int
check_form(const char *path)
{
    if (report_lines_named(path, ".csv")) {
        return cli_bad("-o '%.240s': reports are no table: take .jsonl (JSON "
                       "Lines), or any other ending for the binary form; sotto "
                       "decode -o writes their numbers as CSV",
                       path);
    }
    return report_lines_check(path, "take .jsonl (JSON Lines), or any other "
                                    "ending for the binary form");
}

/* Whether a file holds reports of a simulation, which cost nobody anything. */
static bool
is_simulated(const char *path)
{
    char head[1024] = "";
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    size_t size = fread(head, 1, sizeof head - 1, file);
    (void)fclose(file);
    head[size] = '\0';
    head[strcspn(head, "\n")] = '\0';
    return strncmp(head, "SIM1", 4) == 0 ||
           (head[0] == '{' && strstr(head, "\"simulated\":true") != NULL);
}

/* Reports that were spent are not had again: refuses to write over them unless
   --force is given. Those of a ledger are, from the ledger. */
static int
check_replace(const struct cli_args *args, const char *path)
{
    if (cli_given(args, "force") || cli_given(args, "ledger") ||
        !output_file_written(path) || is_simulated(path)) {
        return CLI_EXIT_DONE;
    }
    return cli_bad("'%.240s' is there already, and reports in it would have "
                   "been spent for nothing: choose another name, or say "
                   "--force to replace it",
                   path);
}

static int
check_outputs(const struct cli_args *args)
{
    const char *keys = cli_value(args, "keys");
    if (output_file_same(cli_value(args, "output"), keys)) {
        return cli_bad("-o and --keys name one file ('%.240s'): the reports "
                       "and their keys are two",
                       keys);
    }
    int status = check_output(args, "output", "-o");
    status = CLI_THEN(status, check_form(cli_value(args, "output")));
    return CLI_THEN(status, check_output(args, "keys", "--keys"));
}

/* A device's file is plain: how it is written must not depend on what it
   holds, and so is not asked either. */
static int
check_reading(const struct cli_args *args)
{
    static const char *const these[] = {"separator", "decimal", "encoding"};
    for (size_t i = 0; i < sizeof these / sizeof *these; i++) {
        if (cli_given(args, "ledger") && cli_given(args, these[i])) {
            return cli_bad("--%s is for a curator's file; with --ledger the "
                           "file is plain CSV: UTF-8, with commas between "
                           "fields and points in numbers",
                           these[i]);
        }
    }
    return CLI_EXIT_DONE;
}

/* A curator's file is read bit by bit; with people, or with labels in a file of
   their own, all of it must be at hand. */
static int
open_records(const struct cli_args *args, struct privatise_job *job)
{
    const char *data = args->word[1];
    bool whole = cli_given(args, "ledger") || cli_given(args, "labels");
    return whole
               ? inquiry_open(args, job->mechanism, data, NULL, &job->inquiry)
               : inquiry_open_stream(args, job->mechanism, data, &job->inquiry);
}

static int
run_privatise(const struct cli_args *args)
{
    const char *path = cli_value(args, "output");
    struct privatise_job job = {.at = args->word[0],
                                .data = args->word[1],
                                .simulated = cli_given(args, "seed"),
                                .key = SIZE_MAX};
    if (!cli_whole(args, "seed", 0, UINT64_MAX, &job.seed)) {
        return CLI_EXIT_BAD;
    }
    int status = people_check(args);
    status = CLI_THEN(status, check_reading(args));
    if (status == CLI_EXIT_DONE && cli_given(args, "ledger")) {
        status = seal_process(args);
    }
    status = CLI_THEN(status, check_outputs(args));
    status = CLI_THEN(status, open_mechanism(args, &job));
    if (!job.simulated) {
        status = CLI_THEN(status, inquiry_check_work(args, job.mechanism));
    }
    status = CLI_THEN(status, open_records(args, &job));
    if (status == CLI_EXIT_DONE && sotto_table_rows(job.inquiry.table) == 0) {
        status = cli_bad("'%.240s' names columns and nobody", args->word[1]);
    }
    status = CLI_THEN(status, check_replace(args, path));
    status = CLI_THEN(status, open_keys(args, &job));
    status = CLI_THEN(status, write_reports(&job, path));
    if (status == CLI_EXIT_DONE) {
        tell_privatise(args, &job, path);
        misfits_shout(&job.misfits);
        status = people_exit(&job.inquiry.people);
    }
    if (job.keys.stream != NULL) {
        output_file_drop(&job.keys);
    }
    misfits_clear(&job.misfits);
    inquiry_clear(&job.inquiry);
    sotto_mechanism_free(job.mechanism);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", "F (a data file)",
                                     NULL};

static const struct cli_option options[] = {
    {0, false, false, "labels", "FILE", "a file with the label of each record"},
    {0, false, false, "pub", "K.pub",
     "first verify that this key signed the mechanism"},
    {0, false, false, "pin", "HASH",
     "the mechanism's hash, as sotto verify says it: no\n"
     "other is used"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed; with --ledger, it does unless you say no"},
    RECORDS_READING,
    {0, false, false, "no-header", NULL, "the same as --header no"},
    {0, false, false, "ledger", "L",
     "charge everybody in this ledger (sotto ledger new):\n"
     "who was asked before gives the same report again"},
    {0, false, false, "person", "COL",
     "with --ledger: the column that tells people apart"},
    {0, false, false, "people", "FILE",
     "with --ledger: the people, in its column COL: each\n"
     "gives one report, and other lines of F none"},
    INQUIRY_WORK_OPTION,
    SEAL_OPTION,
    {0, false, false, "again", NULL,
     "with --ledger: everybody in F agrees to a second\n"
     "mechanism of a campaign that asked them before: the\n"
     "costs add up"},
    {0, false, false, "seed", "S",
     "simulate: the same seed gives the same reports;\n"
     "NOT private"},
    {0, false, false, "key", "COL",
     "label only: the column of F that tells records apart"},
    {0, false, false, "keys", "FILE",
     "with --key: a table of the reports' ids and the keys,\n"
     "for whoever holds the records: sotto fit --keys"},
    {'o', true, false, "output", "R",
     "the reports to write; JSON Lines if it ends in .jsonl"},
    {0, false, false, "force", NULL,
     "replace reports that are there: what they cost\n"
     "people was spent for nothing. With --ledger, which\n"
     "gives them again, it is not needed"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_privatise = {
    .name = "privatise",
    .summary = "turn records into reports, as their owners' devices would",
    .usage = "M F [--labels F] [--pub K.pub] [--ledger L --person COL] -o R",
    .about = "Each row of F is one person's record and gives one report. "
             "Columns are matched\n"
             "by name (c1, c2, ... without a header). Whatever a field holds, "
             "there is a\n"
             "report: an unknown category, text for a number or nothing at all "
             "counts as\n"
             "missing. Without --ledger the rows are a curator's: it says "
             "column by column\n"
             "how many values did not fit, and a row with too few or too many "
             "fields is an\n"
             "error. With it they are people's: nothing is said, and such a "
             "row counts as\n"
             "missing. Running it twice spends twice, unless --ledger "
             "remembers: then whoever\n"
             "was asked before gives the stored report, and what exceeds a cap "
             "is refused,\n"
             "and the exit status is 3 once the reports of the others are "
             "written. Without\n"
             "--ledger and --labels F may be of any size, and - is the "
             "standard input.\n"
             "\n"
             "Where M.seen lies beside M.sotto (sotto train --seen), a file "
             "with more rows\n"
             "that the mechanism was fitted to than chance explains is "
             "refused, with exit\n"
             "status 3. A few among many are only told of.\n",
    .example = "sotto privatise wdbc.sotto data/wdbc.csv --pub collector.pub "
               "-o wdbc.reports\n",
    .wanted = wanted,
    .options = options,
    .run = run_privatise,
};
