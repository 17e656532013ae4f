/*
 * split.c: the numbers of a table's rows, split into shares: at random, at
 * random within every class, or by time.
 *
 * With C_i = share_0 + ... + share_i, part i of n rows in some order is those
 * from round(C_(i-1) n) on to before round(C_i n): no row is in two parts, and
 * no part is off its share by more than one row.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "random/permute.h"
#include "sotto/sotto.h"

#define SHARES_OVER 1e-9     /* what adding shares up may round */
#define STREAM 0x73706c6974u /* of the generator: "split" */

/* A row and what it is sorted by. */
struct key {
    struct sotto_value value;
    size_t row;
    size_t class; /* of its value, from 0 */
};

/* ---- Shares ------------------------------------------------------------- */

static enum sotto_status
check_shares(const double *share, size_t parts, struct sotto_error *err)
{
    double sum = 0;
    for (size_t i = 0; i < parts; i++) {
        if (!(share[i] >= 0 && share[i] <= 1)) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "share %zu is %g: it must be from 0 to 1", i + 1,
                             share[i]);
        }
        sum += share[i];
    }
    if (parts == 0 || sum > 1 + SHARES_OVER) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "%zu shares that add up to %g: give at least one, "
                         "and at most 1 in all",
                         parts, sum);
    }
    return SOTTO_STATUS_OK;
}

/* round(sum count), at most count. */
static size_t
bound_of(size_t count, double sum)
{
    double bound = floor(sum * (double)count + 0.5);
    return bound < (double)count ? (size_t)bound : count;
}

static void
put_sizes(size_t count, const double *share, size_t parts, size_t *ret_sizes)
{
    double sum = 0;
    size_t from = 0;
    for (size_t i = 0; i < parts; i++) {
        sum += share[i];
        size_t to = bound_of(count, sum);
        ret_sizes[i] = to - from;
        from = to;
    }
}

/* The part that place `at` of `count` falls to; `parts` for none. */
static size_t
part_of(size_t at, size_t count, const double *share, size_t parts)
{
    double sum = share[0];
    size_t i = 0;
    while (i < parts && at >= bound_of(count, sum)) {
        i++;
        sum += i < parts ? share[i] : 0;
    }
    return i;
}

/* ---- At random ---------------------------------------------------------- */

/* Sets 0 to count - 1 in an order that (seed, count) decide. */
static void
shuffle(size_t count, uint64_t seed, size_t *ret_rows)
{
    for (size_t i = 0; i < count; i++) {
        ret_rows[i] = i;
    }
    permute(ret_rows, sizeof *ret_rows, count, PERMUTE_WIDE, seed, STREAM);
}

enum sotto_status
sotto_split_shares(size_t count, const double *share, size_t parts,
                   uint64_t seed, size_t *ret_rows, size_t *ret_sizes,
                   struct sotto_error *err)
{
    enum sotto_status status = check_shares(share, parts, err);
    if (status == SOTTO_STATUS_OK) {
        shuffle(count, seed, ret_rows);
        put_sizes(count, share, parts, ret_sizes);
    }
    return status;
}

/* ---- Keys --------------------------------------------------------------- */

/* Numbers by size, text as its bytes sort, what is missing before both. */
static int
compare_values(const struct sotto_value *a, const struct sotto_value *b)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->kind == SOTTO_VALUE_NUMBER) {
        return (a->number > b->number) - (a->number < b->number);
    }
    if (a->kind == SOTTO_VALUE_MISSING) {
        return 0;
    }
    size_t common = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->data, b->data, common);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

static int
compare_keys(const void *a, const void *b)
{
    const struct key *left = a, *right = b;
    int order = compare_values(&left->value, &right->value);
    return order != 0 ? order
                      : (left->row > right->row) - (left->row < right->row);
}

static int
compare_rows(const void *a, const void *b)
{
    const struct key *left = a, *right = b;
    return (left->row > right->row) - (left->row < right->row);
}

/* The rows of a column, sorted by its values; the caller wipes and frees
   them. */
