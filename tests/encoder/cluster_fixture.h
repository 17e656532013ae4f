/*
 * cluster_fixture.h: points about known centres.
 */
#ifndef SOTTO_TESTS_CLUSTER_FIXTURE_H
#define SOTTO_TESTS_CLUSTER_FIXTURE_H

#include "encoder/clustering.h"
#include "host/pool.h"
#include "learnt_fixture.h"

/* n rows of d: row i lies within `width` of centre i % groups, and centres lie
   apart by 10 along an axis of their own, or on a line if there are more. */
static inline float *
points(size_t n, size_t d, size_t groups, double width)
{
    float *z = malloc(n * d * sizeof *z);
    struct seeded seeded;
    assert_non_null(z);
    seeded_init(&seeded, 5, 0);
    for (size_t i = 0; i < n; i++) {
        size_t group = i % groups;
        for (size_t j = 0; j < d; j++) {
            double centre = j == group % d ? 10.0 * (double)(1 + group / d) : 0;
            z[i * d + j] = (float)(centre + width * (2 * uniform(&seeded) - 1));
        }
    }
    return z;
}

/* A back-end over `pool`, which may be NULL: one thread. */
static inline struct tensor_backend *
backend_over(struct host_pool *pool)
{
    struct tensor_backend *backend = NULL;
    must(tensor_new("cpu", pool, &backend, &err));
    return backend;
}

static inline struct host_pool *
pool_of(unsigned threads)
{
    struct host_pool *pool = NULL;
    must(host_pool_new(threads, &pool, &err));
    return pool;
}

/* Whether two labellings of n rows are one but for the names. */
static inline bool
same_parts(const uint32_t *a, const uint32_t *b, size_t n)
{
    uint32_t there[64], back[64];
    memset(there, 0xff, sizeof there);
    memset(back, 0xff, sizeof back);
    for (size_t i = 0; i < n; i++) {
        if (there[a[i]] == UINT32_MAX && back[b[i]] == UINT32_MAX) {
            there[a[i]] = b[i];
            back[b[i]] = a[i];
        }
        if (there[a[i]] != b[i] || back[b[i]] != a[i]) {
            return false;
        }
    }
    return true;
}

#endif
