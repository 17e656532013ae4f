/*
 * test_confidence.c: the normal quantiles, against a table.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/confidence.h"

static void
test_known(void **state)
{
    static const struct {
        double confidence, z;
    } known[] = {
        {0.5, 0.674489750196082},  {0.6826894921370859, 1.0},
        {0.95, 1.959963984540054}, {0.99, 2.575829303548901},
        {0.9973002039367398, 3.0}, {0.999999, 4.891638475698590},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(fabs(confidence_z(known[i].confidence) - known[i].z) <
                    1e-9);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
