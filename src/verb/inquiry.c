/*
 * inquiry.c: the records of a file, asked one after the other.
 */
#include "verb/inquiry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
inquiry_check_work(const struct cli_args *args,
                   const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    uint64_t most = SOTTO_WORK_USUAL;
    sotto_mechanism_info(mechanism, &info);
    if (!cli_whole(args, "work", 0, UINT64_C(1) << 32, &most)) {
        return CLI_EXIT_BAD;
    }
    return info.work <= most
               ? CLI_EXIT_DONE
               : cli_bad("a record takes this mechanism %" PRIu64
                         " multiply-adds, and %" PRIu64 " are allowed: if this "
                         "device can do that in time, say --work %" PRIu64,
                         info.work, most, info.work);
}

/* ---- A device's file ---------------------------------------------------- */

/* The names of the mechanism's columns, and the person's behind them, in an
   array that the caller frees; NULL: out of memory. Sets what else of the file
   the mechanism decides. */
static const char **
list_names(const struct sotto_mechanism *mechanism, const char *person,
           struct sotto_device_file *file)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    const char **names = calloc(info.columns + 1, sizeof *names);
    for (size_t i = 0; names != NULL && i < info.columns; i++) {
        struct sotto_column_info column;
        sotto_mechanism_column(mechanism, i, &column);
        names[i] = column.name;
        if (column.samples > 0) {
            file->samples = column.samples;
        }
    }
    if (names != NULL) {
        names[info.columns] = person;
    }
    file->count = info.columns + 1;
    return names;
}

/* Tells the owner what could not be read. Only a terminal is told: what cron
   mails may have readers who are not to know what a record holds. */
static void
note_odd(const char *path, const struct sotto_device_odd *odd)
{
    if (isatty(STDERR_FILENO) != 1) {
        return;
    }
    if (odd->lines > 0) {
        cli_note(
            "'%.240s': %zu line%s, the first is line %zu, with fields that "
            "cannot be read (not UTF-8, quotes, too few or too many): "
            "they count as missing",
            path, odd->lines, odd->lines == 1 ? "" : "s", odd->first);
    }
    if (odd->extra > 0) {
        cli_note("'%.240s': %zu line%s behind the last record's label", path,
                 odd->extra, odd->extra == 1 ? "" : "s");
    }
    if (odd->strangers > 0) {
        cli_note("'%.240s': %zu line%s, the first is line %zu, that name%s "
                 "nobody on the list: dropped",
                 path, odd->strangers, odd->strangers == 1 ? "" : "s",
                 odd->first_stranger, odd->strangers == 1 ? "s" : "");
    }
    if (odd->absent > 0) {
        cli_note("'%.240s': for %zu on the list there is no line, or more than "
                 "one: everything counts as missing",
                 path, odd->absent);
    }
}

