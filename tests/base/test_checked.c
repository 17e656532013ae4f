/*
 * test_checked.c: sizes that do not wrap round, against 128-bit arithmetic.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/checked.h"

__extension__ typedef unsigned __int128 wide_size;

static uint64_t
saturate(wide_size value)
{
    return value >= CHECKED_OVERFLOW ? CHECKED_OVERFLOW : (uint64_t)value;
}

static const uint64_t sizes[] = {0,
                                 1,
                                 2,
                                 3,
                                 UINT32_MAX,
                                 UINT64_C(1) << 32,
                                 (UINT64_C(1) << 32) + 1,
                                 INT64_MAX,
                                 UINT64_C(1) << 63,
                                 UINT64_MAX / 3,
                                 UINT64_MAX - 1};
#define SIZES (sizeof sizes / sizeof sizes[0])

static void
test_sums_and_products_saturate(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES * SIZES; i++) {
        uint64_t a = sizes[i / SIZES], b = sizes[i % SIZES];
        uint32_t m = (uint32_t)b;
        assert_true(checked_add(a, b) == saturate((wide_size)a + b));
        assert_true(checked_multiply(a, m) == saturate((wide_size)a * m));
    }
}

static void
test_overflow_stays(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        assert_true(checked_add(CHECKED_OVERFLOW, sizes[i]) ==
                    CHECKED_OVERFLOW);
        assert_true(checked_add(sizes[i], CHECKED_OVERFLOW) ==
                    CHECKED_OVERFLOW);
        assert_true(checked_multiply(CHECKED_OVERFLOW, (uint32_t)sizes[i]) ==
                    CHECKED_OVERFLOW);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_and_products_saturate),
        cmocka_unit_test(test_overflow_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
