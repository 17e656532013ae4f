/*
 * test_trainer.c: inputs made even, and undone in a network; stopping early;
 * reports weighed by lot.
 */
#include "learn_fixture.h"

#include "learn/trainer.h"

static void
test_moments(void **state)
{
    /* The second hardly varies, the third not at all. */
    float x[] = {1, 5, 2, 3, 5.001F, 2, -1, 5, 2, 5, 5, 2};
    float shift[3], scale[3];
    double squares = 0;
    (void)state;
    inputs_moments(x, 4, 3, shift, scale);
    assert_true(shift[0] == 2 && shift[2] == 2);
    assert_true(fabs((double)scale[0] - 1 / sqrt(5)) < 1e-6);
    assert_true(fabs((double)scale[1] - 2 / sqrt(5.0 / 3)) < 1e-4);
    assert_true(scale[1] == scale[2]);
    inputs_apply(x, 4, 3, shift, scale);
    for (size_t i = 0; i < 4; i++) {
        squares += (double)(x[i * 3] * x[i * 3]) / 4;
        assert_true(x[i * 3 + 2] == 0);
    }
    assert_true(fabs(squares - 1) < 1e-6);
    memset(x, 0, sizeof x);
    inputs_moments(x, 4, 3, shift, scale);
    assert_true(scale[0] == 1 && shift[0] == 0);
}

/* The network on x made even, and the folded one on x as it was. */
static void
test_fold(void **state)
{
    static const uint32_t hidden[] = {7};
    struct sotto_mechanism *mechanism =
        open_mixed(DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct sotto_model *model;
    struct network *net;
    float x[10], even[10], p[6], folded[6], shift[5], scale[5];
    (void)state;
    model = lattice_model(mechanism, SOTTO_OBJECTIVE_PLAIN, true, hidden, 1);
    net = &lattice_of(model)->networks.net[0];
    nn_graph_init(&net->stack, 3, 0);
    for (size_t i = 0; i < 5; i++) {
        shift[i] = (float)i * 0.3F - 1;
        scale[i] = 1 / (1 + (float)i);
    }
    for (size_t i = 0; i < 10; i++) {
        x[i] = even[i] = (float)(i * i % 7) * 0.4F;
    }
    inputs_apply(even, 2, 5, shift, scale);
    lattice_say(model, even, 2, p);
    inputs_fold(&net->stack, shift, scale);
    lattice_say(model, x, 2, folded);
    for (size_t i = 0; i < 6; i++) {
        assert_true(fabs((double)(p[i] - folded[i])) < 1e-5);
    }
    assert_true(fabs((double)(p[0] - p[3])) > 1e-3);
    sotto_model_free(model);
    sotto_mechanism_free(mechanism);
}

/* On labels that say nothing true, the validation score stops it soon, and
   the weights kept are no worse than the first epoch's. */
static void
test_stops(void **state)
{
    enum { N = 200 };
    static const uint32_t hidden[] = {30};
    struct sotto_mechanism *mechanism =
        open_mixed(DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct sotto_model *model;
    struct network *net;
    static float x[N * 5];
    static size_t truth[N];
    struct labels labels;
    struct plan plan;
    const struct learn_options options = {
        .rate = 0.05, .epochs = 400, .patience = 5, .floor = 1};
    struct trainer trainer = {.labels = &labels,
                              .plan = &plan,
                              .x = x,
                              .rows = N,
                              .in = 5,
                              .options = &options};
    struct trainer_result result;
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 1, 1);
    for (size_t i = 0; i < N; i++) {
        truth[i] = draw_below(&seeded.random, 2);
        for (size_t j = 0; j < 5; j++) {
            x[i * 5 + j] = (float)draw_below(&seeded.random, 1000) / 500 - 1;
        }
    }
    must(labels_init_clean(&labels, 3, truth, N, 0, &err));
    must(plan_init(&plan, &labels, 4, 0.3, 64, 1, &err));
    model = lattice_model(mechanism, SOTTO_OBJECTIVE_PLAIN, true, hidden, 1);
    net = &lattice_of(model)->networks.net[0];
    must(tensor_new("cpu", NULL, &trainer.backend, &err));
    must(trainer_init(&trainer, &err));
    must(trainer_run(&trainer, net, 0, 1, &result, &err));
    assert_true(result.epochs < 400 && result.epochs > 5);
    assert_true(result.validation > -1.0);
    trainer_clear(&trainer);
    tensor_backend_free(trainer.backend);
    sotto_model_free(model);
    plan_clear(&plan);
    labels_clear(&labels);
    sotto_mechanism_free(mechanism);
}

/*
 * Mean 1, and c times as spread as an exponential, whose deviation is 1: of
 * 100,000 weights the mean is within 5 c / sqrt(100,000) of 1 (alpha 6e-7).
 * None is below 1 - c; another stream, other weights.
 */
static void
test_weights(void **state)
{
    enum { N = 100000 };
    static float weight[N], other[N];
    struct plan plan = {.rows = N};
    struct learn_options options = {.seed = 3};
    struct trainer trainer = {.plan = &plan, .options = &options};
    (void)state;
    for (int half = 0; half < 3; half++) {
        double c = half / 2.0, mean = 0, squares = 0;
        options.bootstrap = c;
        trainer_weights(&trainer, 1, weight);
        for (size_t i = 0; i < N; i++) {
            double gap = (double)weight[i] - 1;
            assert_true(gap >= -c - 1e-6);
            mean += gap / N;
            squares += gap * gap / N;
        }
        assert_true(fabs(mean) <= 5 * c / sqrt(N));
        assert_true(fabs(sqrt(squares) - c) <= 0.03 * c);
    }
    trainer_weights(&trainer, 2, other);
    assert_memory_not_equal(weight, other, sizeof weight);
    trainer_weights(&trainer, 0, other);
    for (size_t i = 0; i < N; i++) {
        assert_true(other[i] == 1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
