/*
 * task_basis.c: the principal components of a task's outputs.
 */
#include "encoder/task_basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "tensor/dense.h"
#include "tensor/symmetric.h"

#define CHUNK ((size_t)1024) /* rows centred at a time */

/* ---- Moments ------------------------------------------------------------- */

void
task_mean(const double *x, size_t rows, size_t inputs, double *ret_mean)
{
    memset(ret_mean, 0, inputs * sizeof *ret_mean);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < inputs; j++) {
            ret_mean[j] += x[i * inputs + j];
        }
    }
    for (size_t j = 0; j < inputs; j++) {
        ret_mean[j] /= (double)rows;
    }
}

static void
centre(const double *x, size_t rows, size_t inputs, const double *mean,
       double *ret_x)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < inputs; j++) {
            ret_x[i * inputs + j] = x[i * inputs + j] - mean[j];
        }
    }
}

static size_t
chunk_at(size_t from, size_t rows)
{
    return rows - from < CHUNK ? rows - from : CHUNK;
}

enum sotto_status
task_covariance(const double *x, size_t rows, size_t inputs, const double *mean,
                double *ret_covariance, struct sotto_error *err)
{
    double *centred = calloc(CHUNK, inputs * sizeof *centred);
    if (centred == NULL) {
        return host_fail_memory(err);
    }
    memset(ret_covariance, 0, inputs * inputs * sizeof *ret_covariance);
    for (size_t from = 0; from < rows; from += CHUNK) {
        size_t count = chunk_at(from, rows);
        centre(x + from * inputs, count, inputs, mean, centred);
        tensor_dense_multiply(true, false, inputs, inputs, count,
                              1 / (double)rows, centred, centred, 1,
                              ret_covariance);
    }
    host_wipe_free(centred, CHUNK * inputs * sizeof *centred);
    return SOTTO_STATUS_OK;
}

enum sotto_status
task_basis_outputs(const double *x, size_t rows, size_t inputs,
                   const double *mean, const double *K, size_t outputs,
                   double *ret_y, struct sotto_error *err)
{
    double *centred = calloc(CHUNK, inputs * sizeof *centred);
    if (centred == NULL) {
        return host_fail_memory(err);
    }
    for (size_t from = 0; from < rows; from += CHUNK) {
        size_t count = chunk_at(from, rows);
        centre(x + from * inputs, count, inputs, mean, centred);
        tensor_dense_multiply(false, true, count, outputs, inputs, 1, centred,
                              K, 0, ret_y + from * outputs);
    }
    host_wipe_free(centred, CHUNK * inputs * sizeof *centred);
    return SOTTO_STATUS_OK;
}

/* ---- The basis ----------------------------------------------------------- */

/* A root of K'K, n rows of n: sqrt(g_i) w_i' for its eigenvectors w_i. */
static enum sotto_status
find_root(const double *K, size_t outputs, size_t inputs, double **ret_root,
          struct sotto_error *err)
{
    double *gram = calloc(inputs, inputs * sizeof *gram);
    double *value = calloc(inputs, sizeof *value);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (gram == NULL || value == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    tensor_dense_multiply(true, false, inputs, inputs, outputs, 1, K, K, 0,
                          gram);
    status = tensor_symmetric(inputs, gram, value, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < inputs; i++) {
        double root = value[i] > 0 ? sqrt(value[i]) : 0;
        for (size_t j = 0; j < inputs; j++) {
            gram[i * inputs + j] *= root;
        }
    }
done:
    free(value);
    if (status == SOTTO_STATUS_OK) {
        *ret_root = gram;
    } else {
        free(gram);
    }
    return status;
}

static enum sotto_status
count_directions(struct task_basis *basis, size_t outputs, size_t rows,
                 struct sotto_error *err)
{
    if (!(basis->lambda[0] > 0)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the task's outputs do not vary over the %zu rows: "
                         "there is nothing for a report to tell",
                         rows);
    }
    while (basis->rank < outputs && basis->rank < basis->inputs &&
           basis->rank + 1 < rows &&
           basis->lambda[basis->rank] > TASK_BASIS_LEAST * basis->lambda[0]) {
        basis->rank++;
    }
    return SOTTO_STATUS_OK;
}

