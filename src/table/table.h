/*
 * table.h: how a table lies in memory, for the readers that make one.
 *
 *     sotto_table --> columns[0..count) --> table_block (shared, counted)
 *                                             bytes   what the file held
 *                                             cells   row-major: where in bytes
 *                                             lines   where each row began
 *
 * The cells of a text file are eight bytes each and point into the file's own
 * bytes, so a table costs little more than its file. Every column holds a
 * reference to the block its cells are in: joining two tables moves columns
 * and copies no data. A block without cells holds samples: the cell of `row`
 * is the `width` bytes at bytes + offset + row * width. A NUMBER column of such
 * a block has its numbers alone, NaN where one is missing, and no texts.
 *
 * A declared label (declared.c) has cells that are all missing, and beside them
 * the words it may be.
 *
 * Some of a table's rows are a table whose blocks borrow from the old ones:
 *
 *     block of the selection --> order[row]: the row in the block it is of
 *                            --> of: holds a reference, owns all but `order`
 *
 * A selection of a selection is of the first block, so `of` is one step long.
 * The count of references is atomic: tables that share a block may be freed by
 * different threads.
 *
 * What the file held, the numbers read from it and the cells are wiped before
 * they are freed.
 *
 * Invariants: a table has at least one row, and one column unless it is being
 * made (made.c); all of its columns have the same number of rows; their names
 * differ.
 */
#ifndef SOTTO_TABLE_TABLE_H
#define SOTTO_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

/* A file, decompressed, so that an offset or a line fits 32 bits. */
#define TABLE_MAX_BYTES ((size_t)UINT32_MAX)
#define TABLE_MAX_FIELD ((size_t)1 << 20)
#define TABLE_MAX_COLUMNS ((size_t)65536)

struct table_cell {
    uint32_t start;       /* offset in the block's bytes */
    uint32_t size : 21;   /* at most TABLE_MAX_FIELD */
    uint32_t quoted : 1;  /* stood in quotes */
    uint32_t missing : 1; /* nothing there, or a word that says so */
    uint32_t number : 1;  /* a finite number: see table_column.numbers */
    uint32_t doubled : 1; /* has doubled quotes still (csv_scan.h) */
};

struct table_block {
    _Atomic size_t references; /* columns and selections that use it */
    struct table_block *of;    /* whose bytes, cells, lines; NULL: its own */
    uint32_t *order;           /* row -> row of `of`; NULL: the same */
    size_t stride;             /* cells in a row */
    uint8_t *bytes;
    size_t size;              /* of bytes */
    struct table_cell *cells; /* NULL: samples */
    size_t count;             /* of cells */
    uint32_t *lines;          /* one a row; NULL: the file has none */
    size_t line_base;         /* line of a row, from 1: lines[row] + this */
    struct table_cell *words; /* of a declared label: its values, else NULL */
    size_t word_count;
};

struct table_column {
    char *name;
    bool named; /* by the file; else c1, c2, ... by its place in the table */
    enum sotto_column_kind kind;
    struct table_block *block;
    size_t index;    /* of its cells in a row of the block */
    double *numbers; /* one a row of the table, set where the cell says so; or
                        NULL. Of samples: NaN where an image is missing */
    size_t offset;   /* samples: of row 0 in the block's bytes */
    size_t width;    /* samples in a cell, else 0 */
    struct sotto_image image; /* how they lie, else 0 */
};

struct sotto_table {
    size_t rows;
    size_t count;
    struct table_column *columns;
    struct sotto_table_reading reading; /* of a CSV file, else 0 */
};

/* An empty block, or NULL for lack of memory. Freed by its last column. */
struct table_block *table_block_new(void);
/* Frees one that no column uses. NULL is fine. */
void table_block_free(struct table_block *block);
/* Gives a reference back; the last one frees. */
void table_block_drop(struct table_block *block);
/* The row of the file's bytes, cells and lines that a row is. */
static inline size_t
table_block_row(const struct table_block *block, size_t row)
{
    return block->order == NULL ? row : block->order[row];
}

/*
 * A table of `count` (at least 1) nameless NUMBER columns and no rows yet, all
 * in `block`, which it owns from then on; on failure `block` is the caller's
 * still. A NULL block is a new, empty one. NULL for lack of memory.
 */
struct sotto_table *table_new(struct table_block *block, size_t count);
/* A table of one column of that name, in a new block. NULL likewise. */
struct sotto_table *table_new_column(size_t rows, const char *name);

/* The images of an array of `rank` >= 2 dimensions, the first of which counts
   them; their product is below 2^32. */
struct sotto_image table_image(const uint32_t *shape, size_t rank);

/* The words of a declared label, and their bytes; NULL: the column is none. */
const struct table_cell *table_words(const struct sotto_table *table,
                                     size_t column, size_t *ret_count,
                                     const uint8_t **ret_bytes);

/* What a column holds, which is numbers at first: samples of such images, whose
   bytes the block gets; or texts. */
void table_column_images(struct table_column *column,
                         const struct sotto_image *image);
void table_column_texts(struct table_column *column);

/* Frees what a column of a table of `rows` rows holds. */
void table_column_clear(struct table_column *column, size_t rows);
/* Names a column; the text is copied. False for lack of memory. */
bool table_column_name(struct table_column *column, const void *text,
                       size_t size);
/* Names column `place` (from 0) after its place: c1, c2, ... Likewise. */
bool table_column_number(struct table_column *column, size_t place);

/*
 * Looks for two columns of the same name. `ret_second` is the later of the
 * first such pair found, `count` if all differ. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
table_find_twin(const struct table_column *columns, size_t count,
                size_t *ret_second, struct sotto_error *err);

#endif
