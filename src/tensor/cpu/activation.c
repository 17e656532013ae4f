/*
 * activation.c: biases and activations on tiles of a product, while they are
 * in cache; the way back; and sums of columns.
 */
#include "tensor/cpu/cpu.h"
#include "tensor/cpu/curves.h"

/* ---- Forward ------------------------------------------------------------ */

CPU_BODY
add_bias_body(size_t width, const float *restrict bias, float *restrict y)
{
    for (size_t i = 0; i < width; i++) {
        y[i] += bias[i];
    }
}

CPU_BODY
activate_row_body(size_t width, enum activation activation, float *restrict y)
{
    switch (activation) {
    case ACTIVATION_RELU:
        for (size_t i = 0; i < width; i++) {
            y[i] = 0.0F > y[i] ? 0.0F : y[i];
        }
        break;
    case ACTIVATION_SIGMOID:
        for (size_t i = 0; i < width; i++) {
            y[i] = curve_sigmoid(y[i]);
        }
        break;
    case ACTIVATION_TANH:
        for (size_t i = 0; i < width; i++) {
            y[i] = curve_tanh(y[i]);
        }
        break;
    case ACTIVATION_NONE:
    default:
        break;
    }
}

CPU_KERNEL_SHARED(cpu_activate,
                  (size_t n, size_t width, size_t stride, const float *bias,
                   enum activation activation, float *y),
                  (n, width, stride, bias, activation, y))
{
    for (size_t r = 0; r < n; r++) {
        if (bias != NULL) {
            add_bias_body(width, bias, y + r * stride);
        }
        activate_row_body(width, activation, y + r * stride);
    }
}

/* ---- Back --------------------------------------------------------------- */

CPU_KERNEL_SHARED(cpu_activation_back,
                  (size_t size, enum activation activation,
                   const float *restrict y, float *restrict dy),
                  (size, activation, y, dy))
{
    switch (activation) {
    case ACTIVATION_RELU:
        for (size_t i = 0; i < size; i++) {
            dy[i] = y[i] > 0.0F ? dy[i] : 0.0F;
        }
        break;
    case ACTIVATION_SIGMOID:
        for (size_t i = 0; i < size; i++) {
            dy[i] = dy[i] * (y[i] * (1.0F - y[i]));
        }
        break;
    case ACTIVATION_TANH:
        for (size_t i = 0; i < size; i++) {
            dy[i] = dy[i] * (1.0F - y[i] * y[i]);
        }
        break;
    case ACTIVATION_NONE:
    default:
        break;
    }
}

struct slope_job {
    enum activation activation;
    const float *y;
    float *dy;
};

static void
slope_span(void *context, size_t i, size_t begin, size_t end)
{
    const struct slope_job *job = context;
    (void)i;
    cpu_activation_back(end - begin, job->activation, job->y + begin,
                        job->dy + begin);
}

void
cpu_run_activation_back(struct tensor_backend *self, size_t size, size_t least,
                        enum activation activation, const float *y, float *dy)
{
    struct slope_job job = {.activation = activation, .y = y};
    job.dy = dy;
    if (activation != ACTIVATION_NONE) {
        cpu_run_spans(self, size, CPU_LANES, least, slope_span, &job);
    }
}

/* Up to CPU_LANES columns at a time. */
CPU_BODY
sum_lanes_body(size_t n, size_t lanes, size_t stride, const float *x,
               float *sums)
{
    double sum[CPU_LANES] = {0};
    for (size_t r = 0; r < n; r++) {
        const float *row = x + r * stride;
        for (size_t l = 0; l < lanes; l++) {
            sum[l] += (double)row[l];
        }
    }
    for (size_t l = 0; l < lanes; l++) {
        sums[l] = (float)sum[l];
    }
}

CPU_KERNEL_SHARED(cpu_column_sums,
                  (size_t n, size_t width, size_t stride, const float *x,
                   float *sums),
                  (n, width, stride, x, sums))
{
    size_t whole = width - width % CPU_LANES;
    for (size_t j = 0; j < whole; j += CPU_LANES) {
        sum_lanes_body(n, CPU_LANES, stride, x + j, sums + j);
    }
    if (whole < width) {
        sum_lanes_body(n, width - whole, stride, x + whole, sums + whole);
    }
}
