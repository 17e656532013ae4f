/*
 * test_halving.c: rounds, halves and their order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learn/halving.h"

static void
test_rounds(void **state)
{
    static const size_t rounds[] = {0, 0, 1, 2, 2, 3, 3, 3, 3, 4};
    (void)state;
    for (size_t i = 1; i < 10; i++) {
        assert_int_equal(halving_rounds(i), rounds[i]);
    }
    assert_int_equal(halving_rounds(64), 6);
    assert_int_equal(halving_left(5), 3);
    assert_int_equal(halving_left(2), 1);
}

/* The best first; equals by their numbers. */
static void
test_sort(void **state)
{
    struct halving halving[] = {{3, 0.5}, {2, -0.1}, {1, 0.5}, {0, 1.2}};
    static const size_t order[] = {0, 1, 3, 2};
    (void)state;
    halving_sort(halving, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(halving[i].candidate, order[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
