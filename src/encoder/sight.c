/*
 * sight.c: encoders told apart by what they see, without labels.
 *
 * An encoder is good for a codebook if few parts of its tree hold what is real
 * in the records. Nothing but labels says what that is, but two things go with
 * it. Parts that are real are found again in other records: so each half of
 * the records gets a tree of its own, and all records a part by either. And
 * what is real is seen by other encoders as well: so their parts are like this
 * one's, and can be told from its small cells. The first alone rewards
 * representations of one or two numbers, which are cut alike whatever they
 * leave out; the second alone rewards those that are rich but have no groups,
 * and what most candidates have in common. Their geometric mean wants all.
 */
#include "encoder/sight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/agreement.h"
#include "host/error.h"
#include "host/wipe.h"
#include "random/permute.h"

#define CELL_ROWS ((size_t)20) /* of a half, a cell */
#define CELLS_MOST ((size_t)500)
#define STREAM (UINT64_C(0x73696768) << 32) /* of the seed */
#define SEED_HALF UINT64_C(0x68616c66)      /* and the next */

struct look {
    struct host_pool *pool;
    struct tensor_backend *backend;
    const struct sotto_watch *watch;
    float *z; /* rows looked at */
    size_t n, d, k;
    uint64_t seed;
};

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Copies rows in an order by lot, which is the same for every encoder. */
static enum sotto_status
copy_rows(struct look *look, const float *z, size_t n, struct sotto_error *err)
{
    uint32_t *order = calloc(n, sizeof *order);
    if (order == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
    }
    permute(order, sizeof *order, n, PERMUTE_UP, look->seed, STREAM);
    for (size_t i = 0; i < look->n; i++) {
        memcpy(look->z + i * look->d, z + order[i] * look->d,
               look->d * sizeof *look->z);
    }
    free(order);
    return SOTTO_STATUS_OK;
}

/* Puts every row looked at into a part of a tree; its cell as well, unless that
   is NULL. */
static enum sotto_status
find_parts(const struct look *look, const struct clustering *clustering,
           uint32_t *ret_cell, uint32_t *ret_part, size_t *ret_parts,
           struct sotto_error *err)
{
    size_t parts = smaller(look->k, clustering->cells);
    uint32_t *of = calloc(clustering->cells, sizeof *of);
    enum sotto_status status;
    if (of == NULL || ret_part == NULL) {
        free(of);
        return host_fail_memory(err);
    }
    status = clustering_cut(clustering, parts, of, err);
    status = HOST_THEN(status,
                       clustering_assign(clustering, look->pool, look->backend,
                                         look->z, look->n, ret_part, err));
    if (status == SOTTO_STATUS_OK) {
        if (ret_cell != NULL) {
            memcpy(ret_cell, ret_part, look->n * sizeof *ret_cell);
        }
        for (size_t i = 0; i < look->n; i++) {
            ret_part[i] = of[ret_part[i]];
        }
        *ret_parts = parts;
    }
    free(of);
    return status;
}

/* Grows a tree of one half, and puts all rows into its parts. */
static enum sotto_status
cut_half(const struct look *look, size_t half, uint32_t *ret_part,
         size_t *ret_parts, struct sotto_error *err)
{
    size_t first = half * ((look->n + 1) / 2);
    size_t rows = half == 0 ? (look->n + 1) / 2 : look->n / 2;
    size_t cells = smaller(rows / CELL_ROWS, CELLS_MOST);
    struct clustering clustering = {0};
    enum sotto_status status = clustering_init(
        &clustering, look->pool, look->backend, look->z + first * look->d, rows,
        look->d, cells > 2 ? cells : 2, look->seed + SEED_HALF + half,
        look->watch, err);
    status = HOST_THEN(
        status, find_parts(look, &clustering, NULL, ret_part, ret_parts, err));
    clustering_clear(&clustering);
    return status;
}

