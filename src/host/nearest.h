/*
 * nearest.h: which of several names was meant.
 */
#ifndef SOTTO_HOST_NEAREST_H
#define SOTTO_HOST_NEAREST_H

#include <stddef.h>

/*
 * The candidate nearest to `word`: one that differs in the case of its letters
 * alone, or else one of which few letters must be added, removed, changed or
 * swapped. NULL: none is near.
 */
const char *host_nearest(const char *word, const char *const *candidates,
                         size_t count);

#endif
