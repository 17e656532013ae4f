/*
 * subsets.c: uniform subsets, as bitmaps.
 */
#include "random/subsets.h"

#include "base/bytes.h"
#include "random/draw.h"

/*
 * Selection sampling: element i is taken with probability (still to take) /
 * (still to come), which gives every subset probability size! (n-size)! / n!.
 */
void
subsets_draw(struct random *random, uint32_t n, uint32_t size,
             uint8_t *ret_bitmap)
{
    bytes_clear(ret_bitmap, ((size_t)n + 7) / 8);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t taken = draw_bernoulli(random, size, n - i);
        size -= taken;
        ret_bitmap[i / 8] |= (uint8_t)(taken << (i % 8));
    }
}
