/*
 * test_layer_pool.c: pools between dense layers: gradients, and values by hand.
 */
#include "nn_fixture.h"

#define POOL(of)                                                               \
    {                                                                          \
        .kind = of, .height = 4, .width = 3, .channels = 2, .kernel = 2,       \
        .stride = 2, .pad = 1                                                  \
    }
static const struct layer layers[] = {POOL(LAYER_POOL_MAX),
                                      POOL(LAYER_POOL_MEAN)};

static void
test_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        model_check_gradients(plain, 24, &layers[i], 1);
        model_check_gradients(cpu[1], 24, &layers[i], 1);
    }
}

static void
test_known(void **state)
{
    struct model model;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct layer layer = layers[i];
        layer.height = layer.channels = 1;
        layer.width = 3;
        model_make(&model, 1, 3, &layer, 1);
        assert_int_equal(model.arena.count, 0);
        assert_int_equal(model.net.out, 2);
        memcpy(model.x, (float[]){-3, -1, -2}, 3 * sizeof(float));
        const float *y = nn_graph_forward(&model.net, plain, model.x, 1, true);
        assert_true(y[0] == -3);
        assert_true(y[1] == (i == 0 ? -1 : -1.5F));
        model_free(&model);
    }
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
