/*
 * augment_intensity.h: how light and how clean an image is, changed.
 */
#ifndef SOTTO_DATA_AUGMENT_INTENSITY_H
#define SOTTO_DATA_AUGMENT_INTENSITY_H

#include "data/augment_draw.h"

/* Applies brightness, contrast, gamma and noise, as drawn for the key, to an
   image of `pixels` pixels in place. */
void augment_intensity(const struct augment_line *line,
                       const struct augment_key *key, size_t pixels,
                       uint32_t channels, float *image);

#endif
