/*
 * task_code.c: clip, decoder and loss of a code.
 *
 * For fixed codes the decoder is a ridge regression whose penalty is the noise:
 *
 *     loss(D)  = mean |y - D c|^2 + s2 |D|^2         y, c centred
 *     D        = Cov(y, c) A^-1,  A = Cov(c) + s2 I
 *
 * so a row left out costs no second fit: with h_i = 1/N + c_i' A^-1 c_i / N,
 * its residual under a decoder of the others is e_i / (1 - h_i).
 */
#include "encoder/task_code.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_basis.h"
#include "host/error.h"
#include "host/sort.h"
#include "host/wipe.h"
#include "tensor/dense.h"
#include "tensor/symmetric.h"

#define LEVERAGE_MOST 0.999 /* of a row that a decoder follows alone */

double
task_laplace_ratio(double eps)
{
    return 8 / (eps * eps);
}

/* ---- The clip ------------------------------------------------------------ */

double
task_norm(enum task_ball ball, size_t width, const double *z)
{
    double norm = 0;
    for (size_t i = 0; i < width; i++) {
        norm = ball == TASK_BALL_CUBE ? fmax(norm, fabs(z[i]))
               : ball == TASK_BALL_L1 ? norm + fabs(z[i])
                                      : norm + z[i] * z[i];
    }
    return ball == TASK_BALL_L2 ? sqrt(norm) : norm;
}

void
task_clip(enum task_ball ball, double radius, size_t width, double *z)
{
    double norm = task_norm(ball, width, z);
    for (size_t i = 0; norm > radius && i < width; i++) {
        z[i] = ball == TASK_BALL_CUBE ? fmax(-radius, fmin(radius, z[i]))
                                      : z[i] * (radius / norm);
    }
}

/* From dL/dc to dL/dz, in place: outside, with n the norm's gradient (the signs
   of z, or z / |z|_2), (R / |z|) (g - n (g . z) / |z|); in a cube 0. */
static void
slope_of_clip(enum task_ball ball, double radius, size_t width, const double *z,
              double *g)
{
    double norm = task_norm(ball, width, z), along = 0;
    if (norm <= radius) {
        return;
    }
    if (ball == TASK_BALL_CUBE) {
        for (size_t i = 0; i < width; i++) {
            g[i] = fabs(z[i]) > radius ? 0 : g[i];
        }
        return;
    }
    for (size_t i = 0; i < width; i++) {
        along += g[i] * z[i] / norm;
    }
    for (size_t i = 0; i < width; i++) {
        double sign = z[i] > 0 ? 1 : z[i] < 0 ? -1 : 0;
        double n = ball == TASK_BALL_L1 ? sign : z[i] / norm;
        g[i] = radius / norm * (g[i] - n * along);
    }
}

/* ---- Fitting ------------------------------------------------------------- */

enum sotto_status
task_fitting_init(struct task_fitting *fitting, const double *y, size_t rows,
                  size_t outputs, size_t width, struct sotto_error *err)
{
    size_t most = width > 0 ? width : 1;
    *fitting =
        (struct task_fitting){.rows = rows, .width = width, .outputs = outputs};
    fitting->mean_y = calloc(outputs, sizeof(double));
    fitting->y = calloc(rows, outputs * sizeof(double));
    fitting->e = calloc(rows, outputs * sizeof(double));
    fitting->c = calloc(rows, most * sizeof(double));
    fitting->g = calloc(rows, most * sizeof(double));
    fitting->mean = calloc(most, sizeof(double));
    fitting->inverse = calloc(most, most * sizeof(double));
    fitting->vector = calloc(most, most * sizeof(double));
    fitting->value = calloc(most, sizeof(double));
    fitting->decoder = calloc(outputs, most * sizeof(double));
    if (fitting->mean_y == NULL || fitting->y == NULL || fitting->e == NULL ||
        fitting->c == NULL || fitting->g == NULL || fitting->mean == NULL ||
        fitting->inverse == NULL || fitting->vector == NULL ||
        fitting->value == NULL || fitting->decoder == NULL) {
        return host_fail_memory(err);
    }
    task_mean(y, rows, outputs, fitting->mean_y);
    for (size_t i = 0; i < rows * outputs; i++) {
        fitting->y[i] = y[i] - fitting->mean_y[i % outputs];
    }
    return SOTTO_STATUS_OK;
}

