/*
 * augment.h: images distorted at random, for learning what does not matter.
 *
 * An image is height x width x channels floats in [0, 1], row-major: y, x,
 * channel. A view of it is a pure function of the parameters and of (seed,
 * epoch, row, view), whatever else is asked for at the same time and however
 * many threads there are. Its random numbers are streams of their own of the
 * seeded generator (augment_draw.h), so that the same seed may serve others.
 *
 *     struct data_augment augment = data_augment_line(28, 28);
 *     data_augment_rows(pool, &augment, 28, 28, 1, all, batch, 256, seed,
 *                       epoch, 0, one);
 *     data_augment_rows(pool, &augment, 28, 28, 1, all, batch, 256, seed,
 *                       epoch, 1, other);
 */
#ifndef SOTTO_DATA_AUGMENT_H
#define SOTTO_DATA_AUGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "host/pool.h"
#include "sotto/sotto.h"

#define DATA_AUGMENT_SIDE_MAX 4096u       /* pixels */
#define DATA_AUGMENT_CHANNELS_MAX 16u     /* of an image */
#define DATA_AUGMENT_LANES_MAX 4096u      /* width times channels */
#define DATA_AUGMENT_VIEWS_MAX (1u << 29) /* view is below it */

enum data_augment_kind {
    DATA_AUGMENT_LINE, /* strokes on an empty (0) ground: digits, drawings */
    DATA_AUGMENT_PHOTO /* what fills its frame */
};

/*
 * How far to distort; 0 in all the members of a kind, but 1 in `crop`, gives
 * the images back as they are. The members of the other kind are not looked
 * at.
 *
 * LINE. The pixel at p shows what was at
 *
 *     m + R(a) (s_x  k ; 0  s_y) (p - m) + t,
 *
 * m the middle of the image, by bilinear sampling with 0 outside. Then, with
 * probability 1/2 each, a pixel v becomes v + w (max - v) or v + w (min - v),
 * cut to [0, 1]; max and min are over v and its four neighbours, 0 outside.
 * Then its intensity changes. With probability `jitter`: brightness (v f), and
 * contrast (v moves by f away from the mean of the image), each cut to [0, 1].
 * Always: v becomes max(v, 0.0001)^g, and gets normal noise of its own, which
 * may lead out of [0, 1].
 *
 * PHOTO. An upright part of the image, chosen as below and mirrored or not,
 * fills the frame (bilinear; it is never larger than the frame, so nothing
 * shrinks). With probability `jitter`, in an order drawn at random: brightness
 * (v f), contrast (v moves by f away from the mean grey of the image),
 * saturation (by f away from the grey of the pixel) and hue (turned in HSV),
 * each cut to [0, 1]. Then grey. Saturation, hue and grey are for 3 channels,
 * red, green and blue, and do nothing to others.
 */
struct data_augment {
    enum data_augment_kind kind;

    double rotate;    /* degrees: a in +-rotate */
    double scale;     /* below 1: s_x and s_y, each in 1 +- scale */
    double shear;     /* k in +-shear */
    double shift;     /* pixels: each of t in +-shift */
    double thickness; /* w in 0 to thickness */
    double gamma;     /* g in e^-gamma to e^gamma, log-uniform */
    double noise;     /* deviation of the noise in 0 to noise */

    /* Either kind. */
    double jitter;     /* probability that the changes below apply */
    double brightness; /* at most 1, likewise below: f in 1 +- brightness */
    double contrast;

    double crop;       /* 0 < crop <= 1: share of the area, in crop to 1; width
                          to height in 3/4 to 4/3 of the image's, log-uniform,
                          but crop 1 is always the whole */
    double flip;       /* probability of left for right */
    double saturation; /* after a jitter, as is hue */
    double hue;        /* turns, at most 1/2: in +-hue */
    double grey;       /* probability of losing the colours */
};

/* Rotation 15 degrees, scale 0.3, shear 0.3, shift 3/28 of the shorter side,
   thickness 0.5, gamma 0.5, noise 0.3, or 0.3/28 of a shorter side below 28,
   jitter 0.8 of brightness 0.4 and contrast 0.4. */
struct data_augment data_augment_line(uint32_t height, uint32_t width);
/* Crop 0.2, flip 0.5, jitter 0.8 of brightness 0.4, contrast 0.4, saturation
   0.4 and hue 0.1; grey 0.2. */
struct data_augment data_augment_photo(void);

/* Whether parameters and sizes are within the limits above. Statuses: USAGE,
   LIMIT; the message says which. */
SOTTO_CHECKED enum sotto_status
data_augment_check(const struct data_augment *augment, uint32_t height,
                   uint32_t width, uint32_t channels, struct sotto_error *err);

/*
 * Writes view `view` of the images all[row[0..n)], each `height` x `width` x
 * `channels` floats, one after the other. What data_augment_check refuses must
 * not come here. `ret` overlaps nothing. Images of a single row or column of
 * pixels are not warped. The same floats on every machine whose sine, cosine
 * and exponential are the same.
 */
void data_augment_rows(struct host_pool *pool,
                       const struct data_augment *augment, uint32_t height,
                       uint32_t width, uint32_t channels, const float *all,
                       const uint32_t *row, size_t n, uint64_t seed,
                       uint32_t epoch, uint32_t view, float *ret);

#endif
