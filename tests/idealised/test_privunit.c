/*
 * test_privunit.c: privunit2 and privunitg with ScalarDP: how epsilon is
 * shared, densities and epsilon by integration, unbiasedness and variance, and
 * what is drawn.
 */
#include "idealised_fixture.h"

#include "base/bytes.h"
#include "idealised/doubles.h"
#include "idealised/privunit.h"

#define REPORTS 100000
#define ANGLES 20000
#define TURN 6.283185307179586476925286766559

static const char *const names[] = {"privunit2", "privunitg"};

/* A report of two doubles and a level. */
static void
make_wire(double x, double y, uint32_t level, uint8_t wire[20])
{
    doubles_store(wire, x);
    doubles_store(wire + 8, y);
    bytes_store(wire + 16, 4, level);
}

/* All of epsilon is spent, and no other share of it, with no other k up to
   twice as many and one, is better. */
static void
test_privunit_shares_epsilon_best(void **state)
{
    static const double eps_list[] = {0.5, 2, 10, 20};
    (void)state;
    for (int law = 0; law < 2; law++) {
        for (int e = 0; e < 4; e++) {
            struct privunit other;
            double best;
            set_up(names[law], 784, GRID_L, eps_list[e]);
            const struct privunit *own = instance.own;
            assert_true(fabs(own->cap.eps + own->scalar.eps - eps_list[e]) <
                        1e-12);
            best = cap_second(&own->cap) * scalar_spread(&own->scalar);
            for (uint32_t k = 1; k <= 2 * own->scalar.k + 1; k++) {
                for (int i = 1; i < 24; i++) {
                    double spread =
                        privunit_spread(&other, (enum cap_law)law, 784,
                                        eps_list[e], i / 24.0, k);
                    assert_true(spread >= best * (1 - 1e-9));
                }
            }
        }
    }
}

/* A direction needs two numbers. */
static void
test_privunit_needs_two_numbers(void **state)
{
    struct channel_instance one;
    struct likelihood_instance said;
    (void)state;
    assert_int_equal(idealised_init(idealised_find("privunit2"), 1, GRID_L,
                                    units(1), own_memory, &one, &said),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(idealised_init(idealised_find("privunit2"), 2, GRID_L, 0,
                                    own_memory, &one, &said),
                     SOTTO_STATUS_BUDGET);
}

/* d = 2: the density of privunit2 over the circle (with respect to the uniform
   law), that of privunitg over the plane, summed over levels: 1 for every
   point. By the midpoint rule, whose error is that of the two edges of the cap:
   below 2 (high - low) / ANGLES. */
static double
integrate_circle(const int32_t *q, uint32_t levels)
{
    double sum = 0;
    uint8_t wire[20];
    for (uint32_t j = 0; j <= levels; j++) {
        for (int i = 0; i < ANGLES; i++) {
            double angle = (i + 0.5) / ANGLES * TURN;
            make_wire(cos(angle), sin(angle), j, wire);
            sum += exp(reports.likelihood->log_p(&reports, wire, q)) / ANGLES;
        }
    }
    return sum;
}

static double
integrate_plane(const int32_t *q, uint32_t levels)
{
    double sum = 0, h = 1.0 / 40;
    uint8_t wire[20];
    for (uint32_t j = 0; j <= levels; j++) {
        for (int i = -160; i < 160; i++) {
            for (int k = -160; k < 160; k++) {
                make_wire((i + 0.5) * h, (k + 0.5) * h, j, wire);
                sum +=
                    exp(reports.likelihood->log_p(&reports, wire, q)) * h * h;
            }
        }
    }
    return sum;
}

static void
test_privunit_densities_are_densities(void **state)
{
    static const int32_t q[][2] = {
        {0, 0}, {1000, 0}, {0, -1000}, {300, 400}, {-500, 866}};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        set_up("privunit2", 2, GRID_L, 3);
        const struct privunit *own = instance.own;
        double edge = own->cap.high - own->cap.low;
        double whole = integrate_circle(q[i], own->scalar.k);
        assert_true(fabs(whole - 1) < 2 * edge / ANGLES + 1e-12);
        if (i % 2 == 0) {
            set_up("privunitg", 2, GRID_L, 1);
            own = instance.own;
            whole = integrate_plane(q[i], own->scalar.k);
            /* the edge of the cap is a line through cells of h */
            assert_true(fabs(whole - 1) < 1.0 / 40);
        }
    }
}

/* d = 3: from 26 directions at six lengths, and 0, over 400 reports that are
   drawn: no ratio above e^eps, and one that is e^eps. */
