/*
 * test_attributes.c: one number through piecewise and hybrid: its density by
 * integration, epsilon, moments, and what is drawn; then many attributes.
 */
#include "idealised_fixture.h"

#include "idealised/attributes.h"

#define POINTS 41 /* x from -1 to 1 */

static const double eps_list[] = {0.2, 0.6, 0.62, 1, 3, 8};
static const char *const names[] = {"piecewise", "hybrid"};

/* The two breaks of the density at x. */
static void
breaks_of(const struct attributes *own, double x, double *ret_breaks)
{
    double left = ((own->C + 1) * x - (own->C - 1)) / 2;
    ret_breaks[0] = -own->C;
    ret_breaks[1] = fmax(left, -own->C);
    ret_breaks[2] = fmin(left + own->C - 1, own->C);
    ret_breaks[3] = own->C;
}

/* Integrals of t^power p(t | x): the density is constant between breaks, read
   off attributes_log_p in the middle; the atoms at D and -D are added. */
static double
moment(const struct attributes *own, double x, int power)
{
    double edge[4], sum = 0;
    breaks_of(own, x, edge);
    for (int i = 0; i < 3; i++) {
        double middle = (edge[i] + edge[i + 1]) / 2;
        double p = own->alpha > 0 && edge[i + 1] > edge[i]
                       ? exp(attributes_log_p(own, middle, x))
                       : 0;
        sum += p * (pow(edge[i + 1], power + 1) - pow(edge[i], power + 1)) /
               (power + 1);
    }
    for (int side = -1; own->alpha < 1 && side <= 1; side += 2) {
        sum += pow(side * own->D, power) *
               exp(attributes_log_p(own, side * own->D, x));
    }
    return sum;
}

/* Wang and others 2019: Eq. 8 of piecewise, Duchi's, and hybrid's Eq. 10. */
static double
published(const char *name, double eps, double x)
{
    double root = exp(eps / 2), whole = exp(eps);
    double duchi = pow((whole + 1) / (whole - 1), 2) - x * x;
    if (strcmp(name, "piecewise") == 0) {
        return x * x / (root - 1) + (root + 3) / (3 * pow(root - 1, 2));
    }
    return eps > 0.61 ? (root + 3) / (3 * root * (root - 1)) +
                            pow(whole + 1, 2) / (root * pow(whole - 1, 2))
                      : duchi;
}

static void
test_attributes_moments(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        for (int e = 0; e < 6; e++) {
            set_up(names[m], 1, GRID_L, eps_list[e]);
            const struct attributes *own = instance.own;
            for (int i = 0; i < POINTS; i++) {
                double x = -1 + 2.0 * i / (POINTS - 1);
                double variance = published(names[m], eps_list[e], x);
                int32_t q = (int32_t)lround(x * GRID_L);
                assert_true(fabs(moment(own, x, 0) - 1) < 1e-9);
                assert_true(fabs(moment(own, x, 1) - x) < 1e-9 * own->C);
                assert_true(fabs(moment(own, x, 2) - x * x - variance) <
                            1e-9 * (1 + variance));
                assert_true(fabs(attributes_second(own, x) - x * x - variance) <
                            1e-9 * (1 + variance));
                assert_true(
                    fabs(idealised->variance(&reports, &q) / GRID_L / GRID_L -
                         variance) < 1e-9 * (1 + variance));
                assert_true(idealised->variance(&reports, &q) <=
                            reports.variance_true * (1 + 1e-12));
            }
        }
    }
}

/* The largest ratio over all pairs of x and t on a fine grid and the atoms; it
   is reached. */
