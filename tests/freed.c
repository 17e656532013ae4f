/*
 * freed.c: the wrapped free behind freed.h.
 */
#include "freed.h"

#include <malloc.h>
#include <stdatomic.h>
#include <string.h>

void __real_free(void *data);
void __wrap_free(void *data);

static unsigned char wanted[FREED_MAX];
static atomic_size_t wanted_size, found;

void
freed_watch(const void *bytes, size_t size)
{
    size = size < FREED_MAX ? size : FREED_MAX;
    memcpy(wanted, bytes, size);
    atomic_store(&found, 0);
    atomic_store(&wanted_size, size);
}

size_t
freed_found(void)
{
    atomic_store(&wanted_size, 0);
    return atomic_load(&found);
}

void
__wrap_free(void *data)
{
    size_t size = atomic_load(&wanted_size);
    if (data != NULL && size > 0 &&
        memmem(data, malloc_usable_size(data), wanted, size) != NULL) {
        atomic_fetch_add(&found, 1);
    }
    __real_free(data);
}
