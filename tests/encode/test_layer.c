/*
 * test_layer.c: sizes and names of a layer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "encode/layer.h"

static void
test_dense(void **state)
{
    struct layer layer = {.kind = LAYER_DENSE, .in = 7, .out = 3};
    (void)state;
    assert_int_equal(layer_biases(&layer), 3);
    assert_int_equal(layer_fan(&layer), 7);
    assert_int_equal(layer_work(&layer), 21);
}

/* 5 x 6 of 2 channels, padded by 1: windows of 3 every 2 places. */
static void
test_windows(void **state)
{
    struct layer layer = {.kind = LAYER_CONV,
                          .image = {5, 6, 2},
                          .kernel = 3,
                          .stride = 2,
                          .pad = 1};
    (void)state;
    assert_true(layer_measure(&layer));
    assert_int_equal(layer.made_height, 3);
    assert_int_equal(layer.made_width, 3);
    layer.filters = 4;
    layer.out = 36;
    assert_int_equal(layer_biases(&layer), 4);
    assert_int_equal(layer_fan(&layer), 18);
    assert_int_equal(layer_work(&layer), 36 * 18);
    layer.kind = LAYER_POOL_MAX;
    assert_int_equal(layer_biases(&layer), 0);
    assert_int_equal(layer_fan(&layer), 9);
    assert_true(layer_pools(layer.kind));
}

static void
test_a_window_must_fit(void **state)
{
    struct layer layer = {.kind = LAYER_CONV,
                          .image = {5, 2, 1},
                          .kernel = 5,
                          .stride = 1,
                          .pad = 1};
    (void)state;
    assert_false(layer_measure(&layer)); /* 2 + 2 places for 5 */
    layer.image.width = 3;
    assert_true(layer_measure(&layer));
    assert_int_equal(layer.made_width, 1);
    layer.stride = 0;
    assert_false(layer_measure(&layer));
}

static void
test_names(void **state)
{
    (void)state;
    assert_string_equal(activation_name(ACTIVATION_NONE), "none");
    assert_string_equal(activation_name(ACTIVATION_TANH), "tanh");
    assert_string_equal(activation_name(ACTIVATION_COUNT), "?");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_a_window_must_fit),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
