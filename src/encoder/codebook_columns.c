/*
 * codebook_columns.c: a book for each column of a table.
 *
 * What a table is asked about mostly hangs on a few of its columns, and nobody
 * knows on which before the reports are there. A code of all columns together
 * mixes them; so here each column has a book, and a person answers about one,
 * by lot, together with the label. The learner puts the columns together.
 *
 *     number     k ranges that as many auxiliary records have each:
 *                score_i = i z - (t_1 + ... + t_i), so that i is the largest
 *                from t_i to t_(i+1)
 *     category   the k - 1 commonest, and all others:
 *                score_i = z_i - half of what z_i is if it holds; others 0
 *
 * Where a column has fewer values than k, the codes left over have a score that
 * is never the largest. z is the record itself (identity.c), so all books are
 * one dense layer, as of cells.
 */
#include <stdlib.h>

#include "encoder/codebook.h"
#include "host/error.h"
#include "host/sort.h"
#include "host/wipe.h"
#include "report/report.h"

#define NEVER (-1e9F) /* a score */
#define COMMONEST_MOST                                                         \
    0.98 /* a column of which so many are alike tells little                   \
            of anybody */

/* Scores of one column's book. */
struct column_book {
    const struct sotto_codebook *codebook;
    const struct schema_column *column;
    size_t k;
    float *weight; /* k rows of d */
    float *bias;   /* k */
};

/* ---- Numbers ------------------------------------------------------------- */

/* Between which two values of n in ascending order the part of `share` of them
   ends: the first of those above, n if there is none. */
static size_t
find_border(const double *value, size_t n, double share)
{
    size_t at = (size_t)(share * (double)n), up = at, down = at;
    while (up < n && up > 0 && value[up] <= value[up - 1]) {
        up++;
    }
    while (down > 0 && value[down] <= value[down - 1]) {
        down--;
    }
    if (up == 0 || (down > 0 && at - down <= up - at)) {
        return down > 0 ? down : n;
    }
    return up;
}

/* Cuts at borders between values; returns how many codes there are. */
static size_t
cut_number(const struct column_book *book, const double *value, size_t n)
{
    size_t d = book->codebook->d, codes = 1, last = 0;
    double sum = 0;
    for (size_t i = 1; i < book->k; i++) {
        size_t at = find_border(value, n, (double)i / (double)book->k);
        if (at > last && at < n) {
            sum += (value[at - 1] + value[at]) / 2;
            book->weight[codes * d + book->column->at] = (float)codes;
            book->bias[codes++] = (float)-sum;
            last = at;
        }
    }
    return codes;
}

static enum sotto_status
make_number(const struct column_book *book, size_t *ret_codes,
            struct sotto_error *err)
{
    const struct sotto_codebook *codebook = book->codebook;
    size_t n = codebook->n, size = n * sizeof(double);
    double *value = malloc(size);
    if (value == NULL) {
        return host_fail_memory(err);
    }
    for (size_t m = 0; m < n; m++) {
        value[m] = (double)codebook->z[m * codebook->d + book->column->at];
    }
    host_sort_doubles(value, n);
    *ret_codes = cut_number(book, value, n);
    host_wipe_free(value, size);
    return SOTTO_STATUS_OK;
}

/* ---- Categories ---------------------------------------------------------- */

/* Counts the records that have each category, and what its entry is then. */
static void
count_categories(const struct column_book *book, size_t *ret_count,
                 float *ret_value)
{
    const struct sotto_codebook *codebook = book->codebook;
    for (size_t m = 0; m < codebook->n; m++) {
        const float *z = codebook->z + m * codebook->d + book->column->at;
        for (size_t i = 0; i < book->column->inputs; i++) {
            ret_count[i] += z[i] > 0;
            ret_value[i] = z[i] > ret_value[i] ? z[i] : ret_value[i];
        }
    }
}

/* Takes the commonest that is left; returns SIZE_MAX where none is. */
static size_t
take_commonest(size_t *count, size_t inputs)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < inputs; i++) {
        if (count[i] > 0 && (best == SIZE_MAX || count[i] > count[best])) {
            best = i;
        }
    }
    if (best != SIZE_MAX) {
        count[best] = 0;
    }
    return best;
}

static enum sotto_status
make_category(const struct column_book *book, size_t *ret_codes,
              struct sotto_error *err)
{
    size_t inputs = book->column->inputs, d = book->codebook->d, present = 0;
    size_t *count = calloc(inputs, sizeof *count), codes = 0;
    float *value = calloc(inputs, sizeof *value);
    if (count == NULL || value == NULL) {
        free(count);
        free(value);
        return host_fail_memory(err);
    }
    count_categories(book, count, value);
    for (size_t i = 0; i < inputs; i++) {
        present += count[i] > 0;
    }
    while (codes + 1 < book->k && codes + 1 < present) {
        size_t at = take_commonest(count, inputs);
        book->weight[codes * d + book->column->at + at] = 1;
        book->bias[codes++] = -value[at] / 2;
    }
    book->bias[codes++] = 0; /* all others */
    free(count);
    free(value);
    *ret_codes = codes;
    return SOTTO_STATUS_OK;
}

