/*
 * augment_intensity.c: how light and how clean an image is, changed.
 */
#include "data/augment_intensity.h"

#include "data/augment_colour.h"
#include "tensor/cpu/cpu.h"
#include "tensor/cpu/curves.h"

#define LEAST 1e-4F
#define RUN ((size_t)256) /* pixels whose noise is drawn at a time */

CPU_KERNEL(apply_gamma, (float gamma, size_t size, float *restrict image),
           (gamma, size, image))
{
    for (size_t i = 0; i < size; i++) {
        float v = image[i] > LEAST ? image[i] : LEAST;
        image[i] = curve_exp(gamma * curve_log(v));
    }
}

CPU_KERNEL(add_run,
           (float noise, size_t n, const uint32_t *restrict word,
            float *restrict image),
           (noise, n, word, image))
{
    for (size_t i = 0; i < n; i++) {
        image[i] += augment_normal(noise, word[i]);
    }
}

static void
add_noise(float noise, const struct augment_key *key, size_t size, float *image)
{
    uint32_t word[RUN];
    for (size_t at = 0; at < size; at += RUN) {
        size_t n = size - at < RUN ? size - at : RUN;
        augment_draw_words(key, AUGMENT_NOISE + (uint32_t)(at / 4), (n + 3) / 4,
                           word);
        add_run(noise, n, word, image + at);
    }
}

void
augment_intensity(const struct augment_line *line,
                  const struct augment_key *key, size_t pixels,
                  uint32_t channels, float *image)
{
    size_t size = pixels * channels;
    if (line->jitter) {
        augment_colour_change(AUGMENT_BRIGHTNESS, line->brightness, pixels,
                              channels, image);
        augment_colour_change(AUGMENT_CONTRAST, line->contrast, pixels,
                              channels, image);
    }
    if (line->gamma != 1) {
        apply_gamma(line->gamma, size, image);
    }
    if (line->noise > 0) {
        add_noise(line->noise, key, size, image);
    }
}
