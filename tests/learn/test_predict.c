/*
 * test_predict.c: predictions against explicit sums, and what is made of them.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "freed.h"

#define ROWS 70u

static struct sotto_mechanism *mechanism;
static struct sotto_table *aux;

static struct sotto_model *
model_of(enum sotto_objective objective)
{
    struct sotto_report_reader *reader = read_back(mechanism, aux, 3);
    struct learn_options options = {.objective = objective,
                                    .epochs = 60,
                                    .restarts = 2,
                                    .decay = -1,
                                    .other = true,
                                    .threads = 1};
    struct sotto_model *model = NULL;
    must(learn_fit(mechanism,
                   &(struct learn_job){
                       .reader = reader, .table = aux, .options = &options},
                   &model, NULL, &err));
    sotto_report_reader_free(reader);
    return model;
}

/* sum_m p(m | report) p(y | q_m), with p(y | q_m) from sotto_model_predict. */
static void
explicit_sum(struct sotto_model *model, const uint8_t *report, const double *p,
             double ret[3])
{
    const struct prior_shape *shape = &lattice_of(model)->shape;
    double w[ROWS], most = -INFINITY, sum = 0;
    for (size_t m = 0; m < ROWS; m++) {
        w[m] = 0;
        for (size_t b = 0; b < shape->blocks; b++) {
            const struct prior_block *block = &shape->block[b];
            w[m] += block->likelihood->likelihood->log_p(
                block->likelihood, report + block->offset,
                lattice_of(model)->point + m * shape->width + block->at);
        }
        most = w[m] > most ? w[m] : most;
    }
    ret[0] = ret[1] = ret[2] = 0;
    for (size_t m = 0; m < ROWS; m++) {
        sum += exp(w[m] - most);
        for (size_t y = 0; y < 3; y++) {
            ret[y] += exp(w[m] - most) * p[m * 3 + y];
        }
    }
    for (size_t y = 0; y < 3; y++) {
        ret[y] /= sum;
    }
}

static void
test_private_sum(void **state)
{
    struct sotto_model *model = model_of(SOTTO_OBJECTIVE_MARGINAL);
    uint8_t *reports = simulate(mechanism, aux, 21);
    double p[ROWS * 3], got[ROWS * 3], right[3], spread = 0;
    (void)state;
    must(sotto_model_predict(model, aux, p, &err));
    must(sotto_model_predict_private(model, reports, ROWS, got, &err));
    for (size_t n = 0; n < ROWS; n++) {
        explicit_sum(model, reports + n * mechanism->shape.report_size, p,
                     right);
        for (size_t y = 0; y < 3; y++) {
            assert_true(fabs(got[n * 3 + y] - right[y]) < 1e-3);
        }
        spread = fmax(spread, fabs(got[n * 3] - got[0]));
    }
    assert_true(spread > 0.01); /* they do differ */
    free(reports);
    sotto_model_free(model);
}

/* The others classify the report's estimate: for a report at a point, what is
   said of that point. */
static void
test_private_estimate(void **state)
{
    struct sotto_model *model = model_of(SOTTO_OBJECTIVE_PLAIN);
    uint8_t *reports = simulate(mechanism, aux, 21);
    double got[ROWS * 3], room[8], z[8];
    (void)state;
    must(sotto_model_predict_private(model, reports, ROWS, got, &err));
    for (size_t n = 0; n < ROWS; n++) {
        float input[8], p[3];
        prior_estimate(&lattice_of(model)->shape,
                       reports + n * mechanism->shape.report_size, room, z);
        for (size_t i = 0; i < lattice_of(model)->networks.in; i++) {
            input[i] = (float)z[i];
        }
        lattice_say(model, input, 1, p);
        for (size_t y = 0; y < 3; y++) {
            assert_true(fabs(got[n * 3 + y] - (double)p[y]) < 1e-6);
        }
    }
    free(reports);
    sotto_model_free(model);
}

