/*
 * direct_fixture.h: training the direct baseline into a scratch file.
 */
#ifndef SOTTO_TESTS_DIRECT_FIXTURE_H
#define SOTTO_TESTS_DIRECT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/device.h"
#include "sotto/sotto.h"
#include "train_fixture.h"

static char path[64];
static struct sotto_error err;

static inline int
setup(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/test_direct.XXXXXX");
    int fd = mkstemp(path);
    (void)unlink(path);
    return fd < 0 ? -1 : close(fd);
}

static inline int
teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

static inline struct sotto_table *
parse(const void *data, size_t size)
{
    struct sotto_table *table = NULL;
    if (sotto_table_parse(data, size, "-", NULL, &table, &err) !=
        SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return table;
}

static inline struct sotto_mechanism *
train(const struct sotto_table *table, const struct direct_options *options)
{
    struct sotto_mechanism *mechanism = NULL, *opened = NULL;
    struct sotto_mechanism_info read, made;
    if (train_direct(table, options, path, &opened, &err) != SOTTO_STATUS_OK ||
        sotto_mechanism_read(path, &mechanism, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    sotto_mechanism_info(mechanism, &read);
    sotto_mechanism_info(opened, &made);
    assert_string_equal(read.hash, made.hash);
    sotto_mechanism_free(opened);
    return mechanism;
}

/* Training must fail so, and leave no file. */
static inline void
assert_refused(const char *text, const struct direct_options *options,
               enum sotto_status expected, const char *message)
{
    struct sotto_table *table = parse(text, strlen(text));
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(train_direct(table, options, path, NULL, &err), expected);
    assert_int_equal(err.status, expected);
    if (strstr(err.message, message) == NULL) {
        fail_msg("'%s' is not in '%s'", message, err.message);
    }
    assert_int_equal(train_direct(table, options, path, NULL, NULL), expected);
    assert_int_equal(access(path, F_OK), -1);
    sotto_table_free(table);
}

#endif
