/*
 * product.c: products on tiles, and the dense layer on them.
 *
 * A tile of c is one call of cblas_sgemm over all of k, and whatever follows
 * the product (bias, activation) is done on the tile while it is in cache. How
 * c is cut depends on its shape alone, so the threads that happen to take the
 * tiles change nothing.
 *
 *     forward    y  = x W^T     tiles of y: rows of the batch, columns of out
 *     backward   dW = dy^T x    tiles of dW; those at its left edge sum dbias
 *                dx = dy W      tiles of dx, in the same run
 */
#include <pthread.h>

#include <cblas.h>

#include "tensor/cpu/cpu.h"

#define TILE_ROWS 256u
#define TILE_COLUMNS 112u
#define SMALL_PRODUCT                                                          \
    ((size_t)1 << 19)                /* multiplications in a tile, at least */
#define UNIT 16u                     /* of rows and columns */
#define ELEMENTS_MIN ((size_t)16384) /* for a thread, one by one */

/* One product, as cblas_sgemm has it. */
struct product {
    bool transpose_a, transpose_b;
    size_t m, n, k;
    float alpha, beta;
    const float *a, *b;
    float *c;
};

struct tiling {
    size_t rows, columns; /* parts of c's */
};

struct tile {
    size_t row, column, rows, columns;
};

/* ---- Tiles -------------------------------------------------------------- */

static size_t
divide_up(size_t size, size_t by)
{
    return (size + by - 1) / by;
}

/* An even number of tiles if there are several: cores come in pairs. */
static struct tiling
tiling_of(const struct product *p)
{
    struct tiling tiling = {divide_up(p->m, TILE_ROWS),
                            divide_up(p->n, TILE_COLUMNS)};
    if (p->m * p->n * p->k <= SMALL_PRODUCT) {
        return (struct tiling){1, 1};
    }
    if (tiling.rows * tiling.columns % 2 != 0) {
        size_t *longer = p->m / tiling.rows > p->n / tiling.columns
                             ? &tiling.rows
                             : &tiling.columns;
        ++*longer;
    }
    return tiling;
}

static struct tile
tile_at(const struct product *p, struct tiling tiling, size_t i)
{
    size_t row = i / tiling.columns;
    size_t column = i % tiling.columns;
    struct tile tile = {cpu_part(p->m, UNIT, tiling.rows, row),
                        cpu_part(p->n, UNIT, tiling.columns, column), 0, 0};
    tile.rows = cpu_part(p->m, UNIT, tiling.rows, row + 1) - tile.row;
    tile.columns =
        cpu_part(p->n, UNIT, tiling.columns, column + 1) - tile.column;
    return tile;
}

/* Builds without threads share their buffers unlocked: one call at a time. */
static void
call_blas(const struct product *p, const struct tile *tile, size_t lda,
          size_t ldb)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    bool locked = openblas_get_parallel() != OPENBLAS_THREAD;
    size_t a = tile->row * (p->transpose_a ? 1 : lda);
    size_t b = tile->column * (p->transpose_b ? ldb : 1);
    if (locked) {
        (void)pthread_mutex_lock(&lock);
    }
    cblas_sgemm(CblasRowMajor, p->transpose_a ? CblasTrans : CblasNoTrans,
                p->transpose_b ? CblasTrans : CblasNoTrans, (blasint)tile->rows,
                (blasint)tile->columns, (blasint)p->k, p->alpha, p->a + a,
                (blasint)lda, p->b + b, (blasint)ldb, p->beta,
                p->c + tile->row * p->n + tile->column, (blasint)p->n);
    if (locked) {
        (void)pthread_mutex_unlock(&lock);
    }
}

static void
multiply_tile(const struct product *p, const struct tile *tile)
{
    size_t lda = p->transpose_a ? p->m : p->k;
    size_t ldb = p->transpose_b ? p->k : p->n;
    if (tile->rows > 0 && tile->columns > 0) {
        call_blas(p, tile, lda > 0 ? lda : 1, ldb > 0 ? ldb : 1);
    }
}

/* ---- Any product -------------------------------------------------------- */

struct multiply_job {
    struct product product;
    struct tiling tiling;
};