/* The label's part of a report is not looked at. */
static void
test_label_ignored(void **state)
{
    struct sotto_model *model = model_of(SOTTO_OBJECTIVE_MARGINAL);
    uint8_t *reports = simulate(mechanism, aux, 21);
    double one[3], other[3];
    (void)state;
    must(sotto_model_predict_private(model, reports, 1, one, &err));
    reports[lattice_of(model)->shape.label_offset] =
        (uint8_t)((reports[lattice_of(model)->shape.label_offset] + 1) % 3);
    must(sotto_model_predict_private(model, reports, 1, other, &err));
    assert_memory_equal(one, other, sizeof one);
    reports[10] ^= 1; /* of the mechanism's hash */
    assert_int_equal(
        sotto_model_predict_private(model, reports, 1, other, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "report 1 is none of the mechanism"));
    free(reports);
    sotto_model_free(model);
}

static void
test_evaluate(void **state)
{
    struct sotto_model *model = model_of(SOTTO_OBJECTIVE_MARGINAL);
    struct sotto_table *some = table_of("a,b,colour,label\n"
                                        "0.4,0,blue,yes\n"
                                        "-0.4,0,blue,no\n"
                                        "0.4,0,red,no\n"
                                        "0.1,0,red,\n"
                                        "0.1,0,red,perhaps\n");
    struct sotto_table *none = table_of("a,b,colour\n0.4,0,blue\n");
    struct sotto_evaluation evaluation;
    double p[15], log_p = 0, right = 0;
    static const size_t truth[] = {1, 0, 0, 2, 2}; /* missing, new: other */
    uint64_t counted = 0;
    (void)state;
    must(sotto_model_predict(model, some, p, &err));
    must(sotto_model_evaluate(model, some, false, 0, &evaluation, &err));
    for (size_t i = 0; i < 5; i++) {
        const double *at = p + 3 * i;
        size_t best = at[1] > at[0] ? 1 : 0;
        best = at[2] > at[best] ? 2 : best;
        right += best == truth[i] ? 1.0 / 5 : 0;
        log_p += log(at[truth[i]]) / 5;
        assert_true(evaluation.confusion[truth[i] * 3 + best] > 0);
    }
    for (size_t i = 0; i < 9; i++) {
        counted += evaluation.confusion[i];
    }
    assert_int_equal(evaluation.rows, 5);
    assert_int_equal(counted, 5);
    assert_true(fabs(evaluation.accuracy - right) < 1e-12);
    assert_true(fabs(evaluation.log_p - log_p) < 1e-6);
    assert_true(evaluation.scores->accuracy.value == evaluation.accuracy);
    assert_ptr_equal(evaluation.scores->confusion, evaluation.confusion);
    assert_int_equal(
        sotto_model_evaluate(model, none, false, 0, &evaluation, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "no column \"label\""));
    assert_string_equal(err.remedy, "labels");
    sotto_table_free(some);
    sotto_table_free(none);
    sotto_model_free(model);
}

/* A model without "(other)" leaves such rows out; where the label has but one
   category it is a class, and --balanced gives it half. */
