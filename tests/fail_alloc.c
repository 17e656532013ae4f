/*
 * fail_alloc.c: the wrapped allocator behind fail_alloc.h.
 */
#include "fail_alloc.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static atomic_long made; /* threads allocate, too */
static atomic_long failing;

void
fail_alloc_at(long n)
{
    made = 0;
    failing = n;
}

long
fail_alloc_count(void)
{
    return made;
}

static int
refused(void)
{
    return ++made == failing;
}

void *
__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return refused() ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
    return refused() ? NULL : __real_realloc(old, size);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refused() ? NULL : __real_aligned_alloc(alignment, size);
}

char *
__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = refused() ? NULL : __real_malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}
