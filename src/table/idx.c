/*
 * idx.c: a table from the bytes of an IDX file, the format of MNIST.
 *
 *     0 0 type nd | nd dimensions, 4 bytes each, big-endian | the elements
 *
 * Nothing is allocated by what the header claims: its dimensions must first
 * multiply to just the bytes that are there.
 */
#include "table/idx.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/checked.h"
#include "host/error.h"
#include "host/wipe.h"

#define TYPE_BYTE 0x08
#define DIMENSIONS_MAX 4u
#define LABEL_DIGITS ((size_t)3) /* of the largest label, 255 */

struct idx {
    size_t header; /* bytes */
    size_t rows;
    size_t width; /* bytes in a row */
};

bool
idx_detect(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0 && bytes[1] == 0;
}

static const char *
type_name(uint8_t type)
{
    switch (type) {
    case 0x09:
        return "signed bytes";
    case 0x0b:
        return "16-bit integers";
    case 0x0c:
        return "32-bit integers";
    case 0x0d:
        return "32-bit floats";
    case 0x0e:
        return "64-bit floats";
    default:
        return NULL;
    }
}

static enum sotto_status
check_type(uint8_t type, const char *name, struct sotto_error *err)
{
    if (type == TYPE_BYTE) {
        return SOTTO_STATUS_OK;
    }
    if (type_name(type) == NULL) {
        return host_fail(err, SOTTO_STATUS_INPUT, 2,
                         "%s: begins as an IDX file, but 0x%02x is no IDX "
                         "type: the file is neither IDX nor CSV",
                         name, (unsigned)type);
    }
    return host_fail(err, SOTTO_STATUS_INPUT, 2,
                     "%s: an IDX file of %s: only unsigned bytes (type 0x08) "
                     "are read; convert it, or write it as CSV",
                     name, type_name(type));
}

static uint32_t
read_dimension(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3];
}

/* The ways the size can be wrong. `expected` is of the whole file. */
static enum sotto_status
fail_size(const char *name, uint64_t expected, size_t size,
          struct sotto_error *err)
{
    if (size < expected) {
        return host_fail(err, SOTTO_STATUS_INPUT, size,
                         "%s: an IDX file cut short: expected %s%" PRIu64
                         " bytes, found %zu: fetch or make it again",
                         name, expected == CHECKED_OVERFLOW ? "over " : "",
                         expected, size);
    }
    return host_fail(err, SOTTO_STATUS_INPUT, (size_t)expected,
                     "%s: an IDX file with more than its dimensions say: "
                     "expected %" PRIu64 " bytes, found %zu: fetch or make "
                     "it again",
                     name, expected, size);
}

/* Reads the dimensions and checks them against the size of the file. */
static enum sotto_status
read_shape(const uint8_t *bytes, size_t size, const char *name, struct idx *idx,
           struct sotto_error *err)
{
    uint64_t product = 1;
    idx->header = 4 + 4 * (size_t)bytes[3];
    if (size < idx->header) {
        return fail_size(name, idx->header, size, err);
    }

    for (size_t at = 4; at < idx->header; at += 4) {
        uint32_t dimension = read_dimension(bytes + at);
        if (dimension == 0) {
            return host_fail(err, SOTTO_STATUS_INPUT, at,
                             "%s: dimension %zu of the IDX file is 0: there "
                             "is nothing to read",
                             name, at / 4);
        }
        product = checked_multiply(product, dimension);
    }
    if (size != checked_add(idx->header, product)) {
        return fail_size(name, checked_add(idx->header, product), size, err);
    }
    idx->rows = (size_t)read_dimension(bytes + 4);
    idx->width = (size_t)product / idx->rows;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_header(const uint8_t *bytes, size_t size, const char *name,
            struct idx *idx, struct sotto_error *err)
{
    if (size < 4) {
        return fail_size(name, 4, size, err);
    }
    enum sotto_status status = check_type(bytes[2], name, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (bytes[3] == 0 || bytes[3] > DIMENSIONS_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, 3,
                         "%s: an IDX file of %u dimensions: 1 (labels) to %u "
                         "(images) are read",
                         name, (unsigned)bytes[3], DIMENSIONS_MAX);
    }
    return read_shape(bytes, size, name, idx, err);
}

/* The text of every label in turn, LABEL_DIGITS apart. */
static uint8_t *
write_label_texts(void)
{
    uint8_t *texts = malloc(LABEL_DIGITS * (UINT8_MAX + 1));
    if (texts == NULL) {
        return NULL;
    }
    for (unsigned label = 0; label <= UINT8_MAX; label++) {
        uint8_t *text = texts + label * LABEL_DIGITS;
        if (label >= 100) {
            *text++ = (uint8_t)('0' + label / 100);
        }
        if (label >= 10) {
            *text++ = (uint8_t)('0' + label / 10 % 10);
        }
        *text = (uint8_t)('0' + label % 10);
    }
    return texts;
}

/*
 * Labels become cells with a number and a text, as a CSV file's would, so that
 * they can be made categories.
 */
static bool
fill_labels(struct table_column *column, const uint8_t *labels, size_t rows)
{
    struct table_block *block = column->block;
    block->stride = 1;
    block->bytes = write_label_texts();
    block->cells = calloc(rows, sizeof *block->cells);
    column->numbers = calloc(rows, sizeof *column->numbers);
    if (block->bytes == NULL || block->cells == NULL ||
        column->numbers == NULL) {
        return false;
    }

    block->size = LABEL_DIGITS * (UINT8_MAX + 1);
    block->count = rows;
    for (size_t row = 0; row < rows; row++) {
        struct table_cell *cell = &block->cells[row];
        cell->start = (uint32_t)(labels[row] * LABEL_DIGITS);
        cell->size = labels[row] >= 100 ? 3 : labels[row] >= 10 ? 2 : 1;
        cell->number = 1;
        column->numbers[row] = labels[row];
    }
    return true;
}

/* The column of a table that has just been made; false: out of memory. */
static bool
fill_column(struct table_column *column, uint8_t *bytes, const struct idx *idx)
{
    uint32_t shape[DIMENSIONS_MAX];
    column->named = true;
    if (bytes[3] == 1) {
        return table_column_name(column, "label", 5) &&
               fill_labels(column, bytes + idx->header, idx->rows);
    }
    for (size_t i = 0; i < bytes[3]; i++) {
        shape[i] = read_dimension(bytes + 4 + 4 * i);
    }
    column->kind = SOTTO_COLUMN_BYTES;
    column->offset = idx->header;
    column->width = idx->width;
    column->image = table_image(shape, bytes[3]);
    return table_column_name(column, "image", 5);
}

enum sotto_status
idx_parse(uint8_t *bytes, size_t size, const char *name,
          struct sotto_table **ret_table, struct sotto_error *err)
{
    struct idx idx = {0};
    enum sotto_status status = read_header(bytes, size, name, &idx, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }

    struct table_block *block = table_block_new();
    struct sotto_table *table = block == NULL ? NULL : table_new(block, 1);
    if (table == NULL) {
        table_block_free(block);
        return host_fail_memory(err);
    }
    if (!fill_column(&table->columns[0], bytes, &idx)) {
        sotto_table_free(table);
        return host_fail_memory(err);
    }
    table->rows = idx.rows;
    if (block->bytes == NULL) {
        block->bytes = bytes;
        block->size = size;
    } else {
        host_wipe_free(bytes, size);
    }
    *ret_table = table;
    return SOTTO_STATUS_OK;
}
