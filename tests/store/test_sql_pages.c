/*
 * test_sql_pages.c: the rows that SQLite wrote are found in the bytes alone,
 * all of them, as they are; from the file and from its log; and whatever byte
 * is wrong, what a sound page gives was written, and one byte is put right.
 */
#include "store_file.h"

#include "fail_alloc.h"
#include "host/checksum.h"
#include "store/sql_pages.h"

#include <sqlite3.h>

#define ROWS 400

static const char tables[] =
    "CREATE TABLE narrow (a INTEGER PRIMARY KEY, b INTEGER, c TEXT, d REAL);"
    "CREATE TABLE wide (a INTEGER PRIMARY KEY, b BLOB);"
    "CREATE TABLE bare (a INTEGER, b BLOB, c BLOB, PRIMARY KEY (a, b)) "
    "WITHOUT ROWID;";

static void
run_sql(sqlite3 *db, const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) {
        fail_msg("%s: %s", text, sqlite3_errmsg(db));
    }
}

/* Rows of every size about the limits of a page, and integers of every size. */
static void
fill(sqlite3 *db, int first, int last)
{
    sqlite3_stmt *narrow = NULL, *wide = NULL, *bare = NULL;
    static uint8_t bytes[20000];
    run_sql(db, "BEGIN");
    assert_int_equal(
        sqlite3_prepare_v2(
            db, "INSERT OR REPLACE INTO narrow VALUES (?1, ?2, ?3, 0.5)", -1,
            &narrow, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO wide VALUES (?1, ?2)",
                                        -1, &wide, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "INSERT INTO bare VALUES (?1, ?2, ?3)",
                                        -1, &bare, NULL),
                     SQLITE_OK);
    for (int i = first; i < last; i++) {
        uint64_t random = mix((uint64_t)i);
        sqlite3_int64 key = (sqlite3_int64)(random >> (i % 60));
        for (size_t j = 0; j < sizeof bytes; j++) {
            bytes[j] = (uint8_t)mix(random + j);
        }
        sqlite3_bind_int64(narrow, 1, key);
        sqlite3_bind_int64(narrow, 2, (i % 2 == 0 ? 1 : -1) * (key >> i % 50));
        sqlite3_bind_text(narrow, 3, "text", i % 5, SQLITE_STATIC);
        sqlite3_bind_int64(wide, 1, i);
        sqlite3_bind_blob(wide, 2, bytes,
                          i % 7 == 0 ? (int)(random % sizeof bytes)
                                     : 4036 + i % 40,
                          SQLITE_STATIC);
        sqlite3_bind_int(bare, 1, i % 3);
        sqlite3_bind_blob(bare, 2, bytes, 16, SQLITE_STATIC);
        sqlite3_bind_blob(bare, 3, bytes, i % 11 == 0 ? 985 + i % 40 : i % 90,
                          SQLITE_STATIC);
        assert_int_equal(sqlite3_step(narrow), SQLITE_DONE);
        assert_int_equal(sqlite3_step(wide), SQLITE_DONE);
        assert_int_equal(sqlite3_step(bare), SQLITE_DONE);
        sqlite3_reset(narrow);
        sqlite3_reset(wide);
        sqlite3_reset(bare);
    }
    sqlite3_finalize(narrow);
    sqlite3_finalize(wide);
    sqlite3_finalize(bare);
    run_sql(db, "COMMIT");
}

static sqlite3 *
make_database(const char *path)
{
    sqlite3 *db = NULL;
    int reserved = 4;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved),
        SQLITE_OK);
    run_sql(db, "PRAGMA page_size=4096; PRAGMA secure_delete=ON;"
                "PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=OFF");
    run_sql(db, tables);
    return db;
}

/* What the bytes of a page need to be taken for sound. */
static void
seal(struct bytes *file)
{
    struct sql_pages *pages = NULL;
    for (size_t at = 0; at + PAGE <= file->size; at += PAGE) {
        uint32_t number = (uint32_t)(at / PAGE) + 1;
        uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8),
                            (uint8_t)(number >> 16), (uint8_t)(number >> 24)};
        host_checksum_write(host_checksum(host_checksum(0, bytes, 4),
                                          file->data + at, SQL_PAGE_USED),
                            file->data + at + SQL_PAGE_USED);
    }
    (void)pages;
}

