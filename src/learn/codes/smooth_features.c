/*
 * smooth_features.c: a Gaussian process over leaves, at several lengths.
 *
 *     K_m(l, l') = exp(-|x_l - x_l'|^2 / (2 m sqrt(d_l d_l'))),  m = 1, 3, 9
 *
 * d_l is the squared distance from leaf l to its third nearest: lengths are
 * longer where leaves lie far apart. A_m are the largest eigenvectors of K_m,
 * each times the root of its eigenvalue, rows brought to length 1 again; a row
 * that none of them is about stays 0. Before them stands a constant: classes
 * may be rarer than others everywhere. Behind them stand the codes, a feature
 * each: a cut of the tree keeps together what is alike, so the leaves of a code
 * have more in common than their distance says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/cells.h"
#include "learn/codes/smooth.h"
#include "tensor/symmetric.h"

#define NEAREST 3u
#define FEATURES_MOST 150u /* of a length */
#define KEPT 0.95          /* of the eigenvalues' sum */
#define LEAST 1e-12        /* squared distance: leaves may coincide */
#define NOISE 1e-12        /* squared length of a row that is rounding's */

#define LENGTHS 3u

static const double length[LENGTHS + 1] = {0, 1, 3, 9};

/* |x_l - x_l'|^2 of all pairs. */
static void
set_distances(const float *centre, size_t leaves, size_t d, double *ret_d2)
{
    for (size_t l = 0; l < leaves; l++) {
        for (size_t o = 0; o <= l; o++) {
            double sum = 0;
            for (size_t i = 0; i < d; i++) {
                double gap = (double)centre[l * d + i] - centre[o * d + i];
                sum += gap * gap;
            }
            ret_d2[l * leaves + o] = ret_d2[o * leaves + l] = sum;
        }
    }
}

/* The NEAREST-th smallest squared distance to another leaf. */
static double
find_local(const double *d2, size_t leaves, size_t l)
{
    double nearest[NEAREST];
    size_t count = 0;
    for (size_t o = 0; o < leaves; o++) {
        double at = d2[l * leaves + o];
        size_t i = count < NEAREST ? count : NEAREST;
        if (o == l) {
            continue;
        }
        for (; i > 0 && nearest[i - 1] > at; i--) {
            if (i < NEAREST) {
                nearest[i] = nearest[i - 1];
            }
        }
        if (i < NEAREST) {
            nearest[i] = at;
        }
        count++;
    }
    count = count < NEAREST ? count : NEAREST;
    return count > 0 && nearest[count - 1] > LEAST ? nearest[count - 1] : LEAST;
}

static void
set_kernel(const double *d2, const double *local, size_t leaves, double m,
           double *ret_k)
{
    for (size_t l = 0; l < leaves; l++) {
        for (size_t o = 0; o < leaves; o++) {
            ret_k[l * leaves + o] =
                exp(-d2[l * leaves + o] / (2 * m * sqrt(local[l] * local[o])));
        }
    }
}

/* The fewest eigenvalues that are KEPT of them all. */
static size_t
count_kept(const double *value, size_t leaves)
{
    double all = 0, sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < leaves; i++) {
        all += value[i] > 0 ? value[i] : 0;
    }
    while (count < leaves && count < FEATURES_MOST && value[count] > 0 &&
           sum < KEPT * all) {
        sum += value[count++];
    }
    return count;
}

size_t
smooth_features_most(size_t leaves, size_t codes)
{
    return 1 + LENGTHS * (leaves < FEATURES_MOST ? leaves : FEATURES_MOST) +
           codes;
}

/* Vectors are rows; leaf l's features begin at to[l * FEATURES_MOST]. */
static void
set_features(const double *vector, const double *value, size_t leaves,
             size_t count, double *ret_to)
{
    for (size_t l = 0; l < leaves; l++) {
        double *to = ret_to + l * FEATURES_MOST, sum = 0;
        for (size_t i = 0; i < count; i++) {
            to[i] = vector[i * leaves + l] * sqrt(value[i]);
            sum += to[i] * to[i];
        }
        for (size_t i = 0; i < count; i++) {
            to[i] = sum > NOISE ? to[i] / sqrt(sum) : 0;
        }
    }
}

struct making {
    double *d2, *k, *value, *local;
    double *found[LENGTHS + 1]; /* leaves rows of FEATURES_MOST */
};

