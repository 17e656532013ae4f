/*
 * test_sort.c: numbers come out in order, and all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "host/sort.h"

static void
test_order(void **state)
{
    double values[] = {3,         -1, 1e-300, 0.5, INFINITY, 3,
                       -INFINITY, 0,  -1e300, 2,   1e300,    -1};
    const double sorted[] = {-INFINITY, -1e300, -1, -1, 0,     1e-300,
                             0.5,       2,      3,  3,  1e300, INFINITY};
    (void)state;
    host_sort_doubles(values, 12);
    for (size_t i = 0; i < 12; i++) {
        assert_true(values[i] == sorted[i]);
    }
}

static void
test_few(void **state)
{
    double one = 7;
    (void)state;
    host_sort_doubles(&one, 0);
    host_sort_doubles(&one, 1);
    assert_true(one == 7);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