/* ---- What is found ------------------------------------------------------- */

struct finding {
    sqlite3 *db; /* with the rows that were put */
    size_t rows[3], wrong, sound;
    bool all; /* every row must be one of them */
};

static bool
same_cell(const struct sql_cell *cell, sqlite3_stmt *row, int column)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
        return cell->kind == SQL_CELL_INTEGER &&
               cell->number == sqlite3_column_int64(row, column);
    case SQLITE_FLOAT:
        return cell->kind == SQL_CELL_REAL;
    case SQLITE_NULL:
        return cell->kind == SQL_CELL_NULL;
    default:
        return (int)cell->kind ==
                   (sqlite3_column_type(row, column) == SQLITE_TEXT
                        ? SQL_CELL_TEXT
                        : SQL_CELL_BLOB) &&
               cell->size == (size_t)sqlite3_column_bytes(row, column) &&
               (cell->size == 0 ||
                memcmp(cell->bytes, sqlite3_column_blob(row, column),
                       cell->size) == 0);
    }
}

/* Whether the database has that row; which table's it is: 3: none's. */
static bool
was_put(sqlite3 *db, const struct sql_row *row, size_t *ret_table)
{
    static const char *const query[] = {
        "SELECT NULL, b, c, d FROM narrow WHERE a = ?1",
        "SELECT NULL, b FROM wide WHERE a = ?1",
        "SELECT a, b, c FROM bare WHERE a = ?1 AND b = ?2"};
    sqlite3_stmt *select = NULL;
    *ret_table = row->keyed ? (row->columns == 4   ? 0
                               : row->columns == 2 ? 1
                                                   : 3)
                            : (row->columns == 3 ? 2 : 3);
    if (*ret_table == 3) {
        return row->keyed && row->columns == 5; /* the schema's */
    }
    assert_int_equal(
        sqlite3_prepare_v2(db, query[*ret_table], -1, &select, NULL),
        SQLITE_OK);
    sqlite3_bind_int64(select, 1,
                       row->keyed ? row->rowid : row->column[0].number);
    if (!row->keyed) {
        sqlite3_bind_blob(select, 2, row->column[1].bytes,
                          (int)row->column[1].size, SQLITE_TRANSIENT);
    }
    bool same = sqlite3_step(select) == SQLITE_ROW;
    for (size_t i = 0; same && i < row->columns; i++) {
        same = same_cell(&row->column[i], select, (int)i);
    }
    sqlite3_finalize(select);
    return same;
}

static enum sotto_status
find(void *context, const struct sql_row *row, struct sotto_error *err)
{
    struct finding *finding = context;
    size_t table = 3;
    (void)err;
    bool same = was_put(finding->db, row, &table);
    finding->wrong += !same && row->state <= SQL_PAGE_MENDED;
    finding->sound += row->state == SQL_PAGE_SOUND;
    if (table < 3) {
        finding->rows[table]++;
    }
    if (finding->all) {
        assert_true(same);
    }
    return SOTTO_STATUS_OK;
}

static void
find_all(struct sql_pages *pages, struct finding *finding)
{
    for (uint32_t i = 1; i <= sql_pages_count(pages); i++) {
        (void)sql_pages_take(pages, i);
        MUST(sql_pages_rows(pages, find, finding, &said));
    }
}

static size_t
count_rows(sqlite3 *db, const char *table)
{
    char text[64];
    sqlite3_stmt *select = NULL;
    (void)snprintf(text, sizeof text, "SELECT count(*) FROM %s", table);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &select, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    size_t count = (size_t)sqlite3_column_int64(select, 0);
    sqlite3_finalize(select);
    return count;
}

static void
expect_all(struct sql_pages *pages, sqlite3 *db)
{
    struct finding finding = {.db = db, .all = true};
    find_all(pages, &finding);
    assert_int_equal(finding.rows[0], count_rows(db, "narrow"));
    assert_int_equal(finding.rows[1], count_rows(db, "wide"));
    assert_int_equal(finding.rows[2], count_rows(db, "bare"));
}

