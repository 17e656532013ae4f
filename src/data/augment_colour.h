/*
 * augment_colour.h: an image's colours changed.
 */
#ifndef SOTTO_DATA_AUGMENT_COLOUR_H
#define SOTTO_DATA_AUGMENT_COLOUR_H

#include "data/augment_draw.h"

/* One change of an image of `pixels` pixels in place; those of colours leave
   what has not 3 channels as it is. */
void augment_colour_change(enum augment_change which, float factor,
                           size_t pixels, uint32_t channels, float *image);
/* Jitter and grey, as drawn, to an image of `pixels` pixels in place. */
void augment_colour(const struct augment_photo *photo, size_t pixels,
                    uint32_t channels, float *image);

#endif
