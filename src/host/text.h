/*
 * text.h: a growable text or byte buffer, born with a ceiling.
 */
#ifndef SOTTO_HOST_TEXT_H
#define SOTTO_HOST_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* `failed` is sticky: once memory or the ceiling gave out, nothing is added
   and the caller checks once, at the end. */
struct host_text {
    char *data; /* NUL-terminated once something was added */
    size_t size;
    size_t room;
    size_t most;
    bool failed;
};

void host_text_init(struct host_text *text, size_t most);
void host_text_clear(struct host_text *text);
void host_text_add(struct host_text *text, const void *data, size_t size);
__attribute__((format(printf, 2, 3))) void
host_text_print(struct host_text *text, const char *format, ...);

/* A path put together as printf does, which the caller frees; NULL: no memory,
   or longer than any system takes. */
__attribute__((format(printf, 1, 2))) char *host_text_path(const char *format,
                                                           ...);

/* A copy of the bytes with a NUL behind them, which the caller frees (aligned
   as malloc aligns); NULL: no memory. */
void *host_text_copy(const void *data, size_t size);

/* Makes room for one more item in an array of `count` that doubles as it grows;
   `room` is how many it has room for. NULL for lack of memory: the array is
   then as it was. */
void *host_grow(void *array, size_t item, size_t count, size_t *room);

#endif
