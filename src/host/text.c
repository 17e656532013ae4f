/*
 * text.c: a growable text or byte buffer, born with a ceiling.
 */
#include "host/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MOST ((size_t)65536)

void
host_text_init(struct host_text *text, size_t most)
{
    memset(text, 0, sizeof *text);
    text->most = most;
}

void
host_text_clear(struct host_text *text)
{
    free(text->data);
    host_text_init(text, text->most);
}

/* Makes room for `more` bytes and a NUL. */
static bool
grow_text(struct host_text *text, size_t more)
{
    size_t room;
    char *data;
    if (text->failed || more > text->most - text->size) {
        text->failed = true;
        return false;
    }
    if (text->size + more < text->room) {
        return true;
    }
    room = 2 * (text->size + more) + 64;
    data = realloc(text->data, room);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void
host_text_add(struct host_text *text, const void *data, size_t size)
{
    if (grow_text(text, size)) {
        if (size > 0) {
            memcpy(text->data + text->size, data, size);
        }
        text->size += size;
        text->data[text->size] = '\0';
    }
}

__attribute__((format(printf, 2, 0))) static void
print(struct host_text *text, const char *format, va_list args)
{
    va_list again;
    int size;
    va_copy(again, args);
    size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size < 0 || !grow_text(text, (size_t)size)) {
        text->failed = true;
        return;
    }
    (void)vsnprintf(text->data + text->size, (size_t)size + 1, format, args);
    text->size += (size_t)size;
}

void
host_text_print(struct host_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(text, format, args);
    va_end(args);
}

char *
host_text_path(const char *format, ...)
{
    struct host_text path;
    va_list args;
    host_text_init(&path, PATH_MOST);
    va_start(args, format);
    print(&path, format, args);
    va_end(args);
    if (path.failed) {
        host_text_clear(&path);
    }
    return path.data;
}

void *
host_text_copy(const void *data, size_t size)
{
    char *copy = size < SIZE_MAX ? malloc(size + 1) : NULL;
    if (copy != NULL) {
        if (size > 0) {
            memcpy(copy, data, size);
        }
        copy[size] = '\0';
    }
    return copy;
}

void *
host_grow(void *array, size_t item, size_t count, size_t *room)
{
    size_t wanted = *room == 0 ? 64 : 2 * *room;
    void *grown = array;
    if (count == *room) {
        grown =
            wanted <= SIZE_MAX / item ? realloc(array, wanted * item) : NULL;
        *room = grown != NULL ? wanted : *room;
    }
    return grown;
}
