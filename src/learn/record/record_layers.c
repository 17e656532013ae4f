/*
 * record_layers.c: which layers a network on the record has: those of a
 * contrastive encoder for images, hidden ones for other records.
 */
#include "encoder/contrastive.h"
#include "host/error.h"
#include "learn/record/record.h"

#define SIDE_LEAST 8u /* pixels of an image for convolutions */
#define HIDDEN 50u

enum sotto_status
record_layers_add_head(struct record_net *net, size_t classes,
                       struct sotto_error *err)
{
    enum sotto_status status = record_net_add(
        net, (struct layer){.out = RECORD_HEAD, .activation = ACTIVATION_RELU},
        err);
    return HOST_THEN(
        status,
        record_net_add(net, (struct layer){.out = (uint32_t)classes}, err));
}

/* The layers of a contrastive encoder, whose weights are to be learnt. */
static enum sotto_status
plan_images(struct record_net *net, const struct record_data *data,
            struct sotto_error *err)
{
    struct contrastive_settings set = {.network = "cnn"};
    struct layer layer[CONTRASTIVE_LAYERS_ROOM];
    size_t layers;
    enum sotto_status status = SOTTO_STATUS_OK;
    settings_init(contrastive_settings, &set);
    set.network = "cnn";
    layers = contrastive_layers(&set, data->image, set.common.d, layer);
    for (size_t i = 0; i < layers && status == SOTTO_STATUS_OK; i++) {
        status = record_net_add(net, layer[i], err);
    }
    return HOST_THEN(status, record_layers_add_head(net, data->classes, err));
}

enum sotto_status
record_layers_plan(struct record_net *net, const struct record_data *data,
                   const struct learn_options *options, struct sotto_error *err)
{
    static const uint32_t usual[] = {HIDDEN};
    const uint32_t *hidden = options->hiddens > 0 ? options->hidden : usual;
    size_t hiddens = options->hiddens > 0 ? options->hiddens
                                          : (size_t)(options->linear ? 0 : 1);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (data->image.height >= SIDE_LEAST && data->image.width >= SIDE_LEAST) {
        return plan_images(net, data, err);
    }
    for (size_t i = 0; i < hiddens && status == SOTTO_STATUS_OK; i++) {
        status = record_net_add(
            net,
            (struct layer){.out = hidden[i], .activation = ACTIVATION_RELU},
            err);
    }
    return HOST_THEN(
        status, record_net_add(
                    net, (struct layer){.out = (uint32_t)data->classes}, err));
}
