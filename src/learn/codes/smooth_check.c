/*
 * smooth_check.c: how often the answer is right, as the reports themselves have
 * it (docs/codebook.md, "How often it will be right").
 *
 * An answer a(l) gives the label y to the share v_cy of the people with code c.
 * If labels do not depend on leaves within a code, it is right for
 *
 *     sum_cy v_cy J_cy
 *
 * of the people, and J is what reports estimate without a prior: with the
 * gradient G and the curvature H of their log-likelihood at any table J*,
 *
 *     sum_cy v_cy J*_cy + u'G,    H u = v,    the variance v'u,
 *
 * where v and u are brought to rows of sum 0, since the rows of J have known
 * sums. But the answer was found from the same reports, and fits their noise.
 * So reports are cut into F folds, and fold f, with its own gradient G_f and
 * H / F, is asked about the answer that the others give. That answer needs no
 * other fit: without the fold a particle has the weight 1 / p(fold | particle),
 * and tau is the particles' mean by these weights.
 *
 * Where two labels are nearly as likely, a fold more or less decides between
 * them, and an estimate that follows such steps has a large variance. So it is
 * of a softened answer, which gives a leaf's people to its labels by tau^POWER;
 * by how much the answer itself is better, the particles say, give or take as
 * much.
 *
 * What leaves know beyond their codes reports do not tell. The particles say
 * how much it is, and may be right or deceived by their prior: half of what
 * they say counts, give or take as much.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/cells.h"
#include "learn/codes/smooth.h"

#define MISFIT 0.05         /* of labels by leaves of cells */
#define MISFIT_COLUMNS 0.02 /* of labels by columns */
#define FOLDS 256u          /* of a book */
#define ROUNDS 40u          /* of conjugate gradients */
#define SMALL 1e-4          /* a residual that will do, of what it was */
#define POWER 3.0           /* of tau, in an answer that is softened */
#define REPORTS_EACH 10u    /* to a pair, at least */
#define RIDGE 1e-3          /* of the mean of H's diagonal */

/* Rooms for the folds of one book. */
struct check {
    struct smooth_energy *energy;
    const double *mean; /* leaves rows of classes */
    size_t b, folds, cells, pairs, particles, classes;
    double ridge;
    double *now;    /* leaves rows of classes: the particles' mean */
    double *code;   /* cells: their shares */
    double *column; /* classes, three times */
    size_t *answer; /* leaves: of all folds */
    float *score;   /* folds rows of pairs: G of a fold */
    float *weight;  /* folds rows of particles, less 1 / particles */
    float *found;   /* folds rows of classes: tau of a leaf */
    float *v, *u;   /* folds rows of pairs */
    float *r, *d, *hd;
    float *square; /* folds rows of folds */
};

static bool
check_init(struct check *check)
{
    size_t size = check->folds * check->pairs;
    size_t leaves = check->energy->problem->leaves;
    check->now = calloc(leaves * check->classes, sizeof(double));
    check->code = calloc(check->cells, sizeof(double));
    check->column = calloc(3 * check->classes, sizeof(double));
    check->answer = calloc(leaves, sizeof(size_t));
    check->score = calloc(size, sizeof(float));
    check->weight = calloc(check->folds * check->particles, sizeof(float));
    check->found = calloc(check->folds * check->classes, sizeof(float));
    check->v = calloc(size, sizeof(float));
    check->u = calloc(size, sizeof(float));
    check->r = calloc(size, sizeof(float));
    check->d = calloc(size, sizeof(float));
    check->hd = calloc(size, sizeof(float));
    check->square = calloc(check->folds * check->folds, sizeof(float));
    return check->now != NULL && check->code != NULL && check->column != NULL &&
           check->answer != NULL && check->score != NULL &&
           check->weight != NULL && check->found != NULL && check->v != NULL &&
           check->u != NULL && check->r != NULL && check->d != NULL &&
           check->hd != NULL && check->square != NULL;
}

