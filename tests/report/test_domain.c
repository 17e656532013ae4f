/*
 * test_domain.c: whatever the encoder's floats are, q lies in the domain
 * (invariant 1); and where they are ordinary, it is the papers' Eq. 4.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>

#include "client/device.h"
#include "random/seeded.h"

#define D_MAX 4096u
#define L_MAX (1u << 20)
#define PATTERNS 3000000

static float
from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t
norm(const int32_t *q, uint32_t d)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d; i++) {
        sum += (uint64_t)llabs(q[i]);
    }
    return sum;
}

/* Runs domain_lattice and checks what always holds: the norm, the signs, and
   that a NaN is zero. */
static void
run_lattice(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    memset(ret_q, 0x5a, d * sizeof *ret_q);
    domain_lattice(z, d, l, ret_q);
    assert_true(norm(ret_q, d) <= l);
    for (uint32_t i = 0; i < d; i++) {
        assert_true(ret_q[i] == 0 || (ret_q[i] < 0) == (signbit(z[i]) != 0));
        assert_true(ret_q[i] == 0 || !isnan(z[i]));
    }
}

/* ---- Any floats
 * --------------------------------------------------------------- */

static const float odd[] = {
    0.0f,         -0.0f,       1.0f,     -1.0f,    0.5f,
    31.9999981f,  32.0f,       -33.0f,   FLT_MIN,  -FLT_MIN,
    FLT_TRUE_MIN, FLT_MAX,     -FLT_MAX, INFINITY, -INFINITY,
    NAN,          16777216.0f, 1e30f,    1e-30f,   0.99999994f};
#define ODD (sizeof odd / sizeof odd[0])
static const uint32_t radii[] = {1, 2, 3, 7, 1000, 65537, L_MAX - 1, L_MAX};
#define RADII (sizeof radii / sizeof radii[0])

static void
test_odd_floats_stay_inside_invariant_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < ODD * ODD * ODD; i++) {
        float z[3] = {odd[i % ODD], odd[i / ODD % ODD], odd[i / ODD / ODD]};
        int32_t q[3];
        for (size_t j = 0; j < RADII; j++) {
            for (uint32_t d = 1; d <= 3; d++) {
                run_lattice(z, d, radii[j], q);
            }
        }
    }
}

/* Bit patterns drawn at random: every exponent and NaN. */
static void
test_random_bits_stay_inside_invariant_1(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 19, 0);
    for (uint32_t i = 0; i < PATTERNS; i++) {
        uint32_t d = 1 + i % 8;
        uint32_t l = 1 + (random_u32(&seeded.random) % L_MAX >> (i % 21));
        uint32_t near = i / 8 % 2 ? 0x7fffffff : 0;
        float z[8];
        int32_t q[8];
        for (uint32_t j = 0; j < d; j++) {
            uint32_t bits = random_u32(&seeded.random);
            /* every other time exponents near that of one */
            z[j] = from_bits(near ? (bits & 0x83ffffff) + 0x3c000000 : bits);
        }
        run_lattice(z, d, l, q);
    }
}

static void
test_many_coordinates_stay_inside_invariant_1(void **state)
{
    static float z[D_MAX];
    static int32_t q[D_MAX];
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 20, 0);
    for (size_t i = 0; i < ODD; i++) {
        for (uint32_t j = 0; j < D_MAX; j++) {
            z[j] = odd[i];
        }
        for (size_t j = 0; j < RADII; j++) {
            run_lattice(z, D_MAX, radii[j], q);
        }
    }
    for (int i = 0; i < 50; i++) {
        for (uint32_t j = 0; j < D_MAX; j++) {
            z[j] = from_bits(random_u32(&seeded.random));
        }
        run_lattice(z, D_MAX, L_MAX, q);
        run_lattice(z, D_MAX, 1, q);
    }
}

/* ---- Ordinary floats: Eq. 4
 * --------------------------------------------------- */

/* |q_i - l z_i / max(1, |z|_1)| <= 1 + slack, by rationals. The slack is for
   bits below 2^-24 of the largest number, which fixed point drops. */
