/*
 * test_layer_conv.c: convolutions alone: gradients, and a window by hand.
 */
#include "nn_fixture.h"

#define CONV(...)                                                              \
    {                                                                          \
        .kind = LAYER_CONV, .height = 4, .width = 3, .channels = 2,            \
        __VA_ARGS__                                                            \
    }
static const struct layer layers[] = {
    CONV(.filters = 3, .kernel = 3, .stride = 2, .pad = 1),
    CONV(.filters = 2, .kernel = 2, .stride = 1, .pad = 0,
         .activation = ACTIVATION_TANH),
    CONV(.filters = 2, .kernel = 1, .stride = 1, .norm = true, .from = {0, 1}),
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

/* x_0 + 2 x_1 with a zero behind the image. */
static void
test_known(void **state)
{
    const struct layer layer = {.kind = LAYER_CONV,
                                .height = 1,
                                .width = 3,
                                .channels = 1,
                                .filters = 1,
                                .kernel = 3,
                                .stride = 1,
                                .pad = 1};
    const float weight[] = {9, 9, 9, 0, 1, 2, 9, 9, 9};
    struct model model;
    (void)state;
    model_make(&model, 1, 3, &layer, 1);
    const struct nn_place *place = &model.net.layer[0];
    assert_int_equal(place->fan, 9);
    assert_int_equal(place->places, 3);
    memcpy(nn_arena_value(&model.arena, place->weight), weight, sizeof weight);
    memcpy(model.x, (float[]){1, 2, 4}, 3 * sizeof(float));
    const float *y = nn_graph_forward(&model.net, plain, model.x, 1, false);
    assert_true(y[0] == 5 && y[1] == 10 && y[2] == 4);
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