static void
multiply_task(void *context, size_t i, unsigned worker)
{
    const struct multiply_job *job = context;
    struct tile tile = tile_at(&job->product, job->tiling, i);
    (void)worker;
    multiply_tile(&job->product, &tile);
}

void
cpu_multiply(struct tensor_backend *self, bool transpose_a, bool transpose_b,
             size_t m, size_t n, size_t k, float alpha, const float *a,
             const float *b, float beta, float *c)
{
    struct multiply_job job = {
        {transpose_a, transpose_b, m, n, k, alpha, beta, a, b, c}, {0, 0}};
    job.tiling = tiling_of(&job.product);
    cpu_run(self, job.tiling.rows * job.tiling.columns, multiply_task, &job);
}

/* ---- The dense layer ---------------------------------------------------- */

struct dense_job {
    struct product product;
    struct tiling tiling;
    const float *bias;
    enum tensor_activation activation;
};

static void
dense_task(void *context, size_t i, unsigned worker)
{
    const struct dense_job *job = context;
    struct tile tile = tile_at(&job->product, job->tiling, i);
    float *c = job->product.c + tile.row * job->product.n + tile.column;
    (void)worker;
    multiply_tile(&job->product, &tile);
    cpu_activate(tile.rows, tile.columns, job->product.n,
                 job->bias == NULL ? NULL : job->bias + tile.column,
                 job->activation, c);
}

void
cpu_dense(struct tensor_backend *self, size_t n, size_t in, size_t out,
          const float *x, const float *weight, const float *bias,
          enum tensor_activation activation, float *y)
{
    struct dense_job job = {{false, true, n, out, in, 1, 0, x, weight, y},
                            {0, 0},
                            bias,
                            activation};
    job.tiling = tiling_of(&job.product);
    cpu_run(self, job.tiling.rows * job.tiling.columns, dense_task, &job);
}

/* ---- Its gradients ------------------------------------------------------ */

struct back_job {
    struct product dweight, dx;
    struct tiling dweight_tiling, dx_tiling;
    float *dbias;
};

static void
back_task(void *context, size_t i, unsigned worker)
{
    const struct back_job *job = context;
    size_t first = job->dweight_tiling.rows * job->dweight_tiling.columns;
    const struct product *p = &job->dweight;
    (void)worker;
    if (i >= first) {
        struct tile tile = tile_at(&job->dx, job->dx_tiling, i - first);
        multiply_tile(&job->dx, &tile);
        return;
    }
    struct tile tile = tile_at(p, job->dweight_tiling, i);
    multiply_tile(p, &tile);
    if (job->dbias != NULL && tile.column == 0 && tile.columns > 0) {
        cpu_column_sums(p->k, tile.rows, p->m, p->a + tile.row,
                        job->dbias + tile.row);
    }
}

struct activation_job {
    size_t size, parts;
    enum tensor_activation activation;
    const float *y;
    float *dy;
};

static void
activation_task(void *context, size_t i, unsigned worker)
{
    const struct activation_job *job = context;
    size_t begin = cpu_part(job->size, CPU_LANES, job->parts, i);
    size_t end = cpu_part(job->size, CPU_LANES, job->parts, i + 1);
    (void)worker;
    cpu_activation_back(end - begin, job->activation, job->y + begin,
                        job->dy + begin);
}

void
cpu_dense_back(struct tensor_backend *self, size_t n, size_t in, size_t out,
               const float *x, const float *weight, const float *y,
               enum tensor_activation activation, float *dy, float *dweight,
               float *dbias, float *dx)
{
    struct back_job job = {
        .dweight = {true, false, out, in, n, 1, 0, dy, x, dweight},
        .dx = {false, false, n, in, out, 1, 0, dy, weight, dx},
        .dbias = dbias};
    struct activation_job slopes = {n * out, cpu_parts(n * out, ELEMENTS_MIN),
                                    activation, y, dy};
    if (activation != TENSOR_ACTIVATION_NONE) {
        cpu_run(self, slopes.parts, activation_task, &slopes);
    }
    job.dweight_tiling = tiling_of(&job.dweight);
    if (dx != NULL) {
        job.dx_tiling = tiling_of(&job.dx);
    }
    cpu_run(self,
            job.dweight_tiling.rows * job.dweight_tiling.columns +
                job.dx_tiling.rows * job.dx_tiling.columns,
            back_task, &job);
}
