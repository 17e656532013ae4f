/*
 * task_water.c: Propositions 2 to 4 of P2 and its benchmarks.
 */
#include "encoder/task_water.h"

#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "tensor/dense.h"
#include "tensor/symmetric.h"

double
task_water_noise(double r, double eps)
{
    return 8 * r * r / (eps * eps);
}

/* Z and S = sum_{i <= Z} sqrt(lambda_i): Eq. 12. What it asks for falls with i,
   for sqrt(lambda) does, so the first that fails is the last to be looked at.
 */
static size_t
find_kept(const double *lambda, size_t count, double c, double *ret_sum)
{
    double sum = 0;
    size_t kept = 0;
    while (kept < count && lambda[kept] > 0) {
        double root = sqrt(lambda[kept]);
        if (!(root / (sum + root) * (1 + (double)(kept + 1) * c) > c)) {
            break;
        }
        sum += root;
        kept++;
    }
    *ret_sum = sum;
    return kept;
}

size_t
task_water_fill(const double *lambda, size_t count, double c,
                double *ret_squares)
{
    double sum = 0;
    size_t kept = find_kept(lambda, count, c, &sum);
    for (size_t i = 0; i < count; i++) {
        ret_squares[i] =
            i < kept ? sqrt(lambda[i]) / sum * (1 + (double)kept * c) - c : 0;
    }
    return kept;
}

static double
sum_between(const double *lambda, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++) {
        sum += lambda[i];
    }
    return sum;
}

double
task_water_loss(const double *lambda, size_t count, double c)
{
    double sum = 0;
    size_t kept = find_kept(lambda, count, c, &sum);
    return c * sum * sum / (1 + (double)kept * c) +
           sum_between(lambda, kept, count);
}

double
task_scale_loss(const double *lambda, const double *squares, size_t count,
                double s2)
{
    double loss = 0;
    for (size_t i = 0; i < count; i++) {
        loss += lambda[i] * (squares[i] > 0 ? s2 / (squares[i] + s2) : 1);
    }
    return loss;
}

double
task_agnostic_loss(const double *lambda, size_t count, double c)
{
    return task_equal_loss(lambda, count, count, c);
}

double
task_equal_loss(const double *lambda, size_t count, size_t kept, double c)
{
    double noise = (double)kept * c; /* M = 1: each square is 1 / kept */
    return noise / (1 + noise) * sum_between(lambda, 0, kept) +
           sum_between(lambda, kept, count);
}

/* With C = W diag(w) W': tr(K C K') - ... = sum_j w_j s2 / (w_j + s2) |K W_j|^2
 */
enum sotto_status
task_identity_loss(const double *covariance, size_t inputs, const double *K,
                   size_t outputs, double s2, double *ret_loss,
                   struct sotto_error *err)
{
    double *vector = calloc(inputs, inputs * sizeof *vector);
    double *value = calloc(inputs, sizeof *value);
    double *seen = calloc(inputs, outputs * sizeof *seen);
    double loss = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (vector == NULL || value == NULL || seen == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < inputs * inputs; i++) {
        vector[i] = covariance[i];
    }
    status = tensor_symmetric(inputs, vector, value, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    tensor_dense_multiply(false, true, inputs, outputs, inputs, 1, vector, K, 0,
                          seen);
    for (size_t i = 0; i < inputs; i++) {
        double left = value[i] > 0 ? value[i] * s2 / (value[i] + s2) : 0;
        for (size_t j = 0; j < outputs; j++) {
            loss += left * seen[i * outputs + j] * seen[i * outputs + j];
        }
    }
    *ret_loss = loss;
done:
    free(vector);
    free(value);
    free(seen);
    return status;
}

size_t
task_gaussian_keep(const double *lambda, size_t count, double multiplier,
                   const double *radius, double *ret_loss)
{
    double best = INFINITY;
    size_t kept = 0;
    for (size_t z = 1; z <= count; z++) {
        double s = 2 * multiplier * radius[z - 1], c = s * s;
        double loss = c / (1 + c) * sum_between(lambda, 0, z) +
                      sum_between(lambda, z, count);
        if (loss < best) {
            best = loss;
            kept = z;
        }
    }
    if (ret_loss != NULL) {
        *ret_loss = best;
    }
    return kept;
}