static void
check_clear(struct check *check)
{
    free(check->now);
    free(check->code);
    free(check->column);
    free(check->answer);
    free(check->score);
    free(check->weight);
    free(check->found);
    free(check->v);
    free(check->u);
    free(check->r);
    free(check->d);
    free(check->hd);
    free(check->square);
}

/* ---- Answers without a fold ----------------------------------------------
 */

/* ln p(fold | particle), but for a constant, is G_f'x - x'H x / (2 folds). */
static void
set_weights(struct check *check)
{
    struct smooth_energy *energy = check->energy;
    struct tensor_backend *backend = energy->problem->backend;
    size_t particles = check->particles, pairs = check->pairs;
    backend->ops->multiply(backend, false, true, check->folds, particles, pairs,
                           1, check->score, energy->x, 0, check->weight);
    for (size_t t = 0; t < particles; t++) {
        double square = 0;
        for (size_t p = 0; p < pairs; p++) {
            square += (double)energy->x[t * pairs + p] *
                      (double)energy->y[t * pairs + p];
        }
        for (size_t f = 0; f < check->folds; f++) {
            check->weight[f * particles + t] -=
                (float)(square / (2 * (double)check->folds));
        }
    }
    for (size_t f = 0; f < check->folds; f++) {
        float *weight = check->weight + f * particles;
        double least = INFINITY, sum = 0;
        for (size_t t = 0; t < particles; t++) {
            least = fmin(least, (double)weight[t]);
        }
        for (size_t t = 0; t < particles; t++) {
            weight[t] = (float)exp(least - (double)weight[t]);
            sum += (double)weight[t];
        }
        for (size_t t = 0; t < particles; t++) {
            weight[t] =
                (float)((double)weight[t] / sum - 1 / (double)particles);
        }
    }
}

/* Says how much of a leaf has each label: tau^POWER, of sum 1. */
static void
soften_answer(const double *mean, const float *change, size_t classes,
              double *ret_said)
{
    double most = 0, sum = 0;
    for (size_t y = 0; y < classes; y++) {
        ret_said[y] =
            fmax(mean[y] + (change != NULL ? (double)change[y] : 0), 0);
        most = fmax(most, ret_said[y]);
    }
    for (size_t y = 0; y < classes; y++) {
        ret_said[y] = most > 0 ? pow(ret_said[y] / most, POWER) : 1;
        sum += ret_said[y];
    }
    for (size_t y = 0; y < classes; y++) {
        ret_said[y] /= sum;
    }
}

/* Sets v of every fold. */
static void
set_answers(struct check *check)
{
    const struct smooth_energy *energy = check->energy;
    const struct smooth_problem *problem = energy->problem;
    struct tensor_backend *backend = problem->backend;
    const double *joint = problem->book[check->b].joint;
    size_t cells = check->cells, classes = check->classes;
    for (size_t l = 0; l < problem->leaves; l++) {
        backend->ops->multiply(
            backend, false, false, check->folds, classes, check->particles, 1,
            check->weight, energy->tau + l * energy->columns, 0, check->found);
        for (size_t f = 0; f < check->folds; f++) {
            float *v = check->v + f * check->pairs;
            soften_answer(check->mean + l * classes, check->found + f * classes,
                          classes, check->column);
            for (size_t c = 0; c < cells; c++) {
                double w = joint[l * cells + c];
                for (size_t y = 0; y < classes && w > 0; y++) {
                    v[c * classes + y] +=
                        (float)(w / check->code[c] * check->column[y]);
                }
            }
        }
    }
}

/* ---- H u = v --------------------------------------------------------------
 */

/* Brings rows of the classes to sum 0. */
static void
take_means(const struct check *check, float *x)
{
    size_t classes = check->classes;
    for (size_t i = 0; i < check->folds * check->cells; i++) {
        float *row = x + i * classes, mean = 0;
        for (size_t y = 0; y < classes; y++) {
            mean += row[y] / (float)classes;
        }
        for (size_t y = 0; y < classes; y++) {
            row[y] -= mean;
        }
    }
}

/* What a known share of label y is worth to a book: 1 / (w f_y)^2, of which
   every book has its part; 0 where shares are not known. */
