/*
 * layers.h: what a kind of layer does: one struct nn_layer_ops for each row of
 * LAYER_KINDS, in layer_<kind>.c.
 *
 * A kind multiplies, pools or otherwise makes y of x. Batch norm, sums and the
 * graph are graph.c's: where there is a norm or a sum, a kind is asked for its
 * product alone.
 */
#ifndef SOTTO_NN_LAYERS_H
#define SOTTO_NN_LAYERS_H

#include "nn/graph.h"

/* A layer being planned, for messages and the names of its rows. */
struct nn_planning {
    struct nn_arena *arena;
    const char *prefix;
    size_t at; /* the layer's number */
};

struct nn_layer_ops {
    /* Sets the place's out, width, places and, where there are weights, fan
       from its `in`. Statuses: INPUT, LIMIT. */
    enum sotto_status (*plan)(const struct nn_planning *planning,
                              const struct layer *layer, struct nn_place *place,
                              struct sotto_error *err);
    /* y of n rows x. */
    void (*forward)(const struct nn_arena *arena, const struct nn_place *place,
                    struct tensor_backend *backend, size_t n, const float *x,
                    enum activation activation, float *y);
    /* Sets the gradients of the layer's rows, and dx unless NULL; leaves dy as
       the gradient before the activation. */
    void (*back)(const struct nn_arena *arena, const struct nn_place *place,
                 struct tensor_backend *backend, size_t n, const float *x,
                 const float *y, enum activation activation, float *dy,
                 float *dx);
};

#define LAYER_KIND(name, operations)                                           \
    extern const struct nn_layer_ops nn_##operations;
LAYER_KINDS(LAYER_KIND)
#undef LAYER_KIND

const struct nn_layer_ops *nn_layer_ops_of(enum layer_kind kind);

/* layer_conv.c: sets the place's window and `out`, for layers over images.
   Statuses: INPUT, LIMIT. */
enum sotto_status nn_window_plan(const struct nn_planning *planning,
                                 const struct layer *layer, size_t filters,
                                 struct nn_place *place,
                                 struct sotto_error *err);

/* layer_norm.c: batch norm behind a product. */
/* Adds its rows. Statuses: MEMORY, LIMIT. */
enum sotto_status nn_norm_plan(const struct nn_planning *planning,
                               struct nn_place *place, struct sotto_error *err);
void nn_norm_forward(const struct nn_arena *arena, const struct nn_place *place,
                     struct tensor_backend *backend, size_t n, bool training,
                     enum activation activation);
/* dy to the gradient of the product, which may take its place. */
void nn_norm_back(const struct nn_arena *arena, const struct nn_place *place,
                  struct tensor_backend *backend, size_t n, float *dy,
                  float *dbefore);
/* Weight and bias of the product with the norm behind it. */
void nn_norm_fold(const struct nn_arena *arena, const struct nn_place *place,
                  float *weight, float *bias);

/* graph_plan.c: adds PREFIX.LAYER.WHAT. Statuses: MEMORY, LIMIT. */
enum sotto_status nn_row_plan(const struct nn_planning *planning,
                              const char *what, size_t rows, size_t columns,
                              bool fixed, size_t *ret_row,
                              struct sotto_error *err);

#endif
