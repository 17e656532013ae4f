/*
 * test_sqlite_check.c: what a flipped bit costs: in a payload that one report,
 * without any repair; elsewhere it is told of, wherever it is, in the file or
 * in the log. And stores of 0.1.0, which have no sums yet.
 */
#include "store_file.h"

#include "store/sql_log.h"
#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>
#include <sqlite3.h>

#define RELEASED 100u

/* As if nobody had written to it for long, so that a look at it does not wait
   for who might. */
static void
set_at_rest(const char *path)
{
    const struct timespec times[2] = {{0, 0}, {0, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void
spill(const char *path, const struct bytes *bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
    assert_int_equal(fclose(file), 0);
    set_at_rest(path);
}

/* Where the payload of a report begins; SIZE_MAX: it is not in one piece. */
static size_t
find_payload(const struct bytes *file, uint64_t number)
{
    uint64_t check = mix(number ^ 0x5a5a5a5a);
    for (size_t at = 16; at + 8 <= file->size; at++) {
        if (memcmp(file->data + at, &check, 8) == 0) {
            size_t first = at - 16, last = at + 8 + SUM_SIZE;
            return first / PAGE == last / PAGE ? first : SIZE_MAX;
        }
    }
    return SIZE_MAX;
}

/* The first one from `number` on that is in one piece. */
static size_t
find_any(const struct bytes *file, uint64_t *number)
{
    size_t at = SIZE_MAX;
    while ((at = find_payload(file, *number)) == SIZE_MAX || at % PAGE == 0) {
        ++*number;
    }
    return at;
}

/* What all batches of a store hold; `times`: which reports. */
static struct store_damage
read_batches(uint64_t *ret_count, unsigned *times, size_t numbers)
{
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    struct store_damage damage = {0};
    memset(times, 0, numbers * sizeof *times);
    *ret_count = 0;
    MUST(store_reader_open(url, &reader, NULL, &said));
    do {
        MUST(
            store_reader_next(reader, hash_of(1), batch.number, &batch, &said));
        for (size_t i = 0; i < batch.count; i++) {
            uint64_t number = payload_number(batch.reports + i * REPORT_SIZE +
                                             REPORT_HEADER_SIZE);
            assert_true(number < numbers);
            times[number]++;
        }
        assert_int_equal(batch.size, batch.count * REPORT_SIZE);
        *ret_count += batch.count;
        damage.reports += batch.damaged;
        free(batch.reports);
    } while (batch.number != 0);
    store_reader_free(reader);
    return damage;
}

/* A store with 100 reports released, 10 held and 10 of an open window. */
static struct bytes
make_image(const char *path)
{
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, RELEASED);
    move_window(store, ALL, 50);
    (void)put_many(store, c, RELEASED, RELEASED + 10);
    move_window(store, ALL, 50);
    (void)put_many(store, c, RELEASED + 10, RELEASED + 20);
    store_free(store);
    return raw(path, "");
}

/* A byte of a released payload: that report is left out, counted and told of,
   and the others are there. */
static void
test_payload_costs_itself(void **state)
{
    static unsigned times[RELEASED];
    const char *path = new_path();
    struct bytes file = make_image(path);
    (void)state;
    for (uint64_t number = 0; number < RELEASED; number += 9) {
        size_t at = find_payload(&file, number);
        for (size_t i = 0; at != SIZE_MAX && i < PAYLOAD_SIZE + SUM_SIZE; i++) {
            uint64_t count = 0;
            file.data[at + i] ^= (uint8_t)(1 << i % 8);
            spill(path, &file);
            struct store_damage damage = read_batches(&count, times, RELEASED);
            assert_int_equal(count, RELEASED - 1);
            assert_int_equal(damage.reports, 1);
            assert_int_equal(times[number], 0);
            assert_int_equal(look_at_all(url).reports, 1);
            assert_int_equal(look_at_all(url).places, 0);
            store_free(open_store(url)); /* and it goes on */
            file.data[at + i] ^= (uint8_t)(1 << i % 8);
        }
    }
    free(file.data);
}

/* A page that leads to released rows: nobody goes on behind it, and no copy
   lacks what a repair brings back. */
static void
test_way_to_batches(void **state)
{
    static unsigned times[1000];
    const char *path = new_path();
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    char copy[700];
    size_t page = 0;
    uint64_t count = 0;
    (void)state;
    struct store *store = open_store(url);
    (void)put_many(store, campaign_of(store, 1), 0, 1000);
    move_window(store, ALL, 50);
    store_free(store);
    struct bytes file = raw(path, "");
    while (page < file.size / PAGE && file.data[page * PAGE] != 5) {
        page++;
    }
    assert_true(page > 0 && page < file.size / PAGE);
    file.data[page * PAGE + 13] ^= 1;
    spill(path, &file);
    MUST(store_reader_open(url, &reader, NULL, &said));
    assert_int_equal(store_reader_next(reader, hash_of(1), 0, &batch, &said),
                     SOTTO_STATUS_IO);
    assert_non_null(strstr(said.message, "store repair"));
    store_reader_free(reader);
    (void)snprintf(copy, sizeof copy, "%s-backup", path);
    assert_int_equal(store_backup(url, copy, &said), SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "cannot be copied"));
    assert_int_not_equal(access(copy, F_OK), 0);
    struct store_repaired repaired;
    MUST(store_repair(url, NULL, NULL, &repaired, &said));
    assert_int_equal(read_batches(&count, times, 1000).reports, 0);
    assert_int_equal(count, 1000);
    free(file.data);
}

/* A byte of a random key: nothing is lost, and it is told. */
static void
test_key_costs_nothing(void **state)
{
    static unsigned times[RELEASED];
    const char *path = new_path();
    struct bytes file = make_image(path);
    uint64_t count = 0;
    (void)state;
    uint64_t number = 0;
    size_t at = find_any(&file, &number);
    assert_true(at % PAGE != 0);
    file.data[at - 1] ^= 1;
    spill(path, &file);
    assert_int_equal(read_batches(&count, times, RELEASED).reports, 0);
    assert_int_equal(count, RELEASED);
    assert_int_equal(look_at_all(url).reports, 0);
    assert_int_equal(look_at_all(url).places, 2); /* its page, its batch */
    free(file.data);
}

/* What waits is told of, and left out once it is released. */
static void
test_sums_travel(void **state)
{
    static unsigned times[RELEASED + 20];
    static const uint64_t waiting[] = {RELEASED + 5, RELEASED + 15};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *path = new_path();
        struct bytes file = make_image(path);
        uint64_t count = 0;
        uint64_t number = waiting[i];
        file.data[find_any(&file, &number) + 20] ^= 0x40;
        spill(path, &file);
        assert_int_equal(look_at_all(url).reports, 1);
        struct store *store = open_store(url);
        move_window(store, ALL, 2);
        store_free(store);
        assert_int_equal(read_batches(&count, times, RELEASED + 20).reports, 1);
        assert_int_equal(count, RELEASED + 19);
        assert_int_equal(times[number], 0);
        free(file.data);
    }
}

