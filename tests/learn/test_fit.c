/*
 * test_fit.c: learning on a line of 17 points, where the truth is known: a
 * band in the middle is "yes", the rest "no".
 *
 * Noise smears the band out, and labels are flipped: taken for the truth, a
 * report in the band is more often a "no". Eq. 11 knows both noises.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"

#define REPORTS 6000u

static bool
in_band(int q)
{
    return q >= -2 && q <= 2;
}

/* Every point of the line `times` times, in a scattered order. */
static struct sotto_table *
line_rows(size_t times)
{
    char *text = malloc(32 + 32 * 17 * times), *at = text;
    struct sotto_table *table;
    at += sprintf(at, "a,label\n");
    for (size_t i = 0; i < 17 * times; i++) {
        int q = (int)(i * 5 % 17) - 8;
        at += sprintf(at, "%g,%s\n", q / 8.0, in_band(q) ? "yes" : "no");
    }
    table = table_of(text);
    free(text);
    return table;
}

static struct learn_options
options_of(enum sotto_objective objective)
{
    static const uint32_t hidden[] = {16};
    return (struct learn_options){.objective = objective,
                                  .hidden = hidden,
                                  .hiddens = 1,
                                  .epochs = 60,
                                  .rate = 0.02,
                                  .decay = 1e-3,
                                  .batches = 8,
                                  .seed = 5,
                                  .other = true,
                                  .threads = 2};
}

struct stage {
    struct sotto_mechanism *mechanism;
    struct sotto_table *aux, *records;
    struct sotto_report_reader *reader;
};

static struct stage
stage_of(size_t times)
{
    struct stage stage;
    stage.mechanism = open_line(3 * DECIMAL_UNIT, 2 * DECIMAL_UNIT);
    stage.aux = line_rows(1);
    stage.records = line_rows(times);
    stage.reader = read_back(stage.mechanism, stage.records, 3);
    return stage;
}

static void
stage_clear(struct stage *stage)
{
    sotto_report_reader_free(stage->reader);
    sotto_table_free(stage->records);
    sotto_table_free(stage->aux);
    sotto_mechanism_free(stage->mechanism);
}

static struct sotto_model *
fit_with(const struct stage *stage, const struct learn_options *options,
         struct sotto_fit_info *info)
{
    struct sotto_model *model = NULL;
    must(learn_fit(stage->mechanism,
                   &(struct learn_job){.reader = stage->reader,
                                       .table = stage->aux,
                                       .options = options},
                   &model, info, &err));
    return model;
}

static double
accuracy(struct sotto_model *model, const struct sotto_table *table)
{
    struct sotto_evaluation evaluation;
    must(sotto_model_evaluate(model, table, false, 0, &evaluation, &err));
    assert_int_equal(evaluation.rows, 17);
    return evaluation.accuracy;
}

/* A label of three classes, "(other)" among them, through flip at epsilon 2. */
static void
check_support(const struct sotto_fit_info *info)
{
    double n = (double)info->reports, f = 1.0 / 3;
    double h = exp(2) / (exp(2) + 2), q = 1 / (exp(2) + 2);
    double noise = (f * h * (1 - h) + (1 - f) * q * (1 - q)) / pow(h - q, 2);
    double variance = f * (1 - f) + noise;
    assert_true(fabs(info->labels - n * f * (1 - f) / variance) < 1e-3 * n);
    assert_true(fabs(info->within - 1.96 * sqrt(variance / n)) < 1e-3);
    assert_true(fabs(info->reports_needed - 384.146 * variance) < 1);
}

