/*
 * test_sql.c: what SQLite's results become.
 */
#include "ledger_fixture.h"

#include "store/sql.h"

static void
test_statuses(void **state)
{
    static const struct {
        int code;
        enum sotto_status status;
    } row[] = {
        {SQLITE_NOMEM, SOTTO_STATUS_MEMORY},
        {SQLITE_BUSY, SOTTO_STATUS_IO},
        {SQLITE_BUSY_RECOVERY, SOTTO_STATUS_IO},
        {SQLITE_FULL, SOTTO_STATUS_IO},
        {SQLITE_IOERR_FSYNC, SOTTO_STATUS_IO},
        {SQLITE_READONLY, SOTTO_STATUS_IO},
        {SQLITE_CONSTRAINT, SOTTO_STATUS_IO},
        {SQLITE_CORRUPT, SOTTO_STATUS_FORMAT},
        {SQLITE_NOTADB, SOTTO_STATUS_FORMAT},
        {SQLITE_ERROR, SOTTO_STATUS_FORMAT},
        {SQLITE_DONE, SOTTO_STATUS_FORMAT},
    };
    struct sql sql = {NULL, "some/file", "ledger"};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct sotto_error err = {0};
        assert_int_equal(sql_fail(&sql, row[i].code, &err), row[i].status);
        assert_int_equal(err.status, row[i].status);
        if (row[i].status != SOTTO_STATUS_MEMORY) {
            expect_in(err.message, "some/file");
        }
    }
}

static void
test_calls(void **state)
{
    struct sql sql = {NULL, "f", "ledger"};
    struct sotto_error err = {0};
    int64_t value = 7;
    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &sql.db), SQLITE_OK);
    assert_int_equal(sql_integer(&sql, "SELECT 5", &value, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(value, 5);
    assert_int_equal(sql_integer(&sql, "SELECT 5 WHERE 0", &value, &err),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(value, 5);
    assert_int_equal(sql_integer(&sql, "nonsense", &value, &err),
                     SOTTO_STATUS_FORMAT);
    expect_in(err.message, "nonsense");
    assert_int_equal(sql_expect(&sql, "SELECT 'a'", "a", "no", &err),
                     SOTTO_STATUS_OK);
    static const char *const others[] = {"SELECT 'b'", "SELECT NULL",
                                         "SELECT 'a' WHERE 0",
                                         "VALUES ('a'), ('a')"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(sql_expect(&sql, others[i], "a", "not so", &err),
                         SOTTO_STATUS_FORMAT);
        expect_in(err.message, "not so");
    }
    assert_int_equal(sql_run(&sql,
                             "SELECT sum(x) FROM (SELECT "
                             "9223372036854775807 AS x UNION SELECT 1)",
                             &err),
                     SOTTO_STATUS_FORMAT);
    expect_in(err.message, "overflow");
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
}

static void
test_values(void **state)
{
    struct sql sql = {NULL, "f", "ledger"};
    struct sotto_error err = {0};
    sqlite3_stmt *row = NULL;
    bool found = false;
    const struct sql_setting settings[] = {{"SELECT 'a'", "a", "not a"},
                                           {"SELECT 'b'", "a", "not b"},
                                           {NULL, NULL, NULL}};
    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &sql.db), SQLITE_OK);
    assert_int_equal(sql_run(&sql, "CREATE TABLE t (a UNIQUE, b, c, d)", &err),
                     SOTTO_STATUS_OK);
    const char *insert = "INSERT INTO t VALUES (?1, ?2, ?3, ?4)";
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            sql_execute(&sql, insert,
                        SQL_VALUES(SQL_NUMBER(INT64_MIN), SQL_BLOB("\0b", 2),
                                   SQL_TEXT("cut", 2), SQL_BLOB(NULL, 3)),
                        &err),
            i == 0 ? SOTTO_STATUS_OK : SOTTO_STATUS_IO);
    }
    assert_int_equal(sql_execute(&sql, "SELECT 1", SQL_NONE, &err),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(
        sql_execute(&sql, insert,
                    SQL_VALUES(SQL_NUMBER(1), SQL_NUMBER(1), SQL_NUMBER(1),
                               SQL_NUMBER(1), SQL_NUMBER(1)),
                    &err),
        SOTTO_STATUS_FORMAT);
    assert_int_equal(sql_first(&sql, "SELECT * FROM t WHERE a = ?1",
                               SQL_VALUES(SQL_NUMBER(INT64_MIN)), &row, &found,
                               &err),
                     SOTTO_STATUS_OK);
    assert_true(found);
    assert_int_equal(sqlite3_column_bytes(row, 1), 2);
    assert_memory_equal(sqlite3_column_blob(row, 1), "\0b", 2);
    assert_string_equal(sqlite3_column_text(row, 2), "cu");
    assert_int_equal(sqlite3_column_type(row, 3), SQLITE_NULL);
    assert_int_equal(sqlite3_finalize(row), SQLITE_OK);
    assert_int_equal(
        sql_first(&sql, "SELECT 1 WHERE 0", SQL_NONE, &row, &found, &err),
        SOTTO_STATUS_OK);
    assert_false(found);
    assert_int_equal(sqlite3_finalize(row), SQLITE_OK);
    assert_int_equal(sql_set(&sql, settings, &err), SOTTO_STATUS_FORMAT);
    expect_in(err.message, "not b");
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
}

