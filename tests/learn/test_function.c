/*
 * test_function.c: models as functions of the record: what they say there, and
 * which are none.
 */
#include "learn/function.h"

#include "encode/layer.h"
#include "encoder/learnt_fixture.h"
#include "fail_alloc.h"
#include "mechanism/rows.h"
#include "schema/column.h"

static struct sotto_mechanism *
make_mechanism(const struct sotto_table *table, const char *kind,
               const char *label)
{
    static const struct sotto_setting set[] = {
        {"d", "2"}, {"epochs", "4"}, {"hidden", "8"}};
    struct sotto_train_options options = {.eps = "4",
                                          .label = label,
                                          .set = set,
                                          .sets =
                                              strcmp(kind, "vlm") == 0 ? 3 : 0,
                                          .threads = 1};
    struct sotto_mechanism *mechanism = NULL;
    must(
        sotto_train(table, kind, &options, NULL, NULL, NULL, &mechanism, &err));
    return mechanism;
}

/* A model of clean records, in a file. */
static void
make_model(const struct sotto_table *table, const char *kind, const char *label,
           const char *networks, const char *path)
{
    struct sotto_mechanism *mechanism = make_mechanism(table, kind, label);
    const struct sotto_setting set[] = {{"restarts", networks},
                                        {"epochs", "5"}};
    struct sotto_fit_options options = {
        .set = set, .sets = networks != NULL ? 2 : 0, .threads = 1};
    struct sotto_model *model = NULL;
    must(sotto_fit_clean(mechanism, table, &options, &model, NULL, &err));
    must(sotto_model_write(model, path, &err));
    sotto_model_free(model);
    sotto_mechanism_free(mechanism);
}

/* What layers make of x, by a plain loop. */
static void
run_layers(const struct encoder_function *function, const float *x,
           double ret_out[512])
{
    double next[512];
    for (size_t j = 0; j < function->layer[0].in; j++) {
        ret_out[j] = (double)x[j];
    }
    for (size_t k = 0; k < function->layers; k++) {
        const struct layer *layer = &function->layer[k];
        for (size_t j = 0; j < layer->out; j++) {
            next[j] = (double)layer->bias[j];
            for (size_t m = 0; m < layer->in; m++) {
                next[j] +=
                    (double)layer->weight[j * layer->in + m] * ret_out[m];
            }
            next[j] = layer->activation == ACTIVATION_RELU ? fmax(next[j], 0)
                                                           : next[j];
        }
        memcpy(ret_out, next, layer->out * sizeof *ret_out);
    }
}

/* The layers say of a record what the model does. */
static void
test_says(void **state)
{
    enum { ROWS = 80 };
    struct sotto_table *table = people(ROWS);
    struct encoder_function function = {.own = NULL};
    struct sotto_model *model = NULL;
    struct rows rows;
    double p[2 * ROWS];
    size_t alike = 0, width = 0;
    (void)state;
    make_model(table, "vlm", "kind", "1", in_folder("m.model"));
    must(sotto_model_read(in_folder("m.model"), &model, &err));
    assert_int_equal(sotto_model_classes(model), 2);
    must(sotto_model_predict(model, table, p, &err));
    must(learn_function(in_folder("m.model"), &function, &err));
    assert_int_equal(function.classes, 2);
    for (size_t i = 0; i < function.schema->columns; i++) {
        width += function.schema->column[i].inputs;
    }
    assert_int_equal(function.layer[0].in, width);
    assert_int_equal(function.layer[function.layers - 1].out, 2);
    must(rows_init(&rows, sotto_model_mechanism(model), table, &err));
    for (size_t i = 0; i < ROWS; i++) {
        double out[512];
        float x[64];
        rows_encode(&rows, i, x, NULL);
        run_layers(&function, x, out);
        alike += (out[0] > out[1]) == (p[2 * i] > p[2 * i + 1]);
    }
    assert_true(alike >= ROWS - 1); /* the rounding of a step of the lattice */
    rows_clear(&rows);
    function.free(function.own);
    sotto_model_free(model);
    sotto_table_free(table);
}

static void
refused(const char *name, const char *text)
{
    struct encoder_function function = {.own = NULL};
    must_fail(SOTTO_STATUS_USAGE, text,
              learn_function(in_folder(name), &function, &err));
    assert_int_equal(err.about, SOTTO_ABOUT_SETTING);
    assert_string_equal(err.subject, "model");
    assert_null(function.own);
}

static void
test_refused(void **state)
{
    struct sotto_table *table = people(60);
    struct encoder_function function;
    (void)state;
    make_model(table, "vlm", "kind", "3", in_folder("mean.model"));
    refused("mean.model", "the mean of 3 networks");
    make_model(table, "direct", "a", NULL, in_folder("number.model"));
    refused("number.model", "tells a number");
    make_model(table, "direct", "kind", "1", in_folder("direct.model"));
    refused("direct.model", "a device cannot compute what the model");
    must_fail(SOTTO_STATUS_IO, "none.model",
              learn_function(in_folder("none.model"), &function, &err));
    must(host_file_write(in_folder("bad.model"), 0600, false, "no", 2, &err));
    must_fail(SOTTO_STATUS_FORMAT, "bad.model",
              learn_function(in_folder("bad.model"), &function, &err));
    sotto_table_free(table);
}

/* From the table to a mechanism, by the model's file. */
static void
test_trains(void **state)
{
    struct sotto_table *table = people(120);
    char path[256];
    struct sotto_setting set[] = {
        {"model", path}, {"d", "1"}, {"epochs", "40"}, {"rate", "0.01"}};
    struct sotto_train_options options = {
        .eps = "8", .label = "kind", .set = set, .sets = 4, .threads = 1};
    struct sotto_train_facts facts;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_mechanism_info info;
    (void)state;
    (void)snprintf(path, sizeof path, "%s", in_folder("m.model"));
    make_model(table, "vlm", "kind", "1", path);
    must(sotto_train(table, "task", &options, NULL, NULL, &facts, &mechanism,
                     &err));
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.auxiliary, "none: learnt from the auxiliary data, "
                                        "for the task: the model m.model");
    assert_true(sotto_train_fact(&facts, "loss") <
                0.9 * sotto_train_fact(&facts, "without") +
                    0.1 * sotto_train_fact(&facts, "clear"));
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct sotto_table *table = people(40);
    enum sotto_status status;
    long n = 0;
    (void)state;
    make_model(table, "vlm", "kind", "1", in_folder("m.model"));
    do {
        struct encoder_function function = {.own = NULL};
        fail_alloc_at(++n);
        status = learn_function(in_folder("m.model"), &function, &err);
        if (status == SOTTO_STATUS_OK) {
            function.free(function.own);
        } else {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_says),
        TEST(test_refused),
        TEST(test_trains),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
