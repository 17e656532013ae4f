/*
 * test_share.c: a share as a percentage, on the side of its bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/share.h"

static void
test_written(void **state)
{
    static const struct {
        uint64_t units;
        const char *most, *least;
    } shares[] = {
        {UINT64_C(1000000000000), "100.0%", "100.0%"},
        {UINT64_C(999999999999), "100.0%", "99.9%"},
        {UINT64_C(982013790038), "98.3%", "98.2%"},
        {UINT64_C(500000000000), "50.0%", "50.0%"},
        {UINT64_C(100000000000), "10.0%", "10.0%"},
        {UINT64_C(99999999999), "10.00%", "9.99%"},
        {UINT64_C(51820658599), "5.19%", "5.18%"},
        {UINT64_C(2030937884), "0.204%", "0.203%"},
        {UINT64_C(1000000000), "0.100%", "0.100%"},
        {UINT64_C(999000000), "0.0999%", "0.0999%"},
        {UINT64_C(18333636), "0.00184%", "0.00183%"},
        {1, "0.00001%", "0.00000%"},
        {0, "0%", "0%"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        char text[SHARE_TEXT_SIZE];
        share_write_most(shares[i].units, text);
        assert_string_equal(text, shares[i].most);
        share_write_least(shares[i].units, text);
        assert_string_equal(text, shares[i].least);
    }
}

/* Read back, what is written is on its side, within the last place. */
static void
test_sides(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 20000; i++) {
        uint64_t units = i * i * i * UINT64_C(119) + 7;
        char most[SHARE_TEXT_SIZE], least[SHARE_TEXT_SIZE];
        share_write_most(units, most);
        share_write_least(units, least);
        assert_true(strtod(most, NULL) * 1e10 > (double)units * (1 - 1e-15));
        assert_true(strtod(least, NULL) * 1e10 < (double)units * (1 + 1e-15));
        assert_true(strtod(most, NULL) - strtod(least, NULL) < 0.1000001);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
