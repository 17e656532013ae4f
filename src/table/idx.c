/*
 * idx.c: a table from the bytes of an IDX file, the format of MNIST.
 *
 *     0 0 type nd | nd dimensions, 4 bytes each, big-endian | the elements
 *
 * array.c makes the table.
 */
#include "table/idx.h"

#include "host/error.h"
#include "table/array.h"

#define TYPE_BYTE 0x08
#define DIMENSIONS_MAX 4u

bool
idx_detect(const uint8_t *bytes, size_t size)
{
    return size >= 2 && bytes[0] == 0 && bytes[1] == 0;
}

static enum sotto_status
check_type(uint8_t type, const char *name, struct sotto_error *err)
{
    static const char *const names[] = {[0x09] = "signed bytes",
                                        [0x0b] = "16-bit integers",
                                        [0x0c] = "32-bit integers",
                                        [0x0d] = "32-bit floats",
                                        [0x0e] = "64-bit floats"};
    if (type == TYPE_BYTE) {
        return SOTTO_STATUS_OK;
    }
    if (type >= sizeof names / sizeof names[0] || names[type] == NULL) {
        return host_fail(err, SOTTO_STATUS_INPUT, 2,
                         "%s: begins as an IDX file, but 0x%02x is no IDX "
                         "type: the file is neither IDX nor CSV",
                         name, (unsigned)type);
    }
    return host_fail(err, SOTTO_STATUS_INPUT, 2,
                     "%s: an IDX file of %s: only unsigned bytes (type 0x08) "
                     "are read; convert it, or write it as CSV",
                     name, names[type]);
}

enum sotto_status
idx_parse(uint8_t *bytes, size_t size, const char *name,
          struct sotto_table **ret_table, struct sotto_error *err)
{
    struct array array = {.bytes = bytes,
                          .size = size,
                          .name = name,
                          .format = "an IDX file",
                          .shown = "its dimensions say",
                          .kind = 'u',
                          .item = 1,
                          .shape_at = 4,
                          .shape_step = 4,
                          .err = err};
    if (size < 4) {
        return array_fail_size(&array, 4);
    }
    enum sotto_status status = check_type(bytes[2], name, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    array.rank = bytes[3];
    if (array.rank == 0 || array.rank > DIMENSIONS_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, 3,
                         "%s: an IDX file of %zu dimensions: 1 (labels) to %u "
                         "(images) are read",
                         name, array.rank, DIMENSIONS_MAX);
    }
    array.start = 4 + 4 * array.rank;
    if (size < array.start) {
        return array_fail_size(&array, array.start);
    }
    for (size_t i = 0; i < array.rank; i++) {
        const uint8_t *at = bytes + 4 + 4 * i;
        array.shape[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
                         (uint32_t)at[2] << 8 | (uint32_t)at[3];
    }
    return array_table(&array, ret_table);
}
