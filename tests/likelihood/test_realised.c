/*
 * test_realised.c: the epsilon of tables as they are. What is planted in a
 * table shows, down to one unit in the last place of a threshold; what is not,
 * in tests/likelihood/test_likelihood.c and tests/channel/test_exact.c.
 */
#include <stdlib.h>

#include <gmp.h>

#include "channel/duchi.h"
#include "channel/gaussian.h"
#include "channel/laplace.h"
#include "channel/signs.h"
#include "channel/window.h"
#include "likelihood/realised.h"

#include "likelihood_fixture.h" /* last: its globals have short names */

/* Looks again, at tables that were tampered with. */
static uint64_t
realise(void)
{
    assert_int_equal(likelihood_init(&at, &instance), SOTTO_STATUS_OK);
    return at.realised;
}

/* Moves a threshold by n 2^-256; its low 64 bits do not overflow in these
   tests. */
static void
move(struct draw_threshold *threshold, int64_t n)
{
    uint64_t low = (uint64_t)threshold->low[1] << 32 | threshold->low[0];
    low += (uint64_t)n;
    threshold->low[0] = (uint32_t)low;
    threshold->low[1] = (uint32_t)(low >> 32);
}

/* One coin: h may not be a unit larger, and no other symbol may be drawn. */
static void
check_coin(const char *name, uint32_t size, uint32_t l, struct odds *odds)
{
    static const uint64_t eps[] = {DECIMAL_EPS_MIN, DECIMAL_UNIT / 7,
                                   DECIMAL_UNIT, 32 * DECIMAL_UNIT};
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
        struct odds kept;
        set_up(name, size, l, eps[i]);
        kept = *odds;
        assert_int_equal(at.realised, eps[i]);
        move(&odds->threshold[0], 1);
        assert_int_equal(realise(), eps[i] + 1);
        *odds = kept;
        move(&odds->threshold[1], 1);
        assert_true(realise() == REALISED_NONE);
        memset(odds, 0, sizeof *odds);
        assert_true(realise() == REALISED_NONE);
        odds->threshold[0].high = 1; /* so rarely the truth that it tells */
        assert_true(realise() > eps[i] || eps[i] > DECIMAL_UNIT);
    }
}

static void
test_one_coin(void **state)
{
    struct symbols *symbols = (struct symbols *)(void *)own_memory;
    struct signs *signs = (struct signs *)(void *)own_memory;
    struct window *window = (struct window *)(void *)own_memory;
    (void)state;
    check_coin("flip", 2, 0, &symbols->odds);
    check_coin("flip", 1000, 0, &symbols->odds);
    check_coin("subset", 50, 0, &symbols->odds);
    check_coin("signs", 20, 0, &signs->symbols.odds);
    check_coin("window", 1, 500, &window->odds);
}

/* A symbol's share follows w, too: with another w the same coin says more. */
static void
test_another_w(void **state)
{
    struct symbols *symbols = (struct symbols *)(void *)own_memory;
    (void)state;
    set_up("subset", 50, 0, DECIMAL_UNIT);
    symbols->w--;
    assert_true(realise() > DECIMAL_UNIT);
}

static void
test_duchi(void **state)
{
    struct duchi *duchi = (struct duchi *)(void *)own_memory;
    (void)state;
    for (uint32_t d = 4; d <= 5; d++) {
        set_up("duchi", d, 100, DECIMAL_UNIT);
        assert_int_equal(at.realised, DECIMAL_UNIT);
        move(&duchi->threshold[DRAW_SMALL], -4); /* of ties */
        assert_int_equal(realise(), DECIMAL_UNIT + (d % 2 == 0));
        move(&duchi->threshold[DRAW_SMALL], 4);
        move(&duchi->threshold[0], 1);
        assert_int_equal(realise(), DECIMAL_UNIT + 1);
        move(&duchi->threshold[0], -1);
        move(&duchi->threshold[DRAW_SMALL + 1], 1);
        assert_true(realise() == REALISED_NONE);
    }
}

/* Every threshold of the noise, a little up or down: some ratio is too large.
   What (L) and (T) have to spare is 2^-60. */