static enum sotto_status
compare_halves(const struct look *look, double *ret_halves,
               struct sotto_error *err)
{
    uint32_t *part = calloc(look->n, 2 * sizeof *part);
    struct agreement agreement = {0};
    size_t parts[2] = {0, 0};
    enum sotto_status status =
        part != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
    for (size_t half = 0; status == SOTTO_STATUS_OK && half < 2; half++) {
        status = cut_half(look, half, part + half * look->n, &parts[half], err);
    }
    status = HOST_THEN(status,
                       agreement_measure(part, parts[0], part + look->n,
                                         parts[1], look->n, &agreement, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_halves = agreement_mutual(&agreement);
    }
    free(part);
    return status;
}

enum sotto_status
sight_init(struct sight *sight, const struct clustering *clustering,
           struct host_pool *pool, struct tensor_backend *backend,
           const float *z, size_t n, size_t d, size_t k, uint64_t seed,
           const struct sotto_watch *watch, struct sotto_error *err)
{
    struct look look = {.pool = pool,
                        .backend = backend,
                        .watch = watch,
                        .n = smaller(n, SIGHT_RECORDS),
                        .d = d,
                        .k = k,
                        .seed = seed};
    enum sotto_status status = SOTTO_STATUS_OK;
    *sight = (struct sight){.n = look.n, .cells = clustering->cells};
    if (n < SIGHT_RECORDS_LEAST || n > UINT32_MAX || k == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "%zu records are too few to compare encoders by", n);
    }
    look.z = calloc(look.n, d * sizeof *look.z);
    sight->cell = calloc(look.n, sizeof *sight->cell);
    sight->part = calloc(look.n, sizeof *sight->part);
    if (look.z == NULL || sight->cell == NULL || sight->part == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = copy_rows(&look, z, n, err);
    status = HOST_THEN(status, find_parts(&look, clustering, sight->cell,
                                          sight->part, &sight->parts, err));
    status = HOST_THEN(status, compare_halves(&look, &sight->halves, err));
done:
    host_wipe_free(look.z, look.n * d * sizeof *look.z);
    if (status != SOTTO_STATUS_OK) {
        sight_clear(sight);
    }
    return status;
}

void
sight_clear(struct sight *sight)
{
    host_wipe_free(sight->cell, sight->n * sizeof *sight->cell);
    host_wipe_free(sight->part, sight->n * sizeof *sight->part);
    *sight = (struct sight){0};
}

/* ---- The score ----------------------------------------------------------- */

/* Adds what i has in common with the others, on average. */
static enum sotto_status
compare_others(const struct sight *sight, size_t count, size_t i,
               struct sight_marks *marks, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t j = 0; status == SOTTO_STATUS_OK && j < count; j++) {
        struct agreement cells = {0}, parts = {0};
        if (j != i) {
            status =
                agreement_measure(sight[i].cell, sight[i].cells, sight[j].part,
                                  sight[j].parts, sight[i].n, &cells, err);
            status = HOST_THEN(status,
                               agreement_measure(sight[i].part, sight[i].parts,
                                                 sight[j].part, sight[j].parts,
                                                 sight[i].n, &parts, err));
            marks->sees += agreement_known(&cells) / (double)(count - 1);
            marks->parts += agreement_mutual(&parts) / (double)(count - 1);
        }
    }
    marks->sees = fmax(marks->sees, 0);
    marks->parts = fmax(marks->parts, 0);
    return status;
}

enum sotto_status
sight_score(const struct sight *sight, size_t count,
            struct sight_marks *ret_marks, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 1; i < count; i++) {
        if (sight[i].n != sight[0].n) {
            return host_fail(err, SOTTO_STATUS_USAGE, i,
                             "encoders that saw other records cannot be "
                             "compared");
        }
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < count; i++) {
        double halves = fmax(sight[i].halves, 0);
        struct sight_marks marks = {.halves = halves};
        if (count > 1) {
            status = compare_others(sight, count, i, &marks, err);
        } else {
            marks.sees = marks.parts = halves;
        }
        marks.score = cbrt(halves * marks.sees * marks.parts);
        ret_marks[i] = marks;
    }
    return status;
}
