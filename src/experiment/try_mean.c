/*
 * try_mean.c: several collections of one kind at one epsilon, and what they
 * promise for a campaign.
 *
 * Of n runs with the deviation s between them, chance in the reports moves
 *
 *     the mean of the runs by s / sqrt(n),
 *     one more run, seen from that mean, by s sqrt(1 + 1/n).
 *
 * A campaign is run once, so a verdict goes by the second: where collections
 * differ widely, a good mean of them is no promise.
 */
#include <math.h>

#include "experiment/try.h"

#define ERRORS 2.0 /* standard errors that a verdict takes */

void
try_mean_begin(struct sotto_try_mean *mean)
{
    *mean = (struct sotto_try_mean){
        .low = INFINITY, .high = -INFINITY, .deviation = NAN};
}

void
try_score_count_unknown(struct sotto_campaign_score *score,
                        const struct sotto_table *test)
{
    double known = (double)score->rows / (double)sotto_table_rows(test);
    score->accuracy *= known;
    score->share *= known;
    score->gain_error *= known;
}

/* `deviation` holds the sum of squares until the end, and the errors are those
   of the test rows. */
void
try_mean_add(struct sotto_try_mean *mean,
             const struct sotto_campaign_score *score)
{
    double before = mean->accuracy, n = (double)++mean->runs;
    double squares = mean->runs > 1 ? mean->deviation : 0;
    mean->accuracy += (score->accuracy - before) / n;
    mean->deviation = squares + (score->accuracy - before) *
                                    (score->accuracy - mean->accuracy);
    mean->gain += (score->accuracy - score->share - mean->gain) / n;
    mean->balanced += (score->balanced - mean->balanced) / n;
    double auc = mean->auc;
    mean->auc += (score->auc - auc) / n;
    mean->auc_deviation += (score->auc - auc) * (score->auc - mean->auc);
    mean->gain_error += (score->gain_error - mean->gain_error) / n;
    mean->auc_error += (score->auc_error - mean->auc_error) / n;
    mean->low = fmin(mean->low, score->accuracy);
    mean->high = fmax(mean->high, score->accuracy);
}

/* R2 for the accuracy, beside a constant that has 0; nobody is ranked. */
void
try_mean_add_number(struct sotto_try_mean *mean,
                    const struct sotto_campaign_number *number)
{
    const struct sotto_campaign_score score = {.rows = number->rows,
                                               .accuracy = number->r2,
                                               .gain_error = number->r2_error,
                                               .auc = 0.5};
    try_mean_add(mean, &score);
    mean->rmse += (number->rmse - mean->rmse) / (double)mean->runs;
}

void
try_mean_end(struct sotto_try_mean *mean, double tests)
{
    double n = (double)mean->runs, once = sqrt(1 + 1 / n), many = sqrt(1 / n);
    double gain_rows = mean->gain_error / sqrt(tests);
    double auc_rows = mean->auc_error / sqrt(tests), s;
    mean->deviation = mean->runs > 1 ? sqrt(mean->deviation / (n - 1)) : NAN;
    mean->auc_deviation =
        mean->runs > 1 ? sqrt(mean->auc_deviation / (n - 1)) : 0;
    s = mean->runs > 1 ? mean->deviation : 0;
    mean->gain_error = hypot(gain_rows, s * many);
    mean->gain_once = hypot(gain_rows, s * once);
    mean->auc_error = hypot(auc_rows, mean->auc_deviation * many);
    mean->auc_once = hypot(auc_rows, mean->auc_deviation * once);
    mean->verdict = SOTTO_TRY_NOTHING;
    if (mean->auc > 0.5 + ERRORS * mean->auc_once) {
        mean->verdict = SOTTO_TRY_RANKS;
    }
    if (mean->gain > ERRORS * mean->gain_once) {
        mean->verdict = SOTTO_TRY_LEARNS;
    }
}

bool
try_mean_is_better(const struct sotto_try_mean *a,
                   const struct sotto_try_mean *b)
{
    if (a->runs == 0 || b->runs == 0) {
        return a->runs > 0 && b->runs == 0;
    }
    if (a->verdict != b->verdict) {
        return a->verdict < b->verdict;
    }
    return a->verdict == SOTTO_TRY_LEARNS || a->auc == b->auc
               ? a->gain > b->gain
               : a->auc > b->auc;
}
