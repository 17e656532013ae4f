/*
 * test_graph.c: graphs of layers: gradients by differences, initial weights,
 * the same bits at any number of threads, folding, limits.
 */
#include "fail_alloc.h"
#include "nn_fixture.h"

static struct sotto_error err;

static const struct layer mixed[] = {
    {.out = 6, .activation = ACTIVATION_TANH, .norm = false},
    {.out = 5, .activation = ACTIVATION_SIGMOID, .norm = true},
    {.out = 4, .activation = ACTIVATION_RELU, .norm = true},
    {.out = 3, .activation = ACTIVATION_NONE, .norm = false},
};

/* ---- Gradients ---------------------------------------------------------- */

static void
check_gradients(struct tensor_backend *backend)
{
    const float step = 2e-3F;
    struct model model;
    model_make(&model, 7, 4, mixed, 4);
    (void)model_loss(&model, backend, false);
    for (size_t row = 0; row < model.arena.count; row++) {
        const struct nn_row *r = &model.arena.row[row];
        size_t size = r->rows * (r->columns == 0 ? 1 : r->columns);
        float *value = nn_arena_value(&model.arena, row);
        const float *gradient = nn_arena_gradient(&model.arena, row);
        for (size_t i = 0; i < size && !r->fixed; i++) {
            float kept = value[i];
            value[i] = kept + step;
            double above = value[i];
            double high = model_loss(&model, backend, true);
            value[i] = kept - step;
            double below = value[i];
            double low = model_loss(&model, backend, true);
            value[i] = kept;
            assert_near((high - low) / (above - below), gradient[i], 5e-3);
        }
    }
    model_free(&model);
}

static void
test_gradients(void **state)
{
    (void)state;
    check_gradients(plain);
    check_gradients(cpu[1]);
}

/* dx, too, by differences of x. */
static void
test_dx(void **state)
{
    const float step = 2e-3F;
    struct model model;
    float dx[28];
    (void)state;
    model_make(&model, 7, 4, mixed, 4);
    (void)model_loss(&model, plain, false);
    (void)plain->ops->bernoulli(
        plain, 7, 3, nn_graph_forward(&model.net, plain, model.x, 7, true),
        model.target, 1, nn_graph_dy(&model.net));
    nn_graph_backward(&model.net, plain, model.x, 7, nn_graph_dy(&model.net),
                      dx);
    for (size_t i = 0; i < 28; i++) {
        float kept = model.x[i];
        model.x[i] = kept + step;
        double high = model_loss(&model, plain, true);
        model.x[i] = kept - step;
        double low = model_loss(&model, plain, true);
        model.x[i] = kept;
        assert_near((high - low) / (2 * (double)step), dx[i], 5e-3);
    }
    model_free(&model);
}

/* ---- Whole steps, at any number of threads ------------------------------ */

static const struct layer wide[] = {
    {.out = 150, .activation = ACTIVATION_RELU, .norm = false},
    {.out = 40, .activation = ACTIVATION_RELU, .norm = true},
    {.out = 8, .activation = ACTIVATION_TANH, .norm = false},
    {.out = 300, .activation = ACTIVATION_NONE, .norm = false},
};

static void
train(struct tensor_backend *backend, struct model *model, size_t steps)
{
    const struct nn_optimiser optimiser = {.rate = 1e-3F, .decay = 0.01F};
    for (size_t i = 0; i < steps; i++) {
        (void)model_loss(model, backend, false);
        nn_step(&optimiser, backend, &model->arena);
    }
}

static void
test_threads(void **state)
{
    struct model one;
    (void)state;
    model_make(&one, 65, 300, wide, 4);
    train(cpu[0], &one, 10);
    for (unsigned t = 1; t < CPUS; t++) {
        struct model more;
        model_make(&more, 65, 300, wide, 4);
        train(cpu[t], &more, 10);
        assert_int_equal(more.arena.size, one.arena.size);
        assert_same(more.arena.value, one.arena.value, 4 * one.arena.size);
        model_free(&more);
    }
    model_free(&one);
}

/* The fast back-end stays beside the plain one, and the loss falls. */
static void
test_training(void **state)
{
    struct model fast;
    struct model slow;
    (void)state;
    model_make(&fast, 9, 4, mixed, 4);
    model_make(&slow, 9, 4, mixed, 4);
    double before = model_loss(&slow, plain, true);
    train(cpu[1], &fast, 100);
    train(plain, &slow, 100);
    assert_close(fast.arena.value, slow.arena.value, fast.arena.size, 1e-2);
    double after = model_loss(&slow, plain, true);
    assert_true(after < before);
    assert_near(model_loss(&fast, cpu[1], true), after, 1e-2);
    model_free(&slow);
    model_free(&fast);
}

/* ---- Weights ------------------------------------------------------------ */

