/*
 * freed.h: looks for bytes in memory that is given back. Tests that use it are
 * linked with free wrapped.
 */
#ifndef SOTTO_TESTS_FREED_H
#define SOTTO_TESTS_FREED_H

#include <stddef.h>

/* From now on, counts the blocks that are freed with these `size` bytes
   somewhere in them; the bytes are copied, at most FREED_MAX. */
#define FREED_MAX 256u
void freed_watch(const void *bytes, size_t size);
/* How many there were; ends the watch. */
size_t freed_found(void);

#endif
