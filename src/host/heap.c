/*
 * heap.c: glibc's thresholds; naming one ends its guessing of both.
 */
#include "host/heap.h"

#include <stdlib.h>

#if defined __GLIBC__
#include <malloc.h>
#endif

#define LARGE (256 * 1024)
#define SPARE (1024 * 1024) /* kept at a heap's end for the next block */

void
host_heap_give_back(void)
{
#if defined __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, LARGE);
    (void)mallopt(M_TRIM_THRESHOLD, SPARE);
#endif
}
