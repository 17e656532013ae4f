/*
 * test_networks.c: networks of one shape: their plan, what they say together,
 * and which one is left.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "learn/networks.h"

#define IN 3u
#define CLASSES 2u
#define ROWS ((size_t)1100) /* more than a block */

static void
test_plan(void **state)
{
    static const uint32_t hidden[NETWORKS_HIDDEN_MAX + 1] = {4, 0};
    struct learn_options options = {.objective = SOTTO_OBJECTIVE_LABEL,
                                    .other = true};
    struct networks_plan plan;
    (void)state;
    must(networks_plan_init(&plan, &options, 3, &err));
    assert_int_equal(plan.hiddens, 1);
    assert_int_equal(plan.hidden[0], 50);
    assert_int_equal(plan.count, 3);
    assert_int_equal(plan.objective, SOTTO_OBJECTIVE_LABEL);
    assert_true(plan.other);
    options.hidden = hidden;
    options.hiddens = 2;
    assert_int_equal(networks_plan_init(&plan, &options, 1, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(err.position, 1);
    options.hiddens = NETWORKS_HIDDEN_MAX + 1;
    assert_int_equal(networks_plan_init(&plan, &options, 1, &err),
                     SOTTO_STATUS_LIMIT);
    options.hiddens = 1;
    options.linear = true;
    assert_int_equal(learn_options_check(&options, &err), SOTTO_STATUS_USAGE);
    options.hidden = NULL;
    options.hiddens = 0;
    must(networks_plan_init(&plan, &options, 1, &err));
    assert_int_equal(plan.hiddens, 0);
}

static void
start(struct networks *networks, size_t count)
{
    const struct networks_plan plan = {
        .hidden = {5}, .hiddens = 1, .count = count};
    must(networks_init(networks, &plan, IN, CLASSES, &err));
    for (size_t i = 0; i < count; i++) {
        nn_graph_init(&networks->net[i].stack, 9, i);
    }
}

/* The mean of what each says alone; and after dropping, what the one kept says,
   to the bit. */
static void
test_mean_and_keep(void **state)
{
    static float x[ROWS * IN], alone[3][ROWS * CLASSES], p[ROWS * CLASSES];
    struct tensor_backend *backend = NULL;
    struct networks networks, one;
    (void)state;
    for (size_t i = 0; i < ROWS * IN; i++) {
        x[i] = (float)(i * 7 % 11) / 5 - 1;
    }
    must(tensor_new("cpu", NULL, &backend, &err));
    start(&networks, 3);
    for (size_t i = 0; i < 3; i++) {
        one = networks;
        one.net += i;
        one.count = 1;
        must(networks_forward(&one, backend, x, ROWS, alone[i], &err));
    }
    must(networks_forward(&networks, backend, x, ROWS, p, &err));
    for (size_t i = 0; i < ROWS * CLASSES; i++) {
        float mean = (alone[0][i] + alone[1][i] + alone[2][i]) / 3;
        assert_true(fabs((double)(p[i] - mean)) < 1e-6);
    }
    assert_memory_not_equal(alone[0], alone[2], sizeof alone[0]);
    networks_swap(&networks, 0, 2);
    networks_drop(&networks);
    assert_int_equal(networks.count, 1);
    must(networks_forward(&networks, backend, x, ROWS, p, &err));
    assert_memory_equal(p, alone[2], sizeof p);
    networks_clear(&networks);
    tensor_backend_free(backend);
}

static void
test_no_inputs(void **state)
{
    const struct networks_plan plan = {.count = 1};
    struct networks networks;
    (void)state;
    assert_int_equal(networks_init(&networks, &plan, 0, CLASSES, &err),
                     SOTTO_STATUS_INPUT);
}

static void
test_memory(void **state)
{
    const struct networks_plan plan = {.hidden = {5}, .hiddens = 1, .count = 2};
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        struct networks networks;
        fail_alloc_at(++n);
        status = networks_init(&networks, &plan, IN, CLASSES, &err);
        if (status == SOTTO_STATUS_OK) {
            networks_clear(&networks);
        }
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_mean_and_keep),
        cmocka_unit_test(test_no_inputs),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
