/*
 * test_window_tags.c: the set of a window's tags, against a list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "store/store_window.h"

#define MANY 5000u /* so that it grows a few times */

/* Tag i of a campaign: the same bytes in campaigns 1 and 2. */
static void
make_tag(uint32_t i, uint8_t tag[TAG_SIZE])
{
    for (size_t j = 0; j < TAG_SIZE; j++) {
        i = i * 1664525u + 1013904223u;
        tag[j] = (uint8_t)(i >> 24);
    }
}

static void
fill_tags(struct window_tags *tags)
{
    uint8_t tag[TAG_SIZE];
    for (uint32_t i = 0; i < MANY; i++) {
        make_tag(i, tag);
        for (uint32_t campaign = 2; campaign > 0; campaign--) {
            assert_true(window_tags_reserve(tags, 1));
            assert_false(window_tags_has(tags, campaign, tag));
            assert_true(window_tags_add(tags, campaign, tag));
            assert_false(window_tags_add(tags, campaign, tag));
        }
    }
}

static void
test_set(void **state)
{
    struct window_tags tags = {NULL, 0, 0};
    uint8_t tag[TAG_SIZE];
    (void)state;
    make_tag(0, tag);
    assert_false(window_tags_has(&tags, 1, tag));
    fill_tags(&tags);
    assert_int_equal(tags.count, 2 * MANY);
    assert_true(tags.count <= tags.room / 4 * 3);
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        make_tag(i, tag);
        assert_int_equal(window_tags_has(&tags, 1, tag), i < MANY);
        assert_int_equal(window_tags_has(&tags, 2, tag), i < MANY);
        assert_false(window_tags_has(&tags, 3, tag));
    }
    window_tags_clear(&tags);
    assert_int_equal(tags.count + tags.room, 0);
}

static void
test_sorted(void **state)
{
    struct window_tags tags = {NULL, 0, 0};
    struct window_tag *sorted;
    (void)state;
    fill_tags(&tags);
    sorted = window_tags_listed(&tags);
    assert_non_null(sorted);
    window_tags_sort(sorted, tags.count);
    for (size_t i = 1; i < 2 * MANY; i++) {
        assert_true(window_tags_compare(&sorted[i - 1], &sorted[i]) < 0);
        assert_int_equal(sorted[i].campaign, i < MANY ? 1 : 2);
    }
    free(sorted);
    window_tags_clear(&tags);
}

/* Whatever campaigns there are and however tags begin, as qsort does it; with
   little memory, too. */
static void
test_sorted_as_usual(void **state)
{
    static struct window_tag tag[3000], usual[3000];
    (void)state;
    for (long failing = 0; failing < 4; failing++) {
        for (uint32_t i = 0; i < 3000; i++) {
            tag[i].campaign = 1 + i * 7919 % 3000 % 5 * 100;
            make_tag(i, tag[i].tag);
            if (i % 10 == 0) {
                memset(tag[i].tag, i % 3 == 0 ? 0xff : 0, 6);
            }
            usual[i] = tag[i];
        }
        qsort(usual, 3000, sizeof *usual, window_tags_compare);
        fail_alloc_at(failing);
        window_tags_sort(tag, 3000);
        fail_alloc_at(0);
        assert_memory_equal(tag, usual, sizeof tag);
    }
    window_tags_sort(NULL, 0);
}

/* Without memory nothing is lost. */
static void
test_memory(void **state)
{
    struct window_tags tags = {NULL, 0, 0};
    uint8_t tag[TAG_SIZE];
    (void)state;
    make_tag(1, tag);
    fail_alloc_at(1);
    assert_false(window_tags_reserve(&tags, 1));
    fail_alloc_at(0);
    assert_true(window_tags_reserve(&tags, 1));
    assert_true(window_tags_add(&tags, 1, tag));
    fail_alloc_at(1);
    assert_false(window_tags_reserve(&tags, MANY));
    fail_alloc_at(1);
    assert_null(window_tags_listed(&tags));
    fail_alloc_at(0);
    assert_true(window_tags_has(&tags, 1, tag));
    window_tags_clear(&tags);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_sorted),
        cmocka_unit_test(test_sorted_as_usual),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
