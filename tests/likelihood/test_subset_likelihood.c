/*
 * test_subset_likelihood.c: packing in order; probabilities that add up.
 */
#include "likelihood_fixture.h"

static void
test_pack_refuses_a_set_that_is_not_in_order(void **state)
{
    uint8_t wire[2];
    int64_t values[4] = {2, 5, 7, 8};
    (void)state;
    set_up("subset", 10, 0, DECIMAL_UNIT / 2);
    assert_int_equal(at.values, 4);
    assert_true(at.likelihood->pack(&at, values, wire));
    values[1] = 2;
    assert_false(at.likelihood->pack(&at, values, wire));
    values[1] = 1;
    assert_false(at.likelihood->pack(&at, values, wire));
    values[1] = 5;
    values[3] = 10;
    assert_false(at.likelihood->pack(&at, values, wire));
}

/*
 * All reports together have probability one where they are too many to list:
 * C(k-1, w-1) of them name the truth, C(k-1, w) do not.
 */
static double
log_choose(double n, double m)
{
    return lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1);
}

static void
test_log_p_of_large_sets_sums_to_one(void **state)
{
    static const uint32_t k[] = {20, 100, 1000, 4096};
    static uint8_t wire[CHANNEL_K_MAX / 8];
    static int64_t values[CHANNEL_K_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof k / sizeof k[0]; i++) {
        int32_t in = 0, out;
        double w, total;
        set_up("subset", k[i], 0, DECIMAL_UNIT);
        w = at.values;
        out = (int32_t)w;
        for (int64_t j = 0; j < out; j++) {
            values[j] = j; /* the first w symbols */
        }
        assert_true(at.likelihood->pack(&at, values, wire));
        total = exp(at.likelihood->log_p(&at, wire, &in) +
                    log_choose(k[i] - 1, w - 1)) +
                exp(at.likelihood->log_p(&at, wire, &out) +
                    log_choose(k[i] - 1, w));
        assert_true(fabs(total - 1) < 1e-9);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pack_refuses_a_set_that_is_not_in_order),
        cmocka_unit_test(test_log_p_of_large_sets_sums_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
