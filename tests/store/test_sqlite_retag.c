/*
 * test_sqlite_retag.c: what damage of files of tags costs after a repair: the
 * tags of the pages that are lost, and no more; nothing where a byte is wrong,
 * or the table of files is gone; and all reports still come out.
 */
#include "repair_fixture.h"

#include "store/sqlite/sqlite_store.h"

#include <sqlite3.h>

/* Puts all that was put again: how many are taken for new. */
static size_t
count_forgotten(const struct image *image)
{
    size_t again = 0;
    struct store *store = open_store(url);
    uint32_t c[2] = {campaign_of(store, 1), campaign_of(store, 2)};
    MUST(store_begin(store, &said));
    for (uint64_t i = 0; i < NUMBERS; i++) {
        uint8_t mechanism = mechanism_of(i);
        again += image->put[i] &&
                 put(store, c[mechanism - 1], mechanism, i) == STORE_ACCEPTED;
    }
    store_rollback(store);
    store_free(store);
    return again;
}

/* Repairs what spill_anew wrote, and looks; returns how many are forgotten. */
static size_t
repair_tags(const struct image *image)
{
    static unsigned times[NUMBERS];
    MUST(store_repair(url, NULL, NULL, &repaired, &said));
    assert_false(repaired.sound);
    assert_int_equal(repaired.lost, 0);
    struct store_damage damage = look_at_all(url);
    assert_int_equal(damage.reports, 0);
    assert_int_equal(damage.places, damage.gone);
    assert_int_equal(damage.gone > 0, repaired.tags > 0);
    size_t forgotten = count_forgotten(image);
    struct store *store = open_store(url);
    move_window(store, ALL, 2);
    store_free(store);
    read_numbers(times);
    for (size_t i = 0; i < NUMBERS; i++) {
        assert_int_equal(times[i], image->put[i]);
    }
    return forgotten;
}

/* Every page of every file, as zeros and with one byte changed. */
static void
test_pages(void **state)
{
    struct image *image = make_image();
    size_t lost = 0;
    (void)state;
    for (size_t i = 0; i < image->runs; i++) {
        struct bytes *run = &image->run[i].bytes;
        for (size_t at = 0; at < run->size; at += PAGE) {
            uint8_t kept[PAGE];
            memcpy(kept, run->data + at, PAGE);
            run->data[at + mix(at) % PAGE] ^= 0x55;
            (void)spill_anew(image);
            assert_int_equal(repair_tags(image), 0);
            assert_int_equal(repaired.mended, 1);
            memset(run->data + at, 0, PAGE);
            (void)spill_anew(image);
            memcpy(run->data + at, kept, PAGE);
            size_t forgotten = repair_tags(image);
            assert_int_equal(forgotten > 0, repaired.tags > 0);
            assert_true(forgotten <= RUN_PAGE_TAGS && repaired.tags <= 1);
            /* what is lost stays so, and there is nothing to repair */
            MUST(store_repair(url, NULL, NULL, &repaired, &said));
            assert_true(repaired.sound);
            lost += forgotten > 0;
        }
    }
    assert_true(lost > 0);
    free_image(image);
}

/* A file that is not there. */
static void
test_gone(void **state)
{
    struct image *image = make_image();
    char name[800];
    (void)state;
    for (size_t i = 0; i < image->runs; i++) {
        const char *path = spill_anew(image);
        (void)snprintf(name, sizeof name, "%s%s", path, image->run[i].name);
        assert_int_equal(unlink(name), 0);
        assert_true(repair_tags(image) > 0);
        assert_true(repaired.tags > 0);
    }
    free_image(image);
}

/* The page where a table begins, which small ones have alone. */
static uint8_t *
page_of(const struct image *image, const char *path, const char *table)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT rootpage FROM sqlite_schema "
                                        "WHERE type = 'table' AND name = ?1",
                                        -1, &row, NULL),
                     SQLITE_OK);
    (void)sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    size_t page = (size_t)sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return image->file.data + (page - 1) * PAGE;
}

static void
erase_table(const struct image *image, const char *path, const char *table)
{
    memset(page_of(image, path, table), 0, PAGE);
}

/* Neither the table nor its twin: all files of this store are taken, however
   many, and those of another are not. */
static void
test_unnamed(void **state)
{
    struct image *image = make_image();
    char name[800];
    const char *path = spill_anew(image);
    (void)state;
    erase_table(image, path, "run");
    (void)spill_anew(image);
    assert_int_equal(repair_tags(image), 0);
    (void)spill_anew(image);
    erase_table(image, path, "spare_run");
    for (unsigned copies = 0; copies < 9; copies += 4) {
        (void)spill_anew(image);
        for (unsigned i = 0; i < copies; i++) {
            (void)snprintf(name, sizeof name, "-tags/%016x.tags", 100 + i);
            struct bytes one = image->run[i % image->runs].bytes;
            spill_bytes(path, name, &one);
        }
        struct bytes other = {calloc(1, PAGE), PAGE};
        spill_bytes(path, "-tags/00000000000000ff.tags", &other);
        free(other.data);
        assert_int_equal(repair_tags(image), 0);
    }
    free_image(image);
}