static int
read_file(const char *path, const struct sotto_device_file *file,
          struct sotto_table **ret_table)
{
    struct sotto_device_odd odd = {0};
    struct sotto_error err = {0};
    if (sotto_device_table_read(path, file, ret_table, &odd, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    note_odd(path, &odd);
    return CLI_EXIT_DONE;
}

/* Joins --labels to the table, as the column that it lacks. */
static int
join_labels(const char *path, struct sotto_device_file file,
            struct sotto_table *table)
{
    struct sotto_table *labels = NULL;
    struct sotto_error err = {0};
    const char *name = NULL;
    for (size_t i = 0; i < file.count; i++) {
        if (sotto_table_find(table, file.names[i]) == SIZE_MAX) {
            name = file.names[i];
        }
    }
    if (name == NULL) {
        return cli_bad("--labels: the records have every column that the "
                       "mechanism asks for: leave '%.240s' out",
                       path);
    }
    file.names = &name;
    file.count = 1;
    file.person = NULL;
    file.elsewhere = 0;
    file.rows = sotto_table_rows(table);
    int status = read_file(path, &file, &labels);
    if (status == CLI_EXIT_DONE &&
        (sotto_table_set_category(labels, 0, &err) != SOTTO_STATUS_OK ||
         sotto_table_join(table, labels, &err) != SOTTO_STATUS_OK)) {
        status =
            cli_bad("'%.240s' does not fit the data: %s", path, err.message);
        sotto_table_free(labels);
    }
    return status;
}

/* Reads --people as a curator does: it is public, and so is what is wrong with
   it. Leaves `ret_people` NULL if it is not given. */
static int
read_people(const struct cli_args *args, int header,
            struct sotto_table **ret_people)
{
    const char *path = cli_value(args, "people");
    struct sotto_table_options options = {.header = header};
    struct sotto_error err = {0};
    if (path == NULL) {
        return CLI_EXIT_DONE;
    }
    if (cli_given(args, "labels")) {
        return cli_bad("--people and --labels exclude each other: let the "
                       "label be a column of the records");
    }
    return sotto_table_read(path, &options, ret_people, &err) == SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : cli_fail(&err);
}

/* Reads the records, and --labels, as a device does: total on content. */
static int
read_records(const struct cli_args *args,
             const struct sotto_mechanism *mechanism, const char *data,
             struct sotto_device_file file, struct sotto_table **ret_table)
{
    const char *labels = cli_value(args, "labels");
    const char **names = list_names(mechanism, file.person, &file);
    if (names == NULL) {
        return cli_no_memory();
    }
    file.names = names;
    file.elsewhere = labels != NULL ? 1 : 0;
    int status = read_file(data, &file, ret_table);
    if (status == CLI_EXIT_DONE && labels != NULL) {
        status = join_labels(labels, file, *ret_table);
    }
    free(names);
    return status;
}

/* The first line of each file is a header unless the caller says otherwise,
   whatever it holds. */
static int
read_device(const struct cli_args *args,
            const struct sotto_mechanism *mechanism, const char *data,
            struct sotto_table **ret_table)
{
    struct sotto_device_file file = {.person = cli_value(args, "person")};
    struct sotto_table *people = NULL;
    int header = -1;
    if (!records_header(args, &header)) {
        return CLI_EXIT_BAD;
    }
    if (sotto_mechanism_find(mechanism, file.person) != SIZE_MAX) {
        return cli_bad("--person: the mechanism asks for \"%.80s\": what "
                       "tells people apart is no part of a record",
                       file.person);
    }
    file.header = header != 0;
    int status = read_people(args, file.header, &people);
    file.people = people;
    if (status == CLI_EXIT_DONE) {
        status = read_records(args, mechanism, data, file, ret_table);
    }
    sotto_table_free(people);
    return status;
}

/* ---- Asking ------------------------------------------------------------- */

int
inquiry_open(const struct cli_args *args, struct sotto_mechanism *mechanism,
             const char *data, struct sotto_ledger *ledger,
             struct inquiry *ret_inquiry)
{
    memset(ret_inquiry, 0, sizeof *ret_inquiry);
    ret_inquiry->data = data;
    ret_inquiry->mechanism = mechanism;
    sotto_mechanism_info(mechanism, &ret_inquiry->info);
    int status = cli_given(args, "ledger")
                     ? read_device(args, mechanism, data, &ret_inquiry->table)
                     : records_read(args, data, cli_value(args, "labels"),
                                    &ret_inquiry->table);
    if (status == CLI_EXIT_DONE) {
        status =
            records_match(mechanism, ret_inquiry->table, data,
                          cli_value(args, "person"), &ret_inquiry->records);
    }
    status = CLI_THEN(status, people_open(args, ret_inquiry->table, data,
                                          ledger, &ret_inquiry->people));
    return status;
}

int
inquiry_open_stream(const struct cli_args *args,
                    struct sotto_mechanism *mechanism, const char *data,
                    struct inquiry *ret_inquiry)
{
    *ret_inquiry = (struct inquiry){.data = data, .mechanism = mechanism};
    sotto_mechanism_info(mechanism, &ret_inquiry->info);
    int status =
        records_open(args, data, &ret_inquiry->stream, &ret_inquiry->table);
    return CLI_THEN(status, records_match(mechanism, ret_inquiry->table, data,
                                          NULL, &ret_inquiry->records));
}

int
inquiry_next(struct inquiry *inquiry, bool *ret_more)
{
    struct sotto_table *table = NULL;
    struct sotto_error err = {0};
    *ret_more = false;
    if (inquiry->stream == NULL) {
        return CLI_EXIT_DONE;
    }
    if (sotto_table_stream_next(inquiry->stream, &table, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (table == NULL) {
        return CLI_EXIT_DONE;
    }
    inquiry->before += sotto_table_rows(inquiry->table);
    inquiry_forget(inquiry);
    inquiry->table = table;
    *ret_more = true;
    return cli_exit(
        sotto_records_new(inquiry->mechanism, table, &inquiry->records, &err),
        &err);
}

void
inquiry_forget(struct inquiry *inquiry)
{
    sotto_records_free(inquiry->records);
    sotto_table_free(inquiry->table);
    inquiry->records = NULL;
    inquiry->table = NULL;
    inquiry->people.table = NULL;
}

void
inquiry_clear(struct inquiry *inquiry)
{
    people_close(&inquiry->people);
    inquiry_forget(inquiry);
    sotto_table_stream_close(inquiry->stream);
    memset(inquiry, 0, sizeof *inquiry);
}

void
inquiry_name_row(const struct inquiry *inquiry, size_t row,
                 struct sotto_error *err)
{
    char why[sizeof err->message];
    size_t line = sotto_table_line(inquiry->table, row);
    (void)snprintf(why, sizeof why, "%s", err->message);
    row += inquiry->before;
    if (line > 0) {
        (void)snprintf(err->message, sizeof err->message,
                       "'%.120s', row %zu (line %zu): %.300s", inquiry->data,
                       row + 1, line, why);
    } else {
        (void)snprintf(err->message, sizeof err->message,
                       "'%.120s', record %zu: %.300s", inquiry->data, row + 1,
                       why);
    }
}

enum sotto_status
inquiry_report(struct inquiry *inquiry, size_t row, uint8_t *report,
               bool *ret_given, struct sotto_error *err)
{
    *ret_given = false;
    if (!people_named(&inquiry->people, row)) {
        return SOTTO_STATUS_OK;
    }
    const struct sotto_value *values = sotto_records_at(inquiry->records, row);
    enum sotto_status status = people_report(
        &inquiry->people, sotto_mechanism_client(inquiry->mechanism), row,
        values, sotto_records_columns(inquiry->records), report,
        inquiry->info.report_size, err);
    *ret_given = status == SOTTO_STATUS_OK;
    if (status != SOTTO_STATUS_OK) {
        inquiry_name_row(inquiry, row, err);
    }
    if (status == SOTTO_STATUS_REFUSED) {
        if (inquiry->people.refused == 1) {
            cli_note("%s", err->message);
        }
        return SOTTO_STATUS_OK;
    }
    return status;
}
