/*
 * clm_step.c: the training step that is timed.
 */
#include "bench/clm_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define SEED 1u
#define CLOSE_LOSS 1e-5 /* of the loss */
#define CLOSE_GRADIENT 1e-4

static const struct nn_optimiser adam = {.rate = (float)CLM_RATE,
                                         .decay = (float)CLM_DECAY};

/* ---- Life ---------------------------------------------------------------- */

/* Images of noise. */
static enum sotto_status
make_table(struct clm_step *step, struct sotto_error *err)
{
    const struct sotto_image image = {CLM_SIDE, CLM_SIDE, 1};
    size_t size = CLM_RECORDS * CLM_SIDE * CLM_SIDE;
    uint8_t *noise = malloc(size);
    enum sotto_status status = sotto_table_new(CLM_RECORDS, &step->table, err);
    for (size_t i = 0; noise != NULL && i < size; i++) {
        noise[i] = (uint8_t)(random_u32(&step->seeded.random) >> 24);
    }
    if (status == SOTTO_STATUS_OK) {
        status = noise != NULL ? sotto_table_add_bytes(step->table, "image",
                                                       noise, &image, err)
                               : host_fail_memory(err);
    }
    free(noise);
    return status;
}

static enum sotto_status
begin(struct clm_step *step, struct sotto_error *err)
{
    enum sotto_status status = make_table(step, err);
    step->job =
        (struct encoder_job){.table = step->table, .options = &step->options};
    if (status == SOTTO_STATUS_OK) {
        status =
            learnt_begin(&step->learnt, &step->job, &step->set.common, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = contrastive_settings_suit(&step->set, &step->learnt, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = contrastive_views_init(&step->views, &step->learnt, &step->set,
                                        err);
    }
    return status;
}

enum sotto_status
clm_step_init(struct clm_step *step, struct host_pool *pool,
              struct tensor_backend *backend, size_t n, struct sotto_error *err)
{
    enum sotto_status status;
    memset(step, 0, sizeof *step);
    step->options = (struct sotto_train_options){.eps = "1"};
    settings_init(contrastive_settings, &step->set);
    step->set.batch = (uint32_t)n;
    step->set.seed = SEED;
    seeded_init(&step->seeded, SEED, 3);
    status = begin(step, err);
    if (status == SOTTO_STATUS_OK) {
        step->row = calloc(2 * n, sizeof *step->row);
        status = step->row == NULL
                     ? host_fail_memory(err)
                     : contrastive_net_init(&step->net, &step->learnt,
                                            &step->set, pool, backend, err);
    }
    return status;
}

void
clm_step_clear(struct clm_step *step)
{
    contrastive_net_clear(&step->net);
    learnt_clear(&step->learnt);
    sotto_table_free(step->table);
    free(step->row);
}

/* ---- The step ------------------------------------------------------------ */

static double
run_rows(struct clm_step *step)
{
    struct contrastive_net *net = &step->net;
    net->backend->ops->gather(net->backend, 2 * net->batch, net->width,
                              step->learnt.x, step->row, net->x);
    return contrastive_net_run(net, step->row, 0);
}

void
clm_step_run(struct clm_step *step)
{
    for (size_t i = 0; i < 2 * step->net.batch; i++) {
        step->row[i] = random_u32(&step->seeded.random) % CLM_RECORDS;
    }
    (void)run_rows(step);
    nn_step(&adam, step->net.backend, &step->net.arena);
}

void
clm_step_distort(struct clm_step *step)
{
    struct contrastive_net *net = &step->net;
    for (uint32_t view = 0; view < 2; view++) {
        contrastive_views_make(&step->views, net->pool, step->row, net->batch,
                               0, view,
                               net->x + view * net->batch * net->width);
    }
}

/* ---- The answer ---------------------------------------------------------- */

static double
try_once(struct clm_step *step)
{
    for (uint32_t i = 0; i < 2 * step->net.batch; i++) {
        step->row[i] = i;
    }
    return run_rows(step);
}

double
clm_step_try(struct clm_step *step)
{
    (void)try_once(step);
    nn_step(&adam, step->net.backend, &step->net.arena);
    return try_once(step);
}

static double
largest_difference(const float *a, const float *b, size_t size)
{
    double most = 0;
    for (size_t i = 0; i < size; i++) {
        double away = fabs((double)a[i] - (double)b[i]);
        most = away <= most ? most : away; /* and a NaN stays */
    }
    return most;
}

enum sotto_status
clm_step_check(struct clm_step *step, struct sotto_error *err)
{
    struct contrastive_net *net = &step->net;
    struct tensor_backend *fast_one = net->backend, *plain = NULL;
    size_t size = net->arena.moved;
    float *expected = malloc(size * sizeof *expected);
    enum sotto_status status = expected == NULL
                                   ? host_fail_memory(err)
                                   : tensor_new("plain", NULL, &plain, err);
    double slow, fast, worst;
    if (expected == NULL || plain == NULL) {
        goto done;
    }
    net->backend = plain;
    slow = try_once(step);
    memcpy(expected, net->arena.gradient, size * sizeof *expected);
    net->backend = fast_one;
    fast = try_once(step);
    worst = largest_difference(net->arena.gradient, expected, size);
    if (!(fabs(fast - slow) <= CLOSE_LOSS * slow && worst <= CLOSE_GRADIENT)) {
        status = host_fail(err, SOTTO_STATUS_CHECK, 0,
                           "a training step is wrong: a loss of %.9g, not "
                           "%.9g, and gradients off by %.3g",
                           fast, slow, worst);
    }
done:
    tensor_backend_free(plain);
    free(expected);
    return status;
}
