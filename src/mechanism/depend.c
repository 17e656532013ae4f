/*
 * depend.c: which columns a part of a report can depend on.
 */
#include "mechanism/depend.h"

#include <string.h>

/* Of blocks of `size` entries of z each, from `from` on, how many can depend on
   the column. */
static size_t
count_reached(const struct shape *shape, const struct schema_column *column,
              size_t from, size_t size, size_t blocks)
{
    size_t first = column->at, end = column->at + column->inputs;
    if (column->inputs == 0 || shape->layers > 0) {
        return column->inputs > 0 ? blocks : 0;
    }
    first = first > from ? (first - from) / size : 0;
    end = end > from ? (end - from + size - 1) / size : 0;
    end = end < blocks ? end : blocks;
    return end > first ? end - first : 0;
}

static bool
factor_depends(const struct shape *shape, const struct report_factor *factor,
               size_t books, size_t column)
{
    if (factor->is_column) {
        return factor->at == column;
    }
    return (factor->equal && factor->column == column) ||
           count_reached(shape, &shape->schema.column[column], factor->at,
                         factor->equal ? factor->choices : factor->k,
                         books) > 0;
}

size_t
depend_blocks(const struct sotto_mechanism *mechanism, size_t part,
              size_t column)
{
    const struct shape *shape = &mechanism->shape;
    const struct report_part *own = &mechanism->device.report->part[part];
    bool depends = false;
    if (own->place != NULL) {
        return count_reached(shape, &shape->schema.column[column], own->from,
                             own->instance.size, own->blocks);
    }
    for (uint32_t i = 0; i < own->factors; i++) {
        depends = depends || factor_depends(shape, &own->factor[i],
                                            shape->part[part].books, column);
    }
    return depends ? own->blocks : 0;
}

uint64_t
depend_eps(const struct sotto_mechanism *mechanism, size_t column)
{
    uint64_t units = 0;
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        units += depend_blocks(mechanism, i, column) *
                 mechanism->shape.part[i].instance->eps;
    }
    return units;
}

/* Whether a layer behind the first takes x, too. */
static bool
skips_first(const struct sotto_mechanism *mechanism)
{
    bool skips = false;
    for (size_t i = 1; i < mechanism->shape.layers; i++) {
        const struct layer *layer = &mechanism->device.encoder->layer[i];
        skips = skips || layer_back(layer) > i || layer->from[1] > i;
    }
    return skips;
}

bool
depend_weightless(const struct sotto_mechanism *mechanism, size_t column)
{
    const struct shape *shape = &mechanism->shape;
    const struct schema_column *from = &shape->schema.column[column];
    const struct layer *layer;
    if (shape->layers == 0 || from->inputs == 0 || skips_first(mechanism)) {
        return false;
    }
    layer = &mechanism->device.encoder->layer[0];
    if (layer->kind != LAYER_DENSE || layer->bf16) {
        return false;
    }
    for (size_t i = 0; i < layer->out; i++) {
        for (size_t j = from->at; j < from->at + from->inputs; j++) {
            if (layer->weight[i * layer->in + j] != 0) {
                return false;
            }
        }
    }
    return true;
}

bool
depend_contradicts(const struct sotto_mechanism *mechanism, size_t part)
{
    const struct shape *shape = &mechanism->shape;
    const char *covers = shape->part[part].covers;
    size_t columns = 0;
    if (strcmp(covers, "features") == 0) {
        return shape->label != SIZE_MAX &&
               depend_blocks(mechanism, part, shape->label) > 0;
    }
    for (size_t i = 0; i < shape->schema.columns; i++) {
        columns += depend_blocks(mechanism, part, i) > 0 ? 1 : 0;
    }
    return strcmp(covers, "label") == 0 && columns > 1;
}
