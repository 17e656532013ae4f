/*
 * noise.c: the noise that encoders train under.
 */
#include "encoder/noise.h"

#include <math.h>

#include "random/seeded.h"

#define TWO_PI 6.28318530717958647693

/* Marks that no stream has. */
#define LAPLACE UINT32_C(0x6e6f6973)
#define NORMAL UINT32_C(0x6e6f726d)

/* Fills the block of Philox for numbers `at` to at + 3, at the counter (block,
   epoch, row, mark). */
static void
draw_block(uint64_t seed, uint32_t epoch, uint32_t row, size_t at,
           uint32_t mark, uint32_t ret_block[4])
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)(at / 4), epoch, row, mark};
    seeded_philox(counter, key, ret_block);
}

/*
 * Inverse distribution function on 32 bits: the top one is the sign, and
 * -ln u the size, u = (31 bits + 1/2) / 2^31 in (0, 1). Four numbers a block.
 */
void
noise_laplace(uint64_t seed, uint32_t epoch, uint32_t row, size_t d,
              float *ret_noise)
{
    for (size_t i = 0; i < d; i += 4) {
        uint32_t block[4];
        draw_block(seed, epoch, row, i, LAPLACE, block);
        for (size_t j = 0; j < 4 && i + j < d; j++) {
            double u = ((double)(block[j] & 0x7fffffff) + 0.5) / 0x1p31;
            double size = -log(u);
            ret_noise[i + j] = (float)(block[j] >> 31 ? -size : size);
        }
    }
}

/*
 * Box and Muller's pairs: with u and v of 32 bits each, (bits + 1/2) / 2^32,
 * sqrt(-2 ln u) times the cosine and the sine of 2 pi v. Two pairs a block.
 */
void
noise_normal(uint64_t seed, uint32_t epoch, uint32_t row, size_t d,
             float *ret_noise)
{
    for (size_t i = 0; i < d; i += 4) {
        uint32_t block[4];
        draw_block(seed, epoch, row, i, NORMAL, block);
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
