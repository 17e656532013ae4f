/*
 * nn_fixture.h: a small model with one of everything, on a back-end, and
 * training steps of it.
 */
#ifndef SOTTO_TESTS_NN_FIXTURE_H
#define SOTTO_TESTS_NN_FIXTURE_H

#include "../tensor/tensor_fixture.h"

#include "nn/optimiser.h"
#include "nn/stack.h"

struct model {
    struct nn_arena arena;
    struct nn_stack net;
    float *x, *target;
    size_t n;
};

static inline void
model_make(struct model *model, size_t n, size_t in,
           const struct nn_layer *layer, size_t layers)
{
    struct sotto_error err;
    nn_arena_init(&model->arena);
    assert_int_equal(nn_stack_plan(&model->net, &model->arena, "net", in, layer,
                                   layers, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(nn_arena_allocate(&model->arena, &err), SOTTO_STATUS_OK);
    nn_stack_init(&model->net, 7, 3);
    assert_int_equal(nn_stack_reserve(&model->net, n, &err), SOTTO_STATUS_OK);
    model->n = n;
    model->x = numbers(n * in, 1, 1);
    model->target = numbers(n * model->net.out, 2, 1);
    for (size_t i = 0; i < n * model->net.out; i++) {
        model->target[i] = fabsf(model->target[i]);
    }
}

static inline void
model_free(struct model *model)
{
    free(model->target);
    free(model->x);
    nn_stack_clear(&model->net);
    nn_arena_clear(&model->arena);
}

/* Forward, loss, and gradients unless `loss_only`. */
static inline double
model_loss(struct model *model, struct tensor_backend *backend, bool loss_only)
{
    const float *y =
        nn_stack_forward(&model->net, backend, model->x, model->n, true);
    float *dy = nn_stack_dy(&model->net);
    double loss =
        backend->ops->bernoulli(backend, model->n, model->net.out, y,
                                model->target, 1, loss_only ? NULL : dy);
    if (!loss_only) {
        nn_stack_backward(&model->net, backend, model->x, model->n, dy, NULL);
    }
    return loss;
}

#endif
