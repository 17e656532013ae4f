/*
 * augment_colour.c: an image's colours changed.
 *
 * The grey of a pixel is 0.299 red + 0.587 green + 0.114 blue, and the mean of
 * the channels where there are not three of them.
 */
#include "data/augment_colour.h"

#include <math.h>

static float
cut(float v)
{
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static float
grey_of(const float *rgb)
{
    return 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
}

static void
brighten(float factor, size_t size, float *image)
{
    for (size_t i = 0; i < size; i++) {
        image[i] = cut(image[i] * factor);
    }
}

static void
change_contrast(float factor, size_t pixels, uint32_t channels, float *image)
{
    double sum = 0;
    size_t size = pixels * channels;
    if (channels == 3) {
        for (size_t i = 0; i < size; i += 3) {
            sum += (double)grey_of(image + i);
        }
    } else {
        for (size_t i = 0; i < size; i++) {
            sum += (double)image[i];
        }
    }
    float mean = (float)(sum / (double)(channels == 3 ? pixels : size));
    for (size_t i = 0; i < size; i++) {
        image[i] = cut(mean + factor * (image[i] - mean));
    }
}

static void
saturate(float factor, size_t pixels, float *image)
{
    for (size_t i = 0; i < 3 * pixels; i += 3) {
        float grey = grey_of(image + i);
        for (size_t c = 0; c < 3; c++) {
            image[i + c] = cut(grey + factor * (image[i + c] - grey));
        }
    }
}

/* The hue in [0, 6): red at 0, green at 2, blue at 4. span = max - min > 0. */
static float
hue_of(const float *rgb, float peak, float span)
{
    if (rgb[0] == peak) {
        float hue = (rgb[1] - rgb[2]) / span;
        return hue < 0 ? hue + 6 : hue;
    }
    return rgb[1] == peak ? 2 + (rgb[2] - rgb[0]) / span
                          : 4 + (rgb[0] - rgb[1]) / span;
}

/* In HSV, a channel whose own hue lies d away (on the circle of 6) stands at
   max less span times d - 1, cut to [0, 1]. */
static void
turn_hue(float turns, size_t pixels, float *image)
{
    for (size_t i = 0; i < 3 * pixels; i += 3) {
        float *rgb = image + i;
        float peak = fmaxf(rgb[0], fmaxf(rgb[1], rgb[2]));
        float span = peak - fminf(rgb[0], fminf(rgb[1], rgb[2]));
        if (span <= 0) {
            continue;
        }
        float hue = hue_of(rgb, peak, span) + 6 * turns;
        for (int c = 0; c < 3; c++) {
            float away = fabsf(hue - (float)(2 * c));
            away = away > 6 ? away - 6 : away;
            away = away > 3 ? 6 - away : away;
            rgb[c] = cut(peak - span * cut(away - 1));
        }
    }
}

static void
lose_colours(size_t pixels, float *image)
{
    for (size_t i = 0; i < 3 * pixels; i += 3) {
        float grey = cut(grey_of(image + i));
        image[i] = image[i + 1] = image[i + 2] = grey;
    }
}

void
augment_colour_change(enum augment_change which, float factor, size_t pixels,
                      uint32_t channels, float *image)
{
    if (which == AUGMENT_BRIGHTNESS) {
        brighten(factor, pixels * channels, image);
    } else if (which == AUGMENT_CONTRAST) {
        change_contrast(factor, pixels, channels, image);
    } else if (which == AUGMENT_SATURATION && channels == 3) {
        saturate(factor, pixels, image);
    } else if (which == AUGMENT_HUE && channels == 3) {
        turn_hue(factor, pixels, image);
    }
}

void
augment_colour(const struct augment_photo *photo, size_t pixels,
               uint32_t channels, float *image)
{
    for (unsigned i = 0; i < AUGMENT_CHANGES && photo->jitter; i++) {
        enum augment_change which = photo->order[i];
        augment_colour_change(which, photo->factor[which], pixels, channels,
                              image);
    }
    if (photo->grey && channels == 3) {
        lose_colours(pixels, image);
    }
}
