/*
 * codes_file.c: what the learner of codes has in a model's file.
 *
 *     netN.L.weight, .bias    networks_file.c
 *     codes.pi           F64  shares of the cells
 *     codes.tau          F64  labels in cells, as reports say
 *     codes.tau_bar      F64  likewise, as the network says
 *     codes.exchanged    F64  classes by classes: which may have each other's
 *                             place; where labels were learnt by leaves
 *     last.L.weight, .bias    F32  layer L of the network on the record: the
 *                             encoder's layers, then the network's; a pool has
 *                             none; after a last fit
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/codes_last.h"

#define EXCHANGED "codes.exchanged"
#define SUM_ERROR 1e-3 /* of a row of probabilities, from 1 */

static void
name_last(char name[MODEL_NAME_SIZE], size_t layer, const char *what)
{
    (void)snprintf(name, MODEL_NAME_SIZE, "last.%zu.%s", layer, what);
}

static void
write_last(const struct sotto_mechanism *last, struct model_tensors *to)
{
    char name[MODEL_NAME_SIZE];
    for (size_t i = 0; i < last->shape.layers; i++) {
        const struct layer layer = decompose_layer(last, i);
        if (layer_biases(&layer) > 0) {
            name_last(name, i, "weight");
            model_tensors_add(to, name, SAFETENSORS_F32, layer_biases(&layer),
                              layer_fan(&layer), layer.weight);
            name_last(name, i, "bias");
            model_tensors_add(to, name, SAFETENSORS_F32, layer_biases(&layer),
                              0, layer.bias);
        }
    }
}

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
    if (codes_of(model)->last != NULL) {
        write_last(codes_of(model)->last, to);
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

/* Counts the tensors of a last fit; 0: there was none. There is none of
   several networks, nor behind an encoder without layers or with halves of
   weights, so that a file that has its tensors has too many. */
static size_t
count_last(const struct sotto_model *model, const struct safetensors *file,
           const struct networks_plan *plan)
{
    size_t layers = codes_of(model)->layers;
    size_t tensors = 2 * (plan->hiddens + 1);
    bool can = layers > 0 && plan->count == 1;
    char name[MODEL_NAME_SIZE];
    for (size_t i = 0; i < layers; i++) {
        const struct layer layer = decompose_layer(model->mechanism, i);
        can = can && !layer.bf16;
        tensors += layer_biases(&layer) > 0 ? 2 : 0;
    }
    name_last(name, layers + plan->hiddens, "bias");
    return can && safetensors_find(file, name) != NULL ? tensors : 0;
}

/* Reads the weights of a layer into `room`. */
static enum sotto_status
read_layer(const struct safetensors *file, size_t i, struct layer *layer,
           float *room, struct sotto_error *err)
{
    size_t biases = layer_biases(layer), fan = layer_fan(layer);
    char name[MODEL_NAME_SIZE];
    enum sotto_status status;
    name_last(name, i, "weight");
    status = networks_read_floats(file, name, 2, biases, fan, room, err);
    layer->weight = room;
    layer->bias = room + biases * fan;
    name_last(name, i, "bias");
    return HOST_THEN(status, networks_read_floats(file, name, 1, biases, 0,
                                                  room + biases * fan, err));
}

/* The layers are those of the encoder and the network, with other weights. Both
   are in the file, so there is no more to make room for than it holds. */
static enum sotto_status
read_last(struct sotto_model *model, const struct safetensors *file,
          struct sotto_error *err)
{
    struct device_net net = {0}, like = {0};
    size_t floats = 0, at = 0;
    enum sotto_status status = codes_device(model, 0, &like, err);
    for (size_t i = 0; i < like.layers && status == SOTTO_STATUS_OK; i++) {
        size_t biases = layer_biases(&like.layer[i]);
        floats += biases * (layer_fan(&like.layer[i]) + 1);
    }
    status = HOST_THEN(status, device_net_init(&net, like.layers, floats, err));
    for (size_t i = 0; i < like.layers && status == SOTTO_STATUS_OK; i++) {
        struct layer *layer = &net.layer[net.layers++];
        *layer = like.layer[i];
        if (layer_biases(layer) > 0) {
            status = read_layer(file, i, layer, net.room + at, err);
            at += (size_t)layer_biases(layer) * (layer_fan(layer) + 1);
        }
    }
    status = HOST_THEN(status, codes_last_set(model, &net, err));
    device_net_clear(&like);
    device_net_clear(&net);
    return status;
}

enum sotto_status
codes_read(struct sotto_model *model, const struct safetensors *file,
           struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    bool exchanged = safetensors_find(file, EXCHANGED) != NULL;
    struct networks_plan plan;
    struct codes_model *own;
    size_t last;
    enum sotto_status status =
        networks_plan_read(safetensors_metadata(file), &plan, err);
    status =
        HOST_THEN(status, codes_model_new(model, plan.other, plan.level, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    own = codes_of(model);
    last = count_last(model, file, &plan);
    status = networks_check(file, &plan, own->in, model->classes,
                            (exchanged ? 4 : 3) + last, err);
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
    if (status == SOTTO_STATUS_OK && last > 0) {
        status = read_last(model, file, err);
    }
    return status;
}
