/*
 * test_record.c: a model of records that the collector holds: what it says of
 * them, what it refuses, and its file.
 */
#include "record_fixture.h"

#include "fail_alloc.h"
#include "learn/sending.h"

static struct sotto_mechanism *mechanism;
static struct sotto_table *people;
static struct sotto_report_reader *reader;

static int
setup(void **state)
{
    (void)state;
    if (scratch_make() != 0) {
        return -1;
    }
    mechanism = open_label(4 * DECIMAL_UNIT);
    people = record_people();
    reader = read_back(mechanism, people, 1);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    sotto_table_free(people);
    sotto_report_reader_free(reader);
    sotto_mechanism_free(mechanism);
    return scratch_remove();
}

static struct sotto_model *
fit_people(const char *epochs)
{
    const struct sotto_setting set[] = {{"epochs", epochs}, {"rate", "0.02"}};
    const struct sotto_fit_options options = {
        .set = set, .sets = 2, .threads = 1};
    struct sotto_model *model = NULL;
    struct sotto_table *keys = record_keys(reader);
    must(sotto_fit_records(mechanism, reader, people, keys, NULL, &options,
                           &model, NULL, &err));
    sotto_table_free(keys);
    return model;
}

/* The file gives the same model back, of records without a label, too. */
static void
test_file(void **state)
{
    static double p[RECORD_PEOPLE * 2], again[RECORD_PEOPLE * 2];
    struct sotto_model *model = fit_people("60"), *read = NULL;
    struct sotto_evaluation evaluation;
    (void)state;
    assert_string_equal(model->learner->name, "record");
    assert_int_equal(sotto_model_classes(model), 2);
    assert_string_equal(sotto_model_class(model, 1), "yes");
    must(sotto_model_evaluate(model, people, false, 0, &evaluation, &err));
    assert_true(evaluation.accuracy > 0.9);
    must(sotto_model_write(model, in_folder("a.model"), &err));
    must(sotto_model_read(in_folder("a.model"), &read, &err));
    must(sotto_model_predict(model, people, p, &err));
    must(sotto_model_predict(read, people, again, &err));
    assert_memory_equal(p, again, sizeof p);
    assert_true(fabs(p[0] + p[1] - 1) < 1e-12);
    struct sotto_table *plain = table_of("b,a\n0.5,0.5\n-0.5,0.5\n");
    must(sotto_model_predict(read, plain, p, &err));
    assert_true(p[1] > 0.5 && p[3] < 0.5);
    sotto_table_free(plain);
    sotto_model_free(read);
    sotto_model_free(model);
}

static void
test_refused(void **state)
{
    struct sotto_model *model = fit_people("1");
    struct sotto_evaluation evaluation;
    double p[2];
    struct sotto_table *plain = table_of("a\n0.5\n");
    (void)state;
    assert_int_equal(
        sotto_model_evaluate(model, people, true, 0, &evaluation, &err),
        SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "records in the clear"));
    assert_int_equal(
        sotto_model_predict_private_with(
            model, mechanism, sotto_report_reader_at(reader, 0), 1, p, &err),
        SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_model_predict(model, plain, p, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "b"));
    sotto_table_free(plain);
    sotto_model_free(model);
}

/* What a device sends of such a model's class protects the record, and is no
   longer marked. */
static void
test_device(void **state)
{
    struct sotto_model *model = fit_people("1");
    struct sotto_mechanism *right = NULL;
    struct sotto_mechanism_info info;
    (void)state;
    must(sotto_model_mechanism_right(model, 0, NULL, "1", NULL, &right, &err));
    sotto_mechanism_info(right, &info);
    assert_false(info.label_only);
    sotto_mechanism_info(sotto_model_mechanism(model), &info);
    assert_true(info.label_only);
    sotto_mechanism_free(right);
    sotto_model_free(model);
}

static void
test_memory(void **state)
{
    static double p[RECORD_PEOPLE * 2];
    struct sotto_model *model = fit_people("1");
    enum sotto_status status;
    long n = 0;
    (void)state;
    must(model_backend(model, &err));
    do {
        fail_alloc_at(++n);
        status = sotto_model_predict(model, people, p, &err);
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (status != SOTTO_STATUS_OK);
    sotto_model_free(model);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, tear_down);
}
