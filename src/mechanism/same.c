/*
 * same.c: whether two mechanisms make the same of every record.
 *
 * Columns that the encoder does not take, the label's say, may differ; those
 * that it takes must come in the same order, and be read the same.
 */
#include "mechanism/same.h"

#include <string.h>

#include "mechanism/decompose.h"

/* The next column from `i` that fills entries of x. */
static size_t
next_input(const struct shape *shape, size_t i)
{
    while (i < shape->schema.columns && shape->schema.column[i].inputs == 0) {
        i++;
    }
    return i;
}

static bool
same_column(const struct schema_column *x, const struct schema_column *y)
{
    bool same = x->kind == y->kind && x->count == y->count &&
                x->inputs == y->inputs && strcmp(x->name, y->name) == 0 &&
                x->shift == y->shift && x->scale == y->scale &&
                x->missing == y->missing && x->clip == y->clip &&
                x->log == y->log;
    for (size_t i = 0; same && x->values != NULL && i + 1 < x->count; i++) {
        same = strcmp(x->values[i], y->values[i]) == 0;
    }
    for (size_t i = 0; same && x->edges != NULL && i + 2 < x->count; i++) {
        same = x->edges[i] == y->edges[i];
    }
    return same;
}

static bool
same_inputs(const struct shape *a, const struct shape *b)
{
    size_t i = next_input(a, 0), j = next_input(b, 0);
    bool same = true;
    while (same && i < a->schema.columns && j < b->schema.columns) {
        same = same_column(&a->schema.column[i], &b->schema.column[j]);
        i = next_input(a, i + 1);
        j = next_input(b, j + 1);
    }
    return same && i == a->schema.columns && j == b->schema.columns;
}

static bool
same_plan(const struct layer *x, const struct layer *y)
{
    return x->in == y->in && x->out == y->out && x->kind == y->kind &&
           x->activation == y->activation && x->bf16 == y->bf16 &&
           layer_back(x) == layer_back(y) && x->from[1] == y->from[1] &&
           x->kernel == y->kernel && x->stride == y->stride &&
           x->pad == y->pad && x->height == y->height && x->width == y->width &&
           x->channels == y->channels && x->filters == y->filters;
}

bool
same_layer(const struct layer *x, const struct layer *y)
{
    size_t biases = layer_biases(x), weights = biases * layer_fan(x);
    size_t size = x->bf16 ? sizeof(uint16_t) : sizeof(float);
    return same_plan(x, y) &&
           (biases == 0 ||
            (memcmp(x->bf16 ? (const void *)x->half : x->weight,
                    y->bf16 ? (const void *)y->half : y->weight,
                    weights * size) == 0 &&
             memcmp(x->bias, y->bias, biases * sizeof(float)) == 0));
}

bool
same_layers(const struct sotto_mechanism *a, const struct sotto_mechanism *b,
            size_t layers)
{
    bool same = a->shape.layers >= layers && b->shape.layers >= layers &&
                same_inputs(&a->shape, &b->shape);
    for (size_t i = 0; same && i < layers; i++) {
        struct layer x = decompose_layer(a, i);
        struct layer y = decompose_layer(b, i);
        same = same_layer(&x, &y);
    }
    return same;
}

bool
same_code(const struct sotto_mechanism *a, const struct sotto_mechanism *b)
{
    const struct shape *x = &a->shape, *y = &b->shape;
    return x->code != SIZE_MAX && y->code != SIZE_MAX &&
           x->part[x->code].from == y->part[y->code].from &&
           x->part[x->code].cells == y->part[y->code].cells &&
           (y->part[y->code].books == 1 ||
            x->part[x->code].books == y->part[y->code].books) &&
           x->layers == y->layers && same_layers(a, b, x->layers);
}
