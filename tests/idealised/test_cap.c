/*
 * test_cap.c: caps against numerical integrals of the coordinate's density, the
 * papers' formulas, and neighbours of the best gamma.
 */
#include "idealised_fixture.h"

#include "idealised/cap.h"
#include "likelihood/beta.h"

#define STEPS 40000

static const uint32_t d_list[] = {2, 3, 8, 784, 4096};
static const double eps_list[] = {0.1, 1, 4, 10, 30};

/* The angle a between V and u has density sin(a)^(d-2) / B((d-1)/2, 1/2); of a
   normal law, s = w sqrt(d) has the standard one. Nothing of cap.c in it. */
struct integrand {
    enum cap_law law;
    uint32_t d;
    int power;
};

static double
density(double x, const void *context)
{
    const struct integrand *of = context;
    double w = of->law == CAP_NORMAL ? x / sqrt(of->d) : cos(x);
    double p;
    if (of->law == CAP_NORMAL) {
        p = exp(-x * x / 2) / sqrt(2 * acos(-1));
    } else if (of->d == 2) {
        p = 1 / acos(-1);
    } else {
        p = sin(x) > 0 ? exp((of->d - 2.0) * log(sin(x)) -
                             beta_log((of->d - 1.0) / 2, 0.5))
                       : 0;
    }
    return p * pow(w, of->power);
}

/* E[w^power; w >= gamma]. */
static double
above(enum cap_law law, uint32_t d, double gamma, int power)
{
    struct integrand of = {law, d, power};
    return law == CAP_NORMAL ? simpson(density, &of, gamma * sqrt(d), 12, STEPS)
                             : simpson(density, &of, 0, acos(gamma), STEPS);
}

static void
check_cap(const struct cap *cap, enum cap_law law)
{
    uint32_t d = cap->d;
    double tail = above(law, d, cap->gamma, 0), mean, along;
    assert_true(fabs(tail - cap->tail) < 1e-10);
    /* high is up to e^30: of a small tail's digits the last are lost */
    assert_true(fabs(cap->high * tail + cap->low * (1 - tail) - 1) < 1e-8);
    assert_true(fabs(log(cap->high / cap->low) - cap->eps) < 1e-12);
    mean = (cap->high - cap->low) * above(law, d, cap->gamma, 1);
    along =
        cap->low / d + (cap->high - cap->low) * above(law, d, cap->gamma, 2);
    assert_true(fabs(mean - cap->mean) < 1e-8 * mean);
    assert_true(fabs(along - cap->along) < 1e-8 * along);
    assert_true(fabs(cap->size -
                     (law == CAP_NORMAL ? along + (d - 1.0) / d : 1)) < 1e-9);
}

static void
test_cap_is_what_the_integrals_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (size_t e = 0; e < 5; e++) {
            for (int law = 0; law < 2; law++) {
                struct cap cap;
                cap_init(&cap, (enum cap_law)law, d_list[i], eps_list[e]);
                check_cap(&cap, (enum cap_law)law);
            }
        }
    }
}

/* No other gamma is better; on the sphere the best is its own m. */
static void
test_cap_is_the_best(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (size_t e = 0; e < 5; e++) {
            for (int law = 0; law < 2; law++) {
                struct cap best, other;
                cap_init(&best, (enum cap_law)law, d_list[i], eps_list[e]);
                for (int n = 0; n < 2000; n++) {
                    double gamma = law == CAP_SPHERE
                                       ? n / 2000.0
                                       : n * 0.006 / sqrt(d_list[i]);
                    cap_set(&other, (enum cap_law)law, d_list[i], eps_list[e],
                            gamma);
                    assert_true(!(cap_second(&other) <
                                  cap_second(&best) * (1 - 1e-12)));
                }
                if (law == CAP_SPHERE) {
                    assert_true(fabs(best.gamma - best.mean) < 1e-12);
                }
            }
        }
    }
}

/* Bhowmick and others 2019, Algorithm 2: a = (d-1)/2, t = (1 + gamma)/2,
   m = (1-gamma^2)^a / (2^(d-2) (d-1)) (p / (B(a,a) - B(t; a,a))
                                        - (1-p) / B(t; a,a)). */
static void
test_cap_has_the_paper_s_mean(void **state)
{
    static const uint32_t d[] = {2, 3, 8, 100, 784};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (size_t e = 0; e < 4; e++) {
            struct cap cap;
            cap_init(&cap, CAP_SPHERE, d[i], eps_list[e]);
            double a = (d[i] - 1.0) / 2, p = cap.high * cap.tail;
            double below = beta_below(a, a, (1 + cap.gamma) / 2);
            double m =
                exp(a * log1p(-cap.gamma * cap.gamma) - (d[i] - 2.0) * log(2) -
                    log(d[i] - 1.0) - beta_log(a, a)) *
                (p / (1 - below) - (1 - p) / below);
            assert_true(fabs(m - cap.mean) < 1e-6 * m);
            assert_true(fabs(1 - below - cap.tail) < 1e-10);
        }
    }
}

/* In many dimensions the normal law's second moment is the sphere's. */
static void
test_cap_laws_meet(void **state)
{
    (void)state;
    for (size_t e = 1; e < 4; e++) {
        double ratio = INFINITY;
        for (uint32_t d = 64; d <= 4096; d *= 4) {
            struct cap sphere, normal;
            cap_init(&sphere, CAP_SPHERE, d, eps_list[e]);
            cap_init(&normal, CAP_NORMAL, d, eps_list[e]);
            double now = cap_second(&normal) / cap_second(&sphere);
            assert_true(now > 1 && now < ratio);
            ratio = now;
        }
        assert_true(ratio < 1.02);
    }
}

static void
test_cap_quantile_inverts_the_tail(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (int law = 0; law < 2; law++) {
            for (double tail = 1e-12; tail < 1; tail = tail * 1.7 + 1e-13) {
                double w = cap_quantile((enum cap_law)law, d_list[i], tail);
                double step = 4e-16 * (fabs(w) + 1 / sqrt(d_list[i]));
                double more = cap_tail((enum cap_law)law, d_list[i], w - step);
                double less = cap_tail((enum cap_law)law, d_list[i], w + step);
                assert_true(less <= tail * (1 + 1e-11));
                assert_true(more >= tail * (1 - 1e-11));
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cap_is_what_the_integrals_say),
        cmocka_unit_test(test_cap_is_the_best),
        cmocka_unit_test(test_cap_has_the_paper_s_mean),
        cmocka_unit_test(test_cap_laws_meet),
        cmocka_unit_test(test_cap_quantile_inverts_the_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
