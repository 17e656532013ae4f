/*
 * test_sqlite_check.c: what a flipped bit costs: in a payload that one report,
 * and elsewhere nothing that nobody is told of. And stores of 0.1.0, which have
 * no sums yet.
 */
#include "store_file.h"

#include "store/sqlite/sqlite_store.h"

#include <sqlite3.h>

#define RELEASED 100u

static void
spill(const char *path, const struct bytes *bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, bytes->size, file), bytes->size);
    assert_int_equal(fclose(file), 0);
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
    struct store_damage damage = {0, 0};
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
    assert_int_equal(look_at_all(url).places, 1);
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

/* Every byte of the file, flipped: whatever is read was put, once; and what is
   gone was noticed. */
static void
test_every_byte(void **state)
{
    static unsigned times[RELEASED];
    const char *path = new_path();
    const char *full = getenv("SOTTO_FULL");
    size_t step = full != NULL && strcmp(full, "1") == 0 ? 1 : 97;
    struct bytes file = make_image(path);
    size_t reports = 0, places = 0, closed = 0, harmless = 0, lost = 0;
    (void)state;
    for (size_t at = 0; at < file.size; at += step) {
        struct store_reader *reader = NULL;
        file.data[at] ^= (uint8_t)(1 << at % 8);
        spill(path, &file);
        struct store_damage damage = look_at_all(url);
        uint64_t count = 0;
        enum sotto_status status = store_reader_open(url, &reader, NULL, &said);
        struct store_batch batch = {0};
        if (status == SOTTO_STATUS_OK) {
            status = store_reader_next(reader, hash_of(1), 0, &batch, &said);
        }
        memset(times, 0, sizeof times);
        for (size_t i = 0; i < batch.count; i++) {
            uint64_t number = payload_number(batch.reports + i * REPORT_SIZE +
                                             REPORT_HEADER_SIZE);
            assert_true(number < RELEASED && times[number]++ == 0);
        }
        count = batch.count;
        free(batch.reports);
        store_reader_free(reader);
        bool noticed = damage.reports + damage.places > 0;
        lost += count < RELEASED && !noticed;
        closed += status != SOTTO_STATUS_OK;
        reports += damage.reports > 0;
        places += damage.reports == 0 && noticed;
        harmless += !noticed;
        assert_true(damage.reports <= 1 || damage.places > 0);
        file.data[at] ^= (uint8_t)(1 << at % 8);
    }
    print_message("%zu bytes flipped: %zu cost a report, %zu told of a place, "
                  "%zu harmless or unseen; %zu not to be read, %zu lost "
                  "something unnoticed\n",
                  (file.size + step - 1) / step, reports, places, harmless,
                  closed, lost);
    assert_int_equal(lost, 0);
    free(file.data);
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
        cmocka_unit_test(test_sums_travel),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_upgrade),
        cmocka_unit_test(test_upgrade_half_moved),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
