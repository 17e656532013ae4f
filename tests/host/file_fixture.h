/*
 * file_fixture.h: a folder for each test, and what is in it: for the tests of
 * reading and writing files.
 */
#ifndef SOTTO_TESTS_FILE_FIXTURE_H
#define SOTTO_TESTS_FILE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "host/file.h"
#include "scratch.h"

#define BUFFER ((size_t)65536) /* the size of output.c's own, and file.c's */

static struct sotto_error err;

static inline int
setup(void **state)
{
    (void)state;
    (void)umask(022);
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    return scratch_make();
}

static inline int
teardown(void **state)
{
    (void)state;
    return scratch_remove();
}

static inline void
put(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void
assert_content(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *found = malloc(size + 2);
    assert_non_null(found);
    assert_int_equal(fread(found, 1, size + 2, file), size);
    assert_memory_equal(found, data, size);
    free(found);
    (void)fclose(file);
}

static inline void
assert_error(enum sotto_status got, enum sotto_status expected,
             const char *message)
{
    assert_int_equal(got, expected);
    assert_int_equal(err.status, expected);
    assert_int_equal(err.position, 0);
    assert_non_null(memchr(err.message, '\0', sizeof err.message));
    if (strstr(err.message, message) == NULL) {
        fail_msg("'%s' is not in '%s'", message, err.message);
    }
    memset(&err, 0xa5, sizeof err);
}

/* Permissions do not bind root: until become_self, a test that root runs is
   nobody. Nothing may be asserted between, or a failure leaves it so. */
#define NOBODY ((uid_t)65534)

static inline void
become_nobody(void)
{
    if (getuid() == 0) {
        assert_int_equal(seteuid(NOBODY), 0);
    }
}

static inline void
become_self(void)
{
    if (getuid() == 0) {
        assert_int_equal(seteuid(0), 0);
    }
}

/* Bytes that repeat only after 251 of them. */
static inline uint8_t *
pattern(size_t size)
{
    uint8_t *data = malloc(size);
    assert_non_null(data);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)(i % 251);
    }
    return data;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
