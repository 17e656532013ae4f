/*
 * test_variational_loss.c: the terms of the objective against integrals, finite
 * differences and plain loops.
 */
#include "encoder/variational.h"
#include "learnt_fixture.h"

static double
laplace(double z, double mean, double scale)
{
    return exp(-fabs(z - mean) / scale) / (2 * scale);
}

/* The integral of q ln(q/p), by Simpson's rule on pieces between the kinks. */
static double
integrate(double mu, double b, double from, double to)
{
    const double s = sqrt(0.5);
    const int steps = 20000;
    double h = (to - from) / steps, sum = 0;
    for (int i = 0; i <= steps; i++) {
        double z = from + i * h;
        double q = laplace(z, mu, b);
        double f = q * (log(q) - log(laplace(z, 0, s)));
        sum += f * (i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2);
    }
    return sum * h / 3;
}

static double
numerical_kl(double mu, double b)
{
    double low = fmin(0, mu), high = fmax(0, mu);
    double total = integrate(mu, b, low - 40 * b, low) +
                   integrate(mu, b, high, high + 40 * b);
    return mu != 0 ? total + integrate(mu, b, low, high) : total;
}

static const double mus[] = {0, 0.01, -0.3, 0.7, -1, 2.5, 10};
static const double bs[] = {0.05, 0.3, 0.70710678118654752, 1, 3};

static void
test_kl_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mus / sizeof *mus; i++) {
        for (size_t j = 0; j < sizeof bs / sizeof *bs; j++) {
            double kl = variational_kl(mus[i], bs[j]).value;
            double truth = numerical_kl(mus[i], bs[j]);
            if (!(fabs(kl - truth) < 1e-6 * (1 + fabs(truth))) || kl < -1e-12) {
                fail_msg("mu %g b %g: %.12g, not %.12g", mus[i], bs[j], kl,
                         truth);
            }
        }
    }
    assert_true(fabs(variational_kl(0, sqrt(0.5)).value) < 1e-15);
}

static void
test_kl_gradient(void **state)
{
    const double h = 1e-6;
    (void)state;
    for (size_t i = 0; i < sizeof mus / sizeof *mus; i++) {
        for (size_t j = 0; j < sizeof bs / sizeof *bs; j++) {
            double mu = mus[i], b = bs[j];
            struct variational_kl kl = variational_kl(mu, b);
            double dmu = (variational_kl(mu + h, b).value -
                          variational_kl(mu - h, b).value) /
                         (2 * h);
            double db = (variational_kl(mu, b + h).value -
                         variational_kl(mu, b - h).value) /
                        (2 * h);
            assert_true(fabs(kl.dmu - dmu) < 1e-5 * (1 + fabs(dmu)));
            assert_true(fabs(kl.db - db) < 1e-5 * (1 + fabs(db)));
        }
    }
}

static double
normal(double z, double mean, double deviation)
{
    double off = (z - mean) / deviation;
    return exp(-off * off / 2) / (deviation * sqrt(2 * acos(-1)));
}

/* The normal's, by Simpson's rule over 12 deviations, and by differences. */
static void
test_kl_normal(void **state)
{
    const int steps = 20000;
    const double step = 1e-6;
    (void)state;
    for (size_t i = 0; i < sizeof mus / sizeof *mus; i++) {
        for (size_t j = 0; j < sizeof bs / sizeof *bs; j++) {
            double mu = mus[i], b = bs[j], h = 24 * b / steps, sum = 0;
            struct variational_kl kl = variational_kl_normal(mu, b);
            double dmu = (variational_kl_normal(mu + step, b).value -
                          variational_kl_normal(mu - step, b).value) /
                         (2 * step);
            double db = (variational_kl_normal(mu, b + step).value -
                         variational_kl_normal(mu, b - step).value) /
                        (2 * step);
            for (int k = 0; k <= steps; k++) {
                double z = mu - 12 * b + k * h;
                double off = (z - mu) / b;
                double log_ratio = (z * z - off * off) / 2 - log(b);
                sum += normal(z, mu, b) * log_ratio *
                       (k == 0 || k == steps ? 1
                        : k % 2 == 1         ? 4
                                             : 2);
            }
            sum *= h / 3;
            assert_true(fabs(kl.value - sum) < 1e-6 * (1 + fabs(sum)));
            assert_true(kl.value > -1e-12);
            assert_true(fabs(kl.dmu - dmu) < 1e-5 * (1 + fabs(dmu)));
            assert_true(fabs(kl.db - db) < 1e-5 * (1 + fabs(db)));
        }
    }
    assert_true(fabs(variational_kl_normal(0, 1).value) < 1e-15);
}

