/*
 * subsets.h: uniform subsets, as bitmaps.
 */
#ifndef SOTTO_RANDOM_SUBSETS_H
#define SOTTO_RANDOM_SUBSETS_H

#include <stddef.h>
#include <stdint.h>

#include "random/random.h"

/*
 * A subset of {0, ..., n-1} of `size` <= n elements, each such subset with
 * the same probability exactly. Writes (n+7)/8 bytes, element i at bit i % 8
 * of byte i / 8. n is public; `size` may be secret: the steps do not depend
 * on it.
 */
void subsets_draw(struct random *random, uint32_t n, uint32_t size,
                  uint8_t *ret_bitmap);

#endif
