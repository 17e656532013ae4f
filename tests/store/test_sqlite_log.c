/*
 * test_sqlite_log.c: damage while a store is open: a log with a damaged frame
 * is not written back, and a row that says it goes on in another table's page
 * costs that table nothing.
 */
#include "repair_fixture.h"

#define PLACES 24u
#define SETTLED 300u
#define LONG 2000u
#define HELD_LOCAL ((size_t)489) /* bytes of such a row within its page */

/* Changes bytes of a file that SQLite has open in this process: to open and
   close it here would lose SQLite its locks. */
static void
overwrite(const char *path, const char *suffix, size_t at, const uint8_t *bytes,
          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char command[1000];
        (void)snprintf(command, sizeof command,
                       "printf '\\%03o' | dd of='%s%s' bs=1 seek=%zu "
                       "conv=notrunc 2>/dev/null",
                       bytes[i], path, suffix, at + i);
        assert_int_equal(system(command), 0);
    }
}

static void
expect_same(const char *path, const struct bytes *before)
{
    struct bytes after = raw(path, "");
    assert_int_equal(after.size, before->size);
    assert_memory_equal(after.data, before->data, after.size);
    free(after.data);
}

/* ---- The log ------------------------------------------------------------- */

/* Scrubs and closes with a byte of the log flipped: the file stays as it is. */
static void
damage_log(struct image *image, const char *path, size_t place)
{
    bool clean = false;
    struct store *store = open_store(url);
    put_numbers(image, store, 0, SETTLED, 50);
    move_window(store, ALL, 100);
    scrub(store);
    put_numbers(image, store, SETTLED, 200, 20);
    move_window(store, ALL, 100);
    put_numbers(image, store, SETTLED + 200, 60, 20);
    struct bytes file = raw(path, ""), log = raw(path, "-wal");
    size_t at = place * (log.size - 1) / (PLACES - 1);
    uint8_t byte = log.data[at] ^ (uint8_t)(1 << place % 8);
    overwrite(path, "-wal", at, &byte, 1);
    assert_int_equal(store_scrub(store, &clean, &said), SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "sotto store repair"));
    expect_same(path, &file);
    assert_int_equal(store_begin(store, &said), SOTTO_STATUS_FORMAT);
    store_free(store);
    expect_same(path, &file);
    free(file.data);
    free(log.data);
}

/* Whatever is read then was put, and is read once; what was in the file before
   is there; and all, where the log could be put right. */
static void
test_damaged_log(void **state)
{
    static unsigned times[NUMBERS];
    size_t whole = 0;
    (void)state;
    for (size_t place = 0; place < PLACES; place++) {
        struct image *image = calloc(1, sizeof *image);
        const char *path = new_path();
        struct store *store = NULL;
        assert_non_null(image);
        damage_log(image, path, place);
        if (place % 2 == 0 ||
            try_store(url, false, &store) != SOTTO_STATUS_OK) {
            MUST(store_repair(url, NULL, NULL, &repaired, &said));
            store = open_store(url);
        }
        move_window(store, ALL, 2);
        scrub(store);
        store_free(store);
        read_numbers(times);
        size_t missing = 0;
        for (size_t i = 0; i < NUMBERS; i++) {
            assert_true(times[i] <= image->put[i]);
            assert_true(i >= SETTLED || times[i] == 1);
            missing += times[i] < image->put[i];
        }
        whole += missing == 0;
        free_image(image);
    }
    assert_true(whole > PLACES / 2);
}

/* ---- Rows that go on elsewhere ------------------------------------------- */

static void
put_long(struct store *store, uint32_t campaign, uint64_t number)
{
    uint8_t report[REPORT_HEADER_SIZE + LONG] = {0};
    enum store_answer answer = STORE_DUPLICATE;
    fake_report(1, number, false, report);
    MUST(store_put(store, campaign, report, &answer, &said));
    assert_int_equal(answer, STORE_ACCEPTED);
}

/* Where in a held row of LONG is the number of the page it goes on in. */
static size_t
find_pointer(const struct bytes *file)
{
    for (size_t page = 1; page < file->size / PAGE; page++) {
        const uint8_t *at = file->data + page * PAGE;
        size_t cell = (size_t)at[8] << 8 | at[9];
        if (at[0] == 10 && cell + 2 + HELD_LOCAL + 4 < PAGE &&
            (at[cell] & 0x80) != 0 &&
            (size_t)((at[cell] & 0x7f) << 7 | at[cell + 1]) > LONG) {
            return page * PAGE + cell + 2 + HELD_LOCAL;
        }
    }
    return SIZE_MAX;
}

/* The page of a table that has the mechanism's hash. */
static size_t
find_victim(const struct bytes *file)
{
    const uint8_t *at =
        memmem(file->data, file->size, hash_of(1), SOTTO_HASH_SIZE);
    assert_non_null(at);
    return (size_t)(at - file->data) / PAGE;
}

static enum sotto_status
release_all(struct store *store)
{
    bool done = false;
    enum sotto_status status = store_begin(store, &said);
    if (status == SOTTO_STATUS_OK) {
        status = store_end_window(store, &said);
    }
    while (status == SOTTO_STATUS_OK && !done) {
        status = store_advance(store, ALL, 2, &done, &said);
    }
    return status == SOTTO_STATUS_OK ? store_commit(store, &said) : status;
}

/* A held row is damaged so that it goes on in the page of the campaigns: at
   rest, or while the store is open (`running`). */
static void
lead_astray(bool running)
{
    const char *path = new_path();
    uint32_t c = 0;
    struct store *store = open_store(url);
    MUST(store_campaign(store, hash_of(1), "test", LONG, &c, &said));
    MUST(store_begin(store, &said));
    for (uint64_t i = 0; i < 40; i++) {
        put_long(store, c, i);
    }
    MUST(store_commit(store, &said));
    move_window(store, ALL, 1000);
    scrub(store);
    store_free(store);
    struct bytes file = raw(path, "");
    size_t at = find_pointer(&file), victim = find_victim(&file);
    assert_true(at != SIZE_MAX);
    uint8_t to[4] = {0, 0, (uint8_t)((victim + 1) >> 8), (uint8_t)(victim + 1)};
    store = running ? open_store(url) : NULL;
    overwrite(path, "", at, to, sizeof to);
    enum sotto_status status =
        running ? SOTTO_STATUS_OK : try_store(url, false, &store);
    if (status == SOTTO_STATUS_OK) {
        status = release_all(store);
    }
    assert_true(running || status == SOTTO_STATUS_FORMAT);
    assert_true(status == SOTTO_STATUS_OK ||
                strstr(said.message, "sotto store repair") != NULL);
    store_free(store);
    struct bytes after = raw(path, "");
    assert_memory_equal(after.data + victim * PAGE, file.data + victim * PAGE,
                        PAGE);
    free(after.data);
    free(file.data);
}

static void
test_rows_that_lead_astray(void **state)
{
    (void)state;
    lead_astray(false);
    lead_astray(true);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_log),
        cmocka_unit_test(test_rows_that_lead_astray),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
