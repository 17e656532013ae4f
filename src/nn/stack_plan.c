/*
 * stack_plan.c: the parameters of a stack: their rows, how they begin, and
 * norms folded into them.
 */
#include "nn/stack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/error.h"
#include "random/seeded.h"

#define NORM_EPSILON 1e-5
#define SIDE_MAX 65535u               /* of images and kernels */
#define ENTRIES_MAX ((size_t)1 << 28) /* of an image, or of weights */

/* ---- Rows --------------------------------------------------------------- */

/* Adds PREFIX.LAYER.WHAT; false if there is no room. */
static bool
add_row(struct nn_arena *arena, const char *prefix, size_t layer,
        const char *what, size_t rows, size_t columns, bool fixed,
        size_t *ret_row)
{
    char name[NN_NAME_MAX];
    int length = snprintf(name, sizeof name, "%s.%zu.%s", prefix, layer, what);
    if (length < 0 || (size_t)length >= sizeof name) {
        return false;
    }
    *ret_row = nn_arena_add(arena, name, rows, columns, fixed);
    return *ret_row != SIZE_MAX;
}

static bool
plan_layer(struct nn_arena *arena, const char *prefix, size_t i,
           struct nn_place *place)
{
    size_t out = place->width;
    place->weight = place->bias = place->gain = place->shift = SIZE_MAX;
    place->mean = place->variance = SIZE_MAX;
    if (nn_pools(place->kind)) {
        return true;
    }
    if (!add_row(arena, prefix, i, "weight", out, place->fan, false,
                 &place->weight)) {
        return false;
    }
    if (!place->norm) {
        return add_row(arena, prefix, i, "bias", out, 0, false, &place->bias);
    }
    return add_row(arena, prefix, i, "gain", out, 0, false, &place->gain) &&
           add_row(arena, prefix, i, "shift", out, 0, false, &place->shift) &&
           add_row(arena, prefix, i, "mean", out, 0, true, &place->mean) &&
           add_row(arena, prefix, i, "variance", out, 0, true,
                   &place->variance);
}

/* ---- Shapes ------------------------------------------------------------- */

/* Whether a window makes sense, and nothing overflows. */
static bool
window_fits(const struct nn_layer *layer)
{
    const uint32_t sides[] = {layer->height,  layer->width,  layer->channels,
                              layer->filters, layer->kernel, layer->stride,
                              layer->pad};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        if (sides[i] > SIDE_MAX) {
            return false;
        }
    }
    size_t padding = 2 * (size_t)layer->pad;
    return layer->channels > 0 && layer->kernel > 0 && layer->stride > 0 &&
           layer->height > 0 && layer->width > 0 &&
           layer->height + padding >= layer->kernel &&
           layer->width + padding >= layer->kernel &&
           (layer->kind == NN_CONV ? layer->filters > 0
                                   : layer->pad < layer->kernel);
}

/* a b c, or SIZE_MAX if that is more than ENTRIES_MAX; a, b, c below 2^17. */
static size_t
entries(size_t a, size_t b, size_t c)
{
    return a * b > ENTRIES_MAX || a * b * c > ENTRIES_MAX ? SIZE_MAX
                                                          : a * b * c;
}

