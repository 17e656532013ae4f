/*
 * test_sql_sums.c: pages get sums and are looked at, from the file and from the
 * log, also where a transaction is longer than the cache; who is strict gets no
 * damaged page, and who is lenient gets it as it is.
 */
#include "store_file.h"

#include "store/sql_file.h"
#include "store/sql_log.h"
#include "store/sql_sums.h"

#define ROWS 400

static const struct sql_kind kind = {
    .application = 7,
    .version = 1,
    .schema = "CREATE TABLE t (n INTEGER PRIMARY KEY, data BLOB NOT NULL)",
    .summed = true,
    .none = "",
    .other = "",
    .options = "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0",
    .settings = (const struct sql_setting[]){
        {"PRAGMA journal_mode=WAL", "wal", "it has no log"},
        {NULL, NULL, NULL}}};

/* A file with rows of random bytes, and a connection to it. */
static struct sql
make(const char *path)
{
    struct sql built = {NULL, path, "file"}, sql = {NULL, path, "file"};
    MUST(sql_file_build(&built, &kind, &said));
    MUST(sql_file_write(&built, &said));
    assert_int_equal(sqlite3_close(built.db), SQLITE_OK);
    MUST(sql_file_open(&sql, &kind, SQLITE_OPEN_READWRITE, &said));
    MUST(sql_file_prepare(&sql, &kind, &said));
    return sql;
}

static void
fill(const struct sql *sql)
{
    for (int64_t i = 0; i < ROWS; i++) {
        uint8_t data[1000];
        memset(data, (int)i, sizeof data);
        MUST(sql_execute(sql, "INSERT INTO t VALUES (?1, ?2)",
                         SQL_VALUES(SQL_NUMBER(i), SQL_BLOB(data, 1000)),
                         &said));
    }
}

/* To close it does not. */
static void
write_back(const struct sql *sql)
{
    MUST(sql_run(sql, "PRAGMA wal_checkpoint(TRUNCATE)", &said));
}

static int64_t
count(const struct sql *sql)
{
    int64_t rows = 0;
    MUST(sql_integer(sql, "SELECT sum(length(data)) FROM t", &rows, &said));
    return rows / 1000;
}

/* Every page of the file fits, but the one that SQLite never writes. */
static void
expect_sums(const char *path)
{
    struct bytes file = raw(path, "");
    assert_int_equal(file.size % PAGE, 0);
    for (size_t i = 0; i < file.size / PAGE; i++) {
        assert_true(sql_sums_fit((uint32_t)i + 1, file.data + i * PAGE));
        assert_false(sql_sums_fit((uint32_t)i + 2, file.data + i * PAGE));
    }
    free(file.data);
}

/* Through the log, in transactions much longer than the cache, with savepoints
   and rollbacks; what is read in between is what was written. */
static void
test_long(void **state)
{
    const char *path = new_path();
    (void)state;
    struct sql sql = make(path);
    expect_sums(path);
    MUST(sql_run(&sql, "PRAGMA cache_size=10; BEGIN", &said));
    fill(&sql);
    MUST(sql_run(&sql, "UPDATE t SET data = zeroblob(1000)", &said));
    assert_int_equal(count(&sql), ROWS);
    MUST(sql_run(&sql, "SAVEPOINT s; DELETE FROM t WHERE n > 9", &said));
    MUST(sql_run(&sql, "ROLLBACK TO s", &said));
    assert_int_equal(count(&sql), ROWS);
    MUST(sql_run(&sql, "UPDATE t SET data = zeroblob(1000) WHERE n % 7 = 0",
                 &said));
    MUST(sql_run(&sql, "COMMIT; BEGIN; UPDATE t SET data = zeroblob(900)",
                 &said));
    MUST(sql_run(&sql, "ROLLBACK", &said));
    assert_int_equal(count(&sql), ROWS);
    MUST(sql_run(&sql, "DELETE FROM t WHERE n % 2 = 0", &said));
    assert_int_equal(count(&sql), ROWS / 2);
    assert_int_equal(sql_sums_bad(sql.db), 0);
    struct sql_log_look look = {0};
    char log[700];
    (void)snprintf(log, sizeof log, "%s-wal", path);
    MUST(sql_log_look(log, &look, &said));
    assert_int_equal(look.damaged, 0);
    assert_int_equal(look.commits, 2);
    write_back(&sql);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
    expect_sums(path);
}

static void
flip(const char *path, size_t at)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 4, file), byte ^ 4);
    assert_int_equal(fclose(file), 0);
}

/* A page of the file: refused, with its number; taken by who asks for it. */
static void
test_file(void **state)
{
    const char *path = new_path();
    int64_t rows = 0;
    (void)state;
    struct sql sql = make(path);
    fill(&sql);
    write_back(&sql);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
    flip(path, 20 * PAGE + 3000);
    sql.db = NULL;
    MUST(sql_file_open(&sql, &kind, SQLITE_OPEN_READWRITE, &said));
    assert_int_equal(
        sql_integer(&sql, "SELECT sum(length(data)) FROM t", &rows, &said),
        SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "page 21 of"));
    assert_non_null(strstr(said.message, "store repair"));
    const struct sql_sums *sums = sql_sums_of_connection(sql.db, "main");
    assert_int_equal(sums->bad, 1);
    assert_false(sums->log || sums->foreign);
    sql_sums_trust(sql.db, SQL_SUMS_LEAVES);
    assert_int_equal(count(&sql), ROWS);
    assert_int_equal(sums->bad, 2);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
}

/* A page of the log is not taken, neither by who reads it nor for the file: it
   would get a sum there. */
static void
test_log(void **state)
{
    const char *path = new_path();
    char log[700];
    int64_t rows = 0;
    (void)state;
    struct sql sql = make(path);
    MUST(sql_run(&sql, "BEGIN", &said));
    fill(&sql);
    MUST(sql_run(&sql, "COMMIT", &said));
    (void)snprintf(log, sizeof log, "%s-wal", path);
    (void)sqlite3_db_release_memory(sql.db);
    flip(log, SQL_LOG_HEADER + 30 * SQL_FRAME + SQL_FRAME_HEADER + 2000);
    assert_int_equal(
        sql_integer(&sql, "SELECT sum(length(data)) FROM t", &rows, &said),
        SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "-wal' is damaged"));
    assert_int_equal(sqlite3_wal_checkpoint_v2(
                         sql.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL),
                     SQLITE_IOERR);
    flip(log, SQL_LOG_HEADER + 30 * SQL_FRAME + SQL_FRAME_HEADER + 2000);
    assert_int_equal(count(&sql), ROWS);
    write_back(&sql);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
    expect_sums(path);
}

/* What another program writes has no sums, and is not taken. */
static void
test_foreign(void **state)
{
    const char *path = new_path();
    sqlite3 *db = NULL;
    (void)state;
    struct sql sql = make(path);
    fill(&sql);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "INSERT INTO t SELECT n + 1000, data "
                                  "FROM t",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    sql.db = NULL;
    assert_int_equal(sql_file_open(&sql, &kind, SQLITE_OPEN_READWRITE, &said),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(sqlite3_close(sql.db), SQLITE_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_foreign),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
