/*
 * record_match.c: which record a report is about.
 *
 *     report --id--> row of keys --key--> row of records
 *
 * Every report must have a record, and no record two reports: a person gives
 * one.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/labelled.h"
#include "learn/record/record.h"

static enum sotto_status
fail_about(enum sotto_status status, const char *what, struct sotto_error *err)
{
    return host_about(status, err, SOTTO_ABOUT_PARAMETER, what);
}

/* Takes row i for report i. */
static enum sotto_status
match_order(const struct sotto_report_reader *reader,
            const struct sotto_table *records, size_t *ret_row,
            struct sotto_error *err)
{
    size_t n = sotto_report_reader_count(reader);
    if (sotto_table_rows(records) != n) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "there are %zu records and %zu reports: as many are "
                         "needed, in the same order, or keys",
                         sotto_table_rows(records), n);
    }
    if (sotto_report_reader_repeated(reader) > 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "some reports came twice, so that their order does "
                         "not tell whose they are: give keys");
    }
    for (size_t i = 0; i < n; i++) {
        ret_row[i] = i;
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
record_match_key(const struct sotto_table *keys, size_t *ret_column,
                 struct sotto_error *err)
{
    size_t id = sotto_table_find(keys, LABELLED_ID);
    if (sotto_table_columns(keys) != 2 || id == SIZE_MAX) {
        return fail_about(
            host_fail(err, SOTTO_STATUS_INPUT, 0,
                      "it has %zu columns: keys have two, \"" LABELLED_ID
                      "\" of the reports and one of the records",
                      sotto_table_columns(keys)),
            "keys", err);
    }
    *ret_column = 1 - id;
    return SOTTO_STATUS_OK;
}

/* A row, by what its key says. */
struct key_row {
    const void *data;
    size_t size, row;
};

static int
compare_keys(const void *a, const void *b)
{
    const struct key_row *left = a, *right = b;
    size_t size = left->size < right->size ? left->size : right->size;
    int order = size > 0 ? memcmp(left->data, right->data, size) : 0;
    return order != 0 ? order
                      : (left->size > right->size) - (left->size < right->size);
}

/* Reads the keys of all rows, sorted: each is one record's. */
static enum sotto_status
sort_keys(const struct sotto_table *table, size_t column,
          struct key_row *ret_key, struct sotto_error *err)
{
    size_t n = sotto_table_rows(table);
    for (size_t i = 0; i < n; i++) {
        struct sotto_value cell = sotto_table_cell(table, i, column);
        ret_key[i] = (struct key_row){cell.data, cell.size, i};
        if (cell.data == NULL || cell.size == 0) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "row %zu (line %zu) has no key", i + 1,
                             sotto_table_line(table, i));
        }
    }
    qsort(ret_key, n, sizeof *ret_key, compare_keys);
    for (size_t i = 1; i < n; i++) {
        if (compare_keys(&ret_key[i - 1], &ret_key[i]) == 0) {
            size_t a = ret_key[i - 1].row, b = ret_key[i].row;
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "rows %zu and %zu have the same key: a record has "
                             "one",
                             (a < b ? a : b) + 1, (a < b ? b : a) + 1);
        }
    }
    return SOTTO_STATUS_OK;
}

/* Finds the record of every report by the key that its row of keys has. */
static enum sotto_status
match_sorted(const struct sotto_table *keys, size_t column,
             const struct key_row *key, size_t records, bool *used, size_t n,
             size_t *row, struct sotto_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct sotto_value cell;
        struct key_row wanted = {.row = 0};
        const struct key_row *found = NULL;
        if (row[i] == SIZE_MAX) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "it has no row for report %zu: whose it is nobody "
                             "can tell",
                             i + 1);
        }
        cell = sotto_table_cell(keys, row[i], column);
        wanted.data = cell.data;
        wanted.size = cell.size;
        if (cell.data != NULL && cell.size > 0) {
            found = bsearch(&wanted, key, records, sizeof *key, compare_keys);
        }
        if (found == NULL) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "no record has the key in its row %zu",
                             row[i] + 1);
        }
        if (used[found->row]) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "row %zu has the key of a record that has a "
                             "report already: a person gives one",
                             row[i] + 1);
        }
        used[found->row] = true;
        row[i] = found->row;
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
match_keys(const struct sotto_report_reader *reader,
           const struct sotto_table *records, const struct sotto_table *keys,
           size_t *ret_row, struct sotto_error *err)
{
    size_t n = sotto_table_rows(records), column = 0, at;
    struct key_row *key = calloc(n + 1, sizeof *key);
    bool *used = calloc(n + 1, sizeof *used);
    enum sotto_status status = record_match_key(keys, &column, err);
    if (key == NULL || used == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    at = sotto_table_find(records, sotto_table_name(keys, column));
    status = at != SIZE_MAX
                 ? sort_keys(records, at, key, err)
                 : host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "it has no column \"%.80s\", which the keys have",
                             sotto_table_name(keys, column));
    if (status != SOTTO_STATUS_OK) {
        status = fail_about(status, "records", err);
        goto done;
    }
    status = labelled_match(reader, keys, sotto_table_find(keys, LABELLED_ID),
                            ret_row, err);
    status = HOST_THEN(status, match_sorted(keys, column, key, n, used,
                                            sotto_report_reader_count(reader),
                                            ret_row, err));
    if (status != SOTTO_STATUS_OK) {
        status = fail_about(status, "keys", err);
    }
done:
    free(key);
    free(used);
    return status;
}

enum sotto_status
record_match(const struct sotto_report_reader *reader,
             const struct sotto_table *records, const struct sotto_table *keys,
             size_t *ret_row, struct sotto_error *err)
{
    if (keys != NULL) {
        return match_keys(reader, records, keys, ret_row, err);
    }
    enum sotto_status status = match_order(reader, records, ret_row, err);
    return status == SOTTO_STATUS_OK ? status
                                     : fail_about(status, "records", err);
}
