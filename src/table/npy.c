/*
 * npy.c: a table from the bytes of a .npy file, numpy's format for one array.
 *
 *     0x93 N U M P Y | major minor | size of the header, 2 or 4 bytes | header
 *     | the elements
 *
 * The header is a Python dictionary as text, with three keys in any order:
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 784), }
 *
 * Nothing is allocated by what the header claims: its shape must first
 * multiply to just the bytes that are there.
 */
#include "table/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "host/error.h"
#include "host/wipe.h"

#define MAGIC_SIZE ((size_t)6)
#define DIMENSIONS_MAX 8u
#define SHOWN 24                  /* characters of a header in a message */
#define WHOLE_DIGITS ((size_t)20) /* of a whole number, with its sign */

static const uint8_t magic[MAGIC_SIZE] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The header being read, then what it says. */
struct npy {
    const uint8_t *bytes;
    size_t size; /* of the file */
    const char *name;
    struct sotto_error *err;
    size_t at, end; /* of what is left of the header */

    char kind;   /* 'u', 'i' or 'f' */
    size_t item; /* bytes of an element */
    size_t rank;
    uint32_t shape[DIMENSIONS_MAX];
    bool descr, order, dimensions; /* which keys have been read */
    size_t rows;
    size_t width; /* elements in a row */
};

bool
npy_detect(const uint8_t *bytes, size_t size)
{
    return size >= MAGIC_SIZE && memcmp(bytes, magic, MAGIC_SIZE) == 0;
}

/* ---- Words of the header ------------------------------------------------ */

static enum sotto_status
fail_header(const struct npy *npy, const char *expected)
{
    const char *shown = (const char *)npy->bytes + npy->at;
    size_t left = npy->end - npy->at, size = 0;
    while (size < left && size < SHOWN && shown[size] >= ' ' &&
           shown[size] <= '~') {
        size++;
    }
    return host_fail(npy->err, SOTTO_STATUS_INPUT, npy->at,
                     "%s: the header of the .npy file is malformed: expected "
                     "%s, found \"%.*s\": save it again with numpy.save",
                     npy->name, expected, (int)size, shown);
}

static void
skip_blanks(struct npy *npy)
{
    while (npy->at < npy->end &&
           (npy->bytes[npy->at] == ' ' || npy->bytes[npy->at] == '\n')) {
        npy->at++;
    }
}

/* Takes `word` if it comes next, after blanks. */
static bool
take_npy(struct npy *npy, const char *word)
{
    size_t size = strlen(word);
    skip_blanks(npy);
    if (npy->end - npy->at < size ||
        memcmp(npy->bytes + npy->at, word, size) != 0) {
        return false;
    }
    npy->at += size;
    return true;
}

/* Takes a whole number below 2^32. */
static bool
take_number(struct npy *npy, uint32_t *ret_number)
{
    uint64_t number = 0;
    skip_blanks(npy);
    size_t first = npy->at;
    while (npy->at < npy->end && npy->bytes[npy->at] >= '0' &&
           npy->bytes[npy->at] <= '9' && number <= UINT32_MAX) {
        number = 10 * number + (uint64_t)(npy->bytes[npy->at++] - '0');
    }
    if (npy->at == first || number > UINT32_MAX) {
        npy->at = first;
        return false;
    }
    *ret_number = (uint32_t)number;
    return true;
}

/* ---- The type of the elements ------------------------------------------- */

#define SUPPORTED                                                              \
    "little-endian whole numbers of 8 to 64 bits and floats of 32 and 64 are " \
    "read"

/* What a kind that is not read is called; NULL if there is none such. */
static const char *
kind_name(char kind)
{
    switch (kind) {
    case 'b':
        return "truth values: save a.astype('uint8')";
    case 'c':
        return "complex numbers";
    case 'O':
        return "Python objects, which hold code";
    case 'S':
    case 'U':
        return "texts: save them as CSV";
    case 'm':
    case 'M':
        return "times: save them as CSV";
    case 'V':
        return "raw records";
    default:
        return NULL;
    }
}

