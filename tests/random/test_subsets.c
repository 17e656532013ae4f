/*
 * test_subsets.c: every subset with the same probability, exactly, by taking
 * every branch of the sampler on a tape.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>

#include "privacy/tape.h"
#include "random/subsets.h"

#define N_MAX 10u

static uint32_t
run_branch(struct tape *tape, uint32_t n, uint32_t size)
{
    struct random random;
    uint8_t bitmap[3];
    uint32_t subset, bytes = (n + 7) / 8;
    tape_random(tape, &random);
    memset(bitmap, 0xff, sizeof bitmap);
    subsets_draw(&random, n, size, bitmap);
    assert_int_equal(bitmap[bytes], 0xff); /* no byte more */
    subset = bitmap[0] | (uint32_t)(bytes > 1 ? bitmap[1] : 0) << 8;
    assert_true(subset < UINT32_C(1) << n);
    assert_int_equal(__builtin_popcount(subset), size);
    return subset;
}

/* p(subset) C(n, size) = 1 for each, and there are C(n, size) of them. */
static void
check_uniform(uint32_t n, uint32_t size)
{
    static uint8_t seen[1u << N_MAX];
    struct tape *tape = tape_new();
    uint32_t subsets = 0;
    uint64_t shape = 0;
    mpz_t count, product;
    memset(seen, 0, sizeof seen);
    mpz_inits(count, product, NULL);
    mpz_bin_uiui(count, n, size);
    do {
        uint32_t subset = run_branch(tape, n, size);
        assert_int_equal(seen[subset]++, 0); /* one branch a subset */
        mpz_mul(product, tape_numerator(tape), count);
        assert_int_equal(mpz_cmp(product, tape_denominator(tape)), 0);
        assert_true(subsets++ == 0 || shape == tape_shape(tape));
        shape = tape_shape(tape);
    } while (tape_next(tape));
    assert_int_equal(mpz_cmp_ui(count, subsets), 0);
    mpz_clears(count, product, NULL);
    tape_free(tape);
}

static void
test_every_subset_is_as_likely_as_any_other(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= N_MAX; n++) {
        for (uint32_t size = 0; size <= n; size++) {
            check_uniform(n, size);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_subset_is_as_likely_as_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
