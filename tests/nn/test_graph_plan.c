/*
 * test_graph_plan.c: graphs with convolutions, pools and sums: shapes, names,
 * gradients by differences, the same bits at any number of threads, folding,
 * and layers that do not fit.
 */
#include "fail_alloc.h"
#include "nn_fixture.h"

static struct sotto_error err;

#define TANH ACTIVATION_TANH
#define RELU ACTIVATION_RELU
#define NONE ACTIVATION_NONE
#define CONV(side_y, side_x, in, out, k, s, ...)                               \
    {                                                                          \
        .kind = LAYER_CONV, .height = side_y, .width = side_x, .channels = in, \
        .filters = out, .kernel = k, .stride = s, .pad = (k) / 2, __VA_ARGS__  \
    }
#define POOL(of, side_y, side_x, in, k, s, p)                                  \
    {                                                                          \
        .kind = of, .height = side_y, .width = side_x, .channels = in,         \
        .kernel = k, .stride = s, .pad = p                                     \
    }

/* One of everything: 6 x 5 x 2 in. Skips of 2 with norms, of 1 without. */
static const struct layer everything[] = {
    CONV(6, 5, 2, 3, 3, 1, .activation = RELU, .norm = true),
    CONV(6, 5, 3, 4, 3, 1, .activation = TANH, .norm = true),
    CONV(6, 5, 4, 3, 3, 1, .activation = RELU, .norm = true, .from = {0, 2}),
    POOL(LAYER_POOL_MAX, 6, 5, 3, 3, 2, 1),
    CONV(3, 3, 3, 3, 1, 1, .activation = RELU, .from = {0, 1}),
    POOL(LAYER_POOL_MEAN, 3, 3, 3, 2, 1, 0),
    CONV(2, 2, 3, 5, 3, 2, .activation = TANH),
    {.out = 3, .activation = NONE, .norm = true},
};
#define LAYERS (sizeof everything / sizeof *everything)

/* ---- Gradients ---------------------------------------------------------- */

static void
test_gradients(void **state)
{
    (void)state;
    model_check_gradients(plain, 60, everything, LAYERS);
    model_check_gradients(cpu[1], 60, everything, LAYERS);
}

/*
 * Projection shortcuts, of x too, an output that two layers take and one adds,
 * a sum of a layer that nothing else takes, and sums of dense layers.
 *
 *     0  x -> 3x3/2              3  2 -> 3x3, + 0
 *     1  x -> 1x1/2              4  2 -> 1x1, + 3
 *     2  0 -> 3x3, + 1           5  dense   6  dense, + 5   7  dense
 */
static const struct layer projected[] = {
    CONV(6, 5, 2, 3, 3, 2, .norm = true, .activation = RELU),
    CONV(6, 5, 2, 3, 1, 2, .norm = true, .from = {2, 0}),
    CONV(3, 3, 3, 3, 3, 1, .norm = true, .activation = RELU, .from = {2, 1}),
    CONV(3, 3, 3, 3, 3, 1, .norm = true, .activation = TANH, .from = {1, 3}),
    CONV(3, 3, 3, 3, 1, 1, .activation = TANH, .from = {2, 1}),
    {.out = 4, .activation = TANH},
    {.out = 4, .activation = TANH, .norm = true, .from = {0, 1}},
    {.out = 3},
};
#define PROJECTED (sizeof projected / sizeof *projected)

static void
test_projected(void **state)
{
    struct model one, two;
    (void)state;
    model_check_gradients(plain, 60, projected, PROJECTED);
    model_check_gradients(cpu[1], 60, projected, PROJECTED);
    model_make(&one, 9, 60, projected, PROJECTED);
    model_make(&two, 9, 60, projected, PROJECTED);
    double first = model_loss(&one, cpu[0], false);
    assert_true(first == model_loss(&two, cpu[2], false));
    assert_same(one.arena.gradient, two.arena.gradient, one.arena.size);
    model_free(&one);
    model_free(&two);
}

