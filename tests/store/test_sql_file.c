/*
 * test_sql_file.c: SQLite files of ours: made whole or not at all, and opened
 * only if they are of the kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "scratch.h"

#include "store/sql_file.h"

static const struct sql_kind kind = {.application = 7,
                                     .version = 2,
                                     .schema = "CREATE TABLE a (x);"
                                               "CREATE TABLE b (y)",
                                     .none = "; look elsewhere",
                                     .other = "; take another"};
static struct sotto_error err;

static int
setup(void **state)
{
    (void)state;
    return scratch_make();
}

static int
teardown(void **state)
{
    (void)state;
    return scratch_remove();
}

static enum sotto_status
make(const char *path, const struct sql_kind *as)
{
    struct sql sql = {NULL, path, "thing"};
    enum sotto_status status = sql_file_build(&sql, as, &err);
    if (status == SOTTO_STATUS_OK) {
        status = sql_file_write(&sql, &err);
    }
    (void)sqlite3_close(sql.db);
    return status;
}

static void
check(const char *path, enum sotto_status wanted, const char *message)
{
    struct sql sql = {NULL, path, "thing"};
    enum sotto_status status =
        sql_file_open(&sql, &kind, SQLITE_OPEN_READONLY, &err);
    if (status == SOTTO_STATUS_OK) {
        status = sql_file_tables(&sql, &kind, &err);
    }
    assert_int_equal(status, wanted);
    assert_true(wanted == SOTTO_STATUS_OK ||
                strstr(err.message, message) != NULL);
    (void)sqlite3_close(sql.db);
}

static void
test_kind(void **state)
{
    struct sql_kind other = kind;
    (void)state;
    assert_int_equal(make(in_folder("fine"), &kind), SOTTO_STATUS_OK);
    check(in_folder("fine"), SOTTO_STATUS_OK, "");
    assert_int_equal(make(in_folder("fine"), &kind), SOTTO_STATUS_IO);
    check(in_folder("none"), SOTTO_STATUS_IO, "there is no thing '");
    check(in_folder("none"), SOTTO_STATUS_IO, "; look elsewhere");
    other.application = 8;
    assert_int_equal(make(in_folder("other"), &other), SOTTO_STATUS_OK);
    check(in_folder("other"), SOTTO_STATUS_FORMAT, "no thing; take another");
    other = kind;
    other.version = 3;
    assert_int_equal(make(in_folder("newer"), &other), SOTTO_STATUS_OK);
    check(in_folder("newer"), SOTTO_STATUS_FORMAT, "a thing of version 3, and");
    other = kind;
    other.schema = "CREATE TABLE a (x)";
    assert_int_equal(make(in_folder("less"), &other), SOTTO_STATUS_OK);
    check(in_folder("less"), SOTTO_STATUS_FORMAT, "not those of a thing");
}

static void
test_settle(void **state)
{
    (void)state;
    assert_int_equal(make(in_folder("l"), &kind), SOTTO_STATUS_OK);
    assert_int_equal(sql_file_settle(in_folder("l"), &err), SOTTO_STATUS_OK);
    assert_int_equal(sql_file_settle("/", &err), SOTTO_STATUS_OK);
    assert_int_equal(sql_file_settle(in_folder("no"), &err), SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "No such file"));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(test_kind), TEST(test_settle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