static void
test_recovers(void **state)
{
    struct stage stage = stage_of(REPORTS / 17);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    struct sotto_fit_info info;
    struct sotto_model *model = fit_with(&stage, &options, &info);
    double right;
    (void)state;
    assert_int_equal(info.reports, REPORTS / 17 * 17);
    assert_int_equal(info.points, 17);
    check_support(&info);
    assert_true(info.memory > 0 && info.kept == 1);
    assert_true(info.log_p < 0 && info.validation < 0 && info.epochs > 0);
    right = accuracy(model, stage.aux);
    assert_true(right > 0.93);
    sotto_model_free(model);

    options.objective = SOTTO_OBJECTIVE_PLAIN;
    model = fit_with(&stage, &options, NULL);
    assert_true(accuracy(model, stage.aux) < 0.8); /* "no" everywhere */
    sotto_model_free(model);
    stage_clear(&stage);
}

/* Eq. 12 knows the labels' noise alone: better than nothing where there is
   little of the other. */
static void
test_label(void **state)
{
    struct stage stage;
    struct learn_options options = options_of(SOTTO_OBJECTIVE_LABEL);
    struct sotto_model *model;
    struct sotto_fit_info info;
    (void)state;
    stage.mechanism = open_line(28 * DECIMAL_UNIT, DECIMAL_UNIT);
    stage.aux = line_rows(1);
    stage.records = line_rows(200);
    stage.reader = read_back(stage.mechanism, stage.records, 3);
    model = fit_with(&stage, &options, &info);
    assert_true(accuracy(model, stage.aux) > 0.93);
    assert_true(info.points == 0 && info.memory == 0);
    sotto_model_free(model);
    stage_clear(&stage);
}

static void
test_clean(void **state)
{
    struct stage stage = stage_of(20);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    struct sotto_model *model = NULL;
    struct sotto_fit_info info;
    (void)state;
    for (int level = 0; level < 2; level++) {
        options.level = (enum sotto_level)level;
        must(learn_fit(
            stage.mechanism,
            &(struct learn_job){.table = stage.records, .options = &options},
            &model, &info, &err));
        assert_int_equal(info.reports, 340);
        assert_true(accuracy(model, stage.aux) == 1);
        sotto_model_free(model);
    }
    stage_clear(&stage);
}

/* A model's probabilities for every point. */
static void
predict(struct sotto_model *model, const struct sotto_table *table, double *p)
{
    must(sotto_model_predict(model, table, p, &err));
}

static void
test_threads(void **state)
{
    struct stage stage = stage_of(40);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    double one[51], other[51];
    (void)state;
    options.epochs = 5;
    for (int objective = 0; objective < 3; objective++) {
        struct sotto_model *model;
        options.objective = (enum sotto_objective)objective;
        options.threads = 1;
        options.seed = 5;
        model = fit_with(&stage, &options, NULL);
        predict(model, stage.aux, one);
        sotto_model_free(model);
        options.threads = 3;
        model = fit_with(&stage, &options, NULL);
        predict(model, stage.aux, other);
        assert_memory_equal(one, other, sizeof one);
        sotto_model_free(model);
        options.seed = 6;
        model = fit_with(&stage, &options, NULL);
        predict(model, stage.aux, other);
        assert_memory_not_equal(one, other, sizeof one);
        sotto_model_free(model);
    }
    stage_clear(&stage);
}

/* Feature level: the same record is its own representation here. */
static void
test_feature(void **state)
{
    struct stage stage = stage_of(REPORTS / 17);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    struct sotto_model *model;
    (void)state;
    options.level = SOTTO_LEVEL_FEATURE;
    options.restarts = 2;
    model = fit_with(&stage, &options, NULL);
    assert_true(accuracy(model, stage.aux) > 0.93);
    sotto_model_free(model);
    stage_clear(&stage);
}

static void
refuse(const struct stage *stage, const struct sotto_table *aux,
       const struct learn_options *options, enum sotto_status expected,
       const char *text)
{
    struct sotto_model *model = NULL;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(learn_fit(stage->mechanism,
                               &(struct learn_job){.reader = stage->reader,
                                                   .table = aux,
                                                   .options = options},
                               &model, NULL, &err),
                     expected);
    assert_null(model);
    assert_int_equal(err.status, expected);
    assert_non_null(strstr(err.message, text));
}

