/*
 * test_codes_times.c: reports that came several times, each once with a weight,
 * say what they say one by one.
 */
#include "smooth_fixture.h"

#define CELLS 5u
#define CLASSES 3u
#define ROWS_MOST 64u

static struct line line;
static const double even[] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
static const uint8_t *row[ROWS_MOST];
static uint32_t times[ROWS_MOST];
static struct codes_reports grouped;

/* Groups the crowd's reports by what they say, the last ones first. */
static void
group_reports(void)
{
    const struct crowd *crowd = &line.crowd;
    size_t size = crowd->shape.code->instance->wire_size, rows = 0;
    for (size_t i = crowd->reports; i-- > 0;) {
        const uint8_t *own = crowd->report[i] + crowd->shape.offset;
        size_t at = 0;
        while (at < rows && memcmp(row[at] + crowd->shape.offset, own, size)) {
            at++;
        }
        if (at == rows) {
            assert_true(rows < ROWS_MOST);
            row[rows] = crowd->report[i];
            times[rows++] = 0;
        }
        times[at]++;
    }
    grouped = (struct codes_reports){row, times, rows};
}

static void
set_up_at(const char *channel, double eps, size_t reports,
          struct codes *ret_codes)
{
    line_init(&line, 9, CELLS, CLASSES, 0.9, channel, eps, reports, "cpu", 1,
              4);
    group_reports();
    must(codes_init_times(ret_codes, &line.crowd.shape, &grouped, line.pool,
                          &err));
    assert_int_equal(ret_codes->reports, reports);
    assert_int_equal(ret_codes->rows, grouped.rows);
    assert_int_equal(line.codes.rows, reports);
}

static void
set_up(const char *channel, size_t reports, struct codes *ret_codes)
{
    set_up_at(channel, 2, reports, ret_codes);
}

static void
clear(struct codes *codes)
{
    codes_clear(codes);
    line_clear(&line);
}

static void
assert_near(double got, double want, double share)
{
    if (!(fabs(got - want) <= share * (1 + fabs(want)))) {
        fail_msg("%.12g is not %.12g", got, want);
    }
}

static void
set_table(double *ret_j)
{
    for (size_t p = 0; p < (size_t)CELLS * CLASSES; p++) {
        ret_j[p] = line.crowd.pi[p / CLASSES] * (p % 3 == 0 ? 0.5 : 0.25);
    }
}

static void
test_pass(void **state)
{
    static const char *const channel[] = {"flip", "signs"};
    double j[64], g[64], want[64];
    struct codes codes;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        set_up(channel[i], 5000, &codes);
        set_table(j);
        assert_near(codes_pass(&codes, j, g), codes_pass(&line.codes, j, want),
                    1e-6);
        for (size_t p = 0; p < codes.pairs; p++) {
            assert_near(g[p], want[p], 1e-5);
        }
        clear(&codes);
    }
}

/* Of one block of reports both are exact. */
static void
test_information(void **state)
{
    double found[64], want[64];
    struct codes codes;
    (void)state;
    set_up("flip", CODES_BLOCK, &codes);
    codes_information(&codes, line.crowd.pi, even, found);
    codes_information(&line.codes, line.crowd.pi, even, want);
    for (size_t p = 0; p < codes.pairs; p++) {
        assert_near(found[p], want[p], 1e-5);
    }
    assert_near(codes_error(&codes, found), codes_error(&line.codes, want),
                1e-5);
    clear(&codes);
}

