/*
 * compose.h: putting a mechanism file together.
 *
 * Not the trusted part: whatever this writes, the device checks. The one
 * spelling of a file is in docs/format.md.
 */
#ifndef SOTTO_MECHANISM_COMPOSE_H
#define SOTTO_MECHANISM_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

struct compose_column {
    const char *name;
    enum sotto_column_kind kind;
    size_t count;              /* categories and "other", or bytes */
    const char *const *values; /* count - 1 categories */
    bool input;                /* a category's one-hot code goes into x */
    double shift, scale;       /* x = (value - shift) scale */
};

enum compose_kind {
    COMPOSE_DENSE = 0,
    COMPOSE_CONV,
    COMPOSE_POOL_MAX,
    COMPOSE_POOL_MEAN
};

/* Images are rows of columns of channels. A pool has no activation, weights
   and bias. */
struct compose_layer {
    uint32_t in, out; /* entries */
    const char *activation;
    const float *weight; /* out rows of in; filters x kernel x kernel x channels
                          */
    const float *bias;   /* out; filters */
    enum compose_kind kind;
    uint32_t height, width, channels; /* the image that goes in */
    uint32_t filters;                 /* conv: channels that come out */
    uint32_t kernel, stride, pad;
    uint32_t skip; /* conv: r > 0 adds the input of the layer r - 1 before */
};

/* Biases of a layer, 0 for a pool, and the weights of each. */
size_t compose_biases(const struct compose_layer *layer);
size_t compose_fan(const struct compose_layer *layer);

struct compose_factor {
    bool is_column;
    uint32_t at; /* column, or first entry of z */
    uint32_t k;  /* of an encoder's outputs; a column knows its own */
};

struct compose_part {
    const char *covers;
    const char *channel;
    uint64_t eps; /* units of 10^-12, each block */
    uint32_t blocks;
    uint32_t from, d, l; /* numbers; d = 0 for symbols */
    struct compose_factor factor[4];
    size_t factors;
    uint64_t delta; /* likewise; 0 for a channel that takes none */
};

struct compose_spec {
    const char *name, *campaign, *auxiliary;
    uint64_t eps; /* units of 10^-12; delta is the sum of the parts' */
    const struct compose_column *column;
    size_t columns;
    const struct compose_layer *layer;
    size_t layers;
    const struct compose_part *part;
    size_t parts;
};

/*
 * Makes the mechanism and opens it, so a spec that no device would take fails
 * here. Characters that the manifest cannot hold are refused. Statuses: USAGE,
 * MEMORY, and sotto_client_open's.
 */
SOTTO_CHECKED enum sotto_status
compose_open(const struct compose_spec *spec,
             struct sotto_mechanism **ret_mechanism, struct sotto_error *err);
/* The same mechanism's bytes alone, which the caller frees. */
SOTTO_CHECKED enum sotto_status
compose_mechanism(const struct compose_spec *spec, uint8_t **ret_data,
                  size_t *ret_size, struct sotto_error *err);

#endif