/* A setting out of its range goes no further. */
static void
refuse_setting(const struct stage *stage, const char *name, const char *value)
{
    const struct sotto_setting set = {name, value};
    const struct sotto_fit_options options = {.set = &set, .sets = 1};
    struct sotto_model *model = NULL;
    memset(&err, 'x', sizeof err);
    assert_int_equal(sotto_fit(stage->mechanism, stage->reader, NULL,
                               stage->aux, &options, &model, NULL, &err),
                     SOTTO_STATUS_USAGE);
    assert_null(model);
    assert_string_equal(err.subject, name);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    size_t *calls = context;
    assert_true(done <= total && what != NULL);
    return ++*calls < 5;
}

static void
test_refusals(void **state)
{
    struct stage stage = stage_of(10);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    struct sotto_table *other = table_of("x,label\n1,yes\n");
    size_t calls = 0;
    (void)state;
    refuse(&stage, NULL, &options, SOTTO_STATUS_USAGE, "no analyst file");
    refuse(&stage, other, &options, SOTTO_STATUS_INPUT, "\"a\"");
    options.level = SOTTO_LEVEL_FEATURE;
    refuse(&stage, NULL, &options, SOTTO_STATUS_USAGE, "public records");
    options.objective = SOTTO_OBJECTIVE_LABEL;
    refuse(&stage, NULL, &options, SOTTO_STATUS_USAGE, "analyst file");
    options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    options.linear = true;
    refuse(&stage, stage.aux, &options, SOTTO_STATUS_USAGE, "linear");
    refuse_setting(&stage, "rate", "nan");
    options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    options.watch = (struct sotto_watch){stop, &calls};
    refuse(&stage, stage.aux, &options, SOTTO_STATUS_STOPPED, "stopped");
    assert_int_equal(calls, 5);
    sotto_table_free(other);
    stage_clear(&stage);
}

/* Weights that run away end the fit: no model of NaNs. */
static void
test_diverged(void **state)
{
    struct stage stage = stage_of(8);
    (void)state;
    for (int objective = 0; objective < 2; objective++) {
        struct learn_options options =
            options_of((enum sotto_objective)objective);
        struct sotto_model *model = NULL;
        options.rate = 10;
        options.decay = 1000;
        options.validation = -1;
        assert_int_equal(learn_fit(stage.mechanism,
                                   &(struct learn_job){.reader = stage.reader,
                                                       .table = stage.aux,
                                                       .options = &options},
                                   &model, NULL, &err),
                         SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, "rate is too high"));
        assert_string_equal(err.subject, "rate");
        assert_null(model);
    }
    stage_clear(&stage);
}

/* Fewer points, drawn by lot. */
static void
test_prior_most(void **state)
{
    struct stage stage = stage_of(10);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    struct sotto_fit_info info;
    (void)state;
    options.prior_most = 9;
    options.epochs = 1;
    sotto_model_free(fit_with(&stage, &options, &info));
    assert_int_equal(info.points, 9);
    stage_clear(&stage);
}

/* A share that is known holds the mean of p, whatever the reports say: 5 of 17
   points are "yes". Nobody is "(other)", where that is a class. */
static void
test_balanced(void **state)
{
    struct stage stage = stage_of(40);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    (void)state;
    options.marginal = 50;
    options.validation = -1; /* whose best score may be an early one */
    for (int other = 0; other < 2; other++) {
        size_t classes = other != 0 ? 3 : 2;
        for (int balanced = 0; balanced < 2; balanced++) {
            struct sotto_model *model;
            double p[51], yes = 0, none = 0;
            options.other = other != 0;
            options.balanced = balanced != 0;
            model = fit_with(&stage, &options, NULL);
            assert_int_equal(sotto_model_classes(model), classes);
            predict(model, stage.aux, p);
            for (size_t i = 0; i < 17; i++) {
                yes += p[i * classes + 1] / 17;
                none += other != 0 ? p[i * classes + 2] / 17 : 0;
            }
            assert_true(balanced != 0 ? fabs(yes - 0.5) < 0.03 : yes < 0.42);
            assert_true(balanced == 0 || none < 0.03);
            sotto_model_free(model);
        }
    }
    stage_clear(&stage);
}

