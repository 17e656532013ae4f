/*
 * clustering.c: k-means for many small cells, and Ward's tree above them.
 *
 *     k-means    the least sum over rows of |z - c|^2, c the row's centre
 *     Ward       merging groups a and b adds w_a w_b / (w_a + w_b) |c_a -
 * c_b|^2 to that sum: always the cheapest merge next
 *
 * The tree is found by following nearest neighbours until two are each other's:
 * for Ward's cost such a pair is merged at some point whatever else is, so it
 * may be merged at once, and the merges are put into order afterwards.
 */
#include "encoder/clustering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"
#include "random/draw.h"
#include "random/seeded.h"

#define CHUNK ((size_t)2048)                /* rows scored at a time */
#define TASK ((size_t)256)                  /* of them, in one task */
#define STEPS 15u                           /* Lloyd's, at most */
#define STREAM (UINT64_C(0x636c7573) << 32) /* of the seed */

struct work {
    struct host_pool *pool;
    struct tensor_backend *backend;
    const float *z;
    size_t n, d, cells;
    float *centre;
    float *half; /* |c|^2 / 2 */
    float *score;
    const float *rows; /* the chunk's */
    size_t count;
    uint32_t *cell; /* of every row */
    double *near;   /* squared distance to the nearest centre */
    size_t latest;  /* the centre that was added last */
};

/* ---- Nearest centres ----------------------------------------------------- */

static void
nearest_task(void *context, size_t index, unsigned worker)
{
    const struct work *work = context;
    size_t first = (size_t)(work->rows - work->z) / work->d;
    (void)worker;
    for (size_t i = index * TASK; i < work->count && i < (index + 1) * TASK;
         i++) {
        const float *score = work->score + i * work->cells;
        size_t best = 0;
        for (size_t j = 1; j < work->cells; j++) {
            if (score[j] - work->half[j] > score[best] - work->half[best]) {
                best = j;
            }
        }
        work->cell[first + i] = (uint32_t)best;
    }
}

/* argmax over c of z.c - |c|^2 / 2 is argmin of |z - c|^2. */
static void
assign(struct work *work)
{
    for (size_t j = 0; j < work->cells; j++) {
        double sum = 0;
        for (size_t i = 0; i < work->d; i++) {
            double c = (double)work->centre[j * work->d + i];
            sum += c * c;
        }
        work->half[j] = (float)(sum / 2);
    }
    for (size_t from = 0; from < work->n; from += CHUNK) {
        work->count = work->n - from < CHUNK ? work->n - from : CHUNK;
        work->rows = work->z + from * work->d;
        work->backend->ops->multiply(work->backend, false, true, work->count,
                                     work->cells, work->d, 1, work->rows,
                                     work->centre, 0, work->score);
        host_pool_run(work->pool, (work->count + TASK - 1) / TASK, nearest_task,
                      work);
    }
}

/* ---- k-means ------------------------------------------------------------- */

static double
squared(const float *a, const float *b, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        double difference = (double)a[i] - (double)b[i];
        sum += difference * difference;
    }
    return sum;
}

static void
closer_task(void *context, size_t index, unsigned worker)
{
    const struct work *work = context;
    const float *centre = work->centre + work->latest * work->d;
    (void)worker;
    for (size_t i = index * CHUNK; i < work->n && i < (index + 1) * CHUNK;
         i++) {
        double distance = squared(work->z + i * work->d, centre, work->d);
        work->near[i] = distance < work->near[i] ? distance : work->near[i];
    }
}

/* A row by lot, by the square of its distance; n if all distances are 0. */
static size_t
draw_row(const struct work *work, struct seeded *seeded)
{
    double total = 0, at;
    size_t last = work->n;
    for (size_t i = 0; i < work->n; i++) {
        total += work->near[i];
    }
    at = total * ((double)random_u56(&seeded->random) / 72057594037927936.0);
    for (size_t i = 0; i < work->n; i++) {
        if (work->near[i] > 0) {
            last = i;
            at -= work->near[i];
            if (at < 0) {
                break;
            }
        }
    }
    return last;
}

/* k-means++: rows far from all centres so far are likely to be the next. Ends
   early when every row is a centre. */
