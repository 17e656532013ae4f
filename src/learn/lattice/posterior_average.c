/*
 * posterior_average.c: what a function of the points is on average, given a
 * report.
 */
#include "host/error.h"
#include "learn/lattice/posterior.h"

#define BLOCK 1024u /* reports at a time */

static enum sotto_status
average_block(const struct prior *prior, const uint8_t *const *report, size_t n,
              const float *v, size_t classes, struct host_pool *pool,
              double *ret_p, struct sotto_error *err)
{
    struct posterior_options options = {.tau = 0};
    struct posterior *posterior = NULL;
    size_t first[BLOCK / POSTERIOR_CHUNK], chunks = 0;
    double s[POSTERIOR_CHUNK];
    enum sotto_status status;
    for (size_t i = 0; i < n; i += POSTERIOR_CHUNK) {
        first[chunks++] = i;
    }
    status = posterior_new(prior, report, n, first, chunks, pool, &options,
                           &posterior, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i += POSTERIOR_CHUNK) {
        size_t rows = n - i < POSTERIOR_CHUNK ? n - i : POSTERIOR_CHUNK;
        for (size_t y = 0; y < classes; y++) {
            posterior_dots(posterior, i, rows, v + y * prior->padded, s);
            for (size_t j = 0; j < rows; j++) {
                ret_p[(i + j) * classes + y] = s[j];
            }
        }
    }
    posterior_free(posterior);
    return SOTTO_STATUS_OK;
}

enum sotto_status
posterior_average(const struct prior *prior, const uint8_t *reports,
                  size_t size, size_t n, const float *v, size_t classes,
                  struct host_pool *pool, double *ret_p,
                  struct sotto_error *err)
{
    const uint8_t *report[BLOCK];
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t first = 0; first < n && status == SOTTO_STATUS_OK;
         first += BLOCK) {
        size_t count = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < count; i++) {
            report[i] = reports + (first + i) * size;
        }
        status = average_block(prior, report, count, v, classes, pool,
                               ret_p + first * classes, err);
    }
    return status;
}
