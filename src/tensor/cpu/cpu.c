/*
 * cpu.c: the back-end on OpenBLAS.
 */
#include <math.h>
#include <stdlib.h>

#include <cblas.h>

#include "host/error.h"
#include "host/pool.h"
#include "tensor/tensor.h"

struct cpu {
    struct tensor_backend base;
    struct tensor_ops ops;
};

static void
multiply(struct tensor_backend *self, bool transpose_a, bool transpose_b,
         size_t m, size_t n, size_t k, float alpha, const float *a,
         const float *b, float beta, float *c)
{
    (void)self;
    if (m == 0 || n == 0) {
        return;
    }
    size_t lda = transpose_a ? m : k;
    size_t ldb = transpose_b ? k : n;
    cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
                transpose_b ? CblasTrans : CblasNoTrans, (blasint)m, (blasint)n,
                (blasint)k, alpha, a, (blasint)(lda == 0 ? 1 : lda), b,
                (blasint)(ldb == 0 ? 1 : ldb), beta, c, (blasint)n);
}

static float
activate(enum tensor_activation activation, float a)
{
    switch (activation) {
    case TENSOR_ACTIVATION_RELU:
        return a > 0 ? a : 0;
    case TENSOR_ACTIVATION_SIGMOID:
        return 1 / (1 + expf(-a));
    case TENSOR_ACTIVATION_TANH:
        return tanhf(a);
    case TENSOR_ACTIVATION_NONE:
    default:
        return a;
    }
}

static void
dense(struct tensor_backend *self, size_t n, size_t in, size_t out,
      const float *x, const float *weight, const float *bias,
      enum tensor_activation activation, float *y)
{
    multiply(self, false, true, n, out, in, 1, x, weight, 0, y);
    for (size_t r = 0; r < n; r++) {
        for (size_t j = 0; j < out; j++) {
            float a = y[r * out + j] + (bias == NULL ? 0 : bias[j]);
            y[r * out + j] = activate(activation, a);
        }
    }
}

static void
activation_back(size_t size, enum tensor_activation activation, const float *y,
                float *dy)
{
    for (size_t i = 0; i < size; i++) {
        switch (activation) {
        case TENSOR_ACTIVATION_RELU:
            dy[i] = y[i] > 0 ? dy[i] : 0;
            break;
        case TENSOR_ACTIVATION_SIGMOID:
            dy[i] *= y[i] * (1 - y[i]);
            break;
        case TENSOR_ACTIVATION_TANH:
            dy[i] *= 1 - y[i] * y[i];
            break;
        case TENSOR_ACTIVATION_NONE:
        default:
            break;
        }
    }
}

static void
dense_back(struct tensor_backend *self, size_t n, size_t in, size_t out,
           const float *x, const float *weight, const float *y,
           enum tensor_activation activation, float *dy, float *dweight,
           float *dbias, float *dx)
{
    activation_back(n * out, activation, y, dy);
    multiply(self, true, false, out, in, n, 1, dy, x, 0, dweight);
    for (size_t j = 0; dbias != NULL && j < out; j++) {
        dbias[j] = 0;
    }
    for (size_t r = 0; dbias != NULL && r < n; r++) {
        for (size_t j = 0; j < out; j++) {
            dbias[j] += dy[r * out + j];
        }
    }
    if (dx != NULL) {
        multiply(self, false, false, n, in, out, 1, dy, weight, 0, dx);
    }
}

static void
free_cpu(struct tensor_backend *self)
{
    host_pool_free(self->pool);
    free(self);
}

enum sotto_status
tensor_cpu_new(unsigned threads, struct tensor_backend **ret,
               struct sotto_error *err)
{
    struct tensor_backend *plain = NULL;
    struct cpu *cpu = calloc(1, sizeof *cpu);
    enum sotto_status status =
        cpu == NULL ? host_fail_memory(err) : tensor_plain_new(&plain, err);
    if (status == SOTTO_STATUS_OK) {
        status = host_pool_new(threads, &cpu->base.pool, err);
    }
    if (status == SOTTO_STATUS_OK) {
        openblas_set_num_threads(1);
        cpu->ops = *plain->ops;
        cpu->ops.name = "cpu";
        cpu->ops.multiply = multiply;
        cpu->ops.dense = dense;
        cpu->ops.dense_back = dense_back;
        cpu->ops.free = free_cpu;
        cpu->base.ops = &cpu->ops;
        *ret = &cpu->base;
        cpu = NULL;
    }
    tensor_backend_free(plain);
    free(cpu);
    return status;
}
