/*
 * image.c: the encoder's layers over images: convolution and pools.
 *
 * Images are rows of columns of channels, weights filters of rows of columns
 * of channels, so that one row of a window is one run of floats in both. What
 * lies outside of an image is left out: zeros would add nothing to a
 * convolution, and a pool does not count them. Which instructions run depends
 * on the shapes alone, as far as the compiler takes the larger of two floats
 * without a branch (docs/threat-model.md), and no number is subnormal
 * (flush.h).
 */
#include "encode/encode.h"

#include "encode/flush.h"
#include "encode/lanes.h"

/* The part of a window along one side that lies inside the image. It is never
   empty: pad < kernel, and the last window starts before the image's end. */
struct span {
    uint32_t skipped; /* places of the window before the image */
    uint32_t first;   /* the first place, in the image */
    uint32_t count;
};

static struct span
span_of(const struct layer *layer, uint32_t window, uint32_t side)
{
    uint32_t start = window * layer->stride; /* counted from -pad */
    uint32_t end = start + layer->kernel;
    struct span span = {0, 0, 0};
    if (start < layer->pad) {
        span.skipped = layer->pad - start;
    } else {
        span.first = start - layer->pad;
    }
    if (end > side + layer->pad) {
        end = side + layer->pad;
    }
    span.count = end - start - span.skipped;
    return span;
}

/* The place of an image's entry (row, column, 0). */
static size_t
place(const struct layer_image *image, uint32_t row, uint32_t column)
{
    return ((size_t)row * image->width + column) * image->channels;
}

/* sum over ky, kx, c of w[ky][kx][c] x[y + ky][x + kx][c] */
static float
correlate(const struct layer *layer, size_t weights, const float *x,
          const struct span *row, const struct span *column)
{
    uint32_t channels = layer->image.channels;
    float sum[LANES] = {0};
    for (uint32_t i = 0; i < row->count; i++) {
        size_t at = weights + ((size_t)(row->skipped + i) * layer->kernel +
                               column->skipped) *
                                  channels;
        const float *from =
            x + place(&layer->image, row->first + i, column->first);
        if (layer->bf16) {
            lanes_add_half(sum, layer->half + at, from,
                           column->count * channels);
        } else {
            lanes_add(sum, layer->weight + at, from, column->count * channels);
        }
    }
    return lanes_total(sum);
}

void
image_conv(const struct layer *layer, const float *x, const float *added,
           float *y)
{
    const struct layer_image *made = &layer->made;
    float (*activation)(float) = forward_activation(layer->activation);
    size_t fan = layer_fan(layer);
    for (uint32_t i = 0; i < made->height; i++) {
        struct span row = span_of(layer, i, layer->image.height);
        for (uint32_t f = 0; f < made->channels; f++) {
            for (uint32_t j = 0; j < made->width; j++) {
                struct span column = span_of(layer, j, layer->image.width);
                size_t at = place(made, i, j) + f;
                float value = correlate(layer, f * fan, x, &row, &column) +
                              layer->bias[f];
                if (added != NULL) {
                    value += added[at];
                }
                y[at] = flush_small(activation(value));
            }
        }
    }
}

/* A NaN is passed over; of equals the first stays. */
static void
keep_larger(float *restrict y, const float *restrict x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        y[i] = x[i] > y[i] ? x[i] : y[i];
    }
}

static void
add(float *restrict y, const float *restrict x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        y[i] += x[i];
    }
}

static void
pool_window(const struct layer *layer, const float *x, const struct span *row,
            const struct span *column, float *y)
{
    bool mean = layer->kind == LAYER_POOL_MEAN;
    uint32_t channels = layer->image.channels;
    float start = mean ? 0 : -__builtin_inff();
    float inside = (float)(row->count * column->count);
    for (uint32_t c = 0; c < channels; c++) {
        y[c] = start;
    }
    for (uint32_t i = 0; i < row->count; i++) {
        for (uint32_t j = 0; j < column->count; j++) {
            const float *from =
                x + place(&layer->image, row->first + i, column->first + j);
            (mean ? add : keep_larger)(y, from, channels);
        }
    }
    for (uint32_t c = 0; mean && c < channels; c++) {
        y[c] = flush_small(y[c] / inside);
    }
}

void
image_pool(const struct layer *layer, const float *x, float *y)
{
    for (uint32_t i = 0; i < layer->made.height; i++) {
        struct span row = span_of(layer, i, layer->image.height);
        for (uint32_t j = 0; j < layer->made.width; j++) {
            struct span column = span_of(layer, j, layer->image.width);
            pool_window(layer, x, &row, &column, y + place(&layer->made, i, j));
        }
    }
}
