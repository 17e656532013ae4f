/*
 * model.c: a classifier in memory.
 */
#include "learn/model.h"

#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/pool.h"
#include "learn/learner.h"
#include "mechanism/mechanism.h"

enum sotto_status
model_new(const struct learner *learner,
          const struct sotto_mechanism *mechanism,
          struct sotto_model **ret_model, struct sotto_error *err)
{
    struct sotto_model *model = calloc(1, sizeof *model);
    enum sotto_status status;
    if (model == NULL) {
        return host_fail_memory(err);
    }
    model->learner = learner;
    model->column = SIZE_MAX;
    status = mechanism_copy(mechanism, &model->mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_model = model;
    } else {
        sotto_model_free(model);
    }
    return status;
}

void
sotto_model_free(struct sotto_model *model)
{
    if (model == NULL) {
        return;
    }
    if (model->own != NULL) {
        model->learner->free(model->own);
    }
    sotto_scores_free(model->scores);
    free(model->value);
    free(model->edge);
    tensor_backend_free(model->backend);
    host_pool_free(model->pool);
    sotto_mechanism_free(model->mechanism);
    free(model);
}

size_t
sotto_model_classes(const struct sotto_model *model)
{
    return model->classes;
}

const char *
sotto_model_class(const struct sotto_model *model, size_t i)
{
    return model->column != SIZE_MAX
               ? sotto_mechanism_category(model->mechanism, model->column, i)
               : "(combined)";
}

double
sotto_model_exchanged(const struct sotto_model *model, size_t y, size_t other)
{
    const double *p = model->learner->exchanged != NULL
                          ? model->learner->exchanged(model)
                          : NULL;
    return p != NULL && y < model->classes && other < model->classes
               ? p[y * model->classes + other]
               : NAN;
}

struct sotto_mechanism *
sotto_model_mechanism(const struct sotto_model *model)
{
    return model->mechanism;
}

enum sotto_status
model_backend(struct sotto_model *model, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (model->pool == NULL) {
        status = host_pool_new(model->threads, &model->pool, err);
    }
    if (status == SOTTO_STATUS_OK && model->backend == NULL) {
        status = tensor_new("cpu", model->pool, &model->backend, err);
    }
    return status;
}
