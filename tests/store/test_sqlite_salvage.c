/*
 * test_sqlite_salvage.c: what damage costs after a repair: one byte, wherever
 * it is, nothing; a payload, itself; a page, the reports that were on it.
 * Whatever else comes out was put, once, and what is known stays known.
 */
#include "repair_fixture.h"

#include "store/sqlite/sqlite_store.h"

/* Every byte in turn. */
static void
test_byte(void **state)
{
    static bool nothing[NUMBERS];
    struct image *image = make_image();
    (void)state;
    for (size_t at = 0; at < image->file.size; at += is_full() ? 1 : 257) {
        uint8_t by = (uint8_t)(mix(at) % 255 + 1);
        image->file.data[at] ^= by;
        (void)spill_anew(image);
        image->file.data[at] ^= by;
        assert_int_equal(repair_and_count(image, nothing, false), 0);
        assert_int_equal(repaired.mended, 1);
        assert_int_equal(repaired.lost, 0);
    }
    free_image(image);
}

/* Every page without a sum, as another program writes them: nothing is lost;
   nor where only the other half is so. */
static void
test_foreign(void **state)
{
    static bool nothing[NUMBERS];
    struct image *image = make_image();
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bytes bad = {malloc(image->file.size), image->file.size};
        struct bytes good = image->file;
        memcpy(bad.data, good.data, good.size);
        for (size_t page = 0; page < good.size / PAGE; page++) {
            if (i == 0 || page % 2 == i - 1) {
                memset(bad.data + (page + 1) * PAGE - SUM_SIZE, 0, SUM_SIZE);
            }
        }
        image->file = bad;
        (void)spill_anew(image);
        image->file = good;
        assert_int_equal(repair_and_count(image, nothing, false), 0);
        assert_int_equal(repaired.mended, 0);
        free(bad.data);
    }
    free_image(image);
}

/* Several bytes of a payload: that report alone, wherever it is. */
static void
test_payload(void **state)
{
    static bool may_lose[NUMBERS];
    struct image *image = make_image();
    (void)state;
    for (size_t i = 0; i < NUMBERS; i += is_full() ? 1 : 7) {
        if (!image->put[i] || image->page[i] == 0) {
            continue;
        }
        uint8_t *payload = image->file.data + image->offset[i], kept[24];
        memcpy(kept, payload, sizeof kept);
        for (size_t j = 0; j < sizeof kept; j += 1 + i % 5) {
            payload[j] ^= (uint8_t)(mix(i + j) % 255 + 1);
        }
        (void)spill_anew(image);
        memcpy(payload, kept, sizeof kept);
        may_lose[i] = true;
        assert_int_equal(repair_and_count(image, may_lose, false), 1);
        assert_int_equal(repaired.lost, 1);
        may_lose[i] = false;
    }
    free_image(image);
}

/* What happens to a page. */
enum harm { HARM_ZEROS, HARM_NOISE, HARM_HALF, HARM_TWO_BYTES, HARMS };

static void
harm_page(uint8_t *page, enum harm harm, uint64_t random)
{
    size_t from = harm == HARM_HALF ? random % 2 * PAGE / 2 : 0;
    size_t to = harm == HARM_HALF ? from + PAGE / 2 : PAGE;
    if (harm == HARM_TWO_BYTES) {
        page[mix(random) % PAGE] ^= (uint8_t)(random % 255 + 1);
        page[mix(random + 1) % PAGE] ^= (uint8_t)(random / 255 % 255 + 1);
        return;
    }
    for (size_t i = from; i < to; i++) {
        page[i] = harm == HARM_ZEROS ? 0 : (uint8_t)mix(random + i);
    }
}

/* Every page in turn: no more than was on it. */
static void
test_page(void **state)
{
    struct image *image = make_image();
    uint8_t kept[PAGE];
    (void)state;
    for (size_t i = 0; i < HARMS * image->file.size / PAGE; i++) {
        bool may_lose[NUMBERS] = {false};
        size_t page = i / HARMS, times = is_full() ? 20 : 1;
        uint8_t *at = image->file.data + page * PAGE;
        size_t most = find_on_page(image, (uint32_t)page + 1, may_lose);
        for (size_t t = 0; t < times; t++) {
            memcpy(kept, at, PAGE);
            harm_page(at, (enum harm)(i % HARMS), mix(i * 100 + t));
            (void)spill_anew(image);
            memcpy(at, kept, PAGE);
            size_t missing = repair_and_count(image, may_lose, false);
            assert_true(missing <= most);
            assert_int_equal(repaired.damaged + repaired.mended, 1);
            assert_true(i % HARMS > HARM_NOISE || missing == most);
        }
    }
    free_image(image);
}

/* Two pages: what was on both; or, where they are each other's twins, that is
   said, and nothing is changed. */
static void
test_two_pages(void **state)
{
    struct image *image = make_image();
    size_t pages = image->file.size / PAGE, refused = 0, tries = 0;
    (void)state;
    for (size_t i = 0; i < pages; i++) {
        for (size_t j = i + 1; j < pages; j += is_full() ? 1 : 5) {
            bool may_lose[NUMBERS] = {false};
            struct bytes bad = {malloc(image->file.size), image->file.size};
            struct bytes good = image->file;
            memcpy(bad.data, good.data, good.size);
            harm_page(bad.data + i * PAGE, HARM_ZEROS, i);
            harm_page(bad.data + j * PAGE, HARM_NOISE, j);
            image->file = bad;
            const char *path = spill_anew(image);
            image->file = good;
            (void)find_on_page(image, (uint32_t)i + 1, may_lose);
            (void)find_on_page(image, (uint32_t)j + 1, may_lose);
            struct store_repaired probe;
            enum sotto_status status =
                store_repair(url, NULL, NULL, &probe, &said);
            tries++;
            if (status == SOTTO_STATUS_FORMAT) {
                struct bytes after = raw(path, "");
                assert_memory_equal(after.data, bad.data, bad.size);
                free(after.data);
                refused++;
            } else {
                assert_int_equal(status, SOTTO_STATUS_OK);
                image->file = bad;
                (void)spill_anew(image);
                image->file = good;
                (void)repair_and_count(image, may_lose, false);
            }
            free(bad.data);
        }
    }
    print_message("%zu of %zu pairs of pages cannot be repaired\n", refused,
                  tries);
    assert_true(refused <= tries / 20);
    free_image(image);
}

/* A file that was cut, in a page or between two. */
static void
test_cut(void **state)
{
    struct image *image = make_image();
    size_t size = image->file.size, refused = 0;
    (void)state;
    for (size_t i = 1; i < 2 * size / PAGE; i++) {
        bool may_lose[NUMBERS] = {false};
        image->file.size = i * PAGE / 2;
        (void)spill_anew(image);
        image->file.size = size;
        for (size_t page = i / 2; page < size / PAGE; page++) {
            (void)find_on_page(image, (uint32_t)page + 1, may_lose);
        }
        if (store_repair(url, NULL, NULL, &repaired, &said) ==
            SOTTO_STATUS_FORMAT) {
            refused++;
            continue;
        }
        image->file.size = i * PAGE / 2;
        (void)spill_anew(image);
        image->file.size = size;
        (void)repair_and_count(image, may_lose, false);
    }
    print_message("%zu of %zu cuts cannot be repaired\n", refused,
                  2 * size / PAGE - 1);
    assert_true(refused < 2 * size / PAGE / 3);
    free_image(image);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte),      cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_payload),   cmocka_unit_test(test_page),
        cmocka_unit_test(test_two_pages), cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