/* y = relu(B relu(A x) + P x), by hand. */
static void
test_shortcut_known(void **state)
{
    const struct layer layers[] = {
        CONV(1, 2, 1, 1, 1, 1, .activation = RELU),
        CONV(1, 2, 1, 1, 1, 1, .from = {2, 0}),
        CONV(1, 2, 1, 1, 1, 1, .activation = RELU, .from = {2, 1}),
    };
    const float parameters[][2] = {{2, 1}, {-3, 0.5F}, {4, -1}};
    struct model model;
    (void)state;
    model_make(&model, 1, 2, layers, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct nn_place *place = &model.net.layer[i];
        *nn_arena_value(&model.arena, place->weight) = parameters[i][0];
        *nn_arena_value(&model.arena, place->bias) = parameters[i][1];
    }
    model.x[0] = 1;
    model.x[1] = 8;
    const float *y = nn_graph_forward(&model.net, plain, model.x, 1, false);
    assert_true(y[0] == 4 * 3 - 1 - 3 + 0.5F);
    assert_true(y[1] == 4 * 17 - 1 - 24 + 0.5F);
    model_free(&model);
}

/* The gradients of parameters are the same whether dx is wanted or not. */
static void
test_without_dx(void **state)
{
    struct model model;
    float dx[3 * 60];
    (void)state;
    model_make(&model, 3, 60, everything, LAYERS);
    (void)model_loss(&model, cpu[1], false);
    float *kept = copied(model.arena.gradient, model.arena.size);
    (void)cpu[1]->ops->bernoulli(
        cpu[1], 3, 3, nn_graph_forward(&model.net, cpu[1], model.x, 3, true),
        model.target, 1, nn_graph_dy(&model.net));
    nn_graph_backward(&model.net, cpu[1], model.x, 3, nn_graph_dy(&model.net),
                      dx);
    assert_same(model.arena.gradient, kept, model.arena.size);
    free(kept);
    model_free(&model);
}

/* ---- Whole steps -------------------------------------------------------- */

/* The shapes of a network for 28 x 28 digits. */
static const struct layer digits[] = {
    CONV(28, 28, 1, 16, 5, 2, .activation = RELU, .norm = true),
    CONV(14, 14, 16, 32, 3, 1, .activation = RELU, .norm = true),
    POOL(LAYER_POOL_MAX, 14, 14, 32, 2, 2, 0),
    CONV(7, 7, 32, 64, 3, 1, .activation = RELU, .norm = true),
    CONV(7, 7, 64, 64, 3, 1, .activation = RELU, .norm = true, .from = {0, 1}),
    POOL(LAYER_POOL_MEAN, 7, 7, 64, 2, 2, 1),
    {.out = 10, .norm = true},
};

static double
train(struct tensor_backend *backend, struct model *model, size_t steps)
{
    const struct nn_optimiser optimiser = {.rate = 1e-3F};
    double loss = 0;
    for (size_t i = 0; i < steps; i++) {
        loss = model_loss(model, backend, false);
        nn_step(&optimiser, backend, &model->arena);
    }
    return loss;
}

static void
test_threads(void **state)
{
    struct model one;
    (void)state;
    model_make(&one, 45, 784, digits, sizeof digits / sizeof *digits);
    double before = train(cpu[0], &one, 1);
    double after = train(cpu[0], &one, 3);
    assert_true(after < before);
    for (unsigned t = 1; t < CPUS; t++) {
        struct model more;
        model_make(&more, 45, 784, digits, sizeof digits / sizeof *digits);
        (void)train(cpu[t], &more, 4);
        assert_same(more.arena.value, one.arena.value, 4 * one.arena.size);
        model_free(&more);
    }
    model_free(&one);
}

/* ---- Weights ------------------------------------------------------------ */

static void
test_names(void **state)
{
    struct model model;
    (void)state;
    model_make(&model, 2, 60, everything, LAYERS);
    assert_string_equal(model.arena.row[0].name, "net.0.weight");
    assert_int_equal(model.arena.row[0].rows, 3);
    assert_int_equal(model.arena.row[0].columns, 18);
    assert_string_equal(model.arena.row[1].name, "net.0.gain");
    assert_int_equal(model.arena.row[1].rows, 3);
    assert_int_equal(model.net.layer[3].weight, SIZE_MAX);
    assert_int_equal(model.net.layer[3].out, 3 * 3 * 3);
    assert_int_equal(model.net.layer[6].out, 5);
    assert_int_equal(model.net.out, 3);
    model_free(&model);
}

