/*
 * regression_predict.c: what a regression says of clean and of privatised
 * records: a probability of every cell of the label's range.
 */
#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/lattice/regression.h"
#include "mechanism/crew.h"

/* Room of a thread: a point, an input, and its terms. */
struct predict_room {
    int32_t *point;
    float *input, *phi;
};

struct predicting {
    const struct sotto_model *model;
    struct predict_room *room; /* a thread's */
    uint8_t *memory;
    size_t size; /* of a thread's memory */
    double *p;
};

/* Where a standard normal number is looked at, and what it weighs there (Gauss
   and Hermite): exact for polynomials up to degree 9. */
#define NODES 5u
static const double node[NODES] = {-2.856970013872806, -1.355626179974266, 0,
                                   1.355626179974266, 2.856970013872806};
static const double node_weight[NODES] = {0.011257411327721, 0.222075922005613,
                                          0.533333333333333, 0.222075922005613,
                                          0.011257411327721};

/* Sets p of the cells for an input: mean over where mu may be, given the
   reports. */
static void
predict_input(const struct sotto_model *model, const float *input, float *phi,
              double *ret_p)
{
    const struct regression *own = regression_of(model);
    size_t terms = own->terms;
    double at[REGRESSION_CELLS], mu = 0, open = 0;
    double sigma = exp(own->theta[terms]);
    regression_terms(own, input, phi);
    for (size_t i = 0; i < terms; i++) {
        double sum = 0;
        for (size_t j = 0; j < terms; j++) {
            sum += own->covariance[i * terms + j] * (double)phi[j];
        }
        open += sum * (double)phi[i];
        mu += own->theta[i] * (double)phi[i];
    }
    open = open > 0 ? sqrt(open) : 0;
    for (size_t g = 0; g < model->classes; g++) {
        ret_p[g] = 0;
    }
    for (size_t j = 0; j < NODES; j++) {
        regression_cells(own->cell, model->classes, mu + open * node[j], sigma,
                         at);
        for (size_t g = 0; g < model->classes; g++) {
            ret_p[g] += node_weight[j] * at[g];
        }
    }
}

static void
predict_row(void *context, struct rows *rows, size_t row, unsigned worker)
{
    const struct predicting *predicting = context;
    const struct sotto_model *model = predicting->model;
    struct predict_room *room = &predicting->room[worker];
    rows_q(rows, row, room->point);
    prior_input(&regression_of(model)->shape, room->point, room->input);
    predict_input(model, room->input, room->phi,
                  predicting->p + row * model->classes);
}

/* Makes room for so many threads; false: there is none. */
static bool
init_predicting(struct predicting *predicting, const struct sotto_model *model,
                size_t threads)
{
    const struct regression *own = regression_of(model);
    size_t words = own->shape.width + own->in + own->terms;
    *predicting =
        (struct predicting){.model = model, .size = words * sizeof(float)};
    predicting->room = calloc(threads, sizeof *predicting->room);
    predicting->memory = calloc(threads, predicting->size);
    if (predicting->room == NULL || predicting->memory == NULL) {
        return false;
    }
    for (size_t i = 0; i < threads; i++) {
        struct predict_room *room = &predicting->room[i];
        room->point =
            (int32_t *)(void *)(predicting->memory + i * predicting->size);
        room->input = (float *)(void *)(room->point + own->shape.width);
        room->phi = room->input + own->in;
    }
    return true;
}

static void
clear_predicting(struct predicting *predicting, size_t threads)
{
    free(predicting->room);
    host_wipe_free(predicting->memory, threads * predicting->size);
}

enum sotto_status
regression_predict(struct sotto_model *model, const struct sotto_table *table,
                   double *ret_p, struct sotto_error *err)
{
    struct predicting predicting;
    struct crew crew;
    enum sotto_status status = model_backend(model, err);
    status = HOST_THEN(
        status, crew_init(&crew, model->mechanism, table, model->pool, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (init_predicting(&predicting, model, crew.devices)) {
        predicting.p = ret_p;
        crew_run(&crew, 0, sotto_table_rows(table), predict_row, &predicting);
    } else {
        status = host_fail_memory(err);
    }
    clear_predicting(&predicting, crew.devices);
    crew_clear(&crew);
    return status;
}

/* ---- Privatised records -------------------------------------------------- */

/* What the model says of every point of the prior: a row of padded points for
   each cell. */
static enum sotto_status
predict_points(const struct sotto_model *model, size_t padded, float **ret_v,
               struct sotto_error *err)
{
    const struct regression *own = regression_of(model);
    struct predicting predicting;
    double p[REGRESSION_CELLS];
    float *v = calloc(padded * model->classes + 1, sizeof *v);
    bool room = init_predicting(&predicting, model, 1);
    *ret_v = v;
    if (v == NULL || !room) {
        clear_predicting(&predicting, 1);
        return host_fail_memory(err);
    }
    for (size_t m = 0; m < own->points; m++) {
        prior_input(&own->shape, own->point + m * own->shape.width,
                    predicting.room->input);
        predict_input(model, predicting.room->input, predicting.room->phi, p);
        for (size_t g = 0; g < model->classes; g++) {
            v[g * padded + m] = (float)p[g];
        }
    }
    clear_predicting(&predicting, 1);
    return SOTTO_STATUS_OK;
}

enum sotto_status
regression_predict_private(struct sotto_model *model,
                           const struct sotto_mechanism *mechanism,
                           const uint8_t *reports, size_t n, double *ret_p,
                           struct sotto_error *err)
{
    const struct regression *own = regression_of(model);
    struct prior prior;
    float *v = NULL;
    enum sotto_status status;
    if (own->points == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a regression that was fitted to clean records has "
                         "no prior, and cannot take reports");
    }
    status = prior_init(&prior, &own->shape, own->point, own->points, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = model_backend(model, err);
    status = HOST_THEN(status, predict_points(model, prior.padded, &v, err));
    status = HOST_THEN(status, posterior_average(&prior, reports,
                                                 mechanism->shape.report_size,
                                                 n, v, model->classes,
                                                 model->pool, ret_p, err));
    free(v);
    prior_clear(&prior);
    return status;
}