/* -ln p of one entry or one-hot code, by its definition. */
static double
plain_loss(const struct analyst_block *block, const float *a, const float *x)
{
    double loss = 0, all = 0;
    for (size_t i = 0; i < block->count; i++) {
        all += exp((double)a[i]);
    }
    for (size_t i = 0; i < block->count; i++) {
        double p = 1 / (1 + exp(-(double)a[i])), t = (double)x[i];
        switch (block->likelihood) {
        case ANALYST_BERNOULLI:
            loss -= t * log(p) + (1 - t) * log(1 - p);
            break;
        case ANALYST_GAUSSIAN:
            loss += ((double)a[i] - t) * ((double)a[i] - t) / 2;
            break;
        default:
            loss -= t * log(exp((double)a[i]) / all);
            break;
        }
    }
    return loss;
}

/* Mixed columns: value against the definition, gradient against differences. */
static void
test_likelihood(void **state)
{
    static const struct analyst_block block[] = {{ANALYST_GAUSSIAN, 0, 2},
                                                 {ANALYST_CATEGORICAL, 2, 3},
                                                 {ANALYST_BERNOULLI, 5, 4},
                                                 {ANALYST_CATEGORICAL, 9, 2}};
    enum { N = 3, WIDTH = 11 };
    static const float x[N * WIDTH] = {
        0.5f, -1, 0, 1, 0, 0,    1,    0.3f, 0.9f, 1, 0, //
        2,    3,  1, 0, 0, 0.2f, 0.4f, 0,    1,    0, 1, //
        -1,   0,  0, 0, 1, 1,    1,    0,    0.5f, 1, 0};
    float logits[N * WIDTH], down[N * WIDTH], scratch[3 * N * WIDTH];
    struct tensor_backend *backend = NULL;
    struct seeded seeded;
    double truth = 0, loss;
    (void)state;
    must(tensor_new("plain", NULL, &backend, &err));
    seeded_init(&seeded, 5, 0);
    for (size_t i = 0; i < N * WIDTH; i++) {
        logits[i] = (float)(3 * uniform(&seeded) - 1.5);
    }
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < 4; j++) {
            size_t at = i * WIDTH + block[j].from;
            truth += plain_loss(&block[j], logits + at, x + at);
        }
    }
    loss = variational_likelihood(backend, block, 4, N, WIDTH, logits, x, 0.25f,
                                  scratch, down);
    assert_true(fabs(loss - truth) < 1e-4);
    for (size_t i = 0; i < N * WIDTH; i++) {
        const double h = 1e-2;
        float spare[N * WIDTH], keep = logits[i];
        double up, below;
        logits[i] = (float)((double)keep + h);
        up = variational_likelihood(backend, block, 4, N, WIDTH, logits, x, 1,
                                    scratch, spare);
        logits[i] = (float)((double)keep - h);
        below = variational_likelihood(backend, block, 4, N, WIDTH, logits, x,
                                       1, scratch, spare);
        logits[i] = keep;
        assert_true(fabs((up - below) / (2 * h) * 0.25 - (double)down[i]) <
                    2e-3);
    }
    tensor_backend_free(backend);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kl_value),
        cmocka_unit_test(test_kl_gradient),
        cmocka_unit_test(test_kl_normal),
        cmocka_unit_test(test_likelihood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
