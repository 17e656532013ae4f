/*
 * test_mixture.c: maximum likelihood over distributions, and what it rules out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mechanism/mixture.h"

/* A report says the point with probability 0.6, each of the others with 0.2. */
static void
make_three(struct mixture *m, double a, double b, double c)
{
    assert_true(mixture_init(m, 3, 3, 1));
    for (size_t i = 0; i < 9; i++) {
        m->kernel[i] = i % 4 == 0 ? 0.6 : 0.2;
    }
    m->present[0] = 1;
    m->count[0] = a;
    m->count[1] = b;
    m->count[2] = c;
    m->reports = a + b + c;
}

static void
assert_near(double a, double b, double off)
{
    if (!(fabs(a - b) <= off)) {
        fail_msg("%.17g is not within %g of %.17g", a, off, b);
    }
}

/* Inside the simplex the maximum is where the chances are the frequencies. */
static void
test_inside(void **state)
{
    struct mixture m;
    double p[4];
    struct mixture_fit fit = {.p = p};
    (void)state;
    make_three(&m, 400, 350, 250);
    mixture_maximise(&m, &fit);
    assert_near(p[0], 0.5, 1e-2); /* (0.4 - 0.2) / 0.4 */
    assert_near(p[1], 0.375, 1e-2);
    assert_near(p[2], 0.125, 1e-2);
    assert_true(p[3] == 0);
    assert_near(fit.log_likelihood,
                400 * log(0.4) + 350 * log(0.35) + 250 * log(0.25), 0.011);
    assert_true(fit.gap >= 0 && fit.gap < 0.01);
    mixture_clear(&m);
}

/* Outside it, at its edge: no weight is negative. */
static void
test_edge(void **state)
{
    struct mixture m;
    double p[4];
    struct mixture_fit fit = {.p = p};
    (void)state;
    make_three(&m, 500, 400, 100);
    mixture_maximise(&m, &fit);
    assert_true(p[2] >= 0 && p[2] < 1e-3);
    assert_near(p[0] + p[1] + p[2], 1, 1e-12);
    assert_true(fit.gap < 0.01);
    mixture_clear(&m);
}

/*
 * The share of the first point: its profile likelihood, by a fine search over
 * the one weight that is left, says what is ruled out.
 */
static void
test_profile(void **state)
{
    struct mixture m;
    double p[4];
    struct mixture_fit fit = {.p = p};
    const double limit = 3.84;
    (void)state;
    make_three(&m, 400, 350, 250);
    mixture_maximise(&m, &fit);
    for (double share = 0; share <= 1.001; share += 0.05) {
        double most = -INFINITY, below;
        struct mixture_split split = {0, 1, fmin(share, 1)};
        for (int i = 0; i <= 1000; i++) {
            double second = (1 - split.share) * i / 1000;
            double third = 1 - split.share - second;
            most = fmax(most, 400 * log(0.2 + 0.4 * split.share) +
                                  350 * log(0.2 + 0.4 * second) +
                                  250 * log(0.2 + 0.4 * third));
        }
        below = 2 * (fit.log_likelihood - most);
        if (fabs(below - limit) > 0.1) {
            assert_int_equal(mixture_rules_out(&m, &fit, &split, limit),
                             below > limit);
        }
    }
    mixture_clear(&m);
}

/* Two points and missing, which a second cell tells: shares are of those who
   have a value. */
static void
test_missing(void **state)
{
    static const double count[] = {
        0.9 * 180 + 0.05 * 600, 0.1 * 180 + 0.45 * 600, 0.9 * 220 + 0.05 * 600,
        0.1 * 220 + 0.45 * 600};
    struct mixture m;
    double p[3];
    struct mixture_fit fit = {.p = p};
    (void)state;
    assert_true(mixture_init(&m, 2, 2, 2));
    m.kernel[0] = m.kernel[3] = 0.8;
    m.kernel[1] = m.kernel[2] = 0.2;
    m.gone[0] = m.gone[1] = 0.5;
    m.present[0] = m.absent[1] = 0.9;
    m.present[1] = m.absent[0] = 0.1;
    m.missing = true;
    memcpy(m.count, count, sizeof count);
    m.reports = 1000;
    mixture_maximise(&m, &fit); /* 0.45 = 0.8 a + 0.2 (1 - a) of 0.4 */
    assert_near(p[2], 0.6, 1e-2);
    assert_near(p[0] / (p[0] + p[1]), 0.25 / 0.6, 2e-2);
    assert_true(
        mixture_rules_out(&m, &fit, &(struct mixture_split){0, 1, 0.95}, 3.84));
    assert_false(
        mixture_rules_out(&m, &fit, &(struct mixture_split){0, 1, 0.42}, 3.84));
    mixture_clear(&m);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_edge),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
