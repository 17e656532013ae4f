/*
 * test_window_filter.c: what was added is never denied, and what was not,
 * mostly.
 */
#include "store/store_window.h"
#include "store_fixture.h"

#define TAGS 1000000u
#define OTHERS 100000u

static const uint8_t *
tag_of(uint64_t number)
{
    static uint64_t half[2];
    half[0] = mix(number);
    half[1] = mix(number + ID_SECOND);
    return (const uint8_t *)half;
}

static void
test_filter(void **state)
{
    struct window_filter *filter = window_filter_new();
    size_t denied = 0, taken = 0;
    (void)state;
    assert_non_null(filter);
    assert_false(window_filter_may_have(filter, tag_of(0)));
    for (uint64_t i = 0; i < TAGS; i++) {
        window_filter_add(filter, tag_of(i));
    }
    for (uint64_t i = 0; i < TAGS; i++) {
        denied += window_filter_may_have(filter, tag_of(i)) ? 0 : 1;
    }
    for (uint64_t i = TAGS; i < TAGS + OTHERS; i++) {
        taken += window_filter_may_have(filter, tag_of(i)) ? 1 : 0;
    }
    assert_int_equal(denied, 0);
    assert_true(taken < OTHERS / 1000);
    window_filter_free(filter);
    window_filter_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_filter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