static void
test_expansion(void **state)
{
    enum { FOLDS = 7 };
    struct smooth_expansion one, other;
    float score[FOLDS * 64];
    double j[64], each;
    struct codes codes;
    (void)state;
    set_up("flip", 4000, &codes);
    set_table(j);
    must(smooth_expansion_init(&one, &line.codes, &err));
    must(smooth_expansion_init(&other, &codes, &err));
    must(smooth_expansion_set(&one, &line.codes, j, true, line.backend, NULL,
                              &err));
    must(smooth_expansion_set(&other, &codes, j, true, line.backend, NULL,
                              &err));
    assert_near(other.log_p, one.log_p, 1e-6);
    for (size_t p = 0; p < codes.pairs; p++) {
        assert_near((double)other.g[p], (double)one.g[p], 1e-3);
    }
    for (size_t p = 0; p < codes.pairs * codes.pairs; p++) {
        assert_near((double)other.h[p], (double)one.h[p], 1e-3);
    }
    /* Folds have all reports, about as many each, and not what is even. */
    must(smooth_expansion_scores(&other, &codes, FOLDS, score, &err));
    for (size_t p = 0; p < codes.pairs; p++) {
        double sum = 0, squares = 0, g = 0;
        for (size_t i = 0; i < codes.rows; i++) {
            double l = codes.lo, s = 0;
            for (size_t q = 0; q < codes.pairs; q++) {
                double b = codes_column(&codes, 0, q)[i];
                s += j[q] * (codes.lo + codes.step * b);
                l = q == p ? codes.lo + codes.step * b : l;
            }
            g += times[i] * (l / s - 1);
        }
        for (size_t f = 0; f < FOLDS; f++) {
            each = (double)score[f * codes.pairs + p];
            sum += each;
            squares += (each - g / FOLDS) * (each - g / FOLDS);
        }
        assert_near(sum, g, 1e-3);
        /* Its variance is H_pp; 0.2 and 3 are beyond six sigmas of 15. */
        each = squares / (double)one.h[p * codes.pairs + p];
        assert_true(each > 0.05 && each < 4);
    }
    smooth_expansion_clear(&one);
    smooth_expansion_clear(&other);
    clear(&codes);
}

static void
test_labels(void **state)
{
    static const enum cells_method methods[] = {
        CELLS_METHOD_TABLE, CELLS_METHOD_FIELD, CELLS_METHOD_SAMPLE};
    static const double off[] = {0.01, 0.01, 0.03};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct cells_options options = {
            .method = methods[i], .share = even, .seed = 3};
        struct cells_info info;
        struct codes codes;
        double tau[64], want[64];
        set_up("flip", 1000, &codes);
        must(
            cells_fit(&codes, line.crowd.pi, &options, tau, NULL, &info, &err));
        must(cells_fit(&line.codes, line.crowd.pi, &options, want, NULL, &info,
                       &err));
        for (size_t p = 0; p < codes.pairs; p++) {
            if (!(fabs(tau[p] - want[p]) < off[i])) {
                fail_msg("method %zu: %g is not %g", i, tau[p], want[p]);
            }
        }
        clear(&codes);
    }
}

/* What a learner makes of codes with a seed: cells by sampling, or leaves. */
static void
learn_by(bool leaves, struct codes *codes, uint64_t seed, double *ret_tau)
{
    if (leaves) {
        const struct smooth_options options = {.seed = seed, .particles = 64};
        const struct smooth_book book = {codes, line.joint};
        struct smooth_problem problem = line.problem;
        struct smooth_info info;
        problem.book = &book;
        must(smooth_fit(&problem, &options, ret_tau, NULL, &info, &err));
    } else {
        const struct cells_options options = {.method = CELLS_METHOD_SAMPLE,
                                              .share = even,
                                              .chains = 2,
                                              .sweeps = 40,
                                              .seed = seed};
        struct cells_info info;
        must(cells_fit(codes, line.crowd.pi, &options, ret_tau, NULL, &info,
                       &err));
    }
}

