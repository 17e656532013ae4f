/*
 * test_trial_settings.c: which settings an epsilon gets, and that their text
 * tells them apart. The numbers themselves are to be tuned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "experiment/trial.h"

static const char *const mechanisms[] = {"vlm", "vlm-linear", "pca", "clm"};

/* The kind takes what is set, and d is set. */
static void
check_settings(const struct trial_encoder *row)
{
    struct trial_sets sets;
    struct sotto_error err = {0};
    trial_encoder_sets(row, 0, &sets);
    struct sotto_train_options options = {
        .eps = "1", .label = "label", .set = sets.set, .sets = sets.sets};
    if (sotto_train_check(row->kind, &options, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s: %s", row->mechanism, err.message);
    }
    assert_non_null(strstr(row->settings, "d="));
}

/* All that is asked for has settings that make sense. */
static void
test_complete(void **state)
{
    (void)state;
    for (size_t m = 0; m < 4; m++) {
        for (size_t i = 0; i < PAPERS_COLUMNS; i++) {
            double eps = papers_eps[i];
            const struct trial_encoder *row =
                trial_encoder_find(&data_set_mnist, mechanisms[m], eps);
            assert_non_null(row);
            assert_string_equal(row->mechanism, mechanisms[m]);
            assert_int_equal(isinf(row->eps), isinf(eps));
            assert_true(row->lambda > 0 && row->lambda < 1);
            assert_true(m == 2 || row->eps == eps);
            check_settings(row);
            for (int level = 0; level < 2; level++) {
                const struct trial_fit *fit =
                    trial_fit_find(&data_set_mnist, mechanisms[m],
                                   (enum sotto_level)level, eps);
                assert_non_null(fit);
                assert_int_equal(fit->level, level);
                assert_int_equal(isinf(fit->eps), isinf(eps));
            }
        }
    }
}

/* The nearest by its logarithm; none is none alone. */
static void
test_nearest(void **state)
{
    (void)state;
    assert_true(trial_encoder_find(&data_set_mnist, "vlm", 32)->eps == 10);
    assert_true(trial_encoder_find(&data_set_mnist, "vlm", 0.01)->eps == 1);
    assert_true(trial_encoder_find(&data_set_mnist, "vlm", 2.9)->eps == 4);
    assert_true(trial_encoder_find(&data_set_mnist, "vlm", 2.8)->eps == 2);
    assert_true(
        isinf(trial_encoder_find(&data_set_mnist, "vlm", INFINITY)->eps));
}

static void
test_text(void **state)
{
    struct trial_encoder encoder = {
        "vlm",    10,    0.7,
        "subset", "vlm", "d=8 l=5 eps-pre=33 epochs=60 batch=64 rate=0.001"};
    struct trial_fit fit = {.eps = 10, .decay = -1, .marginal = -1};
    char text[EXPERIMENT_SETTING_SIZE], other[EXPERIMENT_SETTING_SIZE];
    (void)state;
    trial_setting_text(&encoder, &fit, 10, 0, text);
    assert_non_null(strstr(text, "vlm d=8 l=5 eps_pre=33 m=0 epochs=60 "
                                 "batch=64 rate=0.001; lambda=0.7 "
                                 "label=subset; fit eq11 epochs="));
    trial_setting_text(&encoder, &fit, 10, 2, other);
    assert_non_null(strstr(other, " m=0 epochs=2 "));
    trial_encoder_text(&encoder, 0, text);
    encoder.lambda = 0.9; /* neither the budget nor the fit is the encoder's */
    trial_encoder_text(&encoder, 0, other);
    assert_string_equal(text, other);
    trial_setting_text(&encoder, &fit, 10, 0, text);
    assert_non_null(strstr(text, "lambda=0.9"));
    encoder.settings = "linear d=8 l=5 learn-b epochs=60";
    fit = (struct trial_fit){.eps = 10,
                             .epochs = 5,
                             .rate = 0.1,
                             .prior_most = 7,
                             .batches = 4,
                             .restarts = 3,
                             .smoothing = 0.25,
                             .marginal = 2,
                             .entropy = 0.125,
                             .candidates = 3,
                             .bootstrap = 0.5};
    trial_setting_text(&encoder, &fit, 10, 0, text);
    assert_non_null(strstr(text, "vlm d=8 l=5 eps_pre=learnt m=0 epochs=60;"));
    assert_non_null(strstr(text, "fit eq11 epochs=5 rate=0.1 decay=0 "
                                 "batches=4 patience="));
    assert_non_null(strstr(text, " restarts=3 prior=7 smoothing=0.25 "
                                 "balanced=2 entropy=0.125 candidates=3 "
                                 "bootstrap=0.5"));
    fit.entropy = -1;
    trial_setting_text(&encoder, &fit, INFINITY, 0, text);
    assert_non_null(strstr(text, "fit plain "));
    fit.level = SOTTO_LEVEL_FEATURE;
    trial_setting_text(&encoder, &fit, 10, 0, text);
    assert_non_null(strstr(text, "fit eq12 "));
    fit.level = SOTTO_LEVEL_LATENT;
    fit.eq12 = true;
    trial_setting_text(&encoder, &fit, 10, 0, text);
    assert_non_null(strstr(text, "fit eq12 "));
    fit.entropy = 0.5; /* a table that cannot be: seen, not run */
    trial_setting_text(&encoder, &fit, 10, 0, text);
    assert_non_null(strstr(text, "fit impossible"));
    trial_encoder_text(trial_encoder_find(&data_set_mnist, "pca", 4), 0, text);
    assert_string_equal(text, "pca d=8 inside=0.9");
}

static bool
reports_codes(const char *name)
{
    return (experiment_mechanism_find(&experiment_mnist_collection, name)->how &
            EXPERIMENT_CODES) != 0;
}

/* A codebook is cut from an encoder for no noise, whatever the epsilon; its
   text tells how k is found, and not which it is. */
static void
test_codes(void **state)
{
    const struct experiment_mechanism *codebook =
        experiment_mechanism_find(&experiment_mnist_collection, "codebook");
    const struct trial_encoder *encoder =
        trial_encoder_find(&data_set_mnist, codebook->settings, INFINITY);
    struct trial_code code = {.eps = 1, .classes = 10, .label = true};
    const struct sotto_experiment_options options = {.level =
                                                         SOTTO_LEVEL_LATENT};
    const struct experiment_run run = {
        .experiment = &experiment_mnist_collection,
        .mechanism = experiment_mechanism_find(&experiment_mnist_collection,
                                               "vlm-codebook"),
        .options = &options};
    char text[EXPERIMENT_SETTING_SIZE], other[EXPERIMENT_SETTING_SIZE];
    (void)state;
    assert_true(reports_codes("codebook") && reports_codes("pca-codebook") &&
                !reports_codes("clm") && !reports_codes("vlm"));
    assert_string_equal(encoder->mechanism, "clm");
    assert_true(isinf(encoder->eps));
    trial_setting(&run, 1, text);
    trial_setting(&run, 10, other);
    assert_string_equal(text, other);
    assert_non_null(strstr(text, "vlm d=8 l=10 eps_pre=200 "));
    trial_codes_setting_text(encoder, &code, 0, text);
    assert_non_null(strstr(text, "clm d=64 epochs=36 batch=256 rate=0.003; "
                                 "codebook of code and label k=chosen "
                                 "classes=10 "));
    code.k = 30;
    code.shifted = true;
    trial_codes_setting_text(encoder, &code, 3, other);
    assert_non_null(strstr(other, " epochs=3 "));
    assert_non_null(strstr(other, " k=30 "));
    assert_non_null(strstr(other, " shifted"));
    code = (struct trial_code){.eps = INFINITY, .classes = 10};
    trial_codes_setting_text(encoder, &code, 0, other);
    assert_non_null(strstr(other, "fit clean"));
    assert_null(strstr(other, "chosen"));
    assert_true(trial_codes_fit_options(1).balanced);
    assert_int_equal(trial_codes_fit_options(1).objective,
                     SOTTO_OBJECTIVE_MARGINAL);
}

/* What the learner settles on where nobody says is in the text: at another
   budget it may be another. */
static void
test_defaults(void **state)
{
    struct trial_fit fit = {.eps = 10, .decay = -1, .marginal = -1};
    const struct trial_encoder *encoder =
        trial_encoder_find(&data_set_mnist, "vlm", 10);
    char high[EXPERIMENT_SETTING_SIZE], low[EXPERIMENT_SETTING_SIZE];
    (void)state;
    trial_setting_text(encoder, &fit, 10, 0, high);
    trial_setting_text(encoder, &fit, 0.5, 0, low);
    assert_string_not_equal(high, low);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete), cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_text),     cmocka_unit_test(test_codes),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