/* Row i: u_i' K, and the same over sqrt(lambda_i). */
static void
fill_directions(struct task_basis *basis, const double *u, const double *K,
                size_t outputs)
{
    tensor_dense_multiply(false, false, basis->rank, basis->inputs, outputs, 1,
                          u, K, 0, basis->task);
    for (size_t i = 0; i < basis->rank; i++) {
        double gain = 1 / sqrt(basis->lambda[i]);
        for (size_t j = 0; j < basis->inputs; j++) {
            size_t at = i * basis->inputs + j;
            basis->direction[at] = gain * basis->task[at];
        }
    }
}

/* The basis of a K of at most `inputs` outputs. */
static enum sotto_status
find_basis(struct task_basis *basis, const double *x, size_t rows,
           const double *K, size_t outputs, struct sotto_error *err)
{
    size_t inputs = basis->inputs;
    double *y = calloc(rows, outputs * sizeof *y);
    double *gram = calloc(outputs, outputs * sizeof *gram);
    enum sotto_status status = SOTTO_STATUS_OK;
    basis->lambda = calloc(outputs, sizeof *basis->lambda);
    basis->direction = calloc(outputs, inputs * sizeof *basis->direction);
    basis->task = calloc(outputs, inputs * sizeof *basis->task);
    if (y == NULL || gram == NULL || basis->lambda == NULL ||
        basis->direction == NULL || basis->task == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status =
        task_basis_outputs(x, rows, inputs, basis->mean, K, outputs, y, err);
    if (status == SOTTO_STATUS_OK) {
        tensor_dense_multiply(true, false, outputs, outputs, rows,
                              1 / (double)rows, y, y, 0, gram);
    }
    status =
        HOST_THEN(status, tensor_symmetric(outputs, gram, basis->lambda, err));
    status = HOST_THEN(status, count_directions(basis, outputs, rows, err));
    if (status == SOTTO_STATUS_OK) {
        fill_directions(basis, gram, K, outputs);
    }
done:
    host_wipe_free(y, rows * outputs * sizeof *y);
    free(gram);
    return status;
}

enum sotto_status
task_basis_init(struct task_basis *basis, const double *x, size_t rows,
                size_t inputs, const double *K, size_t outputs,
                struct sotto_error *err)
{
    double *root = NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    *basis = (struct task_basis){.inputs = inputs, .outputs = outputs};
    if (rows < 2 || inputs == 0 || outputs == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu rows of %zu inputs and %zu outputs are no task: "
                         "at least 2 rows, an input and an output",
                         rows, inputs, outputs);
    }
    basis->mean = calloc(inputs, sizeof *basis->mean);
    if (basis->mean == NULL) {
        return host_fail_memory(err);
    }
    task_mean(x, rows, inputs, basis->mean);
    if (outputs > inputs) {
        status = find_root(K, outputs, inputs, &root, err);
    }
    status =
        HOST_THEN(status, find_basis(basis, x, rows, root != NULL ? root : K,
                                     root != NULL ? inputs : outputs, err));
    free(root);
    return status;
}

void
task_basis_clear(struct task_basis *basis)
{
    free(basis->mean);
    free(basis->lambda);
    free(basis->direction);
    free(basis->task);
    *basis = (struct task_basis){0};
}

enum sotto_status
task_basis_apply(const struct task_basis *basis, const double *x, size_t rows,
                 size_t count, double *ret_v, struct sotto_error *err)
{
    return task_basis_outputs(x, rows, basis->inputs, basis->mean,
                              basis->direction, count, ret_v, err);
}
