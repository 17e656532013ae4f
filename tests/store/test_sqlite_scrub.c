/*
 * test_sqlite_scrub.c: what is left in the files of the SQLite back-end, byte
 * by byte, and readers in the way of taking it off.
 */
#include "store_file.h"

#include "host/clock.h"
#include "store/sql_sums.h"

#include <math.h>
#include <sqlite3.h>

#include <sodium.h>

#define REPORTS 3000u
#define FEW 80u /* in one page */

/* ---- Raw bytes ----------------------------------------------------------- */

/* Something that is looked for: its first 8 bytes, and which report's it is. */
struct needle {
    uint64_t key;
    uint32_t report;
    uint32_t found;
    size_t at; /* where first */
};

static int
compare_needles(const void *a, const void *b)
{
    const struct needle *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Looks for all of them at every offset. */
static size_t
search(const struct bytes *in, struct needle *needle, size_t count)
{
    size_t found = 0;
    qsort(needle, count, sizeof *needle, compare_needles);
    for (size_t at = 0; at + 8 <= in->size; at++) {
        struct needle wanted = {0};
        memcpy(&wanted.key, in->data + at, 8);
        struct needle *hit =
            bsearch(&wanted, needle, count, sizeof *needle, compare_needles);
        if (hit != NULL) {
            hit->at = hit->found++ == 0 ? at : hit->at;
            found++;
        }
    }
    return found;
}

static int
compare_places(const void *a, const void *b)
{
    const struct needle *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * How far the order in the file follows that of arrival: Kendall's S over all
 * pairs (`within` 0) or those in the same page, by its standard deviation for
 * a random order. |z| > 5 has probability below 10^-6.
 */
static double
follows(struct needle *needle, size_t count, size_t within)
{
    double sum = 0, variance = 0;
    qsort(needle, count, sizeof *needle, compare_places);
    for (size_t first = 0, end = 0; first < count; first = end) {
        while (end < count && (within == 0 || needle[end].at / within ==
                                                  needle[first].at / within)) {
            end++;
        }
        for (size_t i = first; i < end; i++) {
            for (size_t j = i + 1; j < end; j++) {
                sum += needle[i].report < needle[j].report ? 1 : -1;
            }
        }
        double k = (double)(end - first);
        variance += k * (k - 1) * (2 * k + 5) / 18;
    }
    return sum / sqrt(variance > 0 ? variance : 1);
}

static void
expect_no_order(const char *what, struct needle *needle, size_t count)
{
    double all = follows(needle, count, 0);
    double page = follows(needle, count, PAGE);
    print_message("%-8s z = %5.2f in the file, %5.2f in its pages\n", what, all,
                  page);
    assert_true(fabs(all) < 5 && fabs(page) < 5);
}

static void
payload_needles(struct needle *needle, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = first + i;
        needle[i] =
            (struct needle){mix(number ^ 0x5a5a5a5a), (uint32_t)number, 0, 0};
    }
}

/* The test must be able to fail: a table that is filled as reports come. */
static void
test_search_finds_order(void **state)
{
    static struct needle needle[FEW];
    sqlite3 *db = NULL;
    sqlite3_stmt *insert = NULL;
    const char *path = new_path();
    uint8_t report[REPORT_SIZE];
    (void)state;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "PRAGMA synchronous=OFF; CREATE TABLE t (key BLOB PRIMARY "
                     "KEY, payload BLOB) WITHOUT ROWID; BEGIN",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO t VALUES (?1, ?2)", -1,
                                        &insert, NULL),
                     SQLITE_OK);
    for (uint64_t i = 0; i < FEW; i++) {
        fake_report(1, i, false, report);
        (void)sqlite3_bind_blob(insert, 1, sotto_report_id(report), 16,
                                SQLITE_STATIC);
        (void)sqlite3_bind_blob(insert, 2, report + REPORT_HEADER_SIZE,
                                PAYLOAD_SIZE, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(insert), SQLITE_DONE);
        (void)sqlite3_reset(insert);
    }
    (void)sqlite3_finalize(insert);
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    struct bytes file = raw(path, "");
    payload_needles(needle, 0, FEW);
    size_t found = search(&file, needle, FEW);
    assert_int_equal(found, FEW);
    double z = follows(needle, FEW, PAGE);
    print_message("%-8s z = %5.2f in its pages\n", "a table", z);
    assert_true(fabs(z) > 8);
    free(file.data);
}