static void
test_attributes_epsilon(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        for (int e = 0; e < 6; e++) {
            double most = 0;
            set_up(names[m], 1, GRID_L, eps_list[e]);
            const struct attributes *own = instance.own;
            for (int n = -2000; n <= 2002; n++) {
                double t = n == 2001   ? own->D
                           : n == 2002 ? -own->D
                                       : n / 2000.0 * own->C;
                double low = INFINITY, high = -INFINITY;
                if ((n > 2000 && own->alpha == 1) ||
                    (n <= 2000 && own->alpha == 0)) {
                    continue;
                }
                for (int i = 0; i < POINTS; i++) {
                    double x = -1 + 2.0 * i / (POINTS - 1);
                    double log_p = attributes_log_p(own, t, x);
                    low = fmin(low, log_p);
                    high = fmax(high, log_p);
                }
                most = fmax(most, high - low);
            }
            assert_true(fabs(most - eps_list[e]) < 1e-9);
        }
    }
}

/* 40 bins of t and the two atoms against the integrals of log_p: chi-square at
   alpha 1e-6 for each of 300,000 draws. */
static void
test_attributes_draw(void **state)
{
    static const double x_list[] = {-1, -0.3, 0, 0.75, 1};
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 4, 0);
    for (int m = 0; m < 2; m++) {
        for (int i = 0; i < 5; i++) {
            double count[42] = {0}, mean[42] = {0}, sum = 0;
            int bins = -1;
            set_up(names[m], 1, GRID_L, 1.5);
            const struct attributes *own = instance.own;
            for (int n = 0; n < 300000; n++) {
                double t = attributes_draw(own, x_list[i], &seeded.random);
                int bin = (int)((t + own->C) / (2 * own->C) * 40);
                count[own->alpha < 1 && fabs(t) == own->D ? 40 + (t > 0)
                                                          : bin]++;
            }
            for (int bin = 0; bin < 40; bin++) {
                for (int n = 0; n < 2000; n++) {
                    double t = own->C * (-1 + (bin + (n + 0.5) / 2000) / 20);
                    mean[bin] += 300000 * own->C / 40000 *
                                 exp(attributes_log_p(own, t, x_list[i]));
                }
            }
            for (int side = 0; own->alpha < 1 && side < 2; side++) {
                double t = side == 0 ? -own->D : own->D;
                mean[40 + side] =
                    300000 * exp(attributes_log_p(own, t, x_list[i]));
            }
            for (int bin = 0; bin < 42; bin++) {
                if (mean[bin] > 0) {
                    sum += pow(count[bin] - mean[bin], 2) / mean[bin];
                    bins++;
                }
            }
            assert_true(sum < chi_square_most(bins));
        }
    }
}

/* Wang and others 2019, Eq. 12, and how a report is laid out. */
static void
test_attributes_k(void **state)
{
    static const struct {
        uint32_t d;
        double eps;
        uint32_t k;
    } row[] = {{1, 10, 1},    {784, 10, 4}, {784, 4.9, 1}, {784, 5, 2},
               {784, 0.1, 1}, {3, 10, 3},   {8, 32, 8},    {784, 32, 12}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        set_up("piecewise", row[i].d, GRID_L, row[i].eps);
        const struct attributes *own = instance.own;
        assert_int_equal(own->k, row[i].k);
        assert_int_equal(instance.wire_size, 12 * row[i].k);
        assert_true(fabs(own->eps * row[i].k - row[i].eps) < 1e-12);
    }
}

/* Which attributes are there tells nothing, and their ratios multiply: all
   reports of two values of every attribute, from all pairs of corners. */