static enum sotto_status
place_window(const struct nn_layer *layer, const char *prefix, size_t i,
             struct nn_place *place, struct sotto_error *err)
{
    bool conv = layer->kind == NN_CONV;
    if (!window_fits(layer) ||
        entries(layer->height, layer->width, layer->channels) != place->in) {
        return host_fail(err, SOTTO_STATUS_INPUT, i,
                         "layer %zu of '%s' does not fit: %zu entries as "
                         "%ux%ux%u, kernel %u, stride %u, padding %u",
                         i, prefix, place->in, layer->height, layer->width,
                         layer->channels, layer->kernel, layer->stride,
                         layer->pad);
    }
    if (!conv && (layer->norm || layer->skip != 0 ||
                  layer->activation != TENSOR_ACTIVATION_NONE)) {
        return host_fail(err, SOTTO_STATUS_INPUT, i,
                         "layer %zu of '%s', a pool, has no norm, skip or "
                         "activation",
                         i, prefix);
    }
    place->window = (struct tensor_window){
        layer->height, layer->width,  layer->channels, layer->channels,
        layer->kernel, layer->stride, layer->pad};
    if (conv) {
        place->window.filters = layer->filters;
        place->fan = entries(layer->kernel, layer->kernel, layer->channels);
    }
    place->width = place->window.filters;
    place->places = tensor_window_places(&place->window);
    place->out =
        entries(tensor_window_side(&place->window, layer->height),
                tensor_window_side(&place->window, layer->width), place->width);
    if (place->out == SIZE_MAX || place->fan == SIZE_MAX ||
        place->fan > ENTRIES_MAX / place->width) {
        return host_fail(err, SOTTO_STATUS_LIMIT, i,
                         "layer %zu of '%s' is too large", i, prefix);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
place_layer(const struct nn_layer *layer, const char *prefix, size_t i,
            struct nn_place *place, struct sotto_error *err)
{
    place->activation = layer->activation;
    place->norm = layer->norm;
    place->kind = layer->kind;
    place->skip = layer->skip;
    if (layer->kind != NN_DENSE) {
        return place_window(layer, prefix, i, place, err);
    }
    place->out = place->width = layer->out;
    place->fan = place->in;
    place->places = 1;
    return SOTTO_STATUS_OK;
}

/* Skips of convolutions alone, over whole layers, as wide as what they are
   added to, and one after another: `end` is the first layer under none. */
static enum sotto_status
check_skip(const struct nn_stack *stack, const char *prefix, size_t i,
           size_t *end, struct sotto_error *err)
{
    const struct nn_place *place = &stack->layer[i];
    if (place->skip == 0) {
        return SOTTO_STATUS_OK;
    }
    bool fits = place->kind == NN_CONV && place->skip <= i + 1 - *end;
    const struct nn_place *from = &stack->layer[fits ? i + 1 - place->skip : i];
    /* The image that went in there, and the one that comes out here. */
    fits = fits && from->kind != NN_DENSE &&
           from->window.channels == place->window.filters &&
           from->window.height ==
               tensor_window_side(&place->window, place->window.height) &&
           from->window.width ==
               tensor_window_side(&place->window, place->window.width);
    if (!fits) {
        return host_fail(err, SOTTO_STATUS_INPUT, i,
                         "layer %zu of '%s' cannot have a skip of %zu: not a "
                         "convolution, another shape, or under two skips",
                         i, prefix, place->skip);
    }
    *end = i + 1;
    return SOTTO_STATUS_OK;
}

enum sotto_status
nn_stack_plan(struct nn_stack *stack, struct nn_arena *arena,
              const char *prefix, size_t in, const struct nn_layer *layer,
              size_t layers, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t end = 0;
    memset(stack, 0, sizeof *stack);
    if (layers == 0 || layers > NN_LAYERS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "'%s' has %zu layers: from 1 to %u are possible",
                         prefix, layers, NN_LAYERS_MAX);
    }
    stack->arena = arena;
    stack->in = in;
    stack->layers = layers;
    for (size_t i = 0; i < layers; i++) {
        struct nn_place *place = &stack->layer[i];
        place->in = in;
        status = place_layer(&layer[i], prefix, i, place, err);
        if (status == SOTTO_STATUS_OK) {
            status = check_skip(stack, prefix, i, &end, err);
        }
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        in = place->out;
        if (!plan_layer(arena, prefix, i, place)) {
            return host_fail(err, SOTTO_STATUS_LIMIT, i,
                             "no room for layer %zu of '%s': a model has at "
                             "most %u tensors, with names below %u bytes",
                             i, prefix, NN_ROWS_MAX, NN_NAME_MAX);
        }
    }
    stack->out = in;
    return SOTTO_STATUS_OK;
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
nn_stack_init(struct nn_stack *stack, uint64_t seed, uint64_t stream)
{
    const struct nn_arena *arena = stack->arena;
    struct seeded seeded;
    seeded_init(&seeded, seed, stream);
    for (size_t i = 0; i < stack->layers; i++) {
        const struct nn_place *place = &stack->layer[i];
        bool relu = place->activation == TENSOR_ACTIVATION_RELU;
        size_t area = place->kind == NN_CONV
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

/* gain (W x - mean) / sqrt(variance + epsilon) + shift, as one product. */
void
nn_stack_folded(const struct nn_stack *stack, size_t layer, float *weight,
                float *bias)
{
    const struct nn_arena *arena = stack->arena;
    const struct nn_place *place = &stack->layer[layer];
    const float *from = nn_arena_value(arena, place->weight);
    const float *gain = nn_arena_value(arena, place->gain);
    const float *shift = nn_arena_value(arena, place->shift);
    const float *mean = nn_arena_value(arena, place->mean);
    const float *variance = nn_arena_value(arena, place->variance);
    if (nn_pools(place->kind)) {
        return;
    }
    if (!place->norm) {
        memcpy(weight, from, place->fan * place->width * sizeof *weight);
        memcpy(bias, nn_arena_value(arena, place->bias),
               place->width * sizeof *bias);
        return;
    }
    for (size_t j = 0; j < place->width; j++) {
        double factor = gain[j] / sqrt((double)variance[j] + NORM_EPSILON);
        for (size_t i = 0; i < place->fan; i++) {
            weight[j * place->fan + i] =
                (float)(factor * from[j * place->fan + i]);
        }
        bias[j] = (float)(shift[j] - factor * mean[j]);
    }
}