/* The tags of reports, by the key in the file. */
static void
tag_needles(const char *path, struct needle *needle, size_t count)
{
    uint8_t key[32], tag[16], report[REPORT_SIZE];
    sqlite3 *db = NULL;
    sqlite3_stmt *select = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT tag_key FROM meta", -1, &select, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    memcpy(key, sqlite3_column_blob(select, 0), sizeof key);
    (void)sqlite3_finalize(select);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    for (size_t i = 0; i < count; i++) {
        fake_report(1, i, false, report);
        assert_int_equal(crypto_generichash_blake2b_salt_personal(
                             tag, sizeof tag, sotto_report_id(report), 16, key,
                             sizeof key, NULL,
                             (const unsigned char *)"sotto.tag\0\0\0\0\0\0"),
                         0);
        needle[i] = (struct needle){0, (uint32_t)i, 0, 0};
        memcpy(&needle[i].key, tag, 8);
    }
}

/* Leaves those that were found, each once: a payload across two pages of a
   blob is not. */
static size_t
keep_found(struct needle *needle, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(needle[i].found <= 1);
        needle[kept] = needle[i];
        kept += needle[i].found;
    }
    assert_true(kept + 1 + count / 100 >= count);
    return kept;
}

static void
look_for_ids(const struct bytes *file, size_t reports)
{
    static struct needle id[2 * REPORTS];
    for (uint64_t j = 0; j < reports; j++) {
        id[2 * j] = (struct needle){mix(j), (uint32_t)j, 0, 0};
        id[2 * j + 1] = (struct needle){mix(j + ID_SECOND), (uint32_t)j, 0, 0};
    }
    assert_int_equal(search(file, id, 2 * reports), 0);
}

/* All files of tags, one behind the other: those that there are. */
static struct bytes
raw_tags(const char *path)
{
    char command[1400], name[700];
    (void)snprintf(name, sizeof name, "%s.all", path);
    (void)snprintf(command, sizeof command, "cat '%s-tags'/* > '%s'", path,
                   name);
    assert_int_equal(system(command), 0);
    struct bytes bytes = raw(name, "");
    (void)unlink(name);
    return bytes;
}

/* No order of tags, neither of one window nor of several, and no copy of any:
   an older file would show which tags came later. */
static void
expect_no_order_in(const char *path, const struct bytes *file, size_t first,
                   size_t end)
{
    static struct needle tag[REPORTS];
    tag_needles(path, tag, end);
    memmove(tag, tag + first, (end - first) * sizeof *tag);
    assert_int_equal(search(file, tag, end - first), end - first);
    expect_no_order("seen", tag, end - first);
}

/* No id in any file; in the log nothing; in the store every payload once, and
   no order of reports 0 to `released` - 1 and the rest. */
static void
look_everywhere(const char *path, size_t reports, size_t released,
                size_t several)
{
    static struct needle tag[REPORTS], payload[REPORTS];
    struct bytes file = raw(path, ""), shared = raw(path, "-shm");
    struct bytes log = raw(path, "-wal");
    assert_int_equal(log.size, 0);
    look_for_ids(&file, reports);
    look_for_ids(&shared, reports);
    struct bytes tags = raw_tags(path);
    tag_needles(path, tag, reports);
    payload_needles(payload, 0, reports);
    look_for_ids(&tags, reports);
    assert_int_equal(search(&shared, tag, reports), 0);
    assert_int_equal(search(&shared, payload, reports), 0);
    assert_int_equal(search(&file, tag, reports), 0); /* not beside payloads */
    assert_int_equal(search(&tags, payload, reports), 0);
    assert_int_equal(search(&tags, tag, reports), reports);
    (void)search(&file, payload, reports);
    (void)keep_found(payload, reports);
    expect_no_order_in(path, &tags, 0, reports);
    expect_no_order_in(path, &tags, 0, released);
    for (size_t i = released, first = i; i < reports; i += 10) {
        if (i % several == 0 || i + 10 == reports) {
            expect_no_order_in(path, &tags, first, i + 10);
            first = i + 10;
        }
    }
    payload_needles(payload, 0, released);
    (void)search(&file, payload, released);
    expect_no_order("batch", payload, keep_found(payload, released));
    payload_needles(payload, released, reports - released);
    (void)search(&file, payload, reports - released);
    expect_no_order("held", payload, keep_found(payload, reports - released));
    free(file.data);
    free(tags.data);
    free(shared.data);
    free(log.data);
}

