/*
 * test_store_sqlite.c: what is left in the files of the SQLite back-end, byte
 * by byte; damaged files, full disks, a lack of memory inside SQLite.
 */
#include "store_fixture.h"

#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <sodium.h>

#define PAGE 4096u
#define REPORTS 3000u
#define FEW 80u /* in one page */

static char url[600];
static sqlite3 *last; /* the connection that was opened last */

static int
remember(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    last = db;
    return SQLITE_OK;
}

static const char *
new_path(void)
{
    static unsigned number;
    char name[32];
    (void)snprintf(name, sizeof name, "s%u", number++);
    (void)snprintf(url, sizeof url, "sqlite:%s", in_folder(name));
    return url + strlen("sqlite:");
}

/* ---- Raw bytes ----------------------------------------------------------- */

struct bytes {
    uint8_t *data;
    size_t size;
};

/* A copy of a file as it is on disk: to open and close it here would lose
   SQLite its locks. */
static struct bytes
raw(const char *path, const char *suffix)
{
    char command[1400], copy[700];
    struct stat info;
    struct bytes bytes = {NULL, 0};
    (void)snprintf(copy, sizeof copy, "%s.copy", path);
    (void)snprintf(command, sizeof command, "cp '%s%s' '%s'", path, suffix,
                   copy);
    assert_int_equal(system(command), 0);
    assert_int_equal(stat(copy, &info), 0);
    bytes.size = (size_t)info.st_size;
    bytes.data = calloc(1, bytes.size + 1);
    FILE *file = fopen(copy, "rb");
    assert_non_null(bytes.data);
    assert_non_null(file);
    assert_int_equal(fread(bytes.data, 1, bytes.size, file), bytes.size);
    (void)fclose(file);
    (void)unlink(copy);
    return bytes;
}

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

/* No page has both tags and payloads. */
static void
expect_apart(struct needle *tag, size_t tags, struct needle *payload,
             size_t payloads)
{
    qsort(tag, tags, sizeof *tag, compare_places);
    qsort(payload, payloads, sizeof *payload, compare_places);
    for (size_t t = 0, p = 0; t < tags; t++) {
        while (p < payloads && payload[p].at / PAGE < tag[t].at / PAGE) {
            p++;
        }
        assert_true(p == payloads || payload[p].at / PAGE != tag[t].at / PAGE);
    }
}

/* No order of tags, neither of one window nor of several, and no copy of any:
   an older copy of a bucket would show which tags came later. */
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
    tag_needles(path, tag, reports);
    payload_needles(payload, 0, reports);
    assert_int_equal(search(&shared, tag, reports), 0);
    assert_int_equal(search(&shared, payload, reports), 0);
    assert_int_equal(search(&file, tag, reports), reports);
    (void)search(&file, payload, reports);
    expect_no_order_in(path, &file, 0, reports);
    expect_no_order_in(path, &file, 0, released);
    for (size_t i = released, first = i; i < reports; i += 10) {
        if (i % several == 0 || i + 10 == reports) {
            expect_no_order_in(path, &file, first, i + 10);
            first = i + 10;
        }
    }
    expect_apart(tag, reports, payload, keep_found(payload, reports));
    payload_needles(payload, 0, released);
    (void)search(&file, payload, released);
    expect_no_order("batch", payload, keep_found(payload, released));
    payload_needles(payload, released, reports - released);
    (void)search(&file, payload, reports - released);
    expect_no_order("held", payload, keep_found(payload, reports - released));
    free(file.data);
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
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
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
    scrub(store);
    store_free(store);
}

/* ---- Files that are no stores, or damaged -------------------------------- */

