/*
 * lattice_predict.c: what a lattice's model says of clean and of privatised
 * records.
 */
#include <stdlib.h>

#include "host/error.h"
#include "learn/lattice/lattice.h"
#include "mechanism/rows.h"

#define BLOCK 1024u

/* ---- Clean records ------------------------------------------------------ */

void
lattice_input(const struct sotto_model *model, struct rows *rows, size_t row,
              void *room, float *ret_input)
{
    const struct lattice *lattice = lattice_of(model);
    if (lattice->networks.plan.level == SOTTO_LEVEL_FEATURE) {
        rows_encode(rows, row, ret_input, NULL);
    } else {
        rows_q(rows, row, room);
        prior_input(&lattice->shape, room, ret_input);
    }
}

enum sotto_status
lattice_predict(struct sotto_model *model, const struct sotto_table *table,
                double *ret_p, struct sotto_error *err)
{
    const struct lattice *lattice = lattice_of(model);
    return model_predict_rows(model, &lattice->networks, lattice_input,
                              lattice->shape.width, table, ret_p, err);
}

/* ---- Privatised records ------------------------------------------------- */

/* Turns p into columns, each with the posterior's padding behind it. */
static float *
transpose_p(const struct sotto_model *model, size_t padded)
{
    const struct lattice *lattice = lattice_of(model);
    float *v = calloc(padded * model->classes, sizeof *v);
    for (size_t m = 0; v != NULL && m < lattice->points; m++) {
        for (size_t y = 0; y < model->classes; y++) {
            v[y * padded + m] = lattice->p[m * model->classes + y];
        }
    }
    return v;
}

static enum sotto_status
predict_average(struct sotto_model *model, const uint8_t *reports, size_t n,
                double *ret_p, struct sotto_error *err)
{
    const struct lattice *lattice = lattice_of(model);
    struct prior prior;
    float *v = NULL;
    enum sotto_status status = prior_init(&prior, &lattice->shape,
                                          lattice->point, lattice->points, err);
    if (status == SOTTO_STATUS_OK) {
        v = transpose_p(model, prior.padded);
        status = v != NULL ? model_backend(model, err) : host_fail_memory(err);
    }
    status = HOST_THEN(
        status,
        posterior_average(&prior, reports, model->mechanism->shape.report_size,
                          n, v, model->classes, model->pool, ret_p, err));
    free(v);
    prior_clear(&prior);
    return status;
}

/* Classifies each report's own estimate as if it were a point. */
static enum sotto_status
predict_estimates(struct sotto_model *model, const uint8_t *reports, size_t n,
                  double *ret_p, struct sotto_error *err)
{
    const struct lattice *lattice = lattice_of(model);
    size_t size = model->mechanism->shape.report_size;
    size_t in = lattice->networks.in, classes = model->classes;
    double *z = malloc(in * sizeof *z);
    double *room = malloc(prior_room(&lattice->shape) * sizeof *room);
    float *input = malloc(BLOCK * in * sizeof *input);
    float *p = malloc(BLOCK * classes * sizeof *p);
    enum sotto_status status = model_backend(model, err);
    if (z == NULL || room == NULL || input == NULL || p == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t first = 0; first < n && status == SOTTO_STATUS_OK;
         first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < count; i++) {
            prior_estimate(&lattice->shape, reports + (first + i) * size, room,
                           z);
            for (size_t j = 0; j < in; j++) {
                input[i * in + j] = (float)z[j];
            }
        }
        status = networks_forward(&lattice->networks, model->backend, input,
                                  count, p, err);
        for (size_t i = 0; i < count * classes && status == SOTTO_STATUS_OK;
             i++) {
            ret_p[first * classes + i] = (double)p[i];
        }
    }
done:
    free(z);
    free(room);
    free(input);
    free(p);
    return status;
}

enum sotto_status
lattice_predict_private(struct sotto_model *model,
                        const struct sotto_mechanism *mechanism,
                        const uint8_t *reports, size_t n, double *ret_p,
                        struct sotto_error *err)
{
    const struct networks_plan *plan = &lattice_of(model)->networks.plan;
    (void)mechanism; /* no other than its own */
    if (plan->objective == SOTTO_OBJECTIVE_MARGINAL) {
        return predict_average(model, reports, n, ret_p, err);
    }
    if (plan->level == SOTTO_LEVEL_FEATURE) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a classifier of records that was not fitted by Eq. "
                         "11 cannot take reports: fit it with the objective "
                         "marginal, or at the level of representations");
    }
    return predict_estimates(model, reports, n, ret_p, err);
}