static bool
has_run(const struct image *image, const char *name)
{
    bool has = false;
    for (size_t i = 0; i < image->runs; i++) {
        has = has || strcmp(image->run[i].name, name) == 0;
    }
    return has;
}

/* The table of an earlier moment, and its twin of now, or the other way round;
   `files`: those that only the older one names are there, too. */
static void
repair_mixed(const struct image *before, const struct image *now,
             const char *table, bool files)
{
    uint8_t kept[PAGE];
    const char *path = spill_anew(now);
    uint8_t *page = page_of(now, path, table);
    memcpy(kept, page, PAGE);
    memcpy(page, page_of(before, path, table), PAGE);
    assert_memory_not_equal(page, kept, PAGE);
    (void)spill_anew(now);
    memcpy(page, kept, PAGE);
    for (size_t i = 0; files && i < before->runs; i++) {
        if (!has_run(now, before->run[i].name)) {
            spill_bytes(path, before->run[i].name, &before->run[i].bytes);
        }
    }
    assert_int_equal(repair_tags(now), 0);
    assert_int_equal(repaired.tags, 0);
}

/* The store some windows later. */
static struct image *
go_on(const struct image *before, uint64_t first)
{
    struct image *now = calloc(1, sizeof *now);
    assert_non_null(now);
    memcpy(now->put, before->put, sizeof now->put);
    const char *path = spill_anew(before);
    struct store *store = open_store(url);
    put_numbers(now, store, first, 30, 10);
    move_window(store, ALL, 2);
    store_free(store);
    take_image(now, path, false);
    return now;
}

/* A table and its twin that are of two moments, as after a disk that did not
   write one of them: two files may have one place between them. */
static void
test_stale(void **state)
{
    static struct image *image[8];
    (void)state;
    image[0] = make_image();
    for (size_t i = 1; i < 8; i++) {
        image[i] = go_on(image[i - 1], 600 + 30 * i);
    }
    for (size_t i = 0; i < 7; i++) {
        for (size_t j = i + 1; j < 8; j++) {
            for (unsigned files = 0; files < 2; files++) {
                repair_mixed(image[i], image[j], "run", files != 0);
                repair_mixed(image[i], image[j], "spare_run", files != 0);
            }
        }
    }
    for (size_t i = 0; i < 8; i++) {
        free_image(image[i]);
    }
}

/* What root repairs is its owner's afterwards; and an open removes what a
   repair that was killed left. */
static void
test_owner(void **state)
{
    struct image *image = make_image();
    struct stat info;
    char name[800];
    const char *path = spill_anew(image);
    (void)state;
    spill_bytes(path, ".repaired", &image->file);
    spill_bytes(path, ".repaired-journal", &image->file);
    store_free(open_store(url));
    (void)snprintf(name, sizeof name, "%s.repaired", path);
    assert_int_not_equal(access(name, F_OK), 0);
    (void)snprintf(name, sizeof name, "%s.repaired-journal", path);
    assert_int_not_equal(access(name, F_OK), 0);
    if (geteuid() != 0) {
        free_image(image);
        return;
    }
    (void)spill_anew(image);
    (void)snprintf(name, sizeof name, "%s%s", path, image->run[0].name);
    assert_int_equal(unlink(name), 0); /* it is written anew, empty */
    assert_int_equal(chown(path, 12, 13), 0);
    MUST(store_repair(url, NULL, NULL, &repaired, &said));
    assert_false(repaired.sound);
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_uid == 12 && info.st_gid == 13);
    (void)snprintf(name, sizeof name, "%s.lock", path);
    assert_int_equal(stat(name, &info), 0);
    assert_int_equal(info.st_uid, 12);
    struct image *now = calloc(1, sizeof *now);
    assert_non_null(now);
    take_image(now, path, false);
    size_t given = 0;
    for (size_t i = 0; i < now->runs; i++) {
        (void)snprintf(name, sizeof name, "%s%s", path, now->run[i].name);
        assert_int_equal(stat(name, &info), 0);
        assert_true(has_run(image, now->run[i].name) || info.st_uid == 12);
        given += info.st_uid == 12;
    }
    assert_true(given > 0);
    free_image(now);
    free_image(image);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),   cmocka_unit_test(test_gone),
        cmocka_unit_test(test_unnamed), cmocka_unit_test(test_stale),
        cmocka_unit_test(test_owner),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
