/*
 * task_numbers.h: rows and tasks for the task-aware linear form.
 */
#ifndef SOTTO_TESTS_TASK_NUMBERS_H
#define SOTTO_TESTS_TASK_NUMBERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random/seeded.h"
#include "sotto/sotto.h"

static struct sotto_error err;

#define must(call)                                                             \
    do {                                                                       \
        memset(&err, 0, sizeof err);                                           \
        if ((call) != SOTTO_STATUS_OK) {                                       \
            fail_msg("%s: %s", #call, err.message);                            \
        }                                                                      \
    } while (0)

#define assert_near(a, b, most)                                                \
    do {                                                                       \
        double near_a = (a), near_b = (b);                                     \
        if (!(fabs(near_a - near_b) <= (most))) {                              \
            fail_msg("%s is %.12g, not %.12g", #a, near_a, near_b);            \
        }                                                                      \
    } while (0)

/* Uniform in (0, 1). */
static inline double
between(struct seeded *seeded)
{
    return (random_u32(&seeded->random) + 0.5) / 0x1p32;
}

/* A standard normal number. */
static inline double
normal(struct seeded *seeded)
{
    double size = sqrt(-2 * log(between(seeded)));
    return size * cos(2 * 3.14159265358979323846 * between(seeded));
}

/* `count` of them, for the caller to free. */
static inline double *
normals(size_t count, uint64_t seed)
{
    double *at = malloc((count + 1) * sizeof *at);
    struct seeded seeded;
    assert_non_null(at);
    seeded_init(&seeded, seed, 0);
    for (size_t i = 0; i < count; i++) {
        at[i] = normal(&seeded);
    }
    return at;
}

/* Rows of n numbers that hang together: normals times a fixed matrix, with a
   mean of j for column j. */
static inline double *
mixed_rows(size_t rows, size_t n, uint64_t seed)
{
    double *from = normals(rows * n, seed), *by = normals(n * n, seed + 1);
    double *x = calloc(rows, n * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < n; j++) {
            x[i * n + j] = (double)j;
            for (size_t k = 0; k < n; k++) {
                x[i * n + j] += from[i * n + k] * by[k * n + j];
            }
        }
    }
    free(from);
    free(by);
    return x;
}

/* Calls `call` with the first allocation failing, the second, ...: every
   failure must be MEMORY, and it must succeed in the end. */
#define survive_memory(status, call, clear)                                    \
    do {                                                                       \
        long survive_n = 0;                                                    \
        do {                                                                   \
            fail_alloc_at(++survive_n);                                        \
            (status) = (call);                                                 \
            fail_alloc_at(0);                                                  \
            clear;                                                             \
            if ((status) != SOTTO_STATUS_OK) {                                 \
                assert_int_equal((status), SOTTO_STATUS_MEMORY);               \
            }                                                                  \
        } while ((status) != SOTTO_STATUS_OK);                                 \
        assert_true(survive_n > 1);                                            \
    } while (0)

#endif
