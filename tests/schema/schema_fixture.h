/*
 * schema_fixture.h: tables for the tests beside it.
 */
#ifndef SOTTO_TESTS_SCHEMA_FIXTURE_H
#define SOTTO_TESTS_SCHEMA_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/column.h"
#include "sotto/sotto.h"

static struct sotto_error err;

__attribute__((unused)) static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

__attribute__((unused)) static void
must_fail(enum sotto_status expected, const char *piece,
          enum sotto_status status)
{
    assert_int_equal(status, expected);
    if (strstr(err.message, piece) == NULL) {
        fail_msg("'%s' is not in '%s'", piece, err.message);
    }
}

/* Fits one column; `ret` is a schema of it, to be cleared. */
__attribute__((unused)) static enum sotto_status
fit(const struct sotto_table *table, size_t column,
    const struct schema_aim *aim, struct schema *ret)
{
    enum sotto_status status = schema_init(ret, 1, &err);
    if (status == SOTTO_STATUS_OK) {
        status = schema_fit(ret, table, column, aim, &err);
    }
    if (status != SOTTO_STATUS_OK) {
        schema_clear(ret);
    }
    return status;
}

__attribute__((unused)) static struct sotto_table *
parse(const char *text)
{
    struct sotto_table *table = NULL;
    must(sotto_table_parse(text, strlen(text), "-", NULL, &table, &err));
    return table;
}

#endif