static void
test_laplace(void **state)
{
    static const uint32_t radius[] = {1, 7, 4096};
    struct laplace *laplace = (struct laplace *)(void *)own_memory;
    struct dlaplace *noise = &laplace->noise;
    (void)state;
    for (size_t i = 0; i < sizeof radius / sizeof *radius; i++) {
        set_up("laplace", 3, radius[i], DECIMAL_UNIT);
        assert_int_equal(at.realised, DECIMAL_UNIT);
        for (uint32_t j = DRAW_SMALL; j < noise->count; j++) {
            struct draw_threshold kept = noise->threshold[j];
            for (int up = 0; up < 2; up++) {
                noise->threshold[j].high += up != 0 ? 4096 : (uint64_t)-4096;
                assert_true(realise() > DECIMAL_UNIT);
                noise->threshold[j] = kept;
            }
        }
        noise->threshold[0].high++; /* no fair sign */
        assert_true(realise() == REALISED_NONE);
        noise->threshold[0].high--;
        noise->threshold[1].high -= 1u << 20;
        noise->threshold[0].high -= 2u << 20; /* fair, and 0 too often */
        assert_true(realise() > DECIMAL_UNIT);
    }
}

/* Tables that are not of the shape that is drawn from. */
static void
test_laplace_shape(void **state)
{
    struct laplace *laplace = (struct laplace *)(void *)own_memory;
    struct dlaplace *noise = &laplace->noise;
    (void)state;
    set_up("laplace", 1, 4096, DECIMAL_UNIT);
    assert_true(noise->groups > 1);
    noise->horizon++;
    assert_true(realise() == REALISED_NONE);
    noise->horizon--;
    noise->top--;
    assert_true(realise() == REALISED_NONE);
    noise->top++;
    laplace->integers.clamp++; /* beyond what the noise reaches from -l */
    assert_true(realise() == REALISED_NONE);
    laplace->integers.clamp--;
    assert_int_equal(realise(), DECIMAL_UNIT);
}

static void
test_gaussian(void **state)
{
    struct gaussian *gaussian = (struct gaussian *)(void *)own_memory;
    struct dgauss *noise = &gaussian->noise;
    (void)state;
    set_up("gaussian", 4, 64, DECIMAL_UNIT);
    assert_int_equal(at.realised, DECIMAL_UNIT);
    for (uint32_t i = 0; i < noise->digits * DRAW_FULL; i++) {
        struct draw_threshold kept = noise->threshold[i];
        noise->threshold[i].low[1] ^= 1u << 31;
        assert_true(realise() == REALISED_NONE);
        noise->threshold[i] = kept;
    }
    for (uint32_t i = 0; i < noise->noise.count; i++) {
        struct draw_threshold kept = noise->noise.threshold[i];
        noise->noise.threshold[i].low[1] ^= 1u << 31;
        assert_true(realise() == REALISED_NONE);
        noise->noise.threshold[i] = kept;
    }
    noise->t--; /* not the tables' */
    assert_true(realise() == REALISED_NONE);
    dgauss_init(noise, noise->t, noise->noise.horizon);
    assert_true(realise() > DECIMAL_UNIT && realise() != REALISED_NONE);
}

/* ---- The heap -------------------------------------------------------------
 */

static size_t taken;

static void *
take(size_t size)
{
    taken++;
    return malloc(size);
}

static void *
take_again(void *memory, size_t old, size_t size)
{
    (void)old;
    taken++;
    return realloc(memory, size);
}

static void
give(void *memory, size_t size)
{
    (void)size;
    free(memory);
}

static void
test_the_heap_is_not_used(void **state)
{
    (void)state;
    mp_set_memory_functions(take, take_again, give);
    for (size_t i = 0; channel_exact[i] != NULL; i++) {
        set_up(channel_exact[i]->name, size_for(channel_exact[i], 4),
               l_for(channel_exact[i]), DECIMAL_UNIT);
        assert_true(at.realised <= DECIMAL_UNIT);
    }
    assert_int_equal(taken, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_heap_is_not_used),
        cmocka_unit_test(test_one_coin),
        cmocka_unit_test(test_another_w),
        cmocka_unit_test(test_duchi),
        cmocka_unit_test(test_laplace),
        cmocka_unit_test(test_laplace_shape),
        cmocka_unit_test(test_gaussian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