static void
test_privunit_epsilon(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 8, 0);
    for (int law = 0; law < 2; law++) {
        double most = 0;
        set_up(names[law], 3, GRID_L, 4);
        for (int n = 0; n < 400; n++) {
            double low = INFINITY, high = -INFINITY;
            uint8_t wire[28];
            int32_t from[3] = {0, 0, n % 2 == 0 ? 1000 : -100};
            idealised_draw(&instance, from, &seeded.simulation, wire);
            for (int i = 0; i < 27 * 6; i++) {
                int32_t q[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 % 3 - 1};
                double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
                double log_p;
                for (int j = 0; j < 3 && norm > 0; j++) {
                    q[j] = (int32_t)(q[j] * (i / 27) * 199.99 / norm);
                }
                log_p = reports.likelihood->log_p(&reports, wire, q);
                low = fmin(low, log_p);
                high = fmax(high, log_p);
            }
            most = fmax(most, high - low);
        }
        assert_true(most <= 4 + 1e-9);
        assert_true(most > 4 - 0.05); /* lengths of the grid are inside */
    }
}

/* The ends themselves: opposite directions, lengths 0+ and l, and a report in
   one cap with the other's level give e^eps but for the last digits. */
static void
test_privunit_epsilon_is_reached(void **state)
{
    static const int32_t near[2] = {1000, 0}, far[2] = {-1, 0};
    (void)state;
    set_up("privunit2", 2, 1000, 4);
    const struct privunit *own = instance.own;
    uint8_t wire[20];
    make_wire(1, 0, own->scalar.k, wire);
    double ratio = reports.likelihood->log_p(&reports, wire, near) -
                   reports.likelihood->log_p(&reports, wire, far);
    if (own->scalar.k > 1) {
        assert_true(fabs(ratio - 4) < 1e-9);
    } else {
        assert_true(ratio <= 4 && ratio > 3.9);
    }
}

/* Both, for points of the ball: each mean within 5.3 deviations (alpha = 40 *
   1.2e-7 < 5e-6), and the sum of variances within 5.3 of its own deviations of
   the formula. */
static void
test_privunit_is_unbiased(void **state)
{
    static const int32_t q[][5] = {{1000, 0, 0, 0, 0},
                                   {100, -200, 300, -400, 500},
                                   {0, 0, 0, 0, 0},
                                   {50, 50, 50, 50, 50}};
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 9, 0);
    for (int law = 0; law < 2; law++) {
        for (int i = 0; i < 4; i++) {
            double mean[5] = {0}, square[5] = {0}, all = 0, all2 = 0;
            set_up(names[law], 5, GRID_L, 3);
            for (int n = 0; n < REPORTS; n++) {
                double estimate[5], size = 0;
                uint8_t wire[44];
                idealised_draw(&instance, q[i], &seeded.simulation, wire);
                reports.likelihood->estimate(&reports, wire, estimate);
                for (int j = 0; j < 5; j++) {
                    double off = estimate[j] - q[i][j];
                    assert_true(fabs(estimate[j]) <= reports.most * (1 + 1e-9));
                    mean[j] += estimate[j] / REPORTS;
                    square[j] += off * off / REPORTS;
                    size += off * off;
                }
                all += size / REPORTS;
                all2 += size * size / REPORTS;
            }
            for (int j = 0; j < 5; j++) {
                assert_true(fabs(mean[j] - q[i][j]) <
                            5.3 * sqrt(square[j] / REPORTS));
                assert_true(square[j] < 1.05 * reports.variance_true);
            }
            assert_true(fabs(all - idealised->variance(&reports, q[i])) <
                        5.3 * sqrt((all2 - all * all) / REPORTS));
        }
    }
}

/* d = 3: 20 bins of <V, u> and the levels. On a sphere in three dimensions the
   coordinate is uniform, so each bin's mass is that of log_p at its middle, but
   for the bin of gamma: it is split there. Chi-square at alpha 1e-6. */