/* Adds numbers up; a text is refused. */
static enum sotto_status
add_row(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    int64_t *sum = context;
    *sum += sqlite3_column_int64(row, 0);
    if (err != NULL) {
        err->status = SOTTO_STATUS_REFUSED;
    }
    return sqlite3_column_type(row, 0) == SQLITE_INTEGER ? SOTTO_STATUS_OK
                                                         : SOTTO_STATUS_REFUSED;
}

static void
test_rows(void **state)
{
    struct sql sql = {NULL, "f", "ledger"};
    struct sotto_error err = {0};
    int64_t number = 0, sum = 0;
    uint8_t bytes[3] = {7, 7, 7};
    const struct sql_target *both =
        SQL_TARGETS(SQL_INTO_BLOB(bytes, 2), SQL_INTO(&number));
    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &sql.db), SQLITE_OK);
    assert_int_equal(sql_read(&sql, "SELECT x'0a0b', ?1",
                              SQL_VALUES(SQL_NUMBER(-5)), both, &err),
                     SOTTO_STATUS_OK);
    assert_memory_equal(bytes, "\x0a\x0b\x07", 3);
    assert_int_equal(number, -5);
    static const char *const wrong[] = {"SELECT x'0a', 6", "SELECT NULL, 6",
                                        "SELECT x'0a0c', 6 WHERE 0"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sql_read(&sql, wrong[i], SQL_NONE, both, &err),
                         SOTTO_STATUS_FORMAT);
        expect_in(err.message, "'f' is damaged");
    }
    assert_memory_equal(bytes, "\x0a\x0b\x07", 3);
    assert_int_equal(sql_read(&sql, "SELECT x'0102', 1", SQL_NONE,
                              SQL_TARGETS(SQL_INTO_BLOB(NULL, 1)), &err),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(sql_each(&sql, "VALUES (1), (2), (?1)",
                              SQL_VALUES(SQL_NUMBER(4)), add_row, &sum, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sum, 7);
    assert_int_equal(
        sql_each(&sql, "SELECT 1 WHERE 0", SQL_NONE, add_row, &sum, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sum, 7);
    assert_int_equal(sql_each(&sql, "VALUES (1), ('no'), (4)", SQL_NONE,
                              add_row, &sum, &err),
                     SOTTO_STATUS_REFUSED);
    assert_int_equal(sum, 8);
    assert_int_equal(
        sql_each(&sql, "SELECT abs(column1) FROM (VALUES (3), (?1))",
                 SQL_VALUES(SQL_NUMBER(INT64_MIN)), add_row, &sum, &err),
        SOTTO_STATUS_FORMAT);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
