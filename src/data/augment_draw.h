/*
 * augment_draw.h: what is done to one view of an image, drawn from its key.
 *
 *     stream   2^62 + view 2^32 + row      (simulated reports: from 2^63 on;
 *     block    epoch 2^32 + 0, 1, ...       all others: far below 2^62)
 *
 * Of each of very many streams few numbers are needed, so the blocks are made
 * one by one. The noise of a line's pixels begins at block AUGMENT_NOISE, after
 * what the view itself is drawn from.
 */
#ifndef SOTTO_DATA_AUGMENT_DRAW_H
#define SOTTO_DATA_AUGMENT_DRAW_H

#include <stdbool.h>

#include "data/augment.h"

struct augment_key {
    uint64_t seed;
    uint32_t epoch, row, view;
};

#define AUGMENT_NOISE UINT32_C(256)

struct augment_line {
    double rotate; /* radians */
    double scale_x, scale_y, shear, shift_x, shift_y;
    bool thin;
    float weight; /* w */
    bool jitter;
    float brightness, contrast; /* factors */
    float gamma;                /* g */
    float noise;                /* deviation */
};

enum augment_change {
    AUGMENT_BRIGHTNESS,
    AUGMENT_CONTRAST,
    AUGMENT_SATURATION,
    AUGMENT_HUE
};
#define AUGMENT_CHANGES 4u

struct augment_photo {
    uint32_t top, left, height, width; /* the part, in pixels */
    bool flip, jitter, grey;
    enum augment_change order[AUGMENT_CHANGES];
    float factor[AUGMENT_CHANGES]; /* by change; hue: turns */
};

void augment_draw_line(const struct data_augment *augment,
                       const struct augment_key *key,
                       struct augment_line *ret_line);
void augment_draw_photo(const struct data_augment *augment,
                        const struct augment_key *key, uint32_t height,
                        uint32_t width, struct augment_photo *ret_photo);
/* 4 n random words: blocks `first` on of the key's stream. */
void augment_draw_words(const struct augment_key *key, uint32_t first, size_t n,
                        uint32_t *ret_words);

#endif