static struct sql_pages *
open_file(const char *path)
{
    struct sql_pages *pages = NULL;
    MUST(sql_pages_open(path, &pages, &said));
    return pages;
}

/* ---- Tests --------------------------------------------------------------- */

/* Every row, once, whatever size it has and wherever it goes on; none that was
   deleted. */
static void
test_every_row(void **state)
{
    const char *path = new_path();
    sqlite3 *db = make_database(path);
    (void)state;
    fill(db, 0, ROWS);
    struct sql_pages *pages = open_file(path);
    assert_int_equal(sql_pages_logged(pages), 0);
    expect_all(pages, db);
    sql_pages_close(pages);
    run_sql(db, "DELETE FROM wide WHERE a % 3 = 0; DELETE FROM narrow WHERE "
                "b > 0; DELETE FROM bare WHERE a = 1");
    pages = open_file(path);
    expect_all(pages, db);
    sql_pages_close(pages);
    sqlite3_close(db);
}

/* What the log has stands for what the file has, as far as SQLite itself would
   believe it. */
static void
test_log(void **state)
{
    const char *path = new_path();
    sqlite3 *db = make_database(path);
    (void)state;
    run_sql(db, "PRAGMA journal_mode=WAL");
    fill(db, 0, ROWS / 4);
    run_sql(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    run_sql(db, "DELETE FROM wide WHERE a % 2 = 0");
    fill(db, ROWS / 4, ROWS / 2);
    run_sql(db, "VACUUM");
    fill(db, ROWS / 2, ROWS);
    struct bytes file = raw(path, ""), log = raw(path, "-wal");
    struct sql_pages *pages = NULL;
    MUST(sql_pages_open_bytes(file.data, file.size, log.data, log.size, &pages,
                              &said));
    assert_true(sql_pages_logged(pages) > 0);
    expect_all(pages, db);
    sql_pages_close(pages);
    sqlite3_close(db);
    for (size_t i = 0; i < 24; i++) {
        const char *copy = new_path();
        char name[700];
        size_t at = 32 + mix(i) % (log.size - 32);
        (void)snprintf(name, sizeof name, "%s-wal", copy);
        FILE *to = fopen(copy, "wb"), *to_log = fopen(name, "wb");
        if (i % 2 == 0) {
            log.data[at] ^= 4; /* else it is cut there */
        }
        assert_int_equal(fwrite(file.data, 1, file.size, to), file.size);
        (void)fwrite(log.data, 1, i % 2 == 0 ? log.size : at, to_log);
        assert_int_equal(fclose(to), 0);
        assert_int_equal(fclose(to_log), 0);
        MUST(sql_pages_open(copy, &pages, &said));
        assert_int_equal(sqlite3_open(copy, &db), SQLITE_OK);
        expect_all(pages, db);
        sqlite3_close(db);
        sql_pages_close(pages);
        if (i % 2 == 0) {
            log.data[at] ^= 4;
        }
    }
    free(file.data);
    free(log.data);
}

/* One byte that is wrong is put right, wherever it is. */
static void
test_mended(void **state)
{
    const char *path = new_path();
    const char *full = getenv("SOTTO_FULL");
    size_t step = full != NULL && strcmp(full, "1") == 0 ? 1 : 61;
    sqlite3 *db = make_database(path);
    struct sql_pages *pages = NULL;
    (void)state;
    fill(db, 0, ROWS / 10);
    struct bytes file = raw(path, "");
    seal(&file);
    for (size_t at = 0; at < file.size; at += step) {
        uint8_t change = (uint8_t)(mix(at) % 255 + 1);
        uint32_t number = (uint32_t)(at / PAGE) + 1;
        file.data[at] ^= change;
        MUST(
            sql_pages_open_bytes(file.data, file.size, NULL, 0, &pages, &said));
        assert_int_equal(sql_pages_take(pages, number), SQL_PAGE_MENDED);
        file.data[at] ^= change;
        assert_memory_equal(sql_pages_bytes(pages),
                            file.data + (number - 1) * (size_t)PAGE, PAGE);
        sql_pages_doubt(pages);
        assert_int_equal(sql_pages_bytes(pages)[at % PAGE],
                         file.data[at] ^ change);
        sql_pages_close(pages);
    }
    MUST(sql_pages_open_bytes(file.data, file.size, NULL, 0, &pages, &said));
    expect_all(pages, db);
    sql_pages_close(pages);
    sqlite3_close(db);
    free(file.data);
}

/* Two bytes and more: what a sound page gives was put, and pages are told from
   each other; nothing is read that is not there. */
static void
test_damaged(void **state)
{
    const char *path = new_path();
    const char *full = getenv("SOTTO_FULL");
    size_t step = full != NULL && strcmp(full, "1") == 0 ? 3 : 301;
    sqlite3 *db = make_database(path);
    struct sql_pages *pages = NULL;
    size_t mended = 0, tries = 0;
    (void)state;
    fill(db, 0, ROWS / 10);
    struct bytes file = raw(path, "");
    seal(&file);
    for (size_t at = 0; at < file.size; at += step) {
        struct bytes bad = {malloc(file.size), file.size - mix(at) % 5000};
        struct finding finding = {.db = db};
        size_t size = 2 + mix(at + 1) % 64;
        memcpy(bad.data, file.data, bad.size);
        for (size_t i = at; i < at + size && i < bad.size; i++) {
            bad.data[i] = (uint8_t)mix(at + i);
        }
        MUST(sql_pages_open_bytes(bad.data, bad.size, NULL, 0, &pages, &said));
        enum sql_page_state first =
            sql_pages_take(pages, (uint32_t)(at / PAGE) + 1);
        mended += first == SQL_PAGE_MENDED;
        tries++;
        if (first != SQL_PAGE_MENDED) {
            find_all(pages, &finding);
            assert_int_equal(finding.wrong, 0);
        }
        sql_pages_close(pages);
        free(bad.data);
    }
    assert_true(mended <= 2 + tries / 256);
    sqlite3_close(db);
    free(file.data);
}

/* A page in the place of another one is not sound. */
static void
test_place(void **state)
{
    const char *path = new_path();
    sqlite3 *db = make_database(path);
    struct sql_pages *pages = NULL;
    (void)state;
    fill(db, 0, 20);
    struct bytes file = raw(path, "");
    seal(&file);
    memcpy(file.data + 4 * (size_t)PAGE, file.data + 7 * (size_t)PAGE, PAGE);
    MUST(sql_pages_open_bytes(file.data, file.size, NULL, 0, &pages, &said));
    assert_int_equal(sql_pages_take(pages, 4), SQL_PAGE_SOUND);
    assert_int_equal(sql_pages_take(pages, 5), SQL_PAGE_DAMAGED);
    assert_int_equal(sql_pages_take(pages, sql_pages_count(pages) + 1),
                     SQL_PAGE_GONE);
    sql_pages_close(pages);
    sqlite3_close(db);
    free(file.data);
}

static enum sotto_status
ignore(void *context, const struct sql_row *row, struct sotto_error *err)
{
    (void)context;
    (void)row;
    (void)err;
    return SOTTO_STATUS_OK;
}

static void
test_memory(void **state)
{
    const char *path = new_path();
    sqlite3 *db = make_database(path);
    struct sql_pages *pages = NULL;
    long n = 0;
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    run_sql(db, "PRAGMA journal_mode=WAL");
    fill(db, 0, 20);
    assert_int_equal(sql_pages_open("/none/such", &pages, &said),
                     SOTTO_STATUS_IO);
    while (status != SOTTO_STATUS_OK) {
        pages = NULL;
        fail_alloc_at(++n);
        status = sql_pages_open(path, &pages, &said);
        for (uint32_t i = 1;
             status == SOTTO_STATUS_OK && i <= sql_pages_count(pages); i++) {
            (void)sql_pages_take(pages, i);
            status = sql_pages_rows(pages, ignore, NULL, &said);
        }
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        sql_pages_close(pages);
    }
    assert_true(n > 5);
    sqlite3_close(db);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row), cmocka_unit_test(test_log),
        cmocka_unit_test(test_mended),    cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_place),     cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
