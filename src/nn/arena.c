/*
 * arena.c: a model's parameters: one arena, carved from one table of rows.
 */
#include "nn/arena.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define ALIGNMENT ((size_t)64)                      /* bytes */
#define STEP (ALIGNMENT / sizeof(float))            /* floats */
#define FLOATS_MAX (SIZE_MAX / (8 * sizeof(float))) /* in one of the four */

void
nn_arena_init(struct nn_arena *arena)
{
    memset(arena, 0, sizeof *arena);
}

/* Makes room for one row more. */
static bool
grow_rows(struct nn_arena *arena)
{
    size_t room = arena->room == 0 ? 16 : 2 * arena->room;
    struct nn_row *row = realloc(arena->row, room * sizeof *row);
    if (row == NULL) {
        return false;
    }
    arena->row = row;
    arena->room = room;
    return true;
}

size_t
nn_arena_add(struct nn_arena *arena, const char *name, size_t rows,
             size_t columns, bool fixed)
{
    size_t length = strlen(name);
    if (length >= NN_NAME_MAX ||
        (arena->count == arena->room && !grow_rows(arena))) {
        return SIZE_MAX;
    }
    struct nn_row *row = &arena->row[arena->count];
    memcpy(row->name, name, length + 1);
    row->rows = rows;
    row->columns = columns;
    row->fixed = fixed;
    return arena->count++;
}

/* Gives the rows that are fixed, or those that are not, their places. */
static bool
place_rows(struct nn_arena *arena, bool fixed, size_t *size)
{
    for (size_t i = 0; i < arena->count; i++) {
        struct nn_row *row = &arena->row[i];
        size_t columns = row->columns == 0 ? 1 : row->columns;
        size_t floats;
        if (row->fixed != fixed) {
            continue;
        }
        if (__builtin_mul_overflow(row->rows, columns, &floats) ||
            floats > FLOATS_MAX - *size) {
            return false;
        }
        row->offset = *size;
        *size += (floats + STEP - 1) / STEP * STEP;
        if (*size > FLOATS_MAX) {
            return false;
        }
    }
    return true;
}

enum sotto_status
nn_arena_allocate(struct nn_arena *arena, struct sotto_error *err)
{
    size_t size = 0;
    bool fits = place_rows(arena, false, &size);
    size_t moved = size;
    fits = fits && place_rows(arena, true, &size);
    if (!fits) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "a model with more than %zu parameters is too large",
                         FLOATS_MAX);
    }
    float *memory =
        aligned_alloc(ALIGNMENT, 4 * size * sizeof *memory + ALIGNMENT);
    if (memory == NULL) {
        return host_fail_memory(err);
    }
    memset(memory, 0, 4 * size * sizeof *memory);
    arena->value = memory;
    arena->gradient = memory + size;
    arena->first = memory + 2 * size;
    arena->second = memory + 3 * size;
    arena->moved = moved;
    arena->size = size;
    return SOTTO_STATUS_OK;
}

void
nn_arena_clear(struct nn_arena *arena)
{
    free(arena->value);
    free(arena->row);
    nn_arena_init(arena);
}

float *
nn_arena_value(const struct nn_arena *arena, size_t row)
{
    return row < arena->count ? arena->value + arena->row[row].offset : NULL;
}

float *
nn_arena_gradient(const struct nn_arena *arena, size_t row)
{
    return row < arena->count ? arena->gradient + arena->row[row].offset : NULL;
}
