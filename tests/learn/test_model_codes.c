/*
 * test_model_codes.c: models of codebooks as files, and files that are none;
 * and what happens where memory runs out.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "host/file.h"
#include "host/safetensors.h"
#include "learn/codes/codes_model.h"
#include "learn_codebook.h"

#define ROWS 40u
#define CELLS 3u
#define CLASSES 2u

static struct sotto_mechanism *mechanism;
static struct sotto_table *people;

static const uint32_t hidden[] = {3};

static struct learn_options
small_options(void)
{
    return (struct learn_options){.hidden = hidden,
                                  .particles = 2,
                                  .hiddens = 1,
                                  .epochs = 2,
                                  .decay = -1,
                                  .marginal = -1,
                                  .entropy = -1,
                                  .threads = 1};
}

static struct sotto_table *
make_people(void)
{
    char *text = malloc(64 + 48 * ROWS), *at = text;
    struct sotto_table *table;
    struct seeded seeded;
    seeded_init(&seeded, 9, 0);
    at += sprintf(at, "a,b,label\n");
    for (size_t i = 0; i < ROWS; i++) {
        double a = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        double b = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        at += sprintf(at, "%.4f,%.4f,%s\n", a, b, b > fabs(a) ? "yes" : "no");
    }
    table = table_of(text);
    free(text);
    return table;
}

static struct sotto_model *
small_model(void)
{
    struct learn_options options = small_options();
    struct sotto_model *model = NULL;
    must(learn_fit(mechanism,
                   &(struct learn_job){.table = people, .options = &options},
                   &model, NULL, &err));
    return model;
}

static void
write_small(const char *path)
{
    struct sotto_model *model = small_model();
    double *exchanged = calloc((size_t)CLASSES * CLASSES, sizeof *exchanged);
    assert_non_null(exchanged);
    assert_true(isnan(sotto_model_exchanged(model, 0, 0)));
    for (size_t y = 0; y < CLASSES; y++) {
        exchanged[y * CLASSES + y] = 0.75;
        exchanged[y * CLASSES + (y + 1) % CLASSES] = 0.25;
    }
    codes_of(model)->classifier->exchanged = exchanged;
    must(sotto_model_write(model, path, &err));
    sotto_model_free(model);
}

/* Doubt about classes is kept, and a model without any opens as ever. */
static void
test_exchanged(void **state)
{
    struct sotto_model *model = NULL, *without = small_model();
    (void)state;
    write_small(in_folder("m.model"));
    must(sotto_model_read(in_folder("m.model"), &model, &err));
    assert_true(fabs(sotto_model_exchanged(model, 1, 1) - 0.75) < 1e-12);
    assert_true(fabs(sotto_model_exchanged(model, 0, 1) - 0.25) < 1e-12);
    assert_true(isnan(sotto_model_exchanged(model, 0, CLASSES)));
    sotto_model_free(model);
    must(sotto_model_write(without, in_folder("m.model"), &err));
    sotto_model_free(without);
    must(sotto_model_read(in_folder("m.model"), &model, &err));
    assert_true(isnan(sotto_model_exchanged(model, 1, 1)));
    sotto_model_free(model);
}

/* A code and a label in parts of their own make the same kind of model. */
static void
test_apart(void **state)
{
    struct sotto_mechanism *apart = open_codebook(4 * DECIMAL_UNIT, false);
    struct learn_options options = small_options();
    struct sotto_model *model = NULL, *again = NULL;
    uint8_t *reports = simulate(apart, people, 1);
    double one[ROWS * CLASSES], two[ROWS * CLASSES];
    (void)state;
    must(learn_fit(apart,
                   &(struct learn_job){.table = people, .options = &options},
                   &model, NULL, &err));
    must(sotto_model_write(model, in_folder("apart.model"), &err));
    must(sotto_model_read(in_folder("apart.model"), &again, &err));
    must(sotto_model_predict_private(model, reports, ROWS, one, &err));
    must(sotto_model_predict_private(again, reports, ROWS, two, &err));
    assert_memory_equal(one, two, sizeof one);
    sotto_model_free(again);
    again = small_model(); /* of pairs: the encoder is the same */
    must(sotto_model_predict_private_with(again, apart, reports, ROWS, two,
                                          &err));
    for (size_t i = 0; i < ROWS; i++) {
        assert_true(fabs(one[i * CLASSES] - two[i * CLASSES]) < 1e-9);
    }
    free(reports);
    sotto_model_free(again);
    sotto_model_free(model);
    sotto_mechanism_free(apart);
}

/* There is one network: nothing to choose. */
static void
test_choose(void **state)
{
    struct sotto_model *model = small_model();
    struct sotto_choice choice;
    (void)state;
    must(sotto_model_choose(model, people, "1", 1, &choice, &err));
    assert_int_equal(choice.people, 0);
    assert_true(isnan(choice.accuracy));
    sotto_model_free(model);
}

