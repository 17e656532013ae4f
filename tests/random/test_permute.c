/*
 * test_permute.c: orders: known answers of the three ways, that nothing is lost
 * or doubled, and that all orders of a few items are equally likely.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "random/draw.h"
#include "random/permute.h"
#include "random/seeded.h"

#define COUNT 1000u

/* The loops that stood where permute is called now. */
static void
order_plainly(uint32_t *order, size_t n, enum permute_way way, uint64_t seed,
              uint64_t stream)
{
    struct seeded seeded;
    seeded_init(&seeded, seed, stream);
    if (way == PERMUTE_DOWN) {
        for (size_t i = n; i > 1; i--) {
            size_t j = draw_below(&seeded.random, (uint32_t)i);
            uint32_t held = order[i - 1];
            order[i - 1] = order[j];
            order[j] = held;
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        size_t j = way == PERMUTE_UP
                       ? draw_below(&seeded.random, (uint32_t)(i + 1))
                       : (size_t)(random_u56(&seeded.random) % (i + 1));
        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
}

static void
test_ways(void **state)
{
    (void)state;
    for (int way = PERMUTE_DOWN; way <= PERMUTE_WIDE; way++) {
        uint32_t order[COUNT], plain[COUNT];
        bool seen[COUNT] = {false};
        for (uint32_t i = 0; i < COUNT; i++) {
            order[i] = plain[i] = i;
        }
        permute(order, sizeof *order, COUNT, (enum permute_way)way, 7, 9);
        order_plainly(plain, COUNT, (enum permute_way)way, 7, 9);
        assert_memory_equal(order, plain, sizeof order);
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_false(seen[order[i]]);
            seen[order[i]] = true;
        }
    }
}

/* Items of any size move alike. */
static void
test_sizes(void **state)
{
    uint32_t small[COUNT];
    size_t wide[COUNT];
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        small[i] = i;
        wide[i] = i;
    }
    permute(small, sizeof *small, COUNT, PERMUTE_UP, 1, 2);
    permute(wide, sizeof *wide, COUNT, PERMUTE_UP, 1, 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(small[i], wide[i]);
    }
    permute(small, sizeof *small, 0, PERMUTE_DOWN, 1, 2);
    permute(small, sizeof *small, 1, PERMUTE_DOWN, 1, 2);
    assert_int_equal(small[0], wide[0]);
}

/* The six orders of three items, in 6,000 draws: each within five standard
   deviations (29) of 1,000. */
static void
test_even(void **state)
{
    (void)state;
    for (int way = PERMUTE_DOWN; way <= PERMUTE_WIDE; way++) {
        struct seeded seeded;
        unsigned count[27] = {0}, orders = 0;
        seeded_init(&seeded, 3, 4);
        for (int i = 0; i < 6000; i++) {
            uint32_t item[3] = {0, 1, 2};
            permute_drawn(item, sizeof *item, 3, (enum permute_way)way,
                          &seeded.random);
            count[9 * item[0] + 3 * item[1] + item[2]]++;
        }
        for (size_t i = 0; i < 27; i++) {
            orders += count[i] > 0 ? 1 : 0;
            assert_true(count[i] == 0 || (count[i] > 855 && count[i] < 1145));
        }
        assert_int_equal(orders, 6);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
