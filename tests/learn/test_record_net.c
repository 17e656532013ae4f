/*
 * test_record_net.c: a network on x: its training on labels and on targets,
 * what it makes of x.
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
                               .classes = 2,
                               .labels = &labels,
                               .seed = 1,
                               .validation = 0.25};
    must(record_layers_plan(&net, &data, &options, &err));
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

/* Targets that say one class for certain are what clean labels are: the same
   loss and, but for rounding, the same weights. */
static void
test_certain(void **state)
{
    static const float weight[] = {0.3F, -0.2F, 0.1F, 0.4F};
    static const float bias[2] = {0};
    const struct layer layer = {
        .in = 2, .out = 2, .weight = weight, .bias = bias};
    struct record_plan plan = plan_of(0.01, 5);
    struct record_fitted fitted[2] = {{0}, {0}};
    struct labels labels = {0};
    float target[ROWS * 2] = {0}, z[2][ROWS * 2];
    (void)state;
    must(labels_init_clean(&labels, 2, truth, ROWS, 0, &err));
    for (size_t i = 0; i < ROWS; i++) {
        target[2 * i + truth[i]] = 1;
    }
    for (size_t i = 0; i < 2; i++) {
        struct record_net net = {.layers = 0};
        const struct record_data data = {.x = x,
                                         .n = ROWS,
                                         .width = 2,
                                         .classes = 2,
                                         .labels = i == 0 ? &labels : NULL,
                                         .target = target,
                                         .seed = 1,
                                         .validation = 0.25};
        must(record_net_add(&net, layer, &err));
        must(record_net_train(&net, &data, &plan, &fitted[i], &err));
        must(record_net_run(net.layer, 1, x, ROWS, 2, backend, z[i], &err));
        record_net_clear(&net);
    }
    assert_true(fabs(fitted[0].log_p - fitted[1].log_p) < 1e-5);
    assert_true(fabs(fitted[0].validation - fitted[1].validation) < 1e-5);
    for (size_t i = 0; i < 2 * (size_t)ROWS; i++) {
        assert_true(fabsf(z[0][i] - z[1][i]) < 1e-3F);
    }
    labels_clear(&labels);
}

/* Two networks that say the same, one with a representation a thousand times
   smaller, train alike: with weights as they are the first step would lose what
   the small one knows. */
static void
test_scale(void **state)
{
    static const float weight[2][4] = {{0.6F, -0.4F, 0.2F, 0.8F},
                                       {0.9F, -0.3F, 0.5F, 0.7F}};
    static const float bias[2] = {0};
    struct record_plan plan = plan_of(0.01, 3);
    struct record_fitted fitted[2] = {{0}, {0}};
    struct labels labels = {0};
    (void)state;
    plan.even = false;
    must(labels_init_clean(&labels, 2, truth, ROWS, 0, &err));
    for (size_t i = 0; i < 2; i++) {
        const float by = i == 0 ? 1 : 1e-3F;
        float own[2][4];
        struct record_net net = {.layers = 0};
        const struct record_data data = {.x = x,
                                         .n = ROWS,
                                         .width = 2,
                                         .classes = 2,
                                         .labels = &labels,
                                         .seed = 1};
        for (size_t j = 0; j < 4; j++) {
            own[0][j] = weight[0][j] * by;
            own[1][j] = weight[1][j] / by;
        }
        for (size_t j = 0; j < 2; j++) {
            const struct layer layer = {
                .in = 2, .out = 2, .weight = own[j], .bias = bias};
            must(record_net_add(&net, layer, &err));
        }
        must(record_net_train(&net, &data, &plan, &fitted[i], &err));
        record_net_clear(&net);
    }
    print_message("log-likelihoods %.5f and %.5f\n", fitted[0].log_p,
                  fitted[1].log_p);
    assert_true(fabs(fitted[0].log_p - fitted[1].log_p) < 1e-3);
    labels_clear(&labels);
}

/* The cross-entropy is least where p is the target. */
static void
test_soft(void **state)
{
    struct record_net net = {.layers = 0};
    struct record_plan plan = plan_of(0.05, 60);
    struct record_fitted fitted = {0};
    float target[ROWS * 2], z[ROWS * 2];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        target[2 * i] = 1 / (1 + expf(2 * x[2 * i + 1] - 0.5F));
        target[2 * i + 1] = 1 - target[2 * i];
    }
    const struct record_data data = {.x = x,
                                     .n = ROWS,
                                     .width = 2,
                                     .classes = 2,
                                     .target = target,
                                     .seed = 1};
    must(record_net_add(&net, (struct layer){.out = 2}, &err));
    must(record_net_train(&net, &data, &plan, &fitted, &err));
    must(record_net_run(net.layer, 1, x, ROWS, 2, backend, z, &err));
    for (size_t i = 0; i < ROWS; i++) {
        float p = 1 / (1 + expf(z[2 * i + 1] - z[2 * i]));
        assert_true(fabsf(p - target[2 * i]) < 0.02F);
    }
    record_net_clear(&net);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_train),
        cmocka_unit_test(test_certain),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_soft),
    };
    return cmocka_run_group_tests(tests, setup, tear_down);
}
