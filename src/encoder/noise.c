/*
 * noise.c: the noise that encoders train under.
 */
#include "encoder/noise.h"

#include <math.h>

#include "random/seeded.h"

#define TWO_PI 6.28318530717958647693

/*
 * Inverse distribution function on 32 bits: the top one is the sign, and
 * -ln u the size, u = (31 bits + 1/2) / 2^31 in (0, 1). Four numbers a block of
 * Philox, at the counter (block, epoch, row, a mark that no stream has).
 */
void
noise_laplace(uint64_t seed, uint32_t epoch, uint32_t row, size_t d,
              float *ret_noise)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (size_t i = 0; i < d; i += 4) {
        const uint32_t counter[4] = {(uint32_t)(i / 4), epoch, row,
                                     UINT32_C(0x6e6f6973)};
        uint32_t block[4];
        seeded_philox(counter, key, block);
        for (size_t j = 0; j < 4 && i + j < d; j++) {
            double u = ((double)(block[j] & 0x7fffffff) + 0.5) / 0x1p31;
            double size = -log(u);
            ret_noise[i + j] = (float)(block[j] >> 31 ? -size : size);
        }
    }
}

/*
 * Box and Muller's pairs: with u and v of 32 bits each, (bits + 1/2) / 2^32,
 * sqrt(-2 ln u) times the cosine and the sine of 2 pi v. Two pairs a block of
 * Philox, under another mark.
 */
void
noise_normal(uint64_t seed, uint32_t epoch, uint32_t row, size_t d,
             float *ret_noise)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (size_t i = 0; i < d; i += 4) {
        const uint32_t counter[4] = {(uint32_t)(i / 4), epoch, row,
                                     UINT32_C(0x6e6f726d)};
        uint32_t block[4];
        seeded_philox(counter, key, block);
        for (size_t j = 0; j < 4 && i + j < d; j++) {
            size_t pair = j / 2 * 2;
            double u = ((double)block[pair] + 0.5) / 0x1p32;
            double v = ((double)block[pair + 1] + 0.5) / 0x1p32;
            double size = sqrt(-2 * log(u)), turn = TWO_PI * v;
            ret_noise[i + j] =
                (float)(size * (j % 2 == 0 ? cos(turn) : sin(turn)));
        }
    }
}
