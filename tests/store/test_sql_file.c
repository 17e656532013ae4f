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
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"

#include "store/sql_file.h"

static const struct sql_kind kind = {.application = 7,
                                     .version = 2,
                                     .schema = "CREATE TABLE a (x);"
                                               "CREATE TABLE b (y)",
                                     .none = "; look elsewhere",
                                     .other = "; take another"};
static struct sotto_error err;

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

static mode_t
mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

/* What others may read is made private before it is written to, with what a
   kill left beside it; what is only read is left alone. */
static void
test_private(void **state)
{
    static const char *const name[] = {"p", "p-wal", "p-shm"};
    struct sql sql = {NULL, in_folder("p"), "thing"};
    sqlite3 *db = NULL;
    (void)state;
    assert_int_equal(make(sql.path, &kind), SOTTO_STATUS_OK);
    assert_int_equal(mode_of(sql.path), 0600);
    assert_int_equal(chmod(sql.path, 0664), 0);
    check(sql.path, SOTTO_STATUS_OK, "");
    assert_int_equal(mode_of(sql.path), 0664);
    assert_int_equal(sqlite3_open(sql.path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "PRAGMA journal_mode=WAL; INSERT INTO a VALUES (1)",
                     NULL, NULL, NULL),
        SQLITE_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(mode_of(in_folder(name[i])), 0664);
    }
    assert_int_equal(sql_file_open(&sql, &kind, SQLITE_OPEN_READWRITE, &err),
                     SOTTO_STATUS_OK);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(mode_of(in_folder(name[i])), 0600);
    }
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void
expect_resolved(const char *path, const char *wanted)
{
    char *real = NULL;
    assert_int_equal(sql_file_resolve(path, &real, &err), SOTTO_STATUS_OK);
    assert_string_equal(real, wanted);
    free(real);
}

/* One name for one file, there or not. */
static void
test_names(void **state)
{
    struct sql sql = {NULL, in_folder("a"), "thing"};
    char *real = NULL, *whole = realpath(folder, NULL), wanted[600], deep[600];
    (void)state;
    assert_non_null(whole);
    assert_int_equal(make(in_folder("a"), &kind), SOTTO_STATUS_OK);
    assert_int_equal(symlink("a", in_folder("b")), 0);
    assert_int_equal(symlink(".", in_folder("here")), 0);
    (void)snprintf(wanted, sizeof wanted, "%s/a", whole);
    expect_resolved(in_folder("a"), wanted);
    expect_resolved(in_folder("b"), wanted);
    (void)snprintf(deep, sizeof deep, "%s/here/b", folder);
    expect_resolved(deep, wanted);
    (void)snprintf(wanted, sizeof wanted, "%s/new", whole);
    (void)snprintf(deep, sizeof deep, "%s/here/new", folder);
    expect_resolved(deep, wanted);
    expect_resolved("/new.sotto.test", "/new.sotto.test");
    free(whole);
    (void)snprintf(deep, sizeof deep, "%s/none/new", folder);
    assert_int_equal(sql_file_resolve(deep, &real, &err), SOTTO_STATUS_IO);
    assert_int_equal(symlink("nothing", in_folder("c")), 0);
    assert_int_equal(sql_file_resolve(in_folder("c"), &real, &err),
                     SOTTO_STATUS_IO);
    assert_null(real);
    assert_int_equal(link(in_folder("a"), in_folder("d")), 0);
    assert_int_equal(sql_file_open(&sql, &kind, SQLITE_OPEN_READWRITE, &err),
                     SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "another name"));
    (void)sqlite3_close(sql.db);
    check(in_folder("d"), SOTTO_STATUS_OK, "");
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)
    const struct CMUnitTest tests[] = {TEST(test_kind), TEST(test_settle),
                                       TEST(test_private), TEST(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
