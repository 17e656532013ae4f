/*
 * array.c: a table from an array of numbers, as IDX and .npy files hold one.
 *
 * Whole numbers become cells with a number and a text, as a CSV file's would,
 * so that they can be made categories. There are but 256 texts of bytes, so
 * cells of bytes share them.
 */
#include "table/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "host/error.h"
#include "host/wipe.h"

#define WHOLE_TEXT ((size_t)20) /* of a whole number, with its sign */
#define BYTE_TEXT ((size_t)4)   /* of a byte */

/* ---- The shape ---------------------------------------------------------- */

enum sotto_status
array_fail_size(const struct array *array, uint64_t expected)
{
    bool less = array->size < expected;
    return host_fail(
        array->err, SOTTO_STATUS_INPUT, less ? array->size : (size_t)expected,
        "%s: %s %s%s: expected %s%" PRIu64
        " bytes, found %zu: fetch or make it again",
        array->name, array->format, less ? "cut short" : "with more than ",
        less ? "" : array->shown, expected == CHECKED_OVERFLOW ? "over " : "",
        expected, array->size);
}

bool
array_is_image(const struct array *array)
{
    return array->kind == 'u' && array->item == 1 && array->rank > 1;
}

/* Finds how many elements a row has, if the shape fits the file. */
static enum sotto_status
measure_rows(const struct array *array, size_t *ret_width)
{
    uint64_t product = array->item;
    for (size_t i = 0; i < array->rank; i++) {
        if (array->shape[i] == 0) {
            return host_fail(array->err, SOTTO_STATUS_INPUT,
                             array->shape_at + i * array->shape_step,
                             "%s: dimension %zu of the %s is 0: there is "
                             "nothing to read",
                             array->name, i + 1,
                             strchr(array->format, ' ') + 1);
        }
        product = checked_multiply(product, array->shape[i]);
    }
    if (array->size != checked_add(array->start, product)) {
        return array_fail_size(array, checked_add(array->start, product));
    }
    *ret_width = (size_t)product / array->item / array->shape[0];
    return SOTTO_STATUS_OK;
}

/* ---- Elements ----------------------------------------------------------- */

static double
load_float(const uint8_t *at, size_t item)
{
    uint64_t bits = bytes_load(at, item);
    double value;
    if (item == sizeof(float)) {
        uint32_t half = (uint32_t)bits;
        float single;
        memcpy(&single, &half, sizeof single);
        return (double)single;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Loads the size of a whole number, and whether it is below zero. */
static uint64_t
load_whole(const struct array *array, const uint8_t *at, bool *ret_negative)
{
    uint64_t bits = bytes_load(at, array->item);
    uint64_t sign = UINT64_C(1) << (8 * array->item - 1);
    *ret_negative = array->kind == 'i' && (bits & sign) != 0;
    return *ret_negative ? (0 - bits) & (sign + (sign - 1)) : bits;
}

/* Writes the text of the whole number at `at`; returns its size. */
static size_t
write_whole(const struct array *array, const uint8_t *at,
            uint8_t text[WHOLE_TEXT], double *ret_number)
{
    uint8_t digits[WHOLE_TEXT];
    size_t count = 0, size = 0;
    bool negative;
    uint64_t whole = load_whole(array, at, &negative);
    *ret_number = negative ? -(double)whole : (double)whole;
    do {
        digits[count++] = (uint8_t)('0' + whole % 10);
        whole /= 10;
    } while (whole > 0);
    if (negative) {
        text[size++] = '-';
    }
    while (count > 0) {
        text[size++] = digits[--count];
    }
    return size;
}

/* ---- Columns ------------------------------------------------------------ */

static enum sotto_status
fill_floats(const struct array *array, struct sotto_table *table)
{
    const uint8_t *at = array->bytes + array->start;
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t i = 0; i < table->count; i++, at += array->item) {
            double number = load_float(at, array->item);
            if (isinf(number)) {
                return host_fail(array->err, SOTTO_STATUS_INPUT,
                                 (size_t)(at - array->bytes),
                                 "%s: row %zu, column %zu is infinite: replace "
                                 "it by a number, or by NaN for missing",
                                 array->name, row + 1, i + 1);
            }
            table->columns[i].numbers[row] = number;
        }
    }
    return SOTTO_STATUS_OK;
}

