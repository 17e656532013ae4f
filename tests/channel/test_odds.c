/*
 * test_odds.c: the coin that flip, subset, signs, duchi and window decide with,
 * for domains too large to enumerate.
 *
 * Of the threshold as it will be drawn, h, the realised epsilon
 * ln(h n / ((1-h) m)) is taken in MPFR: never above the stated one (invariant
 * 2), and below it by less than 2^-59 of it, as likelihood/realised.h finds it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "base/decimal.h"
#include "channel/channel.h"
#include "channel/symbols.h"
#include "likelihood/chance.h"
#include "random/seeded.h"
#include "random/threshold.h"

#define PRECISION 1024

static const uint64_t epsilons[] = {
    DECIMAL_EPS_MIN,  DECIMAL_EPS_MIN + 1, DECIMAL_UNIT / 7, DECIMAL_UNIT,
    3 * DECIMAL_UNIT, DECIMAL_EPS_MAX - 1, DECIMAL_EPS_MAX};
#define EPSILONS (sizeof epsilons / sizeof epsilons[0])

/* The probability of drawing a 1. */
static void
share_of(const struct odds *odds, mpfr_t ret)
{
    struct wide h;
    threshold_wide(&odds->threshold[0], &h);
    mpfr_set_zero(ret, 1);
    for (uint32_t i = WIDE_LIMBS; i-- > 0;) {
        mpfr_mul_2ui(ret, ret, 32, MPFR_RNDN);
        mpfr_add_ui(ret, ret, h.limb[i], MPFR_RNDN);
    }
    mpfr_div_2ui(ret, ret, 32 * WIDE_FRACTION, MPFR_RNDN);
}

static void
check_coin(const struct odds *odds, uint64_t units, uint32_t m, uint32_t n)
{
    struct chance chance;
    mpfr_t h, out, eps;
    mpfr_inits2(PRECISION, h, out, eps, (mpfr_ptr)NULL);
    share_of(odds, h);
    chance_init(&chance, odds);
    assert_true(chance.in == mpfr_get_d(h, MPFR_RNDZ) ||
                chance.in == mpfr_get_d(h, MPFR_RNDA));
    mpfr_ui_sub(out, 1, h, MPFR_RNDN);
    mpfr_mul_ui(h, h, n, MPFR_RNDN);
    mpfr_mul_ui(out, out, m, MPFR_RNDN);
    mpfr_div(h, h, out, MPFR_RNDN);
    mpfr_log(h, h, MPFR_RNDN);
    mpfr_set_ui(eps, units, MPFR_RNDN);
    mpfr_div_ui(eps, eps, DECIMAL_UNIT, MPFR_RNDN);
    mpfr_sub(h, eps, h, MPFR_RNDN);
    mpfr_mul_2si(eps, eps, -59, MPFR_RNDN);
    assert_true(mpfr_sgn(h) >= 0 && mpfr_less_p(h, eps));
    mpfr_clears(h, out, eps, (mpfr_ptr)NULL);
}

/* From one in all to all but one, of as many as there may be. */
static void
test_coin_realises_epsilon_invariant_2(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 1000, 65535, (1u << 23) - 1};
    const size_t count = sizeof sizes / sizeof sizes[0];
    struct seeded seeded;
    struct odds odds;
    (void)state;
    seeded_init(&seeded, 31, 0);
    for (size_t i = 0; i < EPSILONS * count * count; i++) {
        uint32_t m = sizes[i % count], n = sizes[i / count % count];
        uint64_t eps = epsilons[i / count / count];
        odds_init(&odds, eps, m, n);
        check_coin(&odds, eps, m, n);
    }
    for (int i = 0; i < 300; i++) {
        uint32_t m = 1 + random_u32(&seeded.random) % ((1u << 23) - 1);
        uint32_t n = 1 + random_u32(&seeded.random) % ((1u << 23) - 1);
        uint64_t eps =
            DECIMAL_EPS_MIN +
            random_u56(&seeded.random) % (DECIMAL_EPS_MAX - DECIMAL_EPS_MIN);
        odds_init(&odds, eps, m, n);
        check_coin(&odds, eps, m, n);
    }
}

/* symbols.h: a report of w names the truth by odds of w E : k - w; and signs
   by E : 1. So that epsilon is theirs for any k. */
static void
test_symbols_realise_epsilon_invariant_2(void **state)
{
    static const char *const names[] = {"flip", "subset", "signs"};
    static const uint32_t sizes[] = {4, 10, 500, 4096, 65536};
    static uint64_t own[64];
    (void)state;
    for (size_t i = 0; i < 3 * EPSILONS * 5; i++) {
        const char *name = names[i % 3];
        uint32_t k = sizes[i / 3 % 5];
        uint64_t eps = epsilons[i / 15];
        struct channel_instance instance;
        const struct symbols *symbols;
        assert_int_equal(
            channel_init(&instance,
                         channel_find(channel_exact, name, strlen(name)), k, 2,
                         0, eps, 0, own),
            SOTTO_STATUS_OK);
        symbols = symbols_of(&instance);
        assert_true(instance.channel->pairs == (symbols->w == 0));
        check_coin(&symbols->odds, eps, symbols->w > 0 ? symbols->w : 1,
                   symbols->w > 0 ? k - symbols->w : 1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coin_realises_epsilon_invariant_2),
        cmocka_unit_test(test_symbols_realise_epsilon_invariant_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
