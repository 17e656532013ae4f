/*
 * test_chance.c: the shares of a coin are those of its odds.
 */
#include "likelihood_fixture.h"

#include "likelihood/chance.h"

static void
test_chance_is_the_coins(void **state)
{
    static const double eps[] = {0.000001, 0.1, 1, 4, 32};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        struct chance chance;
        struct odds odds;
        double e = exp(eps[i]);
        odds_init(&odds, (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5), 3, 2);
        chance_init(&chance, &odds);
        assert_true(fabs(chance.in / (3 * e / (3 * e + 2)) - 1) < 1e-14);
        assert_true(fabs(chance.out / (2 / (3 * e + 2)) - 1) < 1e-14);
        odds_init(&odds, (uint64_t)(eps[i] * (double)DECIMAL_UNIT + 0.5), 1, 1);
        chance_init(&chance, &odds);
        assert_true(fabs(chance.lead / tanh(eps[i] / 2) - 1) < 1e-14);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chance_is_the_coins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
