/*
 * wipe.h: memory that held people's records, given back empty.
 *
 * What is freed as it is can turn up in a core dump, a swap file or a later
 * allocation. realloc may move a block and free the old one unwiped, so what
 * grows here is moved by hand.
 */
#ifndef SOTTO_HOST_WIPE_H
#define SOTTO_HOST_WIPE_H

#include <stddef.h>

/* Overwrites the `size` bytes that were used with zeros, and frees. NULL is
   fine. */
void host_wipe_free(void *data, size_t size);

/*
 * The first min(used, wanted) bytes in a new block of `wanted` (at least 1)
 * bytes; the old one, `used` bytes of it wiped, is freed. `data` may be NULL if
 * `used` is 0. NULL for lack of memory: then the old block stays.
 */
void *host_wipe_resize(void *data, size_t used, size_t wanted);

#endif
