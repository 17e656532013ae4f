/*
 * augment_colour.h: a photo's colours changed.
 */
#ifndef SOTTO_DATA_AUGMENT_COLOUR_H
#define SOTTO_DATA_AUGMENT_COLOUR_H

#include "data/augment_draw.h"

/* Jitter and grey, as drawn, to an image of `pixels` pixels in place. */
void augment_colour(const struct augment_photo *photo, size_t pixels,
                    uint32_t channels, float *image);

#endif