static enum sotto_status
keys_new(const struct sotto_table *table, size_t column, const char *what,
         struct key **ret_keys, struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table);
    if (column >= sotto_table_columns(table)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there is no column %zu: the table has %zu",
                         column + 1, sotto_table_columns(table));
    }
    if (sotto_table_width(table, column) > 0) {
        return host_about(
            host_fail(err, SOTTO_STATUS_INPUT, 0,
                      "column \"%.80s\" holds images: it cannot tell a "
                      "row's %s",
                      sotto_table_name(table, column), what),
            err, SOTTO_ABOUT_COLUMN, sotto_table_name(table, column));
    }
    struct key *keys = calloc(rows, sizeof *keys);
    if (keys == NULL) {
        return host_fail_memory(err);
    }
    for (size_t row = 0; row < rows; row++) {
        keys[row].value = sotto_table_cell(table, row, column);
        keys[row].row = row;
    }
    qsort(keys, rows, sizeof *keys, compare_keys);
    *ret_keys = keys;
    return SOTTO_STATUS_OK;
}

/* ---- Within classes ----------------------------------------------------- */

/* How many rows a class has, and how many of them have been given out. */
struct class
{
    size_t size;
    size_t given;
};

/* Numbers the values of sorted keys, then sorts these by row. */
static void
number_classes(struct key *keys, size_t count, struct class *classes)
{
    size_t class = 0;
    for (size_t i = 0; i < count; i++) {
        class += i > 0 && compare_values(&keys[i - 1].value, &keys[i].value);
        keys[i].class = class;
        classes[class].size++;
    }
    qsort(keys, count, sizeof *keys, compare_rows);
}

/* The part of each row: rows come in random order, and the first of a class
   to come fill its share of the first part, and so on. */
static void
deal(const size_t *order, size_t count, const struct key *keys,
     struct class *classes, const double *share, size_t parts, size_t *ret_part)
{
    for (size_t i = 0; i < count; i++) {
        struct class *class = &classes[keys[order[i]].class];
        ret_part[i] = part_of(class->given++, class->size, share, parts);
    }
}

/* Part after part, each in the random order. */
static void
gather(const size_t *order, const size_t *part, size_t count, size_t parts,
       size_t *ret_rows, size_t *ret_sizes)
{
    size_t at = 0;
    for (size_t p = 0; p < parts; p++) {
        size_t from = at;
        for (size_t i = 0; i < count; i++) {
            if (part[i] == p) {
                ret_rows[at++] = order[i];
            }
        }
        ret_sizes[p] = at - from;
    }
}

enum sotto_status
sotto_split_classes(const struct sotto_table *table, size_t column,
                    const double *share, size_t parts, uint64_t seed,
                    size_t *ret_rows, size_t *ret_sizes,
                    struct sotto_error *err)
{
    size_t count = sotto_table_rows(table);
    struct key *keys = NULL;
    struct class *classes = calloc(count, sizeof *classes);
    size_t *order = calloc(count, sizeof *order);
    size_t *part = calloc(count, sizeof *part);
    enum sotto_status status = check_shares(share, parts, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    if (classes == NULL || order == NULL || part == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = keys_new(table, column, "class", &keys, err);
    if (keys == NULL) {
        goto done;
    }
    number_classes(keys, count, classes);
    shuffle(count, seed, order);
    deal(order, count, keys, classes, share, parts, part);
    gather(order, part, count, parts, ret_rows, ret_sizes);
done:
    host_wipe_free(keys, count * sizeof *keys);
    free(classes);
    free(order);
    free(part);
    return status;
}

/* ---- By time ------------------------------------------------------------ */

enum sotto_status
sotto_split_time(const struct sotto_table *table, size_t column,
                 const double *share, size_t parts, size_t *ret_rows,
                 size_t *ret_sizes, struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table), first = 0;
    struct key *keys = NULL;
    enum sotto_status status = check_shares(share, parts, err);
    if (status == SOTTO_STATUS_OK) {
        status = keys_new(table, column, "time", &keys, err);
    }
    if (keys == NULL) {
        return status;
    }
    while (first < rows && keys[first].value.kind == SOTTO_VALUE_MISSING) {
        first++;
    }
    for (size_t i = first; i < rows; i++) {
        ret_rows[i - first] = keys[i].row;
    }
    put_sizes(rows - first, share, parts, ret_sizes);
    host_wipe_free(keys, rows * sizeof *keys);
    return SOTTO_STATUS_OK;
}
