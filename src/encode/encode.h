/*
 * encode.h: from a record's values to the encoder's output, in floats.
 *
 *     values --schema--> x, symbols --layers--> z
 *
 * Nothing about epsilon rests on it (invariant 1): memory safety and time do
 * (invariant 7).
 */
#ifndef SOTTO_ENCODE_ENCODE_H
#define SOTTO_ENCODE_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "encode/layer.h"
#include "sotto/client.h"

enum encode_column_kind {
    ENCODE_COLUMN_NUMBER = 0,
    ENCODE_COLUMN_CATEGORY = 1,
    ENCODE_COLUMN_BYTES = 2,
    ENCODE_COLUMN_BINS = 3 /* a number, of which the range is told */
};

/* Column i of a record. */
struct encode_column {
    enum encode_column_kind kind;
    uint32_t count;      /* bytes, or symbols with the last one for "other" */
    uint32_t inputs;     /* entries of x it fills, 0 for none */
    bool missing;        /* a missing value is told from others */
    bool clip;           /* number: x is kept from -1 to 1 */
    bool log;            /* number: the signed logarithm in the value's place */
    const uint8_t *text; /* name, then count-1 values, each NUL-terminated */
    const double *edge;  /* bins: count-2 of them */
};

/* Whether a value of the column is a symbol. */
static inline bool
encode_column_symbols(const struct encode_column *column)
{
    return column->kind == ENCODE_COLUMN_CATEGORY ||
           column->kind == ENCODE_COLUMN_BINS;
}

/* What a record passes through, and what one leaves behind. */
struct encode_plan {
    uint32_t columns, layers;
    uint32_t width; /* of the widest of x and all layers */
    struct encode_column *column;
    struct layer *layer;
    const double *shift;
    const double *scale;

    float *x;
    float *z;        /* the output */
    float *input;    /* what went into the last layer */
    float *buffer;   /* x, z and all between lie in it */
    int32_t *symbol; /* of each category column */
};

/* schema.c: values to x and symbols. Total on content (invariant 4). */
void schema_apply(struct encode_plan *plan, const struct sotto_value *values);

/* forward.c: x to z. */
float (*forward_activation(enum activation activation))(float);
/* The buffers as every run finds them, with x for z. */
void forward_start(struct encode_plan *plan);
void forward_run(struct encode_plan *plan);
/* x to the output of the first `layers` layers, as z: for analysts. Either run
   may write over x: schema_apply comes before each. */
void forward_run_to(struct encode_plan *plan, uint32_t layers);

/* A dense layer alone: x to y. `added` is NULL or what is added. */
void forward_dense(const struct layer *layer, const float *x,
                   const float *added, float *y);

/* image.c: layers over images. `added` is NULL or what is added. */
void image_conv(const struct layer *layer, const float *x, const float *added,
                float *y);
void image_pool(const struct layer *layer, const float *x, float *y);

#endif
