/*
 * test_threshold.c: thresholds against GMP.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>

#include "random/threshold.h"

/* The threshold times 2^256. */
static void
exact_threshold(const struct draw_threshold *t, mpz_t ret)
{
    mpz_set_ui(ret, t->high);
    mpz_mul_2exp(ret, ret, 8);
    mpz_add_ui(ret, ret, t->low[6]);
    for (int i = 5; i >= 0; i--) {
        mpz_mul_2exp(ret, ret, 32);
        mpz_add_ui(ret, ret, t->low[i]);
    }
}

static void
test_from_and_wide_are_inverse_and_round_down(void **state)
{
    struct wide p, back;
    struct draw_threshold t;
    (void)state;
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        p.limb[i] = i < WIDE_FRACTION ? UINT32_C(0x89abcdef) + i : 0;
    }
    threshold_from(&p, &t);
    assert_true(t.high < UINT64_C(1) << 56);
    assert_true(t.low[6] < 0x100);
    threshold_wide(&t, &back);
    for (uint32_t i = 0; i < WIDE_LIMBS; i++) {
        assert_int_equal(back.limb[i], i < 2 ? 0 : p.limb[i]);
    }
}

static void
test_double_is_exact(void **state)
{
    struct draw_threshold t, twice;
    mpz_t a, b;
    (void)state;
    mpz_inits(a, b, NULL);
    for (uint64_t n = 2; n < 100; n++) {
        struct wide p;
        wide_ratio(n / 2, n + 1, &p);
        threshold_from(&p, &t);
        threshold_double(&t, &twice);
        exact_threshold(&t, a);
        exact_threshold(&twice, b);
        mpz_mul_ui(a, a, 2);
        assert_int_equal(mpz_cmp(a, b), 0);
    }
    mpz_clears(a, b, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_and_wide_are_inverse_and_round_down),
        cmocka_unit_test(test_double_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
