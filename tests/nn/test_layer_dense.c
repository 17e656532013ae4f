/*
 * test_layer_dense.c: dense layers alone: gradients, and y = W x + b by hand.
 */
#include "nn_fixture.h"

static const struct layer layers[] = {
    {.out = 3},
    {.out = 4, .activation = ACTIVATION_TANH},
    {.out = 24, .activation = ACTIVATION_SIGMOID, .from = {0, 1}},
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

/* relu(2 x_0 - x_1 + 1), and its shapes. */
static void
test_known(void **state)
{
    const struct layer layer = {.out = 1, .activation = ACTIVATION_RELU};
    struct model model;
    (void)state;
    model_make(&model, 2, 2, &layer, 1);
    const struct nn_place *place = &model.net.layer[0];
    assert_int_equal(place->fan, 2);
    assert_int_equal(place->width, 1);
    assert_int_equal(place->places, 1);
    memcpy(nn_arena_value(&model.arena, place->weight), (float[]){2, -1},
           2 * sizeof(float));
    *nn_arena_value(&model.arena, place->bias) = 1;
    memcpy(model.x, (float[]){1, 2, 1, 4}, 4 * sizeof(float));
    const float *y = nn_graph_forward(&model.net, plain, model.x, 2, false);
    assert_true(y[0] == 1 && y[1] == 0);
    model_free(&model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
