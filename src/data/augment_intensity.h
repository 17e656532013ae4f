/*
 * augment_intensity.h: how light and how clean an image is, changed.
 */
#ifndef SOTTO_DATA_AUGMENT_INTENSITY_H
#define SOTTO_DATA_AUGMENT_INTENSITY_H

#include "data/augment_draw.h"

/*
 * A nearly normal number of that deviation, of a random word. The sum of its
 * four bytes, less its mean 510 and over its deviation sqrt((256^2 - 1) / 3),
 * is y with a kurtosis of 2.7; a y + b y^3 has the variance 1 and the kurtosis
 * 3 of a normal number, and is at most 4.1.
 */
static inline float
augment_normal(float deviation, uint32_t word)
{
    uint32_t pairs = (word & 0x00ff00ffU) + (word >> 8 & 0x00ff00ffU);
    int32_t sum = (int32_t)((pairs & 0xffffU) + (pairs >> 16));
    float y = (float)(sum - 510) * (1 / 147.800541F);
    return y * (deviation * 0.949033F + deviation * 0.018642F * (y * y));
}

/* Applies brightness, contrast, gamma and noise, as drawn for the key, to an
   image of `pixels` pixels in place. */
void augment_intensity(const struct augment_line *line,
                       const struct augment_key *key, size_t pixels,
                       uint32_t channels, float *image);

#endif
