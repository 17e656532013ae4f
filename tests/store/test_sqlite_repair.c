/*
 * test_sqlite_repair.c: what a repair does to files: a sound store stays as it
 * is, a damaged one is replaced at once and kept, whatever kills the repair;
 * the log counts; and nobody else may have the store open.
 */
#include "repair_fixture.h"

#include "fail_alloc.h"
#include "kill_steps.h"
#include "store/sql_sums.h"

#include <sqlite3.h>

static void
test_sound(void **state)
{
    struct image *image = make_image();
    const char *path = spill_anew(image);
    (void)state;
    MUST(store_repair(url, NULL, NULL, &repaired, &said));
    assert_true(repaired.sound);
    struct bytes after = raw(path, "");
    assert_int_equal(after.size, image->file.size);
    assert_memory_equal(after.data, image->file.data, after.size);
    free(after.data);
    free_image(image);
}

/* Makes a page with reports noise; `may_lose` has what was on it. */
static void
damage_image(struct image *image, bool *may_lose)
{
    uint32_t page = 0;
    for (size_t i = 0; i < NUMBERS && page == 0; i++) {
        page = image->put[i] ? image->page[i] : 0;
    }
    (void)find_on_page(image, page, may_lose);
    for (size_t i = 0; i < PAGE; i++) {
        image->file.data[(page - 1) * PAGE + i] = (uint8_t)mix(i);
    }
}

static bool
is_file(const char *path, const char *suffix, const struct bytes *bytes)
{
    char name[700];
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    if (access(name, F_OK) != 0) {
        return false;
    }
    struct bytes there = raw(path, suffix);
    bool same = there.size == bytes->size &&
                memcmp(there.data, bytes->data, bytes->size) == 0;
    free(there.data);
    return same;
}

/* The old store is kept, and not written over by the next repair. */
static void
test_kept(void **state)
{
    static bool may_lose[NUMBERS];
    struct image *image = make_image();
    (void)state;
    damage_image(image, may_lose);
    const char *path = spill_anew(image);
    assert_true(repair_and_count(image, may_lose, false) > 0);
    assert_true(is_file(path, ".damaged", &image->file));
    MUST(store_repair(url, NULL, NULL, &repaired, &said));
    assert_true(repaired.sound);
    spill_bytes(path, "", &image->file);
    assert_int_equal(store_repair(url, NULL, NULL, &repaired, &said),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(said.message, ".damaged"));
    assert_true(is_file(path, "", &image->file));
    free_image(image);
}