static enum sotto_status
fail_type(const struct npy *npy, size_t at, const char *what)
{
    return host_fail(npy->err, SOTTO_STATUS_INPUT, at,
                     "%s: a .npy file of %s; " SUPPORTED, npy->name, what);
}

/* Checks '<f4' and the like, `size` characters between the quotes at `at`. */
static enum sotto_status
check_type(struct npy *npy, size_t at, size_t size)
{
    const char *type = (const char *)npy->bytes + at;
    const char *what = size >= 2 ? kind_name(type[1]) : NULL;
    if (what != NULL) {
        return fail_type(npy, at, what);
    }
    if (size >= 1 && type[0] == '>') {
        return fail_type(npy, at,
                         "big-endian numbers: save "
                         "a.astype(a.dtype.newbyteorder('<'))");
    }
    bool sized = size == 3 && strchr("<|", type[0]) != NULL &&
                 strchr("1248", type[2]) != NULL;
    if (sized) {
        npy->kind = type[1];
        npy->item = (size_t)(type[2] - '0');
    }
    bool whole = npy->kind == 'i' || npy->kind == 'u';
    if (!sized || !(whole || (npy->kind == 'f' && npy->item >= 4)) ||
        (type[0] == '|' && npy->item > 1)) {
        return host_fail(npy->err, SOTTO_STATUS_INPUT, at,
                         "%s: a .npy file of the type \"%.*s\": " SUPPORTED,
                         npy->name, (int)(size < SHOWN ? size : SHOWN), type);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_type(struct npy *npy)
{
    if (take_npy(npy, "[")) {
        return fail_type(npy, npy->at - 1, "records of several fields");
    }
    if (!take_npy(npy, "'")) {
        return fail_header(npy, "a type in quotes");
    }
    size_t at = npy->at;
    while (npy->at < npy->end && npy->bytes[npy->at] > ' ' &&
           npy->bytes[npy->at] <= '~' && npy->bytes[npy->at] != '\'') {
        npy->at++;
    }
    size_t size = npy->at - at;
    if (!take_npy(npy, "'")) {
        return fail_header(npy, "the end of a type");
    }
    npy->descr = true;
    return check_type(npy, at, size);
}

/* ---- The other keys ----------------------------------------------------- */

static enum sotto_status
read_order(struct npy *npy)
{
    npy->order = true;
    if (take_npy(npy, "True")) {
        return host_fail(npy->err, SOTTO_STATUS_INPUT, npy->at - 4,
                         "%s: a .npy file in Fortran's order: only C's is "
                         "read; save numpy.ascontiguousarray(a)",
                         npy->name);
    }
    return take_npy(npy, "False") ? SOTTO_STATUS_OK
                                  : fail_header(npy, "True or False");
}

static enum sotto_status
read_dimensions(struct npy *npy)
{
    npy->dimensions = true;
    if (!take_npy(npy, "(")) {
        return fail_header(npy, "a shape in parentheses");
    }
    while (!take_npy(npy, ")")) {
        if (npy->rank == DIMENSIONS_MAX) {
            return host_fail(npy->err, SOTTO_STATUS_INPUT, npy->at,
                             "%s: a .npy file of more than %u dimensions: "
                             "reshape it",
                             npy->name, DIMENSIONS_MAX);
        }
        if (!take_number(npy, &npy->shape[npy->rank])) {
            return fail_header(npy, "a dimension below 2^32");
        }
        npy->rank++;
        if (take_npy(npy, ")")) {
            return SOTTO_STATUS_OK;
        }
        if (!take_npy(npy, ",")) {
            return fail_header(npy, "a comma or a parenthesis");
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_entry(struct npy *npy)
{
    enum sotto_status status;
    if (!npy->descr && take_npy(npy, "'descr'")) {
        status =
            take_npy(npy, ":") ? read_type(npy) : fail_header(npy, "a colon");
    } else if (!npy->order && take_npy(npy, "'fortran_order'")) {
        status =
            take_npy(npy, ":") ? read_order(npy) : fail_header(npy, "a colon");
    } else if (!npy->dimensions && take_npy(npy, "'shape'")) {
        status = take_npy(npy, ":") ? read_dimensions(npy)
                                    : fail_header(npy, "a colon");
    } else {
        status = fail_header(npy, "descr, fortran_order and shape, each once");
    }
    return status;
}

/* ---- The header --------------------------------------------------------- */

static enum sotto_status
read_dictionary(struct npy *npy)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    bool more = true;
    if (!take_npy(npy, "{")) {
        return fail_header(npy, "{");
    }
    while (status == SOTTO_STATUS_OK && more && !take_npy(npy, "}")) {
        status = read_entry(npy);
        more = status == SOTTO_STATUS_OK && take_npy(npy, ",");
    }
    if (status == SOTTO_STATUS_OK && !more && !take_npy(npy, "}")) {
        status = fail_header(npy, "a comma or }");
    }
    if (status == SOTTO_STATUS_OK &&
        !(npy->descr && npy->order && npy->dimensions)) {
        status = fail_header(npy, "descr, fortran_order and shape, each once");
    }
    skip_blanks(npy);
    if (status == SOTTO_STATUS_OK && npy->at < npy->end) {
        status = fail_header(npy, "the end of it");
    }
    return status;
}

static enum sotto_status
fail_size(const struct npy *npy, uint64_t expected)
{
    return host_fail(
        npy->err, SOTTO_STATUS_INPUT,
        npy->size < expected ? npy->size : (size_t)expected,
        "%s: a .npy file %s: expected %s%" PRIu64
        " bytes, found %zu: fetch or make it again",
        npy->name,
        npy->size < expected ? "cut short" : "with more than its shape says",
        expected == CHECKED_OVERFLOW ? "over " : "", expected, npy->size);
}

/* Where the header begins and ends. */
static enum sotto_status
read_preamble(struct npy *npy)
{
    size_t width = 2;
    npy->at = MAGIC_SIZE + 2;
    if (npy->size < npy->at + width) {
        return fail_size(npy, npy->at + width);
    }
    uint8_t major = npy->bytes[MAGIC_SIZE], minor = npy->bytes[MAGIC_SIZE + 1];
    if ((major != 1 && major != 2) || minor != 0) {
        return host_fail(npy->err, SOTTO_STATUS_INPUT, MAGIC_SIZE,
                         "%s: a .npy file of version %u.%u: 1.0 and 2.0 are "
                         "read",
                         npy->name, (unsigned)major, (unsigned)minor);
    }
    if (major == 2) {
        width = 4;
    }
    if (npy->size < npy->at + width) {
        return fail_size(npy, npy->at + width);
    }
    uint64_t size = bytes_load(npy->bytes + npy->at, width);
    npy->at += width;
    if (npy->size - npy->at < size) {
        return fail_size(npy, npy->at + size);
    }
    npy->end = npy->at + (size_t)size;
    return SOTTO_STATUS_OK;
}

/* Unsigned bytes of several dimensions are images; all else is numbers. */
static bool
is_image(const struct npy *npy)
{
    return npy->kind == 'u' && npy->item == 1 && npy->rank > 1;
}

/* The shape against the size of the file, and what kind of table it makes. */
static enum sotto_status
check_shape(struct npy *npy)
{
    uint64_t product = npy->item;
    if (npy->rank == 0 || (npy->rank > 2 && !is_image(npy))) {
        return host_fail(npy->err, SOTTO_STATUS_INPUT, npy->end,
                         "%s: a .npy file of %zu dimensions: 1 or 2 are read, "
                         "and of unsigned bytes up to %u",
                         npy->name, npy->rank, DIMENSIONS_MAX);
    }
    for (size_t i = 0; i < npy->rank; i++) {
        if (npy->shape[i] == 0) {
            return host_fail(npy->err, SOTTO_STATUS_INPUT, npy->end,
                             "%s: dimension %zu of the .npy file is 0: there "
                             "is nothing to read",
                             npy->name, i + 1);
        }
        product = checked_multiply(product, npy->shape[i]);
    }
    if (npy->size != checked_add(npy->end, product)) {
        return fail_size(npy, checked_add(npy->end, product));
    }
    npy->rows = npy->shape[0];
    npy->width = (size_t)product / npy->item / npy->rows;
    return SOTTO_STATUS_OK;
}

/* ---- Numbers ------------------------------------------------------------ */

static double
load_float(const uint8_t *at, size_t item)
{
    if (item == 4) {
        float value;
        uint32_t bits = (uint32_t)bytes_load(at, 4);
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    double value;
    uint64_t bits = bytes_load(at, 8);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The size of a whole number, and whether it is below zero. */
static uint64_t
load_whole(const uint8_t *at, size_t item, bool is_signed, bool *ret_negative)
{
    uint64_t bits = bytes_load(at, item);
    uint64_t sign = UINT64_C(1) << (8 * item - 1);
    *ret_negative = is_signed && (bits & sign) != 0;
    return *ret_negative ? (0 - bits) & (sign + (sign - 1)) : bits;
}

/* Writes a whole number's text; returns its size. */
static size_t
write_whole(uint64_t size, bool negative, uint8_t text[WHOLE_DIGITS + 1])
{
    uint8_t digits[WHOLE_DIGITS];
    size_t count = 0, at = 0;
    do {
        digits[count++] = (uint8_t)('0' + size % 10);
        size /= 10;
    } while (size > 0);
    if (negative) {
        text[at++] = '-';
    }
    while (count > 0) {
        text[at++] = digits[--count];
    }
    return at;
}

static enum sotto_status
fill_floats(const struct npy *npy, struct sotto_table *table)
{
    const uint8_t *at = npy->bytes + npy->end;
    for (size_t row = 0; row < npy->rows; row++) {
        for (size_t i = 0; i < npy->width; i++, at += npy->item) {
            double number = load_float(at, npy->item);
            if (isinf(number)) {
                return host_fail(npy->err, SOTTO_STATUS_INPUT,
                                 (size_t)(at - npy->bytes),
                                 "%s: row %zu, column %zu is infinite: replace "
                                 "it by a number, or by NaN for missing",
                                 npy->name, row + 1, i + 1);
            }
            table->columns[i].numbers[row] = number;
        }
    }
    return SOTTO_STATUS_OK;
}

/* Bytes that the texts of all elements need; whole numbers alone have one. */
static uint64_t
measure_texts(const struct npy *npy)
{
    const uint8_t *at = npy->bytes + npy->end;
    uint8_t text[WHOLE_DIGITS + 1];
    uint64_t size = 0;
    for (; at < npy->bytes + npy->size; at += npy->item) {
        bool negative;
        uint64_t whole = load_whole(at, npy->item, npy->kind == 'i', &negative);
        size += write_whole(whole, negative, text);
    }
    return size;
}

/* Cells with a number and a text, as a CSV file's would be, so that they can
   be made categories. */
static void
fill_wholes(const struct npy *npy, struct sotto_table *table)
{
    const uint8_t *at = npy->bytes + npy->end;
    struct table_block *block = table->columns[0].block;
    size_t to = 0;
    for (size_t i = 0; i < block->count; i++, at += npy->item) {
        uint8_t text[WHOLE_DIGITS + 1];
        bool negative;
        uint64_t whole = load_whole(at, npy->item, npy->kind == 'i', &negative);
        size_t size = write_whole(whole, negative, text);
        double number = (double)whole;
        memcpy(block->bytes + to, text, size);
        block->cells[i].start = (uint32_t)to;
        block->cells[i].size = (uint32_t)size & 0xff;
        block->cells[i].number = 1;
        table->columns[i % npy->width].numbers[i / npy->width] =
            negative ? -number : number;
        to += size;
    }
}

static enum sotto_status
fill_texts(const struct npy *npy, struct sotto_table *table)
{
    struct table_block *block = table->columns[0].block;
    uint64_t size = measure_texts(npy);
    if (size > TABLE_MAX_BYTES) {
        return host_fail(npy->err, SOTTO_STATUS_LIMIT, npy->end,
                         "%s: its numbers written out have more than %zu "
                         "bytes, the most that is read: split it",
                         npy->name, TABLE_MAX_BYTES);
    }
    size_t count = npy->rows * npy->width;
    block->stride = npy->width;
    block->bytes = malloc((size_t)size);
    block->cells = calloc(count, sizeof *block->cells);
    if (block->bytes == NULL || block->cells == NULL) {
        return host_fail_memory(npy->err);
    }
    block->size = (size_t)size;
    block->count = count;
    fill_wholes(npy, table);
    return SOTTO_STATUS_OK;
}

/* ---- Tables ------------------------------------------------------------- */

/* Names and numbers of the columns; false: out of memory. */
static bool
prepare_columns(const struct npy *npy, struct sotto_table *table)
{
    bool label = npy->rank == 1 && npy->kind != 'f';
    for (size_t i = 0; i < table->count; i++) {
        struct table_column *column = &table->columns[i];
        column->named = label;
        column->numbers = calloc(npy->rows, sizeof *column->numbers);
        if (column->numbers == NULL ||
            !(label ? table_column_name(column, "label", 5)
                    : table_column_number(column, i))) {
            return false;
        }
    }
    return true;
}

static enum sotto_status
fill_table(const struct npy *npy, uint8_t *bytes, struct sotto_table *table)
{
    struct table_column *column = &table->columns[0];
    if (is_image(npy)) {
        column->named = true;
        column->kind = SOTTO_COLUMN_BYTES;
        column->offset = npy->end;
        column->width = npy->width;
        column->image = table_image(npy->shape, npy->rank);
        if (!table_column_name(column, "image", 5)) {
            return host_fail_memory(npy->err);
        }
        column->block->bytes = bytes;
        column->block->size = npy->size;
        return SOTTO_STATUS_OK;
    }
    if (!prepare_columns(npy, table)) {
        return host_fail_memory(npy->err);
    }
    return npy->kind == 'f' ? fill_floats(npy, table) : fill_texts(npy, table);
}

static enum sotto_status
make_table(const struct npy *npy, uint8_t *bytes,
           struct sotto_table **ret_table)
{
    size_t count = is_image(npy) ? 1 : npy->width;
    if (count > TABLE_MAX_COLUMNS) {
        return host_fail(npy->err, SOTTO_STATUS_LIMIT, npy->end,
                         "%s: has %zu columns, more than %zu, the most that "
                         "are read",
                         npy->name, count, TABLE_MAX_COLUMNS);
    }
    struct table_block *block = table_block_new();
    struct sotto_table *table = block == NULL ? NULL : table_new(block, count);
    if (table == NULL) {
        table_block_free(block);
        return host_fail_memory(npy->err);
    }
    table->rows = npy->rows;
    enum sotto_status status = fill_table(npy, bytes, table);
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(table);
        return status;
    }
    if (block->bytes != bytes) {
        host_wipe_free(bytes, npy->size);
    }
    *ret_table = table;
    return SOTTO_STATUS_OK;
}

enum sotto_status
npy_parse(uint8_t *bytes, size_t size, const char *name,
          struct sotto_table **ret_table, struct sotto_error *err)
{
    struct npy npy = {.bytes = bytes, .size = size, .name = name, .err = err};
    enum sotto_status status = read_preamble(&npy);
    if (status == SOTTO_STATUS_OK) {
        status = read_dictionary(&npy);
    }
    if (status == SOTTO_STATUS_OK) {
        status = check_shape(&npy);
    }
    return status == SOTTO_STATUS_OK ? make_table(&npy, bytes, ret_table)
                                     : status;
}