/* ---- All books ----------------------------------------------------------- */

static enum sotto_status
make_book(const struct column_book *book, struct sotto_error *err)
{
    size_t codes = 0;
    enum sotto_status status = schema_kind(book->column->kind)->symbols
                                   ? make_category(book, &codes, err)
                                   : make_number(book, &codes, err);
    for (; status == SOTTO_STATUS_OK && codes < book->k; codes++) {
        book->bias[codes] = NEVER;
    }
    return status;
}

enum sotto_status
codebook_columns_join(const struct sotto_codebook *codebook, size_t k,
                      struct codebook_cut *ret_all, struct sotto_error *err)
{
    size_t d = codebook->d, books = codebook->columns;
    struct codebook_cut all = {.n = codebook->n * books,
                               .head = {.k = books * k, .d = d}};
    enum sotto_status status = SOTTO_STATUS_OK;
    all.head.weight = calloc(books * k * d + 1, sizeof(float));
    all.head.bias = calloc(books * k + 1, sizeof(float));
    if (all.head.weight == NULL || all.head.bias == NULL) {
        status = host_fail_memory(err);
    }
    for (size_t b = 0; status == SOTTO_STATUS_OK && all.head.weight != NULL &&
                       all.head.bias != NULL && b < books;
         b++) {
        struct column_book book = {
            .codebook = codebook,
            .column = &codebook->schema.column[codebook->column[b]],
            .k = k,
            .weight = all.head.weight + b * k * d,
            .bias = all.head.bias + b * k};
        status = make_book(&book, err);
    }
    status = HOST_THEN(status, codebook_find_codes(codebook, books, &all, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_all = all;
        return status;
    }
    codebook_head_clear(&all.head);
    host_wipe_free(all.code, all.n * sizeof *all.code);
    return status;
}

/* ---- Which columns ------------------------------------------------------- */

/* Whether no code has nearly all records. With k = 2 the second code of a
   category is all but the commonest, which is much of an even column: only the
   first is asked there. */
static bool
varies(const struct sotto_codebook *codebook, const struct codebook_cut *all,
       size_t book)
{
    size_t books = codebook->columns, ones = 0;
    const struct schema_column *column =
        &codebook->schema.column[codebook->column[book]];
    double share;
    for (size_t m = 0; m < codebook->n; m++) {
        ones += all->code[m * books + book] == 1;
    }
    share = (double)ones / (double)codebook->n;
    return share >= 1 - COMMONEST_MOST &&
           (share <= COMMONEST_MOST || schema_kind(column->kind)->symbols);
}

/* Leaves out columns that hardly vary. */
static enum sotto_status
keep_varied(struct sotto_codebook *codebook, struct sotto_error *err)
{
    struct codebook_cut all = {.n = 0};
    size_t books = codebook->columns, kept = 0;
    bool keep[REPORT_BOOKS_MAX];
    enum sotto_status status = codebook_columns_join(codebook, 2, &all, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t b = 0; b < books; b++) {
        keep[b] = varies(codebook, &all, b);
    }
    for (size_t b = 0; b < books; b++) {
        if (keep[b]) {
            codebook->column[kept++] = codebook->column[b];
        }
    }
    codebook->columns = kept;
    codebook_head_clear(&all.head);
    host_wipe_free(all.code, all.n * sizeof *all.code);
    return kept > 0 ? SOTTO_STATUS_OK
                    : host_fail(err, SOTTO_STATUS_INPUT, 0,
                                "no column varies: nearly all records are "
                                "alike in each of them");
}

/* Lists the columns that are inputs; none where there are too many books, or
   one of them is bytes. */
static size_t
list_inputs(const struct sotto_codebook *codebook, size_t *column)
{
    size_t count = 0;
    for (size_t i = 0; i < codebook->schema.columns; i++) {
        const struct schema_column *at = &codebook->schema.column[i];
        if (at->inputs > 0 && schema_kind(at->kind)->bytes) {
            return 0;
        }
        if (at->inputs > 0) {
            column[count++] = i;
        }
    }
    return count <= REPORT_BOOKS_MAX ? count : 0;
}

enum sotto_status
codebook_columns_find(struct sotto_codebook *codebook, struct sotto_error *err)
{
    if (!codebook->encoder->shape.plain || codebook->unit ||
        codebook->label == SIZE_MAX) {
        return SOTTO_STATUS_OK;
    }
    codebook->column =
        calloc(codebook->schema.columns + 1, sizeof *codebook->column);
    if (codebook->column == NULL) {
        return host_fail_memory(err);
    }
    codebook->columns = list_inputs(codebook, codebook->column);
    return codebook->columns > 0 ? keep_varied(codebook, err) : SOTTO_STATUS_OK;
}

size_t
codebook_columns_most(const struct sotto_codebook *codebook)
{
    size_t most = 2;
    for (size_t b = 0; b < codebook->columns; b++) {
        const struct schema_column *column =
            &codebook->schema.column[codebook->column[b]];
        if (!schema_kind(column->kind)->symbols) {
            return SIZE_MAX;
        }
        most = column->inputs > most ? column->inputs : most;
    }
    return most;
}