/* He's variance counts the kernel; Glorot's on both sides. */
static void
test_init(void **state)
{
    static const struct layer layers[] = {
        CONV(8, 8, 20, 30, 3, 1, .activation = RELU),
        CONV(8, 8, 30, 40, 3, 1, .activation = TANH),
    };
    const double variance[] = {2 / 180.0, 2 / (270.0 + 360.0)};
    struct model model;
    (void)state;
    model_make(&model, 1, 8 * 8 * 20, layers, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct nn_place *place = &model.net.layer[i];
        const float *w = nn_arena_value(&model.arena, place->weight);
        size_t size = place->fan * place->width;
        double squares = 0;
        for (size_t j = 0; j < size; j++) {
            assert_true(fabs((double)w[j]) < sqrt(3 * variance[i]));
            squares += (double)w[j] * (double)w[j];
        }
        assert_near(squares / (double)size / variance[i], 1,
                    5 * sqrt(0.8 / (double)size));
    }
    model_free(&model);
}

/* A stack whose norms are folded in, layer by layer, gives what the stack gives
   in evaluation. */
static void
test_folded(void **state)
{
    struct model model;
    struct layer layer[LAYERS];
    const float *in[LAYERS + 1];
    float *out[LAYERS];
    (void)state;
    model_make(&model, 5, 60, everything, LAYERS);
    (void)train(plain, &model, 10);
    float *room = malloc(nn_graph_floats(&model.net) * sizeof *room);
    assert_non_null(room);
    nn_graph_export(&model.net, room, layer);
    in[0] = model.x;
    for (size_t i = 0; i < LAYERS; i++) {
        const struct layer *l = &layer[i];
        const struct tensor_window *window = &model.net.layer[i].window;
        in[i + 1] = out[i] = numbers(5 * (size_t)l->out, 5, 1);
        if (layer_pools(l->kind)) {
            plain->ops->pool(plain, 5, window,
                             l->kind == LAYER_POOL_MAX ? TENSOR_POOL_MAX
                                                       : TENSOR_POOL_MEAN,
                             in[i], out[i]);
        } else if (l->kind == LAYER_CONV) {
            plain->ops->conv(plain, 5, window, in[i], l->weight, l->bias,
                             l->from[1] == 0 ? l->activation : NONE, out[i]);
        } else {
            plain->ops->dense(plain, 5, l->in, l->out, in[i], l->weight,
                              l->bias, l->activation, out[i]);
        }
        if (l->from[1] != 0) {
            plain->ops->add(plain, 5 * (size_t)l->out, in[i + 1 - l->from[1]],
                            l->activation, out[i]);
        }
    }
    free(room);
    const float *y = nn_graph_forward(&model.net, plain, model.x, 5, false);
    assert_close(out[LAYERS - 1], y, 15, 1e-5);
    y = nn_graph_forward(&model.net, cpu[2], model.x, 5, false);
    assert_close(out[LAYERS - 1], y, 15, 1e-5);
    for (size_t i = 0; i < LAYERS; i++) {
        free(out[i]);
    }
    model_free(&model);
}

/* ---- What does not fit -------------------------------------------------- */

static enum sotto_status
plan(const struct layer *layer, size_t layers, size_t in)
{
    struct nn_arena arena;
    struct nn_graph graph;
    memset(&err, 0xa5, sizeof err);
    nn_arena_init(&arena);
    enum sotto_status status =
        nn_graph_plan(&graph, &arena, "s", in, layer, layers, &err);
    nn_graph_clear(&graph);
    nn_arena_clear(&arena);
    return status;
}

