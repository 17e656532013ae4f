/*
 * expected_predict.c: the label of a record that was privatised.
 *
 *     p(c | r) ~ pi_c mean_y p(r | c, y),    p(y | r) = sum_c p(c | r) tau_bar
 *
 * A report about a pair has the label in it, which must not count: every label
 * is taken to be as likely in every cell.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/expected.h"

/* p(c | r), from ln p(r | c, y) of all pairs. */
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
                 const struct codes_shape *shape, const uint8_t *const *report,
                 size_t n, double *ret_p, struct sotto_error *err)
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
        codes_log_p(&features, report[i], q, cell, room);
        weigh_cells(cells, features.classes, room, cell);
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
