/*
 * diffusion.c: the slowest directions of a walk among neighbours.
 *
 *     A    a_ij = 1/2 for each of: j is a neighbour of i, i is one of j
 *     D    the diagonal of A's row sums
 *     S    D^-1/2 A D^-1/2, whose eigenvalues l_1 >= l_2 >= ... are at most 1
 *
 * The walk goes from i to j with probability a_ij / d_i; its right eigenvectors
 * are D^-1/2 v_m, v_m those of S. The first, l = 1, is the constant, and says
 * nothing. Coordinates of row i are
 *
 *     y_im = l_m^STEPS (D^-1/2 v_m)_i,    columns of mean square 1 before l,
 *
 * for the next WIDTH m, 0 where l is. Distances of y are nearly those of where
 * walks of STEPS steps end: directions count alike whatever part of the rows
 * they are about, and the fastest are left out.
 *
 * The v_m are found by orthogonal iteration with (S + 1) / 2, which has no
 * negative eigenvalues, on a few columns more than wanted, each round of
 * PRODUCTS products brought to length 1 and at right angles to each other and
 * to D^1/2 1, which is v_1; then by the eigenvectors of S within their span.
 * Where the graph falls into parts, l = 1 has several vectors: v_1 is known,
 * so the others are found, up to as many as there are columns. The last
 * coordinates may be mixtures with the next ones, which differ by the seed.
 */
#include "encoder/diffusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/neighbours.h"
#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"
#include "random/draw.h"
#include "random/seeded.h"
#include "tensor/symmetric.h"

#define NEIGHBOURS ((size_t)30)
#define WIDTH ((size_t)32)
#define ROWS_EACH ((size_t)20) /* to a neighbour, and to a coordinate */
#define MORE ((size_t)8)       /* columns that are iterated, too */
#define COLUMNS_MOST (WIDTH + MORE)
#define STEPS 30.0
#define ROUNDS 20u
#define PRODUCTS 5u /* of a round */
#define TASK ((size_t)512)
#define TINY 1e-20                          /* squared length that is none */
#define STREAM (UINT64_C(0x64696666) << 32) /* of the seed */

struct walk {
    struct host_pool *pool;
    size_t n, k, columns, tasks;
    uint32_t *near;     /* n rows of k */
    uint32_t *from;     /* those whose neighbour a row is, row by row */
    size_t *start;      /* of each row's, and the end */
    float *scale;       /* d_i^-1/2 */
    double *known;      /* v_1 */
    float *q, *next;    /* n rows of `columns` */
    bool lazy;          /* whether half of every step stays */
    const float *other; /* what q is multiplied with */
    double *part;       /* what a task adds up */
    double *sum;        /* of all tasks, in their order */
    double *factor;     /* what columns are made right-angled by */
};

/* ---- The graph ----------------------------------------------------------- */

/* Turns neighbours round: who has row i among them. */
static void
turn_round(struct walk *walk)
{
    size_t n = walk->n, k = walk->k, *start = walk->start;
    memset(start, 0, (n + 1) * sizeof *start);
    for (size_t i = 0; i < n * k; i++) {
        start[walk->near[i] + 1]++;
    }
    for (size_t i = 0; i < n; i++) {
        walk->scale[i] = (float)(1 / sqrt((double)(k + start[i + 1]) / 2));
    }
    for (size_t i = 0; i < n; i++) {
        start[i + 1] += start[i];
    }
    for (size_t i = n * k; i-- > 0;) {
        walk->from[--start[walk->near[i] + 1]] = (uint32_t)(i / k);
    }
    /* Each start[i + 1] went down to where row i begins. */
    memmove(start, start + 1, n * sizeof *start);
    start[n] = n * k;
}

static void
set_known(struct walk *walk)
{
    double sum = 0;
    for (size_t i = 0; i < walk->n; i++) {
        double scale = (double)walk->scale[i];
        walk->known[i] = 1 / scale;
        sum += 1 / (scale * scale);
    }
    for (size_t i = 0; i < walk->n; i++) {
        walk->known[i] /= sqrt(sum);
    }
}

/* ---- Products ------------------------------------------------------------ */

static void
add_rows(const struct walk *walk, const uint32_t *row, size_t count, float *to)
{
    size_t columns = walk->columns;
    for (size_t i = 0; i < count; i++) {
        const float *q = walk->q + row[i] * columns;
        float scale = walk->scale[row[i]];
        for (size_t c = 0; c < columns; c++) {
            to[c] += scale * q[c];
        }
    }
}

/* next = S q, or (S q + q) / 2 where the walk is lazy. */
static void
walk_task(void *context, size_t index, unsigned worker)
{
    const struct walk *walk = context;
    size_t columns = walk->columns, k = walk->k;
    (void)worker;
    for (size_t i = index * TASK; i < walk->n && i < (index + 1) * TASK; i++) {
        float to[COLUMNS_MOST] = {0};
        size_t first = walk->start[i];
        add_rows(walk, walk->near + i * k, k, to);
        add_rows(walk, walk->from + first, walk->start[i + 1] - first, to);
        for (size_t c = 0; c < columns; c++) {
            float own = walk->scale[i] * to[c] / 2;
            walk->next[i * columns + c] =
                walk->lazy ? (own + walk->q[i * columns + c]) / 2 : own;
        }
    }
}