static void
test_privunit2_draws_as_log_p_says(void **state)
{
    static const int32_t q[3] = {0, 600, -600};
    struct seeded seeded;
    double count[20][16] = {{0}}, sum = 0;
    (void)state;
    set_up("privunit2", 3, GRID_L, 3);
    seeded_init(&seeded, 10, 0);
    const struct privunit *own = instance.own;
    assert_true(own->scalar.k < 16);
    for (int n = 0; n < 400000; n++) {
        uint8_t wire[28];
        idealised_draw(&instance, q, &seeded.simulation, wire);
        assert_true(likelihood_valid(&reports, wire));
        double w = (doubles_load(wire + 8) - doubles_load(wire + 16)) / sqrt(2);
        count[(int)fmin(19, (w + 1) * 10)][bytes_load(wire + 24, 4)]++;
    }
    for (int bin = 0; bin < 20; bin++) {
        for (uint32_t j = 0; j <= own->scalar.k; j++) {
            double mean = 0, off;
            for (int i = 0; i < 1000; i++) {
                double w = -1 + (bin + (i + 0.5) / 1000) / 10;
                double side = sqrt(1 - w * w);
                uint8_t wire[28];
                doubles_store(wire, side);
                doubles_store(wire + 8, w / sqrt(2));
                doubles_store(wire + 16, -w / sqrt(2));
                bytes_store(wire + 24, 4, j);
                mean += exp(reports.likelihood->log_p(&reports, wire, q)) / 20 /
                        1000;
            }
            mean *= 400000;
            off = count[bin][j] - mean;
            sum += off * off / mean;
        }
    }
    assert_true(sum < chi_square_most(20 * (own->scalar.k + 1) - 1));
}

/* d = 2: 12 by 12 bins of V, log_p integrated over each on a fine grid. */
static void
test_privunitg_draws_as_log_p_says(void **state)
{
    static const int32_t q[2] = {700, 0};
    struct seeded seeded;
    double count[12][12] = {{0}}, sum = 0;
    int bins = -1;
    (void)state;
    set_up("privunitg", 2, GRID_L, 2);
    seeded_init(&seeded, 11, 0);
    const struct privunit *own = instance.own;
    for (int n = 0; n < 400000; n++) {
        uint8_t wire[20];
        idealised_draw(&instance, q, &seeded.simulation, wire);
        double x = (doubles_load(wire) + 1.8) / 0.3,
               y = (doubles_load(wire + 8) + 1.8) / 0.3;
        if (x >= 0 && x < 12 && y >= 0 && y < 12) {
            count[(int)x][(int)y]++;
        }
    }
    for (int i = 0; i < 144; i++) {
        double mean = 0, off;
        for (int k = 0; k < 1600; k++) {
            double x = -1.8 + 0.3 * (i / 12 + (k / 40 + 0.5) / 40);
            double y = -1.8 + 0.3 * (i % 12 + (k % 40 + 0.5) / 40);
            for (uint32_t j = 0; j <= own->scalar.k; j++) {
                uint8_t wire[20];
                make_wire(x, y, j, wire);
                mean += exp(reports.likelihood->log_p(&reports, wire, q)) *
                        0.09 / 1600;
            }
        }
        /* the cap's edge is a line x = gamma: its bins count together */
        if (fabs(-1.8 + 0.3 * (i / 12 + 0.5) - own->cap.gamma) > 0.15) {
            mean *= 400000;
            off = count[i / 12][i % 12] - mean;
            sum += off * off / mean;
            bins++;
        }
    }
    assert_true(sum < chi_square_most(bins));
}

static void
test_privunit_packs_and_refuses(void **state)
{
    static const int32_t q[3] = {1, 2, 3};
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 12, 0);
    for (int law = 0; law < 2; law++) {
        uint8_t wire[28], again[28];
        int64_t values[4];
        double many;
        set_up(names[law], 3, GRID_L, 3);
        const struct privunit *own = instance.own;
        idealised_draw(&instance, q, &seeded.simulation, wire);
        assert_true(likelihood_valid(&reports, wire));
        reports.likelihood->log_p_many(&reports, wire, q, 1, &many);
        assert_true(many == reports.likelihood->log_p(&reports, wire, q));
        reports.likelihood->unpack(&reports, wire, values);
        assert_true(reports.likelihood->pack(&reports, values, again));
        assert_memory_equal(wire, again, sizeof wire);
        values[3] = own->scalar.k + 1;
        assert_false(reports.likelihood->pack(&reports, values, again));
        values[3] = -1;
        assert_false(reports.likelihood->pack(&reports, values, again));
        memset(wire, 0xff, 8); /* NaN */
        assert_false(likelihood_valid(&reports, wire));
        make_wire(3, 4, 0, wire);
        doubles_store(wire + 16, 0);
        bytes_store(wire + 24, 4, 0);
        assert_int_equal(likelihood_valid(&reports, wire), law == 1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_privunit_shares_epsilon_best),
        cmocka_unit_test(test_privunit_needs_two_numbers),
        cmocka_unit_test(test_privunit_densities_are_densities),
        cmocka_unit_test(test_privunit_epsilon),
        cmocka_unit_test(test_privunit_epsilon_is_reached),
        cmocka_unit_test(test_privunit_is_unbiased),
        cmocka_unit_test(test_privunit2_draws_as_log_p_says),
        cmocka_unit_test(test_privunitg_draws_as_log_p_says),
        cmocka_unit_test(test_privunit_packs_and_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
