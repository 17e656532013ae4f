/*
 * test_optimiser.c: schedules, steps and early stopping.
 */
#include "fail_alloc.h"
#include "nn_fixture.h"

static struct sotto_error err;

/* ---- Schedules ---------------------------------------------------------- */

static void
test_constant(void **state)
{
    const struct nn_optimiser o = {.rate = 0.5F};
    const struct nn_optimiser late = {
        .rate = 0.5F, .schedule = NN_SCHEDULE_COSINE, .warmup = 5, .steps = 5};
    (void)state;
    assert_true(nn_rate(&o, 0) == 0.5F);
    assert_true(nn_rate(&o, UINT64_MAX) == 0.5F);
    assert_true(nn_rate(&late, 9) == 0.5F); /* no way to go: constant */
}

static void
test_schedules(void **state)
{
    struct nn_optimiser o = {
        .rate = 2, .schedule = NN_SCHEDULE_COSINE, .floor = 0.1F, .steps = 90};
    (void)state;
    assert_near(nn_rate(&o, 0), 2, 1e-7);
    assert_near(nn_rate(&o, 45), 2 * 0.55, 1e-7);
    assert_near(nn_rate(&o, 30), 2 * (0.1 + 0.9 * 0.75), 1e-7);
    assert_near(nn_rate(&o, 90), 0.2, 1e-7);
    assert_near(nn_rate(&o, 1000), 0.2, 1e-7);
    o.schedule = NN_SCHEDULE_LINEAR;
    assert_near(nn_rate(&o, 0), 2, 1e-7);
    assert_near(nn_rate(&o, 45), 2 * 0.55, 1e-7);
    assert_near(nn_rate(&o, 90), 0.2, 1e-7);
    o.schedule = NN_SCHEDULE_STEPS;
    assert_near(nn_rate(&o, 29), 2, 1e-7);
    assert_near(nn_rate(&o, 30), 0.2, 1e-7);
    assert_near(nn_rate(&o, 59), 0.2, 1e-7);
    assert_near(nn_rate(&o, 60), 0.02, 1e-7);
    assert_near(nn_rate(&o, 500), 0.02, 1e-7);
}

static void
test_warmup(void **state)
{
    const struct nn_optimiser o = {
        .rate = 1, .schedule = NN_SCHEDULE_LINEAR, .warmup = 9, .steps = 109};
    (void)state;
    assert_near(nn_rate(&o, 0), 0.1, 1e-7);
    assert_near(nn_rate(&o, 8), 0.9, 1e-7);
    assert_near(nn_rate(&o, 9), 1, 1e-7);
    assert_near(nn_rate(&o, 59), 0.5, 1e-7);
}

/* ---- Steps -------------------------------------------------------------- */

static const struct layer layers[] = {
    {.out = 3, .activation = ACTIVATION_NONE, .norm = true}};

/* One step of each by hand; what is fixed does not move, not by decay. */
static void
test_step(void **state)
{
    struct nn_optimiser o = {.rate = 0.5F, .decay = 0.25F};
    struct model model;
    (void)state;
    model_make(&model, 1, 2, layers, 1);
    float *variance = nn_arena_value(&model.arena, model.net.layer[0].variance);
    model.arena.value[0] = 8;
    model.arena.gradient[0] = 3;
    nn_step(&o, cpu[1], &model.arena);
    assert_int_equal(model.arena.step, 1);
    /* Adam's first step is the gradient's sign, times the rate */
    assert_near(model.arena.value[0], 8 - 0.5 * (1 + 0.25 * 8), 1e-6);
    assert_near(model.arena.first[0], 0.3, 1e-6);
    assert_near(model.arena.second[0], 0.009, 1e-6);
    assert_true(variance[0] == 1.0F);
    o.method = NN_METHOD_SGD;
    o.momentum = 0.5F;
    model.arena.value[0] = 8;
    nn_step(&o, cpu[1], &model.arena);
    assert_int_equal(model.arena.step, 2);
    assert_near(model.arena.first[0], 3.15, 1e-6);
    assert_near(model.arena.value[0], 8 - 0.5 * (3.15 + 0.25 * 8), 1e-6);
    assert_true(variance[0] == 1.0F);
    model_free(&model);
}

/* ---- Early stopping ----------------------------------------------------- */

static void
test_stopping(void **state)
{
    struct nn_stopping stopping;
    struct model model;
    (void)state;
    model_make(&model, 1, 2, layers, 1);
    assert_int_equal(nn_stopping_init(&stopping, &model.arena, 2, &err),
                     SOTTO_STATUS_OK);
    model.arena.value[0] = 1;
    nn_stopping_restore(&stopping, &model.arena); /* no score yet: stays */
    assert_true(model.arena.value[0] == 1.0F);
    assert_true(nn_stopping_score(&stopping, &model.arena, 5));
    model.arena.value[0] = 2;
    assert_true(nn_stopping_score(&stopping, &model.arena, 4));
    model.arena.value[0] = 3;
    assert_true(nn_stopping_score(&stopping, &model.arena, 4)); /* no better */
    assert_int_equal(stopping.since, 1);
    assert_false(nn_stopping_score(&stopping, &model.arena, (double)NAN));
    nn_stopping_restore(&stopping, &model.arena);
    assert_true(model.arena.value[0] == 2.0F);
    assert_true(stopping.best == 4);
    assert_true(nn_stopping_score(&stopping, &model.arena, 3));
    assert_int_equal(stopping.since, 0);
    nn_stopping_clear(&stopping);
    assert_null(stopping.kept);
    nn_stopping_clear(&stopping);
    model_free(&model);
}

static void
test_patient(void **state)
{
    struct nn_stopping stopping;
    struct model model;
    (void)state;
    model_make(&model, 1, 2, layers, 1);
    assert_int_equal(nn_stopping_init(&stopping, &model.arena, 0, &err),
                     SOTTO_STATUS_OK);
    for (int i = 0; i < 100; i++) {
        assert_true(nn_stopping_score(&stopping, &model.arena, i));
    }
    nn_stopping_clear(&stopping);
    fail_alloc_at(1);
    assert_int_equal(nn_stopping_init(&stopping, &model.arena, 0, &err),
                     SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    model_free(&model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant), cmocka_unit_test(test_schedules),
        cmocka_unit_test(test_warmup),   cmocka_unit_test(test_step),
        cmocka_unit_test(test_stopping), cmocka_unit_test(test_patient),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
