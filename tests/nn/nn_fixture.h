/*
 * nn_fixture.h: a small model with one of everything, on a back-end, and
 * training steps of it.
 */
#ifndef SOTTO_TESTS_NN_FIXTURE_H
#define SOTTO_TESTS_NN_FIXTURE_H

#include "../tensor/tensor_fixture.h"

#include "nn/graph.h"
#include "nn/optimiser.h"

struct model {
    struct nn_arena arena;
    struct nn_graph net;
    float *x, *target;
    size_t n;
};

static inline void
model_make(struct model *model, size_t n, size_t in, const struct layer *layer,
           size_t layers)
{
    struct sotto_error err;
    nn_arena_init(&model->arena);
    assert_int_equal(nn_graph_plan(&model->net, &model->arena, "net", in, layer,
                                   layers, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(nn_arena_allocate(&model->arena, &err), SOTTO_STATUS_OK);
    nn_graph_init(&model->net, 7, 3);
    assert_int_equal(nn_graph_reserve(&model->net, n, &err), SOTTO_STATUS_OK);
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
    nn_graph_clear(&model->net);
    nn_arena_clear(&model->arena);
}

/* Forward, loss, and gradients unless `loss_only`. */
static inline double
model_loss(struct model *model, struct tensor_backend *backend, bool loss_only)
{
    const float *y =
        nn_graph_forward(&model->net, backend, model->x, model->n, true);
    float *dy = nn_graph_dy(&model->net);
    double loss =
        backend->ops->bernoulli(backend, model->n, model->net.out, y,
                                model->target, 1, loss_only ? NULL : dy);
    if (!loss_only) {
        nn_graph_backward(&model->net, backend, model->x, model->n, dy, NULL);
    }
    return loss;
}

/*
 * (f(v + h) - f(v - h)) / 2h against the gradient. Where a kink of ReLU or of
 * the largest lies between the two points, a smaller step tells another slope:
 * then the step is halved until two agree.
 */
static inline double
slope_at(struct model *model, float *value)
{
    float kept = *value;
    double before = NAN;
    for (float step = 4e-3F; step > 1e-4F; step /= 2) {
        *value = kept + step;
        double above = *value;
        double high = model_loss(model, plain, true);
        *value = kept - step;
        double below = *value;
        double low = model_loss(model, plain, true);
        *value = kept;
        double slope = (high - low) / (above - below);
        if (fabs(slope - before) < 2e-3 * (1 + fabs(slope))) {
            return slope;
        }
        before = slope;
    }
    return NAN;
}

/* How many of `size` gradients two steps could not agree on. */
static inline size_t
check_slopes(struct model *model, size_t size, float *value,
             const float *gradient)
{
    size_t unsure = 0;
    for (size_t i = 0; i < size; i++) {
        double slope = slope_at(model, &value[i]);
        if (isnan(slope)) {
            unsure++;
        } else {
            assert_near(slope, gradient[i], 1e-2);
        }
    }
    return unsure;
}

/* The gradients of a back-end, those of x too, against differences of the plain
   one, in batches of four. */
static inline void
model_check_gradients(struct tensor_backend *backend, size_t in,
                      const struct layer *layer, size_t layers)
{
    struct model model;
    size_t unsure = 0;
    size_t all = 4 * in;
    float *dx = numbers(4 * in, 5, 1);
    model_make(&model, 4, in, layer, layers);
    (void)model_loss(&model, backend, true);
    (void)backend->ops->bernoulli(backend, 4, model.net.out,
                                  model.net.layer[layers - 1].y, model.target,
                                  1, nn_graph_dy(&model.net));
    nn_graph_backward(&model.net, backend, model.x, 4, nn_graph_dy(&model.net),
                      dx);
    for (size_t row = 0; row < model.arena.count; row++) {
        const struct nn_row *r = &model.arena.row[row];
        size_t size = r->rows * (r->columns == 0 ? 1 : r->columns);
        if (!r->fixed) {
            unsure +=
                check_slopes(&model, size, nn_arena_value(&model.arena, row),
                             nn_arena_gradient(&model.arena, row));
            all += size;
        }
    }
    unsure += check_slopes(&model, 4 * in, model.x, dx);
    assert_true(unsure * 20 < all);
    free(dx);
    model_free(&model);
}

#endif