static void
step_walk(struct walk *walk)
{
    float *old = walk->q;
    walk->lazy = true;
    host_pool_run(walk->pool, walk->tasks, walk_task, walk);
    walk->q = walk->next;
    walk->next = old;
}

/* ---- Right angles -------------------------------------------------------- */

/* A task's share of other'q, its lower triangle, and of q'v_1. */
static void
gram_task(void *context, size_t index, unsigned worker)
{
    const struct walk *walk = context;
    size_t columns = walk->columns, square = columns * columns;
    double *gram = walk->part + index * (square + columns);
    double *known = gram + square;
    (void)worker;
    memset(gram, 0, (square + columns) * sizeof *gram);
    for (size_t i = index * TASK; i < walk->n && i < (index + 1) * TASK; i++) {
        const float *q = walk->q + i * columns;
        const float *other = walk->other + i * columns;
        for (size_t a = 0; a < columns; a++) {
            double at = (double)other[a];
            for (size_t b = 0; b <= a; b++) {
                gram[a * columns + b] += at * (double)q[b];
            }
            known[a] += (double)q[a] * walk->known[i];
        }
    }
}

/* Sets `sum` to other'q and q'v_1. */
static void
add_gram(struct walk *walk, const float *other)
{
    size_t columns = walk->columns, size = columns * columns + columns;
    walk->other = other;
    host_pool_run(walk->pool, walk->tasks, gram_task, walk);
    memset(walk->sum, 0, size * sizeof *walk->sum);
    for (size_t task = 0; task < walk->tasks; task++) {
        for (size_t i = 0; i < size; i++) {
            walk->sum[i] += walk->part[task * size + i];
        }
    }
}

/* The lower triangle F with F F' = G, G of q less its part along v_1. A column
   that the others span gets a diagonal of 0. */
static void
factor_gram(struct walk *walk)
{
    size_t columns = walk->columns;
    const double *gram = walk->sum, *known = gram + columns * columns;
    double *f = walk->factor;
    memset(f, 0, columns * columns * sizeof *f);
    for (size_t a = 0; a < columns; a++) {
        for (size_t b = 0; b <= a; b++) {
            double sum = gram[a * columns + b] - known[a] * known[b];
            for (size_t c = 0; c < b; c++) {
                sum -= f[a * columns + c] * f[b * columns + c];
            }
            if (a == b) {
                f[a * columns + a] = sum > TINY ? sqrt(sum) : 0;
            } else if (f[b * columns + b] > 0) {
                f[a * columns + b] = sum / f[b * columns + b];
            }
        }
    }
}

/* q = (q - v_1 v_1'q) F'^-1, row by row. */
static void
angle_task(void *context, size_t index, unsigned worker)
{
    const struct walk *walk = context;
    size_t columns = walk->columns;
    const double *known = walk->sum + columns * columns;
    const double *f = walk->factor;
    (void)worker;
    for (size_t i = index * TASK; i < walk->n && i < (index + 1) * TASK; i++) {
        float *q = walk->q + i * columns;
        double row[COLUMNS_MOST];
        for (size_t a = 0; a < columns; a++) {
            row[a] = (double)q[a] - walk->known[i] * known[a];
            for (size_t b = 0; b < a; b++) {
                row[a] -= f[a * columns + b] * row[b];
            }
            row[a] = f[a * columns + a] > 0 ? row[a] / f[a * columns + a] : 0;
            q[a] = (float)row[a];
        }
    }
}

static void
set_right_angles(struct walk *walk)
{
    add_gram(walk, walk->q);
    factor_gram(walk);
    host_pool_run(walk->pool, walk->tasks, angle_task, walk);
}

/* ---- The result ---------------------------------------------------------- */

static void
start_walk(struct walk *walk, uint64_t seed)
{
    struct seeded seeded;
    seeded_init(&seeded, seed, STREAM);
    for (size_t i = 0; i < walk->n * walk->columns; i++) {
        walk->q[i] =
            (float)((double)random_u32(&seeded.random) / 2147483648.0 - 1);
    }
    set_right_angles(walk);
}

/* Eigenvectors of S within the columns: rows of walk->factor. */
static enum sotto_status
find_vectors(struct walk *walk, double *ret_values, struct sotto_error *err)
{
    size_t columns = walk->columns;
    walk->lazy = false;
    host_pool_run(walk->pool, walk->tasks, walk_task, walk);
    add_gram(walk, walk->next);
    memcpy(walk->factor, walk->sum, columns * columns * sizeof *walk->factor);
    return tensor_symmetric(columns, walk->factor, ret_values, err);
}