static void
test_shapes(void **state)
{
    const struct layer conv = CONV(4, 4, 2, 2, 3, 1, .norm = false);
    const struct layer pool = POOL(LAYER_POOL_MAX, 4, 4, 2, 2, 2, 0);
    struct layer bad = conv;
    (void)state;
    assert_int_equal(plan(&conv, 1, 32), SOTTO_STATUS_OK);
    assert_int_equal(plan(&pool, 1, 32), SOTTO_STATUS_OK);
    assert_int_equal(plan(&conv, 1, 33), SOTTO_STATUS_INPUT);
    assert_string_equal(err.message,
                        "layer 0 of 's' does not fit: 33 entries as 4x4x2, "
                        "kernel 3, stride 1, padding 1");
    bad.stride = 0;
    assert_int_equal(plan(&bad, 1, 32), SOTTO_STATUS_INPUT);
    bad = conv;
    bad.kernel = 0;
    assert_int_equal(plan(&bad, 1, 32), SOTTO_STATUS_INPUT);
    bad.kernel = 7;
    assert_int_equal(plan(&bad, 1, 32), SOTTO_STATUS_INPUT);
    bad = conv;
    bad.filters = 0;
    assert_int_equal(plan(&bad, 1, 32), SOTTO_STATUS_INPUT);
    bad.filters = 65536;
    assert_int_equal(plan(&bad, 1, 32), SOTTO_STATUS_INPUT);
    bad = pool;
    bad.pad = 2;
    assert_int_equal(plan(&bad, 1, 32), SOTTO_STATUS_INPUT);
    bad = pool;
    bad.norm = true;
    assert_int_equal(plan(&bad, 1, 32), SOTTO_STATUS_INPUT);
    assert_string_equal(err.message, "layer 0 of 's', a pool, has no norm, "
                                     "sum or activation");
    bad = (struct layer)CONV(65535, 4, 1, 65535, 1, 1, .norm = false);
    assert_int_equal(plan(&bad, 1, 65535 * 4), SOTTO_STATUS_LIMIT);
    assert_string_equal(err.message, "layer 0 of 's' is too large");
}

static void
test_skips(void **state)
{
    const struct layer conv = CONV(4, 4, 2, 2, 3, 1, .norm = false);
    struct layer layer[4] = {conv, conv, conv, conv};
    (void)state;
    layer[1].from[1] = 2;
    layer[2].from[1] = 1;
    layer[3].from[1] = 1;
    assert_int_equal(plan(layer, 4, 32), SOTTO_STATUS_OK);
    layer[2].from[1] = 2; /* layer 1 is under two */
    assert_int_equal(plan(layer, 4, 32), SOTTO_STATUS_OK);
    layer[2].from[1] = 4; /* from before x */
    assert_int_equal(plan(layer, 4, 32), SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 2);
    assert_string_equal(err.message,
                        "layer 2 of 's' takes what no layer before it makes");
    layer[2].from[1] = 0;
    layer[2].from[0] = 4;
    assert_int_equal(plan(layer, 4, 32), SOTTO_STATUS_INPUT);
    layer[2].from[0] = 2; /* then nothing takes layer 1 */
    assert_int_equal(plan(layer, 4, 32), SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 1);
    assert_string_equal(err.message,
                        "no later layer takes what layer 1 of 's' makes");
    layer[2].from[0] = 0;
    layer[1].filters = 3; /* another shape */
    layer[2].channels = 3;
    assert_int_equal(plan(layer, 4, 32), SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 1);
    assert_string_equal(err.message,
                        "layer 1 of 's' adds what has another shape");
    const struct layer dense = {.out = 32, .from = {0, 1}};
    assert_int_equal(plan(&dense, 1, 32), SOTTO_STATUS_OK);
    assert_int_equal(plan(&dense, 1, 33), SOTTO_STATUS_INPUT);
    /* As many entries, and another image. */
    struct layer turned[2] = {conv, conv};
    turned[0].height = turned[1].height = 2;
    turned[0].width = turned[1].width = 8;
    turned[1].kernel = turned[1].stride = 1;
    turned[1].pad = 0;
    assert_int_equal(plan(turned, 2, 32), SOTTO_STATUS_OK);
    turned[1].height = 8;
    turned[1].width = 2;
    turned[1].from[1] = 1;
    assert_int_equal(plan(turned, 2, 32), SOTTO_STATUS_INPUT);
}

static void
test_reserve(void **state)
{
    struct model model;
    (void)state;
    model_make(&model, 3, 60, everything, LAYERS);
    fail_alloc_at(1);
    assert_int_equal(nn_graph_reserve(&model.net, 9, &err),
                     SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_int_equal(nn_graph_reserve(&model.net, 9, &err), SOTTO_STATUS_OK);
    assert_non_null(model.net.layer[2].dbefore);
    assert_null(model.net.layer[1].dbefore);
    model_free(&model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_projected),
        cmocka_unit_test(test_shortcut_known),
        cmocka_unit_test(test_without_dx),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_init),
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_skips),
        cmocka_unit_test(test_reserve),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
