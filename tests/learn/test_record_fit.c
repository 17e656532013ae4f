/*
 * test_record_fit.c: a network on records, from reports about their labels.
 */
#include "record_fixture.h"

#include "fail_alloc.h"

#define IMAGES 240u
#define SIDE 8u

static struct sotto_mechanism *mechanism;

static int
setup(void **state)
{
    (void)state;
    mechanism = open_label(4 * DECIMAL_UNIT);
    return scratch_make();
}

static int
tear_down(void **state)
{
    (void)state;
    sotto_mechanism_free(mechanism);
    return scratch_remove();
}

static enum sotto_status
fit_with(const struct sotto_report_reader *reader,
         const struct sotto_table *records, const struct sotto_mechanism *from,
         const char *epochs, unsigned threads, struct sotto_model **ret_model,
         struct sotto_fit_info *ret_info)
{
    const struct sotto_setting set[] = {{"epochs", epochs}, {"rate", "0.01"}};
    const struct sotto_fit_options options = {
        .set = set, .sets = 2, .threads = threads};
    return sotto_fit_records(mechanism, reader, records, NULL, from, &options,
                             ret_model, ret_info, &err);
}

/* A bar that lies or stands, bright on dark, and noise. */
static struct sotto_table *
make_images(void)
{
    static uint8_t sample[IMAGES * SIDE * SIDE];
    static const char *label[IMAGES];
    const struct sotto_image image = {SIDE, SIDE, 1};
    struct sotto_table *table = NULL;
    for (unsigned i = 0; i < IMAGES; i++) {
        bool stands = i % 2 == 0;
        unsigned at = 1 + i / 2 % (SIDE - 2);
        label[i] = stands ? "yes" : "no";
        for (unsigned j = 0; j < SIDE * SIDE; j++) {
            bool on = (stands ? j % SIDE : j / SIDE) == at;
            sample[i * SIDE * SIDE + j] =
                (uint8_t)((on ? 200 : 20) + (i * 31 + j * 17) % 40);
        }
    }
    must(sotto_table_new(IMAGES, &table, &err));
    must(sotto_table_add_bytes(table, "pixels", sample, &image, &err));
    must(sotto_table_add_texts(table, "label", label, &err));
    return table;
}

static double
accuracy_of(struct sotto_model *model, const struct sotto_table *table)
{
    struct sotto_evaluation evaluation;
    must(sotto_model_evaluate(model, table, false, 0, &evaluation, &err));
    return evaluation.accuracy;
}

/* Convolutions, with views; the same bytes with one thread and with two. */
static void
test_images(void **state)
{
    struct sotto_table *images = make_images();
    struct sotto_report_reader *reader = read_back(mechanism, images, 1);
    struct sotto_model *one = NULL, *two = NULL;
    struct sotto_fit_info info;
    (void)state;
    must(fit_with(reader, images, NULL, "12", 1, &one, &info));
    must(fit_with(reader, images, NULL, "12", 2, &two, NULL));
    assert_int_equal(info.reports, IMAGES);
    assert_int_equal(info.epochs, 12);
    assert_true(info.log_p < 0);
    assert_true(info.validation >= 0); /* too few to hold any out */
    assert_true(accuracy_of(one, images) > 0.9);
    assert_true(one->mechanism->shape.layers > 3);
    assert_int_equal(one->mechanism->size, two->mechanism->size);
    assert_memory_equal(one->mechanism->data, two->mechanism->data,
                        one->mechanism->size);
    sotto_model_free(one);
    sotto_model_free(two);
    sotto_report_reader_free(reader);
    sotto_table_free(images);
}

/* From an encoder's weights: the model has its columns and its layers, and a
   head behind them. */
static void
test_from(void **state)
{
    struct sotto_table *images = make_images();
    struct sotto_report_reader *reader = read_back(mechanism, images, 1);
    const struct sotto_setting set[] = {{"epochs", "12"}, {"d", "8"}};
    const char *const drop[] = {"label"};
    const struct sotto_train_options options = {.eps = "1",
                                                .set = set,
                                                .sets = 2,
                                                .drop = drop,
                                                .drops = 1,
                                                .threads = 1};
    struct sotto_mechanism *from = NULL;
    struct sotto_model *model = NULL;
    (void)state;
    must(sotto_train(images, "clm", &options, NULL, NULL, NULL, &from, &err));
    must(fit_with(reader, images, from, "12", 1, &model, NULL));
    assert_int_equal(model->mechanism->shape.layers, from->shape.layers + 2);
    assert_true(accuracy_of(model, images) > 0.9);
    sotto_model_free(model);
    model = NULL;
    assert_int_equal(fit_with(reader, images, mechanism, "1", 1, &model, NULL),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "no encoder"));
    sotto_mechanism_free(from);
    sotto_report_reader_free(reader);
    sotto_table_free(images);
}

/* An encoder that reads the label is of no use for records without one. */
static void
test_from_label(void **state)
{
    struct sotto_table *people = record_people();
    struct sotto_report_reader *reader = read_back(mechanism, people, 1);
    const struct sotto_setting set[] = {{"d", "2"}};
    const char *const drop[] = {"key"};
    const struct sotto_train_options options = {.eps = "1",
                                                .set = set,
                                                .sets = 1,
                                                .drop = drop,
                                                .drops = 1,
                                                .threads = 1};
    struct sotto_mechanism *from = NULL;
    struct sotto_model *model = NULL;
    (void)state;
    must(sotto_train(people, "pca", &options, NULL, NULL, NULL, &from, &err));
    assert_int_equal(fit_with(reader, people, from, "1", 1, &model, NULL),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "goes into the encoder"));
    assert_null(model);
    sotto_mechanism_free(from);
    sotto_report_reader_free(reader);
    sotto_table_free(people);
}

static void
test_refused(void **state)
{
    struct sotto_table *people = record_people();
    struct sotto_report_reader *reader = read_back(mechanism, people, 1);
    struct sotto_mechanism *plain = open_line(DECIMAL_UNIT, DECIMAL_UNIT);
    struct sotto_report_reader *others = read_back(plain, people, 1);
    struct sotto_table *bare = table_of("label\nno\nyes\n");
    struct sotto_report_reader *two = read_back(mechanism, bare, 1);
    const struct sotto_fit_options options = {.threads = 1};
    struct sotto_model *model = NULL;
    (void)state;
    assert_int_equal(sotto_fit_records(plain, others, people, NULL, NULL,
                                       &options, &model, NULL, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "this one protects them"));
    assert_int_equal(
        sotto_fit(mechanism, reader, NULL, NULL, &options, &model, NULL, &err),
        SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "records are missing"));
    assert_int_equal(fit_with(two, bare, NULL, "1", 1, &model, NULL),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "no column to learn from"));
    assert_null(model);
    sotto_report_reader_free(two);
    sotto_table_free(bare);
    sotto_report_reader_free(others);
    sotto_report_reader_free(reader);
    sotto_mechanism_free(plain);
    sotto_table_free(people);
}

static void
test_memory(void **state)
{
    struct sotto_table *people = record_people();
    struct sotto_report_reader *reader = read_back(mechanism, people, 1);
    struct sotto_model *model = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = fit_with(reader, people, NULL, "1", 1, &model, NULL);
        fail_alloc_at(0);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_null(model);
        }
    } while (status != SOTTO_STATUS_OK);
    assert_true(n > 20);
    sotto_model_free(model);
    sotto_report_reader_free(reader);
    sotto_table_free(people);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images),     cmocka_unit_test(test_from),
        cmocka_unit_test(test_from_label), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, tear_down);
}
