/*
 * bytes.h: byte order, copying and wiping without a C library.
 *
 * Loops over bytes, not memcpy: the trusted part links against nothing.
 */
#ifndef SOTTO_BASE_BYTES_H
#define SOTTO_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t
bytes_load(const uint8_t *from, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++) {
        value |= (uint64_t)from[i] << (8 * i);
    }
    return value;
}

static inline void
bytes_store(uint8_t *to, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++) {
        to[i] = (uint8_t)(value >> (8 * i));
    }
}

static inline void
bytes_copy(uint8_t *to, const uint8_t *from, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        to[i] = from[i];
    }
}

/* Zeroes memory in a way the compiler must not drop. */
static inline void
bytes_wipe(void *data, size_t size)
{
    volatile uint8_t *at = (volatile uint8_t *)data;
    for (size_t i = 0; i < size; i++) {
        at[i] = 0;
    }
}

/* Zeroes memory that stays in use: the compiler may drop stores to what is
   never read again, so not for a last wipe. */
static inline void
bytes_clear(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        data[i] = 0;
    }
}

/* Tells whether the `size` characters at `word` are this text. */
static inline bool
bytes_spell(const char *word, size_t size, const char *text)
{
    size_t i = 0;
    while (i < size && text[i] != '\0' && word[i] == text[i]) {
        i++;
    }
    return i == size && text[i] == '\0';
}

#endif
