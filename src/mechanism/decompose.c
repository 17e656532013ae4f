/*
 * decompose.c: the spec of an opened mechanism.
 */
#include "mechanism/decompose.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"

struct layer
decompose_layer(const struct sotto_mechanism *mechanism, size_t i)
{
    return mechanism->device.encoder->layer[i];
}

static void
copy_parts(const struct sotto_mechanism *mechanism, struct decompose *copy)
{
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        const struct report_part *own = &mechanism->device.report->part[i];
        struct compose_part *part = &copy->part[i];
        part->covers = mechanism->shape.part[i].covers;
        part->channel = own->instance.channel->name;
        part->eps = own->instance.eps;
        part->delta = own->instance.delta;
        part->blocks = own->blocks;
        part->from = own->from;
        part->d = own->factors > 0 ? 0 : own->instance.size;
        part->l = own->instance.l;
        part->books = own->books;
        part->factors = own->factors;
        for (uint32_t j = 0; j < own->factors; j++) {
            const struct report_factor *factor = &own->factor[j];
            part->factor[j] = (struct compose_factor){
                factor->is_column, factor->at,
                factor->equal ? factor->choices : factor->k, factor->equal,
                factor->column};
        }
    }
}

void
decompose_clear(struct decompose *copy)
{
    free(copy->column);
    free(copy->layer);
    free(copy->part);
}

enum sotto_status
decompose_init(struct decompose *copy, const struct sotto_mechanism *mechanism,
               struct sotto_error *err)
{
    const struct shape *shape = &mechanism->shape;
    memset(copy, 0, sizeof *copy);
    copy->column = calloc(shape->schema.columns + 1, sizeof *copy->column);
    copy->layer = calloc(shape->layers + 1, sizeof *copy->layer);
    copy->part = calloc(shape->parts + 1, sizeof *copy->part);
    if (copy->column == NULL || copy->layer == NULL || copy->part == NULL) {
        return host_fail_memory(err);
    }
    memcpy(copy->column, shape->schema.column,
           shape->schema.columns * sizeof *copy->column);
    for (size_t i = 0; i < shape->layers; i++) {
        copy->layer[i] = decompose_layer(mechanism, i);
    }
    copy_parts(mechanism, copy);
    copy->spec = (struct compose_spec){
        .name = mechanism->name,
        .campaign = mechanism->campaign,
        .auxiliary = mechanism->auxiliary,
        .eps = shape->eps,
        .central_eps = mechanism->device.terms->central_eps,
        .central_delta = mechanism->device.terms->central_delta,
        .expires = mechanism->device.terms->expires,
        .label_only = mechanism->device.terms->label_only,
        .column = copy->column,
        .columns = shape->schema.columns,
        .layer = copy->layer,
        .layers = shape->layers,
        .part = copy->part,
        .parts = shape->parts,
    };
    return SOTTO_STATUS_OK;
}
