/*
 * cpu.h: what the files of the cpu back-end share.
 *
 * Work is cut into parts by shapes alone: cpu_parts says how many, cpu_part
 * where each begins. Vector kernels are plain loops, compiled twice.
 */
#ifndef SOTTO_TENSOR_CPU_CPU_H
#define SOTTO_TENSOR_CPU_CPU_H

#include "host/kernels.h"
#include "host/pool.h"
#include "tensor/tensor.h"

#define CPU_PARTS_MAX 64u
#define CPU_LANES 16u /* floats in a cache line */

struct primitive_store;

struct cpu_backend {
    struct tensor_backend base;
    struct host_pool *pool;             /* the caller's; NULL: one thread */
    bool direct;                        /* see tiling.h */
    struct primitive_store *primitives; /* see primitive.h; NULL at first */
};

/* Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status cpu_new(struct host_pool *pool,
                                        struct tensor_backend **ret,
                                        struct sotto_error *err);

#define CPU_BODY static inline __attribute__((always_inline)) void

/*
 * Begins the body of a kernel NAME(parameters) of this file, which is compiled
 * as it is, and once more for processors with AVX2; calls of NAME choose at run
 * time (host/kernels.h). CPU_KERNEL_SHARED does so for a kernel that a header
 * declares.
 */
#define CPU_KERNEL(name, parameters, arguments)                                \
    static void name parameters;                                               \
    CPU_KERNEL_SHARED(name, parameters, arguments)
#define CPU_KERNEL_SHARED(name, parameters, arguments)                         \
    CPU_BODY name##_body parameters;                                           \
    FOR_avx2 static void name##_avx2 parameters                                \
    {                                                                          \
        name##_body arguments;                                                 \
    }                                                                          \
    static void name##_base parameters                                         \
    {                                                                          \
        name##_body arguments;                                                 \
    }                                                                          \
    void name parameters                                                       \
    {                                                                          \
        if (HOST_HAS_AVX2) {                                                   \
            name##_avx2 arguments;                                             \
        } else {                                                               \
            name##_base arguments;                                             \
        }                                                                      \
    }                                                                          \
    CPU_BODY name##_body parameters

/* The same for a kernel that cpu_run_spans calls. */
#define CPU_SPAN(name)                                                         \
    CPU_KERNEL(name, (void *context, size_t i, size_t begin, size_t end),      \
               (context, i, begin, end))

/* In how many parts of at least `least` to cut `size`: 1 to CPU_PARTS_MAX. */
static inline size_t
cpu_parts(size_t size, size_t least)
{
    size_t parts = size / least;
    return parts < 1 ? 1 : parts > CPU_PARTS_MAX ? CPU_PARTS_MAX : parts;
}

/* Where part i of `parts` of `size` begins: at a multiple of `unit`, or at the
   end. */
static inline size_t
cpu_part(size_t size, size_t unit, size_t parts, size_t i)
{
    size_t units = (size + unit - 1) / unit;
    size_t at = units * i / parts * unit;
    return at < size ? at : size;
}

/*
 * host_pool_run on the back-end's pool, with numbers too small to be normal
 * taken for 0: a moment that decays towards 0, or the tail of a sigmoid, would
 * otherwise cost hundreds of cycles where it counts for nothing.
 */
void cpu_run(struct tensor_backend *self, size_t tasks,
             void (*task)(void *context, size_t i, unsigned worker),
             void *context);

/* Calls `span` for each part i of `size`, cut into parts of at least `least`:
   from `begin` to `end`, multiples of `unit` but for the last. Runs them as
   cpu_run does. */
void cpu_run_spans(struct tensor_backend *self, size_t size, size_t unit,
                   size_t least,
                   void (*span)(void *context, size_t i, size_t begin,
                                size_t end),
                   void *context);

/* ---- activation.c: kernels on tiles ------------------------------------- */

/* Adds the bias (unless NULL) to n rows of `width`, `stride` apart, and applies
   the activation. */
void cpu_activate(size_t n, size_t width, size_t stride, const float *bias,
                  enum activation activation, float *y);
/* dy times the activation's derivative, by its value. */
void cpu_activation_back(size_t size, enum activation activation,
                         const float *y, float *dy);
/* The same for all of a batch, in parts of at least `least`. */
void cpu_run_activation_back(struct tensor_backend *self, size_t size,
                             size_t least, enum activation activation,
                             const float *y, float *dy);
/* Sums of columns, each in the order of the rows, in double precision. */
void cpu_column_sums(size_t n, size_t width, size_t stride, const float *x,
                     float *sums);

/* ---- The operations ----------------------------------------------------- */

/* product.c, convolution.c, pooling.c, batch_norm.c, likelihood.c, rowwise.c
   and descent.c have them. */
#define CPU_OP(op) tensor_##op##_op cpu_##op;
TENSOR_OPS(CPU_OP)
#undef CPU_OP

/* What cpu_norm or cpu_norm_back is asked for. */
struct norm_job {
    size_t n, width, parts;
    bool training;
    double momentum;
    enum activation activation;
    const float *x, *gain, *shift, *y;
    const float *centre, *factor; /* the columns' means and 1 / deviation */
    float *running_mean, *running_variance;
    float *mean, *inverse; /* where centre and factor are set, forward */
    float *out;            /* y forward, dx back */
    float *dy, *dgain, *dshift;
    double *sums; /* channel_norm.c's */
    void (*block)(const struct norm_job *job, size_t i, size_t n, size_t at);
};

/* Sets mean and inverse of column j, and the running moments, by the mean and
   the sum of squared distances of the batch; by the past unless training. */
void cpu_norm_moments(const struct norm_job *job, size_t j, double mean,
                      double squares);

/* channel_norm.c: the job where cpu_channels says that there are very many rows
   for the columns. False, and nothing is done, if there is no memory. */
bool cpu_channels(size_t n, size_t width);
bool cpu_channel_norm(struct tensor_backend *self, struct norm_job job);
bool cpu_channel_norm_back(struct tensor_backend *self, struct norm_job job);

#endif
