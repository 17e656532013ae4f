/*
 * inquiry.c: the records of a file, asked one after the other.
 */
#include "verb/inquiry.h"

#include <string.h>

int
inquiry_open(const struct cli_args *args, struct sotto_mechanism *mechanism,
             const char *data, struct sotto_ledger *ledger,
             struct inquiry *ret_inquiry)
{
    memset(ret_inquiry, 0, sizeof *ret_inquiry);
    ret_inquiry->data = data;
    ret_inquiry->mechanism = mechanism;
    sotto_mechanism_info(mechanism, &ret_inquiry->info);
    int status = records_read(args, data, cli_value(args, "labels"),
                              &ret_inquiry->table);
    if (status == CLI_EXIT_DONE) {
        status =
            records_match(mechanism, ret_inquiry->table, data,
                          cli_value(args, "person"), &ret_inquiry->records);
    }
    if (status == CLI_EXIT_DONE) {
        status = people_open(args, mechanism, ret_inquiry->table, data, ledger,
                             &ret_inquiry->people);
    }
    return status;
}

void
inquiry_clear(struct inquiry *inquiry)
{
    people_close(&inquiry->people);
    records_clear(&inquiry->records);
    sotto_table_free(inquiry->table);
    memset(inquiry, 0, sizeof *inquiry);
}

void
inquiry_name_row(const struct inquiry *inquiry, size_t row,
                 struct sotto_error *err)
{
    char why[sizeof err->message];
    size_t line = sotto_table_line(inquiry->table, row);
    (void)snprintf(why, sizeof why, "%s", err->message);
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
    const struct sotto_value *values = records_at(&inquiry->records, row);
    enum sotto_status status = people_report(
        &inquiry->people, sotto_mechanism_client(inquiry->mechanism), row,
        values, inquiry->records.count, report, inquiry->info.report_size, err);
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
