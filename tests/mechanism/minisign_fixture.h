/*
 * minisign_fixture.h: a key pair, data and signature that minisign 0.11 made,
 * for tests only; a folder to work in; assertions on errors; and entropy that
 * can be made to fail. For one test program: it defines what it declares.
 */
#ifndef SOTTO_TESTS_MINISIGN_FIXTURE_H
#define SOTTO_TESTS_MINISIGN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"
#include "sotto/sotto.h"

#define STOCK_KEY                                                              \
    "untrusted comment: minisign encrypted secret key\n"                       \
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" \
    "37n2MQ8TkkjN0iuhHcCsRkSaI2wNpITOGKMBQsRP3kYNTqmTOPSpAu7fljAj4MyLwfkeyOG2" \
    "eKiwKY+DwUuBsNRWDC45j+c7AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
#define STOCK_PUB                                                              \
    "untrusted comment: minisign public key 4892130F31F6B9DF\n"                \
    "RWTfufYxDxOSSO7fljAj4MyLwfkeyOG2eKiwKY+DwUuBsNRWDC45j+c7\n"
#define STOCK_DATA "sotto voce\n"
#define STOCK_COMMENT "a trusted comment"
#define STOCK_SIGNATURE                                                        \
    "untrusted comment: an untrusted comment\n"                                \
    "RUTfufYxDxOSSDwHPjbl1srbwZPatdiBIE6zL1ptRVo0JEv/ZA69XwgQNhK/r/9544TXDhrI" \
    "tCwJ9IDhVwDITqkdM6rtqYoOxgA=\n"                                           \
    "trusted comment: a trusted comment\n"                                     \
    "cnjmKshSqVnMHeCdAERnPmG1XaARbM5SZdsqoehOLOkDSJuQ7Bs2O9+QK5tX/c2KJp6dXAzI" \
    "p/DUrk13KdfBDA==\n"

static struct sotto_error err;

/* The n-th call of sotto_entropy from now fails, once; 0: none does. */
static long entropy_fails_at;

int
sotto_entropy(void *buffer, size_t size)
{
    if (entropy_fails_at > 0 && --entropy_fails_at == 0) {
        return -1;
    }
    return getrandom(buffer, size, 0) == (ssize_t)size ? 0 : -1;
}

static inline void
poison(void)
{
    memset(&err, 0xa5, sizeof err);
}

static inline int
setup(void **state)
{
    (void)state;
    entropy_fails_at = 0;
    poison();
    return scratch_make();
}

static inline int
teardown(void **state)
{
    (void)state;
    return scratch_remove();
}

static inline void
put(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* A small file's text, terminated; the caller frees it. */
static inline char *
get(const char *path)
{
    char *text = calloc(1, 20000);
    FILE *file = fopen(path, "rb");
    assert_non_null(text);
    assert_non_null(file);
    assert_true(fread(text, 1, 19999, file) < 19999);
    (void)fclose(file);
    return text;
}

static inline bool
exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* Checks what was returned and what was said, and poisons again. */
static inline void
assert_error(enum sotto_status got, enum sotto_status expected,
             const char *message)
{
    assert_int_equal(got, expected);
    assert_int_equal(err.status, expected);
    assert_true(err.position < 20000);
    assert_non_null(memchr(err.message, '\0', sizeof err.message));
    if (strstr(err.message, message) == NULL) {
        fail_msg("'%s' is not in '%s'", message, err.message);
    }
    poison();
}

#endif
