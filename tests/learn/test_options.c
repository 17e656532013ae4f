/*
 * test_options.c: settings of learners: their defaults, their texts, what is
 * chosen where nothing is said, and what programs are told of them.
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
                                        {"hidden", "0"},
                                        {"rate", "-1"},
                                        {"rate", "nan"},
                                        {"smoothing", "1.5"},
                                        {"decay", "nan"},
                                        {"share-weight", "1e9"},
                                        {"validation", "0.95"},
                                        {"epochs", "4294967295"},
                                        {"restarts", "1000"},
                                        {"batches", "4294967295"},
                                        {"entropy", "nan"},
                                        {"bootstrap", "1.1"},
                                        {"bootstrap", "-0.1"}};
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

/* The rules between settings are the learner's: a program need not know. */
static void
test_rules(void **state)
{
    const struct sotto_setting bad[][2] = {
        {{"linear", NULL}, {"hidden", "5"}},
        {{"entropy", "0.25"}, {"objective", "plain"}}};
    struct learn_options options;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct sotto_fit_options from = {.set = bad[i], .sets = 2};
        assert_int_equal(
            learn_options_read(&learner_lattice, &from, &options, &err),
            SOTTO_STATUS_USAGE);
        assert_string_equal(err.subject, bad[i][0].name);
    }
}

/* ---- What is chosen ------------------------------------------------------ */

/* The less a label says, the faster weights decay. */
static void
test_chosen(void **state)
{
    struct learn_options none = {.decay = -1, .marginal = -1, .entropy = -1};
    struct learn_options weak = learn_options_settle(&none, 0.3);
    struct learn_options strong = learn_options_settle(&none, 3);
    (void)state;
    assert_true(weak.decay > strong.decay);
    for (int i = 0; i < 3; i++) {
        struct learn_options clean;
        none.objective = (enum sotto_objective)i;
        clean = learn_options_settle(&none, (double)INFINITY);
        assert_int_equal(clean.objective, i);
        assert_true(clean.rate > 0 && clean.epochs > 0 && clean.decay > 0);
        assert_true(clean.batches > 0 || clean.batch > 0);
        assert_true(clean.restarts > 0 && clean.validation > 0);
        assert_true(clean.patience > 0 && clean.floor > 0);
        assert_true(clean.marginal == 0 && clean.entropy == 0);
    }
}

static void
test_settle(void **state)
{
    const struct learn_options options = {.epochs = 7,
                                          .rate = 0.5,
                                          .decay = 0,
                                          .validation = -1,
                                          .batches = 3,
                                          .restarts = 4,
                                          .smoothing = 0.25,
                                          .marginal = 2};
    struct learn_options all = learn_options_settle(&options, 1);
    (void)state;
    assert_true(all.epochs == 7 && all.rate == 0.5);
    assert_true(all.decay == 0 && all.validation == 0);
    assert_true(all.batches == 3 && all.restarts == 4);
    assert_true(all.smoothing == 0.25 && all.marginal == 2);
}

/* A known share has a weight, unless the caller says another. */
static void
test_balanced(void **state)
{
    struct learn_options options = {
        .decay = -1, .marginal = -1, .entropy = -1, .balanced = true};
    struct learn_options all = learn_options_settle(&options, 1);
    (void)state;
    assert_true(all.marginal == 0.1 && all.entropy == 0);
    options.marginal = 0.7;
    options.entropy = 0.25;
    all = learn_options_settle(&options, 1);
    assert_true(all.marginal == 0.7 && all.entropy == 0.25);
    must(learn_options_check(&options, &err));
    options.objective = SOTTO_OBJECTIVE_PLAIN; /* would not use it */
    assert_int_equal(learn_options_check(&options, &err), SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "entropy"));
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
    assert_string_equal(learner.name, "record");
    assert_true(sotto_fit_learner_at(2, &learner));
    assert_string_equal(learner.name, "number");
    assert_true(sotto_fit_learner_at(3, &learner));
    assert_false(sotto_fit_learner_at(4, &learner));
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
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_read),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_rules),
        cmocka_unit_test(test_chosen),   cmocka_unit_test(test_settle),
        cmocka_unit_test(test_balanced), cmocka_unit_test(test_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
