/*
 * layer.h: what a layer of an encoder is: one description for training,
 * writing, reading and running it.
 *
 * Images are rows of columns of channels, the channel running fastest. from[0]
 * says what goes in, from[1] what is added to the result behind the bias and
 * before the activation: r is what the layer r places before this one made, and
 * one place before the first layer is x. from[0] = 0 is 1, the layer before;
 * from[1] = 0 is nothing.
 */
#ifndef SOTTO_ENCODE_LAYER_H
#define SOTTO_ENCODE_LAYER_H

#include <stdbool.h>
#include <stdint.h>

/* Every kind of layer: its name here, and of its operations in nn. */
#define LAYER_KINDS(row)                                                       \
    row(DENSE, dense) row(CONV, conv) row(POOL_MAX, pool_max)                  \
        row(POOL_MEAN, pool_mean)

#define LAYER_KIND(name, operations) LAYER_##name,
enum layer_kind { LAYER_KINDS(LAYER_KIND) LAYER_KIND_COUNT };
#undef LAYER_KIND

static inline bool
layer_pools(enum layer_kind kind)
{
    return kind == LAYER_POOL_MAX || kind == LAYER_POOL_MEAN;
}

enum activation {
    ACTIVATION_NONE = 0,
    ACTIVATION_RELU,
    ACTIVATION_SIGMOID,
    ACTIVATION_TANH,
    ACTIVATION_COUNT
};

struct layer_image {
    uint32_t height, width, channels;
};

/*
 * dense: y = activation(W x + b); W is out rows of in floats.
 * conv: at every place of a square window likewise, with a row of W for each
 * channel that comes out.
 * pool: the largest or the mean of every window, channel by channel.
 */
struct layer {
    uint32_t in, out; /* entries */
    enum activation activation;
    const float *weight; /* rows, one for each bias; not of halves */
    const float *bias;
    enum layer_kind kind;
    union { /* the image that goes in; 0 for a dense layer */
        struct layer_image image;
        struct {
            uint32_t height, width, channels;
        };
    };
    union { /* the image that comes out, likewise */
        struct layer_image made;
        struct {
            uint32_t made_height, made_width, filters;
        };
    };
    uint32_t kernel, stride, pad;
    uint16_t from[2];
    bool bf16;    /* of the weights only the upper halves are kept: `half` */
    bool norm;    /* training: batch norm before the sum; else folded in */
    uint8_t slot; /* running: which buffer the result goes to */
    const uint16_t *half;
};

/* How many places before it the layer is whose output goes in. */
static inline uint32_t
layer_back(const struct layer *layer)
{
    return layer->from[0] == 0 ? 1 : layer->from[0];
}

/* "none", "relu", "sigmoid", "tanh"; "?" for what is no activation. */
const char *activation_name(enum activation activation);

/* Sets the sides of the image that comes out; false if the window is larger
   than the image that goes in. */
bool layer_measure(struct layer *layer);
/* Biases of a layer, 0 for a pool, and the weights of each. */
uint32_t layer_biases(const struct layer *layer);
uint32_t layer_fan(const struct layer *layer);
/* Multiply-adds of one record in it. */
uint64_t layer_work(const struct layer *layer);

#endif
