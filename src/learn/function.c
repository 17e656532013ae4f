/*
 * function.c: a model as a function of the record: the layers by which a device
 * would find the record's class.
 */
#include "learn/function.h"

#include <stdlib.h>

#include "host/error.h"
#include "learn/lattice/regression.h"
#include "mechanism/mechanism.h"

struct own {
    struct sotto_model *model;
    struct device_net net;
};

static void
own_free(void *context)
{
    struct own *own = context;
    device_net_clear(&own->net);
    sotto_model_free(own->model);
    free(own);
}

/* Whether all weights are there to go back through. */
static enum sotto_status
check_layers(const struct device_net *net, struct sotto_error *err)
{
    for (size_t i = 0; i < net->layers; i++) {
        if (net->layer[i].bf16) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "the model's encoder has weights of 16 bits, "
                             "which no training takes");
        }
    }
    return SOTTO_STATUS_OK;
}

/* What a model must be for one network to say what it says of a record. */
static enum sotto_status
check_model(const struct sotto_model *model, struct sotto_error *err)
{
    if (sotto_model_networks(model) > 1) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the model is the mean of %zu networks, and a task "
                         "is one: fit it with one",
                         sotto_model_networks(model));
    }
    if (model->learner == &learner_regression) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the model tells a number from what a device would "
                         "round: name the number's column as target instead");
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
learn_function(const char *path, struct encoder_function *ret_function,
               struct sotto_error *err)
{
    struct own *own = calloc(1, sizeof *own);
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    status = sotto_model_read(path, &own->model, err);
    if (status == SOTTO_STATUS_OK) {
        status = check_model(own->model, err);
        status = HOST_THEN(
            status, own->model->learner->device(own->model, 0, &own->net, err));
        status = HOST_THEN(status, check_layers(&own->net, err));
        status = host_about(status, err, SOTTO_ABOUT_SETTING, "model");
    }
    if (status != SOTTO_STATUS_OK) {
        own_free(own);
        return status;
    }
    *ret_function = (struct encoder_function){
        .own = own,
        .free = own_free,
        .schema = &own->model->mechanism->shape.schema,
        .layer = own->net.layer,
        .layers = own->net.layers,
        .classes = own->model->classes};
    return SOTTO_STATUS_OK;
}
