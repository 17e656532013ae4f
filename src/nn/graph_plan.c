/*
 * graph_plan.c: the parameters of a graph: their rows, how they begin, and
 * norms folded into them; and which layer takes what.
 */
#include "nn/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "nn/layers.h"
#include "random/seeded.h"

/* ---- Rows --------------------------------------------------------------- */

enum sotto_status
nn_row_plan(const struct nn_planning *planning, const char *what, size_t rows,
            size_t columns, bool fixed, size_t *ret_row,
            struct sotto_error *err)
{
    char name[NN_NAME_MAX];
    int length = snprintf(name, sizeof name, "%s.%zu.%s", planning->prefix,
                          planning->at, what);
    if (length < 0 || (size_t)length >= sizeof name) {
        return host_fail(err, SOTTO_STATUS_LIMIT, planning->at,
                         "the name of layer %zu of '%s' is too long: a "
                         "tensor's is below %u bytes",
                         planning->at, planning->prefix, NN_NAME_MAX);
    }
    *ret_row = nn_arena_add(planning->arena, name, rows, columns, fixed);
    return *ret_row != SIZE_MAX ? SOTTO_STATUS_OK : host_fail_memory(err);
}

static enum sotto_status
plan_rows(const struct nn_planning *planning, struct nn_place *place,
          struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    place->weight = place->bias = place->gain = place->shift = SIZE_MAX;
    place->mean = place->variance = SIZE_MAX;
    if (place->fan > 0) {
        status = nn_row_plan(planning, "weight", place->width, place->fan,
                             false, &place->weight, err);
    }
    if (status == SOTTO_STATUS_OK && place->layer.norm) {
        status = nn_norm_plan(planning, place, err);
    } else if (status == SOTTO_STATUS_OK && place->fan > 0) {
        status = nn_row_plan(planning, "bias", place->width, 0, false,
                             &place->bias, err);
    }
    return status;
}

/* ---- What goes where ---------------------------------------------------- */

/* Entries of output i: 0 is x, i what layer i - 1 makes. */
static size_t
entries_of(const struct nn_graph *graph, size_t i)
{
    return i == 0 ? graph->in : graph->layer[i - 1].out;
}

/* Sets which outputs the layer takes; false if there are none such. */
static bool
find_sources(const struct layer *layer, size_t at, struct nn_place *place)
{
    size_t input = layer_back(layer);
    if (input > at + 1 || layer->from[1] > at + 1) {
        return false;
    }
    place->input = at + 1 - input;
    place->added = layer->from[1] == 0 ? SIZE_MAX : at + 1 - layer->from[1];
    return true;
}

/* Whether what is added has the shape of what the layer makes: as many
   entries, and if a layer made an image of them, the same image. */
static bool
sum_fits(const struct nn_graph *graph, const struct nn_place *place)
{
    if (place->added == SIZE_MAX) {
        return true;
    }
    if (entries_of(graph, place->added) != place->out) {
        return false;
    }
    if (place->added == 0) {
        return true;
    }
    const struct nn_place *from = &graph->layer[place->added - 1];
    return from->layer.kind == LAYER_DENSE ||
           place->layer.kind == LAYER_DENSE ||
           (from->width == place->width &&
            from->layer.made.height == place->layer.made.height);
}

