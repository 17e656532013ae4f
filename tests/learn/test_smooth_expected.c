/*
 * test_smooth_expected.c: how often the answer will be right, as particles have
 * it: by hand, and within what accuracies turn out to be.
 */
#include "smooth_fixture.h"

#include "fail_alloc.h"

enum { LEAVES = 2, CLASSES = 3, PARTICLES = 40 };

static const double pi[LEAVES] = {0.75, 0.25};

/* At leaf 0 the answer is 1, and particle t has t / 100 + 0.5 of it; at leaf 1
   it is 2, with 0.6. */
static void
set_tau(float *tau, double *mean)
{
    memset(mean, 0, LEAVES * CLASSES * sizeof *mean);
    for (size_t t = 0; t < PARTICLES; t++) {
        float *first = tau + t * CLASSES;
        float *second = tau + (PARTICLES + t) * CLASSES;
        first[1] = (float)t / 100 + 0.5F;
        first[0] = first[2] = (1 - first[1]) / 2;
        second[2] = 0.6F;
        second[0] = second[1] = 0.2F;
        for (size_t y = 0; y < CLASSES; y++) {
            mean[y] += (double)first[y] / PARTICLES;
            mean[CLASSES + y] += (double)second[y] / PARTICLES;
        }
    }
}

static void
test_by_hand(void **state)
{
    float tau[LEAVES * PARTICLES * CLASSES];
    double mean[LEAVES * CLASSES];
    struct smooth_expectation found;
    (void)state;
    set_tau(tau, mean);
    must(smooth_expected(tau, mean, pi, LEAVES, PARTICLES, CLASSES, &found,
                         &err));
    /* Of 40 particles two are below, two above. */
    assert_true(fabs(found.mean - (0.75 * 0.695 + 0.15)) < 1e-6);
    assert_true(fabs(found.low - (0.75 * 0.52 + 0.15)) < 1e-6);
    assert_true(fabs(found.high - (0.75 * 0.87 + 0.15)) < 1e-6);
}

/* Labels that are runs of leaves: of 40 collections the true accuracy of the
   answer is where it was said to be. */
static void
test_forecast(void **state)
{
    const size_t leaves = 30, classes = 3;
    size_t within = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const struct smooth_options options = {.particles = 64, .seed = seed};
        double tau[LEAVES_MOST * 16], right = 0;
        struct smooth_info info;
        struct line line;
        line_init(&line, leaves, 6, classes, 0.85, "subset", 1, 1500, "cpu", 1,
                  seed);
        must(smooth_fit(&line.problem, &options, tau, NULL, &info, &err));
        for (size_t l = 0; l < leaves; l++) {
            size_t answer = 0;
            for (size_t y = 1; y < classes; y++) {
                if (tau[l * classes + y] > tau[l * classes + answer]) {
                    answer = y;
                }
            }
            right += line.truth[l * classes + answer] / (double)leaves;
        }
        assert_true(info.right.low <= info.right.mean);
        assert_true(info.right.mean <= info.right.high);
        within += info.right.low <= right && right <= info.right.high;
        line_clear(&line);
    }
    assert_in_range(within, 32, 40);
}

static void
test_memory(void **state)
{
    float tau[LEAVES * PARTICLES * CLASSES];
    double mean[LEAVES * CLASSES];
    struct smooth_expectation found;
    (void)state;
    set_tau(tau, mean);
    fail_alloc_at(1);
    assert_int_equal(smooth_expected(tau, mean, pi, LEAVES, PARTICLES, CLASSES,
                                     &found, &err),
                     SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_forecast),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
