/*
 * augment_warp.c: the loops over pixels: sampling an image along an affine map,
 * and making its strokes thicker or thinner.
 *
 * Bilinear sampling without a branch: at the place (s, t) the pixel in column
 * i and row j has the weight
 *
 *     tent(s - i) tent(t - j),    tent(d) = max(0, 1 - |d|),
 *
 * and only two columns and two rows can have one above 0. Looking at columns
 * i and i + 1 with i = floor(s) moved into [0, width - 2] finds those of them
 * that exist, however far outside s is, and gives the others no weight.
 */
#include "data/augment_warp.h"

#include <string.h>

#include "data/augment.h"
#include "tensor/cpu/cpu.h"

#define RUN 64u /* pixels whose weights are found at a time */

struct run {
    int32_t at[RUN]; /* float of the upper left pixel in the image */
    float weight[4][RUN];
};

static inline float
least(float a, float b)
{
    return a < b ? a : b;
}

static inline float
most(float a, float b)
{
    return a > b ? a : b;
}

/* i moved into [0, last]. */
static inline int32_t
within(int32_t i, int32_t last)
{
    int32_t low = i < last ? i : last;
    return low > 0 ? low : 0;
}

static inline float
tent(float d)
{
    return most(0, 1 - __builtin_fabsf(d));
}

/* ---- Sampling ----------------------------------------------------------- */

/* Places and weights of pixels x to x + n - 1 of row y. */
CPU_BODY
find_run(const struct augment_map *map, uint32_t height, uint32_t width,
         uint32_t channels, uint32_t x, uint32_t y, uint32_t n,
         struct run *restrict run)
{
    const struct augment_map m = *map;
    const float row_x = m.xy * (float)y + m.x0;
    const float row_y = m.yy * (float)y + m.y0;
    const int32_t last_x = (int32_t)width - 2, last_y = (int32_t)height - 2;
    const int32_t step = (int32_t)channels,
                  stride = (int32_t)(width * channels);
    const int32_t first = (int32_t)x;
    for (int32_t i = 0; i < (int32_t)n; i++) {
        float column = (float)(first + i);
        float s = most(m.left, least(m.right, m.xx * column + row_x));
        float t = most(m.top, least(m.bottom, m.yx * column + row_y));
        int32_t at_x = within((int32_t)s, last_x);
        int32_t at_y = within((int32_t)t, last_y);
        s -= (float)at_x;
        t -= (float)at_y;
        run->at[i] = at_y * stride + at_x * step;
        run->weight[0][i] = tent(s) * tent(t);
        run->weight[1][i] = tent(s - 1) * tent(t);
        run->weight[2][i] = tent(s) * tent(t - 1);
        run->weight[3][i] = tent(s - 1) * tent(t - 1);
    }
}

/* Rounding may lift a weighted mean of ones a little above 1. */
CPU_BODY
sample_run(const struct run *restrict run, uint32_t n, uint32_t stride,
           uint32_t channels, const float *restrict from, float *restrict to)
{
    const float *right = from + channels;
    const float *below = from + stride;
    const float *beyond = below + channels;
    for (uint32_t i = 0; i < n; i++) {
        const int32_t at = run->at[i];
        for (uint32_t c = 0; c < channels; c++) {
            float sum = run->weight[0][i] * from[at + (int32_t)c] +
                        run->weight[1][i] * right[at + (int32_t)c] +
                        run->weight[2][i] * below[at + (int32_t)c] +
                        run->weight[3][i] * beyond[at + (int32_t)c];
            to[i * channels + c] = least(1, sum);
        }
    }
}

CPU_KERNEL_SHARED(augment_warp,
                  (const struct augment_map *map, uint32_t height,
                   uint32_t width, uint32_t channels, const float *from,
                   float *to),
                  (map, height, width, channels, from, to))
{
    struct run run;
    const uint32_t stride = width * channels;
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x += RUN) {
            uint32_t n = width - x < RUN ? width - x : RUN;
            float *at = to + (size_t)y * stride + (size_t)x * channels;
            find_run(map, height, width, channels, x, y, n, &run);
            if (channels == 1) {
                sample_run(&run, n, stride, 1, from, at);
            } else {
                sample_run(&run, n, stride, channels, from, at);
            }
        }
    }
}

/* ---- Thickness ---------------------------------------------------------- */

/* One row from what it and its neighbours were: v + w (max - v), cut; `own`
   has the pixels to the left and right of the row too. */
CPU_BODY
thicken_row(uint32_t lanes, uint32_t channels, float weight,
            const float *restrict above, const float *restrict own,
            const float *restrict below, float *restrict to)
{
    const float *left = own - channels, *right = own + channels;
    for (uint32_t i = 0; i < lanes; i++) {
        float v = own[i];
        float beside = most(left[i], right[i]);
        float peak = most(most(above[i], below[i]), most(v, beside));
        to[i] = most(0, least(1, v + weight * (peak - v)));
    }
}

CPU_BODY
thin_row(uint32_t lanes, uint32_t channels, float weight,
         const float *restrict above, const float *restrict own,
         const float *restrict below, float *restrict to)
{
    const float *left = own - channels, *right = own + channels;
    for (uint32_t i = 0; i < lanes; i++) {
        float v = own[i];
        float beside = least(left[i], right[i]);
        float foot = least(least(above[i], below[i]), least(v, beside));
        to[i] = most(0, least(1, v + weight * (foot - v)));
    }
}

#define PADDED (DATA_AUGMENT_LANES_MAX + 2 * DATA_AUGMENT_CHANNELS_MAX)

/* Keeps what the row above and the row itself were. */
CPU_KERNEL_SHARED(augment_thicken,
                  (uint32_t height, uint32_t width, uint32_t channels,
                   bool thin, float weight, float *image),
                  (height, width, channels, thin, weight, image))
{
    float rows[2][PADDED], zero[DATA_AUGMENT_LANES_MAX];
    const uint32_t lanes = width * channels;
    const size_t size = lanes * sizeof(float);
    const size_t padding = (size_t)2 * channels * sizeof(float);
    memset(rows[0], 0, size + padding);
    memset(rows[1], 0, size + padding);
    memset(zero, 0, size);
    const float *above = zero;
    for (uint32_t y = 0; y < height; y++) {
        float *own = rows[y % 2] + channels;
        float *to = image + (size_t)y * lanes;
        memcpy(own, to, size);
        const float *below = y + 1 < height ? to + lanes : zero;
        if (thin) {
            thin_row(lanes, channels, weight, above, own, below, to);
        } else {
            thicken_row(lanes, channels, weight, above, own, below, to);
        }
        above = own;
    }
}
