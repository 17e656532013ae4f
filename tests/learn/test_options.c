/*
 * test_options.c: settings of learners: their defaults, their texts, and what
 * programs are told of them.
 */
#include "learn_fixture.h"

#include "learn/codes/codes_model.h"

static void
test_defaults(void **state)
{
    const struct sotto_fit_options none = {.threads = 3};
    struct learn_options options;
    (void)state;
    must(learn_options_read(&learner_lattice, &none, &options, &err));
    assert_int_equal(options.objective, SOTTO_OBJECTIVE_MARGINAL);
    assert_int_equal(options.level, SOTTO_LEVEL_LATENT);
    assert_true(options.decay == -1 && options.marginal == -1);
    assert_true(options.entropy == -1 && options.validation == 0.1);
    assert_null(options.hidden);
    assert_int_equal(options.threads, 3);
    assert_string_equal(options.learner, "lattice");
}

static void
test_read(void **state)
{
    const struct sotto_setting set[] = {{"objective", "label"},
                                        {"level", "feature"},
                                        {"hidden", "8,4"},
                                        {"balanced", NULL},
                                        {"decay", "0"},
                                        {"validation", "0"},
                                        {"share-weight", "2"},
                                        {"prior-most", "7"},
                                        {"seed", "18446744073709551615"}};
    const struct sotto_fit_options from = {.set = set, .sets = 9};
    struct learn_options options;
    (void)state;
    must(learn_options_read(&learner_lattice, &from, &options, &err));
    assert_int_equal(options.objective, SOTTO_OBJECTIVE_LABEL);
    assert_int_equal(options.level, SOTTO_LEVEL_FEATURE);
    assert_int_equal(options.hiddens, 2);
    assert_int_equal(options.hidden[1], 4);
    assert_true(options.balanced && options.decay == 0);
    assert_true(options.validation < 0); /* none */
    assert_true(options.marginal == 2 && options.prior_most == 7);
    assert_true(options.seed == UINT64_MAX);
}

/* Of a setting that is another learner's, or out of range, the message names
   the setting. */
static void
test_refused(void **state)
{
    const struct sotto_setting bad[] = {{"shifted", NULL},
                                        {"rate", "0"},
                                        {"objective", "best"},
                                        {"hidden", "0"}};
    struct learn_options options;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct sotto_fit_options from = {.set = &bad[i], .sets = 1};
        assert_int_equal(
            learn_options_read(&learner_lattice, &from, &options, &err),
            SOTTO_STATUS_USAGE);
        assert_non_null(strstr(err.message, bad[i].name));
    }
}

static void
test_told(void **state)
{
    struct sotto_fit_learner learner;
    struct sotto_setting_info setting;
    size_t shifted = 0, entropy = 0;
    (void)state;
    assert_true(sotto_fit_learner_at(0, &learner));
    assert_string_equal(learner.name, "codes");
    assert_true(sotto_fit_learner_at(1, &learner));
    assert_false(sotto_fit_learner_at(2, &learner));
    assert_false(sotto_fit_learner_at(1000, &learner));
    for (size_t i = 0; sotto_fit_setting_at("codes", i, &setting); i++) {
        shifted += strcmp(setting.name, "shifted") == 0;
        entropy += strcmp(setting.name, "entropy") == 0;
    }
    assert_true(shifted == 1 && entropy == 0);
    assert_false(sotto_fit_setting_at("none", 0, &setting));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