static void
test_evaluate_known(void **state)
{
    static const char *const yes[] = {"yes"};
    static const struct schema_column column[] = {
        {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
        {"label", SOTTO_COLUMN_CATEGORY, 2, yes, false, 0, 0}};
    struct sotto_table *some = table_of("a,label\n-0.9,no\n-0.8,\n-0.7,no\n"
                                        "0.7,yes\n0.8,yes\n0.9,yes\n");
    struct learn_options options = {.epochs = 200, .rate = 0.05};
    struct sotto_mechanism *line = open_line(DECIMAL_UNIT, DECIMAL_UNIT);
    struct sotto_model *model = NULL;
    struct sotto_evaluation evaluation;
    (void)state;
    options.threads = 1;
    options.validation = -1;
    must(learn_fit(line,
                   &(struct learn_job){.table = some, .options = &options},
                   &model, NULL, &err));
    must(sotto_model_evaluate(model, some, false, 0, &evaluation, &err));
    assert_int_equal(sotto_model_classes(model), 2);
    assert_int_equal(evaluation.rows, 5); /* "no" is known, "" is not */
    sotto_model_free(model);
    sotto_mechanism_free(line);

    line = open_line_with(column, DECIMAL_UNIT, DECIMAL_UNIT);
    for (int balanced = 0; balanced < 2; balanced++) {
        options.balanced = balanced != 0;
        must(learn_fit(line,
                       &(struct learn_job){.table = some, .options = &options},
                       &model, NULL, &err));
        must(sotto_model_evaluate(model, some, false, 0, &evaluation, &err));
        assert_int_equal(sotto_model_classes(model), 2);
        assert_string_equal(sotto_model_class(model, 1), "(other)");
        assert_int_equal(evaluation.rows, 6);
        assert_int_equal(evaluation.confusion[3], 3);
        assert_true(evaluation.accuracy == 1);
        sotto_model_free(model);
    }
    sotto_mechanism_free(line);
    sotto_table_free(some);
}

/* Privatised records: the same seed, the same answer. */
static void
test_evaluate_private(void **state)
{
    struct sotto_model *model = model_of(SOTTO_OBJECTIVE_MARGINAL);
    struct sotto_evaluation one, other, clean;
    (void)state;
    must(sotto_model_evaluate(model, aux, true, 4, &one, &err));
    must(sotto_model_evaluate(model, aux, true, 4, &other, &err));
    assert_true(one.log_p == other.log_p);
    must(sotto_model_evaluate(model, aux, true, 5, &other, &err));
    assert_true(one.log_p != other.log_p);
    must(sotto_model_evaluate(model, aux, false, 5, &clean, &err));
    assert_true(clean.log_p != other.log_p);
    sotto_model_free(model);
}

static size_t
found_by_evaluate(struct sotto_model *model, const void *bytes, size_t size)
{
    struct sotto_evaluation evaluation;
    freed_watch(bytes, size);
    must(sotto_model_evaluate(model, aux, false, 1, &evaluation, &err));
    return freed_found();
}

/* Nothing that is freed still holds a record, its point or what the model says
   of it. */
static void
test_wiped(void **state)
{
    struct learn_options options = {
        .epochs = 2, .threads = 1, .level = SOTTO_LEVEL_FEATURE};
    struct sotto_mechanism *encoded = open_encoded();
    (void)state;
    for (int feature = 0; feature < 2; feature++) {
        struct sotto_model *model = NULL;
        struct rows rows;
        double p[ROWS * 2];
        float said[4], x[2];
        int32_t q[2];
        options.level = feature != 0 ? SOTTO_LEVEL_FEATURE : SOTTO_LEVEL_LATENT;
        must(learn_fit(encoded,
                       &(struct learn_job){.table = aux, .options = &options},
                       &model, NULL, &err));
        must(rows_init(&rows, encoded, aux, &err));
        rows_q(&rows, ROWS - 1, q); /* the last, which stays */
        rows_encode(&rows, ROWS - 2, x, NULL);
        rows_clear(&rows);
        must(sotto_model_predict(model, aux, p, &err));
        for (size_t i = 0; i < 4; i++) {
            said[i] = (float)p[i];
        }
        assert_int_equal(found_by_evaluate(model, said, sizeof said), 0);
        assert_int_equal(found_by_evaluate(model, p, 4 * sizeof *p), 0);
        assert_int_equal(found_by_evaluate(model, q, sizeof q), 0);
        assert_int_equal(found_by_evaluate(model, x, sizeof x), 0);
        sotto_model_free(model);
    }
    sotto_mechanism_free(encoded);
}

static void
test_memory(void **state)
{
    struct sotto_model *model = model_of(SOTTO_OBJECTIVE_MARGINAL);
    struct sotto_evaluation evaluation;
    (void)state;
    for (int private_records = 0; private_records < 2; private_records++) {
        enum sotto_status status;
        long n = 0;
        do {
            fail_alloc_at(++n);
            status = sotto_model_evaluate(model, aux, private_records != 0, 1,
                                          &evaluation, &err);
            assert_true(status == SOTTO_STATUS_OK ||
                        status == SOTTO_STATUS_MEMORY);
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > 4);
    }
    sotto_model_free(model);
}

static int
setup(void **state)
{
    mechanism = open_mixed(6 * DECIMAL_UNIT, 2 * DECIMAL_UNIT, 64);
    aux = mixed_rows(ROWS, 7);
    return make_folder(state);
}

static int
teardown(void **state)
{
    sotto_table_free(aux);
    sotto_mechanism_free(mechanism);
    return remove_folder(state);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_private_sum),    TEST(test_private_estimate),
        TEST(test_label_ignored),  TEST(test_evaluate),
        TEST(test_evaluate_known), TEST(test_evaluate_private),
        TEST(test_wiped),          TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
