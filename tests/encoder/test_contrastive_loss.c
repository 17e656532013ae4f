/*
 * test_contrastive_loss.c: the loss against its definition, its gradient
 * against finite differences.
 */
#include "contrastive_fixture.h"
#include "host/pool.h"
#include "tensor/tensor.h"

enum { N = 5, M = 3, ROWS = 2 * N };

/* As contrastive.h writes it, in doubles. */
static double
defined(const double *p, double t)
{
    double loss = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0, other = 0;
        for (size_t j = 0; j < ROWS; j++) {
            double dot = 0, a = 0, b = 0;
            for (size_t k = 0; k < M; k++) {
                dot += p[i * M + k] * p[j * M + k];
                a += p[i * M + k] * p[i * M + k];
                b += p[j * M + k] * p[j * M + k];
            }
            dot /= sqrt(a) * sqrt(b) * t;
            sum += j != i ? exp(dot) : 0;
            other = j == (i + N) % ROWS ? dot : other;
        }
        loss += (log(sum) - other) / ROWS;
    }
    return loss;
}

static void
check(struct tensor_backend *backend, double t)
{
    double exact[ROWS * M];
    float p[ROWS * M], dp[ROWS * M];
    float *scratch = calloc(contrastive_loss_room(N, M), sizeof *scratch);
    struct seeded seeded;
    assert_non_null(scratch);
    seeded_init(&seeded, 3, 1);
    for (size_t i = 0; i < ROWS * M; i++) {
        p[i] = (float)(4 * uniform(&seeded) - 2);
        exact[i] = (double)p[i];
    }
    double loss = contrastive_loss(backend, N, M, t, p, scratch, dp);
    assert_true(fabs(loss - defined(exact, t)) < 1e-5 * (1 + 1 / t));
    for (size_t i = 0; i < ROWS * M; i++) {
        double keep = exact[i], up, down, h = 1e-6;
        exact[i] = keep + h;
        up = defined(exact, t);
        exact[i] = keep - h;
        down = defined(exact, t);
        exact[i] = keep;
        if (fabs((up - down) / (2 * h) - (double)dp[i]) > 1e-5 * (1 + 1 / t)) {
            fail_msg("t %g, entry %zu: %g, not %g", t, i, (double)dp[i],
                     (up - down) / (2 * h));
        }
    }
    free(scratch);
}

static void
test_definition(void **state)
{
    static const double temperatures[] = {1, 0.1, 0.02, 10};
    struct host_pool *pool = NULL;
    struct tensor_backend *backend = NULL;
    (void)state;
    for (int fast = 0; fast < 2; fast++) {
        must(host_pool_new(2, &pool, &err));
        must(tensor_new(fast ? "cpu" : "plain", pool, &backend, &err));
        for (size_t i = 0; i < 4; i++) {
            check(backend, temperatures[i]);
        }
        tensor_backend_free(backend);
        host_pool_free(pool);
    }
}

/* Where every view is its other's and no one else's: ln((2n - 2) e^(1/t
   (c - 1)) + 1) for a dot product c between records; alone: 0. */
static void
test_known(void **state)
{
    struct tensor_backend *backend = NULL;
    const float two[] = {3, 0, 0, 2, 5, 0, 0, 1}; /* at right angles */
    float dp[8], scratch[64];
    (void)state;
    must(tensor_new("plain", NULL, &backend, &err));
    assert_true(contrastive_loss_room(2, 2) <= 64);
    double loss = contrastive_loss(backend, 2, 2, 0.5, two, scratch, dp);
    assert_true(fabs(loss - log(2 * exp(-2) + 1)) < 1e-6);
    assert_true(fabs(contrastive_loss(backend, 1, 2, 1, two, scratch, dp)) <
                1e-9);
    for (size_t i = 0; i < 4; i++) {
        assert_true(fabs((double)dp[i]) < 1e-7);
    }
    tensor_backend_free(backend);
}

/* A projection of nothing has no direction, and no NaN either. */
static void
test_zero(void **state)
{
    struct tensor_backend *backend = NULL;
    const float zero[8] = {0, 0, 1, 0, 0, 0, 0, 1};
    float dp[8], scratch[64];
    (void)state;
    must(tensor_new("plain", NULL, &backend, &err));
    assert_true(
        isfinite(contrastive_loss(backend, 2, 2, 1, zero, scratch, dp)));
    for (size_t i = 0; i < 8; i++) {
        assert_true(isfinite(dp[i]));
        assert_true(zero[i / 2 * 2] + zero[i / 2 * 2 + 1] > 0 || dp[i] == 0);
    }
    tensor_backend_free(backend);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
