/*
 * scores_calibration.c: whether what is said with probability p is true in a
 * share p of rows.
 *
 * Rows are put into bins by the probability c of their likeliest class, which
 * is from 1/K to 1. With w_b the share of rows in bin b, c_b the mean of c and
 * a_b the share that is right, the expected calibration error is
 *
 *     E = sum_b w_b |c_b - a_b|.
 *
 * It is above 0 even for a calibrated model: with v_b the variance of a_b,
 * |c_b - a_b| is then sqrt(2 v_b / pi) on average. That is the chance level,
 * v_b = mean c (1 - c) / n_b.
 *
 * The interval: E is within D = sum_b w_b |a_b - its expectation| of the true
 * one, whatever that is. D is a sum of half-normal numbers, with the mean
 * sqrt(2/pi) sum w_b sqrt(v_b) and the variance (1 - 2/pi) sum w_b^2 v_b. So
 * mean + z deviations on either side hold it at least as often as they claim.
 * Here v_b comes from the rows that are right, drawn to 1/2 as Wilson does.
 */
#include <math.h>

#include "learn/scores_parts.h"

#define HALF_NORMAL 0.7978845608028654 /* sqrt(2 / pi) */

/* Sums over the rows of a bin. */
struct bin {
    size_t rows, right;
    double said, spread; /* c and c (1 - c) */
};

static void
add_row(const struct scored *scored, size_t row, struct bin *bin)
{
    double least = 1 / (double)scored->classes;
    double c = scored_p(scored, row, scored->named[row]);
    double place = SOTTO_SCORES_BINS * (c - least) / (1 - least);
    size_t b = 0;
    if (scored->classes > 1 && place > 0) {
        b = place < SOTTO_SCORES_BINS ? (size_t)place : SOTTO_SCORES_BINS - 1;
    }
    bin[b].rows++;
    bin[b].right += scored->named[row] == scored->truth[row] ? 1 : 0;
    bin[b].said += c;
    bin[b].spread += c * (1 - c);
}

static void
tell_bin(const struct bin *bin, size_t b, double least, double z,
         struct sotto_score_bin *ret_bin)
{
    double width = (1 - least) / SOTTO_SCORES_BINS;
    ret_bin->from = least + (double)b * width;
    ret_bin->to =
        b + 1 < SOTTO_SCORES_BINS ? least + (double)(b + 1) * width : 1;
    ret_bin->rows = bin->rows;
    ret_bin->said = bin->said / (double)bin->rows;
    ret_bin->right = scores_wilson(bin->right, bin->rows, z);
}

void
scores_calibration(const struct scored *scored, double z,
                   struct sotto_scores *ret_scores)
{
    struct bin bin[SOTTO_SCORES_BINS] = {{0, 0, 0, 0}};
    double error = 0, chance = 0, mean = 0, variance = 0, half;
    for (size_t i = 0; i < scored->rows; i++) {
        add_row(scored, i, bin);
    }
    for (size_t b = 0; b < SOTTO_SCORES_BINS; b++) {
        double n = (double)bin[b].rows, w = n / (double)scored->rows;
        double right = ((double)bin[b].right + z * z / 2) / (n + z * z);
        struct sotto_score_bin *to = &ret_scores->bin[ret_scores->bins];
        if (bin[b].rows == 0) {
            continue;
        }
        tell_bin(&bin[b], b, 1 / (double)scored->classes, z, to);
        ret_scores->bins++;
        error += w * fabs(to->said - to->right.value);
        chance += HALF_NORMAL * w * sqrt(bin[b].spread) / n;
        mean += HALF_NORMAL * w * sqrt(right * (1 - right) / n);
        variance +=
            (1 - HALF_NORMAL * HALF_NORMAL) * w * w * right * (1 - right) / n;
    }
    half = mean + z * sqrt(variance);
    ret_scores->calibration = (struct sotto_score){error, fmax(0, error - half),
                                                   fmin(1, error + half)};
    ret_scores->calibration_chance = chance;
}
