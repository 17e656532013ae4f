/*
 * test_weigh.c: the inner loops against plain ones in double precision, and
 * every processor's against one another, bit for bit.
 */
#include "learn_fixture.h"

#include "learn/lattice/posterior_kernel.h"

#define N 4128u /* two tiles of sums and a bit; a multiple of 32 */

static float costs[N], from_v[N], sum_a[N], sum_b[N];
static uint16_t code[POSTERIOR_ROWS][N], other[N];
static const uint16_t *const rows[POSTERIOR_ROWS] = {code[0], code[1], code[2],
                                                     code[3]};

static void
fill(void)
{
    struct seeded seeded;
    seeded_init(&seeded, 1, 2);
    for (size_t r = 0; r < POSTERIOR_ROWS; r++) {
        for (size_t m = 0; m < N; m++) {
            costs[m] = (float)draw_below(&seeded.random, 1000000) * 3e-5F;
            from_v[m] = (float)draw_below(&seeded.random, 1000000) * 1e-6F;
        }
        (void)posterior_kernel_plain()->encode(
            costs, posterior_kernel_plain()->least(costs, N), N, code[r]);
    }
}

static void
test_codes(void **state)
{
    float before = 0;
    (void)state;
    assert_true(posterior_kernel_decode(0) == (float)POSTERIOR_LEAST);
    assert_true(posterior_kernel_decode(POSTERIOR_ONE) == 1);
    for (uint32_t c = 0; c <= POSTERIOR_ONE; c++) {
        float at = posterior_kernel_decode((uint16_t)c);
        assert_true(at > before);
        assert_true(c == 0 || (at - before) <= 2 * POSTERIOR_ERROR * before);
        before = at;
    }
}

/* e^-x to within the stated error, over all of its range and beyond. */
static void
test_encode(void **state)
{
    double sum = 0, got;
    (void)state;
    for (size_t m = 0; m < N; m++) {
        costs[m] = 7 + (float)m * 0.01F;
    }
    got = posterior_kernel_best()->encode(costs, 7, N, code[0]);
    for (size_t m = 0; m < N; m++) {
        double right = exp(-((double)costs[m] - 7));
        double at = (double)posterior_kernel_decode(code[0][m]);
        right = right > POSTERIOR_LEAST ? right : POSTERIOR_LEAST;
        assert_true(fabs(at - right) <= (POSTERIOR_ERROR + 3e-6) * right);
        sum += at;
    }
    assert_int_equal(code[0][0], POSTERIOR_ONE);
    assert_true(fabs(got - sum) < 1e-6 * sum);
}

static void
test_sums(void **state)
{
    static const float by[POSTERIOR_ROWS] = {0.5F, 2, -1, 3};
    double got[POSTERIOR_ROWS];
    (void)state;
    fill();
    posterior_kernel_best()->dots(rows, from_v, N, got);
    for (size_t r = 0; r < POSTERIOR_ROWS; r++) {
        double right = 0;
        for (size_t m = 0; m < N; m++) {
            right +=
                (double)posterior_kernel_decode(code[r][m]) * (double)from_v[m];
        }
        assert_true(fabs(got[r] - right) < 1e-6 * right);
    }
    memset(sum_a, 0, sizeof sum_a);
    posterior_kernel_best()->add(rows, by, N, sum_a);
    for (size_t m = 0; m < N; m++) {
        double right = 0, size = 0;
        for (size_t r = 0; r < POSTERIOR_ROWS; r++) {
            right += (double)(by[r] * posterior_kernel_decode(code[r][m]));
            size += fabs((double)(by[r] * posterior_kernel_decode(code[r][m])));
        }
        assert_true(fabs((double)sum_a[m] - right) <= 1e-6 * size);
    }
}

static void
test_distance(void **state)
{
    static int32_t q[3 * N];
    static const int32_t y[3] = {-5, 4096, 1 << 20};
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 5, 0);
    for (size_t i = 0; i < 3 * (size_t)N; i++) {
        q[i] = (int32_t)draw_below(&seeded.random, 8193) - 4096;
    }
    memset(sum_a, 0, sizeof sum_a);
    posterior_kernel_best()->distance(q, N, y, 3, 0.25F, sum_a);
    for (size_t m = 0; m < N; m++) {
        int64_t right = 0;
        for (size_t i = 0; i < 3; i++) {
            right += llabs((long long)y[i] - q[i * N + m]);
        }
        assert_true(fabs((double)sum_a[m] - 0.25 * (double)right) <
                    1e-7 * (double)right);
    }
}

static void
test_least_and_count(void **state)
{
    (void)state;
    fill();
    costs[N - 3] = -2;
    assert_true(posterior_kernel_best()->least(costs, N) == -2);
    size_t right = 0;
    for (size_t m = 0; m < N; m++) {
        right += code[1][m] >= 40000;
    }
    assert_true(right > 0 && right < N);
    assert_int_equal(posterior_kernel_best()->count(code[1], N, 40000), right);
}

/* The kernel for every processor and the best one here. */
static void
test_same(void **state)
{
    static const float by[POSTERIOR_ROWS] = {0.5F, 2, -1, 3};
    const struct posterior_kernel *best = posterior_kernel_best(),
                                  *plain = posterior_kernel_plain();
    double one[POSTERIOR_ROWS], two[POSTERIOR_ROWS];
    (void)state;
    fill();
    assert_true(best->least(costs, N) == plain->least(costs, N));
    assert_true(best->encode(costs, 0, N, code[2]) ==
                plain->encode(costs, 0, N, other));
    assert_memory_equal(code[2], other, sizeof other);
    best->dots(rows, from_v, N, one);
    plain->dots(rows, from_v, N, two);
    assert_memory_equal(one, two, sizeof one);
    memset(sum_a, 0, sizeof sum_a);
    memset(sum_b, 0, sizeof sum_b);
    best->add(rows, by, N, sum_a);
    plain->add(rows, by, N, sum_b);
    assert_memory_equal(sum_a, sum_b, sizeof sum_a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_least_and_count),
        cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
