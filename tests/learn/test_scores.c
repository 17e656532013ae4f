/*
 * test_scores.c: scores against numbers worked out by hand, and against the
 * definitions written as plain loops over pairs of rows.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "learn/scores_parts.h"
#include "random/draw.h"
#include "random/seeded.h"
#include "sotto/sotto.h"

#define Z 1.959963984540054

static struct sotto_error err;

static struct sotto_scores *
scores_of(const double *p, const size_t *truth, size_t rows, size_t classes)
{
    struct sotto_scores *scores = NULL;
    err = (struct sotto_error){.message = ""};
    assert_int_equal(
        sotto_scores_new(p, truth, rows, classes, Z, &scores, &err),
        SOTTO_STATUS_OK);
    return scores;
}

static void
near(double a, double b, double off)
{
    if (!(fabs(a - b) <= off)) {
        print_error("%.9g is not %.9g\n", a, b);
    }
    assert_true(fabs(a - b) <= off);
}

static void
near_score(struct sotto_score score, double value, double low, double high,
           double off)
{
    near(score.value, value, off);
    near(score.low, low, off);
    near(score.high, high, off);
}

/* ---- Intervals ----------------------------------------------------------- */

static void
test_intervals(void **state)
{
    struct sotto_score none = scores_wilson(0, 0, Z);
    (void)state;
    near_score(scores_wilson(8, 10, Z), 0.8, 0.490162, 0.943318, 1e-6);
    near_score(scores_wilson(0, 10, Z), 0, 0, 0.277533, 1e-6);
    near_score(scores_wilson(10, 10, Z), 1, 0.722467, 1, 1e-6);
    assert_true(isnan(none.value) && isnan(none.low) && isnan(none.high));
    /* 11/52 - 3/52 and sqrt((14/52 - (8/52)^2) / 52) */
    near_score(scores_paired(10, 2, 50, Z), 0.16, 0.0191593, 0.288533, 1e-6);
    near(scores_mcnemar(10, 2), 158.0 / 4096, 1e-12);
    near(scores_mcnemar(2, 10), 158.0 / 4096, 1e-12);
    near(scores_mcnemar(0, 0), 1, 0);
    near(scores_mcnemar(7, 7), 1, 0);
    near(scores_mcnemar(0, 6), 2.0 / 64, 1e-12);
    /* 1, 2, 3, 6: mean 3, variance 14/3 */
    near_score(scores_mean(12, 50, 4, Z), 3, 3 - Z * sqrt(14.0 / 12),
               3 + Z * sqrt(14.0 / 12), 1e-12);
    assert_true(isinf(scores_mean(1, 1, 1, Z).high));
}

/* ---- Ten rows by hand ---------------------------------------------------- */

/* p of class 1; the truth is 1 in the last four of ten, and the two others have
   no class. */
static const double ten[] = {0.1, 0.2,  0.3, 0.4, 0.6, 0.35,
                             0.9, 0.55, 0.7, 0.3, 0.5, 0.5};
static const size_t ten_truth[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, SIZE_MAX};

