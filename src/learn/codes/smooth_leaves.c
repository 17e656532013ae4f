/*
 * smooth_leaves.c: small cells of the auxiliary representations.
 */
#include "learn/codes/smooth_leaves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/clustering.h"
#include "host/error.h"
#include "host/wipe.h"

#define RECORDS_EACH 8u /* of a leaf, on average, at least */
#define LEAVES_A_CODE 2u
#define LEAVES_AT 120.0 /* leaves ... */
#define WORTH_AT 1000.0 /* where reports are worth so many clean ones */
#define POWER 0.3
#define COST_MOST 1.5e9 /* multiply-adds of a product, fewest particles */
#define SEED_OF_LEAVES UINT64_C(0x6c6561766573)

/* An entry of tau has the error sqrt(tau (1 - tau) / (m / cells)) from m clean
   labels, so the reports are worth about (cells / error)^2 / cells of them to
   each code; what counts here is (cells / error)^2. */
size_t
smooth_leaves_wanted(size_t cells, double error, size_t records)
{
    double worth = (double)cells / error, wanted;
    size_t least = LEAVES_A_CODE * cells, most = records / RECORDS_EACH;
    size_t count;
    wanted = LEAVES_AT * pow(worth * worth / WORTH_AT, POWER);
    least = least < SMOOTH_LEAVES_LEAST ? SMOOTH_LEAVES_LEAST : least;
    count = wanted > SMOOTH_LEAVES_MOST ? SMOOTH_LEAVES_MOST : (size_t)wanted;
    count = count < least ? least : count;
    count = count > SMOOTH_LEAVES_MOST ? SMOOTH_LEAVES_MOST : count;
    count = count > most ? most : count;
    return count > 1 ? count : 1;
}

bool
smooth_leaves_are_cheap(size_t leaves, size_t codes, size_t classes)
{
    return (double)leaves * (double)smooth_features_most(leaves, codes) *
               (double)classes * SMOOTH_PARTICLES_LEAST <=
           COST_MOST;
}

/* Rows of length 1; a row of zeros stays. */
static float *
copy_directions(const float *z, size_t n, size_t d)
{
    float *to = malloc((n * d + 1) * sizeof *to);
    for (size_t m = 0; m < n && to != NULL; m++) {
        double sum = 0, by;
        for (size_t i = 0; i < d; i++) {
            sum += (double)z[m * d + i] * (double)z[m * d + i];
        }
        by = sum > 0 ? 1 / sqrt(sum) : 0;
        for (size_t i = 0; i < d; i++) {
            to[m * d + i] = (float)(by * (double)z[m * d + i]);
        }
    }
    return to;
}

static enum sotto_status
set_leaves(struct smooth_leaves *leaves, const struct clustering *clustering,
           const float *z, size_t n, struct host_pool *pool,
           struct tensor_backend *backend, const struct sotto_watch *watch,
           struct sotto_error *err)
{
    enum sotto_status status;
    leaves->count = clustering->cells;
    leaves->leaf = malloc((n + 1) * sizeof *leaves->leaf);
    leaves->tau = calloc(leaves->count * leaves->classes, sizeof *leaves->tau);
    status = leaves->leaf != NULL && leaves->tau != NULL
                 ? clustering_assign(clustering, pool, backend, z, n,
                                     leaves->leaf, err)
                 : host_fail_memory(err);
    return HOST_THEN(
        status, smooth_features_init(&leaves->features, clustering->centre,
                                     leaves->count, clustering->d, watch, err));
}

enum sotto_status
smooth_leaves_init(struct smooth_leaves *leaves, const float *z, size_t n,
                   size_t d, bool unit, size_t wanted, size_t classes,
                   uint64_t seed, struct host_pool *pool,
                   struct tensor_backend *backend,
                   const struct sotto_watch *watch, struct sotto_error *err)
{
    struct clustering clustering = {0};
    float *direction = unit ? copy_directions(z, n, d) : NULL;
    const float *from = unit ? direction : z;
    enum sotto_status status =
        from != NULL
            ? clustering_init(&clustering, pool, backend, from, n, d, wanted,
                              seed ^ SEED_OF_LEAVES, watch, err)
            : host_fail_memory(err);
    *leaves = (struct smooth_leaves){.classes = classes};
    if (status == SOTTO_STATUS_OK) {
        status =
            set_leaves(leaves, &clustering, from, n, pool, backend, watch, err);
        clustering_clear(&clustering);
    }
    host_wipe_free(direction, (n * d + 1) * sizeof *direction);
    if (status != SOTTO_STATUS_OK) {
        smooth_leaves_clear(leaves);
    }
    return status;
}

size_t
smooth_leaves_records(size_t books, size_t cells, size_t records)
{
    double tuples = pow((double)cells, (double)books);
    return tuples <= SMOOTH_LEAVES_PLAIN || records <= SMOOTH_LEAVES_PLAIN
               ? records
               : SMOOTH_LEAVES_PLAIN;
}

bool
smooth_leaves_plain_cheap(size_t records, size_t codes, size_t classes)
{
    size_t leaves =
        records < SMOOTH_LEAVES_PLAIN ? records : SMOOTH_LEAVES_PLAIN;
    return (double)leaves * (double)(codes + 1) * (double)classes *
               SMOOTH_PARTICLES_LEAST <=
           COST_MOST;
}

