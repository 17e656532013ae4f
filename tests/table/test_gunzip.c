/*
 * test_gunzip.c: undoing gzip: members, damage, the ceiling.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fail_alloc.h"
#include "table/gunzip.h"

#define NO_LIMIT SIZE_MAX

static uint8_t *data;
static size_t data_size;
static struct sotto_error err;

/* ---- Helpers ------------------------------------------------------------ */

static int
setup(void **state)
{
    (void)state;
    data = NULL;
    data_size = 12345;
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    free(data);
    return 0;
}

/* Appends one gzip member to `to`, of `room` bytes; returns its size. */
static size_t
gzip(void *text, size_t size, uint8_t *to, size_t room)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(
        deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY),
        Z_OK);
    z.next_in = text;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = room - z.avail_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
    return made;
}

static enum sotto_status
gunzip(const uint8_t *from, size_t size, size_t limit)
{
    free(data);
    data = NULL;
    return gunzip_bytes(from, size, limit, "file.gz", &data, &data_size, &err);
}

static void
refuse(const uint8_t *from, size_t size, size_t limit,
       enum sotto_status expected, const char *message)
{
    data_size = 12345;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(gunzip(from, size, limit), expected);
    assert_int_equal(err.status, expected);
    assert_non_null(strstr(err.message, "file.gz: "));
    assert_non_null(strstr(err.message, message));
    assert_true(err.position <= size);
    assert_null(data);
    assert_int_equal(data_size, 12345);
}

/* ---- Tests -------------------------------------------------------------- */

static void
test_detect(void **state)
{
    (void)state;
    assert_true(gunzip_detect((const uint8_t *)"\x1f\x8b", 2));
    assert_false(gunzip_detect((const uint8_t *)"\x1f\x8b", 1));
    assert_false(gunzip_detect((const uint8_t *)"\x1f\x8c", 2));
    assert_false(gunzip_detect(NULL, 0));
}

static void
test_members(void **state)
{
    char first[] = "a,b\n", second[] = "1,2\n";
    uint8_t file[256];
    (void)state;
    size_t size = gzip(first, 4, file, sizeof file);
    assert_int_equal(gunzip(file, size, NO_LIMIT), SOTTO_STATUS_OK);
    assert_int_equal(data_size, 4);
    assert_memory_equal(data, "a,b\n", 4);

    size += gzip(first, 0, file + size, sizeof file - size);
    size += gzip(second, 4, file + size, sizeof file - size);
    assert_int_equal(gunzip(file, size, NO_LIMIT), SOTTO_STATUS_OK);
    assert_int_equal(data_size, 8);
    assert_memory_equal(data, "a,b\n1,2\n", 8);

    size = gzip(first, 0, file, sizeof file);
    assert_int_equal(gunzip(file, size, NO_LIMIT), SOTTO_STATUS_OK);
    assert_int_equal(data_size, 0);
    assert_non_null(data);
}

/* Past the first buffers, with text that does not repeat. */
static void
test_long(void **state)
{
    const size_t length = 700001;
    uint8_t *text = malloc(length);
    uint8_t *file = malloc(length + 1000);
    uint32_t noise = 1;
    (void)state;
    assert_non_null(text);
    assert_non_null(file);
    for (size_t i = 0; i < length; i++) {
        noise = noise * 1664525u + 1013904223u;
        text[i] = (uint8_t)(noise >> 27);
    }
    size_t size = gzip(text, length, file, length + 1000);
    assert_int_equal(gunzip(file, size, NO_LIMIT), SOTTO_STATUS_OK);
    assert_int_equal(data_size, length);
    assert_memory_equal(data, text, length);
    free(text);
    free(file);
}

/* Every prefix is cut short, except where a member just ends. */
static void
test_truncated(void **state)
{
    char text[] = "some text, some text, some other text\n";
    uint8_t file[256];
    (void)state;
    size_t size = gzip(text, strlen(text), file, sizeof file);
    for (size_t cut = 2; cut < size; cut++) {
        refuse(file, cut, NO_LIMIT, SOTTO_STATUS_INPUT,
               "the gzip data is cut short after");
        assert_int_equal(err.position, cut);
    }
}

static void
test_corrupt(void **state)
{
    char text[] = "some text, some text, some other text\n";
    uint8_t file[256];
    (void)state;
    size_t size = gzip(text, strlen(text), file, sizeof file);
    file[size - 8] ^= 1; /* the check sum */
    refuse(file, size, NO_LIMIT, SOTTO_STATUS_INPUT,
           "the gzip data is corrupt (incorrect data check)");
    file[size - 8] ^= 1;
    file[size - 1] ^= 1; /* the length, the last byte there is */
    refuse(file, size, NO_LIMIT, SOTTO_STATUS_INPUT,
           "the gzip data is corrupt (incorrect length check)");
    file[size - 1] ^= 1;
    file[2] = 7; /* no such method */
    refuse(file, size, NO_LIMIT, SOTTO_STATUS_INPUT,
           "the gzip data is corrupt (unknown compression method)");
    file[2] = 8;
    memcpy(file + size, "tail", 4);
    refuse(file, size + 4, NO_LIMIT, SOTTO_STATUS_INPUT,
           "4 bytes that are not gzip follow the gzip data");
    assert_int_equal(err.position, size);
    assert_int_equal(gunzip(file, size, NO_LIMIT), SOTTO_STATUS_OK);
}

/* The ceiling holds for all members together, to the byte. */
static void
test_limit(void **state)
{
    static char zeros[200000];
    static uint8_t file[4096];
    (void)state;
    size_t size = gzip(zeros, sizeof zeros, file, sizeof file);
    size += gzip(zeros, 5, file + size, sizeof file - size);
    assert_int_equal(gunzip(file, size, 200005), SOTTO_STATUS_OK);
    assert_int_equal(data_size, 200005);
    refuse(file, size, 200004, SOTTO_STATUS_LIMIT,
           "decompresses to more than 200004 bytes, the most that is read: "
           "split the file");
    refuse(file, size, 1, SOTTO_STATUS_LIMIT, "more than 1 bytes");
    refuse(file, size, 0, SOTTO_STATUS_LIMIT, "more than 0 bytes");
}

static void
test_memory(void **state)
{
    static char zeros[200000];
    static uint8_t file[4096];
    enum sotto_status status;
    long n = 0;
    (void)state;
    size_t size = gzip(zeros, sizeof zeros, file, sizeof file);
    do {
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(++n);
        status = gunzip(file, size, NO_LIMIT);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(err.status, SOTTO_STATUS_MEMORY);
            assert_string_equal(err.message, "out of memory");
            assert_null(data);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_int_equal(data_size, sizeof zeros);
    assert_true(n > 4);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_detect),    TEST(test_members), TEST(test_long),
        TEST(test_truncated), TEST(test_corrupt), TEST(test_limit),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
