/*
 * cells_assign.c: a label for every cell from a linear score.
 *
 * As many cells as labels: the Hungarian method. Rows (cells) are brought in
 * one by one along a shortest augmenting path in reduced costs
 *
 *     -score(i, j) - u(i) - v(j) >= 0,     0 for what is assigned.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/cells.h"

struct hungarian {
    const double *score;
    size_t size;
    double *u, *v;  /* potentials; rows and columns from 1 */
    double *least;  /* of a column: the least reduced cost on the path */
    size_t *row;    /* of a column, 0: free; row[0]: the one brought in */
    size_t *before; /* column before it on the path */
    bool *used;
};

/* One more column on the path from column j; the column it is. */
static size_t
extend_path(struct hungarian *at, size_t j)
{
    size_t row = at->row[j], next = 0;
    double delta = INFINITY;
    at->used[j] = true;
    for (size_t to = 1; to <= at->size; to++) {
        double cost;
        if (at->used[to]) {
            continue;
        }
        cost =
            -at->score[(row - 1) * at->size + to - 1] - at->u[row] - at->v[to];
        if (cost < at->least[to]) {
            at->least[to] = cost;
            at->before[to] = j;
        }
        if (at->least[to] < delta) {
            delta = at->least[to];
            next = to;
        }
    }
    for (size_t to = 0; to <= at->size; to++) {
        if (at->used[to]) {
            at->u[at->row[to]] += delta;
            at->v[to] -= delta;
        } else {
            at->least[to] -= delta;
        }
    }
    return next;
}

static void
bring_in(struct hungarian *at, size_t row)
{
    size_t j = 0;
    at->row[0] = row;
    for (size_t to = 0; to <= at->size; to++) {
        at->least[to] = INFINITY;
        at->used[to] = false;
    }
    do {
        j = extend_path(at, j);
    } while (at->row[j] != 0);
    while (j != 0) {
        size_t before = at->before[j];
        at->row[j] = at->row[before];
        j = before;
    }
}

static enum sotto_status
assign_exactly(const double *score, size_t size, uint32_t *ret_label,
               struct sotto_error *err)
{
    double *real = calloc(3 * (size + 1), sizeof *real);
    size_t *whole = calloc(2 * (size + 1), sizeof *whole);
    bool *used = calloc(size + 1, sizeof *used);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (real == NULL || whole == NULL || used == NULL) {
        status = host_fail_memory(err);
    } else {
        struct hungarian at = {.score = score,
                               .size = size,
                               .u = real,
                               .v = real + size + 1,
                               .least = real + 2 * (size + 1),
                               .row = whole,
                               .before = whole + size + 1,
                               .used = used};
        for (size_t row = 1; row <= size; row++) {
            bring_in(&at, row);
        }
        for (size_t j = 1; j <= size; j++) {
            ret_label[at.row[j] - 1] = (uint32_t)(j - 1);
        }
    }
    free(real);
    free(whole);
    free(used);
    return status;
}

/* ---- More cells than labels, or fewer ------------------------------------ */

struct pairing {
    double score;
    uint32_t cell, label;
};

static int
compare_candidates(const void *a, const void *b)
{
    const struct pairing *left = a, *right = b;
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    if (left->cell != right->cell) {
        return left->cell > right->cell ? 1 : -1;
    }
    return left->label > right->label ? 1 : -1;
}

/* Best pair first, while more than half of the cell is wanted; what is left
   goes where most is wanted. */
static enum sotto_status
assign_greedily(const double *score, const double *pi, const double *share,
                size_t cells, size_t classes, uint32_t *ret_label,
                struct sotto_error *err)
{
    struct pairing *pair = malloc(cells * classes * sizeof *pair);
    double *wanted = malloc(classes * sizeof *wanted);
    if (pair == NULL || wanted == NULL) {
        free(pair);
        free(wanted);
        return host_fail_memory(err);
    }
    for (size_t p = 0; p < cells * classes; p++) {
        pair[p] = (struct pairing){score[p], (uint32_t)(p / classes),
                                   (uint32_t)(p % classes)};
    }
    qsort(pair, cells * classes, sizeof *pair, compare_candidates);
    memcpy(wanted, share, classes * sizeof *wanted);
    for (size_t c = 0; c < cells; c++) {
        ret_label[c] = UINT32_MAX;
    }
    for (size_t p = 0; p < cells * classes; p++) {
        uint32_t c = pair[p].cell, y = pair[p].label;
        if (ret_label[c] == UINT32_MAX && wanted[y] >= pi[c] / 2) {
            ret_label[c] = y;
            wanted[y] -= pi[c];
        }
    }
    for (size_t c = 0; c < cells; c++) {
        uint32_t best = 0;
        for (uint32_t y = 1; y < classes; y++) {
            best = wanted[y] > wanted[best] ? y : best;
        }
        if (ret_label[c] == UINT32_MAX) {
            ret_label[c] = best;
            wanted[best] -= pi[c];
        }
    }
    free(pair);
    free(wanted);
    return SOTTO_STATUS_OK;
}

enum sotto_status
cells_assign(const double *score, const double *pi, const double *share,
             size_t cells, size_t classes, uint32_t *ret_label,
             struct sotto_error *err)
{
    return cells == classes ? assign_exactly(score, cells, ret_label, err)
                            : assign_greedily(score, pi, share, cells, classes,
                                              ret_label, err);
}