static void
seed_centres(struct work *work, uint64_t seed)
{
    struct seeded seeded;
    size_t row, wanted = work->cells;
    seeded_init(&seeded, seed, STREAM);
    row = draw_below(&seeded.random, (uint32_t)work->n);
    for (size_t i = 0; i < work->n; i++) {
        work->near[i] = INFINITY;
    }
    for (work->cells = 0; work->cells < wanted && row < work->n;) {
        work->latest = work->cells++;
        memcpy(work->centre + work->latest * work->d, work->z + row * work->d,
               work->d * sizeof *work->centre);
        host_pool_run(work->pool, (work->n + CHUNK - 1) / CHUNK, closer_task,
                      work);
        row = draw_row(work, &seeded);
    }
}

/* Centres to the means of their rows; one without rows stays where it is. */
static void
move_centres(struct work *work, double *sum, double *weight)
{
    memset(sum, 0, work->cells * work->d * sizeof *sum);
    memset(weight, 0, work->cells * sizeof *weight);
    for (size_t i = 0; i < work->n; i++) {
        double *to = sum + work->cell[i] * work->d;
        const float *row = work->z + i * work->d;
        for (size_t j = 0; j < work->d; j++) {
            to[j] += (double)row[j];
        }
        weight[work->cell[i]]++;
    }
    for (size_t c = 0; c < work->cells; c++) {
        for (size_t j = 0; j < work->d && weight[c] > 0; j++) {
            work->centre[c * work->d + j] =
                (float)(sum[c * work->d + j] / weight[c]);
        }
    }
}

static bool
tick(const struct sotto_watch *watch, size_t done, size_t total)
{
    return watch == NULL || watch->tick == NULL ||
           watch->tick(watch->context, "clustering", done, total);
}

/* Lloyd's steps until no row moves, or STEPS of them. */
static enum sotto_status
settle(struct work *work, double *weight, const struct sotto_watch *watch,
       struct sotto_error *err)
{
    double *sum = malloc((work->cells * work->d + 1) * sizeof *sum);
    uint32_t *before = malloc(work->n * sizeof *before);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (sum == NULL || before == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    assign(work);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (!tick(watch, step, STEPS)) {
            status = host_fail(err, SOTTO_STATUS_STOPPED, 0,
                               "stopped while clustering");
            goto done;
        }
        memcpy(before, work->cell, work->n * sizeof *before);
        move_centres(work, sum, weight);
        assign(work);
        if (memcmp(before, work->cell, work->n * sizeof *before) == 0) {
            break;
        }
    }
    memset(weight, 0, work->cells * sizeof *weight);
    for (size_t i = 0; i < work->n; i++) {
        weight[work->cell[i]]++;
    }
done:
    host_wipe_free(sum, work->cells * work->d * sizeof *sum);
    host_wipe_free(before, work->n * sizeof *before);
    return status;
}

/* Drops cells without rows, and measures the spread of the others. */
static void
tidy(struct clustering *clustering, const struct work *work)
{
    size_t d = work->d, kept = 0;
    double spread = 0;
    for (size_t i = 0; i < work->n; i++) {
        spread += squared(work->z + i * d, work->centre + work->cell[i] * d, d);
    }
    for (size_t c = 0; c < work->cells; c++) {
        if (clustering->weight[c] > 0) {
            clustering->weight[kept] = clustering->weight[c];
            memmove(clustering->centre + kept * d, clustering->centre + c * d,
                    d * sizeof *clustering->centre);
            kept++;
        }
    }
    clustering->cells = kept;
    clustering->spread = spread / (double)work->n;
}

/* ---- Ward's tree --------------------------------------------------------- */

struct merge {
    double cost;
    uint32_t a, b;
    uint32_t order; /* found as number: breaks ties */
};

struct tree {
    size_t cells, d;
    double *centre; /* of the group that the cell stands for */
    double *weight; /* 0: it stands for none any more */
    uint32_t *chain;
    struct merge *merge;
};

static double
cost_of(const struct tree *tree, size_t a, size_t b)
{
    double sum = 0, w = tree->weight[a], v = tree->weight[b];
    for (size_t i = 0; i < tree->d; i++) {
        double difference =
            tree->centre[a * tree->d + i] - tree->centre[b * tree->d + i];
        sum += difference * difference;
    }
    return sum * w * v / (w + v);
}