static void
check_reference(const float *z, uint32_t d, uint32_t l, double slack)
{
    static int32_t q[D_MAX];
    mpq_t sum, x, limit;
    mpq_inits(sum, x, limit, NULL);
    run_lattice(z, d, l, q);
    for (uint32_t i = 0; i < d; i++) {
        mpq_set_d(x, fabs((double)z[i]));
        mpq_add(sum, sum, x);
    }
    if (mpq_cmp_ui(sum, 1, 1) < 0) {
        mpq_set_ui(sum, 1, 1);
    }
    mpq_set_d(limit, 1 + slack);
    for (uint32_t i = 0; i < d; i++) {
        mpq_t at;
        mpq_init(at);
        mpq_set_d(x, (double)z[i] * l); /* exact: 24 + 21 bits */
        mpq_div(x, x, sum);
        mpq_set_si(at, q[i], 1);
        mpq_sub(x, x, at);
        mpq_abs(x, x);
        assert_true(mpq_cmp(x, limit) <= 0);
        mpq_clear(at);
    }
    mpq_clears(sum, x, limit, NULL);
}

static float
draw_float(struct seeded *seeded, double scale)
{
    double unit = (double)random_u56(&seeded->random) * 0x1p-55 - 1;
    return (float)(unit * scale);
}

/* Each number loses less than 2^-24, d of them less than d 2^-24 of the sum. */
static void
test_agrees_with_rationals_within_one(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 21, 0);
    for (uint32_t i = 0; i < 20000; i++) {
        static const double scale[] = {0.01, 0.1, 1, 10, 1000, 1e10};
        uint32_t d = 1 + i % 8, l = radii[i / 8 % RADII];
        float z[8];
        for (uint32_t j = 0; j < d; j++) {
            z[j] = draw_float(&seeded, scale[i / 64 % 6]);
        }
        check_reference(z, d, l, (d + 1) * l * 0x1p-24);
    }
}

static void
test_one_dimension_rounds_to_nearest(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 22, 0);
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t l = radii[i % RADII];
        /* on the grid of 2^-24, so that nothing is dropped before rounding */
        float z = rintf(draw_float(&seeded, 0x1p24f)) * 0x1p-24f;
        int32_t q;
        run_lattice(&z, 1, l, &q);
        assert_int_equal(q, (int32_t)round((double)z * l));
    }
}

static void
test_a_huge_vector_keeps_its_direction(void **state)
{
    const float z[4] = {3e38f, -1.5e38f, 1.5e38f, 1.0f};
    const float infinite[3] = {INFINITY, -INFINITY, 1e30f};
    const float one[2] = {-FLT_MAX, 0.5f};
    int32_t q[4];
    (void)state;
    run_lattice(z, 4, 1000, q);
    assert_int_equal(q[0], 500);
    assert_int_equal(q[1], -250);
    assert_int_equal(q[2], 250);
    assert_int_equal(q[3], 0);
    run_lattice(infinite, 3, 1000, q);
    assert_int_equal(q[0], 500);
    assert_int_equal(q[1], -500);
    assert_int_equal(q[2], 0);
    run_lattice(one, 2, 7, q);
    assert_int_equal(q[0], -7);
    assert_int_equal(q[1], 0);
}

static void
test_nothing_and_vertices(void **state)
{
    const float nothing[3] = {NAN, -NAN, 0};
    const float vertex[3] = {0, -1, 0};
    int32_t q[3];
    (void)state;
    run_lattice(nothing, 3, L_MAX, q);
    assert_int_equal(norm(q, 3), 0);
    run_lattice(vertex, 3, L_MAX, q);
    assert_int_equal(q[1], -(int32_t)L_MAX);
}

/* ---- The ball and the cube
 * ------------------------------------------------------ */

static uint64_t
square_norm(const int32_t *q, uint32_t d)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d; i++) {
        sum += (uint64_t)((int64_t)q[i] * q[i]);
    }
    return sum;
}

/* Runs both and checks what always holds. */
static void
run_both(const float *z, uint32_t d, uint32_t l, int32_t *ret_ball,
         int32_t *ret_cube)
{
    memset(ret_ball, 0x5a, d * sizeof *ret_ball);
    memset(ret_cube, 0x5a, d * sizeof *ret_cube);
    domain_ball(z, d, l, ret_ball);
    domain_cube(z, d, l, ret_cube);
    assert_true(square_norm(ret_ball, d) <= (uint64_t)l * l);
    for (uint32_t i = 0; i < d; i++) {
        const int32_t both[2] = {ret_ball[i], ret_cube[i]};
        assert_true(llabs(ret_cube[i]) <= l);
        for (int j = 0; j < 2; j++) {
            assert_true(both[j] == 0 || (both[j] < 0) == (signbit(z[i]) != 0));
            assert_true(both[j] == 0 || !isnan(z[i]));
        }
    }
}