static void
spill(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void
expect_closed(const char *piece)
{
    struct store *store = NULL;
    struct store_reader *reader = NULL;
    assert_int_equal(store_open(url, false, &store, &said),
                     SOTTO_STATUS_FORMAT);
    if (strstr(said.message, piece) == NULL) {
        fail_msg("'%s' is not in '%s'", piece, said.message);
    }
    assert_int_equal(store_reader_open(url, &reader, NULL, &said),
                     SOTTO_STATUS_FORMAT);
    assert_null(store);
    assert_null(reader);
}

static void
alter(const char *path, const char *text)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void
test_not_a_store(void **state)
{
    struct store *store = NULL;
    (void)state;
    spill(new_path(), "hello", 5);
    expect_closed("no store");
    spill(new_path(), "", 0);
    expect_closed("no store");
    alter(new_path(), "CREATE TABLE t (x)");
    expect_closed("no store");
    const char *path = new_path();
    store_free(open_store(url));
    alter(path, "PRAGMA user_version=9");
    expect_closed("version 9");
    path = new_path();
    store_free(open_store(url));
    alter(path, "CREATE INDEX i ON campaign (name)");
    expect_closed("tables");
    path = new_path();
    char log[700];
    (void)snprintf(log, sizeof log, "%s-wal", path);
    spill(log, "x", 1);
    assert_int_equal(store_open(url, false, &store, &said),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(access(path, F_OK), -1);
    (void)snprintf(url, sizeof url, "sqlite:%s/none/s", folder);
    assert_int_equal(store_open(url, false, &store, &said), SOTTO_STATUS_IO);
}

/* What the tables say of each other is asked, too. */
static void
test_contradictions(void **state)
{
    static const char *const change[] = {
        ("INSERT OR REPLACE INTO seen SELECT 4294967296, "
         "substr(reports, 1, 16) FROM incoming_0"),
        ("UPDATE seen SET tags = CAST(substr(tags, 17) || substr(tags, 1, 16) "
         "AS BLOB)"),
        "UPDATE seen SET tags = CAST(tags || tags AS BLOB)",
        "UPDATE seen SET tags = substr(tags, 2)",
        "UPDATE seen SET place = place + 4294967295",
        "INSERT INTO seen SELECT place + 4294967295, tags FROM seen",
        "INSERT INTO incoming_1 SELECT * FROM incoming_0",
        ("INSERT INTO incoming_0 SELECT 1, zeroblob(16), reports FROM "
         "incoming_0"),
        "UPDATE incoming_0 SET reports = substr(reports, 2)",
        "UPDATE incoming_0 SET campaign = 2",
        "UPDATE held SET payload = substr(payload, 2)",
        "UPDATE held SET campaign = 7",
        "UPDATE batch SET count = count + 1",
        "UPDATE batch SET number = 3",
        "UPDATE batch SET campaign = 2",
        "UPDATE move SET active = 1",
        "UPDATE move SET active = 1, stage = 2",
        "DELETE FROM move",
        "DELETE FROM meta",
        "INSERT INTO seen VALUES (9, zeroblob(16))",
        "INSERT INTO seen VALUES (38654705664, zeroblob(16))",
        "UPDATE campaign SET number = 4",
        "UPDATE campaign SET payload_size = 9",
    };
    (void)state;
    for (size_t i = 0; i < sizeof change / sizeof change[0]; i++) {
        const char *path = new_path();
        struct store *store = open_store(url);
        uint32_t c = campaign_of(store, 1);
        (void)put_many(store, c, 0, 10);
        move_window(store, ALL, 10);
        (void)put_many(store, c, 10, 15);
        move_window(store, ALL, 10);
        (void)put_many(store, c, 15, 20);
        store_free(store);
        store = open_store(url);
        store_free(store);
        alter(path, change[i]);
        store = NULL;
        if (store_open(url, false, &store, &said) != SOTTO_STATUS_FORMAT) {
            fail_msg("'%s' was not seen", change[i]);
        }
        assert_null(store);
    }
}

/* Any byte may be wrong: it is seen or it is not, and nothing worse. */
static void
test_damage(void **state)
{
    uint64_t random = 6;
    size_t refused = 0, failed = 0, harmless = 0;
    const char *full = getenv("SOTTO_FULL");
    size_t trials = full != NULL && strcmp(full, "1") == 0 ? 5000 : 250;
    const char *path = new_path();
    (void)state;
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 100);
    move_window(store, ALL, 2);
    (void)put_many(store, c, 100, 130);
    move_window(store, ALL, 50);
    (void)put_many(store, c, 130, 160);
    store_free(store);
    struct bytes image = raw(path, "");
    for (size_t i = 0; i < trials; i++) {
        size_t size = image.size;
        uint8_t *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, image.data, size);
        size_t flips = 1 + next_random(&random) % 4;
        for (size_t j = 0; j < flips; j++) {
            size_t page = next_random(&random) % (size / PAGE);
            size_t at = next_random(&random) % (j % 2 == 0 ? 120 : PAGE);
            copy[page * PAGE + at] = (uint8_t)next_random(&random);
        }
        if (i % 10 == 9) {
            size = next_random(&random) % size;
        }
        path = new_path();
        spill(path, copy, size);
        free(copy);
        store = NULL;
        enum sotto_status status = store_open(url, false, &store, &said);
        assert_true(
            status == SOTTO_STATUS_OK || status == SOTTO_STATUS_FORMAT ||
            status == SOTTO_STATUS_IO || status == SOTTO_STATUS_REFUSED);
        refused += status != SOTTO_STATUS_OK;
        store_free(store);
        status = status == SOTTO_STATUS_OK ? live(url, 200, &said) : status;
        failed += status != SOTTO_STATUS_OK;
        harmless += status == SOTTO_STATUS_OK;
        assert_true(status != SOTTO_STATUS_MEMORY);
        (void)unlink(path);
    }
    failed -= refused;
    print_message("%zu damaged files: %zu refused, %zu seen later, %zu with "
                  "harmless or unseen damage\n",
                  trials, refused, failed, harmless);
    assert_true(refused > trials / 4);
    free(image.data);
}

