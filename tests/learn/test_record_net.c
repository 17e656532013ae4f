/*
 * test_record_net.c: a network on x: its layers, its training, what it makes of
 * x.
 */
#include "record_fixture.h"

#include "host/pool.h"

#define ROWS 256u

static struct host_pool *pool;
static struct tensor_backend *backend;
static float x[ROWS * 2];
static size_t truth[ROWS];

static int
setup(void **state)
{
    (void)state;
    must(host_pool_new(1, &pool, &err));
    must(tensor_new("cpu", pool, &backend, &err));
    for (size_t i = 0; i < ROWS; i++) {
        x[2 * i] = 3 + (float)(i * 37 % ROWS) / ROWS;
        x[2 * i + 1] = (float)(i * 101 % ROWS) / ROWS;
        truth[i] = x[2 * i] > 3.5F ? 1 : 0;
    }
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    tensor_backend_free(backend);
    host_pool_free(pool);
    return 0;
}

static struct record_plan
plan_of(double rate, uint32_t epochs)
{
    return (struct record_plan){.rate = rate,
                                .epochs = epochs,
                                .batch = 32,
                                .even = true,
                                .pool = pool,
                                .backend = backend,
                                .what = "learning"};
}

/* Inputs far from 0 are made even and put back; a second training goes on from
   the weights of the first. */
static void
test_train(void **state)
{
    const struct learn_options options = {.seed = 1};
    struct record_net net = {.layers = 0};
    struct labels labels = {0};
    struct record_fitted first = {0}, second = {0};
    float z[ROWS * 2], again[ROWS * 2];
    size_t right = 0;
    (void)state;
    must(labels_init_clean(&labels, 2, truth, ROWS, 0, &err));
    struct record_data data = {.x = x,
                               .n = ROWS,
                               .width = 2,
                               .labels = &labels,
                               .seed = 1,
                               .validation = 0.25};
    must(record_net_plan(&net, &data, &options, &err));
    assert_int_equal(net.layers, 2);
    struct record_plan plan = plan_of(0.01, 30);
    must(record_net_train(&net, &data, &plan, &first, &err));
    assert_true(fabsf(x[0] - 3) < 1e-5F);
    must(record_net_run(net.layer, net.layers, x, ROWS, 2, backend, z, &err));
    for (size_t i = 0; i < ROWS; i++) {
        right += (z[2 * i + 1] > z[2 * i]) == (truth[i] == 1) ? 1 : 0;
    }
    assert_true(right > ROWS * 9 / 10);
    assert_true(first.validation < 0 && first.validation > -0.3);
    plan = plan_of(1e-9, 1);
    plan.even = false;
    must(record_net_train(&net, &data, &plan, &second, &err));
    must(record_net_run(net.layer, net.layers, x, ROWS, 2, backend, again,
                        &err));
    for (size_t i = 0; i < 2 * (size_t)ROWS; i++) {
        assert_true(fabsf(z[i] - again[i]) < 1e-3F);
    }
    assert_true(fabs(first.log_p - second.log_p) < 1e-4);
    record_net_clear(&net);
    labels_clear(&labels);
}

/* Images have the layers of a contrastive encoder, and a head. */
static void
test_plan(void **state)
{
    static const uint32_t hidden[] = {7, 5};
    struct learn_options options = {.hidden = hidden, .hiddens = 2};
    const struct labels labels = {.classes = 10};
    struct record_data data = {.labels = &labels, .image = {28, 28, 1}};
    struct record_net net = {.layers = 0};
    (void)state;
    must(record_net_plan(&net, &data, &options, &err));
    assert_int_equal(net.layers, 8);
    assert_int_equal(net.layer[0].kind, LAYER_CONV);
    assert_true(net.layer[0].norm);
    assert_int_equal(net.layer[6].out, RECORD_HEAD);
    assert_int_equal(net.layer[7].out, 10);
    net.layers = 0;
    data.image = (struct sotto_image){0, 0, 0};
    must(record_net_plan(&net, &data, &options, &err));
    assert_int_equal(net.layers, 3);
    assert_int_equal(net.layer[1].out, 5);
    net.layers = RECORD_LAYERS_MAX - 1;
    assert_int_equal(record_net_add_head(&net, 2, &err), SOTTO_STATUS_LIMIT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_train),
        cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, setup, tear_down);
}
