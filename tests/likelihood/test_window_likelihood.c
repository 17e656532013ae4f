/*
 * test_window_likelihood.c: packing to the ends of the window; its noise.
 */
#include "likelihood_fixture.h"

#include <stdio.h>

#include "channel/window.h"

/* What pack takes is what the device calls valid, to the last number. */
static void
test_window_is_packed_up_to_its_ends(void **state)
{
    static const uint32_t l[] = {1, 100, 16384, 32767, CHANNEL_L_MAX};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        uint8_t wire[4];
        int64_t most, y;
        set_up("window", 1, l[i], DECIMAL_UNIT);
        most = (int64_t)l[i] + ((const struct window *)instance.own)->w;
        for (int64_t off = -2; off <= 2; off++) {
            y = most + off;
            assert_int_equal(at.likelihood->pack(&at, &y, wire), off <= 0);
            y = -most - off;
            assert_int_equal(at.likelihood->pack(&at, &y, wire), off <= 0);
        }
    }
}

/* What docs/channels.md shows: the noise of one number, relative to l. */
static void
test_noise_of_one_number(void **state)
{
    static const char *const names[] = {"laplace", "duchi", "window"};
    static const double eps[] = {0.5, 1, 2, 4, 8};
    (void)state;
    printf("| epsilon | laplace | duchi | window |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        double deviation[3];
        for (size_t j = 0; j < 3; j++) {
            set_up(names[j], 1, 4096,
                   (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5));
            deviation[j] = sqrt(at.variance_true) / 4096;
        }
        printf("| %g | %.4f | %.4f | %.4f |\n", eps[i], deviation[0],
               deviation[1], deviation[2]);
        assert_true(deviation[2] < deviation[0]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_is_packed_up_to_its_ends),
        cmocka_unit_test(test_noise_of_one_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
