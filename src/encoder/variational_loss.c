/*
 * variational_loss.c: the terms of the variational objective.
 */
#include <math.h>
#include <string.h>

#include "encoder/variational.h"

#define PRIOR_SCALE 0.70710678118654752440 /* s = 1/sqrt 2: variance 1 */

/*
 * With a = |mu|:
 *
 *     KL       = ln(s/b) + a/s + (b/s) e^(-a/b) - 1
 *     dKL/dmu  = sign(mu) (1 - e^(-a/b)) / s
 *     dKL/db   = -1/b + (1/s) e^(-a/b) (1 + a/b)
 */
struct variational_kl
variational_kl(double mu, double b)
{
    const double s = PRIOR_SCALE;
    double a = fabs(mu);
    double decay = exp(-a / b);
    return (struct variational_kl){
        .value = log(s / b) + a / s + b / s * decay - 1,
        .dmu = copysign((1 - decay) / s, mu),
        .db = -1 / b + decay * (1 + a / b) / s,
    };
}

/*
 * KL = (mu^2 + b^2 - 1) / 2 - ln b, and so dKL/dmu = mu, dKL/db = b - 1/b.
 */
struct variational_kl
variational_kl_normal(double mu, double b)
{
    return (struct variational_kl){.value = (mu * mu + b * b - 1) / 2 - log(b),
                                   .dmu = mu,
                                   .db = b - 1 / b};
}

/* Columns [from, from + count) of n rows of width, to a matrix of their own and
   back. */
static void
take_variational_loss(const float *all, size_t n, size_t width, size_t from,
                      size_t count, float *ret)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(ret + i * count, all + i * width + from, count * sizeof *ret);
    }
}

static void
put(const float *own, size_t n, size_t width, size_t from, size_t count,
    float *ret_all)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(ret_all + i * width + from, own + i * count,
               count * sizeof *ret_all);
    }
}

static double
block_loss(struct tensor_backend *backend, const struct analyst_block *block,
           size_t n, const float *logits, const float *x, float scale,
           float *dlogits)
{
    switch (block->likelihood) {
    case ANALYST_BERNOULLI:
        return backend->ops->bernoulli(backend, n, block->count, logits, x,
                                       scale, dlogits);
    case ANALYST_CATEGORICAL:
        return backend->ops->categorical(backend, n, block->count, logits, x,
                                         scale, dlogits);
    default:
        return backend->ops->gaussian(backend, n, block->count, logits, x,
                                      scale, dlogits);
    }
}

double
variational_likelihood(struct tensor_backend *backend,
                       const struct analyst_block *block, size_t blocks,
                       size_t n, size_t width, const float *logits,
                       const float *x, float scale, float *scratch,
                       float *dlogits)
{
    float *own = scratch, *own_x = own + n * width, *down = own_x + n * width;
    double loss = 0;
    if (blocks == 1) {
        return block_loss(backend, block, n, logits, x, scale, dlogits);
    }
    for (size_t i = 0; i < blocks; i++) {
        size_t from = block[i].from, count = block[i].count;
        take_variational_loss(logits, n, width, from, count, own);
        take_variational_loss(x, n, width, from, count, own_x);
        loss += block_loss(backend, &block[i], n, own, own_x, scale, down);
        put(down, n, width, from, count, dlogits);
    }
    return loss;
}