static void
test_by_hand(void **state)
{
    double p[24], loss = 0;
    struct sotto_scores *scores;
    (void)state;
    for (size_t i = 0; i < 12; i++) {
        p[2 * i] = 1 - ten[i];
        p[2 * i + 1] = ten[i];
        loss -= i < 10 ? log(i < 6 ? 1 - ten[i] : ten[i]) / 10 : 0;
    }
    scores = scores_of(p, ten_truth, 12, 2);
    assert_int_equal(scores->rows, 10);
    assert_int_equal(scores->present, 2);
    /* Named 1: rows 4, 6, 7, 8. Right: 5 of six, 3 of four. */
    assert_int_equal(scores->confusion[0], 5);
    assert_int_equal(scores->confusion[1], 1);
    assert_int_equal(scores->confusion[2], 1);
    assert_int_equal(scores->confusion[3], 3);
    near_score(scores->accuracy, 0.8, 0.490162, 0.943318, 1e-6);
    assert_int_equal(scores->largest, 0);
    near(scores->share.value, 0.6, 1e-12);
    assert_int_equal(scores->only_model, 3);
    assert_int_equal(scores->only_constant, 1);
    near(scores->gain.value, 0.2, 1e-12);
    near(scores->p, 2 * 5.0 / 16, 1e-12);
    assert_int_equal(scores->verdict, SOTTO_SCORES_NO_BETTER);
    near(scores->of[1].recall.value, 0.75, 1e-12);
    near(scores->of[1].precision.value, 0.75, 1e-12);
    near(scores->of[0].precision.value, 5.0 / 6, 1e-12);
    near(scores->balanced.value, (5.0 / 6 + 0.75) / 2, 1e-12);
    near(scores->balanced.low,
         (5.0 / 6 + 0.75) / 2 - hypot(5.0 / 6 - scores->of[0].recall.low,
                                      0.75 - scores->of[1].recall.low) /
                                    2,
         1e-12);
    /* 0.9 and 0.7 are above all six, 0.55 above five; 0.3 is above two and
       level with one. */
    near(scores->auc.value, (6 + 6 + 5 + 2.5) / 24, 1e-12);
    near(scores->of[0].auc, scores->auc.value, 1e-12);
    near(scores->log_loss.value, loss, 1e-12);
    near(scores->shares_loss, -0.6 * log(0.6) - 0.4 * log(0.4), 1e-12);
    near(scores->loss_gain.value, scores->shares_loss - loss, 1e-12);
    sotto_scores_free(scores);
}

static void
test_calibration_by_hand(void **state)
{
    /* Said 0.95 twice, right once; said 0.75 eight times, right six times. */
    double p[20], error = 0.2 * 0.45, chance;
    size_t truth[10];
    struct sotto_scores *scores;
    double v1 = 0.5 * 0.5 / 2, a = (6 + Z * Z / 2) / (8 + Z * Z);
    double v2 = a * (1 - a) / 8, half;
    (void)state;
    for (size_t i = 0; i < 10; i++) {
        p[2 * i] = i < 2 ? 0.95 : 0.75;
        p[2 * i + 1] = 1 - p[2 * i];
        truth[i] = i == 0 || i == 2 || i == 3 ? 1 : 0;
    }
    scores = scores_of(p, truth, 10, 2);
    assert_int_equal(scores->bins, 2);
    near(scores->bin[0].from, 0.75, 1e-12);
    near(scores->bin[0].to, 0.8, 1e-12);
    assert_int_equal(scores->bin[0].rows, 8);
    near(scores->bin[0].right.value, 0.75, 1e-12);
    near(scores->bin[1].said, 0.95, 1e-12);
    near(scores->bin[1].to, 1, 0);
    chance = sqrt(2 / M_PI) *
             (0.8 * sqrt(0.75 * 0.25 / 8) + 0.2 * sqrt(0.95 * 0.05 / 2));
    half = sqrt(2 / M_PI) * (0.8 * sqrt(v2) + 0.2 * sqrt(v1)) +
           Z * sqrt((1 - 2 / M_PI) * (0.64 * v2 + 0.04 * v1));
    near(scores->calibration.value, error, 1e-12);
    near(scores->calibration_chance, chance, 1e-12);
    near(scores->calibration.low, 0, 0);
    near(scores->calibration.high, error + half, 1e-9);
    sotto_scores_free(scores);
}

/* ---- The area under the curve, pair by pair ------------------------------ */

static double
pair_of(double high, double low)
{
    return high > low ? 1 : high == low ? 0.5 : 0;
}

/* DeLong's two variances, from all pairs of a row of class 1 and of class 0. */
static double
delong(const double *s, const size_t *truth, size_t rows, double *ret_variance)
{
    double n[2] = {0, 0}, area = 0, variance = 0;
    for (size_t i = 0; i < rows; i++) {
        n[truth[i]]++;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < rows; j++) {
            if (truth[i] == 1 && truth[j] == 0) {
                area += pair_of(s[i], s[j]) / n[0] / n[1];
            }
        }
    }
    for (size_t i = 0; i < rows; i++) {
        double v = 0, others = n[1 - truth[i]], own = n[truth[i]];
        for (size_t j = 0; j < rows; j++) {
            if (truth[j] != truth[i]) {
                v += truth[i] == 1 ? pair_of(s[i], s[j]) : pair_of(s[j], s[i]);
            }
        }
        variance += pow(v / others - area, 2) / (own - 1) / own;
    }
    *ret_variance = variance;
    return area;
}