static double
find_worth(const struct check *check, size_t y)
{
    const struct smooth_problem *problem = check->energy->problem;
    double width = problem->width > 0 ? problem->width : SMOOTH_WIDTH;
    double w = problem->share != NULL ? width * problem->share[y] : INFINITY;
    return 1 / (w * w * (double)problem->books);
}

/* Sets check->column to the sums of a table's labels. */
static void
sum_labels(const struct check *check, const float *x)
{
    memset(check->column, 0, check->classes * sizeof *check->column);
    for (size_t p = 0; p < check->pairs; p++) {
        check->column[p % check->classes] += (double)x[p];
    }
}

static void
add_known_shares(const struct check *check, const float *x, float *hx)
{
    size_t classes = check->classes, pairs = check->pairs;
    for (size_t f = 0; f < check->folds; f++) {
        sum_labels(check, x + f * pairs);
        for (size_t p = 0; p < pairs; p++) {
            hx[f * pairs + p] += (float)(check->column[p % classes] *
                                         find_worth(check, p % classes));
        }
    }
}

/* u' times the gradient of the known shares at J*, in the mean over folds. */
static double
follow_known_shares(const struct check *check)
{
    const struct smooth_problem *problem = check->energy->problem;
    const double *at = check->energy->expansion[check->b].at;
    size_t classes = check->classes, pairs = check->pairs;
    double sum = 0;
    for (size_t y = 0; y < classes && problem->share != NULL; y++) {
        double off = problem->share[y];
        for (size_t c = 0; c < check->cells; c++) {
            off -= at[c * classes + y];
        }
        for (size_t i = y; i < check->folds * pairs; i += classes) {
            sum += (double)check->u[i] * off * find_worth(check, y) /
                   (double)check->folds;
        }
    }
    return sum;
}

static void
multiply_curvature(const struct check *check, const float *x, float *hx)
{
    const struct smooth_energy *energy = check->energy;
    const struct smooth_expansion *expansion = &energy->expansion[check->b];
    struct tensor_backend *backend = energy->problem->backend;
    size_t pairs = check->pairs, size = check->folds * pairs;
    if (expansion->dense) {
        backend->ops->multiply(backend, false, false, check->folds, pairs,
                               pairs, 1, x, expansion->h, 0, hx);
    }
    for (size_t i = 0; i < size && !expansion->dense; i++) {
        hx[i] = x[i] * expansion->h[i % pairs];
    }
    for (size_t i = 0; i < size; i++) {
        hx[i] += (float)check->ridge * x[i];
    }
    add_known_shares(check, x, hx);
    take_means(check, hx);
}

static double
multiply_rows(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)a[i] * (double)b[i];
    }
    return sum;
}

/* Makes one step of conjugate gradients for a fold. */
static void
step_fold(const struct check *check, size_t f)
{
    size_t pairs = check->pairs;
    float *u = check->u + f * pairs, *r = check->r + f * pairs;
    float *d = check->d + f * pairs, *hd = check->hd + f * pairs;
    double before = multiply_rows(r, r, pairs),
           curved = multiply_rows(d, hd, pairs), by;
    if (!(before > 0) || !(curved > 0)) {
        return;
    }
    by = before / curved;
    for (size_t p = 0; p < pairs; p++) {
        u[p] += (float)by * d[p];
        r[p] -= (float)by * hd[p];
    }
    by = multiply_rows(r, r, pairs) / before;
    for (size_t p = 0; p < pairs; p++) {
        d[p] = r[p] + (float)by * d[p];
    }
}

/* Finds u of every fold from v, whose rows have sum 0. */
static void
solve_folds(struct check *check)
{
    size_t size = check->folds * check->pairs;
    double first = multiply_rows(check->v, check->v, size);
    memset(check->u, 0, size * sizeof *check->u);
    memcpy(check->r, check->v, size * sizeof *check->r);
    memcpy(check->d, check->v, size * sizeof *check->d);
    for (size_t round = 0; round < ROUNDS; round++) {
        if (!(multiply_rows(check->r, check->r, size) >
              SMALL * SMALL * first)) {
            break;
        }
        multiply_curvature(check, check->d, check->hd);
        for (size_t f = 0; f < check->folds; f++) {
            step_fold(check, f);
        }
    }
}

