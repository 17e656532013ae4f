/*
 * vlm_step.c: the training step that is timed.
 */
#include "bench/vlm_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define SEED 1u
#define CLOSE_LOSS 1e-5 /* of the loss */
#define CLOSE_GRADIENT 1e-4

const size_t vlm_sizes[VLM_LAYERS + 1] = {784, 400, 150, 50, 8,
                                          50,  150, 400, 784};

static const struct nn_optimiser adam = {.rate = (float)VLM_RATE};

/* ---- Life ---------------------------------------------------------------- */

enum sotto_status
vlm_step_init(struct vlm_step *step, struct tensor_backend *backend, size_t n,
              struct sotto_error *err)
{
    const struct variational_settings set = {.hidden = {{400, 150, 50}, 3},
                                             .l = VLM_L,
                                             .eps_pre = 2 * VLM_L / VLM_B,
                                             .batch = (uint32_t)n,
                                             .seed = SEED};
    size_t width = vlm_sizes[0];
    struct learnt learnt = {
        .set = {.d = 8}, .block = &step->block, .blocks = 1};
    memset(step, 0, sizeof *step);
    step->block = (struct analyst_block){ANALYST_BERNOULLI, 0, width};
    seeded_init(&step->seeded, SEED, 3);
    step->data = malloc(VLM_RECORDS * width * sizeof *step->data);
    step->row = calloc(n > VLM_TRIED ? n : VLM_TRIED, sizeof *step->row);
    if (step->data == NULL || step->row == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < VLM_RECORDS * width; i++) {
        step->data[i] = (float)(random_u32(&step->seeded.random) >> 31);
    }
    learnt.width = width;
    return variational_net_init(&step->net, &learnt, &set, backend, err);
}

void
vlm_step_clear(struct vlm_step *step)
{
    variational_net_clear(&step->net);
    free(step->data);
    free(step->row);
}

/* ---- The step ------------------------------------------------------------ */

void
vlm_step_run(struct vlm_step *step, size_t n)
{
    struct variational_net *net = &step->net;
    struct variational_sums sums = {0};
    for (size_t i = 0; i < n; i++) {
        step->row[i] = random_u32(&step->seeded.random) % VLM_RECORDS;
    }
    variational_net_run(net, step->data, step->row, n,
                        (uint32_t)net->arena.step, true, &sums);
    nn_step(&adam, net->backend, &net->arena);
}

/* ---- The answer ---------------------------------------------------------- */

/* The loss of the first records, with their noise of epoch 0. */
static double
try_once(struct vlm_step *step, bool training)
{
    struct variational_sums sums = {0};
    for (uint32_t i = 0; i < VLM_TRIED; i++) {
        step->row[i] = i;
    }
    variational_net_run(&step->net, step->data, step->row, VLM_TRIED, 0,
                        training, &sums);
    return variational_objective(&step->net, &sums);
}

double
vlm_step_try(struct vlm_step *step)
{
    (void)try_once(step, true);
    nn_step(&adam, step->net.backend, &step->net.arena);
    return try_once(step, false);
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
vlm_step_check(struct vlm_step *step, struct sotto_error *err)
{
    struct variational_net *net = &step->net;
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
    slow = try_once(step, true);
    memcpy(expected, net->arena.gradient, size * sizeof *expected);
    net->backend = fast_one;
    fast = try_once(step, true);
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