static void
set_coordinates(const struct walk *walk, const double *values, size_t width,
                float *ret_y)
{
    size_t columns = walk->columns;
    for (size_t m = 0; m < width; m++) {
        const double *vector = walk->factor + m * columns;
        double square = 0, by;
        for (size_t i = 0; i < walk->n; i++) {
            double sum = 0;
            for (size_t c = 0; c < columns; c++) {
                sum += vector[c] * (double)walk->q[i * columns + c];
            }
            sum *= (double)walk->scale[i];
            square += sum * sum;
            ret_y[i * width + m] = (float)sum;
        }
        by = values[m] > 0 && square > 0
                 ? pow(values[m], STEPS) / sqrt(square / (double)walk->n)
                 : 0;
        for (size_t i = 0; i < walk->n; i++) {
            ret_y[i * width + m] = (float)(by * (double)ret_y[i * width + m]);
        }
    }
}

/* ---- Interface ----------------------------------------------------------- */

static size_t
limit_count(size_t n, size_t most)
{
    return n / ROWS_EACH < most ? n / ROWS_EACH : most;
}

size_t
diffusion_width(size_t n)
{
    return limit_count(n, WIDTH);
}

static enum sotto_status
walk_init(struct walk *walk, struct sotto_error *err)
{
    size_t n = walk->n, columns = walk->columns, square = columns * columns;
    walk->near = malloc(n * walk->k * sizeof *walk->near);
    walk->from = malloc(n * walk->k * sizeof *walk->from);
    walk->start = malloc((n + 1) * sizeof *walk->start);
    walk->scale = malloc(n * sizeof *walk->scale);
    walk->known = malloc(n * sizeof *walk->known);
    walk->q = calloc(n, columns * sizeof *walk->q);
    walk->next = calloc(n, columns * sizeof *walk->next);
    walk->part = malloc(walk->tasks * (square + columns) * sizeof *walk->part);
    walk->sum = malloc((square + columns) * sizeof *walk->sum);
    walk->factor = malloc(square * sizeof *walk->factor);
    return walk->near == NULL || walk->from == NULL || walk->start == NULL ||
                   walk->scale == NULL || walk->known == NULL ||
                   walk->q == NULL || walk->next == NULL ||
                   walk->part == NULL || walk->sum == NULL ||
                   walk->factor == NULL
               ? host_fail_memory(err)
               : SOTTO_STATUS_OK;
}

/* Who is near whom tells of single records. */
static void
walk_clear(struct walk *walk)
{
    size_t n = walk->n, columns = walk->columns;
    host_wipe_free(walk->near, n * walk->k * sizeof *walk->near);
    host_wipe_free(walk->from, n * walk->k * sizeof *walk->from);
    host_wipe_free(walk->q, n * columns * sizeof *walk->q);
    host_wipe_free(walk->next, n * columns * sizeof *walk->next);
    host_wipe_free(walk->start, (n + 1) * sizeof *walk->start);
    host_wipe_free(walk->scale, n * sizeof *walk->scale);
    host_wipe_free(walk->known, n * sizeof *walk->known);
    free(walk->part);
    free(walk->sum);
    free(walk->factor);
}

static enum sotto_status
follow_walks(struct walk *walk, const struct sotto_watch *watch,
             struct sotto_error *err)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (watch != NULL && watch->tick != NULL &&
            !watch->tick(watch->context, "walks", round, ROUNDS)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                             "stopped while walking among neighbours");
        }
        for (uint32_t i = 0; i < PRODUCTS; i++) {
            step_walk(walk);
        }
        set_right_angles(walk);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
diffusion_embed(struct host_pool *pool, struct tensor_backend *backend,
                const float *x, size_t n, size_t d, uint64_t seed,
                const struct sotto_watch *watch, float *ret_y,
                struct sotto_error *err)
{
    size_t width = diffusion_width(n);
    struct walk walk = {.pool = pool,
                        .n = n,
                        .k = limit_count(n, NEIGHBOURS),
                        .columns = width + MORE,
                        .tasks = (n + TASK - 1) / TASK};
    double values[COLUMNS_MOST];
    enum sotto_status status;
    if (n < DIFFUSION_ROWS_LEAST || n > DIFFUSION_ROWS_MOST) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a walk needs %zu to %zu rows, and there are %zu",
                         DIFFUSION_ROWS_LEAST, DIFFUSION_ROWS_MOST, n);
    }
    status = walk_init(&walk, err);
    status = HOST_THEN(status, neighbours_find(pool, backend, x, n, d, walk.k,
                                               watch, walk.near, err));
    if (status == SOTTO_STATUS_OK) {
        turn_round(&walk);
        set_known(&walk);
        start_walk(&walk, seed);
        status = follow_walks(&walk, watch, err);
    }
    status = HOST_THEN(status, find_vectors(&walk, values, err));
    if (status == SOTTO_STATUS_OK) {
        set_coordinates(&walk, values, width, ret_y);
    }
    walk_clear(&walk);
    return status;
}