/* ---- The estimate ---------------------------------------------------------
 */

/* Sets the codes' shares, the particles' mean, its answers and the ridge. */
static void
set_means(struct check *check)
{
    const struct smooth_energy *energy = check->energy;
    const struct smooth_problem *problem = energy->problem;
    const struct smooth_expansion *expansion = &energy->expansion[check->b];
    const double *joint = problem->book[check->b].joint;
    size_t cells = check->cells, classes = check->classes;
    for (size_t i = 0; i < problem->leaves * cells; i++) {
        check->code[i % cells] += joint[i];
    }
    for (size_t i = 0; i < problem->leaves * energy->columns; i++) {
        check->now[i / energy->columns * classes + i % classes] +=
            (double)energy->tau[i] / (double)check->particles;
    }
    for (size_t l = 0; l < problem->leaves; l++) {
        const double *mean = check->mean + l * classes;
        for (size_t y = 1; y < classes; y++) {
            check->answer[l] =
                mean[y] > mean[check->answer[l]] ? y : check->answer[l];
        }
    }
    for (size_t p = 0; p < check->pairs; p++) {
        size_t at = expansion->dense ? p * check->pairs + p : p;
        check->ridge += RIDGE * (double)expansion->h[at] / (double)check->pairs;
    }
}

/* What leaves know beyond their codes: by how much the softened answer is right
   more often than sum_cy v_cy J_cy; and, in `ret_sharp`, by how much the answer
   itself is right more often than that: in the mean over particles. */
static double
find_within(const struct check *check, double *ret_sharp)
{
    const struct smooth_problem *problem = check->energy->problem;
    const double *joint = problem->book[check->b].joint;
    size_t cells = check->cells, classes = check->classes;
    double *tau = check->column, *said = tau + classes, *all = said + classes;
    double sum = 0, sharp = 0;
    for (size_t c = 0; c < cells; c++) {
        memset(tau, 0, 3 * classes * sizeof *tau);
        for (size_t l = 0; l < problem->leaves; l++) {
            const double *now = check->now + l * classes;
            double w = joint[l * cells + c];
            if (w > 0) {
                soften_answer(check->mean + l * classes, NULL, classes, said);
                sharp += w * now[check->answer[l]];
            }
            for (size_t y = 0; y < classes && w > 0; y++) {
                tau[y] += w * now[y];
                all[y] += w * said[y];
                sum += w * said[y] * now[y];
                sharp -= w * said[y] * now[y];
            }
        }
        for (size_t y = 0; y < classes && check->code[c] > 0; y++) {
            sum -= all[y] * tau[y] / check->code[c];
        }
    }
    *ret_sharp = sharp;
    return sum;
}

/* How much the answer's dependence on the folds adds to the variance: with q_fg
   = (mean u - u_f)'G_g, what fold f has done to the answer as fold g sees it,
   sum_{f < g} (q_fg + q_gf)^2. Overwrites u. */
static double
find_spread(struct check *check)
{
    float *q = check->square;
    struct tensor_backend *backend = check->energy->problem->backend;
    size_t folds = check->folds, pairs = check->pairs;
    double sum = 0;
    for (size_t p = 0; p < pairs; p++) {
        double mean = 0;
        for (size_t f = 0; f < folds; f++) {
            mean += (double)check->u[f * pairs + p] / (double)folds;
        }
        for (size_t f = 0; f < folds; f++) {
            check->u[f * pairs + p] -= (float)mean;
        }
    }
    backend->ops->multiply(backend, false, true, folds, folds, pairs, 1,
                           check->u, check->score, 0, q);
    for (size_t f = 0; f < folds; f++) {
        for (size_t g = 0; g < f; g++) {
            double both = (double)q[f * folds + g] + (double)q[g * folds + f];
            sum += both * both;
        }
    }
    return sum;
}

