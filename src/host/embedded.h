/*
 * embedded.h: files of the data folder that a program carries with it.
 * scripts/embed.cmake makes the arrays.
 */
#ifndef SOTTO_HOST_EMBEDDED_H
#define SOTTO_HOST_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

/* A file; behind its bytes is a NUL. */
struct embedded {
    const char *name;
    const uint8_t *bytes;
    size_t size;
};

#endif