/* Who has it open: a writer, a reader of another program. */
static void
test_refused(void **state)
{
    static bool may_lose[NUMBERS];
    struct image *image = make_image();
    int ready[2], done[2], status = 0;
    char byte = 0;
    (void)state;
    const char *path = spill_anew(image);
    struct store *store = open_store(url);
    assert_int_equal(store_repair(url, NULL, NULL, &repaired, &said),
                     SOTTO_STATUS_IO);
    assert_non_null(strstr(said.message, "stop the collector"));
    store_free(store);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db = NULL;
        int code = sqlite3_open(path, &db);
        code = code == SQLITE_OK
                   ? sqlite3_exec(db, "PRAGMA schema_version", 0, 0, 0)
                   : code;
        byte = code == SQLITE_OK;
        (void)syscall(SYS_write, ready[1], &byte, 1);
        _exit(read(done[0], &byte, 1) == 1 ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    damage_image(image, may_lose);
    FILE *file = fopen(path, "r+b"); /* SQLite has it open */
    assert_non_null(file);
    assert_int_equal(fwrite(image->file.data, 1, image->file.size, file),
                     image->file.size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(store_repair(url, NULL, NULL, &repaired, &said),
                     SOTTO_STATUS_IO);
    assert_non_null(strstr(said.message, "reads the store"));
    assert_int_equal(syscall(SYS_write, done[1], &byte, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(
        store_repair("sqlite:/none/such", NULL, NULL, &repaired, &said),
        SOTTO_STATUS_IO);
    assert_int_equal(
        store_repair("postgres://h/d", NULL, NULL, &repaired, &said),
        SOTTO_STATUS_USAGE);
    assert_int_equal(store_repair("what", NULL, NULL, &repaired, &said),
                     SOTTO_STATUS_USAGE);
    free_image(image);
}

/* A store of 0.1.0, from its dump: it has no sums. */
static void
test_old(void **state)
{
    const char *path = new_path();
    char name[700];
    sqlite3 *db = NULL;
    (void)state;
    (void)snprintf(name, sizeof name, "%s/tests/store/store-0.1.0-rest.sql",
                   SOTTO_SOURCE_DIR);
    FILE *dump = fopen(name, "rb");
    char *text = calloc(1, 1 << 20);
    assert_true(dump != NULL && text != NULL);
    assert_true(fread(text, 1, (1 << 20) - 1, dump) > 0 && fclose(dump) == 0);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    free(text);
    assert_int_equal(store_repair(url, NULL, NULL, &repaired, &said),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(said.message, "version 1"));
}

/* ---- The log ------------------------------------------------------------- */

/* A store whose writer was killed, with most of it in the log. */
static struct image *
make_killed(void)
{
    struct image *image = calloc(1, sizeof *image);
    const char *path = new_path();
    int status = 0;
    assert_non_null(image);
    pid_t child = fork();
    if (child == 0) {
        fill_store(image, open_store(url));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    note_put(image);
    take_image(image, path, true);
    return image;
}

static void
test_log(void **state)
{
    struct image *image = make_killed();
    uint8_t kept[PAGE];
    size_t tries = 0;
    (void)state;
    assert_true(image->log.size > 20 * (size_t)PAGE);
    for (size_t at = 0; at < image->file.size; at += PAGE) {
        bool may_lose[NUMBERS] = {false};
        memcpy(kept, image->file.data + at, PAGE);
        size_t most = find_on_page(image, (uint32_t)(at / PAGE) + 1, may_lose);
        for (size_t i = 0; i < PAGE; i++) {
            image->file.data[at + i] = (uint8_t)mix(at + i);
        }
        const char *path = spill_anew(image);
        memcpy(image->file.data + at, kept, PAGE);
        struct store_repaired probe;
        MUST(store_repair(url, NULL, NULL, &probe, &said));
        if (probe.sound) {
            continue; /* the log has that page */
        }
        assert_true(is_file(path, ".damaged-wal", &image->log));
        assert_true(probe.lost <= most);
        tries++;
        /* and again, as a whole */
        memset(image->file.data + at, 0, PAGE);
        (void)spill_anew(image);
        memcpy(image->file.data + at, kept, PAGE);
        (void)repair_and_count(image, may_lose, false);
    }
    assert_true(tries > 5);
    free_image(image);
}

/* ---- Kills --------------------------------------------------------------- */

static bool
repair_once(void *context)
{
    struct store_repaired ignored;
    (void)context;
    return store_repair(url, NULL, NULL, &ignored, NULL) == SOTTO_STATUS_OK;
}

/* Killed before every step: the old store or the new one is there, whole, and
   the next repair ends it. */
static void
test_kill(void **state)
{
    static bool may_lose[NUMBERS];
    struct image *image[2] = {make_image(), make_killed()};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        bool killed = true;
        size_t old = 0, new = 0;
        memset(may_lose, 0, sizeof may_lose);
        damage_image(image[i], may_lose);
        for (long n = 1; killed; n++) {
            (void)spill_anew(image[i]);
            killed = kill_steps_run(repair_once, NULL, n);
            assert_true(n < 4000);
            struct store_repaired after = {0};
            if (killed) {
                MUST(store_repair(url, NULL, NULL, &after, &said));
                new += after.sound;
                old += !after.sound;
            }
            /* from here on it is the same as without a kill */
            assert_int_equal(look_at_all(url).places, 0);
            struct store *store = open_store(url);
            move_window(store, ALL, 2);
            store_free(store);
            static unsigned times[NUMBERS];
            read_numbers(times);
            for (size_t j = 0; j < NUMBERS; j++) {
                assert_true(times[j] == image[i]->put[j] ||
                            (times[j] == 0 && may_lose[j]));
            }
        }
        print_message("killed: %zu times the old store was there, %zu times "
                      "the new one\n",
                      old, new);
        assert_true(old > 10 && new > 0);
        free_image(image[i]);
    }
}

/* ---- Memory -------------------------------------------------------------- */

static void
test_memory(void **state)
{
    static bool may_lose[NUMBERS];
    struct image *image = make_image();
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    bool failed = true;
    long n = 0;
    (void)state;
    damage_image(image, may_lose);
    while (failed) {
        const char *path = spill_anew(image);
        fail_alloc_at(++n);
        status = store_repair(url, NULL, NULL, &repaired, &said);
        failed = fail_alloc_count() >= n;
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        assert_true(status == SOTTO_STATUS_OK ||
                    is_file(path, "", &image->file));
    }
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 30);
    (void)spill_anew(image);
    assert_true(repair_and_count(image, may_lose, false) > 0);
    free_image(image);
}

/* A row that is of the wrong size in a sound page: what was in it is lost, and
   counted. */
static void
test_size(void **state)
{
    struct image *image = make_image();
    sqlite3 *db = NULL;
    const char *path = spill_anew(image);
    (void)state;
    assert_int_equal(sql_sums_register(), SQLITE_OK);
    assert_int_equal(
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, SQL_SUMS_VFS),
        SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "UPDATE held SET payload = CAST(payload || x'00' AS "
                     "BLOB) WHERE key = (SELECT min(key) FROM held)",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_changes(db), 1);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE incoming_1 SET reports = "
                                  "CAST(reports || x'00' AS BLOB); "
                                  "UPDATE incoming_0 SET reports = "
                                  "CAST(reports || x'00' AS BLOB)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    MUST(store_repair(url, NULL, NULL, &repaired, &said));
    assert_int_equal(repaired.lost, 86); /* the window's 85, and one held */
    free_image(image);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_old),  cmocka_unit_test(test_sound),
        cmocka_unit_test(test_kept), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_log),  cmocka_unit_test(test_kill),
        cmocka_unit_test(test_size), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
