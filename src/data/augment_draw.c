/*
 * augment_draw.c: what is done to one view of an image, drawn from its key.
 */
#include "data/augment_draw.h"

#include <math.h>

#include "random/seeded.h"

#define STREAM_HIGH (UINT32_C(1) << 30) /* 2^62, its upper half */
#define TRIES 10u                       /* at a part that fits the image */
#define PI 3.14159265358979323846

struct draws {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4];
    unsigned left; /* in the block */
};

static struct draws
draws_begin(const struct augment_key *key)
{
    struct draws draws = {
        .key = {(uint32_t)key->seed, (uint32_t)(key->seed >> 32)},
        .counter = {0, key->epoch, key->row, STREAM_HIGH | key->view}};
    return draws;
}

/* Uniform in [0, 1). */
static double
draw_unit(struct draws *draws)
{
    if (draws->left == 0) {
        seeded_philox(draws->counter, draws->key, draws->block);
        draws->counter[0]++;
        draws->left = 4;
    }
    draws->left--;
    return draws->block[draws->left] * 0x1p-32;
}

/* Uniform in [-limit, limit). */
static double
draw_around(struct draws *draws, double limit)
{
    return limit * (2 * draw_unit(draws) - 1);
}

static bool
draw_event(struct draws *draws, double probability)
{
    return draw_unit(draws) < probability;
}

/* Uniform in 0 to n - 1. */
static uint32_t
draw_below(struct draws *draws, uint32_t n)
{
    return (uint32_t)(draw_unit(draws) * n);
}

void
augment_draw_line(const struct data_augment *augment,
                  const struct augment_key *key, struct augment_line *ret_line)
{
    struct draws draws = draws_begin(key);
    ret_line->rotate = draw_around(&draws, augment->rotate * (PI / 180));
    ret_line->scale_x = 1 + draw_around(&draws, augment->scale);
    ret_line->scale_y = 1 + draw_around(&draws, augment->scale);
    ret_line->shear = draw_around(&draws, augment->shear);
    ret_line->shift_x = draw_around(&draws, augment->shift);
    ret_line->shift_y = draw_around(&draws, augment->shift);
    ret_line->thin = draw_event(&draws, 0.5);
    ret_line->weight = (float)(augment->thickness * draw_unit(&draws));
    ret_line->jitter = draw_event(&draws, augment->jitter);
    ret_line->brightness =
        (float)(1 + draw_around(&draws, augment->brightness));
    ret_line->contrast = (float)(1 + draw_around(&draws, augment->contrast));
    ret_line->gamma = (float)exp(draw_around(&draws, augment->gamma));
    ret_line->noise = (float)(augment->noise * draw_unit(&draws));
}

void
augment_draw_words(const struct augment_key *key, uint32_t first, size_t n,
                   uint32_t *ret_words)
{
    struct draws draws = draws_begin(key);
    draws.counter[0] = first;
    for (size_t i = 0; i < n; i++, draws.counter[0]++) {
        seeded_philox(draws.counter, draws.key, ret_words + 4 * i);
    }
}

/* A part of a share of the area in [crop, 1], of the proportions of the image
   times a number log-uniform in [3/4, 4/3]; the whole if none fits. */
static void
draw_part(struct draws *draws, double crop, uint32_t height, uint32_t width,
          struct augment_photo *photo)
{
    photo->height = height;
    photo->width = width;
    for (unsigned i = 0; i < TRIES && crop < 1; i++) {
        double side = sqrt(crop + (1 - crop) * draw_unit(draws));
        double root = exp(draw_around(draws, log(4.0 / 3)) / 2);
        double w = rint(width * side * root);
        double h = rint(height * side / root);
        if (w >= 1 && h >= 1 && w <= width && h <= height) {
            photo->width = (uint32_t)w;
            photo->height = (uint32_t)h;
            break;
        }
    }
    photo->left = draw_below(draws, width - photo->width + 1);
    photo->top = draw_below(draws, height - photo->height + 1);
}

void
augment_draw_photo(const struct data_augment *augment,
                   const struct augment_key *key, uint32_t height,
                   uint32_t width, struct augment_photo *ret_photo)
{
    struct draws draws = draws_begin(key);
    draw_part(&draws, augment->crop, height, width, ret_photo);
    ret_photo->flip = draw_event(&draws, augment->flip);
    ret_photo->grey = draw_event(&draws, augment->grey);
    ret_photo->jitter = draw_event(&draws, augment->jitter);

    float *factor = ret_photo->factor;
    factor[AUGMENT_BRIGHTNESS] =
        (float)(1 + draw_around(&draws, augment->brightness));
    factor[AUGMENT_CONTRAST] =
        (float)(1 + draw_around(&draws, augment->contrast));
    factor[AUGMENT_SATURATION] =
        (float)(1 + draw_around(&draws, augment->saturation));
    factor[AUGMENT_HUE] = (float)draw_around(&draws, augment->hue);

    for (uint32_t i = 0; i < AUGMENT_CHANGES; i++) {
        uint32_t j = draw_below(&draws, i + 1);
        ret_photo->order[i] = ret_photo->order[j];
        ret_photo->order[j] = (enum augment_change)i;
    }
}