static double
draw_unit(struct seeded *seeded)
{
    return (double)draw_below(&seeded->random, 100) / 100;
}

static void
test_delong(void **state)
{
    double p[240], s[80], variance, area, logit, half;
    size_t truth[80];
    struct sotto_scores *scores;
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 3, 0);
    for (size_t i = 0; i < 80; i++) { /* a third class that no row has */
        truth[i] = i % 3 == 0 ? 1 : 0;
        s[i] = fmin(1, (draw_unit(&seeded) + (truth[i] == 1 ? 0.3 : 0)));
        p[3 * i] = (1 - s[i]) / 2;
        p[3 * i + 1] = s[i] / 2;
        p[3 * i + 2] = 0.5;
    }
    area = delong(s, truth, 80, &variance);
    scores = scores_of(p, truth, 80, 3);
    logit = log(area / (1 - area));
    half = Z * sqrt(variance) / area / (1 - area);
    assert_int_equal(scores->present, 2);
    assert_true(area > 0.6 && area < 0.9);
    near_score(scores->auc, area, 1 / (1 + exp(half - logit)),
               1 / (1 + exp(-half - logit)), 1e-9);
    sotto_scores_free(scores);
}

/* Of three classes: the mean of one against the rest, and its variance by
   leaving each row out in turn (the jackknife is near DeLong's). */
static void
test_three_classes(void **state)
{
    enum { ROWS = 90 };
    double p[3 * ROWS], mean = 0, jackknife = 0, half, value;
    size_t truth[ROWS];
    struct sotto_scores *scores;
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 4, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0;
        truth[i] = i % 9 < 5 ? 0 : i % 9 < 8 ? 1 : 2;
        for (size_t y = 0; y < 3; y++) {
            p[3 * i + y] = draw_unit(&seeded) + (truth[i] == y ? 0.5 : 0.1);
            sum += p[3 * i + y];
        }
        for (size_t y = 0; y < 3; y++) {
            p[3 * i + y] /= sum;
        }
    }
    for (size_t y = 0; y < 3; y++) {
        double s[ROWS], variance;
        size_t own[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            s[i] = p[3 * i + y];
            own[i] = truth[i] == y ? 1 : 0;
        }
        mean += delong(s, own, ROWS, &variance) / 3;
    }
    scores = scores_of(p, truth, ROWS, 3);
    value = scores->auc.value;
    half = (log(scores->auc.high / (1 - scores->auc.high)) -
            log(scores->auc.low / (1 - scores->auc.low))) /
           2 * value * (1 - value) / Z;
    sotto_scores_free(scores);
    near(value, mean, 1e-12);
    for (size_t i = 0; i < ROWS; i++) {
        size_t was = truth[i];
        truth[i] = SIZE_MAX;
        scores = scores_of(p, truth, ROWS, 3);
        jackknife += pow(scores->auc.value - value, 2);
        sotto_scores_free(scores);
        truth[i] = was;
    }
    near(half, sqrt(jackknife), 0.06 * half);
}

