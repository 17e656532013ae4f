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
#include "tensor/cpu/tiling.h"

#define ELEMENTS_MIN ((size_t)16384) /* for a thread, one by one */

/* One product, as cblas_sgemm has it, and its tiles. */
struct product {
    struct tiling_shape shape;
    float alpha, beta;
    const float *a, *b;
    float *c;
    struct tiling tiling;
    size_t tiles;
};

/* ---- Tiles -------------------------------------------------------------- */

static void
plan_tiles(struct tensor_backend *self, struct product *p)
{
    const struct cpu_backend *cpu = (const struct cpu_backend *)self;
    p->tiling = tiling_choose(&p->shape, cpu->direct);
    p->tiles = p->tiling.rows * p->tiling.columns;
}

/* Builds without threads share their buffers unlocked: one call at a time. */
static void
call_blas(const struct product *p, const struct tile *tile, size_t lda,
          size_t ldb)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    bool locked = openblas_get_parallel() != OPENBLAS_THREAD;
    const struct tiling_shape *shape = &p->shape;
    size_t a = tile->row * (shape->transpose_a ? 1 : lda);
    size_t b = tile->column * (shape->transpose_b ? ldb : 1);
    if (locked) {
        (void)pthread_mutex_lock(&lock);
    }
    cblas_sgemm(CblasRowMajor, shape->transpose_a ? CblasTrans : CblasNoTrans,
                shape->transpose_b ? CblasTrans : CblasNoTrans,
                (blasint)tile->rows, (blasint)tile->columns, (blasint)shape->k,
                p->alpha, p->a + a, (blasint)lda, p->b + b, (blasint)ldb,
                p->beta, p->c + tile->row * shape->n + tile->column,
                (blasint)shape->n);
    if (locked) {
        (void)pthread_mutex_unlock(&lock);
    }
}

static void
multiply_tile(const struct product *p, const struct tile *tile)
{
    size_t lda = p->shape.transpose_a ? p->shape.m : p->shape.k;
    size_t ldb = p->shape.transpose_b ? p->shape.k : p->shape.n;
    if (tile->rows > 0 && tile->columns > 0) {
        call_blas(p, tile, lda > 0 ? lda : 1, ldb > 0 ? ldb : 1);
    }
}

/* ---- Any product -------------------------------------------------------- */

static void
multiply_task(void *context, size_t i, unsigned worker)
{
    const struct product *p = context;
    struct tile tile = tiling_tile(&p->shape, p->tiling, i);
    (void)worker;
    multiply_tile(p, &tile);
}

void
cpu_multiply(struct tensor_backend *self, bool transpose_a, bool transpose_b,
             size_t m, size_t n, size_t k, float alpha, const float *a,
             const float *b, float beta, float *c)
{
    struct product p = {.shape = {transpose_a, transpose_b, m, n, k},
                        .alpha = alpha,
                        .beta = beta,
                        .a = a,
                        .b = b};
    p.c = c;
    plan_tiles(self, &p);
    cpu_run(self, p.tiles, multiply_task, &p);
}

/* ---- The dense layer ---------------------------------------------------- */

struct dense_job {
    struct product y;
    const float *bias;
    enum activation activation;
};

static void
dense_task(void *context, size_t i, unsigned worker)
{
    const struct dense_job *job = context;
    size_t out = job->y.shape.n;
    struct tile tile = tiling_tile(&job->y.shape, job->y.tiling, i);
    (void)worker;
    multiply_tile(&job->y, &tile);
    cpu_activate(tile.rows, tile.columns, out,
                 job->bias == NULL ? NULL : job->bias + tile.column,
                 job->activation, job->y.c + tile.row * out + tile.column);
}

void
cpu_dense(struct tensor_backend *self, size_t n, size_t in, size_t out,
          const float *x, const float *weight, const float *bias,
          enum activation activation, float *y)
{
    struct dense_job job = {.y = {.shape = {false, true, n, out, in},
                                  .alpha = 1,
                                  .a = x,
                                  .b = weight},
                            .bias = bias,
                            .activation = activation};
    job.y.c = y;
    plan_tiles(self, &job.y);
    cpu_run(self, job.y.tiles, dense_task, &job);
}

/* ---- Its gradients ------------------------------------------------------ */

struct back_job {
    struct product dweight, dx;
    float *dbias;
};

static void
back_task(void *context, size_t i, unsigned worker)
{
    const struct back_job *job = context;
    const struct product *p = &job->dweight;
    (void)worker;
    if (i >= p->tiles) {
        struct tile tile =
            tiling_tile(&job->dx.shape, job->dx.tiling, i - p->tiles);
        multiply_tile(&job->dx, &tile);
        return;
    }
    struct tile tile = tiling_tile(&p->shape, p->tiling, i);
    multiply_tile(p, &tile);
    if (job->dbias != NULL && tile.column == 0 && tile.columns > 0) {
        cpu_column_sums(p->shape.k, tile.rows, p->shape.m, p->a + tile.row,
                        job->dbias + tile.row);
    }
}

void
cpu_dense_back(struct tensor_backend *self, size_t n, size_t in, size_t out,
               const float *x, const float *weight, const float *y,
               enum activation activation, float *dy, float *dweight,
               float *dbias, float *dx)
{
    struct back_job job = {.dweight = {.shape = {true, false, out, in, n},
                                       .alpha = 1,
                                       .a = dy,
                                       .b = x},
                           .dx = {.shape = {false, false, n, in, out},
                                  .alpha = 1,
                                  .a = dy,
                                  .b = weight}};
    job.dweight.c = dweight;
    job.dx.c = dx;
    job.dbias = dbias;
    cpu_run_activation_back(self, n * out, ELEMENTS_MIN, activation, y, dy);
    plan_tiles(self, &job.dweight);
    if (dx != NULL) {
        plan_tiles(self, &job.dx);
    }
    cpu_run(self, job.dweight.tiles + job.dx.tiles, back_task, &job);
}
