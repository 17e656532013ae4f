/*
 * test_laplace_likelihood.c: ln p falls by eps / 2l a step, and an integer at
 * either clamp means "or beyond".
 */
#include "likelihood_fixture.h"

static double
log_p_of(int64_t y, int32_t q)
{
    uint8_t wire[2];
    assert_int_equal(instance.wire_size, sizeof wire);
    assert_true(at.likelihood->pack(&at, &y, wire));
    return at.likelihood->log_p(&at, wire, &q);
}

static void
test_steps_and_tails(void **state)
{
    double rate = 1 / 32.0, r = exp(-rate);
    (void)state;
    set_up("laplace", 1, 16, DECIMAL_UNIT);
    for (int32_t q = -16; q <= 16; q += 16) {
        double centre = log((1 - r) / (1 + r));
        int64_t clamp = 2032; /* docs/format.md */
        int64_t beyond = clamp + 1;
        uint8_t wire[2];
        assert_true(fabs(log_p_of(q, q) - centre) < 1e-13);
        assert_true(fabs(log_p_of(q + 5, q) - centre + 5 * rate) < 1e-12);
        assert_true(fabs(log_p_of(q - 7, q) - centre + 7 * rate) < 1e-12);
        for (int64_t sign = -1; sign <= 1; sign += 2) {
            double far = (double)(clamp - sign * q);
            double tail = -log(1 + r) - rate * far;
            int64_t outside = sign * beyond;
            assert_true(fabs(log_p_of(sign * clamp, q) - tail) < 1e-11);
            assert_true(fabs(log_p_of(sign * (clamp - 1), q) - centre +
                             rate * (far - 1)) < 1e-11);
            assert_false(at.likelihood->pack(&at, &outside, wire));
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_and_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