static void
test_odd_floats_stay_in_ball_and_cube_invariant_1(void **state)
{
    (void)state;
    for (size_t i = 0; i < ODD * ODD * ODD; i++) {
        float z[3] = {odd[i % ODD], odd[i / ODD % ODD], odd[i / ODD / ODD]};
        int32_t ball[3], cube[3];
        for (size_t j = 0; j < RADII; j++) {
            for (uint32_t d = 1; d <= 3; d++) {
                run_both(z, d, radii[j], ball, cube);
            }
        }
    }
}

static void
test_random_bits_stay_in_ball_and_cube_invariant_1(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 24, 0);
    for (uint32_t i = 0; i < PATTERNS / 3; i++) {
        uint32_t d = 1 + i % 8;
        uint32_t l = 1 + (random_u32(&seeded.random) % L_MAX >> (i % 21));
        float z[8];
        int32_t ball[8], cube[8];
        for (uint32_t j = 0; j < d; j++) {
            uint32_t bits = random_u32(&seeded.random);
            /* every other time exponents near that of one */
            z[j] =
                from_bits(i / 8 % 2 ? (bits & 0x83ffffff) + 0x3c000000 : bits);
        }
        run_both(z, d, l, ball, cube);
    }
}

static void
test_many_coordinates_stay_in_ball_and_cube_invariant_1(void **state)
{
    static float z[D_MAX];
    static int32_t ball[D_MAX], cube[D_MAX];
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 25, 0);
    for (size_t i = 0; i < ODD; i++) {
        for (uint32_t j = 0; j < D_MAX; j++) {
            z[j] = odd[i];
        }
        for (size_t j = 0; j < RADII; j++) {
            run_both(z, D_MAX, radii[j], ball, cube);
        }
    }
    for (int i = 0; i < 100; i++) {
        for (uint32_t j = 0; j < D_MAX; j++) {
            uint32_t bits = random_u32(&seeded.random);
            z[j] = from_bits(i % 2 ? (bits & 0x83ffffff) + 0x39000000 : bits);
        }
        for (size_t j = 0; j < RADII; j++) {
            run_both(z, D_MAX, radii[j], ball, cube);
        }
    }
}

/*
 * Against doubles: the ball within 1, or what is lost by fixed point of 2^-20
 * in a number and in the length; the cube within 1/2.
 */
static void
check_doubles(const float *z, uint32_t d, uint32_t l)
{
    int32_t ball[8], cube[8];
    double length = 0, slack = l * 0x1p-20 * (2 + sqrt(d));
    run_both(z, d, l, ball, cube);
    for (uint32_t i = 0; i < d; i++) {
        length += (double)z[i] * z[i];
    }
    length = fmax(1, sqrt(length));
    for (uint32_t i = 0; i < d; i++) {
        double at = fmax(-1, fmin(1, (double)z[i])) * l;
        assert_true(fabs(ball[i] - z[i] / length * l) <= 1 + slack);
        assert_true(fabs(cube[i] - at) <= 0.5 + l * 0x1p-24);
    }
}

static void
test_ball_and_cube_agree_with_doubles(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 26, 0);
    for (uint32_t i = 0; i < 200000; i++) {
        static const double scale[] = {0.01, 0.1, 1, 10, 1000, 1e10};
        uint32_t d = 1 + i % 8, l = radii[i / 8 % RADII];
        float z[8];
        for (uint32_t j = 0; j < d; j++) {
            z[j] = draw_float(&seeded, scale[i / 64 % 6]);
        }
        check_doubles(z, d, l);
    }
}

/* Inside the ball, on the grid of 2^-20 where nothing is dropped: the nearest
   point if it lies in the ball, else towards zero. */
static void
test_ball_rounds_to_nearest_where_it_can(void **state)
{
    struct seeded seeded;
    uint32_t inside = 0, outside = 0;
    (void)state;
    seeded_init(&seeded, 27, 0);
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t d = 1 + i % 4, l = radii[i / 4 % RADII];
        float z[4];
        int32_t ball[4], cube[4], nearest[4];
        double length = 0;
        bool fits;
        for (uint32_t j = 0; j < d; j++) {
            z[j] = rintf(draw_float(&seeded, 0x1p20f)) * 0x1p-20f;
            length += (double)z[j] * z[j];
            nearest[j] = (int32_t)round((double)z[j] * l);
        }
        if (length > 1) {
            continue;
        }
        fits = square_norm(nearest, d) <= (uint64_t)l * l;
        run_both(z, d, l, ball, cube);
        for (uint32_t j = 0; j < d; j++) {
            assert_int_equal(ball[j],
                             fits ? nearest[j] : (int32_t)((double)z[j] * l));
        }
        inside += fits;
        outside += !fits;
    }
    assert_true(inside > 1000 && outside > 100);
}