/* Every byte, or a prime number of bytes apart. */
static size_t
stride(void)
{
    const char *full = getenv("SOTTO_FULL");
    return full != NULL && strcmp(full, "1") == 0 ? 1 : 97;
}

/* What a reader gets, until it can go on no more: nothing that was not put, and
   nothing twice. Returns how many reports. */
static size_t
read_what_is_there(unsigned *times, size_t numbers)
{
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    size_t count = 0;
    memset(times, 0, numbers * sizeof *times);
    enum sotto_status status = store_reader_open(url, &reader, NULL, &said);
    while (status == SOTTO_STATUS_OK) {
        uint64_t after = batch.number;
        batch = (struct store_batch){0};
        status = store_reader_next(reader, hash_of(1), after, &batch, &said);
        for (size_t i = 0; i < batch.count; i++) {
            uint64_t number = payload_number(batch.reports + i * REPORT_SIZE +
                                             REPORT_HEADER_SIZE);
            assert_true(number < numbers && times[number]++ == 0);
        }
        count += batch.count;
        free(batch.reports);
        if (batch.number == 0) {
            break;
        }
    }
    assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_FORMAT ||
                (status == SOTTO_STATUS_IO &&
                 strstr(said.message, "store repair") != NULL));
    store_reader_free(reader);
    return count;
}

/* Marks the bytes of the file that are a payload's, or its sum's, by which
   report's they are, from 1. */
static uint8_t *
mark_payloads(const struct bytes *file, uint64_t numbers)
{
    uint8_t *mark = calloc(1, file->size);
    assert_non_null(mark);
    for (uint64_t number = 0; number < numbers; number++) {
        size_t at = find_payload(file, number);
        assert_true(at != SIZE_MAX); /* no row goes over two pages */
        memset(mark + at, (int)number + 1, PAYLOAD_SIZE + SUM_SIZE);
    }
    return mark;
}