/* Half of the reports in a window that is released, half in one that is not,
   or in several. */
static void
leave_bytes(size_t reports, size_t several)
{
    static struct needle payload[REPORTS];
    const char *path = new_path();
    size_t half = reports / 2;
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    for (uint64_t i = 0; i < half; i += 10) {
        (void)put_many(store, c, i, i + 10);
    }
    struct bytes log = raw(path, "-wal"); /* there is something to remove */
    payload_needles(payload, 0, half);
    assert_true(search(&log, payload, half) >= half / 2);
    free(log.data);
    move_window(store, 100, 2);
    for (uint64_t i = half; i < reports; i += 10) {
        (void)put_many(store, c, i, i + 10);
        if (i % several == 0) {
            move_window(store, 100, 2 * REPORTS);
        }
    }
    move_window(store, 100, 2 * REPORTS);
    scrub(store);
    struct store_counts counts = counts_of(store, c);
    assert_int_equal(counts.released, half);
    assert_int_equal(counts.waiting, reports - half);
    look_everywhere(path, reports, half, several);
    store_free(store);
}

static void
test_raw_bytes(void **state)
{
    (void)state;
    leave_bytes(REPORTS, 500);
    leave_bytes(140, 1000); /* a page each */
    leave_bytes(140, 1000);
}

/* Somebody who deletes without zeros is found out. */
static void
test_dirty_pages(void **state)
{
    const char *path = new_path();
    sqlite3 *db = NULL;
    bool clean = false;
    (void)state;
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 2000);
    move_window(store, ALL, 5000);
    scrub(store);
    store_free(store);
    assert_int_equal(
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, SQL_SUMS_VFS),
        SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA secure_delete=OFF; DELETE FROM held",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    store = open_store(url);
    assert_int_equal(store_scrub(store, &clean, &said), SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "free pages"));
    store_free(store);
}

static void
test_modes(void **state)
{
    static const char *const suffix[] = {"", "-wal", "-shm", ".lock"};
    const char *path = new_path();
    (void)state;
    mode_t old = umask(0);
    struct store *store = open_store(url);
    (void)put_many(store, campaign_of(store, 1), 0, 5);
    for (size_t i = 0; i < 4; i++) {
        char name[700];
        struct stat info;
        (void)snprintf(name, sizeof name, "%s%s", path, suffix[i]);
        assert_int_equal(stat(name, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
    }
    (void)umask(old);
    store_free(store);
}

/* ---- Readers in the way -------------------------------------------------- */

static void
test_reader_in_the_way(void **state)
{
    const char *path = new_path();
    sqlite3 *db = NULL;
    bool clean = true;
    (void)state;
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 10);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "BEGIN; SELECT count(*) FROM held", NULL, NULL, NULL),
        SQLITE_OK);
    (void)put_many(store, c, 10, 20);
    MUST(store_scrub(store, &clean, &said));
    assert_false(clean);
    (void)put_many(store, c, 20, 30); /* writing goes on */
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    /* it rests after a look in vain, by what that took */
    for (double end = host_seconds() + 30; !clean && host_seconds() < end;) {
        MUST(store_scrub(store, &clean, &said));
    }
    assert_true(clean);
    store_free(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_finds_order),
        cmocka_unit_test(test_raw_bytes),
        cmocka_unit_test(test_dirty_pages),
        cmocka_unit_test(test_modes),
        cmocka_unit_test(test_reader_in_the_way),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