/* ---- Full disks ---------------------------------------------------------- */

static void
limit_pages(int pages)
{
    char text[64];
    (void)snprintf(text, sizeof text, "PRAGMA max_page_count=%d", pages);
    assert_int_equal(sqlite3_exec(last, text, NULL, NULL, NULL), SQLITE_OK);
}

static void
test_full_disk(void **state)
{
    static unsigned times[4000];
    uint64_t accepted = 0;
    size_t failures = 0, moves = 0;
    (void)state;
    (void)new_path();
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    for (int i = 0; i < 4000 && accepted < 3900; i++) {
        uint8_t report[REPORT_SIZE];
        enum store_answer answer = STORE_ACCEPTED;
        enum sotto_status status = SOTTO_STATUS_OK;
        size_t count = 0;
        bool done = false;
        limit_pages(12 + i / 4);
        MUST(store_begin(store, &said));
        for (; count < 40 && status == SOTTO_STATUS_OK; count++) {
            fake_report(1, accepted + count, false, report);
            status = store_put(store, c, report, &answer, &said);
            assert_true(status != SOTTO_STATUS_OK || answer == STORE_ACCEPTED);
        }
        if (status == SOTTO_STATUS_OK) {
            status = store_commit(store, &said);
        } else {
            store_rollback(store);
        }
        accepted += status == SOTTO_STATUS_OK ? count : 0;
        failures += status != SOTTO_STATUS_OK;
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_IO);
        struct store_counts n = counts_of(store, c);
        assert_int_equal(n.waiting + n.released, accepted);
        MUST(store_begin(store, &said));
        status = accepted % 3 == 0 ? store_end_window(store, &said)
                                   : SOTTO_STATUS_OK;
        if (status == SOTTO_STATUS_OK) {
            status = store_advance(store, 30, 100, &done, &said);
        }
        if (status == SOTTO_STATUS_OK) {
            status = store_commit(store, &said);
        } else {
            store_rollback(store);
        }
        moves += status != SOTTO_STATUS_OK;
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_IO);
    }
    assert_non_null(strstr(said.message, "full"));
    limit_pages(1 << 20); /* space is back */
    bool done = false;
    while (!done) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, 1000, 2, &done, &said));
        MUST(store_commit(store, &said));
    }
    move_window(store, ALL, 2);
    scrub(store);
    print_message("%zu puts and %zu moves failed; %zu accepted\n", failures,
                  moves, (size_t)accepted);
    assert_true(failures > 5 && moves > 5);
    assert_int_equal(read_all(url, 1, 2, accepted, times, NULL), accepted);
    for (uint64_t i = 0; i < accepted; i++) {
        assert_int_equal(times[i], 1);
    }
    store_free(store);
}

/* ---- No memory inside SQLite --------------------------------------------- */

static sqlite3_mem_methods usual;
static long made, failing;

static void *
failing_malloc(int size)
{
    return ++made == failing ? NULL : usual.xMalloc(size);
}

static void *
failing_realloc(void *old, int size)
{
    return ++made == failing ? NULL : usual.xRealloc(old, size);
}

static void
test_sqlite_memory(void **state)
{
    unsigned times[40];
    size_t failures = 0;
    const char *full = getenv("SOTTO_FULL");
    long step = full != NULL && strcmp(full, "1") == 0 ? 1 : 13;
    (void)state;
    for (long n = 1;; n += step) {
        (void)new_path();
        made = 0;
        failing = n;
        enum sotto_status status = live(url, 0, &said);
        bool all = made < failing;
        failing = 0;
        failures += status != SOTTO_STATUS_OK;
        if (status != SOTTO_STATUS_OK && status != SOTTO_STATUS_MEMORY &&
            status != SOTTO_STATUS_IO) {
            fail_msg("allocation %ld: %s", n, said.message);
        }
        MUST(live(url, 0, &said));
        memset(times, 0, sizeof times);
        assert_int_equal(read_all(url, 1, 30, 40, times, NULL), 40);
        if (all) {
            print_message("%ld allocations, %zu failures\n", made, failures);
            break;
        }
    }
    assert_true(failures > 20);
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
        cmocka_unit_test(test_not_a_store),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_sqlite_memory),
    };
    (void)sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual);
    sqlite3_mem_methods methods = usual;
    methods.xMalloc = failing_malloc;
    methods.xRealloc = failing_realloc;
    (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    (void)sqlite3_auto_extension((void (*)(void))remember);
    return cmocka_run_group_tests(tests, setup, teardown);
}
