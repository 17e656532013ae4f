/*
 * array.h: a table from an array of numbers, as IDX and .npy files hold one
 * behind their headers.
 */
#ifndef SOTTO_TABLE_ARRAY_H
#define SOTTO_TABLE_ARRAY_H

#include "table/table.h"

#define ARRAY_RANK_MAX 8u

/* What a header says, and where it says so. */
struct array {
    uint8_t *bytes; /* of the whole file */
    size_t size;
    const char *name;   /* of the file */
    const char *format; /* "an IDX file" */
    const char *shown;  /* "its dimensions say": what gives the size */
    size_t start;       /* of the elements, which are little-endian */
    char kind;          /* 'u' or 'i', whole numbers; 'f', floats */
    size_t item;        /* bytes of an element: 1 to 8; of a float 4 or 8 */
    size_t rank;        /* at least 1 */
    uint32_t shape[ARRAY_RANK_MAX];
    size_t shape_at, shape_step; /* where dimension 0 stands; to the next one */
    struct sotto_error *err;
};

/* Says that the file should have `expected` bytes: INPUT. */
enum sotto_status array_fail_size(const struct array *array, uint64_t expected);

/* Whether it is unsigned bytes of several dimensions: images. All else is
   numbers. */
bool array_is_image(const struct array *array);

/*
 * Makes the table, a row for each step of the first dimension: images are one
 * BYTES column "image"; whole numbers of one dimension a NUMBER column "label";
 * other numbers NUMBER columns c1, c2, ..., of which whole ones have texts, and
 * of floats a NaN is missing and an infinity refused. Nothing is allocated
 * before the shape multiplies to just the bytes that are there. The bytes, from
 * malloc, belong to the table on success and stay the caller's on failure.
 * Statuses: INPUT, LIMIT (more columns, or more text, than a table holds),
 * MEMORY.
 */
SOTTO_CHECKED enum sotto_status array_table(const struct array *array,
                                            struct sotto_table **ret_table);

#endif
