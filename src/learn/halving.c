/*
 * halving.c: successive halving among candidates.
 */
#include "learn/halving.h"

#include <stdlib.h>

size_t
halving_left(size_t candidates)
{
    return (candidates + 1) / 2;
}

size_t
halving_rounds(size_t candidates)
{
    size_t rounds = 0;
    for (size_t left = candidates; left > 1; left = halving_left(left)) {
        rounds++;
    }
    return rounds;
}

static int
compare_candidates(const void *a, const void *b)
{
    const struct halving *x = a, *y = b;
    if (x->accuracy != y->accuracy) {
        return x->accuracy < y->accuracy ? 1 : -1;
    }
    return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

void
halving_sort(struct halving *halving, size_t count)
{
    qsort(halving, count, sizeof *halving, compare_candidates);
}
