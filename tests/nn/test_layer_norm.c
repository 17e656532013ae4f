/*
 * test_layer_norm.c: norms behind products: gradients, running moments,
 * folding.
 */
#include "nn_fixture.h"

static const struct layer layers[] = {
    {.out = 3, .norm = true},
    {.out = 4, .norm = true, .activation = ACTIVATION_TANH},
    {.kind = LAYER_CONV,
     .height = 4,
     .width = 3,
     .channels = 2,
     .filters = 3,
     .kernel = 3,
     .stride = 1,
     .pad = 1,
     .norm = true},
};

static void
test_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        model_check_gradients(plain, 24, &layers[i], 1);
        model_check_gradients(cpu[1], 24, &layers[i], 1);
    }
}

/* What is folded is gain (w - mean) / sqrt(variance + 1e-5) + shift. */
static void
test_folded(void **state)
{
    const struct layer layer = {.out = 1, .norm = true};
    struct model model;
    float room[3];
    struct layer out;
    (void)state;
    model_make(&model, 1, 2, &layer, 1);
    const struct nn_place *place = &model.net.layer[0];
    memcpy(nn_arena_value(&model.arena, place->weight), (float[]){1, -2},
           2 * sizeof(float));
    *nn_arena_value(&model.arena, place->gain) = 3;
    *nn_arena_value(&model.arena, place->shift) = 0.5F;
    *nn_arena_value(&model.arena, place->mean) = 4;
    *nn_arena_value(&model.arena, place->variance) = 0.25F;
    assert_int_equal(nn_graph_floats(&model.net), 3);
    nn_graph_export(&model.net, room, &out);
    assert_near(out.weight[0], 6 / sqrt(1 + 4e-5), 1e-6);
    assert_near(out.weight[1], -12 / sqrt(1 + 4e-5), 1e-6);
    assert_near(out.bias[0], 0.5 - 24 / sqrt(1 + 4e-5), 1e-6);
    model_free(&model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_folded),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