/* The variance of tau over seeds, mean of its entries; and their means. */
static double
measure_noise(bool leaves, struct codes *codes, size_t entries,
              double *ret_mean)
{
    enum { SEEDS = 12 };
    static double tau[SEEDS][LEAVES_MOST * CLASSES];
    double spread = 0;
    memset(ret_mean, 0, entries * sizeof *ret_mean);
    for (size_t seed = 0; seed < SEEDS; seed++) {
        learn_by(leaves, codes, seed + 1, tau[seed]);
        for (size_t p = 0; p < entries; p++) {
            ret_mean[p] += tau[seed][p] / SEEDS;
        }
    }
    for (size_t seed = 0; seed < SEEDS; seed++) {
        for (size_t p = 0; p < entries; p++) {
            double off = tau[seed][p] - ret_mean[p];
            spread += off * off / (SEEDS - 1) / (double)entries;
        }
    }
    return spread;
}

/*
 * Few symbols and many people: a row stands for thousands. If a row had one
 * draw where its reports had one each, chance would move the result by more. It
 * does not: nothing is drawn for a report but its fold, and sums are exact.
 */
static void
test_noise(void **state)
{
    enum { PEOPLE = 60000 };
    (void)state;
    for (int leaves = 0; leaves < 2; leaves++) {
        size_t entries = leaves ? 9 * CLASSES : CELLS * CLASSES;
        double mean[2][LEAVES_MOST * CLASSES], spread[2];
        struct codes codes;
        set_up_at("flip", 0.1, PEOPLE, &codes);
        assert_true(codes.rows <= (CLASSES + 1) * CELLS);
        spread[0] = measure_noise(leaves, &line.codes, entries, mean[0]);
        spread[1] = measure_noise(leaves, &codes, entries, mean[1]);
        print_message("%s: a deviation by chance of %.5f from %d reports, "
                      "%.5f from %zu rows\n",
                      leaves ? "leaves" : "cells", sqrt(spread[0]), PEOPLE,
                      sqrt(spread[1]), codes.rows);
        assert_true(spread[0] > 1e-8);
        /* Of 100 degrees of freedom and more each. */
        assert_true(spread[1] < 2 * spread[0]);
        for (size_t p = 0; p < entries; p++) {
            assert_true(fabs(mean[0][p] - mean[1][p]) <
                        6 * sqrt((spread[0] + spread[1]) / 12) + 0.005);
        }
        clear(&codes);
    }
}

static void
test_threads(void **state)
{
    static const enum cells_method methods[] = {
        CELLS_METHOD_TABLE, CELLS_METHOD_FIELD, CELLS_METHOD_SAMPLE};
    struct codes codes, other;
    struct host_pool *pool = NULL;
    (void)state;
    set_up("flip", 20000, &codes);
    must(host_pool_new(3, &pool, &err));
    must(codes_init_times(&other, &line.crowd.shape, &grouped, pool, &err));
    for (size_t i = 0; i < 3; i++) {
        const struct cells_options options = {
            .method = methods[i], .share = even, .seed = 3};
        double tau[64], want[64];
        struct cells_info info;
        must(cells_fit(&codes, line.crowd.pi, &options, want, NULL, &info,
                       &err));
        must(
            cells_fit(&other, line.crowd.pi, &options, tau, NULL, &info, &err));
        assert_memory_equal(tau, want, codes.pairs * sizeof *tau);
    }
    codes_clear(&other);
    host_pool_free(pool);
    clear(&codes);
}

/* The lot of each report is drawn anew, and none is lost. */
static void
test_deal(void **state)
{
    uint32_t count[4], again[4];
    struct codes codes;
    (void)state;
    set_up("flip", 4000, &codes);
    for (size_t i = 0; i < codes.rows; i++) {
        codes_deal(&codes, i, 4, count);
        codes_deal(&codes, i, 4, again);
        assert_memory_equal(count, again, sizeof count);
        assert_int_equal(count[0] + count[1] + count[2] + count[3], times[i]);
        for (size_t f = 0; f < 4; f++) {
            double n = times[i], off = (double)count[f] - n / 4;
            assert_true(off * off < 36 * n * 3 / 16 + 1);
        }
    }
    clear(&codes);
}

/* ---- Counts ---------------------------------------------------------------
 */

#define PAIRS (CELLS * CLASSES)

