/*
 * test_labelled.c: reports whose labels somebody knows: what is learnt from
 * them, whose label it is, and what a model of them takes.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "learn/labelled.h"

#define PEOPLE 300u

/* a from -1 to 1, and nothing else. */
static struct sotto_mechanism *
open_unlabelled(void)
{
    const struct compose_part part = {.covers = "features",
                                      .channel = "laplace",
                                      .eps = 8 * DECIMAL_UNIT,
                                      .blocks = 1,
                                      .d = 1,
                                      .l = 8};
    const struct compose_spec spec = {.name = "line",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = 8 * DECIMAL_UNIT,
                                      .column = learn_line_column,
                                      .columns = 1,
                                      .part = &part,
                                      .parts = 1};
    return open_spec(&spec);
}

struct stage {
    struct sotto_mechanism *mechanism;
    struct sotto_table *people; /* a, and the label: whether a is above 0 */
    struct sotto_report_reader *reader;
};

static int
setup(void **state)
{
    static struct stage stage;
    char text[PEOPLE * 32] = "a,label\n";
    size_t size = strlen(text);
    for (unsigned i = 0; i < PEOPLE; i++) {
        double a = (i * 37 % PEOPLE + 0.5) / PEOPLE * 2 - 1;
        size +=
            (size_t)sprintf(text + size, "%.4f,%s\n", a, a > 0 ? "yes" : "no");
    }
    if (scratch_make() != 0) {
        return -1;
    }
    stage.mechanism = open_unlabelled();
    stage.people = table_of(text);
    stage.reader = read_back(stage.mechanism, stage.people, 1);
    *state = &stage;
    return 0;
}

static int
tear_down(void **state)
{
    struct stage *stage = *state;
    sotto_report_reader_free(stage->reader);
    sotto_table_free(stage->people);
    sotto_mechanism_free(stage->mechanism);
    return scratch_remove();
}

static enum sotto_status
fit_labels(const struct stage *stage, const struct sotto_table *labels,
           const char *column, struct sotto_model **ret_model)
{
    const struct sotto_setting set[] = {{"epochs", "20"}, {"hidden", "4"}};
    const struct sotto_fit_options options = {
        .set = set, .sets = 2, .threads = 1};
    return sotto_fit_labelled(stage->mechanism, stage->reader, labels, column,
                              NULL, stage->people, &options, ret_model, NULL,
                              &err);
}

/* Labels of the last people only, backwards, by the ids of their reports. */
static struct sotto_table *
table_by_ids(const struct stage *stage, size_t count)
{
    char text[PEOPLE * 48] = "known,id\n";
    size_t size = strlen(text);
    for (size_t i = PEOPLE; i > PEOPLE - count; i--) {
        const uint8_t *report = sotto_report_reader_at(stage->reader, i - 1);
        const uint8_t *id = sotto_report_id(report);
        struct sotto_value cell = sotto_table_cell(stage->people, i - 1, 1);
        size += (size_t)sprintf(text + size, "%.*s,", (int)cell.size,
                                (const char *)cell.data);
        for (size_t j = 0; j < SOTTO_ID_SIZE; j++) {
            size +=
                (size_t)sprintf(text + size, i % 2 ? "%02x" : "%02X", id[j]);
        }
        size += (size_t)sprintf(text + size, "\n");
    }
    return table_of(text);
}

static double
accuracy_of(struct sotto_model *model, const struct stage *stage)
{
    struct sotto_evaluation evaluation;
    must(sotto_model_evaluate(model, stage->people, false, 0, &evaluation,
                              &err));
    return evaluation.accuracy;
}

static void
test_order(void **state)
{
    const struct stage *stage = *state;
    struct sotto_model *model = NULL;
    must(fit_labels(stage, stage->people, "label", &model));
    assert_true(accuracy_of(model, stage) > 0.95);
    assert_int_equal(sotto_model_classes(model), 2);
    assert_string_equal(sotto_model_class(model, 1), "yes");
    assert_true(model->clean); /* of these labels it tells */
    sotto_model_free(model);
}