/* Bytes that the texts of all elements need. */
static uint64_t
measure_texts(const struct array *array)
{
    const uint8_t *end = array->bytes + array->size;
    uint8_t text[WHOLE_TEXT];
    double number;
    uint64_t size = 0;
    if (array->item == 1) {
        return BYTE_TEXT * (UINT8_MAX + 1);
    }
    for (const uint8_t *at = array->bytes + array->start; at < end;
         at += array->item) {
        size += write_whole(array, at, text, &number);
    }
    return size;
}

static void
fill_cells(const struct array *array, struct sotto_table *table)
{
    const uint8_t *at = array->bytes + array->start;
    struct table_block *block = table->columns[0].block;
    size_t next = 0;
    for (size_t i = 0; i < block->count; i++, at += array->item) {
        uint8_t text[WHOLE_TEXT];
        size_t to = array->item == 1 ? *at * BYTE_TEXT : next;
        size_t size = write_whole(
            array, at, text,
            &table->columns[i % table->count].numbers[i / table->count]);
        memcpy(block->bytes + to, text, size);
        block->cells[i].start = (uint32_t)to;
        block->cells[i].size = (uint32_t)size & 0xff;
        block->cells[i].number = 1;
        next += size;
    }
}

static enum sotto_status
fill_wholes(const struct array *array, struct sotto_table *table)
{
    struct table_block *block = table->columns[0].block;
    uint64_t size = measure_texts(array);
    if (size > TABLE_MAX_BYTES) {
        return host_fail(array->err, SOTTO_STATUS_LIMIT, array->start,
                         "%s: its numbers written out have more than %zu "
                         "bytes, the most that is read: split it",
                         array->name, TABLE_MAX_BYTES);
    }
    block->stride = table->count;
    block->bytes = calloc(1, (size_t)size);
    block->cells = calloc(table->rows * table->count, sizeof *block->cells);
    if (block->bytes == NULL || block->cells == NULL) {
        return host_fail_memory(array->err);
    }
    block->size = (size_t)size;
    block->count = table->rows * table->count;
    fill_cells(array, table);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fill_image(const struct array *array, struct sotto_table *table)
{
    struct table_column *column = &table->columns[0];
    column->named = true;
    const struct sotto_image image = table_image(array->shape, array->rank);
    table_column_images(column, &image);
    column->offset = array->start;
    if (!table_column_name(column, "image", 5)) {
        return host_fail_memory(array->err);
    }
    column->block->bytes = array->bytes;
    column->block->size = array->size;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fill_numbers(const struct array *array, struct sotto_table *table)
{
    bool label = array->rank == 1 && array->kind != 'f';
    for (size_t i = 0; i < table->count; i++) {
        struct table_column *column = &table->columns[i];
        column->named = label;
        column->numbers = calloc(table->rows, sizeof *column->numbers);
        if (column->numbers == NULL ||
            !(label ? table_column_name(column, "label", 5)
                    : table_column_number(column, i))) {
            return host_fail_memory(array->err);
        }
    }
    return array->kind == 'f' ? fill_floats(array, table)
                              : fill_wholes(array, table);
}

enum sotto_status
array_table(const struct array *array, struct sotto_table **ret_table)
{
    size_t width = 0;
    enum sotto_status status = measure_rows(array, &width);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    bool image = array_is_image(array);
    size_t count = image ? 1 : width;
    if (count > TABLE_MAX_COLUMNS) {
        return host_fail(array->err, SOTTO_STATUS_LIMIT, array->start,
                         "%s: has %zu columns, more than %zu, the most that "
                         "are read",
                         array->name, count, TABLE_MAX_COLUMNS);
    }
    struct sotto_table *table = table_new(NULL, count);
    if (table == NULL) {
        return host_fail_memory(array->err);
    }
    table->rows = array->shape[0];
    status = image ? fill_image(array, table) : fill_numbers(array, table);
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(table);
        return status;
    }
    if (!image) {
        host_wipe_free(array->bytes, array->size);
    }
    *ret_table = table;
    return SOTTO_STATUS_OK;
}
