/*
 * test_inside.c: which points of small boxes lie in a domain, counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mechanism/inside.h"

static size_t
count_inside(enum channel_domain domain, size_t l)
{
    size_t count = 0;
    for (int32_t a = -4; a <= 4; a++) {
        for (int32_t b = -4; b <= 4; b++) {
            const int32_t q[2] = {a, b};
            count += inside_domain(domain, 2, l, q);
        }
    }
    return count;
}

static void
test_counts(void **state)
{
    (void)state;
    assert_int_equal(count_inside(CHANNEL_DOMAIN_LATTICE, 3), 25);
    assert_int_equal(count_inside(CHANNEL_DOMAIN_BALL, 3), 29);
    assert_int_equal(count_inside(CHANNEL_DOMAIN_CUBE, 3), 49);
}

/* The largest domains, and integers at both ends: nothing overflows. */
static void
test_ends(void **state)
{
    static int32_t q[CHANNEL_D_MAX];
    (void)state;
    for (size_t i = 0; i < CHANNEL_D_MAX; i++) {
        q[i] = i % 2 == 0 ? (int32_t)CHANNEL_L_MAX : -(int32_t)CHANNEL_L_MAX;
    }
    assert_true(
        inside_domain(CHANNEL_DOMAIN_CUBE, CHANNEL_D_MAX, CHANNEL_L_MAX, q));
    assert_false(
        inside_domain(CHANNEL_DOMAIN_BALL, CHANNEL_D_MAX, CHANNEL_L_MAX, q));
    assert_false(
        inside_domain(CHANNEL_DOMAIN_LATTICE, CHANNEL_D_MAX, CHANNEL_L_MAX, q));
    q[7] = INT32_MIN;
    assert_false(
        inside_domain(CHANNEL_DOMAIN_CUBE, CHANNEL_D_MAX, CHANNEL_L_MAX, q));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
