/*
 * test_outlook_curve.c: surfaces that rise, and where a line gets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>

#include "sotto/sotto.h"

static struct sotto_error err;

static bool
rises(const double *y, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows * columns; i++) {
        if ((i % columns > 0 && y[i] < y[i - 1] - 1e-6) ||
            (i >= columns && y[i] < y[i - columns] - 1e-6)) {
            return false;
        }
    }
    return true;
}

static void
test_a_surface_rises(void **state)
{
    double line[] = {1, 3, 2, 4};
    double flat[] = {3, 2, 1};
    double grid[] = {5, 1, 2, 4, 3, 9, 0, 6, 7};
    double right[] = {1, 2, 2, 3};
    (void)state;
    assert_int_equal(sotto_outlook_smooth(line, 1, 4, &err), SOTTO_STATUS_OK);
    assert_true(fabs(line[1] - 2.5) < 1e-9 && fabs(line[2] - 2.5) < 1e-9);
    assert_true(line[0] == 1 && line[3] == 4);
    assert_int_equal(sotto_outlook_smooth(flat, 3, 1, &err), SOTTO_STATUS_OK);
    assert_true(fabs(flat[0] - 2) < 1e-9 && fabs(flat[2] - 2) < 1e-9);
    assert_int_equal(sotto_outlook_smooth(grid, 3, 3, &err), SOTTO_STATUS_OK);
    assert_true(rises(grid, 3, 3));
    assert_int_equal(sotto_outlook_smooth(right, 2, 2, &err), SOTTO_STATUS_OK);
    assert_true(right[0] == 1 && right[3] == 3); /* what rises stays */
}

static void
test_where_a_line_gets(void **state)
{
    static const double x[] = {100, 1000, 10000}, y[] = {0.5, 0.7, 0.8};
    (void)state;
    assert_true(sotto_outlook_reach(x, y, 3, 0.4) == 100);
    assert_true(fabs(sotto_outlook_reach(x, y, 3, 0.6) - sqrt(1e5)) < 1e-6);
    assert_true(fabs(sotto_outlook_reach(x, y, 3, 0.8) - 10000) < 1e-6);
    assert_true(isinf(sotto_outlook_reach(x, y, 3, 0.81)));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_surface_rises),
        cmocka_unit_test(test_where_a_line_gets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