/* ---- Damage ----------------------------------------------------------------
 */

struct damage {
    const char *tensor;
    size_t at;
    double to;
    const char *says;
};

/* One number of a table changed. */
static void
damage_number(const char *path, const struct damage *damage)
{
    struct safetensors *file = NULL;
    struct safetensors_entry entry[16];
    struct sotto_model *model = NULL;
    double table[CELLS * CLASSES];
    size_t count;
    must(safetensors_read(path, SIZE_MAX, &file, &err));
    count = safetensors_count(file);
    for (size_t i = 0; i < count; i++) {
        entry[i] = *safetensors_at(file, i);
        if (strcmp(entry[i].name, damage->tensor) == 0) {
            memcpy(table, entry[i].data, entry[i].size);
            table[damage->at] = damage->to;
            entry[i].data = table;
        }
    }
    must(safetensors_write(in_folder("bad.model"), 0644,
                           safetensors_metadata(file), entry, count, &err));
    assert_int_equal(sotto_model_read(in_folder("bad.model"), &model, &err),
                     SOTTO_STATUS_FORMAT);
    assert_null(model);
    if (strstr(err.message, damage->says) == NULL) {
        fail_msg("'%s' does not say '%s'", err.message, damage->says);
    }
    safetensors_free(file);
}

static void
test_numbers(void **state)
{
    static const struct damage damages[] = {
        {"codes.pi", 0, 0, "\"codes.pi\""},
        {"codes.pi", 1, -0.1, "\"codes.pi\""},
        {"codes.pi", 2, NAN, "\"codes.pi\""},
        {"codes.tau", 0, 1.5, "\"codes.tau\""},
        {"codes.tau", 5, INFINITY, "\"codes.tau\""},
        {"codes.tau_bar", 3, 2, "\"codes.tau_bar\""},
        {"codes.tau_bar", 5, -1, "\"codes.tau_bar\""},
        {"codes.exchanged", 0, 0.5, "\"codes.exchanged\""},
        {"codes.exchanged", 1, -0.25, "\"codes.exchanged\""},
    };
    const char *path = in_folder("m.model");
    (void)state;
    write_small(path);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        damage_number(in_folder("m.model"), &damages[i]);
    }
}

/* A table of another size, or none. */
static void
test_shapes(void **state)
{
    struct safetensors *file = NULL;
    struct safetensors_entry entry[16];
    struct sotto_model *model = NULL;
    size_t count, kept = 0;
    (void)state;
    write_small(in_folder("m.model"));
    must(safetensors_read(in_folder("m.model"), SIZE_MAX, &file, &err));
    count = safetensors_count(file);
    for (size_t i = 0; i < count; i++) {
        entry[kept] = *safetensors_at(file, i);
        kept += strcmp(entry[kept].name, "codes.pi") != 0 ? 1 : 0;
    }
    assert_int_equal(kept + 1, count);
    must(safetensors_write(in_folder("bad.model"), 0644,
                           safetensors_metadata(file), entry, kept, &err));
    assert_int_equal(sotto_model_read(in_folder("bad.model"), &model, &err),
                     SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(err.message, "tensors"));
    for (size_t i = 0; i < count; i++) {
        entry[i] = *safetensors_at(file, i);
        if (strcmp(entry[i].name, "codes.tau") == 0) {
            entry[i].shape[0] = CLASSES;
            entry[i].shape[1] = CELLS;
        }
    }
    must(safetensors_write(in_folder("bad.model"), 0644,
                           safetensors_metadata(file), entry, count, &err));
    assert_int_equal(sotto_model_read(in_folder("bad.model"), &model, &err),
                     SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(err.message, "codes.tau"));
    assert_null(model);
    for (size_t i = 0; i < count; i++) {
        entry[i] = *safetensors_at(file, i);
        if (strcmp(entry[i].name, "codes.exchanged") == 0) {
            entry[i].shape[0] *= CLASSES;
            entry[i].shape[1] = 1;
        }
    }
    must(safetensors_write(in_folder("bad.model"), 0644,
                           safetensors_metadata(file), entry, count, &err));
    assert_int_equal(sotto_model_read(in_folder("bad.model"), &model, &err),
                     SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(err.message, "codes.exchanged"));
    assert_null(model);
    safetensors_free(file);
}

static void
test_cut(void **state)
{
    struct sotto_model *model = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    write_small(in_folder("m.model"));
    must(host_file_read(in_folder("m.model"), SIZE_MAX, &data, &size, &err));
    for (size_t i = 0; i < size; i += 1 + i / 50) {
        assert_int_equal(model_parse(data, i, "cut", &model, &err),
                         SOTTO_STATUS_FORMAT);
        assert_null(model);
    }
    must(model_parse(data, size, "whole", &model, &err));
    sotto_model_free(model);
    free(data);
}

