/*
 * csv_types.c: what the cells of CSV text mean: missing, a number, a text.
 *
 * Rows are settled by groups, on as many threads as there are. A column has
 * room for numbers once the first is seen, by whoever sees it.
 */
#include "table/csv_types.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/error.h"
#include "host/wipe.h"
#include "table/csv.h"
#include "table/csv_scan.h"
#include "table/number_text.h"

#define GROUP_CELLS ((size_t)1 << 13)

/* A column, as it turns out. */
struct column_type {
    _Atomic(double *) numbers; /* NULL: none yet */
    atomic_bool texts;
};

struct typing {
    struct sotto_table *table;
    uint8_t *bytes;
    struct column_type *column;
    size_t group; /* rows in a group */
    atomic_bool failed;
};

#define WORD(text)                                                             \
    {                                                                          \
        text, sizeof(text) - 1                                                 \
    }

bool
csv_missing(const char *text, size_t size)
{
    static const struct {
        const char *text;
        size_t size;
    } words[] = {WORD("?"),    WORD("NA"),  WORD("N/A"), WORD("NaN"),
                 WORD("null"), WORD("-"),   WORD("."),   WORD("#N/A"),
                 WORD("<NA>"), WORD("n.a.")};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].size == size && (text[0] ^ words[i].text[0]) % 0x20 == 0 &&
            strncasecmp(text, words[i].text, size) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a text is no number, told from its first letter: quick, since most
   texts begin with one. */
static inline bool
begins_word(const uint8_t *text, size_t size)
{
    return size > 0 && (uint8_t)((text[0] | 0x20) - 'a') < 26;
}

/* The room for a column's numbers, made if there is none; NULL: no memory. */
static double *
column_numbers(struct typing *typing, size_t column)
{
    double *numbers = atomic_load_explicit(&typing->column[column].numbers,
                                           memory_order_acquire);
    if (numbers != NULL) {
        return numbers;
    }
    double *made = calloc(typing->table->rows, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    if (atomic_compare_exchange_strong(&typing->column[column].numbers,
                                       &numbers, made)) {
        return made;
    }
    free(made); /* another thread was first */
    return numbers;
}

static void
set_text(struct typing *typing, size_t column)
{
    atomic_bool *texts = &typing->column[column].texts;
    if (!atomic_load_explicit(texts, memory_order_relaxed)) {
        atomic_store_explicit(texts, true, memory_order_relaxed);
    }
}

/* Settles what a cell is. No word for a missing value is a number. False for
   lack of memory. */
static inline bool
type_cell(struct typing *typing, struct table_cell *cell, size_t column,
          size_t row)
{
    double number;
    const uint8_t *text = typing->bytes + cell->start;
    if (cell->doubled) {
        csv_scan_undouble(typing->bytes, cell);
    }
    if (!begins_word(text, cell->size) &&
        number_text_parse(text, cell->size, &number)) {
        double *numbers = column_numbers(typing, column);
        if (numbers == NULL) {
            return false;
        }
        numbers[row] = number;
        cell->number = 1;
        return true;
    }
    cell->missing =
        cell->size == 0 || csv_missing((const char *)text, cell->size);
    if (!cell->missing) {
        set_text(typing, column);
    }
    return true;
}

static void
type_group(void *context, size_t index, unsigned worker)
{
    struct typing *typing = context;
    size_t columns = typing->table->count;
    size_t first = index * typing->group;
    size_t left = typing->table->rows - first;
    size_t end = first + (left < typing->group ? left : typing->group);
    struct table_cell *cell =
        typing->table->columns[0].block->cells + first * columns;
    (void)worker;
    for (size_t row = first; row < end; row++) {
        for (size_t i = 0; i < columns; i++) {
            if (!type_cell(typing, cell++, i, row)) {
                atomic_store(&typing->failed, true);
                return;
            }
        }
    }
}

/* Hands what was found to the table, on failure too: it frees the numbers. */
static void
give_types(struct typing *typing)
{
    for (size_t i = 0; i < typing->table->count; i++) {
        struct table_column *column = &typing->table->columns[i];
        column->numbers = atomic_load(&typing->column[i].numbers);
        if (atomic_load(&typing->column[i].texts)) {
            table_column_texts(column);
        }
    }
}

enum sotto_status
csv_types_set(struct sotto_table *table, uint8_t *bytes, struct host_pool *pool,
              struct sotto_error *err)
{
    struct typing typing = {.table = table};
    typing.bytes = bytes;
    typing.column = calloc(table->count, sizeof *typing.column);
    if (typing.column == NULL) {
        return host_fail_memory(err);
    }
    typing.group = GROUP_CELLS / table->count + 1;
    size_t groups = (table->rows + typing.group - 1) / typing.group;
    host_pool_run(pool, groups, type_group, &typing);
    give_types(&typing);
    free(typing.column);
    return atomic_load(&typing.failed) ? host_fail_memory(err)
                                       : SOTTO_STATUS_OK;
}
