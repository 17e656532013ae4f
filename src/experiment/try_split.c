/*
 * try_split.c: a table's rows as auxiliary ones, people and test.
 *
 * Large tables have at most PART_MOST auxiliary and test rows: an encoder
 * learns little from more of them, and reports from more people tell more.
 */
#include <stdlib.h>

#include "experiment/try.h"
#include "host/error.h"

#define AUX_SHARE 0.4
#define TEST_SHARE 0.2
#define PART_MOST 4000.0
#define ROWS_LEAST 100u

static enum sotto_status
select_rows(const struct sotto_table *table, const size_t *row, size_t count,
            struct sotto_table **ret_table, struct sotto_error *err)
{
    return count > 0 ? sotto_table_select(table, row, count, ret_table, err)
                     : host_fail(err, SOTTO_STATUS_INPUT, 0,
                                 "the table has too few rows to be split");
}

static bool
has_label(const struct sotto_table *table, size_t row, size_t label)
{
    struct sotto_value cell = sotto_table_cell(table, row, label);
    return sotto_table_kind(table, label) == SOTTO_COLUMN_NUMBER
               ? cell.kind == SOTTO_VALUE_NUMBER
               : cell.size > 0;
}

/* Takes the rows that have a label. */
static enum sotto_status
take_labelled(const struct sotto_table *table, size_t label,
              struct sotto_table **ret_table, size_t *ret_left,
              struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table), count = 0;
    size_t *row = calloc(rows + 1, sizeof *row);
    enum sotto_status status;
    if (row == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rows; i++) {
        if (has_label(table, i, label)) {
            row[count++] = i;
        }
    }
    status = count >= ROWS_LEAST
                 ? sotto_table_select(table, row, count, ret_table, err)
                 : host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "%zu of %zu rows have a label, and less than %u "
                             "can be split into auxiliary rows, people and "
                             "test rows",
                             count, rows, ROWS_LEAST);
    *ret_left = rows - count;
    free(row);
    return status;
}

/* Draws the rows of each part: by classes, or of a number by lot alone. */
static enum sotto_status
draw_parts(const struct sotto_table *table, size_t label, const double *share,
           size_t parts, uint64_t seed, size_t *row, size_t *sizes,
           struct sotto_error *err)
{
    return sotto_table_kind(table, label) == SOTTO_COLUMN_NUMBER
               ? sotto_split_shares(sotto_table_rows(table), share, parts, seed,
                                    row, sizes, err)
               : sotto_split_classes(table, label, share, parts, seed, row,
                                     sizes, err);
}

/* Splits into as many parts as there are tables to fill. */
static enum sotto_status
split_table(const struct sotto_table *table, size_t label, const double *share,
            size_t parts, uint64_t seed, struct sotto_table **const *ret,
            struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table), sizes[3] = {0}, from = 0;
    size_t *row = calloc(rows + 1, sizeof *row);
    enum sotto_status status =
        row != NULL
            ? draw_parts(table, label, share, parts, seed, row, sizes, err)
            : host_fail_memory(err);
    for (size_t i = 0; i < parts && status == SOTTO_STATUS_OK; i++) {
        status = select_rows(table, row + from, sizes[i], ret[i], err);
        from += sizes[i];
    }
    free(row);
    return status;
}

static double
bound_share(double share, size_t rows)
{
    double most = PART_MOST / (double)rows;
    return share < most ? share : most;
}

enum sotto_status
try_split_init(struct try_split *split, const struct sotto_table *table,
               size_t label, size_t people, uint64_t seed,
               struct sotto_error *err)
{
    struct sotto_table *labelled = NULL;
    struct sotto_table **const parts[] = {&split->aux, &split->people,
                                          &split->test};
    struct sotto_table **const halves[] = {&split->half[0], &split->half[1]};
    const double even[] = {0.5, 0.5};
    enum sotto_status status;
    *split = (struct try_split){.left = 0};
    status = take_labelled(table, label, &labelled, &split->left, err);
    if (status == SOTTO_STATUS_OK) {
        size_t rows = sotto_table_rows(labelled);
        double aux = bound_share(AUX_SHARE, rows);
        double test = bound_share(TEST_SHARE, rows);
        double left = 1 - aux - test;
        double most = people > 0 ? (double)people / (double)rows : 1;
        const double share[] = {aux, left < most ? left : most, test};
        status = split_table(labelled, label, share, 3, seed, parts, err);
    }
    status = HOST_THEN(
        status, split_table(split->aux, label, even, 2, seed, halves, err));
    sotto_table_free(labelled);
    return status;
}

void
try_split_clear(struct try_split *split)
{
    sotto_table_free(split->aux);
    sotto_table_free(split->people);
    sotto_table_free(split->test);
    sotto_table_free(split->half[0]);
    sotto_table_free(split->half[1]);
}