/* ---- Memory ----------------------------------------------------------------
 */

static struct sotto_report_reader *reader;

static enum sotto_status
fit_again(struct sotto_model **ret_model)
{
    struct learn_options options = small_options();
    return learn_fit(mechanism,
                     &(struct learn_job){.reader = reader,
                                         .table = people,
                                         .options = &options},
                     ret_model, NULL, &err);
}

static enum sotto_status
fit_clean_again(struct sotto_model **ret_model)
{
    struct learn_options options = small_options();
    return learn_fit(mechanism,
                     &(struct learn_job){.table = people, .options = &options},
                     ret_model, NULL, &err);
}

static enum sotto_status
read_again(struct sotto_model **ret_model)
{
    return sotto_model_read(in_folder("m.model"), ret_model, &err);
}

static void
    fails_well(enum sotto_status (*make)(struct sotto_model **ret_model))
{
    enum sotto_status status;
    long n = 0;
    do {
        struct sotto_model *model = NULL;
        fail_alloc_at(++n);
        status = make(&model);
        assert_true(status == SOTTO_STATUS_OK ||
                    (status == SOTTO_STATUS_MEMORY && model == NULL));
        if (fail_alloc_count() < n) {
            fail_alloc_at(0);
        }
        sotto_model_free(model);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
}

static void
check_tells(const struct sotto_mechanism *made, bool clean)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(made, &info);
    assert_int_equal(strstr(info.auxiliary, "fitted to clean records or labels "
                                            "and tells of them") != NULL,
                     clean);
}

/* A network that was fitted to clean records tells of them: the model says so,
   also in a file, and so do the mechanisms that a device runs it in. */
static void
test_clean(void **state)
{
    struct sotto_model *model = NULL, *again = NULL;
    (void)state;
    reader = read_back(mechanism, people, 2);
    for (int clean = 0; clean < 2; clean++) {
        struct sotto_mechanism *class = NULL, *right = NULL;
        must(clean != 0 ? fit_clean_again(&model) : fit_again(&model));
        must(sotto_model_write(model, in_folder("clean.model"), &err));
        must(sotto_model_read(in_folder("clean.model"), &again, &err));
        assert_int_equal(again->clean, clean);
        must(sotto_model_mechanism_class(again, "1", NULL, &class, &err));
        must(sotto_model_mechanism_right(again, 0, NULL, "1", NULL, &right,
                                         &err));
        check_tells(class, clean != 0);
        check_tells(right, clean != 0);
        sotto_mechanism_free(class);
        sotto_mechanism_free(right);
        sotto_model_free(again);
        sotto_model_free(model);
    }
    sotto_report_reader_free(reader);
}

static void
test_memory(void **state)
{
    struct sotto_model *model = small_model();
    struct sotto_evaluation evaluation;
    struct sotto_mechanism *made = NULL;
    uint8_t *reports = simulate(mechanism, people, 1);
    double p[ROWS * CLASSES];
    (void)state;
    reader = read_back(mechanism, people, 2);
    write_small(in_folder("m.model"));
    fails_well(read_again);
    fails_well(fit_clean_again);
    fails_well(fit_again);
    for (long n = 1; n < 60; n++) {
        enum sotto_status status[4];
        fail_alloc_at(n);
        status[0] = sotto_model_predict_private(model, reports, ROWS, p, &err);
        fail_alloc_at(n);
        status[1] =
            sotto_model_evaluate(model, people, true, 1, &evaluation, &err);
        fail_alloc_at(n);
        status[2] = sotto_model_mechanism_class(model, "1", in_folder("c"),
                                                &made, &err);
        fail_alloc_at(0);
        sotto_mechanism_free(made);
        made = NULL;
        fail_alloc_at(n);
        status[3] = sotto_model_mechanism_code(model, "1", NULL, in_folder("c"),
                                               &made, &err);
        fail_alloc_at(0);
        sotto_mechanism_free(made);
        made = NULL;
        for (size_t i = 0; i < 4; i++) {
            assert_true(status[i] == SOTTO_STATUS_OK ||
                        status[i] == SOTTO_STATUS_MEMORY);
        }
    }
    sotto_report_reader_free(reader);
    free(reports);
    sotto_model_free(model);
}

static int
setup(void **state)
{
    mechanism = open_codebook(4 * DECIMAL_UNIT, true);
    people = make_people();
    return make_folder(state);
}

static int
teardown(void **state)
{
    sotto_table_free(people);
    sotto_mechanism_free(mechanism);
    return remove_folder(state);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apart),     cmocka_unit_test(test_choose),
        cmocka_unit_test(test_exchanged), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_shapes),    cmocka_unit_test(test_cut),
        cmocka_unit_test(test_clean),     cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
