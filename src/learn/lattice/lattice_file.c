/*
 * lattice_file.c: what the lattice's learner has in a model's file.
 *
 *     netN.L.weight, .bias    networks_file.c
 *     prior.point        I32  MARGINAL alone: the points
 *     prior.p            F32  likewise: what the networks say of them
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/lattice/lattice.h"

#define SUM_ERROR 1e-3 /* of a row of probabilities, from 1 */

void
lattice_write(const struct sotto_model *model, struct model_tensors *to)
{
    const struct lattice *lattice = lattice_of(model);
    networks_write(&lattice->networks, to);
    if (lattice->points > 0) {
        model_tensors_add(to, "prior.point", SAFETENSORS_I32, lattice->points,
                          lattice->shape.width, lattice->point);
        model_tensors_add(to, "prior.p", SAFETENSORS_F32, lattice->points,
                          model->classes, lattice->p);
    }
}

/* Whether every row is of probabilities that add up to 1. */
static bool
are_probabilities(const float *p, size_t rows, size_t classes)
{
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t y = 0; y < classes; y++) {
            double at = (double)p[i * classes + y];
            if (!(at >= 0 && at <= 1 + SUM_ERROR)) {
                return false;
            }
            sum += at;
        }
        if (!(fabs(sum - 1) < SUM_ERROR)) {
            return false;
        }
    }
    return true;
}

/* Has prior_init refuse points that no report can be about. */
static enum sotto_status
check_points(const struct lattice *lattice, struct sotto_error *err)
{
    struct prior prior;
    enum sotto_status status = prior_init(&prior, &lattice->shape,
                                          lattice->point, lattice->points, err);
    if (status == SOTTO_STATUS_OK) {
        prior_clear(&prior);
    }
    return status;
}

static enum sotto_status
read_prior(const struct safetensors *file, struct lattice *lattice,
           size_t classes, struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    enum sotto_status status =
        safetensors_want(file, "prior.point", SAFETENSORS_I32, 2, SIZE_MAX,
                         lattice->shape.width, &entry, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    lattice->points = entry->shape[0];
    lattice->point = malloc(entry->size + 1);
    lattice->p = calloc(lattice->points + 1, classes * sizeof *lattice->p);
    if (lattice->point == NULL || lattice->p == NULL) {
        return host_fail_memory(err);
    }
    memcpy(lattice->point, entry->data, entry->size);
    status = networks_read_floats(file, "prior.p", 2, lattice->points, classes,
                                  lattice->p, err);
    if (status == SOTTO_STATUS_OK &&
        !are_probabilities(lattice->p, lattice->points, classes)) {
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "\"prior.p\" does not hold probabilities");
    }
    return HOST_THEN(status, check_points(lattice, err));
}

enum sotto_status
lattice_read(struct sotto_model *model, const struct safetensors *file,
             struct sotto_error *err)
{
    struct networks_plan plan;
    struct lattice *lattice;
    bool marginal;
    size_t in;
    enum sotto_status status =
        networks_plan_read(safetensors_metadata(file), &plan, err);
    status = HOST_THEN(status, lattice_new(model, plan.other, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    lattice = lattice_of(model);
    marginal = plan.objective == SOTTO_OBJECTIVE_MARGINAL;
    in = lattice_inputs(model, plan.level);
    status =
        networks_check(file, &plan, in, model->classes, marginal ? 2 : 0, err);
    status = HOST_THEN(status, networks_init(&lattice->networks, &plan, in,
                                             model->classes, err));
    status = HOST_THEN(status, networks_read(file, &lattice->networks, err));
    if (status == SOTTO_STATUS_OK && marginal) {
        status = read_prior(file, lattice, model->classes, err);
    }
    return status;
}
