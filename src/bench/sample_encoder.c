/*
 * sample_encoder.c: a mechanism of the papers' size to time.
 */
#include "bench/sample_encoder.h"

#include <math.h>
#include <stdlib.h>

#include "base/decimal.h"
#include "host/error.h"
#include "mechanism/compose.h"
#include "random/seeded.h"

#define LAYERS 4

static const uint32_t widths[LAYERS + 1] = {784, 400, 150, 50, 8};

/* Uniform weights of variance 1/in, so that activations keep their size. */
static float *
draw_weights(struct seeded *seeded, uint32_t in, uint32_t out)
{
    size_t count = (size_t)in * out;
    double bound = sqrt(3.0 / in);
    float *weight = malloc(count * sizeof *weight);
    for (size_t i = 0; weight != NULL && i < count; i++) {
        double u = (double)random_u32(&seeded->random) * 0x1p-32;
        weight[i] = (float)((2 * u - 1) * bound);
    }
    return weight;
}

static enum sotto_status
compose(const struct compose_layer *layer,
        struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct compose_column column = {
        "image", SOTTO_COLUMN_BYTES, widths[0], NULL, true, 0, 1.0 / 255};
    struct compose_part part = {.covers = "features",
                                .channel = "laplace",
                                .eps = 4 * DECIMAL_UNIT,
                                .blocks = 1,
                                .d = widths[LAYERS],
                                .l = 4096};
    struct compose_spec spec = {"bench", "bench", "not used", 4 * DECIMAL_UNIT,
                                &column, 1,       layer,      LAYERS,
                                &part,   1};
    uint8_t *data = NULL;
    size_t size = 0;
    enum sotto_status status = compose_mechanism(&spec, &data, &size, err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_mechanism_parse(data, size, "bench", ret_mechanism, err);
    }
    free(data);
    return status;
}

enum sotto_status
sample_encoder_new(struct sotto_mechanism **ret_mechanism,
                   struct sotto_error *err)
{
    struct compose_layer layer[LAYERS];
    float *weight[LAYERS];
    float *bias = calloc(widths[1], sizeof *bias);
    struct seeded seeded;
    bool whole = bias != NULL;
    enum sotto_status status;
    seeded_init(&seeded, 1, 0);
    for (int i = 0; i < LAYERS; i++) {
        weight[i] = draw_weights(&seeded, widths[i], widths[i + 1]);
        whole = whole && weight[i] != NULL;
        layer[i] = (struct compose_layer){
            .in = widths[i],
            .out = widths[i + 1],
            .activation = i + 1 < LAYERS ? "relu" : "none",
            .weight = weight[i],
            .bias = bias};
    }
    status = whole ? compose(layer, ret_mechanism, err) : host_fail_memory(err);
    for (int i = 0; i < LAYERS; i++) {
        free(weight[i]);
    }
    free(bias);
    return status;
}
