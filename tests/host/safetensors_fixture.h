/*
 * safetensors_fixture.h: safetensors files put together by hand.
 */
#ifndef SOTTO_TESTS_SAFETENSORS_FIXTURE_H
#define SOTTO_TESTS_SAFETENSORS_FIXTURE_H

#include "file_fixture.h"

#include "base/bytes.h"
#include "host/safetensors.h"

/* The bytes of a file with this header and this much data (0, 1, 2, ...). */
static inline size_t
file_of(const char *header, size_t data, uint8_t *bytes, size_t room)
{
    size_t size = strlen(header);
    assert_true(8 + size + data <= room);
    bytes_store(bytes, 8, size);
    memcpy(bytes + 8, header, size);
    for (size_t i = 0; i < data; i++) {
        bytes[8 + size + i] = (uint8_t)i;
    }
    return 8 + size + data;
}

static inline struct safetensors *
parsed(const char *header, size_t data)
{
    uint8_t bytes[4096];
    struct safetensors *file = NULL;
    size_t size = file_of(header, data, bytes, sizeof bytes);
    assert_int_equal(safetensors_parse(bytes, size, "f", &file, &err),
                     SOTTO_STATUS_OK);
    assert_non_null(file);
    return file;
}

static inline void
assert_refused(const char *header, size_t data, const char *message)
{
    uint8_t bytes[4096];
    struct safetensors *file = NULL;
    size_t size = file_of(header, data, bytes, sizeof bytes);
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(safetensors_parse(bytes, size, "f", &file, &err),
                     SOTTO_STATUS_FORMAT);
    assert_null(file);
    assert_int_equal(err.status, SOTTO_STATUS_FORMAT);
    assert_string_equal(err.message, message);
}

#endif