/* All by id is all in order: the same model. Some suffice. */
static void
test_ids(void **state)
{
    const struct stage *stage = *state;
    struct sotto_table *all = table_by_ids(stage, PEOPLE);
    struct sotto_table *some = table_by_ids(stage, 100);
    struct sotto_model *in_order = NULL, *by_id = NULL, *few = NULL;
    double p[2][PEOPLE * 2];
    must(sotto_table_rename(stage->people, 1, "known", &err));
    must(fit_labels(stage, stage->people, "known", &in_order));
    must(fit_labels(stage, all, "known", &by_id));
    must(sotto_model_predict(in_order, stage->people, p[0], &err));
    must(sotto_model_predict(by_id, stage->people, p[1], &err));
    assert_memory_equal(p[0], p[1], sizeof p[0]);
    must(fit_labels(stage, some, "known", &few));
    assert_true(accuracy_of(few, stage) > 0.9);
    must(sotto_table_rename(stage->people, 1, "label", &err));
    sotto_model_free(in_order);
    sotto_model_free(by_id);
    sotto_model_free(few);
    sotto_table_free(all);
    sotto_table_free(some);
}

static void
check_refused(const struct stage *stage, const char *text, const char *column,
              const char *says)
{
    struct sotto_table *labels = table_of(text);
    struct sotto_model *model = NULL;
    memset(&err, 'x', sizeof err);
    assert_int_not_equal(fit_labels(stage, labels, column, &model),
                         SOTTO_STATUS_OK);
    assert_string_equal(err.subject, "labels");
    if (strstr(err.message, says) == NULL) {
        fail_msg("'%s' does not say '%s'", err.message, says);
    }
    assert_null(model);
    sotto_table_free(labels);
}

static void
test_refused(void **state)
{
    struct stage *stage = *state;
    struct sotto_mechanism *own = open_line(DECIMAL_UNIT, DECIMAL_UNIT);
    struct sotto_mechanism *labelled = NULL;
    check_refused(stage, "label\nyes\nno\n", "label",
                  "2 labels of 300 reports");
    check_refused(stage, "id,label\n7,yes\n", "label", "row 1: the column id");
    check_refused(stage, "id,label\n000000000000000000000000000000zz,yes\n",
                  "label", "row 1: the column id");
    check_refused(stage,
                  "id,label\n00000000000000000000000000000abc,yes\n"
                  "00000000000000000000000000000ABC,no\n",
                  "label", "rows 1 and 2 have the same id");
    check_refused(stage, "id,label\n00000000000000000000000000000abc,yes\n",
                  "label", "no report has one of the ids");
    assert_int_equal(
        labelled_mechanism(own, &learn_line_column[1], &labelled, &err),
        SOTTO_STATUS_INPUT);
    assert_null(labelled);
    sotto_mechanism_free(own);
}