/* The entropy's weight makes probabilities surer. */
static void
test_entropy(void **state)
{
    struct stage stage = stage_of(40);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    double sure[2] = {0, 0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct sotto_model *model;
        double p[51];
        options.entropy = 0.3 * i;
        model = fit_with(&stage, &options, NULL);
        predict(model, stage.aux, p);
        for (size_t j = 0; j < 17; j++) {
            sure[i] += fmax(fmax(p[j * 3], p[j * 3 + 1]), p[j * 3 + 2]) / 17;
        }
        sotto_model_free(model);
    }
    assert_true(sure[1] > sure[0] + 0.02);
    options.objective = SOTTO_OBJECTIVE_LABEL;
    refuse(&stage, stage.aux, &options, SOTTO_STATUS_USAGE, "marginal");
    stage_clear(&stage);
}

static bool
same_net(const struct sotto_model *a, const struct sotto_model *b, size_t i)
{
    const struct nn_arena *x = &lattice_of(a)->networks.net[i].arena;
    const struct nn_arena *y = &lattice_of(b)->networks.net[i].arena;
    assert_int_equal(x->size, y->size);
    return memcmp(x->value, y->value, x->size * sizeof *x->value) == 0;
}

/* All networks but the first weigh the reports by lot; threads change none. */
static void
test_bootstrap(void **state)
{
    struct stage stage = stage_of(40);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    struct sotto_model *plain, *one, *three, *half;
    (void)state;
    options.epochs = 5;
    options.restarts = 3;
    plain = fit_with(&stage, &options, NULL);
    options.bootstrap = 1;
    one = fit_with(&stage, &options, NULL);
    options.threads = 3;
    three = fit_with(&stage, &options, NULL);
    options.bootstrap = 0.5;
    half = fit_with(&stage, &options, NULL);
    assert_int_equal(sotto_model_networks(one), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(same_net(one, three, i));
        assert_true(same_net(plain, one, i) == (i == 0));
        assert_true(same_net(half, one, i) == (i == 0));
    }
    sotto_model_free(plain);
    sotto_model_free(one);
    sotto_model_free(three);
    sotto_model_free(half);
    stage_clear(&stage);
}

static void
test_memory(void **state)
{
    struct stage stage = stage_of(3);
    struct learn_options options = options_of(SOTTO_OBJECTIVE_MARGINAL);
    (void)state;
    options.epochs = 1;
    options.threads = 1;
    options.restarts = 2;
    options.bootstrap = 1;
    for (int objective = 0; objective < 4; objective++) {
        struct sotto_model *model = NULL;
        enum sotto_status status;
        long n = 0;
        options.objective = (enum sotto_objective)(objective % 3);
        do {
            fail_alloc_at(++n);
            status = objective < 3
                         ? learn_fit(stage.mechanism,
                                     &(struct learn_job){.reader = stage.reader,
                                                         .table = stage.aux,
                                                         .options = &options},
                                     &model, NULL, &err)
                         : learn_fit(stage.mechanism,
                                     &(struct learn_job){.table = stage.records,
                                                         .options = &options},
                                     &model, NULL, &err);
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
        TEST(test_recovers),   TEST(test_label),    TEST(test_clean),
        TEST(test_threads),    TEST(test_feature),  TEST(test_refusals),
        TEST(test_prior_most), TEST(test_balanced), TEST(test_entropy),
        TEST(test_bootstrap),  TEST(test_diverged), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
