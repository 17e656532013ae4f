/*
 * layer_norm.c: batch norm behind the product of a layer, over the rows of a
 * batch, or over their places too where the product is an image.
 *
 * A layer with a norm has no bias: the norm would take it away again, and its
 * gradient would be nothing but rounding.
 */
#include "nn/layers.h"

#include <math.h>

#define MOMENTUM 0.1F
#define EPSILON 1e-5

enum sotto_status
nn_norm_plan(const struct nn_planning *planning, struct nn_place *place,
             struct sotto_error *err)
{
    const struct {
        const char *name;
        bool fixed;
        size_t *row;
    } rows[] = {{"gain", false, &place->gain},
                {"shift", false, &place->shift},
                {"mean", true, &place->mean},
                {"variance", true, &place->variance}};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < 4; i++) {
        status = nn_row_plan(planning, rows[i].name, place->width, 0,
                             rows[i].fixed, rows[i].row, err);
    }
    return status;
}

void
nn_norm_forward(const struct nn_arena *arena, const struct nn_place *place,
                struct tensor_backend *backend, size_t n, bool training,
                enum activation activation)
{
    backend->ops->norm(
        backend, n * place->places, place->width, training, MOMENTUM,
        place->before, nn_arena_value(arena, place->gain),
        nn_arena_value(arena, place->shift), nn_arena_value(arena, place->mean),
        nn_arena_value(arena, place->variance), activation, place->batch_mean,
        place->batch_inverse, place->y);
}

void
nn_norm_back(const struct nn_arena *arena, const struct nn_place *place,
             struct tensor_backend *backend, size_t n, float *dy,
             float *dbefore)
{
    backend->ops->norm_back(backend, n * place->places, place->width,
                            place->before, nn_arena_value(arena, place->gain),
                            place->batch_mean, place->batch_inverse, place->y,
                            place->layer.activation, dy,
                            nn_arena_gradient(arena, place->gain),
                            nn_arena_gradient(arena, place->shift), dbefore);
}

/* gain (W x - mean) / sqrt(variance + epsilon) + shift, as one product. */
void
nn_norm_fold(const struct nn_arena *arena, const struct nn_place *place,
             float *weight, float *bias)
{
    const float *from = nn_arena_value(arena, place->weight);
    const float *gain = nn_arena_value(arena, place->gain);
    const float *shift = nn_arena_value(arena, place->shift);
    const float *mean = nn_arena_value(arena, place->mean);
    const float *variance = nn_arena_value(arena, place->variance);
    for (size_t j = 0; j < place->width; j++) {
        double factor = gain[j] / sqrt((double)variance[j] + EPSILON);
        for (size_t i = 0; i < place->fan; i++) {
            weight[j * place->fan + i] =
                (float)(factor * from[j * place->fan + i]);
        }
        bias[j] = (float)(shift[j] - factor * mean[j]);
    }
}
