/*
 * heap.h: how the C library keeps memory that was freed.
 */
#ifndef SOTTO_HOST_HEAP_H
#define SOTTO_HOST_HEAP_H

/*
 * From now on, blocks of 256 KiB or more go back to the system when they are
 * freed. Left alone, glibc takes the first large block that is freed as a
 * reason to keep blocks of that size, in each thread's part of the heap: a
 * collector, which needs a few megabytes at the end of each window, came to
 * keep 60 MB so. For programs, at their start; elsewhere than with glibc
 * nothing happens.
 */
void host_heap_give_back(void);

#endif
