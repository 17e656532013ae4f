/*
 * expected.c: how often the class told from one report about a code is right,
 * as a classifier expects of itself.
 */
#include "learn/codes/expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "random/seeded.h"

#define SEED UINT64_C(0x657870656374)
#define COST_MOST 4e8 /* products, in all draws */
#define DRAWS_LEAST ((size_t)100)
#define ERRORS 2.0 /* that subset must be better by */

/* ---- Cells --------------------------------------------------------------- */

void
expected_cells_clear(struct expected_cells *cells)
{
    free(cells->pi);
    free(cells->tau);
    memset(cells, 0, sizeof *cells);
}

enum sotto_status
expected_cells_init(struct expected_cells *cells, size_t count, size_t classes,
                    const int32_t *code, const float *p, size_t n,
                    struct sotto_error *err)
{
    *cells =
        (struct expected_cells){.cells = count,
                                .classes = classes,
                                .pi = calloc(count, sizeof *cells->pi),
                                .tau = calloc(count, classes * sizeof(double))};
    if (cells->pi == NULL || cells->tau == NULL) {
        expected_cells_clear(cells);
        return host_fail_memory(err);
    }
    for (size_t m = 0; m < n; m++) {
        size_t c = (size_t)code[m];
        cells->pi[c] += 1 / (double)n;
        for (size_t y = 0; y < classes; y++) {
            cells->tau[c * classes + y] += (double)p[m * classes + y];
        }
    }
    for (size_t c = 0; c < count; c++) {
        for (size_t y = 0; y < classes; y++) {
            cells->tau[c * classes + y] /= fmax(cells->pi[c] * (double)n, 1);
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- k-ary response ------------------------------------------------------ */

/*
 * P(r | c) = e^eps / (e^eps + k - 1) if r = c, else 1 / (e^eps + k - 1), so
 * with a_y = sum_c pi_c tau_cy
 *
 *     sum_r max_y (a_y + (e^eps - 1) pi_r tau_ry) / (e^eps + k - 1)
 */
enum sotto_status
expected_flip(const struct expected_cells *cells, double eps,
              double *ret_accuracy, struct sotto_error *err)
{
    size_t k = cells->cells, classes = cells->classes;
    double *all = calloc(classes, sizeof *all), sum = 0;
    if (all == NULL) {
        return host_fail_memory(err);
    }
    for (size_t c = 0; c < k; c++) {
        for (size_t y = 0; y < classes; y++) {
            all[y] += cells->pi[c] * cells->tau[c * classes + y];
        }
    }
    for (size_t r = 0; r < k; r++) {
        double most = 0;
        for (size_t y = 0; y < classes; y++) {
            double own = cells->pi[r] * cells->tau[r * classes + y];
            most = fmax(most, all[y] + expm1(eps) * own);
        }
        sum += most;
    }
    free(all);
    *ret_accuracy = sum / (exp(eps) + (double)k - 1);
    return SOTTO_STATUS_OK;
}

/* ---- Any channel --------------------------------------------------------- */

struct drawing {
    const struct expected_cells *cells;
    const struct likelihood_instance *channel;
    struct seeded seeded;
    int32_t *q;    /* all codes */
    double *log_p; /* of a report, for each */
    double *p;     /* classes */
    uint8_t *wire;
};

/* By the shares, which may add up to a little more or less than 1. */
static int32_t
draw_code(struct drawing *drawing)
{
    const struct expected_cells *cells = drawing->cells;
    double at = random_u32(&drawing->seeded.random) / 4294967296.0;
    size_t c = 0;
    while (c + 1 < cells->cells && (at -= cells->pi[c]) >= 0) {
        c++;
    }
    return (int32_t)c;
}

/* max_y p(y | r) of a report r. */
static double
draw_report(struct drawing *drawing)
{
    const struct likelihood_instance *at = drawing->channel;
    size_t k = drawing->cells->cells, classes = drawing->cells->classes;
    double most = -INFINITY, sum = 0, best = 0;
    int32_t code = draw_code(drawing);
    at->instance->channel->sample(at->instance, &code, &drawing->seeded.random,
                                  drawing->wire);
    at->likelihood->log_p_many(at, drawing->wire, drawing->q, k,
                               drawing->log_p);
    for (size_t c = 0; c < k; c++) {
        most = fmax(most, drawing->log_p[c]);
    }
    memset(drawing->p, 0, classes * sizeof *drawing->p);
    for (size_t c = 0; c < k; c++) {
        double w = drawing->cells->pi[c] * exp(drawing->log_p[c] - most);
        const double *tau = drawing->cells->tau + c * classes;
        sum += w;
        for (size_t y = 0; y < classes; y++) {
            drawing->p[y] += w * tau[y];
        }
    }
    for (size_t y = 0; y < classes; y++) {
        best = fmax(best, drawing->p[y]);
    }
    return sum > 0 ? best / sum : 0;
}

enum sotto_status
expected_channel(const struct expected_cells *cells,
                 const struct likelihood_instance *channel,
                 double *ret_accuracy, double *ret_error,
                 struct sotto_error *err)
{
    size_t k = cells->cells, draws = EXPECTED_DRAWS;
    struct drawing drawing = {
        .cells = cells,
        .channel = channel,
        .q = calloc(k, sizeof *drawing.q),
        .log_p = calloc(k + cells->classes, sizeof(double)),
        .wire = calloc(1, channel->instance->wire_size + (size_t)1)};
    double sum = 0, squares = 0, mean;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (drawing.q == NULL || drawing.log_p == NULL || drawing.wire == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    drawing.p = drawing.log_p + k;
    for (size_t c = 0; c < k; c++) {
        drawing.q[c] = (int32_t)c;
    }
    while (draws > DRAWS_LEAST &&
           (double)draws * (double)(k * (cells->classes + 1)) > COST_MOST) {
        draws /= 2;
    }
    seeded_init(&drawing.seeded, SEED, 0);
    for (size_t i = 0; i < draws; i++) {
        double right = draw_report(&drawing);
        sum += right;
        squares += right * right;
    }
    mean = sum / (double)draws;
    *ret_accuracy = mean;
    *ret_error = sqrt(fmax(squares / (double)draws - mean * mean, 0) /
                      (double)(draws - 1));
done:
    free(drawing.q);
    free(drawing.log_p);
    free(drawing.wire);
    return status;
}

enum sotto_status
expected_choose_channel(const struct expected_cells *cells, uint64_t eps,
                        const char **ret_channel, struct sotto_error *err)
{
    const struct channel *subset = channel_find(channel_exact, "subset", 6);
    uint64_t *own = calloc(subset->own_size / sizeof *own + 1, sizeof *own);
    struct channel_instance instance;
    struct likelihood_instance likelihood;
    double flip = 0, found = 0, error = 0;
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    status = channel_init(&instance, subset, (uint32_t)cells->cells, 0, 0, eps,
                          0, own);
    status = HOST_THEN(status, likelihood_init(&likelihood, &instance));
    if (status != SOTTO_STATUS_OK) {
        status = host_fail(err, status, cells->cells,
                           "subset cannot take %zu codes at this epsilon",
                           cells->cells);
        goto done;
    }
    status = expected_flip(cells, (double)eps / (double)SOTTO_UNIT, &flip, err);
    status = HOST_THEN(
        status, expected_channel(cells, &likelihood, &found, &error, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_channel = found > flip + ERRORS * error ? "subset" : "flip";
    }
done:
    free(own);
    return status;
}

/* ---- Cuts ---------------------------------------------------------------- */

/* What flip would tell of the cut into k, made of the tree that serves k. */
static enum sotto_status
measure_cut(struct sotto_codebook *codebook, size_t k, size_t classes,
            const float *p, double eps, struct expected_cells *ret_cells,
            double *ret_expected, struct sotto_error *err)
{
    const struct codebook_cut *cut = NULL;
    struct expected_cells cells = {0};
    double expected = 0;
    enum sotto_status status = codebook_prepare(codebook, 1, k, err);
    status = HOST_THEN(status, codebook_cut(codebook, k, &cut, err));
    status = HOST_THEN(
        status, expected_cells_init(&cells, k, classes, cut->code, p,
                                    sotto_codebook_records(codebook), err));
    status = HOST_THEN(status, expected_flip(&cells, eps, &expected, err));
    if (status != SOTTO_STATUS_OK) {
        expected_cells_clear(&cells);
        return status;
    }
    *ret_cells = cells;
    *ret_expected = expected;
    return SOTTO_STATUS_OK;
}

/* Codes are numbered anew with every tree: the best cut is made once more at
   the end, so that the codebook has it when it is written. */
enum sotto_status
expected_choose_cut(struct sotto_codebook *codebook, const size_t *count,
                    size_t counts, size_t classes, const float *p, double eps,
                    struct expected_cells *ret_cells, struct sotto_error *err)
{
    double most = -1, expected = 0;
    size_t best = 0;
    for (size_t i = 0; i < counts; i++) {
        struct expected_cells cells = {0};
        enum sotto_status status;
        if (count[i] > codebook_cells_most(codebook)) {
            break;
        }
        status = measure_cut(codebook, count[i], classes, p, eps, &cells,
                             &expected, err);
        expected_cells_clear(&cells);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        if (expected > most) {
            most = expected;
            best = count[i];
        }
    }
    if (best == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu cells are too few for %zu classes",
                         sotto_codebook_cells(codebook), classes);
    }
    return measure_cut(codebook, best, classes, p, eps, ret_cells, &expected,
                       err);
}

/* ---- One report ---------------------------------------------------------- */

/*
 * Sets p(c | r) ~ pi_c mean_y p(r | c, y), from ln p(r | c, y) of all pairs. A
 * report about a pair has the label in it, which must not count: every label is
 * taken to be as likely in every cell.
 */
static void
weigh_cells(const struct expected_cells *cells, size_t classes,
            const double *log_p, double *ret_cell)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < cells->cells * classes; i++) {
        most = log_p[i] > most ? log_p[i] : most;
    }
    for (size_t c = 0; c < cells->cells; c++) {
        ret_cell[c] = 0;
        for (size_t y = 0; y < classes; y++) {
            ret_cell[c] += cells->pi[c] * exp(log_p[c * classes + y] - most);
        }
        sum += ret_cell[c];
    }
    for (size_t c = 0; c < cells->cells; c++) {
        ret_cell[c] /= sum;
    }
}

enum sotto_status
expected_predict(const struct expected_cells *cells,
                 const struct codes_shape *shape, const uint8_t *reports,
                 size_t size, size_t n, double *ret_p, struct sotto_error *err)
{
    size_t k = cells->cells, classes = cells->classes;
    struct codes_shape features = *shape;
    double *room;
    int32_t *q;
    if (shape->cells != k) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the reports are about %zu codes, and the model's "
                         "codebook has %zu",
                         shape->cells, k);
    }
    if (shape->label != NULL) { /* a part of its own: not looked at */
        features.label = NULL;
        features.symbols = features.classes = 1;
    }
    q = codes_points(&features);
    room = malloc((k * features.classes + k + features.classes) * sizeof *room);
    if (q == NULL || room == NULL) {
        free(q);
        free(room);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        double *cell = room + k * features.classes;
        double *p = ret_p + i * classes;
        codes_log_p(&features, reports + i * size, q, cell, room);
        weigh_cells(cells, features.classes, room, cell);
        /* p(y | r) = sum_c p(c | r) tau_cy */
        memset(p, 0, classes * sizeof *p);
        for (size_t c = 0; c < k; c++) {
            for (size_t y = 0; y < classes; y++) {
                p[y] += cell[c] * cells->tau[c * classes + y];
            }
        }
    }
    free(q);
    free(room);
    return SOTTO_STATUS_OK;
}
