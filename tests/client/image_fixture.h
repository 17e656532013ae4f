/*
 * image_fixture.h: encoders over images, and the same in plain doubles: every
 * window place by place, what lies outside asked for and answered with zero.
 */
#ifndef TESTS_CLIENT_IMAGE_FIXTURE_H
#define TESTS_CLIENT_IMAGE_FIXTURE_H

#include <math.h>

#include "client_fixture.h"

#define IMAGE_MOST 20000u
#define IMAGE_LAYERS 80u
#define IMAGE_WEIGHTS 400000u

/* Layers in the making: each takes what the last one gives. */
struct net {
    struct layer layer[IMAGE_LAYERS];
    size_t layers;
    uint32_t height, width, channels; /* what comes out so far */
    float *weights;                   /* IMAGE_WEIGHTS of them */
    size_t used;
};

__attribute__((unused)) static void
net_init(struct net *net, uint32_t height, uint32_t width, uint32_t channels)
{
    memset(net, 0, sizeof *net);
    net->height = height;
    net->width = width;
    net->channels = channels;
    net->weights = malloc(sizeof(float) * IMAGE_WEIGHTS);
    assert_non_null(net->weights);
    fill_weights(net->weights, IMAGE_WEIGHTS, height + 7 * channels);
}

static float *
net_take(struct net *net, size_t count)
{
    float *at = net->weights + net->used;
    net->used += count;
    assert_true(net->used <= IMAGE_WEIGHTS);
    return at;
}

static struct layer *
net_window(struct net *net, uint32_t kernel, uint32_t stride, uint32_t pad)
{
    struct layer *layer = &net->layer[net->layers++];
    layer->height = net->height;
    layer->width = net->width;
    layer->channels = net->channels;
    layer->kernel = kernel;
    layer->stride = stride;
    layer->pad = pad;
    layer->in = net->height * net->width * net->channels;
    net->height = (net->height + 2 * pad - kernel) / stride + 1;
    net->width = (net->width + 2 * pad - kernel) / stride + 1;
    return layer;
}

__attribute__((unused)) static struct layer *
net_conv(struct net *net, uint32_t kernel, uint32_t stride, uint32_t pad,
         uint32_t filters, uint32_t skip, const char *activation)
{
    struct layer *layer = net_window(net, kernel, stride, pad);
    uint32_t fan = kernel * kernel * net->channels;
    layer->kind = LAYER_CONV;
    layer->activation = activation_of(activation);
    layer->filters = filters;
    layer->from[1] = (uint16_t)skip;
    layer->weight = net_take(net, (size_t)fan * filters);
    layer->bias = net_take(net, filters);
    for (size_t i = 0; i < (size_t)fan * filters; i++) {
        net->weights[(size_t)(layer->weight - net->weights) + i] /=
            sqrtf((float)fan);
    }
    net->channels = filters;
    layer->out = net->height * net->width * filters;
    return layer;
}

__attribute__((unused)) static void
net_pool(struct net *net, uint32_t kernel, uint32_t stride, uint32_t pad,
         enum layer_kind kind)
{
    struct layer *layer = net_window(net, kernel, stride, pad);
    layer->kind = kind;
    layer->out = net->height * net->width * net->channels;
}

__attribute__((unused)) static void
net_dense(struct net *net, uint32_t out, const char *activation)
{
    struct layer *layer = &net->layer[net->layers++];
    layer->in = net->height * net->width * net->channels;
    layer->out = out;
    layer->activation = activation_of(activation);
    layer->weight = net_take(net, (size_t)layer->in * out);
    layer->bias = net_take(net, out);
    net->height = 1;
    net->width = 1;
    net->channels = out;
}

/* The network of docs/format.md's figures: 28 x 28 x 1 to 64 numbers. */
__attribute__((unused)) static void
net_reference(struct net *net)
{
    net_init(net, 28, 28, 1);
    net_conv(net, 5, 2, 2, 16, 0, "relu");
    net_conv(net, 3, 1, 1, 32, 0, "relu");
    net_pool(net, 2, 2, 0, LAYER_POOL_MAX);
    net_conv(net, 3, 1, 1, 64, 0, "relu");
    net_pool(net, 2, 2, 1, LAYER_POOL_MAX);
    net_dense(net, 64, "none");
}

/* Bytes for the first layer, the first numbers of z for one part. */
__attribute__((unused)) static enum sotto_status
net_compose(const struct net *net, struct file *ret_file,
            struct sotto_error *err)
{
    uint32_t in = net->layer[0].in;
    uint32_t out = net->height * net->width * net->channels;
    struct schema_column column = {"b",   SOTTO_COLUMN_BYTES, in, NULL, false,
                                   127.5, 1 / 127.5};
    struct compose_part part = {"features",        "laplace", UNITS(1), 1, 0,
                                out < 8 ? out : 8, 16,        {{0}},    0};
    struct compose_spec spec = {"i", "c",        "a",         UNITS(1), &column,
                                1,   net->layer, net->layers, &part,    1};
    return compose_bytes(&spec, &ret_file->data, &ret_file->size, err);
}