static void
test_attributes_many_keep_epsilon(void **state)
{
    static const int32_t corner[2] = {-(int32_t)GRID_L, (int32_t)GRID_L};
    (void)state;
    for (int m = 0; m < 2; m++) {
        double most = 0, sum = 0;
        struct seeded seeded;
        int32_t q[4] = {0};
        set_up(names[m], 4, GRID_L, 7.5); /* k = 3 */
        seeded_init(&seeded, 5, 0);
        for (int n = 0; n < 2000; n++) {
            uint8_t wire[64];
            double low = INFINITY, high = -INFINITY;
            idealised_draw(&instance, q, &seeded.simulation, wire);
            for (int mask = 0; mask < 16; mask++) {
                int32_t other[4];
                double log_p, many;
                for (int j = 0; j < 4; j++) {
                    other[j] = corner[mask >> j & 1];
                }
                log_p = reports.likelihood->log_p(&reports, wire, other);
                reports.likelihood->log_p_many(&reports, wire, other, 1, &many);
                assert_true(log_p == many);
                low = fmin(low, log_p);
                high = fmax(high, log_p);
            }
            most = fmax(most, high - low);
            sum += high - low;
        }
        assert_true(most <= 7.5 + 1e-9);
        assert_true(m == 1 || most >= 7.5 - 1e-9);
        assert_true(sum > 0);
    }
}

/* d = 6, k = 2, eps 5: means and the sum of variances over 200,000 reports.
   Each mean within 5.3 deviations: alpha = 24 * 1.2e-7 < 3e-6. The variance
   within 5.3 of its own, from the fourth moments seen. */
static void
test_attributes_many_are_unbiased(void **state)
{
    static const int32_t q[6] = {-1000, -400, 0, 1, 750, 1000};
    (void)state;
    for (int m = 0; m < 2; m++) {
        struct seeded seeded;
        double mean[6] = {0}, square[6] = {0}, all = 0, all2 = 0, n = 200000;
        set_up(names[m], 6, GRID_L, 5);
        seeded_init(&seeded, 6, 0);
        for (int i = 0; i < (int)n; i++) {
            uint8_t wire[64];
            double estimate[6], size = 0;
            idealised_draw(&instance, q, &seeded.simulation, wire);
            assert_true(likelihood_valid(&reports, wire));
            reports.likelihood->estimate(&reports, wire, estimate);
            for (int j = 0; j < 6; j++) {
                double off = estimate[j] - q[j];
                assert_true(fabs(estimate[j]) <= reports.most * (1 + 1e-9));
                mean[j] += estimate[j] / n;
                square[j] += off * off / n;
                size += off * off;
            }
            all += size / n;
            all2 += size * size / n;
        }
        for (int j = 0; j < 6; j++) {
            assert_true(fabs(mean[j] - q[j]) < 5.3 * sqrt(square[j] / n));
            assert_true(square[j] < 1.05 * reports.variance_true);
        }
        assert_true(fabs(all - idealised->variance(&reports, q)) <
                    5.3 * sqrt((all2 - all * all) / n));
    }
}

static void
test_attributes_pack_and_refuse(void **state)
{
    struct seeded seeded;
    int32_t q[5] = {0, 1, 2, 3, -4};
    uint8_t wire[64], again[64];
    int64_t values[32];
    (void)state;
    set_up("hybrid", 5, GRID_L, 5);
    seeded_init(&seeded, 7, 0);
    for (int i = 0; i < 200; i++) {
        idealised_draw(&instance, q, &seeded.simulation, wire);
        assert_true(likelihood_valid(&reports, wire));
        reports.likelihood->unpack(&reports, wire, values);
        assert_true(reports.likelihood->pack(&reports, values, again));
        assert_memory_equal(wire, again, instance.wire_size);
    }
    values[0] = 5;
    assert_false(reports.likelihood->pack(&reports, values, again));
    values[0] = -1;
    assert_false(reports.likelihood->pack(&reports, values, again));
    values[0] = values[2]; /* the same attribute twice */
    assert_false(reports.likelihood->pack(&reports, values, again));
    memset(wire + 4, 0xff, 8); /* NaN */
    assert_false(likelihood_valid(&reports, wire));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes_moments),
        cmocka_unit_test(test_attributes_epsilon),
        cmocka_unit_test(test_attributes_draw),
        cmocka_unit_test(test_attributes_k),
        cmocka_unit_test(test_attributes_many_keep_epsilon),
        cmocka_unit_test(test_attributes_many_are_unbiased),
        cmocka_unit_test(test_attributes_pack_and_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
