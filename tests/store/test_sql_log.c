/*
 * test_sql_log.c: what of a log is sound, and what lies behind damage: nothing
 * where a transaction was rolled back or never ended, or where frames are of a
 * log before.
 */
#include "store_file.h"

#include "store/sql_log.h"

#include <sqlite3.h>

static char log_name[700];

static sqlite3 *
make(const char *options)
{
    sqlite3 *db = NULL;
    const char *path = new_path();
    (void)snprintf(log_name, sizeof log_name, "%s-wal", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"
                     "CREATE TABLE t (x BLOB)",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, options, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void
run(sqlite3 *db, const char *text)
{
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
}

static struct sql_log_look
look(void)
{
    struct sql_log_look found = {9, 9, 9, 9};
    MUST(sql_log_look(log_name, &found, &said));
    return found;
}

static void
flip(size_t at)
{
    FILE *file = fopen(log_name, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    assert_int_equal(fclose(file), 0);
}

#define FRAME(n) (SQL_LOG_HEADER + (n)*SQL_FRAME)
#define INSERT "INSERT INTO t VALUES (randomblob(900))"

static void
test_damage(void **state)
{
    (void)state;
    sqlite3 *db = make("");
    for (size_t i = 0; i < 5; i++) {
        run(db, INSERT);
    }
    struct sql_log_look all = look();
    assert_int_equal(all.commits, 6);
    assert_int_equal(all.damaged, 0);
    flip(FRAME(all.frames - 2) + 1000);
    assert_int_equal(look().frames, all.frames - 2);
    assert_int_equal(look().damaged, all.frames - 1);
    assert_true(look().lost >= 1 && look().lost <= 2);
    flip(FRAME(all.frames - 2) + 1000);
    for (size_t i = 0; i < SQL_FRAME_HEADER; i++) { /* of the last one */
        flip(FRAME(all.frames - 1) + i);
        assert_int_equal(look().lost, 1);
        flip(FRAME(all.frames - 1) + i);
    }
    for (size_t i = 0; i < SQL_LOG_HEADER; i++) {
        flip(i);
        assert_int_equal(look().frames, 0);
        assert_int_equal(look().lost, 6);
        flip(i);
    }
    assert_true(sql_log_has(log_name, 2));
    assert_false(sql_log_has(log_name, 900));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(look().frames, 0); /* it is gone */
}

static void
test_no_damage(void **state)
{
    (void)state;
    sqlite3 *db = make("PRAGMA cache_size=5");
    run(db, "BEGIN");
    for (size_t i = 0; i < 200; i++) {
        run(db, INSERT);
    }
    assert_int_equal(look().lost, 0); /* frames of what goes on */
    run(db, "UPDATE t SET x = randomblob(800)");
    assert_int_equal(look().lost, 0);
    run(db, "ROLLBACK");
    assert_int_equal(look().lost, 0);
    run(db, INSERT);
    assert_int_equal(look().lost, 0); /* some of them written over */
    assert_int_equal(look().commits, 2);
    for (size_t i = 0; i < 40; i++) {
        run(db, INSERT);
    }
    run(db, "PRAGMA wal_checkpoint(RESTART)");
    run(db, INSERT); /* the log begins anew, before the old frames */
    assert_int_equal(look().lost, 0);
    assert_int_equal(look().commits, 1);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static bool
is_sum(size_t at)
{
    size_t in = (at - SQL_LOG_HEADER) % SQL_FRAME;
    return in >= SQL_FRAME_SUM && in < SQL_FRAME_HEADER;
}

static struct bytes
raw_log(void)
{
    return raw(url + strlen("sqlite:"), "-wal");
}

static uint64_t
mend(void)
{
    uint64_t mended = 9;
    MUST(sql_log_mend(log_name, &mended, &said));
    return mended;
}

/* One byte of a frame is put right, but for the highest of a number; two are
   not. What was rolled back stays as it is. */
static void
test_mend(void **state)
{
    (void)state;
    sqlite3 *db = make("PRAGMA cache_size=5");
    run(db, "BEGIN");
    for (size_t i = 0; i < 200; i++) {
        run(db, INSERT);
    }
    run(db, "ROLLBACK");
    for (size_t i = 0; i < 4; i++) {
        run(db, INSERT);
    }
    uint64_t frames = look().frames;
    struct bytes log = raw_log();
    assert_true(log.size > FRAME(frames + 20));
    assert_int_equal(mend(), 0);
    assert_int_equal(log.data[3] & 1, 0); /* lowest first, but for sums */
    for (size_t at = 0; at < FRAME(frames);
         at += at < FRAME(1) - 4000 ? 1 : 61) {
        flip(at);
        bool seen = look().damaged != 0;
        bool highest = at >= SQL_LOG_HEADER && (at % 4 == 3 || is_sum(at));
        uint64_t mended = mend();
        assert_true(mended == seen || (highest && mended == 0));
        if (mended == 0) {
            flip(at);
        }
        assert_int_equal(look().frames, frames);
        assert_int_equal(look().damaged, 0);
        struct bytes after = raw_log();
        assert_memory_equal(after.data, log.data, log.size);
        free(after.data);
    }
    flip(FRAME(0) + 30);
    flip(FRAME(frames - 2) + 1000);
    assert_int_equal(mend(), 2);
    assert_int_equal(look().frames, frames);
    flip(FRAME(0) + 30);
    flip(FRAME(frames - 2) + 1000);
    flip(FRAME(frames - 2) + 2000);
    assert_int_equal(mend(), 1);
    assert_int_equal(look().frames, frames - 2);
    assert_true(look().damaged != 0);
    free(log.data);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_no_damage),
        cmocka_unit_test(test_mend),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
