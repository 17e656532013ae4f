/*
 * decompose.c: the spec of an opened mechanism.
 */
#include "mechanism/decompose.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"

static const char *const activations[] = {"none", "relu", "sigmoid", "tanh"};

const char *
decompose_activation(const struct device_layer *layer)
{
    size_t i = 0, last = sizeof activations / sizeof *activations - 1;
    while (i < last && layer->activation != NULL &&
           forward_activation((struct reader_word){
               activations[i], strlen(activations[i])}) != layer->activation) {
        i++;
    }
    return activations[i];
}

static void
copy_columns(const struct sotto_client *client, struct decompose *copy)
{
    const char **values = copy->values;
    for (size_t i = 0; i < client->sizes.columns; i++) {
        const struct device_column *own = &client->column[i];
        struct compose_column *column = &copy->column[i];
        const char *text = (const char *)own->text;
        bool category = own->kind == DEVICE_COLUMN_CATEGORY;
        column->name = text;
        column->kind = (enum sotto_column_kind)own->kind;
        column->count = own->count;
        column->input = own->inputs > 0;
        column->shift = client->shift[i];
        column->scale = client->scale[i];
        column->values = values;
        for (uint32_t j = 0; category && j + 1 < own->count; j++) {
            text += strlen(text) + 1;
            *values++ = text;
        }
    }
}

static void
copy_layers(const struct sotto_client *client, struct decompose *copy)
{
    for (uint32_t i = 0; i < client->sizes.layers; i++) {
        const struct device_layer *own = &client->layer[i];
        copy->layer[i] =
            (struct compose_layer){.in = own->in,
                                   .out = own->out,
                                   .activation = decompose_activation(own),
                                   .weight = own->weight,
                                   .bias = own->bias,
                                   .kind = (enum compose_kind)own->kind,
                                   .height = own->image.height,
                                   .width = own->image.width,
                                   .channels = own->image.channels,
                                   .filters = own->made.channels,
                                   .kernel = own->kernel,
                                   .stride = own->stride,
                                   .pad = own->pad,
                                   .skip = own->skip};
    }
}

static void
copy_parts(const struct sotto_client *client, struct decompose *copy)
{
    for (uint32_t i = 0; i < client->sizes.parts; i++) {
        const struct device_part *own = &client->part[i];
        struct compose_part *part = &copy->part[i];
        part->covers = reader_is(own->covers, "label")  ? "label"
                       : reader_is(own->covers, "both") ? "both"
                                                        : "features";
        part->channel = own->instance.channel->name;
        part->eps = own->instance.eps;
        part->delta = own->instance.delta;
        part->blocks = own->blocks;
        part->from = own->from;
        part->d = own->factors > 0 ? 0 : own->instance.size;
        part->l = own->instance.l;
        part->factors = own->factors;
        for (uint32_t j = 0; j < own->factors; j++) {
            part->factor[j] = (struct compose_factor){
                own->factor[j].is_column, own->factor[j].at, own->factor[j].k};
        }
    }
}

void
decompose_clear(struct decompose *copy)
{
    free(copy->column);
    free(copy->values);
    free(copy->layer);
    free(copy->part);
}

enum sotto_status
decompose_init(struct decompose *copy, const struct sotto_mechanism *mechanism,
               struct sotto_error *err)
{
    const struct sotto_client *client = mechanism->client;
    const struct device_sizes *sizes = &client->sizes;
    size_t values = 1;
    memset(copy, 0, sizeof *copy);
    for (size_t i = 0; i < sizes->columns; i++) {
        bool category = client->column[i].kind == DEVICE_COLUMN_CATEGORY;
        values += category ? client->column[i].count : 0;
    }
    copy->column = calloc(sizes->columns + (size_t)1, sizeof *copy->column);
    copy->values = calloc(values, sizeof *copy->values);
    copy->layer = calloc(sizes->layers + (size_t)1, sizeof *copy->layer);
    copy->part = calloc(sizes->parts + (size_t)1, sizeof *copy->part);
    if (copy->column == NULL || copy->values == NULL || copy->layer == NULL ||
        copy->part == NULL) {
        return host_fail_memory(err);
    }
    copy_columns(client, copy);
    copy_layers(client, copy);
    copy_parts(client, copy);
    copy->spec = (struct compose_spec){
        .name = mechanism->name,
        .campaign = mechanism->campaign,
        .auxiliary = mechanism->auxiliary,
        .eps = client->eps,
        .column = copy->column,
        .columns = sizes->columns,
        .layer = copy->layer,
        .layers = sizes->layers,
        .part = copy->part,
        .parts = sizes->parts,
    };
    return SOTTO_STATUS_OK;
}
