/*
 * test_regression.c: a number learnt from reports, where the truth is known:
 * y is 5 + 3 a, with an error, and b has nothing to do with it.
 *
 * Noise on a makes a line through the reports as they are far too flat; Eq. 11
 * knows the noise.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "learn/lattice/regression.h"

#define REPORTS 3000u
#define AUX 200u

/* `each` for a, for b and for the label, in units. */
static struct sotto_mechanism *
open_number(uint64_t each, const char *channel)
{
    static const struct schema_column column[] = {
        {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
        {"b", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
        {"y", SOTTO_COLUMN_NUMBER, 1, NULL, false, 5, 0.2},
    };
    const struct compose_part part[] = {
        {.covers = "features",
         .channel = "laplace",
         .eps = each,
         .blocks = 2,
         .d = 1,
         .l = 1000},
        {.covers = "label",
         .channel = channel,
         .eps = each,
         .blocks = 1,
         .from = 2,
         .d = 1,
         .l = 1000},
    };
    const struct compose_spec spec = {.name = "number",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = 3 * each,
                                      .column = column,
                                      .columns = 3,
                                      .part = part,
                                      .parts = 2};
    return open_spec(&spec);
}

static struct sotto_table *
number_rows(size_t n, uint64_t seed)
{
    char *text = malloc(64 + 64 * n), *at = text;
    struct seeded seeded;
    struct sotto_table *table;
    seeded_init(&seeded, seed, 0);
    at += sprintf(at, "a,b,y\n");
    for (size_t i = 0; i < n; i++) {
        double a = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        double b = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        double e = 0;
        for (unsigned j = 0; j < 12; j++) { /* deviation 1/2 */
            e += (draw_below(&seeded.random, 2001) - 1000.0) / 4000;
        }
        at += sprintf(at, "%.4f,%.4f,%.4f\n", a, b, 5 + 3 * a + e);
    }
    table = table_of(text);
    free(text);
    return table;
}

struct stage {
    struct sotto_mechanism *mechanism;
    struct sotto_table *aux, *records, *test;
    struct sotto_report_reader *reader;
};

static struct stage
stage_of(uint64_t each, const char *channel, size_t reports)
{
    struct stage stage = {.mechanism = open_number(each, channel)};
    stage.aux = number_rows(AUX, 1);
    stage.records = number_rows(reports, 2);
    stage.test = number_rows(400, 3);
    stage.reader = read_back(stage.mechanism, stage.records, 3);
    return stage;
}

static void
stage_clear(struct stage *stage)
{
    sotto_report_reader_free(stage->reader);
    sotto_table_free(stage->records);
    sotto_table_free(stage->aux);
    sotto_table_free(stage->test);
    sotto_mechanism_free(stage->mechanism);
}

static enum sotto_status
try_fit(const struct stage *stage, bool clean, uint32_t features,
        unsigned threads, struct sotto_model **model,
        struct sotto_fit_info *info)
{
    const struct learn_options options = {
        .features = features, .threads = threads, .prior_most = 1024};
    struct learn_job job = {.options = &options};
    job.reader = clean ? NULL : stage->reader;
    job.table = clean ? stage->records : stage->aux;
    return learn_fit(stage->mechanism, &job, model, info, &err);
}

static struct sotto_model *
fit_with(const struct stage *stage, bool clean, uint32_t features,
         struct sotto_fit_info *info)
{
    struct sotto_model *model = NULL;
    must(try_fit(stage, clean, features, 2, &model, info));
    return model;
}

static struct sotto_number_evaluation
evaluate(struct sotto_model *model, const struct sotto_table *table,
         bool private_records)
{
    struct sotto_number_evaluation evaluation;
    must(sotto_model_evaluate_number(model, private_records, NULL, table, 7,
                                     1.96, &evaluation, &err));
    return evaluation;
}

/* What the model says where a is `a` and b is 0. */
static double
say(struct sotto_model *model, double a)
{
    char text[64];
    double p[REGRESSION_CELLS];
    struct sotto_number number;
    struct sotto_table *table;
    (void)sprintf(text, "a,b\n%.3f,0\n", a);
    table = table_of(text);
    must(sotto_model_predict(model, table, p, &err));
    sotto_table_free(table);
    assert_true(sotto_model_number(model, &number));
    return sotto_number_mean(&number, p);
}

static void
test_recovers(void **state)
{
    static const char *const channel[] = {"window", "laplace", "duchi"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct stage stage = stage_of(3 * DECIMAL_UNIT, channel[i], REPORTS);
        struct sotto_fit_info info;
        struct sotto_model *model = fit_with(&stage, false, 0, &info);
        struct sotto_number_evaluation of = evaluate(model, stage.test, false);
        assert_int_equal(info.reports, REPORTS);
        assert_int_equal(info.points, AUX);
        assert_true(info.known > 1 && info.explained > 0.6);
        assert_true(of.rows == 400 && of.r2.value > 0.85);
        assert_true(of.r2.low < of.r2.value && of.r2.value < of.r2.high);
        assert_true(of.rmse.value < of.rmse_constant / 2);
        assert_true(of.mae.value < of.mae_constant / 2);
        /* not flattened by the noise of a */
        assert_true(say(model, 0.8) - say(model, -0.8) > 0.8 * 4.8);
        of = evaluate(model, stage.test, true); /* reports say less */
        assert_true(of.r2.value > 0.2 && of.r2.value < 0.85);
        sotto_model_free(model);
        stage_clear(&stage);
    }
}

/* With next to no epsilon the answer is a constant, and says that it is. */
static void
test_nothing(void **state)
{
    struct stage stage = stage_of(DECIMAL_UNIT / 100, "window", 300);
    struct sotto_fit_info info;
    struct sotto_model *model = fit_with(&stage, false, 0, &info);
    struct sotto_number_evaluation of = evaluate(model, stage.test, false);
    (void)state;
    assert_true(info.known < 1);
    assert_true(of.r2.value > -0.2 && of.r2.value < 0.3);
    assert_true(of.inside > 0.8);
    sotto_model_free(model);
    stage_clear(&stage);
}

/* Without noise it is least squares, and quantiles are where they should be. */
static void
test_clean(void **state)
{
    struct stage stage = stage_of(3 * DECIMAL_UNIT, "window", 1000);
    struct sotto_fit_info info;
    struct sotto_model *model = fit_with(&stage, true, 0, &info);
    struct sotto_number_evaluation of = evaluate(model, stage.test, false);
    (void)state;
    assert_true(fabs(say(model, 0.5) - 6.5) < 0.1);
    assert_true(fabs(say(model, -0.5) - 3.5) < 0.1);
    assert_true(of.rmse.value > 0.45 && of.rmse.value < 0.55);
    assert_true(of.inside > 0.86 && of.inside < 0.94);
    assert_true(of.r2.value > 0.9 && info.explained > 0.9);
    assert_int_equal(sotto_model_predict_private(model, NULL, 0, NULL, &err),
                     SOTTO_STATUS_USAGE); /* it has no prior */
    sotto_model_free(model);
    model = fit_with(&stage, true, 20, &info); /* bends where there are none */
    assert_true(evaluate(model, stage.test, false).r2.value > 0.9);
    sotto_model_free(model);
    stage_clear(&stage);
}

static void
test_file(void **state)
{
    struct stage stage = stage_of(3 * DECIMAL_UNIT, "window", 500);
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct sotto_model *model = fit_with(&stage, i % 2 == 1, i < 2 ? 0 : 5,
                                             NULL),
                           *back = NULL;
        double one[REGRESSION_CELLS], two[REGRESSION_CELLS];
        struct sotto_table *table = table_of("a,b\n0.3,-0.7\n");
        must(sotto_model_write(model, in_folder("m"), &err));
        must(sotto_model_read(in_folder("m"), &back, &err));
        must(sotto_model_predict(model, table, one, &err));
        must(sotto_model_predict(back, table, two, &err));
        assert_memory_equal(one, two, sizeof one);
        assert_true(evaluate(model, stage.test, i % 2 == 0).r2.value ==
                    evaluate(back, stage.test, i % 2 == 0).r2.value);
        sotto_table_free(table);
        sotto_model_free(back);
        sotto_model_free(model);
    }
    stage_clear(&stage);
}

static void
test_threads(void **state)
{
    struct stage stage = stage_of(3 * DECIMAL_UNIT, "window", 500);
    struct sotto_model *one = NULL, *two = NULL;
    (void)state;
    must(try_fit(&stage, false, 5, 1, &one, NULL));
    must(try_fit(&stage, false, 5, 3, &two, NULL));
    assert_memory_equal(regression_of(one)->theta, regression_of(two)->theta,
                        (regression_of(one)->terms + 1) * sizeof(double));
    sotto_model_free(one);
    sotto_model_free(two);
    stage_clear(&stage);
}

static void
test_refusals(void **state)
{
    struct stage stage = stage_of(3 * DECIMAL_UNIT, "window", 50);
    const struct learn_options lattice = {.learner = "lattice"};
    const struct learn_options none = {0};
    struct learn_job job = {.reader = stage.reader, .options = &none};
    struct sotto_model *model = NULL;
    struct sotto_evaluation classes;
    (void)classes;
    (void)state;
    assert_ptr_equal(learner_find(NULL, stage.mechanism), &learner_regression);
    assert_int_equal(learn_fit(stage.mechanism, &job, &model, NULL, &err),
                     SOTTO_STATUS_USAGE); /* no prior */
    job.options = &lattice;
    job.table = stage.aux;
    assert_int_equal(learn_fit(stage.mechanism, &job, &model, NULL, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "is a number"));
    stage_clear(&stage);
}

/* Ranges 0 to 1, 1 to 3, 3 to 4. */
static void
test_number(void **state)
{
    static const double value[] = {0.5, 2, 3.5}, edge[] = {0, 1, 3, 4};
    static const double p[] = {0.25, 0.5, 0.25}, sure[] = {0, 1, 0};
    const struct sotto_number number = {
        .name = "y", .classes = 3, .value = value, .edge = edge};
    (void)state;
    assert_true(sotto_number_mean(&number, p) == 2);
    assert_true(sotto_number_quantile(&number, p, 0.5) == 2);
    assert_true(sotto_number_quantile(&number, p, 0.125) == 0.5);
    assert_true(sotto_number_quantile(&number, p, 0.875) == 3.5);
    assert_true(sotto_number_quantile(&number, sure, 0.75) == 2.5);
}

static void
test_memory(void **state)
{
    struct stage stage = stage_of(3 * DECIMAL_UNIT, "window", 40);
    (void)state;
    for (unsigned clean = 0; clean < 2; clean++) {
        struct sotto_model *model = NULL;
        enum sotto_status status;
        long n = 0;
        do {
            sotto_model_free(model);
            model = NULL;
            fail_alloc_at(++n);
            status = try_fit(&stage, clean == 1, 2, 1, &model, NULL);
            assert_true(status == SOTTO_STATUS_OK ||
                        (status == SOTTO_STATUS_MEMORY && model == NULL));
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > 15);
        sotto_model_free(model);
    }
    stage_clear(&stage);
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_recovers), TEST(test_nothing), TEST(test_clean),
        TEST(test_file),     TEST(test_threads), TEST(test_refusals),
        TEST(test_number),   TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
