/*
 * posterior.h: p(m | report) for every report and every point of the prior.
 *
 *     w_nm = p(r_n | q_m) / sum_m' p(r_n | q_m')            (docs/learning.md)
 *
 * Computed once and kept: 16 bits a weight (posterior_kernel.h), or where few
 * points matter, those alone: then the smallest weights, of at most `tau` of
 * the mass together, are dropped. Either way a report's weights add up to 1
 * again.
 *
 * Reports are rows, cut into chunks of at most POSTERIOR_CHUNK by the caller;
 * a chunk is one task of a pool.
 */
#ifndef SOTTO_LEARN_POSTERIOR_H
#define SOTTO_LEARN_POSTERIOR_H

#include "learn/lattice/prior.h"
#include "sotto/sotto.h"

struct host_pool;

#define POSTERIOR_TAU 1e-4
#define POSTERIOR_CHUNK 64u
#define POSTERIOR_SPARSE 8u /* sparse if fewer than a point in 8 is kept */

struct posterior_row {
    const uint16_t *code;
    const uint32_t *index; /* of each code; NULL: all, in order */
    uint32_t kept;
    float scale; /* a weight is scale times what its code stands for */
};

struct posterior_chunk {
    size_t first, rows;
};

struct posterior {
    size_t rows, points, padded;
    struct posterior_row *row;
    struct posterior_chunk *chunk;
    size_t chunks;
    uint8_t *memory; /* of all rows */
    size_t mapped;
    double bytes;     /* of weights */
    double kept;      /* mean share of points */
    double truncated; /* the most mass cut from one row */
};

struct posterior_options {
    double tau;   /* 0: POSTERIOR_TAU; negative: nothing is dropped */
    bool general; /* log_p_many for every channel, also where a distance
                     would do: for tests */
    const struct sotto_watch *watch;
};

/*
 * `first` has `chunks` entries: where each begins; the last ends at n.
 * Statuses: MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
posterior_new(const struct prior *prior, const uint8_t *const *report, size_t n,
              const size_t *first, size_t chunks, struct host_pool *pool,
              const struct posterior_options *options,
              struct posterior **ret_posterior, struct sotto_error *err);
void posterior_free(struct posterior *posterior);

/* sum_m w_nm v_m of `rows` rows from `first`; v has `padded` entries, those
   beyond the points 0. */
void posterior_dots(const struct posterior *posterior, size_t first,
                    size_t rows, const float *v, double *ret_s);
/* a_m += sum_n c_n w_nm over the same rows. */
void posterior_add(const struct posterior *posterior, size_t first, size_t rows,
                   const double *c, float *a);

/*
 * p(y | report) = sum_m w_m v_y(m) of n reports of `size` bytes each, which are
 * taken in blocks: v has `classes` rows of `padded` entries, as posterior_dots
 * takes them. Statuses: MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
posterior_average(const struct prior *prior, const uint8_t *reports,
                  size_t size, size_t n, const float *v, size_t classes,
                  struct host_pool *pool, double *ret_p,
                  struct sotto_error *err);

#endif