/* Every byte of the file, flipped. */
static void
test_every_byte(void **state)
{
    static unsigned times[RELEASED + 20];
    const char *path = new_path();
    struct bytes file = make_image(path);
    uint8_t *mark = mark_payloads(&file, RELEASED + 20);
    size_t flips = 0, reports = 0, places = 0, closed = 0;
    (void)state;
    for (size_t at = 0; at < file.size; at += stride()) {
        file.data[at] ^= (uint8_t)(1 << at % 8);
        spill(path, &file);
        struct store_damage damage = look_at_all(url);
        size_t count = read_what_is_there(times, RELEASED + 20);
        flips++;
        if (mark[at] > 0) {
            bool released = mark[at] <= RELEASED;
            assert_int_equal(damage.reports, 1);
            assert_int_equal(damage.places, 0);
            assert_int_equal(count, RELEASED - (released ? 1 : 0));
            assert_int_equal(times[mark[at] - 1], 0);
            store_free(open_store(url)); /* and it goes on */
            reports++;
        } else {
            if (damage.places == 0) {
                fail_msg("byte %zu was not noticed", at);
            }
            closed += count < RELEASED;
            places++;
        }
        file.data[at] ^= (uint8_t)(1 << at % 8);
    }
    print_message("%zu bytes flipped: %zu cost a report, %zu told of a place; "
                  "%zu kept reports from being read until they are repaired\n",
                  flips, reports, places, closed);
    assert_true(reports > 0 && places > reports);
    free(mark);
    free(file.data);
}

/* ---- The log ------------------------------------------------------------- */

#define COMMITS ((size_t)6)
#define EACH 20u

/* What a crash leaves of a store that took COMMITS groups; with `moved`, the
   window has ended and its payloads were released. */
static struct bytes
crash(const char *path, const char *copy, bool moved)
{
    char command[4400];
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    scrub(store);
    for (uint64_t i = 0; i < COMMITS; i++) {
        (void)put_many(store, c, i * EACH, i * EACH + EACH);
    }
    if (moved) {
        move_window(store, ALL, 50);
    }
    (void)snprintf(command, sizeof command,
                   "cp '%s' '%s' && cp '%s-wal' '%s-wal' && cp -r '%s-tags' "
                   "'%s-tags'",
                   path, copy, path, copy, path, copy);
    assert_int_equal(system(command), 0);
    store_free(store);
    return raw(copy, "-wal");
}

/* Puts a crash's files back, with another log. */
static void
restore(const char *copy, const char *path, const struct bytes *log)
{
    char command[4400], name[800];
    (void)snprintf(command, sizeof command,
                   "rm -rf '%s'* && cp '%s' '%s' && cp -r '%s-tags' '%s-tags'",
                   path, copy, path, copy, path);
    assert_int_equal(system(command), 0);
    (void)snprintf(name, sizeof name, "%s-wal", path);
    spill(name, log);
    set_at_rest(path);
}

/* Every byte of the log, flipped: all that was acknowledged is there, or it is
   said that it may not be, by a look at it and by the next writer. Of one byte
   that is not the highest of four it is always there. */
static void
flip_log(bool moved, bool two)
{
    static unsigned times[COMMITS * EACH];
    const char *path = new_path();
    char copy[520], again[520];
    (void)snprintf(copy, sizeof copy, "%.500s.image", path);
    (void)snprintf(again, sizeof again, "%.500s.again", path);
    struct bytes log = crash(path, copy, moved);
    size_t flips = 0, all = 0, told = 0, closed = 0;
    (void)snprintf(url, sizeof url, "sqlite:%s", again);
    for (size_t at = 0; at < log.size; at += stride()) {
        struct store *store = NULL;
        struct store_found found = {0};
        log.data[at] ^= (uint8_t)(1 << at % 8);
        log.data[(at + 9) % log.size] ^= two;
        restore(copy, again, &log);
        bool seen = look_at_all(url).places > 0;
        restore(copy, again, &log);
        enum sotto_status status = try_store(url, false, &store);
        flips++;
        if (status == SOTTO_STATUS_OK) {
            store_found(store, &found);
            struct store_counts counts =
                counts_of(store, campaign_of(store, 1));
            bool whole = counts.waiting + counts.released == COMMITS * EACH;
            if (!whole && (found.lost == 0 || !seen)) {
                fail_msg("byte %zu of the log cost reports unseen", at);
            }
            assert_true(found.mended == 0 ||
                        (seen && found.mended <= 1u + two));
            assert_true(two || whole || at % 4 == 3 || at < SQL_LOG_HEADER);
            all += whole;
            told += found.lost + found.mended > 0;
            store_free(store);
            (void)read_what_is_there(times, COMMITS * EACH);
        } else {
            assert_int_equal(status, SOTTO_STATUS_FORMAT);
            closed++;
        }
        log.data[(at + 9) % log.size] ^= two;
        log.data[at] ^= (uint8_t)(1 << at % 8);
    }
    print_message("%zu bytes of the log flipped: %zu cost nothing, %zu were "
                  "told of, %zu kept the store closed\n",
                  flips, all, told, closed);
    assert_true(told > 0);
    restore(copy, again, &log); /* as it was, nothing is said */
    struct store_found found = {0};
    struct store *store = open_store(url);
    store_found(store, &found);
    assert_int_equal(found.lost, 0);
    assert_int_equal(found.damaged + found.mended, 0);
    assert_int_equal(found.open, moved ? 0 : COMMITS * EACH);
    assert_true(found.commits >= COMMITS);
    store_free(store);
    free(log.data);
}

