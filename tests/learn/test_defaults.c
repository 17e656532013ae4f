/*
 * test_defaults.c: what is chosen, and what the caller says instead.
 */
#include "learn_fixture.h"

#include "learn/defaults.h"

/* The less a label says, the faster weights decay. */
static void
test_table(void **state)
{
    struct learn_setting weak =
        learn_defaults(SOTTO_OBJECTIVE_MARGINAL, 0.7, 0.3);
    struct learn_setting strong =
        learn_defaults(SOTTO_OBJECTIVE_MARGINAL, 7, 3);
    (void)state;
    assert_true(weak.decay > strong.decay);
    for (int i = 0; i < 3; i++) {
        struct learn_setting clean = learn_defaults(
            (enum sotto_objective)i, (double)INFINITY, (double)INFINITY);
        assert_true(clean.rate > 0 && clean.epochs > 0);
        assert_true(clean.batches > 0 || clean.batch > 0);
        assert_true(clean.restarts > 0 && clean.validation > 0);
    }
}

static void
test_settle(void **state)
{
    struct learn_options options = {.decay = -1, .marginal = -1};
    struct learn_setting chosen =
        learn_defaults(SOTTO_OBJECTIVE_MARGINAL, 1, 1);
    struct learn_setting setting;
    (void)state;
    must(learn_settle(&options, 1, 1, &setting, &err));
    assert_true(setting.rate == chosen.rate && setting.decay == chosen.decay);
    assert_true(setting.epochs == chosen.epochs);
    assert_true(setting.batches == chosen.batches);
    assert_true(setting.marginal == chosen.marginal);
    assert_true(setting.validation == chosen.validation);
    options = (struct learn_options){.epochs = 7,
                                     .rate = 0.5,
                                     .decay = 0,
                                     .validation = -1,
                                     .batches = 3,
                                     .restarts = 4,
                                     .smoothing = 0.25,
                                     .marginal = 2};
    must(learn_settle(&options, 1, 1, &setting, &err));
    assert_true(setting.epochs == 7 && setting.rate == 0.5);
    assert_true(setting.decay == 0 && setting.validation == 0);
    assert_true(setting.batches == 3 && setting.restarts == 4);
    assert_true(setting.smoothing == 0.25 && setting.marginal == 2);
}

/* A known share has a weight, unless the caller says another. */
static void
test_balanced(void **state)
{
    struct learn_options options = {
        .decay = -1, .marginal = -1, .entropy = -1, .balanced = true};
    struct learn_setting setting;
    (void)state;
    must(learn_settle(&options, 1, 1, &setting, &err));
    assert_true(setting.marginal == 0.1 && setting.entropy == 0);
    options.marginal = 0.7;
    options.entropy = 0.25;
    must(learn_settle(&options, 1, 1, &setting, &err));
    assert_true(setting.marginal == 0.7 && setting.entropy == 0.25);
    options.objective = SOTTO_OBJECTIVE_PLAIN; /* would not use it */
    assert_int_equal(learn_settle(&options, 1, 1, &setting, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "entropy"));
}

static void
test_refused(void **state)
{
    const struct learn_options bad[] = {
        {.rate = -1},           {.rate = NAN},      {.smoothing = 1.5},
        {.decay = NAN},         {.marginal = 1e9},  {.validation = 0.95},
        {.epochs = UINT32_MAX}, {.restarts = 1000}, {.batches = UINT32_MAX},
        {.entropy = NAN},       {.bootstrap = 1.1}, {.bootstrap = -0.1},
    };
    struct learn_setting setting;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(learn_settle(&bad[i], 1, 1, &setting, &err),
                         SOTTO_STATUS_USAGE);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_settle),
        cmocka_unit_test(test_balanced),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