static void
test_init(void **state)
{
    struct model model;
    (void)state;
    model_make(&model, 1, 300, wide, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct nn_place *place = &model.net.layer[i];
        const float *w = nn_arena_value(&model.arena, place->weight);
        size_t size = place->in * place->out;
        bool relu = place->layer.activation == ACTIVATION_RELU;
        double variance =
            relu ? 2 / (double)place->in : 2 / (double)(place->in + place->out);
        double limit = sqrt(3 * variance);
        double sum = 0;
        double squares = 0;
        for (size_t j = 0; j < size; j++) {
            assert_true(fabs((double)w[j]) < limit);
            sum += w[j];
            squares += (double)w[j] * (double)w[j];
        }
        double sigma = sqrt(variance / (double)size);
        assert_true(fabs(sum / (double)size) < 5 * sigma);
        assert_near(squares / (double)size / variance, 1,
                    5 * sqrt(0.8 / (double)size));
    }
    assert_true(nn_arena_value(&model.arena, model.net.layer[0].bias)[3] ==
                0.0F);
    assert_true(nn_arena_value(&model.arena, model.net.layer[1].gain)[3] ==
                1.0F);
    assert_true(nn_arena_value(&model.arena, model.net.layer[1].variance)[3] ==
                1.0F);
    float *once = copied(model.arena.value, model.arena.size);
    nn_graph_init(&model.net, 7, 3);
    assert_same(model.arena.value, once, model.arena.size);
    nn_graph_init(&model.net, 7, 4);
    assert_memory_not_equal(model.arena.value, once, 400);
    nn_graph_init(&model.net, 8, 3);
    assert_memory_not_equal(model.arena.value, once, 400);
    free(once);
    model_free(&model);
}

static void
test_names(void **state)
{
    struct model model;
    (void)state;
    model_make(&model, 1, 4, mixed, 4);
    assert_int_equal(model.arena.count, 2 + 5 + 5 + 2);
    assert_string_equal(model.arena.row[0].name, "net.0.weight");
    assert_int_equal(model.arena.row[0].rows, 6);
    assert_int_equal(model.arena.row[0].columns, 4);
    assert_string_equal(model.arena.row[1].name, "net.0.bias");
    assert_string_equal(model.arena.row[6].name, "net.1.variance");
    assert_true(model.arena.row[6].fixed);
    assert_int_equal(model.net.layer[1].bias, SIZE_MAX);
    assert_int_equal(model.net.out, 3);
    model_free(&model);
}

/* A layer whose norm is folded in gives what the stack gives in evaluation. */
static void
test_folded(void **state)
{
    struct model model;
    struct layer layer[4];
    (void)state;
    model_make(&model, 9, 4, mixed, 4);
    train(plain, &model, 20);
    const float *y = nn_graph_forward(&model.net, plain, model.x, 9, false);
    const float *x = model.x;
    float *out = NULL;
    float *room = malloc(nn_graph_floats(&model.net) * sizeof *room);
    assert_non_null(room);
    nn_graph_export(&model.net, room, layer);
    for (size_t i = 0; i < 4; i++) {
        float *next = numbers(9 * layer[i].out, 5, 1);
        assert_false(layer[i].norm);
        plain->ops->dense(plain, 9, layer[i].in, layer[i].out, x,
                          layer[i].weight, layer[i].bias, layer[i].activation,
                          next);
        free(out);
        x = out = next;
    }
    assert_close(out, y, 27, 1e-5);
    free(out);
    free(room);
    model_free(&model);
}

/* ---- Limits ------------------------------------------------------------- */

/* Layers and rows beyond any fixed number. */
static void
test_many(void **state)
{
    struct layer many[100] = {{1, 0, false}};
    struct model model;
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        many[i] = (struct layer){.out = 3, .norm = i > 0, .from = {0, 1}};
    }
    model_make(&model, 5, 3, many, 100);
    assert_int_equal(model.arena.count, 497);
    assert_string_equal(model.arena.row[496].name, "net.99.variance");
    double before = model_loss(&model, cpu[1], false);
    assert_true(isfinite(before));
    train(cpu[1], &model, 20);
    assert_true(model_loss(&model, cpu[1], true) < before);
    model_free(&model);
}

static enum sotto_status
plan(const char *prefix, const struct layer *layer, size_t layers)
{
    struct nn_arena arena;
    struct nn_graph graph;
    memset(&err, 0xa5, sizeof err);
    nn_arena_init(&arena);
    enum sotto_status status =
        nn_graph_plan(&graph, &arena, prefix, 4, layer, layers, &err);
    nn_graph_clear(&graph);
    nn_arena_clear(&arena);
    return status;
}

static void
test_limits(void **state)
{
    (void)state;
    assert_int_equal(plan("s", mixed, 0), SOTTO_STATUS_LIMIT);
    assert_string_equal(err.message, "'s' has no layers");
    assert_int_equal(
        plan("a-name-that-leaves-no-room-for-a-weight's-one", mixed, 1),
        SOTTO_STATUS_LIMIT);
    assert_string_equal(err.message,
                        "the name of layer 0 of 'a-name-that-leaves-no-room-"
                        "for-a-weight's-one' is too long: a tensor's is below "
                        "48 bytes");
    for (long i = 1; i <= 3; i++) {
        fail_alloc_at(i);
        assert_int_equal(plan("s", mixed, 4), SOTTO_STATUS_MEMORY);
        assert_int_equal(err.status, SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
}

static void
test_reserve(void **state)
{
    struct model model;
    (void)state;
    model_make(&model, 3, 4, mixed, 4);
    assert_int_equal(nn_graph_reserve(&model.net, 50, &err), SOTTO_STATUS_OK);
    assert_int_equal(model.net.reserved, 50);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal((uintptr_t)model.net.layer[i].y % 64, 0);
    }
    assert_int_equal(nn_graph_reserve(&model.net, SIZE_MAX / 8, &err),
                     SOTTO_STATUS_LIMIT);
    fail_alloc_at(1);
    assert_int_equal(nn_graph_reserve(&model.net, 60, &err),
                     SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_int_equal(model.net.reserved, 0);
    assert_null(nn_graph_dy(&model.net));
    model_free(&model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients), cmocka_unit_test(test_dx),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_training),
        cmocka_unit_test(test_init),      cmocka_unit_test(test_names),
        cmocka_unit_test(test_folded),    cmocka_unit_test(test_many),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_reserve),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