/* Without any spread the interval is Hanley and McNeil's: not a point. */
static void
test_no_spread(void **state)
{
    double p[20];
    size_t truth[10];
    struct sotto_scores *scores;
    (void)state;
    for (size_t i = 0; i < 10; i++) {
        truth[i] = i < 4 ? 1 : 0;
        p[2 * i + 1] = truth[i] == 1 ? 0.9 : 0.2;
        p[2 * i] = 1 - p[2 * i + 1];
    }
    scores = scores_of(p, truth, 10, 2);
    near(scores->auc.value, 1, 0);
    near(scores->auc.high, 1, 1e-9);
    assert_true(scores->auc.low > 0.4 && scores->auc.low < 0.8);
    /* At the end (1 - a)^2 = z^2 V(a). */
    double a = scores->auc.low;
    near(pow(1 - a, 2),
         Z * Z * a * (1 - a) * (1 + 4 * ((1 - a) / (2 - a) + a / (1 + a))) / 24,
         1e-9);
    sotto_scores_free(scores);
    for (size_t i = 0; i < 20; i++) {
        p[i] = i % 2 == 0 ? 0.7 : 0.3;
    }
    scores = scores_of(p, truth, 10, 2);
    near(scores->auc.value, 0.5, 0);
    assert_true(scores->auc.low < 0.3 && scores->auc.high > 0.7);
    assert_int_equal(scores->verdict, SOTTO_SCORES_SAME);
    assert_int_equal(scores->of[1].named, 0);
    near(scores->p, 1, 0);
    near(scores->balanced.value, 0.5, 1e-12);
    assert_true(isnan(scores->of[1].precision.value));
    sotto_scores_free(scores);
}

/* ---- Verdicts ------------------------------------------------------------ */

static enum sotto_scores_verdict
verdict_of(size_t right_large, size_t wrong_large, size_t right_small,
           size_t wrong_small)
{
    double p[400];
    size_t truth[200], n = 0;
    struct sotto_scores *scores;
    enum sotto_scores_verdict verdict;
    size_t count[2][2] = {{right_large, wrong_large},
                          {wrong_small, right_small}};
    for (size_t y = 0; y < 2; y++) {
        for (size_t said = 0; said < 2; said++) {
            for (size_t i = 0; i < count[y][said]; i++, n++) {
                truth[n] = y;
                p[2 * n + said] = 0.8;
                p[2 * n + 1 - said] = 0.2;
            }
        }
    }
    scores = scores_of(p, truth, n, 2);
    verdict = scores->verdict;
    sotto_scores_free(scores);
    return verdict;
}

static void
test_verdict(void **state)
{
    (void)state;
    /* Nine of ten discordant rows: p = 22/1024 = 0.021; eight: 0.109. */
    assert_int_equal(verdict_of(99, 1, 9, 50), SOTTO_SCORES_BETTER);
    assert_int_equal(verdict_of(98, 2, 8, 50), SOTTO_SCORES_NO_BETTER);
    assert_int_equal(verdict_of(91, 9, 1, 50), SOTTO_SCORES_WORSE);
    assert_int_equal(verdict_of(100, 0, 0, 50), SOTTO_SCORES_SAME);
    assert_int_equal(verdict_of(0, 100, 90, 0), SOTTO_SCORES_NO_BETTER);
}

static void
test_one_class(void **state)
{
    static const double p[] = {1, 1};
    static const size_t truth[] = {0, 0}, none[] = {1, SIZE_MAX};
    struct sotto_scores *scores = scores_of(p, truth, 2, 1), *same = scores;
    (void)state;
    assert_int_equal(scores->present, 1);
    assert_true(isnan(scores->auc.value));
    assert_int_equal(scores->verdict, SOTTO_SCORES_SAME);
    assert_int_equal(scores->bins, 1);
    assert_int_equal(sotto_scores_new(p, none, 2, 1, Z, &same, &err),
                     SOTTO_STATUS_INPUT);
    assert_ptr_equal(same, scores);
    assert_non_null(strstr(err.message, "no row has a label"));
    sotto_scores_free(scores);
    sotto_scores_free(NULL);
}

static void
test_memory(void **state)
{
    static const double p[] = {0.2, 0.8, 0.6, 0.4};
    static const size_t truth[] = {1, 0};
    long n = 0;
    enum sotto_status status;
    struct sotto_scores *scores = NULL;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = sotto_scores_new(p, truth, 2, 2, Z, &scores, &err);
        assert_int_equal(status, fail_alloc_count() >= n ? SOTTO_STATUS_MEMORY
                                                         : SOTTO_STATUS_OK);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_true(n > 6);
    sotto_scores_free(scores);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_calibration_by_hand),
        cmocka_unit_test(test_delong),
        cmocka_unit_test(test_three_classes),
        cmocka_unit_test(test_no_spread),
        cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_one_class),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
