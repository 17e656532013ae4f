/*
 * outlook_curve.c: a surface through simulated points.
 *
 * Accuracy rises with epsilon and with people, on average; simulated means do
 * not always. The nearest surface that does (least squares) is the projection
 * onto two cones, rows that rise and columns that rise: Dykstra's (1983)
 * alternating projections, each by pooling adjacent violators (Ayer 1955).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "sotto/planning.h"

#define ROUNDS 200u

/* ---- A surface that rises ------------------------------------------------ */

/* Pools adjacent violators of every `stride`-th of `n` values, in place;
   `size` has room for n. */
static void
pool_line(double *y, size_t n, size_t stride, double *level, size_t *size)
{
    size_t blocks = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        level[blocks] = y[i * stride];
        size[blocks++] = 1;
        while (blocks > 1 && level[blocks - 2] > level[blocks - 1]) {
            double a = (double)size[blocks - 2], b = (double)size[blocks - 1];
            level[blocks - 2] =
                (a * level[blocks - 2] + b * level[blocks - 1]) / (a + b);
            size[blocks - 2] += size[blocks - 1];
            blocks--;
        }
    }
    for (size_t i = 0; i < blocks; i++) {
        for (size_t j = 0; j < size[i]; j++) {
            y[at++ * stride] = level[i];
        }
    }
}

/* One of Dykstra's projections: adds back what it took away last time. */
static void
project(double *y, double *taken, size_t rows, size_t columns, bool along,
        double *level, size_t *size)
{
    size_t lines = along ? rows : columns, n = along ? columns : rows;
    for (size_t i = 0; i < rows * columns; i++) {
        y[i] += taken[i];
        taken[i] = y[i];
    }
    for (size_t i = 0; i < lines; i++) {
        pool_line(along ? y + i * columns : y + i, n, along ? 1 : columns,
                  level, size);
    }
    for (size_t i = 0; i < rows * columns; i++) {
        taken[i] -= y[i];
    }
}

enum sotto_status
sotto_outlook_smooth(double *y, size_t rows, size_t columns,
                     struct sotto_error *err)
{
    size_t all = rows * columns;
    double *room = calloc(3 * all + 1, sizeof *room);
    size_t *size = calloc(all + 1, sizeof *size);
    bool good = room != NULL && size != NULL;
    for (unsigned i = 0; good && i < ROUNDS; i++) {
        project(y, room, rows, columns, true, room + 2 * all, size);
        project(y, room + all, rows, columns, false, room + 2 * all, size);
    }
    free(room);
    free(size);
    return good ? SOTTO_STATUS_OK : host_fail_memory(err);
}

double
sotto_outlook_reach(const double *x, const double *y, size_t n, double wanted)
{
    if (n > 0 && y[0] >= wanted) {
        return x[0];
    }
    for (size_t i = 1; i < n; i++) {
        if (y[i] >= wanted) {
            double share = (wanted - y[i - 1]) / (y[i] - y[i - 1]);
            return exp(log(x[i - 1]) + share * log(x[i] / x[i - 1]));
        }
    }
    return INFINITY;
}
