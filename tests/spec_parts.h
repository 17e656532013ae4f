/*
 * spec_parts.h: parts of a mechanism in one line each.
 */
#ifndef SOTTO_TESTS_SPEC_PARTS_H
#define SOTTO_TESTS_SPEC_PARTS_H

#include "mechanism/compose.h"

/* Blocks of d numbers with radius l, from an entry of z on; delta last. */
#define NUMBER_PART(what, by, units, count, first, size, radius, less)         \
    {                                                                          \
        .covers = what, .channel = by, .eps = units, .blocks = count,          \
        .from = first, .d = size, .l = radius, .delta = less                   \
    }

/* A symbol of so many factors, which follow. */
#define SYMBOL_PART(what, by, units, count, ...)                               \
    {                                                                          \
        .covers = what, .channel = by, .eps = units, .blocks = 1,              \
        .factor = {__VA_ARGS__}, .factors = count                              \
    }

#endif