/* What one book says. */
struct say {
    double right;    /* v'J */
    double variance; /* of it, for an answer that does not depend on reports */
    double spread;   /* what the answer's dependence adds */
    double within, sharp;
};

static enum sotto_status
ask_book(struct check *check, struct say *ret_say, struct sotto_error *err)
{
    struct smooth_energy *energy = check->energy;
    const struct smooth_expansion *expansion = &energy->expansion[check->b];
    const struct codes *codes = energy->problem->book[check->b].codes;
    size_t folds = check->folds, pairs = check->pairs, size = folds * pairs;
    struct say say = {0};
    enum sotto_status status =
        smooth_expansion_scores(expansion, codes, folds, check->score, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    set_means(check);
    smooth_energy_tables(energy, check->b);
    set_weights(check);
    set_answers(check);
    for (size_t i = 0; i < size; i++) {
        say.right +=
            (double)check->v[i] * expansion->at[i % pairs] / (double)folds;
    }
    take_means(check, check->v);
    solve_folds(check);
    say.right += multiply_rows(check->u, check->score, size) +
                 follow_known_shares(check);
    say.variance = multiply_rows(check->u, check->v, size) / (double)folds;
    say.spread = find_spread(check);
    say.within = fmax(find_within(check, &say.sharp), 0);
    *ret_say = say;
    return SOTTO_STATUS_OK;
}

/* Asks a book; one with few reports for its pairs, or whose reports tell
   nothing, has an infinite variance. */
static enum sotto_status
find_say(struct smooth_energy *energy, const double *mean, size_t b,
         struct say *ret_say, struct sotto_error *err)
{
    const struct smooth_problem *problem = energy->problem;
    const struct codes *codes = problem->book[b].codes;
    struct check check = {.energy = energy,
                          .mean = mean,
                          .b = b,
                          .folds =
                              codes->reports < FOLDS ? codes->reports : FOLDS,
                          .cells = codes->cells,
                          .pairs = codes->pairs,
                          .particles = energy->particles,
                          .classes = problem->classes};
    struct say say = {.variance = INFINITY};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (codes->reports / REPORTS_EACH >= codes->pairs) {
        status = check_init(&check) ? ask_book(&check, &say, err)
                                    : host_fail_memory(err);
        check_clear(&check);
    }
    if (!(say.variance > 0) || !isfinite(say.right + say.spread)) {
        say = (struct say){.variance = INFINITY};
    }
    *ret_say = say;
    return status;
}

/* Books are weighed by their variance, which is each one's own. All of them are
   asked about one answer, which follows all reports: the spread that each sees
   in its own is that of all, and what the particles say is common to them. */
enum sotto_status
smooth_check_answer(struct smooth_energy *energy, const double *mean,
                    struct smooth_check *ret_check, struct sotto_error *err)
{
    struct say all = {0};
    double weight = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (energy->problem->plain) {
        *ret_check =
            (struct smooth_check){.error = INFINITY, .misfit = MISFIT_COLUMNS};
        return status;
    }
    for (size_t b = 0; b < energy->problem->books && status == SOTTO_STATUS_OK;
         b++) {
        struct say say = {0};
        status = cells_tick(energy->watch, b, energy->problem->books, err);
        status = HOST_THEN(status, find_say(energy, mean, b, &say, err));
        if (status == SOTTO_STATUS_OK && isfinite(say.variance)) {
            double by = 1 / say.variance;
            weight += by;
            all.right += by * say.right;
            all.spread += by * say.spread;
            all.within += by * say.within;
            all.sharp += by * say.sharp;
        }
    }
    if (status == SOTTO_STATUS_OK && weight > 0) {
        double half = all.within / weight / 2, sharp = all.sharp / weight;
        double right = all.right / weight + sharp + half;
        *ret_check =
            (struct smooth_check){.right = fmin(fmax(right, 0), 1),
                                  .error = sqrt((1 + all.spread) / weight +
                                                half * half + sharp * sharp),
                                  .misfit = MISFIT};
    } else if (status == SOTTO_STATUS_OK) {
        *ret_check = (struct smooth_check){.error = INFINITY, .misfit = MISFIT};
    }
    return status;
}