/* The group that is cheapest to merge with `a`; of equals `before`, where a
   chain came from, else the first. */
static size_t
neighbour(const struct tree *tree, size_t a, size_t before, double *ret_cost)
{
    size_t best = before;
    double least = before == SIZE_MAX ? INFINITY : cost_of(tree, a, before);
    for (size_t b = 0; b < tree->cells; b++) {
        if (b != a && b != before && tree->weight[b] > 0) {
            double cost = cost_of(tree, a, b);
            if (cost < least || best == SIZE_MAX) {
                least = cost;
                best = b;
            }
        }
    }
    *ret_cost = least;
    return best;
}

static void
join(struct tree *tree, size_t a, size_t b)
{
    double w = tree->weight[a], v = tree->weight[b];
    for (size_t i = 0; i < tree->d; i++) {
        double *to = &tree->centre[a * tree->d + i];
        *to = (w * *to + v * tree->centre[b * tree->d + i]) / (w + v);
    }
    tree->weight[a] = w + v;
    tree->weight[b] = 0;
}

static int
cheaper(const void *left, const void *right)
{
    const struct merge *a = left, *b = right;
    if (a->cost < b->cost || a->cost > b->cost) {
        return a->cost < b->cost ? -1 : 1;
    }
    return (a->order > b->order) - (a->order < b->order);
}

static void
grow_clustering(struct tree *tree)
{
    size_t length = 0, found = 0;
    while (found + 1 < tree->cells) {
        size_t last, before, next;
        double cost;
        if (length == 0) {
            size_t first = 0;
            while (!(tree->weight[first] > 0)) {
                first++;
            }
            tree->chain[length++] = (uint32_t)first;
        }
        last = tree->chain[length - 1];
        before = length > 1 ? tree->chain[length - 2] : SIZE_MAX;
        next = neighbour(tree, last, before, &cost);
        if (next != before) {
            tree->chain[length++] = (uint32_t)next;
            continue;
        }
        tree->merge[found] = (struct merge){cost, (uint32_t)before,
                                            (uint32_t)last, (uint32_t)found};
        found++;
        join(tree, before, last);
        length -= 2;
    }
    qsort(tree->merge, found, sizeof *tree->merge, cheaper);
}

static enum sotto_status
build_tree(struct clustering *clustering, struct sotto_error *err)
{
    size_t cells = clustering->cells, d = clustering->d;
    struct tree tree = {.cells = cells,
                        .d = d,
                        .centre = malloc(cells * d * sizeof(double)),
                        .weight = malloc(cells * sizeof(double)),
                        .chain = malloc(cells * sizeof(uint32_t)),
                        .merge = malloc(cells * sizeof(struct merge))};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (tree.centre == NULL || tree.weight == NULL || tree.chain == NULL ||
        tree.merge == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < cells * d; i++) {
        tree.centre[i] = (double)clustering->centre[i];
    }
    memcpy(tree.weight, clustering->weight, cells * sizeof *tree.weight);
    grow_clustering(&tree);
    for (size_t i = 0; i + 1 < cells; i++) {
        clustering->merged[2 * i] = tree.merge[i].a;
        clustering->merged[2 * i + 1] = tree.merge[i].b;
    }
done:
    host_wipe_free(tree.centre, cells * d * sizeof *tree.centre);
    free(tree.weight);
    free(tree.chain);
    free(tree.merge);
    return status;
}

/* ---- Interface ----------------------------------------------------------- */

static enum sotto_status
work_init(struct work *work, struct sotto_error *err)
{
    work->half = malloc(work->cells * sizeof *work->half);
    work->score = malloc(CHUNK * work->cells * sizeof *work->score);
    work->cell = malloc(work->n * sizeof *work->cell);
    work->near = malloc(work->n * sizeof *work->near);
    return work->half == NULL || work->score == NULL || work->cell == NULL ||
                   work->near == NULL
               ? host_fail_memory(err)
               : SOTTO_STATUS_OK;
}

