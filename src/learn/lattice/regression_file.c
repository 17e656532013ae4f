/*
 * regression_file.c: what a regression has in a model's file.
 *
 *     number.shift, .scale   F32  of the inputs
 *     number.line            F32  hidden rows of 1 + in
 *     number.theta           F64  of the terms, then ln sigma
 *     number.covariance      F64  terms x terms
 *     prior.point            I32  the points; none of clean records
 *
 * and as metadata {"hidden": how many}.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/lattice/regression.h"

#define FIELDS 1u
#define TENSORS 5u /* besides the prior, with the mechanism */

void
regression_write(const struct sotto_model *model, struct model_tensors *to)
{
    const struct regression *own = regression_of(model);
    model_tensors_say(to, "hidden", json_integer((json_int_t)own->hidden));
    model_tensors_add(to, "number.shift", SAFETENSORS_F32, own->in, 0,
                      own->shift);
    model_tensors_add(to, "number.scale", SAFETENSORS_F32, own->in, 0,
                      own->scale);
    if (own->hidden > 0) {
        model_tensors_add(to, "number.line", SAFETENSORS_F32, own->hidden,
                          own->in + 1, own->line);
    }
    model_tensors_add(to, "number.theta", SAFETENSORS_F64, own->terms + 1, 0,
                      own->theta);
    model_tensors_add(to, "number.covariance", SAFETENSORS_F64, own->terms,
                      own->terms, own->covariance);
    if (own->points > 0) {
        model_tensors_add(to, "prior.point", SAFETENSORS_I32, own->points,
                          own->shape.width, own->point);
    }
}

/* Reads doubles, all of them finite. */
static enum sotto_status
read_doubles(const struct safetensors *file, const char *name, size_t rank,
             size_t rows, size_t columns, double *ret, struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    enum sotto_status status = safetensors_want(
        file, name, SAFETENSORS_F64, rank, rows, columns, &entry, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    memcpy(ret, entry->data, entry->size);
    for (size_t i = 0; i < entry->size / sizeof *ret; i++) {
        if (!isfinite(ret[i])) {
            return host_fail(err, SOTTO_STATUS_FORMAT, i,
                             "number %zu of \"%s\" is not finite", i, name);
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_points(const struct safetensors *file, struct regression *own,
            struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    struct prior prior;
    enum sotto_status status =
        safetensors_want(file, "prior.point", SAFETENSORS_I32, 2, SIZE_MAX,
                         own->shape.width, &entry, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    own->points = entry->shape[0];
    own->point = malloc(entry->size + 1);
    if (own->point == NULL) {
        return host_fail_memory(err);
    }
    memcpy(own->point, entry->data, entry->size);
    /* has it refuse points that no report can be about */
    status = prior_init(&prior, &own->shape, own->point, own->points, err);
    if (status == SOTTO_STATUS_OK) {
        prior_clear(&prior);
    }
    return status;
}

static enum sotto_status
read_tensors(const struct safetensors *file, struct regression *own,
             struct sotto_error *err)
{
    enum sotto_status status = networks_read_floats(
        file, "number.shift", 1, own->in, 0, own->shift, err);
    status =
        HOST_THEN(status, networks_read_floats(file, "number.scale", 1, own->in,
                                               0, own->scale, err));
    if (own->hidden > 0) {
        status = HOST_THEN(
            status, networks_read_floats(file, "number.line", 2, own->hidden,
                                         own->in + 1, own->line, err));
    }
    status =
        HOST_THEN(status, read_doubles(file, "number.theta", 1, own->terms + 1,
                                       0, own->theta, err));
    return HOST_THEN(status,
                     read_doubles(file, "number.covariance", 2, own->terms,
                                  own->terms, own->covariance, err));
}

enum sotto_status
regression_read(struct sotto_model *model, const struct safetensors *file,
                struct sotto_error *err)
{
    const json_t *metadata = safetensors_metadata(file);
    const json_t *hidden = json_object_get(metadata, "hidden");
    size_t count = json_is_integer(hidden) && json_integer_value(hidden) >= 0
                       ? (size_t)json_integer_value(hidden)
                       : SIZE_MAX;
    size_t tensors = TENSORS + (count > 0 ? 1 : 0), there;
    struct regression *own;
    enum sotto_status status;
    if (count >= REGRESSION_TERMS_MOST ||
        json_object_size(metadata) != model_fields(metadata) + FIELDS) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "what it says of itself is not a model's");
    }
    there = safetensors_count(file);
    if (there != tensors && there != tensors + 1) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "it has %zu tensors, and such a model has %zu or one "
                         "more",
                         there, tensors);
    }
    status = regression_new(model, count, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    own = regression_of(model);
    status = read_tensors(file, own, err);
    if (status == SOTTO_STATUS_OK && there > tensors) {
        status = read_points(file, own, err);
    }
    return status;
}
