/*
 * baseline_vectors.c: records as vectors, and where vectors lie.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/baseline.h"
#include "host/error.h"
#include "host/wipe.h"
#include "mechanism/crew.h"

/* ---- Vectors ------------------------------------------------------------ */

struct taking {
    struct baseline_vectors *vectors;
    bool raw;
};

static void
take_row(void *context, struct rows *rows, size_t row, unsigned worker)
{
    const struct taking *taking = context;
    struct baseline_vectors *vectors = taking->vectors;
    float *x = vectors->x + row * vectors->d;
    (void)worker;
    rows_encode(rows, row, taking->raw ? x : NULL, taking->raw ? NULL : x);
    vectors->truth[row] = rows_class(rows, row);
}

enum sotto_status
baseline_vectors_init(struct baseline_vectors *vectors,
                      struct sotto_mechanism *mechanism,
                      const struct sotto_table *table, bool raw,
                      struct host_pool *pool, const struct sotto_watch *watch,
                      struct sotto_error *err)
{
    struct taking taking = {vectors, raw};
    struct crew crew;
    enum sotto_status status;
    *vectors = (struct baseline_vectors){.rows = sotto_table_rows(table)};
    status = crew_init(&crew, mechanism, table, pool, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    vectors->d = raw ? rows_x_width(crew.rows) : rows_z_width(crew.rows);
    vectors->x = vectors->d < SIZE_MAX / sizeof(float) / (vectors->rows + 1)
                     ? calloc(vectors->rows * vectors->d + 1, sizeof(float))
                     : NULL;
    vectors->truth = calloc(vectors->rows + 1, sizeof *vectors->truth);
    status = vectors->x != NULL && vectors->truth != NULL
                 ? crew_run_watched(&crew, vectors->rows, watch, "encoding",
                                    take_row, &taking, err)
                 : host_fail_memory(err);
    crew_clear(&crew);
    return status;
}

void
baseline_vectors_clear(struct baseline_vectors *vectors)
{
    host_wipe_free(vectors->x,
                   (vectors->rows * vectors->d + 1) * sizeof *vectors->x);
    host_wipe_free(vectors->truth,
                   (vectors->rows + 1) * sizeof *vectors->truth);
    *vectors = (struct baseline_vectors){0};
}

/* ---- Where they lie ----------------------------------------------------- */

static double
length_of(const float *x, size_t d)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        sum += (double)x[j] * (double)x[j];
    }
    return sqrt(sum);
}

static void
set_range(struct baseline_frame *frame, const struct baseline_vectors *aux,
          size_t j)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < aux->rows; i++) {
        low = fmin(low, (double)aux->x[i * aux->d + j]);
        high = fmax(high, (double)aux->x[i * aux->d + j]);
    }
    frame->middle[j] = (low + high) / 2;
    frame->half[j] = (high - low) / 2;
}

enum sotto_status
baseline_frame_init(struct baseline_frame *frame, enum channel_domain domain,
                    const struct baseline_vectors *aux, struct sotto_error *err)
{
    *frame = (struct baseline_frame){.domain = domain, .d = aux->d};
    if (aux->rows == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "there are no auxiliary records to take ranges from");
    }
    frame->middle = calloc(aux->d + 1, sizeof *frame->middle);
    frame->half = calloc(aux->d + 1, sizeof *frame->half);
    if (frame->middle == NULL || frame->half == NULL) {
        return host_fail_memory(err);
    }
    for (size_t j = 0; domain != CHANNEL_DOMAIN_BALL && j < aux->d; j++) {
        set_range(frame, aux, j);
    }
    for (size_t i = 0; domain == CHANNEL_DOMAIN_BALL && i < aux->rows; i++) {
        frame->radius =
            fmax(frame->radius, length_of(aux->x + i * aux->d, aux->d));
    }
    return SOTTO_STATUS_OK;
}

void
baseline_frame_clear(struct baseline_frame *frame)
{
    free(frame->middle);
    free(frame->half);
    *frame = (struct baseline_frame){0};
}

/* Towards 0, so that no point of a ball lies beyond it. */
static void
place_in_ball(const struct baseline_frame *frame, const float *x, uint32_t l,
              int32_t *ret_q)
{
    double length = length_of(x, frame->d), most = frame->radius;
    double scale = length > 0 ? l / fmax(length, most) : 0;
    for (size_t j = 0; j < frame->d; j++) {
        ret_q[j] = (int32_t)(scale * (double)x[j]);
    }
}

void
baseline_frame_place(const struct baseline_frame *frame, const float *x,
                     uint32_t l, int32_t *ret_q)
{
    if (frame->domain == CHANNEL_DOMAIN_BALL) {
        place_in_ball(frame, x, l, ret_q);
        return;
    }
    for (size_t j = 0; j < frame->d; j++) {
        double from = (double)x[j] - frame->middle[j];
        double share = frame->half[j] > 0 ? from / frame->half[j] : 0;
        ret_q[j] = (int32_t)lround(l * fmin(fmax(share, -1), 1));
    }
}

void
baseline_frame_return(const struct baseline_frame *frame,
                      const double *estimate, uint32_t l, float *ret_x)
{
    bool ball = frame->domain == CHANNEL_DOMAIN_BALL;
    for (size_t j = 0; j < frame->d; j++) {
        double unit = ball ? frame->radius : frame->half[j];
        ret_x[j] = (float)(frame->middle[j] + unit * estimate[j] / l);
    }
}
