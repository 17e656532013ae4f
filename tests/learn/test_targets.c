/*
 * test_targets.c: what a network is to say of records.
 */
#include "codes_fixture.h"

#include "learn/codes/targets.h"

/* The means of codes are tau; inside a code, odds of records to each other are
   those of p. */
static void
test_scale(void **state)
{
    enum { N = 400, K = 3 };
    static double tau[2 * K] = {0.7, 0.25, 0.05, 0.1, 0.2, 0.7};
    float p[N * K], t[N * K];
    uint32_t code[N];
    double sum[2 * K] = {0}, count[2] = {0};
    const struct classifier classifier = {.cells = 2, .classes = K, .tau = tau};
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 4, 0);
    for (size_t m = 0; m < N; m++) {
        float all = 0;
        code[m] = draw_below(&seeded.random, 2);
        for (size_t y = 0; y < K; y++) {
            p[m * K + y] = (float)(1 + draw_below(&seeded.random, 1000));
            all += p[m * K + y];
        }
        for (size_t y = 0; y < K; y++) {
            p[m * K + y] /= all;
        }
    }
    memcpy(t, p, sizeof t);
    must(targets_scale(&classifier, code, N, t, &err));
    for (size_t m = 0; m < N; m++) {
        float all = 0;
        for (size_t y = 0; y < K; y++) {
            all += t[m * K + y];
            sum[code[m] * K + y] += (double)t[m * K + y];
        }
        count[code[m]]++;
        assert_true(fabsf(all - 1) < 1e-5F);
    }
    for (size_t i = 0; i < 2 * K; i++) {
        assert_true(fabs(sum[i] / count[i / K] - tau[i]) < 1e-3);
    }
    for (size_t m = 1; m < N; m++) {
        const float *x = p + m * K, *y = t + m * K;
        double odds = log((double)x[0] / (double)x[1]);
        double made = log((double)y[0] / (double)y[1]);
        for (size_t i = 0; i < m; i++) {
            if (code[i] == code[m]) {
                double of = log((double)p[i * K] / (double)p[i * K + 1]);
                double to = log((double)t[i * K] / (double)t[i * K + 1]);
                assert_true(fabs((odds - of) - (made - to)) < 1e-3);
                break;
            }
        }
    }
}

/* A code with no record, a label with no share, a p of 0 everywhere. */
static void
test_edges(void **state)
{
    static double tau[] = {0.5, 0.5, 0, 1};
    const struct classifier two = {.cells = 2, .classes = 2, .tau = tau};
    const struct classifier one = {.cells = 1, .classes = 2, .tau = tau + 2};
    const uint32_t code[] = {0, 0};
    float p[] = {1, 0, 1, 0};
    (void)state;
    must(targets_scale(&two, code, 2, p, &err));
    for (size_t i = 0; i < 4; i++) {
        assert_true(fabsf(p[i] - 0.5F) < 1e-4F);
    }
    must(targets_scale(&one, code, 2, p, &err));
    assert_true(p[0] < 1e-6F && p[1] > 0.999F);
}

/* Weighed by the reports again and again, p gives codes the labels that these
   have, and the likelihood rises. */
static void
test_weigh(void **state)
{
    enum { N = 600, CELLS = 6, K = 3, REPORTS = 4000 };
    static struct crowd crowd;
    static float p[N * K];
    static uint32_t code[N];
    const struct classifier_aux aux = {.code = code, .n = N};
    const struct classifier classifier = {
        .cells = CELLS, .classes = K, .pi = crowd.pi, .tau = crowd.tau};
    double room[2 * CELLS * K], before, after, mean[CELLS * K], count[CELLS];
    struct codes codes;
    (void)state;
    crowd_table(&crowd, CELLS, K, 0.7, 0.1, false, 1);
    crowd_report(&crowd, "subset", 3, 0, CELLS, K, REPORTS, 2);
    must(codes_init(&codes, &crowd.shape, crowd.report, REPORTS, NULL, &err));
    for (size_t m = 0; m < N; m++) {
        code[m] = (uint32_t)(m % CELLS);
        for (size_t y = 0; y < K; y++) {
            p[m * K + y] = 1 / (float)K;
        }
    }
    before =
        classifier_gradient(&codes, &aux, crowd.pi, crowd.tau, p, room, NULL);
    for (size_t i = 0; i < 40; i++) {
        must(targets_weigh(&classifier, &codes, code, N, p, &err));
        after = classifier_gradient(&codes, &aux, crowd.pi, crowd.tau, p, room,
                                    NULL);
        assert_true(after > before - 1e-3);
        before = after;
    }
    classifier_means(&aux, CELLS, K, crowd.tau, p, mean, count);
    for (size_t i = 0; i < (size_t)CELLS * K; i++) {
        assert_true(fabs(mean[i] - crowd.tau[i]) < 0.1);
    }
    codes_clear(&codes);
    crowd_clear(&crowd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_weigh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