void
task_fitting_clear(struct task_fitting *fitting)
{
    size_t y = fitting->rows * fitting->outputs * sizeof(double);
    size_t c = fitting->rows * fitting->width * sizeof(double);
    host_wipe_free(fitting->y, y);
    host_wipe_free(fitting->e, y);
    host_wipe_free(fitting->c, c);
    host_wipe_free(fitting->g, c);
    free(fitting->mean_y);
    free(fitting->mean);
    free(fitting->inverse);
    free(fitting->vector);
    free(fitting->value);
    free(fitting->decoder);
    *fitting = (struct task_fitting){0};
}

static void
clip_and_centre(struct task_fitting *fitting, const double *z, size_t width,
                enum task_ball ball, double radius)
{
    double *c = fitting->c;
    memcpy(c, z, fitting->rows * width * sizeof *c);
    for (size_t i = 0; i < fitting->rows; i++) {
        task_clip(ball, radius, width, c + i * width);
    }
    task_mean(c, fitting->rows, width, fitting->mean);
    for (size_t i = 0; i < fitting->rows; i++) {
        for (size_t j = 0; j < width; j++) {
            c[i * width + j] -= fitting->mean[j];
        }
    }
}

/* A^-1 from A's eigenvectors: sum_i v_i v_i' / (value_i + s2). */
static enum sotto_status
invert(struct task_fitting *fitting, size_t width, double s2,
       struct sotto_error *err)
{
    double *vector = fitting->vector, *value = fitting->value;
    enum sotto_status status;
    tensor_dense_multiply(true, false, width, width, fitting->rows,
                          1 / (double)fitting->rows, fitting->c, fitting->c, 0,
                          vector);
    status = tensor_symmetric(width, vector, value, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < width; i++) {
        double root = 1 / sqrt((value[i] > 0 ? value[i] : 0) + s2);
        for (size_t j = 0; j < width; j++) {
            vector[i * width + j] *= root;
        }
    }
    tensor_dense_multiply(true, false, width, width, width, 1, vector, vector,
                          0, fitting->inverse);
    return SOTTO_STATUS_OK;
}

/* Sets D, and e and g = A^-1 c of every row. */
static void
find_decoder(struct task_fitting *fitting, size_t width)
{
    size_t rows = fitting->rows, outputs = fitting->outputs;
    tensor_dense_multiply(false, false, rows, width, width, 1, fitting->c,
                          fitting->inverse, 0, fitting->g);
    tensor_dense_multiply(true, false, outputs, width, rows, 1 / (double)rows,
                          fitting->y, fitting->g, 0, fitting->decoder);
    memcpy(fitting->e, fitting->y, rows * outputs * sizeof(double));
    tensor_dense_multiply(false, true, rows, outputs, width, -1, fitting->c,
                          fitting->decoder, 1, fitting->e);
}

static double
dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

