/*
 * test_record_layers.c: which layers a network on the record has.
 */
#include "record_fixture.h"

/* Images have the layers of a contrastive encoder, and a head. */
static void
test_plan(void **state)
{
    static const uint32_t hidden[] = {7, 5};
    struct learn_options options = {.hidden = hidden, .hiddens = 2};
    struct record_data data = {.classes = 10, .image = {28, 28, 1}};
    struct record_net net = {.layers = 0};
    (void)state;
    must(record_layers_plan(&net, &data, &options, &err));
    assert_int_equal(net.layers, 8);
    assert_int_equal(net.layer[0].kind, LAYER_CONV);
    assert_true(net.layer[0].norm);
    assert_int_equal(net.layer[6].out, RECORD_HEAD);
    assert_int_equal(net.layer[7].out, 10);
    net.layers = 0;
    data.image = (struct sotto_image){0, 0, 0};
    must(record_layers_plan(&net, &data, &options, &err));
    assert_int_equal(net.layers, 3);
    assert_int_equal(net.layer[1].out, 5);
    net.layers = RECORD_LAYERS_MAX - 1;
    assert_int_equal(record_layers_add_head(&net, 2, &err), SOTTO_STATUS_LIMIT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
