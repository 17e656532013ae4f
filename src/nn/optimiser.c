/*
 * optimiser.c: Adam and SGD with momentum, learning-rate schedules, early
 * stopping.
 */
#include "nn/optimiser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define BETA1 0.9F
#define BETA2 0.999F
#define EPSILON 1e-8F
#define PI 3.14159265358979323846

/* What the schedule multiplies the rate by, `way` from 0 to 1. */
static double
schedule_factor(const struct nn_optimiser *optimiser, double way)
{
    double floor = optimiser->floor;
    switch (optimiser->schedule) {
    case NN_SCHEDULE_COSINE:
        return floor + (1 - floor) * (1 + cos(PI * way)) / 2;
    case NN_SCHEDULE_LINEAR:
        return floor + (1 - floor) * (1 - way);
    case NN_SCHEDULE_STEPS:
        return way < 1.0 / 3 ? 1 : way < 2.0 / 3 ? floor : floor * floor;
    case NN_SCHEDULE_CONSTANT:
    default:
        return 1;
    }
}

float
nn_rate(const struct nn_optimiser *optimiser, uint64_t step)
{
    double rate = optimiser->rate;
    uint64_t warmup = optimiser->warmup;
    if (step < warmup) {
        return (float)(rate * (double)(step + 1) / (double)(warmup + 1));
    }
    if (optimiser->steps <= warmup) {
        return optimiser->rate;
    }
    double way = (double)(step - warmup) / (double)(optimiser->steps - warmup);
    return (float)(rate * schedule_factor(optimiser, way < 1 ? way : 1));
}

void
nn_step_part(const struct nn_optimiser *optimiser,
             struct tensor_backend *backend, struct nn_arena *arena,
             size_t from, size_t end)
{
    float rate = nn_rate(optimiser, arena->step);
    if (optimiser->method == NN_METHOD_SGD) {
        backend->ops->sgd(backend, end - from, rate, optimiser->momentum,
                          optimiser->decay, arena->value + from,
                          arena->gradient + from, arena->first + from);
        return;
    }
    struct tensor_adam adam = {.rate = rate,
                               .beta1 = BETA1,
                               .beta2 = BETA2,
                               .epsilon = EPSILON,
                               .decay = optimiser->decay,
                               .step = arena->step + 1};
    backend->ops->adam(backend, end - from, &adam, arena->value + from,
                       arena->gradient + from, arena->first + from,
                       arena->second + from);
}

void
nn_step(const struct nn_optimiser *optimiser, struct tensor_backend *backend,
        struct nn_arena *arena)
{
    nn_step_part(optimiser, backend, arena, 0, arena->moved);
    arena->step++;
}

/* ---- Early stopping ----------------------------------------------------- */

enum sotto_status
nn_stopping_init(struct nn_stopping *stopping, const struct nn_arena *arena,
                 uint64_t patience, struct sotto_error *err)
{
    float *kept = malloc((arena->size + 1) * sizeof *kept);
    if (kept == NULL) {
        return host_fail_memory(err);
    }
    memcpy(kept, arena->value, arena->size * sizeof *kept);
    *stopping = (struct nn_stopping){
        .patience = patience, .best = INFINITY, .kept = kept};
    return SOTTO_STATUS_OK;
}

bool
nn_stopping_score(struct nn_stopping *stopping, const struct nn_arena *arena,
                  double score)
{
    if (score < stopping->best) { /* and not for NaN */
        stopping->best = score;
        stopping->since = 0;
        memcpy(stopping->kept, arena->value,
               arena->size * sizeof *stopping->kept);
        return true;
    }
    stopping->since++;
    return stopping->patience == 0 || stopping->since < stopping->patience;
}

void
nn_stopping_restore(const struct nn_stopping *stopping, struct nn_arena *arena)
{
    if (stopping->best < INFINITY) {
        memcpy(arena->value, stopping->kept,
               arena->size * sizeof *stopping->kept);
    }
}

void
nn_stopping_clear(struct nn_stopping *stopping)
{
    free(stopping->kept);
    *stopping = (struct nn_stopping){.best = INFINITY};
}
