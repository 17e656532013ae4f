/*
 * bench_forward.c: one record through an encoder of images.
 */
#include "bench/bench_forward.h"

#include <math.h>
#include <string.h>

#include "bench/sample_encoder.h"
#include "host/clock.h"
#include "host/error.h"
#include "mechanism/decompose.h"
#include "mechanism/stages.h"

#define PIXELS 784u
#define LONG 2048u /* products of the limit's sum: 16 KiB of weights and x */

/* The first layer's entry (row, column, filter) place by place, in doubles. */
static double
plain_entry(const struct layer *layer, const float *x, uint32_t row,
            uint32_t column, uint32_t filter)
{
    double sum = (double)layer->bias[filter];
    uint32_t kernel = layer->kernel, side = layer->height;
    for (uint32_t i = 0; i < kernel * kernel; i++) {
        uint32_t y = row * layer->stride + i / kernel - layer->pad;
        uint32_t z = column * layer->stride + i % kernel - layer->pad;
        if (y < side && z < side) { /* before the image they are very large */
            sum += (double)layer->weight[filter * kernel * kernel + i] *
                   (double)x[y * side + z];
        }
    }
    return sum > 0 ? sum : 0;
}

static enum sotto_status
check_first(struct sotto_mechanism *mechanism, const struct sotto_value *value,
            struct sotto_error *err)
{
    const struct layer layer = decompose_layer(mechanism, 0);
    uint32_t side =
        (layer.width + 2 * layer.pad - layer.kernel) / layer.stride + 1;
    float x[PIXELS];
    double off = 0;
    stages_encode_to(mechanism, value, 0);
    memcpy(x, stages_z(mechanism), sizeof x);
    stages_encode_to(mechanism, value, 1);
    for (uint32_t i = 0; i < layer.out; i++) {
        uint32_t place = i / layer.filters;
        double entry = plain_entry(&layer, x, place / side, place % side,
                                   i % layer.filters);
        off = fmax(off, fabs(entry - (double)stages_z(mechanism)[i]));
    }
    stages_wipe(mechanism);
    if (!(off < 1e-5)) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "a convolution is off by %g", off);
    }
    return SOTTO_STATUS_OK;
}

/* Products a second of the device's own sums at their best. */
static double
rate_of_sums(double seconds)
{
    static const float numbers[LONG];
    static const float bias[1];
    struct layer layer = {.kind = LAYER_CONV,
                          .in = LONG,
                          .out = 1,
                          .weight = numbers,
                          .bias = bias,
                          .activation = ACTIVATION_NONE,
                          .image = {1, 1, LONG},
                          .made = {1, 1, 1},
                          .kernel = 1,
                          .stride = 1};
    double start = host_seconds(), spent;
    size_t times = 0;
    do {
        float y;
        for (int i = 0; i < 100; i++) {
            image_conv(&layer, numbers, NULL, &y);
        }
        times += 100;
        spent = host_seconds() - start;
    } while (spent < seconds);
    return (double)times * LONG / spent;
}

enum sotto_status
bench_forward_run(double seconds,
                  void (*row)(void *context, const struct sotto_bench_row *),
                  void *context, struct sotto_error *err)
{
    struct sotto_bench_row line = {.name = "forward",
                                   .setting = "28x28, 3 convolutions to 64",
                                   .against = "its products in one sum"};
    struct sotto_mechanism *mechanism = NULL;
    uint8_t image[PIXELS];
    struct sotto_value value = {SOTTO_VALUE_BYTES, 0, image, sizeof image};
    size_t times = 0;
    double start, spent;
    enum sotto_status status = sample_encoder_images_new(&mechanism, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < sizeof image; i++) {
        image[i] = (uint8_t)(i * 37);
    }
    status = check_first(mechanism, &value, err);
    start = host_seconds();
    do {
        stages_encode(mechanism, &value); /* wipes what the last one left */
        times++;
        spent = host_seconds() - start;
    } while (spent < seconds);
    line.rate = (double)times / spent;
    line.microseconds = 1e6 / line.rate;
    line.ratio =
        line.rate * (double)mechanism->shape.work / rate_of_sums(seconds);
    if (status == SOTTO_STATUS_OK) {
        row(context, &line);
    }
    sotto_mechanism_free(mechanism);
    return status;
}
