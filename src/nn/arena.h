/*
 * arena.h: a model's parameters: one arena, carved from one table of rows.
 *
 *     value     | enc.0.weight | enc.0.bias | enc.1.weight | ... | (padding)
 *     gradient  the same layout
 *     first     the optimiser's first moment, or momentum
 *     second    its second moment (Adam)
 *
 * Every row begins at a multiple of 16 floats. Rows of running statistics
 * (batch norm) are `fixed`: no gradient moves them, and they come last.
 */
#ifndef SOTTO_NN_ARENA_H
#define SOTTO_NN_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"
#include "tensor/tensor.h"

#define NN_NAME_MAX 48u

struct nn_row {
    char name[NN_NAME_MAX];
    size_t rows, columns; /* columns 0: a vector of `rows` */
    size_t offset;        /* in floats */
    bool fixed;
};

struct nn_arena {
    struct nn_row *row;
    size_t count, room;
    size_t size;  /* floats in each of the four */
    size_t moved; /* of these, what an optimiser moves: they come first */
    float *value, *gradient, *first, *second;
    uint64_t step; /* of the optimiser, taken so far */
};

void nn_arena_init(struct nn_arena *arena);
/* Adds a row; its number, or SIZE_MAX if there is no memory or its name is too
   long. Before _allocate. */
size_t nn_arena_add(struct nn_arena *arena, const char *name, size_t rows,
                    size_t columns, bool fixed);
/* One block for all four, zeroed. Statuses: MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status nn_arena_allocate(struct nn_arena *arena,
                                                  struct sotto_error *err);
void nn_arena_clear(struct nn_arena *arena);
/* Where a row is; NULL for a number that is none. */
float *nn_arena_value(const struct nn_arena *arena, size_t row);
float *nn_arena_gradient(const struct nn_arena *arena, size_t row);

#endif
