/*
 * smooth_exchange.c: classes that may have each other's place.
 *
 * Particle t calls by the permutation a_t what the mean of all particles calls
 * by their names: the one with the largest
 *
 *     sum_y O(y, a_t(y)),    O(y, y') = sum_l pi_l mean_ly tau_t,ly'
 *
 * The identity, where all agree.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/cells.h"
#include "learn/codes/smooth.h"

#define TIE 1e-9 /* that the name it has is worth */

static void
set_overlap(const float *tau, const double *mean, const double *pi,
            size_t leaves, size_t columns, size_t classes, double *ret_overlap)
{
    memset(ret_overlap, 0, classes * classes * sizeof *ret_overlap);
    for (size_t l = 0; l < leaves; l++) {
        for (size_t y = 0; y < classes; y++) {
            double w = pi[l] * mean[l * classes + y];
            for (size_t to = 0; to < classes; to++) {
                ret_overlap[y * classes + to] +=
                    w * (double)tau[l * columns + to];
            }
        }
    }
    for (size_t y = 0; y < classes; y++) {
        ret_overlap[y * classes + y] += TIE;
    }
}

enum sotto_status
smooth_exchanged(const float *tau, const double *mean, const double *pi,
                 size_t leaves, size_t particles, size_t classes,
                 const struct sotto_watch *watch, double *ret_exchanged,
                 struct sotto_error *err)
{
    size_t size = classes * classes;
    double *overlap = calloc(2 * size, sizeof *overlap);
    uint32_t *name = calloc(classes, sizeof *name);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (overlap == NULL || name == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t t = 0; t < particles && status == SOTTO_STATUS_OK; t++) {
        status = cells_tick(watch, t, particles, err);
        if (status != SOTTO_STATUS_OK) {
            goto done;
        }
        set_overlap(tau + t * classes, mean, pi, leaves, particles * classes,
                    classes, overlap);
        status = cells_assign(overlap, NULL, NULL, classes, classes, name, err);
        for (size_t y = 0; y < classes && status == SOTTO_STATUS_OK; y++) {
            overlap[size + y * classes + name[y]] += 1 / (double)particles;
        }
    }
    if (status == SOTTO_STATUS_OK) {
        memcpy(ret_exchanged, overlap + size, size * sizeof *overlap);
    }
done:
    free(overlap);
    free(name);
    return status;
}