static void
test_ball_keeps_directions_and_vertices(void **state)
{
    const float huge[3] = {3e38f, -2e38f, 0}, nothing[2] = {NAN, -NAN};
    const float infinite[2] = {INFINITY, -INFINITY};
    const float vertex[3] = {0, -1, 0}, beyond[2] = {3, 4};
    int32_t ball[3], cube[3];
    (void)state;
    run_both(huge, 3, 1000, ball, cube);
    assert_int_equal(ball[0], 832); /* 832.05, -554.7, but -555 is outside */
    assert_int_equal(ball[1], -554);
    assert_int_equal(cube[1], -1000);
    run_both(nothing, 2, L_MAX, ball, cube);
    assert_int_equal(ball[0] | ball[1] | cube[0] | cube[1], 0);
    run_both(infinite, 2, 1000, ball, cube);
    assert_int_equal(ball[0], 707);
    assert_int_equal(ball[1], -707);
    run_both(vertex, 3, L_MAX, ball, cube);
    assert_int_equal(ball[1], -(int32_t)L_MAX);
    assert_int_equal(cube[1], -(int32_t)L_MAX);
    run_both(beyond, 2, 1000, ball, cube);
    assert_int_equal(ball[0], 600);
    assert_int_equal(ball[1], 800);
    assert_int_equal(cube[0], 1000);
}

/* ---- The largest
 * ---------------------------------------------------------------- */

/* The order is that of numbers, but -0 lies below 0; a NaN below all. */
static int
is_above(float a, float b)
{
    if (isnan(a) || isnan(b)) {
        return !isnan(a) && isnan(b);
    }
    return a > b || (a == b && !signbit(a) && signbit(b));
}

static int32_t
plain_largest(const float *z, uint32_t k)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < k; i++) {
        best = is_above(z[i], z[best]) ? i : best;
    }
    return (int32_t)best;
}

static void
test_largest_agrees_with_a_plain_loop(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 23, 0);
    for (uint32_t i = 0; i < 1000000; i++) {
        uint32_t k = 1 + i % 8;
        float z[8];
        for (uint32_t j = 0; j < k; j++) {
            uint32_t bits = random_u32(&seeded.random);
            z[j] = i / 8 % 2 ? odd[bits % ODD] : from_bits(bits);
        }
        assert_int_equal(domain_largest(z, k), plain_largest(z, k));
    }
}

static void
test_largest_takes_the_first_of_equals(void **state)
{
    const float nans[3] = {NAN, -NAN, NAN};
    const float low[3] = {NAN, -INFINITY, -INFINITY};
    const float same[4] = {1, 2, 2, 1};
    (void)state;
    assert_int_equal(domain_largest(nans, 3), 0);
    assert_int_equal(domain_largest(low, 3), 1);
    assert_int_equal(domain_largest(same, 4), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_odd_floats_stay_inside_invariant_1),
        cmocka_unit_test(test_random_bits_stay_inside_invariant_1),
        cmocka_unit_test(test_many_coordinates_stay_inside_invariant_1),
        cmocka_unit_test(test_agrees_with_rationals_within_one),
        cmocka_unit_test(test_one_dimension_rounds_to_nearest),
        cmocka_unit_test(test_a_huge_vector_keeps_its_direction),
        cmocka_unit_test(test_nothing_and_vertices),
        cmocka_unit_test(test_odd_floats_stay_in_ball_and_cube_invariant_1),
        cmocka_unit_test(test_random_bits_stay_in_ball_and_cube_invariant_1),
        cmocka_unit_test(
            test_many_coordinates_stay_in_ball_and_cube_invariant_1),
        cmocka_unit_test(test_ball_and_cube_agree_with_doubles),
        cmocka_unit_test(test_ball_rounds_to_nearest_where_it_can),
        cmocka_unit_test(test_ball_keeps_directions_and_vertices),
        cmocka_unit_test(test_largest_agrees_with_a_plain_loop),
        cmocka_unit_test(test_largest_takes_the_first_of_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
