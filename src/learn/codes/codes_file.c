/*
 * codes_file.c: what the learner of codes has in a model's file.
 *
 *     netN.L.weight, .bias    networks_file.c
 *     codes.pi           F64  shares of the cells
 *     codes.tau          F64  labels in cells, as reports say
 *     codes.tau_bar      F64  likewise, as the network says
 *     codes.exchanged    F64  classes by classes: which may have each other's
 *                             place; where labels were learnt by leaves
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/codes_model.h"

#define EXCHANGED "codes.exchanged"
#define SUM_ERROR 1e-3 /* of a row of probabilities, from 1 */

void
codes_write(const struct sotto_model *model, struct model_tensors *to)
{
    const struct classifier *classifier = codes_of(model)->classifier;
    size_t cells = classifier->cells, classes = classifier->classes;
    networks_write(&classifier->networks, to);
    model_tensors_add(to, "codes.pi", SAFETENSORS_F64, cells, 0,
                      classifier->pi);
    model_tensors_add(to, "codes.tau", SAFETENSORS_F64, cells, classes,
                      classifier->tau);
    model_tensors_add(to, "codes.tau_bar", SAFETENSORS_F64, cells, classes,
                      classifier->tau_bar);
    if (classifier->exchanged != NULL) {
        model_tensors_add(to, EXCHANGED, SAFETENSORS_F64, classes, classes,
                          classifier->exchanged);
    }
}

/* Reads a table whose rows are of probabilities, none below `least`. Rows of 0
   numbers stand for one vector. */
static enum sotto_status
read_table(const struct safetensors *file, const char *name, size_t rows,
           size_t columns, double least, double *to, struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    size_t width = columns > 0 ? columns : rows, count;
    double sum = 0;
    bool good = true;
    enum sotto_status status =
        safetensors_want(file, name, SAFETENSORS_F64, columns > 0 ? 2 : 1, rows,
                         columns, &entry, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    memcpy(to, entry->data, entry->size);
    count = entry->size / sizeof *to;
    for (size_t i = 0; i < count && good; i++) {
        sum = i % width == 0 ? to[i] : sum + to[i];
        good = to[i] >= least && to[i] <= 1 + SUM_ERROR &&
               ((i + 1) % width != 0 || fabs(sum - 1) < SUM_ERROR);
    }
    return good ? SOTTO_STATUS_OK
                : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                            "\"%s\" does not hold probabilities", name);
}

static enum sotto_status
read_tables(const struct safetensors *file, struct classifier *classifier,
            struct sotto_error *err)
{
    size_t cells = classifier->cells, classes = classifier->classes;
    enum sotto_status status =
        read_table(file, "codes.pi", cells, 0, DBL_MIN, classifier->pi, err);
    status = HOST_THEN(status, read_table(file, "codes.tau", cells, classes, 0,
                                          classifier->tau, err));
    status = HOST_THEN(status, read_table(file, "codes.tau_bar", cells, classes,
                                          0, classifier->tau_bar, err));
    return status;
}

static enum sotto_status
read_exchanged(const struct safetensors *file, struct classifier *classifier,
               struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    size_t classes = classifier->classes;
    enum sotto_status status = /* before room is made for it */
        safetensors_want(file, EXCHANGED, SAFETENSORS_F64, 2, classes, classes,
                         &entry, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    classifier->exchanged = calloc(classes * classes, sizeof(double));
    return classifier->exchanged != NULL
               ? read_table(file, EXCHANGED, classes, classes, 0,
                            classifier->exchanged, err)
               : host_fail_memory(err);
}

enum sotto_status
codes_read(struct sotto_model *model, const struct safetensors *file,
           struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    bool exchanged = safetensors_find(file, EXCHANGED) != NULL;
    struct networks_plan plan;
    struct codes_model *own;
    enum sotto_status status =
        networks_plan_read(safetensors_metadata(file), &plan, err);
    status =
        HOST_THEN(status, codes_model_new(model, plan.other, plan.level, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    own = codes_of(model);
    status = networks_check(file, &plan, own->in, model->classes,
                            exchanged ? 4 : 3, err);
    if (status == SOTTO_STATUS_OK) { /* before room is made for it */
        status =
            safetensors_want(file, "codes.tau", SAFETENSORS_F64, 2,
                             own->shape.cells, model->classes, &entry, err);
    }
    status = HOST_THEN(status,
                       classifier_new(own->in, own->shape.cells, model->classes,
                                      &plan, &own->classifier, err));
    status =
        HOST_THEN(status, networks_read(file, &own->classifier->networks, err));
    status = HOST_THEN(status, read_tables(file, own->classifier, err));
    if (status == SOTTO_STATUS_OK && exchanged) {
        status = read_exchanged(file, own->classifier, err);
    }
    return status;
}
