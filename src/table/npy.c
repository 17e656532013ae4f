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
 * array.c makes the table.
 */
#include "table/npy.h"

#include <string.h>

#include "base/bytes.h"
#include "host/error.h"
#include "table/array.h"

#define MAGIC_SIZE ((size_t)6)
#define SHOWN 24 /* characters of a header in a message */

static const uint8_t magic[MAGIC_SIZE] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The header being read. */
struct npy {
    const uint8_t *bytes;
    const char *name;
    struct sotto_error *err;
    size_t at, end;                /* of what is left of the header */
    bool descr, order, dimensions; /* which keys have been read */
    struct array array;            /* what it says */
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
take_word(struct npy *npy, const char *word)
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
    static const struct {
        char kind;
        const char *name;
    } row[] = {{'b', "truth values: save a.astype('uint8')"},
               {'c', "complex numbers"},
               {'O', "Python objects, which hold code"},
               {'S', "texts: save them as CSV"},
               {'U', "texts: save them as CSV"},
               {'m', "times: save them as CSV"},
               {'M', "times: save them as CSV"},
               {'V', "raw records"}};
    size_t i = 0;
    while (i < sizeof row / sizeof row[0] && row[i].kind != kind) {
        i++;
    }
    return i < sizeof row / sizeof row[0] ? row[i].name : NULL;
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
        npy->array.kind = type[1];
        npy->array.item = (size_t)(type[2] - '0');
    }
    bool whole = npy->array.kind == 'i' || npy->array.kind == 'u';
    if (!sized ||
        !(whole || (npy->array.kind == 'f' && npy->array.item >= 4)) ||
        (type[0] == '|' && npy->array.item > 1)) {
        return host_fail(npy->err, SOTTO_STATUS_INPUT, at,
                         "%s: a .npy file of the type \"%.*s\": " SUPPORTED,
                         npy->name, (int)(size < SHOWN ? size : SHOWN), type);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_type(struct npy *npy)
{
    if (take_word(npy, "[")) {
        return fail_type(npy, npy->at - 1, "records of several fields");
    }
    if (!take_word(npy, "'")) {
        return fail_header(npy, "a type in quotes");
    }
    size_t at = npy->at;
    while (npy->at < npy->end && npy->bytes[npy->at] > ' ' &&
           npy->bytes[npy->at] <= '~' && npy->bytes[npy->at] != '\'') {
        npy->at++;
    }
    size_t size = npy->at - at;
    if (!take_word(npy, "'")) {
        return fail_header(npy, "the end of a type");
    }
    return check_type(npy, at, size);
}

/* ---- The other keys ----------------------------------------------------- */

static enum sotto_status
read_order(struct npy *npy)
{
    if (take_word(npy, "True")) {
        return host_fail(npy->err, SOTTO_STATUS_INPUT, npy->at - 4,
                         "%s: a .npy file in Fortran's order: only C's is "
                         "read; save numpy.ascontiguousarray(a)",
                         npy->name);
    }
    return take_word(npy, "False") ? SOTTO_STATUS_OK
                                   : fail_header(npy, "True or False");
}

static enum sotto_status
read_dimensions(struct npy *npy)
{
    if (!take_word(npy, "(")) {
        return fail_header(npy, "a shape in parentheses");
    }
    while (!take_word(npy, ")")) {
        if (npy->array.rank == ARRAY_RANK_MAX) {
            return host_fail(npy->err, SOTTO_STATUS_INPUT, npy->at,
                             "%s: a .npy file of more than %u dimensions: "
                             "reshape it",
                             npy->name, ARRAY_RANK_MAX);
        }
        if (!take_number(npy, &npy->array.shape[npy->array.rank])) {
            return fail_header(npy, "a dimension below 2^32");
        }
        npy->array.rank++;
        if (take_word(npy, ")")) {
            return SOTTO_STATUS_OK;
        }
        if (!take_word(npy, ",")) {
            return fail_header(npy, "a comma or a parenthesis");
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_entry(struct npy *npy)
{
    const struct {
        const char *word;
        bool *read;
        enum sotto_status (*value)(struct npy *npy);
    } key[] = {{"'descr'", &npy->descr, read_type},
               {"'fortran_order'", &npy->order, read_order},
               {"'shape'", &npy->dimensions, read_dimensions}};
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        if (!*key[i].read && take_word(npy, key[i].word)) {
            *key[i].read = true;
            return take_word(npy, ":") ? key[i].value(npy)
                                       : fail_header(npy, "a colon");
        }
    }
    return fail_header(npy, "descr, fortran_order and shape, each once");
}

/* ---- The header --------------------------------------------------------- */

static enum sotto_status
read_dictionary(struct npy *npy)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    bool more = true;
    if (!take_word(npy, "{")) {
        return fail_header(npy, "{");
    }
    while (status == SOTTO_STATUS_OK && more && !take_word(npy, "}")) {
        status = read_entry(npy);
        more = status == SOTTO_STATUS_OK && take_word(npy, ",");
    }
    if (status == SOTTO_STATUS_OK && !more && !take_word(npy, "}")) {
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

/* Where the header begins and ends. */
static enum sotto_status
read_preamble(struct npy *npy)
{
    size_t file = npy->array.size, width = 2;
    npy->at = MAGIC_SIZE + 2;
    if (file < npy->at + width) {
        return array_fail_size(&npy->array, npy->at + width);
    }
    uint8_t major = npy->bytes[MAGIC_SIZE], minor = npy->bytes[MAGIC_SIZE + 1];
    if ((major != 1 && major != 2) || minor != 0) {
        return host_fail(npy->err, SOTTO_STATUS_INPUT, MAGIC_SIZE,
                         "%s: a .npy file of version %u.%u: 1.0 and 2.0 are "
                         "read",
                         npy->name, (unsigned)major, (unsigned)minor);
    }
    width = major == 2 ? 4 : 2;
    if (file < npy->at + width) {
        return array_fail_size(&npy->array, npy->at + width);
    }
    uint64_t size = bytes_load(npy->bytes + npy->at, width);
    npy->at += width;
    if (file - npy->at < size) {
        return array_fail_size(&npy->array, npy->at + size);
    }
    npy->end = npy->at + (size_t)size;
    return SOTTO_STATUS_OK;
}

enum sotto_status
npy_parse(uint8_t *bytes, size_t size, const char *name,
          struct sotto_table **ret_table, struct sotto_error *err)
{
    struct npy npy = {.bytes = bytes,
                      .name = name,
                      .err = err,
                      .array = {.size = size,
                                .name = name,
                                .format = "a .npy file",
                                .shown = "its shape says",
                                .err = err}};
    npy.array.bytes = bytes;
    enum sotto_status status = read_preamble(&npy);
    status = HOST_THEN(status, read_dictionary(&npy));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    npy.array.start = npy.array.shape_at = npy.end;
    if (npy.array.rank == 0 ||
        (npy.array.rank > 2 && !array_is_image(&npy.array))) {
        return host_fail(
            err, SOTTO_STATUS_INPUT, npy.end,
            "%s: a .npy file of %zu dimensions: numbers may have 1 "
            "or 2. Save images, of up to %u, as unsigned bytes: "
            "(x * 255).astype('uint8') if x is from 0 to 1",
            name, npy.array.rank, ARRAY_RANK_MAX);
    }
    return array_table(&npy.array, ret_table);
}