static void
set_up_counts(double eps, size_t reports, struct codes *ret_codes)
{
    static uint32_t count[2 * PAIRS];
    const struct codes_reports counts = {NULL, count, 2 * PAIRS};
    line_init(&line, 9, CELLS, CLASSES, 0.9, "subset", eps, reports, "cpu", 1,
              4);
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < reports; i++) {
        const uint8_t *own = line.crowd.report[i] + line.crowd.shape.offset;
        for (size_t p = 0; p < PAIRS; p++) {
            size_t s = p / CLASSES * (CLASSES + 1) + p % CLASSES;
            count[2 * p + (own[s / 8] >> (s % 8) & 1 ? 0 : 1)]++;
        }
    }
    assert_true(codes_countable(&line.crowd.shape));
    must(codes_init_times(ret_codes, &line.crowd.shape, &counts, line.pool,
                          &err));
    assert_int_equal(ret_codes->reports, reports);
}

/* Where nothing is known the counts say all that the reports do: the slope is
   the same, and the curvature of any two tables' difference. */
static void
test_counts_slope(void **state)
{
    struct smooth_expansion one, other;
    struct codes codes;
    double j[64], g[64], want[64];
    (void)state;
    set_up_counts(2, 20000, &codes);
    for (size_t p = 0; p < PAIRS; p++) {
        j[p] = 1.0 / PAIRS;
    }
    (void)codes_pass(&codes, j, g);
    (void)codes_pass(&line.codes, j, want);
    for (size_t p = 0; p < PAIRS; p++) {
        /* "(other)" has pairs that are no column here: 5% of what is over */
        assert_true(fabs(g[p] - want[p]) <
                    0.06 * fabs(want[p] - 20000) + 1e-3 * 20000);
    }
    must(smooth_expansion_init(&one, &line.codes, &err));
    must(smooth_expansion_init(&other, &codes, &err));
    must(smooth_expansion_set(&one, &line.codes, j, true, line.backend, NULL,
                              &err));
    must(smooth_expansion_set(&other, &codes, j, true, line.backend, NULL,
                              &err));
    for (size_t p = 0; p + 1 < PAIRS; p++) {
        const float *h[2] = {one.h, other.h};
        double curve[2];
        for (size_t i = 0; i < 2; i++) {
            curve[i] =
                (double)(h[i][p * PAIRS + p] + h[i][(p + 1) * PAIRS + p + 1] -
                         2 * h[i][p * PAIRS + p + 1]);
        }
        assert_true(fabs(curve[1] / curve[0] - 1) < 0.15);
    }
    smooth_expansion_clear(&one);
    smooth_expansion_clear(&other);
    clear(&codes);
}

/* Labels from counts are as near the truth as those from whole reports. */
static void
test_counts_labels(void **state)
{
    static const enum cells_method methods[] = {
        CELLS_METHOD_TABLE, CELLS_METHOD_FIELD, CELLS_METHOD_SAMPLE};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct cells_options options = {
            .method = methods[i], .share = even, .seed = 3};
        struct cells_info info;
        struct codes codes;
        double tau[64], want[64], off[2] = {0};
        set_up_counts(1, 20000, &codes);
        must(
            cells_fit(&codes, line.crowd.pi, &options, tau, NULL, &info, &err));
        must(cells_fit(&line.codes, line.crowd.pi, &options, want, NULL, &info,
                       &err));
        for (size_t p = 0; p < PAIRS; p++) {
            off[0] += fabs(want[p] - line.crowd.tau[p]) / PAIRS;
            off[1] += fabs(tau[p] - line.crowd.tau[p]) / PAIRS;
        }
        print_message("method %zu: off by %.4f from reports, %.4f from "
                      "counts\n",
                      i, off[0], off[1]);
        assert_true(off[1] < 1.1 * off[0] + 0.01);
        clear(&codes);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pass),
        cmocka_unit_test(test_information),
        cmocka_unit_test(test_expansion),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_deal),
        cmocka_unit_test(test_counts_slope),
        cmocka_unit_test(test_counts_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