enum sotto_status
task_fitting_fit(struct task_fitting *fitting, const double *z, size_t width,
                 enum task_ball ball, double radius, double ratio,
                 double *ret_loss, double *ret_left_out,
                 struct sotto_error *err)
{
    size_t rows = fitting->rows, outputs = fitting->outputs;
    double s2 = ratio * radius * radius, loss = 0, left_out = 0, noise;
    enum sotto_status status;
    clip_and_centre(fitting, z, width, ball, radius);
    status = invert(fitting, width, s2, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    find_decoder(fitting, width);
    noise = s2 * dot(fitting->decoder, fitting->decoder, outputs * width);
    for (size_t i = 0; i < rows; i++) {
        const double *e = fitting->e + i * outputs;
        double square = dot(e, e, outputs);
        double h =
            (1 + dot(fitting->c + i * width, fitting->g + i * width, width)) /
            (double)rows;
        h = h < LEVERAGE_MOST ? h : LEVERAGE_MOST;
        loss += square / (double)rows;
        left_out += square / ((1 - h) * (1 - h)) / (double)rows;
    }
    *ret_loss = loss + noise;
    *ret_left_out = left_out + noise;
    return SOTTO_STATUS_OK;
}

/* The decoder is the best one, so the loss's gradient is that for a fixed one:
   dL/dc_i = -(2/N) D' e_i; means add nothing, for the e_i add up to 0. */
void
task_fitting_slope(struct task_fitting *fitting, const double *z, size_t width,
                   enum task_ball ball, double radius)
{
    tensor_dense_multiply(false, false, fitting->rows, width, fitting->outputs,
                          -2 / (double)fitting->rows, fitting->e,
                          fitting->decoder, 0, fitting->g);
    for (size_t i = 0; i < fitting->rows; i++) {
        slope_of_clip(ball, radius, width, z + i * width,
                      fitting->g + i * width);
    }
}

/* ---- Codes --------------------------------------------------------------- */

static enum sotto_status
code_take(struct task_code *code, const struct task_fitting *fitting,
          struct sotto_error *err)
{
    size_t width = code->width, outputs = code->outputs;
    code->mean = calloc(width, sizeof *code->mean);
    code->mean_y = calloc(outputs, sizeof *code->mean_y);
    code->decoder = calloc(outputs, width * sizeof *code->decoder);
    if (code->mean == NULL || code->mean_y == NULL || code->decoder == NULL) {
        return host_fail_memory(err);
    }
    memcpy(code->mean, fitting->mean, width * sizeof *code->mean);
    memcpy(code->mean_y, fitting->mean_y, outputs * sizeof *code->mean_y);
    memcpy(code->decoder, fitting->decoder,
           outputs * width * sizeof *code->decoder);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fit_at(struct task_code *code, struct task_fitting *fitting,
       const struct task_rows *rows, double radius, double ratio,
       struct sotto_error *err)
{
    code->radius = radius;
    code->noise = ratio * radius * radius;
    return task_fitting_fit(fitting, rows->z, rows->width, code->ball, radius,
                            ratio, &code->loss, &code->left_out, err);
}

static enum sotto_status
check_rows(const struct task_rows *rows, struct sotto_error *err)
{
    return rows->rows >= 2 && rows->width > 0 && rows->outputs > 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "%zu rows of codes of %zu numbers for %zu outputs "
                           "fit no decoder",
                           rows->rows, rows->width, rows->outputs);
}

enum sotto_status
task_code_fit(struct task_code *code, const struct task_rows *rows,
              enum task_ball ball, double radius, double ratio,
              struct sotto_error *err)
{
    struct task_fitting fitting = {0};
    enum sotto_status status = check_rows(rows, err);
    *code = (struct task_code){
        .ball = ball, .width = rows->width, .outputs = rows->outputs};
    status =
        HOST_THEN(status, task_fitting_init(&fitting, rows->y, rows->rows,
                                            rows->outputs, rows->width, err));
    status =
        HOST_THEN(status, fit_at(code, &fitting, rows, radius, ratio, err));
    status = HOST_THEN(status, code_take(code, &fitting, err));
    task_fitting_clear(&fitting);
    return status;
}

static const double quantiles[] = {0.02, 0.05, 0.1, 0.2, 0.3,  0.4,  0.5,
                                   0.6,  0.7,  0.8, 0.9, 0.95, 0.98, 1.0};
#define QUANTILES (sizeof quantiles / sizeof quantiles[0])

enum sotto_status
task_radii(const double *z, size_t rows, size_t width, enum task_ball ball,
           double *ret_radius, size_t *ret_count, struct sotto_error *err)
{
    double *norm = calloc(rows, sizeof *norm);
    size_t count = 0;
    if (norm == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rows; i++) {
        norm[i] = task_norm(ball, width, z + i * width);
        norm[i] = isfinite(norm[i]) ? norm[i] : 0;
    }
    host_sort_doubles(norm, rows);
    for (size_t i = 0; i < QUANTILES; i++) {
        double at = norm[(size_t)ceil(quantiles[i] * (double)rows) - 1];
        if (at > 0 && (count == 0 || at > ret_radius[count - 1])) {
            ret_radius[count++] = at;
        }
    }
    if (count == 0) {
        ret_radius[count++] = 1; /* all codes are 0, and any radius will do */
    }
    *ret_count = count;
    host_wipe_free(norm, rows * sizeof *norm);
    return SOTTO_STATUS_OK;
}

/* The best radius is fitted once more, last: the fitting holds its decoder. */
static enum sotto_status
choose_radius(struct task_code *code, struct task_fitting *fitting,
              const struct task_rows *rows, double ratio,
              struct sotto_error *err)
{
    double radius[TASK_RADII], best = INFINITY, chosen = 0;
    size_t count = 0;
    enum sotto_status status = task_radii(rows->z, rows->rows, rows->width,
                                          code->ball, radius, &count, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < count; i++) {
        status = fit_at(code, fitting, rows, radius[i], ratio, err);
        if (code->left_out < best) {
            best = code->left_out;
            chosen = radius[i];
        }
    }
    return HOST_THEN(status,
                     fit_at(code, fitting, rows,
                            chosen > 0 ? chosen : radius[0], ratio, err));
}

enum sotto_status
task_code_choose(struct task_code *code, const struct task_rows *rows,
                 enum task_ball ball, double ratio, struct sotto_error *err)
{
    struct task_fitting fitting = {0};
    enum sotto_status status = check_rows(rows, err);
    *code = (struct task_code){
        .ball = ball, .width = rows->width, .outputs = rows->outputs};
    status =
        HOST_THEN(status, task_fitting_init(&fitting, rows->y, rows->rows,
                                            rows->outputs, rows->width, err));
    status = HOST_THEN(status, choose_radius(code, &fitting, rows, ratio, err));
    status = HOST_THEN(status, code_take(code, &fitting, err));
    task_fitting_clear(&fitting);
    return status;
}

void
task_code_clear(struct task_code *code)
{
    free(code->mean);
    free(code->mean_y);
    free(code->decoder);
    *code = (struct task_code){0};
}

enum sotto_status
task_code_loss(const struct task_code *code, const struct task_rows *rows,
               double *ret_loss, double *ret_each, struct sotto_error *err)
{
    size_t width = code->width, outputs = code->outputs;
    double *c = calloc(width, sizeof *c);
    double *each = calloc(outputs, sizeof *each), loss = 0;
    if (c == NULL || each == NULL) {
        free(c);
        free(each);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < rows->rows; i++) {
        memcpy(c, rows->z + i * width, width * sizeof *c);
        task_clip(code->ball, code->radius, width, c);
        for (size_t j = 0; j < width; j++) {
            c[j] -= code->mean[j];
        }
        for (size_t k = 0; k < outputs; k++) {
            double e = rows->y[i * outputs + k] - code->mean_y[k] -
                       dot(code->decoder + k * width, c, width);
            each[k] += e * e / (double)rows->rows;
        }
    }
    for (size_t k = 0; k < outputs; k++) {
        const double *row = code->decoder + k * width;
        each[k] += code->noise * dot(row, row, width);
        loss += each[k];
        if (ret_each != NULL) {
            ret_each[k] = each[k];
        }
    }
    *ret_loss = loss;
    host_wipe_free(c, width * sizeof *c);
    free(each);
    return SOTTO_STATUS_OK;
}
