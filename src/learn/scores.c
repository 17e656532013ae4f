/*
 * scores.c: all scores of a table of probabilities.
 *
 * The best constant for accuracy names the largest class, the best one for log
 * loss says the class shares; both are taken from the rows that the model is
 * scored on, where they are a little better than on other rows. So a model
 * that is called better is better than what was known beforehand.
 */
#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/model.h"
#include "learn/scores_parts.h"

#define P_LEAST 1e-300 /* of a logarithm */

double
scored_p(const struct scored *scored, size_t row, size_t class_of)
{
    return scored->p[scored->at[row] * scored->classes + class_of];
}

/* ---- Rows ---------------------------------------------------------------- */

/* Keeps the rows with a class, and counts them. */
static void
take_rows(const size_t *truth, size_t rows, struct scored *scored, size_t *at,
          struct sotto_scores *scores)
{
    for (size_t i = 0; i < rows; i++) {
        size_t y = truth[i], k = scored->rows;
        if (y >= scored->classes) {
            continue;
        }
        at[k] = i;
        scored->truth[k] = y;
        scored->named[k] =
            model_likeliest(scored->p + i * scored->classes, scored->classes);
        scores->confusion[y * scored->classes + scored->named[k]]++;
        scored->rows++;
    }
}

/* ---- Scores -------------------------------------------------------------- */

static void
score_classes(struct sotto_scores *scores)
{
    size_t classes = scores->classes;
    for (size_t y = 0; y < classes; y++) {
        struct sotto_class_score *of = &scores->of[y];
        for (size_t i = 0; i < classes; i++) {
            of->rows += (size_t)scores->confusion[y * classes + i];
            of->named += (size_t)scores->confusion[i * classes + y];
        }
        of->right = (size_t)scores->confusion[y * classes + y];
        of->recall = scores_wilson(of->right, of->rows, scores->z);
        of->precision = scores_wilson(of->right, of->named, scores->z);
        scores->present += of->rows > 0 ? 1 : 0;
        if (of->rows > scores->of[scores->largest].rows) {
            scores->largest = y;
        }
    }
}

/* A row that only one of the two is right about: of the largest class the
   constant is right, of another the model may be. */
static void
score_constant(struct sotto_scores *scores)
{
    const struct sotto_class_score *largest = &scores->of[scores->largest];
    size_t right = 0;
    for (size_t y = 0; y < scores->classes; y++) {
        right += scores->of[y].right;
    }
    scores->accuracy = scores_wilson(right, scores->rows, scores->z);
    scores->share = scores_wilson(largest->rows, scores->rows, scores->z);
    scores->only_model = right - largest->right;
    scores->only_constant = largest->rows - largest->right;
    scores->gain = scores_paired(scores->only_model, scores->only_constant,
                                 scores->rows, scores->z);
    scores->p = scores_mcnemar(scores->only_model, scores->only_constant);
    if (largest->named == scores->rows) {
        scores->verdict = SOTTO_SCORES_SAME;
    } else if (scores->p > erfc(scores->z / sqrt(2.0))) {
        scores->verdict = SOTTO_SCORES_NO_BETTER;
    } else {
        scores->verdict = scores->only_model > scores->only_constant
                              ? SOTTO_SCORES_BETTER
                              : SOTTO_SCORES_WORSE;
    }
}

/* Mean recall. Recalls of different classes are of different rows: the squares
   of their intervals' arms add up (Zou and Donner 2008). */
static void
score_balanced(struct sotto_scores *scores)
{
    double mean = 0, down = 0, up = 0, present = (double)scores->present;
    for (size_t y = 0; y < scores->classes; y++) {
        const struct sotto_score *recall = &scores->of[y].recall;
        if (scores->of[y].rows > 0) {
            mean += recall->value / present;
            down += pow((recall->value - recall->low) / present, 2);
            up += pow((recall->high - recall->value) / present, 2);
        }
    }
    scores->balanced = (struct sotto_score){mean, fmax(0, mean - sqrt(down)),
                                            fmin(1, mean + sqrt(up))};
}

static void
score_loss(const struct scored *scored, struct sotto_scores *scores)
{
    double sum = 0, squares = 0, gain = 0, gain_squares = 0, all = 0;
    for (size_t i = 0; i < scored->rows; i++) {
        size_t y = scored->truth[i];
        double p = scored_p(scored, i, y);
        double loss = -log(p > P_LEAST ? p : P_LEAST);
        double shares = -log((double)scores->of[y].rows / (double)scores->rows);
        sum += loss;
        squares += loss * loss;
        gain += shares - loss;
        gain_squares += (shares - loss) * (shares - loss);
        all += shares;
    }
    scores->log_loss = scores_mean(sum, squares, scored->rows, scores->z);
    scores->loss_gain =
        scores_mean(gain, gain_squares, scored->rows, scores->z);
    scores->shares_loss = all / (double)scored->rows;
}

/* ---- Making and freeing -------------------------------------------------- */

static struct sotto_scores *
make_scores(size_t classes, double z)
{
    struct sotto_scores *scores = calloc(1, sizeof *scores);
    if (scores == NULL) {
        return NULL;
    }
    scores->classes = classes;
    scores->z = z;
    scores->of = calloc(classes, sizeof *scores->of);
    scores->confusion = calloc(classes * classes, sizeof *scores->confusion);
    if (scores->of == NULL || scores->confusion == NULL) {
        sotto_scores_free(scores);
        return NULL;
    }
    return scores;
}

/* Fills scores from the rows that have a class. */
static enum sotto_status
score_rows(struct scored *scored, size_t *has, struct sotto_scores *scores,
           struct sotto_error *err)
{
    enum sotto_status status;
    scores->rows = scored->rows;
    if (scored->rows == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "no row has a label that the model knows");
    }
    score_classes(scores);
    for (size_t y = 0; y < scored->classes; y++) {
        has[y] = scores->of[y].rows;
    }
    scored->has = has;
    score_constant(scores);
    score_balanced(scores);
    score_loss(scored, scores);
    scores_calibration(scored, scores->z, scores);
    status = scores_auc(scored, scores->z, scores->of, &scores->auc, err);
    return status;
}

enum sotto_status
sotto_scores_new(const double *p, const size_t *truth, size_t rows,
                 size_t classes, double z, struct sotto_scores **ret_scores,
                 struct sotto_error *err)
{
    struct sotto_scores *scores = make_scores(classes, z);
    size_t *room = calloc(3 * rows + classes, sizeof *room);
    struct scored scored = {.classes = classes, .p = p};
    enum sotto_status status;
    if (scores == NULL || room == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    scored.truth = room + classes;
    scored.named = scored.truth + rows;
    scored.at = scored.named + rows;
    take_rows(truth, rows, &scored, scored.named + rows, scores);
    status = score_rows(&scored, room, scores, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_scores = scores;
        scores = NULL;
    }
done:
    host_wipe_free(room, (3 * rows + classes) * sizeof *room);
    sotto_scores_free(scores);
    return status;
}

void
sotto_scores_free(struct sotto_scores *scores)
{
    if (scores != NULL) {
        free(scores->of);
        free(scores->confusion);
        free(scores);
    }
}
