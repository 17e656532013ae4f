/*
 * task_drawn.c: every row's report drawn by its channel, and decoded.
 */
#include "experiment/task_drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "likelihood/likelihood.h"
#include "random/seeded.h"
#include "report/domain.h"

#define RADIUS 4096u /* of the lattice, as encoders have it */
#define STREAM (UINT64_C(0x74647277) << 32) /* of the seed */

/* A channel at work. */
struct drawing {
    struct channel_instance instance;
    struct likelihood_instance likelihood;
    void *own;
    uint8_t *wire;
    int64_t *value;
    struct seeded seeded;
};

static void
drawing_clear(struct drawing *drawing)
{
    free(drawing->own);
    free(drawing->wire);
    free(drawing->value);
}

static enum sotto_status
drawing_init(struct drawing *drawing, const char *name, size_t size, uint32_t l,
             double eps, uint64_t seed, struct sotto_error *err)
{
    const struct channel *channel =
        channel_find(channel_exact, name, strlen(name));
    double units = eps * (double)DECIMAL_UNIT;
    enum sotto_status status = SOTTO_STATUS_LIMIT;
    drawing->own = calloc(1, channel->own_size);
    if (drawing->own == NULL) {
        (void)host_fail_memory(err);
        return SOTTO_STATUS_MEMORY;
    }
    if (units < 1e18) {
        status = channel_init(&drawing->instance, channel, (uint32_t)size, 0, l,
                              (uint64_t)(units + 0.5), 0, drawing->own);
    }
    if (status != SOTTO_STATUS_OK) {
        (void)host_fail(err, status, 0,
                        "the channel %s has no epsilon %g for %zu", name, eps,
                        size);
        return status;
    }
    status = likelihood_init(&drawing->likelihood, &drawing->instance);
    drawing->wire = calloc(drawing->instance.wire_size, 1);
    drawing->value = calloc(drawing->likelihood.values, sizeof *drawing->value);
    seeded_init(&drawing->seeded, seed, STREAM);
    return drawing->wire != NULL && drawing->value != NULL
               ? status
               : host_fail_memory(err);
}

/* A report of q, as its integers. */
static void
draw_values(struct drawing *drawing, const int32_t *q)
{
    const struct likelihood_instance *at = &drawing->likelihood;
    drawing->instance.channel->sample(&drawing->instance, q,
                                      &drawing->seeded.random, drawing->wire);
    at->likelihood->unpack(at, drawing->wire, drawing->value);
}

/* |y - mean y - D (c + w - mean c)|^2 for the report at hand, whose integers
   are of a lattice of RADIUS where the ball has the code's. */
static double
lattice_error(const struct drawing *drawing, const struct task_code *code,
              const double *y)
{
    double sum = 0;
    for (size_t j = 0; j < code->outputs; j++) {
        double off = y[j] - code->mean_y[j];
        for (size_t i = 0; i < code->width; i++) {
            double sent = (double)drawing->value[i] * code->radius / RADIUS;
            off -= code->decoder[j * code->width + i] * (sent - code->mean[i]);
        }
        sum += off * off;
    }
    return sum;
}

enum sotto_status
task_draw_lattice(const struct task_code *code, const struct task_rows *rows,
                  double eps, uint32_t draws, uint64_t seed, double *ret_loss,
                  struct sotto_error *err)
{
    struct drawing drawing = {.own = NULL};
    size_t d = rows->width;
    float *z = calloc(d, sizeof *z);
    int32_t *q = calloc(d, sizeof *q);
    double loss = 0;
    enum sotto_status status;
    if (z == NULL || q == NULL) {
        free(z);
        free(q);
        return host_fail_memory(err);
    }
    status = drawing_init(&drawing, "laplace", d, RADIUS, eps, seed, err);
    for (size_t i = 0; i < rows->rows && status == SOTTO_STATUS_OK; i++) {
        for (size_t j = 0; j < d; j++) {
            z[j] = (float)(rows->z[i * d + j] / code->radius);
        }
        domain_lattice(z, (uint32_t)d, RADIUS, q);
        for (uint32_t k = 0; k < draws; k++) {
            draw_values(&drawing, q);
            loss += lattice_error(&drawing, code, rows->y + i * code->outputs);
        }
    }
    *ret_loss = loss / ((double)rows->rows * draws);
    drawing_clear(&drawing);
    free(z);
    free(q);
    return status;
}

enum sotto_status
task_draw_cells(const struct task_cells *cells, const double *u, size_t n,
                uint32_t draws, uint64_t seed, double *ret_loss,
                struct sotto_error *err)
{
    struct drawing drawing = {.own = NULL};
    double loss = 0;
    enum sotto_status status =
        drawing_init(&drawing, cells->plan.w > 1 ? "subset" : "flip",
                     cells->plan.k, 0, cells->plan.eps, seed, err);
    for (size_t i = 0; i < n && status == SOTTO_STATUS_OK; i++) {
        const double *row = u + i * cells->d;
        int32_t q = (int32_t)task_cells_code(cells, row);
        for (uint32_t k = 0; k < draws; k++) {
            uint32_t named[TASK_CELLS_NAMED];
            draw_values(&drawing, &q);
            for (size_t j = 0; j < cells->plan.w; j++) {
                named[j] = (uint32_t)drawing.value[j];
            }
            const double *back = task_cells_decode(cells, named);
            for (size_t j = 0; j < cells->d; j++) {
                loss += (row[j] - back[j]) * (row[j] - back[j]);
            }
        }
    }
    *ret_loss = loss / ((double)n * draws);
    drawing_clear(&drawing);
    return status;
}
