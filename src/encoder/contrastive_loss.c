/*
 * contrastive_loss.c: SimCLR's loss, exact, by matrices of 2n x 2n.
 *
 *     S = u u^T / t, but -infinity on the diagonal
 *     loss = 1/(2n) sum_i -ln softmax(S_i)[i']             (ERRATA 3)
 *     dS = (softmax(S) - T) / 2n          T_ii' = 1, else 0
 *     du = (dS + dS^T) u / t
 *     dp = (du - u (u . du)) / |p|
 */
#include <math.h>
#include <string.h>

#include "encoder/contrastive.h"

#define NOWHERE (-1e30F) /* a logit whose probability is 0 */
#define TINY 1e-12       /* a p of this size has no direction: u and dp are 0 */

size_t
contrastive_loss_room(size_t n, size_t m)
{
    return 8 * n * n + 4 * n * m + 2 * n;
}

/* u and 1 / |p|. */
static void
normalise(size_t rows, size_t m, const float *p, float *u, float *inverse)
{
    for (size_t i = 0; i < rows; i++) {
        double square = 0;
        for (size_t j = 0; j < m; j++) {
            square += (double)p[i * m + j] * (double)p[i * m + j];
        }
        inverse[i] = square > TINY * TINY ? (float)(1 / sqrt(square)) : 0;
        for (size_t j = 0; j < m; j++) {
            u[i * m + j] = p[i * m + j] * inverse[i];
        }
    }
}

static void
normalise_back(size_t rows, size_t m, const float *u, const float *inverse,
               const float *du, float *dp)
{
    for (size_t i = 0; i < rows; i++) {
        const float *a = u + i * m, *da = du + i * m;
        double along = 0;
        for (size_t j = 0; j < m; j++) {
            along += (double)a[j] * (double)da[j];
        }
        for (size_t j = 0; j < m; j++) {
            dp[i * m + j] = (float)(inverse[i] * (da[j] - a[j] * along));
        }
    }
}

double
contrastive_loss(struct tensor_backend *backend, size_t n, size_t m,
                 double temperature, const float *p, float *scratch, float *dp)
{
    const struct tensor_ops *ops = backend->ops;
    size_t rows = 2 * n;
    float *s = scratch, *target = s + rows * rows;
    float *u = target + rows * rows, *du = u + rows * m;
    float *inverse = du + rows * m;
    float cold = (float)(1 / temperature);
    double loss;
    normalise(rows, m, p, u, inverse);
    ops->multiply(backend, false, true, rows, rows, m, cold, u, u, 0, s);
    memset(target, 0, rows * rows * sizeof *target);
    for (size_t i = 0; i < rows; i++) {
        s[i * rows + i] = NOWHERE;
        target[i * rows + (i < n ? i + n : i - n)] = 1;
    }
    loss = ops->categorical(backend, rows, rows, s, target,
                            (float)(1 / (double)rows), s);
    ops->multiply(backend, false, false, rows, m, rows, cold, s, u, 0, du);
    ops->multiply(backend, true, false, rows, m, rows, cold, s, u, 1, du);
    normalise_back(rows, m, u, inverse, du, dp);
    return loss / (double)rows;
}
