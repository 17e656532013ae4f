/*
 * neighbours.c: all distances, a block at a time, and the least of each row.
 *
 *     |x_i - x_j|^2 / 2 = |x_i|^2 / 2 - (x_i.x_j - |x_j|^2 / 2)
 *
 * so the nearest have the largest score x_i.x_j - |x_j|^2 / 2. The scores of
 * ROWS rows with COLUMNS others are one product. Each row keeps its k best in a
 * heap whose root is the worst of them: nearly every score is compared with the
 * root and forgotten.
 */
#include "encoder/neighbours.h"

#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"

#define ROWS ((size_t)1024)
#define COLUMNS ((size_t)4096)
#define TASK ((size_t)64) /* rows */

struct found {
    float score;
    uint32_t row;
};

struct search {
    struct host_pool *pool;
    struct tensor_backend *backend;
    const float *x;
    size_t n, d, k;
    float *half;         /* |x|^2 / 2 of every row */
    float *score;        /* ROWS rows of COLUMNS */
    struct found *heap;  /* ROWS rows of k */
    size_t first, rows;  /* whose neighbours are looked for */
    size_t other, count; /* among which */
    uint32_t *near;
};

/* Whether a is farther than b: of equals, the one that comes later. */
static bool
is_farther(struct found a, struct found b)
{
    return a.score < b.score || (a.score <= b.score && a.row > b.row);
}

/* Puts `new` in place of the root, the farthest of a heap. */
static void
replace_root(struct found *heap, size_t k, struct found new)
{
    size_t at = 0, child;
    while ((child = 2 * at + 1) < k) {
        if (child + 1 < k && is_farther(heap[child + 1], heap[child])) {
            child++;
        }
        if (!is_farther(heap[child], new)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = new;
}

static void
scan_task(void *context, size_t index, unsigned worker)
{
    const struct search *search = context;
    size_t k = search->k;
    (void)worker;
    for (size_t i = index * TASK; i < search->rows && i < (index + 1) * TASK;
         i++) {
        const float *score = search->score + i * search->count;
        const float *half = search->half + search->other;
        struct found *heap = search->heap + i * k;
        for (size_t j = 0; j < search->count; j++) {
            float own = score[j] - half[j];
            if (own > heap[0].score && search->other + j != search->first + i) {
                replace_root(
                    heap, k,
                    (struct found){own, (uint32_t)(search->other + j)});
            }
        }
    }
}

static int
compare_rows(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void
keep_task(void *context, size_t index, unsigned worker)
{
    const struct search *search = context;
    size_t k = search->k;
    (void)worker;
    for (size_t i = index * TASK; i < search->rows && i < (index + 1) * TASK;
         i++) {
        uint32_t *to = search->near + (search->first + i) * k;
        for (size_t j = 0; j < k; j++) {
            to[j] = search->heap[i * k + j].row;
        }
        qsort(to, k, sizeof *to, compare_rows);
    }
}

static void
search_rows(struct search *search)
{
    size_t tasks = (search->rows + TASK - 1) / TASK;
    for (size_t i = 0; i < search->rows * search->k; i++) {
        search->heap[i] = (struct found){-INFINITY, UINT32_MAX};
    }
    for (search->other = 0; search->other < search->n;
         search->other += COLUMNS) {
        size_t left = search->n - search->other;
        search->count = left < COLUMNS ? left : COLUMNS;
        search->backend->ops->multiply(
            search->backend, false, true, search->rows, search->count,
            search->d, 1, search->x + search->first * search->d,
            search->x + search->other * search->d, 0, search->score);
        host_pool_run(search->pool, tasks, scan_task, search);
    }
    host_pool_run(search->pool, tasks, keep_task, search);
}

/* Whether every row found as many as it needs: scores that are no numbers are
   nobody's. */
static bool
is_complete(const struct search *search)
{
    for (size_t i = 0; i < search->n * search->k; i++) {
        if (search->near[i] >= search->n) {
            return false;
        }
    }
    return true;
}

static void
set_halves(struct search *search)
{
    for (size_t i = 0; i < search->n; i++) {
        double sum = 0;
        for (size_t j = 0; j < search->d; j++) {
            double at = (double)search->x[i * search->d + j];
            sum += at * at;
        }
        search->half[i] = (float)(sum / 2);
    }
}

enum sotto_status
neighbours_find(struct host_pool *pool, struct tensor_backend *backend,
                const float *x, size_t n, size_t d, size_t k,
                const struct sotto_watch *watch, uint32_t *ret_near,
                struct sotto_error *err)
{
    struct search search = {
        .pool = pool, .backend = backend, .x = x, .n = n, .d = d, .k = k};
    enum sotto_status status = SOTTO_STATUS_OK;
    search.near = ret_near;
    if (k == 0 || k >= n || d == 0 || n > UINT32_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "%zu rows have no %zu neighbours each", n, k);
    }
    search.half = malloc(n * sizeof *search.half);
    search.score = malloc(ROWS * COLUMNS * sizeof *search.score);
    search.heap = malloc(ROWS * k * sizeof *search.heap);
    if (search.half == NULL || search.score == NULL || search.heap == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    set_halves(&search);
    for (search.first = 0; search.first < n; search.first += ROWS) {
        search.rows = n - search.first < ROWS ? n - search.first : ROWS;
        if (watch != NULL && watch->tick != NULL &&
            !watch->tick(watch->context, "neighbours", search.first, n)) {
            status = host_fail(err, SOTTO_STATUS_STOPPED, 0,
                               "stopped while looking for neighbours");
            goto done;
        }
        search_rows(&search);
    }
    if (!is_complete(&search)) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "rows have numbers too large to be compared");
    }
done:
    host_wipe_free(search.half, n * sizeof *search.half);
    host_wipe_free(search.score, ROWS * COLUMNS * sizeof *search.score);
    host_wipe_free(search.heap, ROWS * k * sizeof *search.heap);
    return status;
}