__attribute__((unused)) static struct file
net_file(const struct net *net)
{
    struct file file = {NULL, 0};
    struct sotto_error err = {0};
    if (net_compose(net, &file, &err) != SOTTO_STATUS_OK) {
        fail_msg("compose: %s", err.message);
    }
    return file;
}

/* ---- In plain doubles --------------------------------------------------- */

/* Whether the window's place (i, j) is inside; `ret_at`: its channel 0. */
static bool
plain_inside(const struct layer *layer, long i, long j, size_t *ret_at)
{
    if (i < 0 || j < 0 || i >= (long)layer->height || j >= (long)layer->width) {
        return false;
    }
    *ret_at = ((size_t)i * layer->width + (size_t)j) * layer->channels;
    return true;
}

static double
plain_activation(const char *name, double x)
{
    return strcmp(name, "relu") == 0      ? fmax(x, 0)
           : strcmp(name, "tanh") == 0    ? tanh(x)
           : strcmp(name, "sigmoid") == 0 ? 1 / (1 + exp(-x))
                                          : x;
}

/* The entry (i, j, c) of what a layer over images makes, before its skip. */
static double
plain_entry(const struct layer *layer, const double *x, uint32_t i, uint32_t j,
            uint32_t c)
{
    double sum = 0, largest = -INFINITY, inside = 0;
    for (uint32_t ky = 0; ky < layer->kernel; ky++) {
        for (uint32_t kx = 0; kx < layer->kernel; kx++) {
            size_t at,
                w = ((size_t)c * layer->kernel + ky) * layer->kernel + kx;
            if (!plain_inside(
                    layer, (long)(i * layer->stride + ky) - (long)layer->pad,
                    (long)(j * layer->stride + kx) - (long)layer->pad, &at)) {
                continue;
            }
            inside++;
            for (uint32_t k = 0;
                 layer->kind == LAYER_CONV && k < layer->channels; k++) {
                sum +=
                    (double)layer->weight[w * layer->channels + k] * x[at + k];
            }
            if (layer->kind != LAYER_CONV) {
                sum += x[at + c];
                largest = fmax(largest, x[at + c]);
            }
        }
    }
    return layer->kind == LAYER_CONV       ? sum + layer->bias[c]
           : layer->kind == LAYER_POOL_MAX ? largest
                                           : sum / inside;
}

static void
plain_layer(const struct layer *layer, const double *x, const double *skip,
            double *y)
{
    uint32_t channels =
        layer->kind == LAYER_CONV ? layer->filters : layer->channels;
    uint32_t columns =
        layer->kind == LAYER_DENSE
            ? 0
            : (layer->width + 2 * layer->pad - layer->kernel) / layer->stride +
                  1;
    for (uint32_t i = 0; i < layer->out; i++) {
        if (layer->kind == LAYER_DENSE) {
            y[i] = layer->bias[i];
            for (uint32_t j = 0; j < layer->in; j++) {
                y[i] += (double)layer->weight[i * layer->in + j] * x[j];
            }
        } else {
            y[i] = plain_entry(layer, x, i / channels / columns,
                               i / channels % columns, i % channels);
        }
        if (layer->from[1] > 0) {
            y[i] += skip[i];
        }
        y[i] = plain_activation(activation_name(layer->activation), y[i]);
    }
}

/* All layers' outputs, from malloc: layer i's input is at i IMAGE_MOST. */
__attribute__((unused)) static double *
plain_run(const struct net *net, const float *x)
{
    double *all = calloc((net->layers + 1) * IMAGE_MOST, sizeof *all);
    assert_non_null(all);
    for (uint32_t i = 0; i < net->layer[0].in; i++) {
        all[i] = x[i];
    }
    for (size_t i = 0; i < net->layers; i++) {
        const struct layer *layer = &net->layer[i];
        const double *skip = layer->from[1] > 0
                                 ? all + (i + 1 - layer->from[1]) * IMAGE_MOST
                                 : NULL;
        assert_true(layer->in <= IMAGE_MOST && layer->out <= IMAGE_MOST);
        size_t back = layer->from[0] == 0 ? 1 : layer->from[0];
        plain_layer(layer, all + (i + 1 - back) * IMAGE_MOST, skip,
                    all + (i + 1) * IMAGE_MOST);
    }
    return all;
}

/* Opens the net as a file of version 1, whatever its skips: they are written
   into one without any. */
__attribute__((unused)) static enum sotto_status
net_open_1(struct net *net, struct sotto_error *err)
{
    static const char mark[] = "\\\"skip\\\":0";
    struct net line = *net;
    struct file file;
    char *at;
    enum sotto_status status;
    for (size_t i = 0; i < line.layers; i++) {
        line.layer[i].from[1] = 0;
    }
    file = net_file(&line);
    at = (char *)file.data + 8;
    for (size_t i = 0; i < line.layers; i++) {
        if (line.layer[i].kind == LAYER_CONV) {
            at = strstr(at, mark);
            assert_non_null(at);
            at += sizeof mark - 2;
            *at = (char)('0' + net->layer[i].from[1]);
        }
    }
    status = try_open(file, NULL, err);
    free(file.data);
    return status;
}

#endif