/* A number that records with the same codes have in common. */
static uint64_t
hash_codes(const uint32_t *code, size_t n, size_t books, size_t record)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t b = 0; b < books; b++) {
        hash = (hash ^ code[b * n + record]) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 32;
}

static bool
have_same_codes(const uint32_t *code, size_t n, size_t books, size_t a,
                size_t b)
{
    size_t book = 0;
    while (book < books && code[book * n + a] == code[book * n + b]) {
        book++;
    }
    return book == books;
}

/* Numbers leaves by their first record; `slot` is room for a power of 2 above
   n, of the leaves' first records and one more. */
static void
group_records(struct smooth_leaves *leaves, const uint32_t *code, size_t n,
              size_t books, size_t *slot, size_t slots)
{
    for (size_t m = 0; m < n; m++) {
        size_t at = hash_codes(code, n, books, m) & (slots - 1);
        while (slot[at] > 0 &&
               !have_same_codes(code, n, books, slot[at] - 1, m)) {
            at = (at + 1) & (slots - 1);
        }
        if (slot[at] == 0) {
            slot[at] = m + 1;
            leaves->leaf[m] = (uint32_t)leaves->count++;
        } else {
            leaves->leaf[m] = leaves->leaf[slot[at] - 1];
        }
    }
}

enum sotto_status
smooth_leaves_plain(struct smooth_leaves *leaves, const uint32_t *code,
                    size_t n, size_t books, size_t classes,
                    struct sotto_error *err)
{
    size_t slots = 2, *slot;
    enum sotto_status status = SOTTO_STATUS_OK;
    while (slots < 2 * n) {
        slots *= 2;
    }
    slot = calloc(slots, sizeof *slot);
    *leaves = (struct smooth_leaves){
        .classes = classes, .leaf = malloc((n + 1) * sizeof *leaves->leaf)};
    if (slot == NULL || leaves->leaf == NULL) {
        status = host_fail_memory(err);
    } else {
        group_records(leaves, code, n, books, slot, slots);
        leaves->tau = calloc(leaves->count * classes + 1, sizeof(double));
        status = leaves->tau != NULL ? smooth_features_plain(&leaves->features,
                                                             leaves->count, err)
                                     : host_fail_memory(err);
    }
    free(slot);
    if (status != SOTTO_STATUS_OK) {
        smooth_leaves_clear(leaves);
    }
    return status;
}

void
smooth_leaves_clear(struct smooth_leaves *leaves)
{
    free(leaves->leaf);
    free(leaves->tau);
    smooth_features_clear(&leaves->features);
    memset(leaves, 0, sizeof *leaves);
}

enum sotto_status
smooth_leaves_add_codes(struct smooth_leaves *leaves, const uint32_t *code,
                        size_t n, size_t books, size_t cells,
                        struct sotto_error *err)
{
    size_t codes = books * cells;
    double *share = leaves->count < SIZE_MAX / sizeof *share / codes
                        ? calloc(leaves->count * codes, sizeof *share)
                        : NULL;
    enum sotto_status status;
    if (share == NULL) {
        return host_fail_memory(err);
    }
    for (size_t b = 0; b < books; b++) {
        for (size_t m = 0; m < n; m++) {
            share[leaves->leaf[m] * codes + b * cells + code[b * n + m]]++;
        }
    }
    status = smooth_features_add_codes(&leaves->features, share, codes, err);
    free(share);
    return status;
}

double *
smooth_leaves_joint(const struct smooth_leaves *leaves, const uint32_t *code,
                    size_t n, size_t cells, const double *pi)
{
    size_t size = leaves->count * cells;
    double *joint = calloc(size + cells, sizeof *joint), sum = 0;
    double *counted = joint != NULL ? joint + size : NULL;
    if (joint == NULL) {
        return NULL;
    }
    for (size_t m = 0; m < n; m++) {
        joint[leaves->leaf[m] * cells + code[m]] += 1 / (double)n;
        counted[code[m]] += 1 / (double)n;
    }
    for (size_t i = 0; i < size; i++) {
        double of = counted[i % cells];
        joint[i] *= pi != NULL && of > 0 ? pi[i % cells] / of : 1;
        sum += joint[i];
    }
    for (size_t i = 0; i < size; i++) {
        joint[i] /= sum;
    }
    return joint;
}

void
smooth_leaves_codes(const struct smooth_leaves *leaves, const double *joint,
                    size_t cells, double *ret_tau, double *ret_share)
{
    size_t classes = leaves->classes;
    memset(ret_share, 0, classes * sizeof *ret_share);
    memset(ret_tau, 0, cells * classes * sizeof *ret_tau);
    for (size_t i = 0; i < leaves->count * cells; i++) {
        for (size_t y = 0; y < classes && joint[i] > 0; y++) {
            double at = joint[i] * leaves->tau[i / cells * classes + y];
            ret_tau[i % cells * classes + y] += at;
            ret_share[y] += at;
        }
    }
    for (size_t c = 0; c < cells; c++) {
        double *row = ret_tau + c * classes, sum = 0;
        for (size_t y = 0; y < classes; y++) {
            sum += row[y];
        }
        for (size_t y = 0; y < classes; y++) {
            row[y] = sum > 0 ? row[y] / sum : ret_share[y];
        }
    }
}
