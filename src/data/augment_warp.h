/*
 * augment_warp.h: the loops over pixels: sampling an image along an affine map,
 * and making its strokes thicker or thinner.
 */
#ifndef SOTTO_DATA_AUGMENT_WARP_H
#define SOTTO_DATA_AUGMENT_WARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pixel (x, y) shows what is at (xx x + xy y + x0, yx x + yy y + y0), which is
   first moved into [left, right] x [top, bottom]. Beyond the image lies 0,
   from a pixel away on. */
struct augment_map {
    float xx, xy, x0;
    float yx, yy, y0;
    float left, right, top, bottom;
};

/* height, width >= 2; all of the floats of an image below 2^31. */
void augment_warp(const struct augment_map *map, uint32_t height,
                  uint32_t width, uint32_t channels, const float *from,
                  float *to);

/* In place; width times channels at most DATA_AUGMENT_LANES_MAX, channels at
   most DATA_AUGMENT_CHANNELS_MAX. */
void augment_thicken(uint32_t height, uint32_t width, uint32_t channels,
                     bool thin, float weight, float *image);

#endif