static void
test_every_byte_of_log(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        flip_log(i % 2 != 0, i / 2 != 0);
    }
}

/* ---- Version 1 ----------------------------------------------------------- */

/* A store that 0.1.0 made, from its dump. */
static const char *
make_old(const char *name)
{
    const char *path = new_path();
    char file[700];
    sqlite3 *db = NULL;
    (void)snprintf(file, sizeof file, "%s/tests/store/store-0.1.0-%s.sql",
                   SOTTO_SOURCE_DIR, name);
    FILE *dump = fopen(file, "rb");
    assert_non_null(dump);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t size = fread(text, 1, (1 << 20) - 1, dump);
    assert_true(size > 0 && fclose(dump) == 0);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    free(text);
    return path;
}

/* It reads as it did, before and after it is upgraded; knows what came; and
   what it holds is released with sums. */
static void
test_upgrade(void **state)
{
    static unsigned times[640];
    uint64_t count = 0;
    (void)state;
    (void)make_old("rest");
    assert_int_equal(read_batches(&count, times, 640).reports, 0);
    assert_int_equal(count, 600);
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    struct store_counts counts = counts_of(store, c);
    assert_int_equal(counts.released, 600);
    assert_int_equal(counts.batches, 2);
    assert_int_equal(counts.waiting, 40);
    assert_int_equal(put_many(store, c, 0, 640), 0);
    assert_int_equal(look_at_all(url).places + look_at_all(url).reports, 0);
    move_window(store, ALL, 40);
    scrub(store);
    assert_int_equal(put_many(store, c, 0, 640), 0);
    store_free(store);
    assert_int_equal(read_batches(&count, times, 640).reports, 0);
    assert_int_equal(count, 640);
    for (size_t i = 0; i < 640; i++) {
        assert_int_equal(times[i], 1);
    }
    assert_int_equal(look_at_all(url).places + look_at_all(url).reports, 0);
}

/* What a kill left of a try is no hindrance; a program that reads the store is:
   it would go on with the old file. Its log is not lost. */
static void
test_upgrade_again(void **state)
{
    static unsigned times[640];
    struct store *store = NULL;
    sqlite3 *db = NULL;
    uint64_t count = 0;
    char name[700];
    struct bytes half = {(uint8_t *)name, 5};
    (void)state;
    const char *path = make_old("rest");
    (void)snprintf(name, sizeof name, "%s.new", path);
    spill(name, &half);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"
                     "UPDATE campaign SET name = 'in the log';"
                     "BEGIN; SELECT * FROM campaign",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(store_open(url, false, &store, &said), SOTTO_STATUS_IO);
    assert_non_null(strstr(said.message, "in use by another program"));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(read_batches(&count, times, 640).reports, 0);
    assert_int_equal(count, 600);
    store_free(open_store(url));
    assert_int_not_equal(access(name, F_OK), 0);
    assert_int_equal(read_batches(&count, times, 640).reports, 0);
    assert_int_equal(count, 600);
    assert_int_equal(look_at_all(url).places + look_at_all(url).reports, 0);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "SELECT 1 / (name = 'in the log') FROM campaign", NULL,
                     NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* One that was half moved goes on. */
static void
test_upgrade_half_moved(void **state)
{
    static unsigned times[101];
    uint64_t count = 0;
    bool done = false;
    (void)state;
    (void)make_old("half");
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    assert_int_equal(put_many(store, c, 0, 101), 0);
    while (!done) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, 10, 30, &done, &said));
        MUST(store_commit(store, &said));
    }
    move_window(store, ALL, 2);
    assert_int_equal(put_many(store, c, 0, 101), 0);
    struct store_counts counts = counts_of(store, c);
    assert_int_equal(counts.released + counts.waiting, 101);
    assert_int_equal(look_at_all(url).places + look_at_all(url).reports, 0);
    store_free(store);
    (void)read_batches(&count, times, 101);
    assert_int_equal(count, counts.released);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_payload_costs_itself),
        cmocka_unit_test(test_key_costs_nothing),
        cmocka_unit_test(test_way_to_batches),
        cmocka_unit_test(test_sums_travel),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_every_byte_of_log),
        cmocka_unit_test(test_upgrade),
        cmocka_unit_test(test_upgrade_again),
        cmocka_unit_test(test_upgrade_half_moved),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