static enum sotto_status
plan_layer(struct nn_graph *graph, const struct nn_planning *planning,
           const struct layer *layer, struct sotto_error *err)
{
    size_t i = planning->at;
    struct nn_place *place = &graph->layer[i];
    enum sotto_status status;
    place->layer = *layer;
    if (!find_sources(layer, i, place)) {
        return host_fail(err, SOTTO_STATUS_INPUT, i,
                         "layer %zu of '%s' takes what no layer before it "
                         "makes",
                         i, planning->prefix);
    }
    place->in = entries_of(graph, place->input);
    status =
        nn_layer_ops_of(place->layer.kind)->plan(planning, layer, place, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    place->layer.in = (uint32_t)place->in;
    place->layer.out = (uint32_t)place->out;
    if (!sum_fits(graph, place)) {
        return host_fail(err, SOTTO_STATUS_INPUT, i,
                         "layer %zu of '%s' adds what has another shape", i,
                         planning->prefix);
    }
    return plan_rows(planning, place, err);
}

/* Every output is used; `widest` is of those that several layers take. */
static enum sotto_status
count_uses(struct nn_graph *graph, const char *prefix, struct sotto_error *err)
{
    for (size_t i = 0; i < graph->layers; i++) {
        size_t taken = 0;
        bool used = false;
        for (size_t j = i; j < graph->layers; j++) {
            const struct nn_place *place = &graph->layer[j];
            taken += place->input == i;
            used = used || place->input == i || place->added == i;
        }
        if (!used && i > 0) {
            return host_fail(err, SOTTO_STATUS_INPUT, i - 1,
                             "no later layer takes what layer %zu of '%s' "
                             "makes",
                             i - 1, prefix);
        }
        if (taken > 1 && entries_of(graph, i) > graph->widest) {
            graph->widest = entries_of(graph, i);
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
nn_graph_plan(struct nn_graph *graph, struct nn_arena *arena,
              const char *prefix, size_t in, const struct layer *layer,
              size_t layers, struct sotto_error *err)
{
    memset(graph, 0, sizeof *graph);
    if (layers == 0) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0, "'%s' has no layers",
                         prefix);
    }
    graph->arena = arena;
    graph->in = in;
    graph->layer = calloc(layers, sizeof *graph->layer);
    graph->filled = calloc(layers + 1, sizeof *graph->filled);
    if (graph->layer == NULL || graph->filled == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < layers; i++) {
        struct nn_planning planning = {arena, prefix, i};
        enum sotto_status status = plan_layer(graph, &planning, &layer[i], err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        graph->layers = i + 1;
    }
    graph->out = graph->layer[layers - 1].out;
    return count_uses(graph, prefix, err);
}

/* ---- Weights ------------------------------------------------------------ */

/* Uniform in (-limit, limit), by the middle of 2^24 equal parts. */
static void
fill_uniform(struct seeded *seeded, size_t size, double limit, float *weight)
{
    for (size_t i = 0; i < size; i++) {
        double u = ((random_u32(&seeded->random) >> 8) + 0.5) / 16777216;
        weight[i] = (float)(limit * (2 * u - 1));
    }
}

static void
fill_constant(float *row, size_t size, float value)
{
    for (size_t i = 0; row != NULL && i < size; i++) {
        row[i] = value;
    }
}

/* Variance 2 / in before ReLU (He), 2 / (in + out) otherwise (Glorot): `in`
   and `out` are how many weights meet in an entry of either side. */
void
nn_graph_init(struct nn_graph *graph, uint64_t seed, uint64_t stream)
{
    const struct nn_arena *arena = graph->arena;
    struct seeded seeded;
    seeded_init(&seeded, seed, stream);
    for (size_t i = 0; i < graph->layers; i++) {
        const struct nn_place *place = &graph->layer[i];
        bool relu = place->layer.activation == ACTIVATION_RELU;
        size_t area = place->layer.kind == LAYER_CONV
                          ? place->window.kernel * place->window.kernel
                          : 1;
        size_t out = relu ? 0 : place->width * area;
        fill_uniform(&seeded, place->fan * place->width,
                     sqrt(6 / (double)(place->fan + out)),
                     nn_arena_value(arena, place->weight));
        fill_constant(nn_arena_value(arena, place->bias), place->width, 0);
        fill_constant(nn_arena_value(arena, place->gain), place->width, 1);
        fill_constant(nn_arena_value(arena, place->shift), place->width, 0);
        fill_constant(nn_arena_value(arena, place->mean), place->width, 0);
        fill_constant(nn_arena_value(arena, place->variance), place->width, 1);
    }
}

/* Weights, then biases, of a layer as devices run it. */
static void
export_weights(const struct nn_arena *arena, const struct nn_place *place,
               float *weight, float *bias)
{
    if (place->layer.norm) {
        nn_norm_fold(arena, place, weight, bias);
        return;
    }
    memcpy(weight, nn_arena_value(arena, place->weight),
           place->fan * place->width * sizeof *weight);
    memcpy(bias, nn_arena_value(arena, place->bias),
           place->width * sizeof *bias);
}

size_t
nn_graph_floats(const struct nn_graph *graph)
{
    size_t floats = 0;
    for (size_t i = 0; i < graph->layers; i++) {
        const struct nn_place *place = &graph->layer[i];
        floats += place->fan > 0 ? (place->fan + 1) * place->width : 0;
    }
    return floats;
}

void
nn_graph_export(const struct nn_graph *graph, float *room,
                struct layer *ret_layer)
{
    for (size_t i = 0; i < graph->layers; i++) {
        const struct nn_place *place = &graph->layer[i];
        ret_layer[i] = place->layer;
        ret_layer[i].norm = false;
        if (place->fan > 0) {
            float *bias = room + place->fan * place->width;
            export_weights(graph->arena, place, room, bias);
            ret_layer[i].weight = room;
            ret_layer[i].bias = bias;
            room = bias + place->width;
        }
    }
}
