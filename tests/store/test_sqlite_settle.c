/*
 * test_sqlite_settle.c: what a repair makes of batches that lost reports, and
 * of a window that was half moved: numbers stay, and each report comes out
 * once.
 */
#include "repair_fixture.h"

#include "store/sqlite/sqlite_store.h"

static bool nothing[NUMBERS];

/* Makes the pages of the reports from `first` to `last` - 1 zeros. */
static void
erase_reports(struct image *image, uint64_t first, uint64_t last,
              bool *may_lose)
{
    for (uint64_t i = first; i < last; i++) {
        assert_true(image->page[i] != 0);
        (void)find_on_page(image, image->page[i], may_lose);
        memset(image->file.data + (image->page[i] - 1) * (size_t)PAGE, 0, PAGE);
    }
}

static uint64_t
next_number(uint64_t after)
{
    struct store_reader *reader = NULL;
    struct store_batch batch = {0};
    MUST(store_reader_open(url, &reader, NULL, &said));
    MUST(store_reader_next(reader, hash_of(1), after, &batch, &said));
    free(batch.reports);
    store_reader_free(reader);
    return batch.number;
}

/* A batch that lost all its reports is passed over, and nobody gets its
   number. */
static void
test_lost_batch(void **state)
{
    static bool may_lose[NUMBERS];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct image *image = make_image();
        memset(may_lose, 0, sizeof may_lose);
        /* the first batch of campaign 1, or the last */
        erase_reports(image, i == 0 ? 0 : 250, i == 0 ? 250 : 380, may_lose);
        (void)spill_anew(image);
        MUST(store_repair(url, NULL, NULL, &repaired, &said));
        assert_int_equal(next_number(0), i == 0 ? 2 : 1);
        assert_int_equal(look_at_all(url).places, 0);
        struct store *store = open_store(url);
        uint32_t c = campaign_of(store, 1);
        struct store_counts counts = counts_of(store, c);
        move_window(store, ALL, 2);
        assert_int_equal(counts_of(store, c).batches, counts.batches + 1);
        store_free(store);
        assert_int_equal(next_number(counts.batches), counts.batches + 1);
        if (i == 1) {
            assert_int_equal(next_number(1), counts.batches + 1);
        }
        assert_int_equal(look_at_all(url).places, 0);
        (void)spill_anew(image);
        assert_true(repair_and_count(image, may_lose, false) > 0);
        free_image(image);
    }
}

/* Damaged in the midst of moving a window: whatever of it was merged, released
   or neither comes out once. */
static void
test_half_moved(void **state)
{
    (void)state;
    for (size_t steps = 0; steps < 8; steps++) {
        struct image *image = calloc(1, sizeof *image);
        const char *path = new_path();
        bool done = false;
        assert_non_null(image);
        struct store *store = open_store(url);
        fill_store(image, store);
        MUST(store_begin(store, &said));
        MUST(store_end_window(store, &said));
        MUST(store_commit(store, &said));
        put_numbers(image, store, 600, 30, 10);
        put_numbers(image, store, BASE + 300, 30, 10);
        for (size_t i = 0; i < steps && !done; i++) {
            MUST(store_begin(store, &said));
            MUST(store_advance(store, 1, 40, &done, &said));
            MUST(store_commit(store, &said));
        }
        store_free(store);
        take_image(image, path, false);
        memset(image->file.data, 0, PAGE);
        (void)spill_anew(image);
        assert_int_equal(repair_and_count(image, nothing, false), 0);
        free_image(image);
    }
}

/* Payloads that are longer than a page: a page costs those that begin in it, or
   the one that goes on there. */
static void
test_long(void **state)
{
    enum { LONG = 9000, COUNT = 12 };
    static uint8_t report[REPORT_HEADER_SIZE + LONG];
    const char *path = new_path();
    (void)state;
    struct store *store = open_store(url);
    uint32_t c = 0;
    MUST(store_campaign(store, hash_of(1), "long", LONG, &c, &said));
    for (uint64_t i = 0; i < 2 * COUNT; i++) {
        enum store_answer answer = STORE_DUPLICATE;
        fake_report(1, i, false, report);
        memset(report + REPORT_HEADER_SIZE + PAYLOAD_SIZE, (int)i,
               LONG - PAYLOAD_SIZE);
        MUST(store_begin(store, &said));
        MUST(store_put(store, c, report, &answer, &said));
        MUST(store_commit(store, &said));
        if (i == COUNT - 1) {
            move_window(store, ALL, 2);
        }
    }
    store_free(store);
    struct bytes file = raw(path, ""), run = raw(path, "-tags/"
                                                       "0000000000000001.tags");
    for (size_t at = 0; at < file.size; at += PAGE) {
        struct image image = {.file = {malloc(file.size), file.size}};
        size_t begin = 0;
        for (uint64_t i = 0; i < 2 * COUNT; i++) {
            uint64_t check = mix(i ^ 0x5a5a5a5a);
            begin += memmem(file.data + at, PAGE, &check, 8) != NULL;
        }
        memcpy(image.file.data, file.data, file.size);
        memset(image.file.data + at, 0, PAGE);
        path = spill_anew(&image);
        spill_bytes(path, "-tags/0000000000000001.tags", &run);
        MUST(store_repair(url, NULL, NULL, &repaired, &said));
        assert_true(repaired.released + repaired.waiting +
                        (begin > 0 ? begin : 1) >=
                    (size_t)2 * COUNT);
        assert_int_equal(look_at_all(url).places, 0);
        free(image.file.data);
    }
    free(file.data);
    free(run.data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_batch),
        cmocka_unit_test(test_half_moved),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