static enum sotto_status
make_scales(struct smooth_features *features, const struct making *making,
            const struct sotto_watch *watch, struct sotto_error *err)
{
    size_t leaves = features->leaves;
    features->first[1] = 1;
    for (size_t m = 1; m <= LENGTHS; m++) {
        enum sotto_status status = cells_tick(watch, 0, 1, err);
        size_t count;
        set_kernel(making->d2, making->local, leaves, length[m], making->k);
        status = HOST_THEN(
            status, tensor_symmetric(leaves, making->k, making->value, err));
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        count = count_kept(making->value, leaves);
        set_features(making->k, making->value, leaves, count, making->found[m]);
        features->first[m + 1] = features->first[m] + count;
    }
    features->count = features->first[LENGTHS + 1];
    features->first[SMOOTH_SCALES] = features->count;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
copy_scales(struct smooth_features *features, const struct making *making,
            struct sotto_error *err)
{
    size_t leaves = features->leaves, count = features->count;
    features->a = malloc(leaves * count * sizeof *features->a);
    if (features->a == NULL) {
        return host_fail_memory(err);
    }
    for (size_t l = 0; l < leaves; l++) {
        features->a[l * count] = 1;
        for (size_t m = 1; m <= LENGTHS; m++) {
            for (size_t i = features->first[m]; i < features->first[m + 1];
                 i++) {
                features->a[l * count + i] =
                    (float)making
                        ->found[m][l * FEATURES_MOST + i - features->first[m]];
            }
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
smooth_features_init(struct smooth_features *features, const float *centre,
                     size_t leaves, size_t d, const struct sotto_watch *watch,
                     struct sotto_error *err)
{
    size_t found = leaves * FEATURES_MOST;
    double *room = malloc((2 * leaves * leaves + 2 * leaves + LENGTHS * found) *
                          sizeof *room);
    struct making making = {.d2 = room};
    enum sotto_status status;
    memset(features, 0, sizeof *features);
    if (room == NULL) {
        return host_fail_memory(err);
    }
    making.k = making.d2 + leaves * leaves;
    making.value = making.k + leaves * leaves;
    making.local = making.value + leaves;
    for (size_t m = 1; m <= LENGTHS; m++) {
        making.found[m] = making.local + leaves + (m - 1) * found;
    }
    features->leaves = leaves;
    features->codes = SMOOTH_CODES;
    set_distances(centre, leaves, d, making.d2);
    for (size_t l = 0; l < leaves; l++) {
        making.local[l] = find_local(making.d2, leaves, l);
    }
    status = make_scales(features, &making, watch, err);
    status = HOST_THEN(status, copy_scales(features, &making, err));
    free(room);
    return status;
}

enum sotto_status
smooth_features_plain(struct smooth_features *features, size_t leaves,
                      struct sotto_error *err)
{
    *features = (struct smooth_features){.leaves = leaves,
                                         .count = 1,
                                         .codes = SMOOTH_COLUMNS,
                                         .a = malloc(leaves * sizeof(float))};
    if (features->a == NULL) {
        return host_fail_memory(err);
    }
    for (size_t l = 0; l < leaves; l++) {
        features->a[l] = 1;
    }
    for (size_t m = 1; m <= SMOOTH_SCALES; m++) {
        features->first[m] = 1;
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
smooth_features_add_codes(struct smooth_features *features, const double *share,
                          size_t codes, struct sotto_error *err)
{
    size_t count = features->count, width = count + codes;
    float *a = features->leaves < SIZE_MAX / sizeof *a / width
                   ? calloc(features->leaves * width, sizeof *a)
                   : NULL;
    if (a == NULL) {
        return host_fail_memory(err);
    }
    for (size_t l = 0; l < features->leaves; l++) {
        const double *from = share + l * codes;
        float *to = a + l * width;
        double sum = 0;
        memcpy(to, features->a + l * count, count * sizeof *to);
        for (size_t c = 0; c < codes; c++) {
            sum += from[c] * from[c];
        }
        for (size_t c = 0; c < codes && sum > 0; c++) {
            to[count + c] = (float)(from[c] / sqrt(sum));
        }
    }
    free(features->a);
    features->a = a;
    features->count = features->first[SMOOTH_SCALES] = width;
    return SOTTO_STATUS_OK;
}

void
smooth_features_clear(struct smooth_features *features)
{
    free(features->a);
    memset(features, 0, sizeof *features);
}
