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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