/* Reports of the mechanism that was learnt from are taken, others are not. */
static void
test_predict(void **state)
{
    const struct stage *stage = *state;
    struct sotto_mechanism *other = open_line(DECIMAL_UNIT, DECIMAL_UNIT);
    struct sotto_model *model = NULL;
    size_t size = stage->mechanism->shape.report_size;
    uint8_t *reports = simulate(stage->mechanism, stage->people, 1);
    double p[PEOPLE * 2];
    size_t right = 0;
    must(fit_labels(stage, stage->people, "label", &model));
    must(sotto_model_predict_private_with(model, stage->mechanism, reports,
                                          PEOPLE, p, &err));
    for (size_t i = 0; i < PEOPLE; i++) {
        bool yes = sotto_table_cell(stage->people, i, 0).number > 0;
        right += (p[2 * i + 1] > p[2 * i]) == yes ? 1 : 0;
    }
    assert_in_range(right, PEOPLE * 7 / 10, PEOPLE);
    reports[size] ^= 1; /* no report begins so */
    assert_int_equal(sotto_model_predict_private_with(model, stage->mechanism,
                                                      reports, PEOPLE, p, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(
        sotto_model_predict_private_with(model, other, reports, 0, p, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "its own mechanism only"));
    free(reports);
    sotto_model_free(model);
    sotto_mechanism_free(other);
}

/* A label of two columns is none that another mechanism could be given. */
static void
test_combined(void **state)
{
    const struct stage *stage = *state;
    static const char *const words[] = {"no", "yes"};
    const struct schema_column column[] = {learn_line_column[0],
                                           {.name = "p",
                                            .kind = SOTTO_COLUMN_CATEGORY,
                                            .count = 3,
                                            .values = words},
                                           {.name = "q",
                                            .kind = SOTTO_COLUMN_CATEGORY,
                                            .count = 3,
                                            .values = words}};
    const struct compose_part part[] = {
        {.covers = "features",
         .channel = "laplace",
         .eps = 8 * DECIMAL_UNIT,
         .blocks = 1,
         .d = 1,
         .l = 8},
        {.covers = "label",
         .channel = "flip",
         .eps = 8 * DECIMAL_UNIT,
         .blocks = 1,
         .factor = {{.is_column = true, .at = 1}, {.is_column = true, .at = 2}},
         .factors = 2}};
    const struct compose_spec spec = {.name = "line",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = 16 * DECIMAL_UNIT,
                                      .column = column,
                                      .columns = 3,
                                      .part = part,
                                      .parts = 2};
    struct sotto_mechanism *both = open_spec(&spec);
    char text[PEOPLE * 32] = "a,p,q\n";
    size_t size = strlen(text);
    struct sotto_model *model = NULL;
    double p[16];
    for (unsigned i = 0; i < PEOPLE; i++) {
        double a = (i * 37 % PEOPLE + 0.5) / PEOPLE * 2 - 1;
        size +=
            (size_t)snprintf(text + size, sizeof text - size, "%.4f,%s,%s\n", a,
                             a > 0 ? "yes" : "no", a > 0.5 ? "yes" : "no");
    }
    struct sotto_table *people = table_of(text);
    struct sotto_report_reader *reports = read_back(both, people, 1);
    uint8_t *plain = simulate(stage->mechanism, stage->people, 1);
    must(sotto_fit(both, reports, NULL, people, &(struct sotto_fit_options){0},
                   &model, NULL, &err));
    assert_int_equal(sotto_model_predict_private_with(model, stage->mechanism,
                                                      plain, 1, p, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "its own mechanism only"));
    sotto_model_free(model);
    free(plain);
    sotto_report_reader_free(reports);
    sotto_table_free(people);
    sotto_mechanism_free(both);
}

/* Epsilon 32 leaves none for a label; just below, there is some. */
static void
test_no_room(void **state)
{
    struct sotto_mechanism *labelled = NULL;
    struct compose_part part = {.covers = "features",
                                .channel = "laplace",
                                .blocks = 1,
                                .d = 1,
                                .l = 8};
    struct compose_spec spec = {.name = "line",
                                .campaign = "c",
                                .auxiliary = "not used",
                                .column = learn_line_column,
                                .columns = 1,
                                .part = &part,
                                .parts = 1};
    (void)state;
    for (uint64_t left = 0; left < 2; left++) {
        struct sotto_mechanism *full;
        part.eps = spec.eps = (32 - left) * DECIMAL_UNIT;
        full = open_spec(&spec);
        assert_int_equal(
            labelled_mechanism(full, &learn_line_column[1], &labelled, &err),
            left > 0 ? SOTTO_STATUS_OK : SOTTO_STATUS_INPUT);
        assert_true(left > 0 || strstr(err.message, "none is left") != NULL);
        sotto_mechanism_free(full);
    }
    sotto_mechanism_free(labelled);
}

static void
test_memory(void **state)
{
    const struct stage *stage = *state;
    struct sotto_table *labels = table_by_ids(stage, PEOPLE);
    struct sotto_model *model = NULL;
    enum sotto_status status;
    unsigned n = 0;
    do {
        fail_alloc_at(++n);
        status = fit_labels(stage, labels, "known", &model);
        if (status != SOTTO_STATUS_OK) {
            fail_alloc_at(0);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_null(model);
        }
    } while (status != SOTTO_STATUS_OK);
    fail_alloc_at(0);
    sotto_model_free(model);
    sotto_table_free(labels);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_ids),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_predict),
        cmocka_unit_test(test_combined), cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, tear_down);
}
