/*
 * test_learner.c: a toy learner, added as one row: all that the library does
 * with models works with it.
 *
 * It learns one thing, the shares of the classes, and says them of every record
 * and every report. The registry below stands in for learn/registry.c, which
 * differs from it in the toy's row alone.
 */
#include "learn_fixture.h"

#include "host/error.h"
#include "learn/codes/codes_model.h"

/* ---- The toy: all of its folder ------------------------------------------ */

struct toy {
    struct prior_shape shape;
    double share[8];
};

static bool
takes_toys(const struct sotto_mechanism *own)
{
    return own->shape.label_part != SIZE_MAX;
}

static enum sotto_status
make_toy(struct sotto_model *model, struct toy **ret_toy,
         struct sotto_error *cause)
{
    struct toy *toy = calloc(1, sizeof *toy);
    enum sotto_status status;
    if (toy == NULL) {
        return host_fail_memory(cause);
    }
    model->own = toy;
    status = prior_shape_init(&toy->shape, model->mechanism, false, cause);
    model->classes = toy->shape.classes;
    model->column = model->mechanism->shape.label;
    *ret_toy = toy;
    return status;
}

static enum sotto_status
fit_toy(struct sotto_model *model, const struct learn_job *job,
        struct sotto_fit_info *ret_info, struct sotto_error *cause)
{
    size_t n = sotto_report_reader_count(job->reader);
    struct labels_part part;
    struct labels labels;
    struct toy *toy = NULL;
    const uint8_t *report[400];
    enum sotto_status status = make_toy(model, &toy, cause);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        report[i] = sotto_report_reader_at(job->reader, i);
    }
    part = label_part(&toy->shape);
    status = labels_init(&labels, &part, report, n, false, 0, cause);
    if (status == SOTTO_STATUS_OK) {
        memcpy(toy->share, labels.share, model->classes * sizeof(double));
        labels_clear(&labels);
        ret_info->reports = n;
    }
    return status;
}

static enum sotto_status
say_shares(struct sotto_model *model, size_t n, double *ret_p)
{
    const struct toy *toy = model->own;
    for (size_t i = 0; i < n; i++) {
        memcpy(ret_p + i * model->classes, toy->share,
               model->classes * sizeof *ret_p);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
predict_toy(struct sotto_model *model, const struct sotto_table *table,
            double *ret_p, struct sotto_error *cause)
{
    (void)cause;
    return say_shares(model, sotto_table_rows(table), ret_p);
}

static enum sotto_status
predict_toy_private(struct sotto_model *model,
                    const struct sotto_mechanism *own, const uint8_t *reports,
                    size_t n, double *ret_p, struct sotto_error *cause)
{
    (void)own;
    (void)reports;
    (void)cause;
    return say_shares(model, n, ret_p);
}

static void
write_toy(const struct sotto_model *model, struct model_tensors *to)
{
    const struct toy *toy = model->own;
    model_tensors_add(to, "toy.share", SAFETENSORS_F64, model->classes, 0,
                      toy->share);
}

static enum sotto_status
read_toy(struct sotto_model *model, const struct safetensors *file,
         struct sotto_error *cause)
{
    const struct safetensors_entry *entry = NULL;
    struct toy *toy = NULL;
    enum sotto_status status = make_toy(model, &toy, cause);
    if (status == SOTTO_STATUS_OK) {
        status = safetensors_want(file, "toy.share", SAFETENSORS_F64, 1,
                                  model->classes, 0, &entry, cause);
    }
    if (status == SOTTO_STATUS_OK) {
        memcpy(toy->share, entry->data, entry->size);
    }
    return status;
}

static void
free_toy(void *own)
{
    struct toy *toy = own;
    prior_shape_clear(&toy->shape);
    free(toy);
}

static const struct setting no_settings[] = {SETTING_END};

static const struct learner learner_toy = {
    .name = "toy",
    .about = "the shares of the classes",
    .settings = no_settings,
    .takes = takes_toys,
    .fit = fit_toy,
    .predict = predict_toy,
    .predict_private = predict_toy_private,
    .write = write_toy,
    .read = read_toy,
    .free = free_toy,
};

/* ---- The registry, with its row ------------------------------------------ */

const struct learner *const learner_table[] = {&learner_codes, &learner_lattice,
                                               &learner_toy, NULL};

/* ---- What becomes of it ---------------------------------------------------
 */

static void
test_toy(void **state)
{
    struct sotto_mechanism *mechanism =
        open_mixed(DECIMAL_UNIT, 4 * DECIMAL_UNIT, 8);
    struct sotto_table *people = mixed_rows(400, 3);
    struct sotto_report_reader *reader = read_back(mechanism, people, 5);
    const struct sotto_fit_options options = {.learner = "toy"};
    struct sotto_model *model = NULL, *again = NULL;
    struct sotto_evaluation evaluation;
    struct sotto_fit_info info;
    double p[800], q[800];
    (void)state;
    must(sotto_fit(mechanism, reader, NULL, NULL, &options, &model, &info,
                   &err));
    assert_int_equal(info.reports, 400);
    assert_int_equal(sotto_model_classes(model), 2);
    assert_string_equal(sotto_model_class(model, 1), "yes");
    must(sotto_model_write(model, in_folder("toy.model"), &err));
    must(sotto_model_read(in_folder("toy.model"), &again, &err));
    assert_ptr_equal(again->learner, &learner_toy);
    must(sotto_model_predict(model, people, p, &err));
    must(sotto_model_predict(again, people, q, &err));
    assert_memory_equal(p, q, sizeof p);
    assert_true(fabs(p[0] + p[1] - 1) < 1e-9);
    must(sotto_model_evaluate(again, people, true, 1, &evaluation, &err));
    assert_int_equal(evaluation.rows, 400);
    assert_int_equal(sotto_model_networks(again), 1);
    assert_int_equal(sotto_model_choose(again, people, "1", 1, NULL, &err),
                     SOTTO_STATUS_USAGE);
    sotto_model_free(model);
    sotto_model_free(again);
    sotto_report_reader_free(reader);
    sotto_table_free(people);
    sotto_mechanism_free(mechanism);
}

/* Without a name it is the first that takes the mechanism, and that one's file
   does not name it. */
static void
test_found(void **state)
{
    struct sotto_mechanism *mechanism =
        open_mixed(DECIMAL_UNIT, DECIMAL_UNIT, 8);
    (void)state;
    assert_ptr_equal(learner_find(NULL, mechanism), &learner_lattice);
    assert_ptr_equal(learner_find("toy", mechanism), &learner_toy);
    assert_null(learner_find("codes", mechanism));
    assert_null(learner_find("none", mechanism));
    sotto_mechanism_free(mechanism);
}

static void
test_refused(void **state)
{
    struct sotto_mechanism *mechanism =
        open_mixed(DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct sotto_table *people = mixed_rows(20, 3);
    struct sotto_report_reader *reader = read_back(mechanism, people, 5);
    const struct sotto_fit_options options = {.learner = "codes"};
    struct sotto_model *model = NULL;
    (void)state;
    assert_int_equal(
        sotto_fit(mechanism, reader, NULL, NULL, &options, &model, NULL, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "codes"));
    assert_null(model);
    sotto_report_reader_free(reader);
    sotto_table_free(people);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toy),
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
