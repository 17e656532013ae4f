/*
 * permute.c: the one Fisher-Yates, for training and simulation.
 */
#include "random/permute.h"

#include <string.h>

#include "random/draw.h"
#include "random/seeded.h"

#define U56 (UINT64_C(1) << 56)

/* Draws from 0 to n - 1: draws again what lies beyond the last multiple of
   n. */
static size_t
draw_wide(struct random *random, size_t n)
{
    uint64_t most = U56 - U56 % n;
    uint64_t drawn;
    do {
        drawn = random_u56(random);
    } while (drawn >= most);
    return (size_t)(drawn % n);
}

static void
swap(unsigned char *item, size_t size, size_t i, size_t j)
{
    unsigned char held[PERMUTE_SIZE_MAX];
    if (i != j) {
        memcpy(held, item + i * size, size);
        memcpy(item + i * size, item + j * size, size);
        memcpy(item + j * size, held, size);
    }
}

void
permute_drawn(void *item, size_t size, size_t count, enum permute_way way,
              struct random *random)
{
    if (way == PERMUTE_DOWN) {
        for (size_t i = count; i > 1; i--) {
            swap(item, size, i - 1, draw_below(random, (uint32_t)i));
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        size_t j = way == PERMUTE_WIDE ? draw_wide(random, i + 1)
                                       : draw_below(random, (uint32_t)(i + 1));
        swap(item, size, i, j);
    }
}

void
permute(void *item, size_t size, size_t count, enum permute_way way,
        uint64_t seed, uint64_t stream)
{
    struct seeded seeded;
    seeded_init(&seeded, seed, stream);
    permute_drawn(item, size, count, way, &seeded.random);
}