enum sotto_status
clustering_init(struct clustering *clustering, struct host_pool *pool,
                struct tensor_backend *backend, const float *z, size_t n,
                size_t d, size_t cells, uint64_t seed,
                const struct sotto_watch *watch, struct sotto_error *err)
{
    struct work work = {.pool = pool,
                        .backend = backend,
                        .z = z,
                        .n = n,
                        .d = d,
                        .cells = cells};
    enum sotto_status status;
    *clustering =
        (struct clustering){.d = d, .asked = cells, .least = CLUSTERING_LEAST};
    if (n == 0 || n > UINT32_MAX || d == 0 || cells == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there is nothing to cluster");
    }
    clustering->centre = malloc(cells * d * sizeof *clustering->centre);
    clustering->weight = calloc(cells, sizeof *clustering->weight);
    clustering->merged = malloc(2 * cells * sizeof *clustering->merged);
    if (clustering->centre == NULL || clustering->weight == NULL ||
        clustering->merged == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    work.centre = clustering->centre;
    status = work_init(&work, err);
    if (status == SOTTO_STATUS_OK) {
        seed_centres(&work, seed);
        status = settle(&work, clustering->weight, watch, err);
    }
    if (status == SOTTO_STATUS_OK) {
        tidy(clustering, &work);
        status = build_tree(clustering, err);
    }
done:
    host_wipe_free(work.score, CHUNK * cells * sizeof *work.score);
    host_wipe_free(work.cell, n * sizeof *work.cell);
    host_wipe_free(work.near, n * sizeof *work.near);
    free(work.half);
    if (status != SOTTO_STATUS_OK) {
        clustering_clear(clustering);
    }
    return status;
}

void
clustering_clear(struct clustering *clustering)
{
    /* The centre of a cell of one record is that record. */
    host_wipe_free(clustering->centre, clustering->asked * clustering->d *
                                           sizeof *clustering->centre);
    if (clustering->site != NULL) {
        host_wipe_free(clustering->site, clustering->cells *
                                             clustering->site_d *
                                             sizeof *clustering->site);
    }
    free(clustering->weight);
    free(clustering->merged);
    *clustering = (struct clustering){0};
}

/* Sets `site` to the means of the rows of `from` in each cell. */
static void
set_sites(const uint32_t *cell, size_t n, const float *from, size_t width,
          size_t cells, double *sum, float *ret_site)
{
    double *count = sum + cells * width;
    for (size_t i = 0; i < n; i++) {
        count[cell[i]]++;
        for (size_t j = 0; j < width; j++) {
            sum[cell[i] * width + j] += (double)from[i * width + j];
        }
    }
    for (size_t c = 0; c < cells; c++) {
        for (size_t j = 0; j < width; j++) {
            ret_site[c * width + j] =
                (float)(sum[c * width + j] / fmax(count[c], 1));
        }
    }
}

enum sotto_status
clustering_place(struct clustering *clustering, struct host_pool *pool,
                 struct tensor_backend *backend, const float *z, size_t n,
                 const float *from, size_t width, struct sotto_error *err)
{
    size_t cells = clustering->cells;
    uint32_t *cell = malloc(n * sizeof *cell);
    double *sum = calloc(cells * width + cells, sizeof *sum);
    float *site = calloc(cells * width, sizeof *site);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (cell == NULL || sum == NULL || site == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = clustering_assign(clustering, pool, backend, z, n, cell, err);
    if (status == SOTTO_STATUS_OK) {
        set_sites(cell, n, from, width, cells, sum, site);
        clustering->site = site;
        clustering->site_d = width;
        site = NULL;
    }
done:
    free(site);
    host_wipe_free(cell, n * sizeof *cell);
    host_wipe_free(sum, (cells * width + cells) * sizeof *sum);
    return status;
}

enum sotto_status
clustering_assign(const struct clustering *clustering, struct host_pool *pool,
                  struct tensor_backend *backend, const float *z, size_t n,
                  uint32_t *ret_cell, struct sotto_error *err)
{
    struct work work = {.pool = pool,
                        .backend = backend,
                        .z = z,
                        .n = n,
                        .d = clustering->d,
                        .cells = clustering->cells,
                        .centre = clustering->centre};
    enum sotto_status status = work_init(&work, err);
    if (status == SOTTO_STATUS_OK) {
        assign(&work);
        memcpy(ret_cell, work.cell, n * sizeof *ret_cell);
    }
    host_wipe_free(work.cell, n * sizeof *work.cell);
    host_wipe_free(work.score, CHUNK * work.cells * sizeof *work.score);
    free(work.near);
    free(work.half);
    return status;
}
