/*
 * test_model_file.c: models written and read back; and files that are none.
 */
#include <sys/stat.h>

#include "learn_fixture.h"

#include "fail_alloc.h"
#include "host/file.h"
#include "host/safetensors.h"

static struct sotto_mechanism *mechanism;
static struct sotto_table *aux;

/* A small model of two networks; MARGINAL has a prior. */
static struct sotto_model *
small_model(enum sotto_objective objective, enum sotto_level level)
{
    static const uint32_t hidden[] = {5, 3};
    struct sotto_report_reader *reader = read_back(mechanism, aux, 3);
    struct learn_options options = {.objective = objective,
                                    .level = level,
                                    .hidden = hidden,
                                    .hiddens = 2,
                                    .epochs = 2,
                                    .restarts = 2,
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

static void
check_same(enum sotto_objective objective, enum sotto_level level)
{
    struct sotto_model *model = small_model(objective, level), *again = NULL;
    const char *path = in_folder("m.model");
    struct stat file;
    uint8_t *reports = simulate(mechanism, aux, 12);
    double one[3 * 40], other[3 * 40];
    must(sotto_model_write(model, path, &err));
    assert_int_equal(stat(path, &file), 0); /* it holds the prior */
    assert_int_equal(file.st_mode & 0777, 0600);
    must(sotto_model_read(path, &again, &err));
    assert_int_equal(sotto_model_classes(again), 3);
    assert_string_equal(sotto_model_class(again, 0), "no");
    assert_string_equal(sotto_model_class(again, 1), "yes");
    assert_string_equal(sotto_model_class(again, 2), "(other)");
    assert_int_equal(sotto_model_mechanism(again)->size, mechanism->size);
    assert_memory_equal(sotto_model_mechanism(again)->data, mechanism->data,
                        mechanism->size);
    must(sotto_model_predict(model, aux, one, &err));
    must(sotto_model_predict(again, aux, other, &err));
    assert_memory_equal(one, other, sizeof one);
    if (level == SOTTO_LEVEL_LATENT) {
        must(sotto_model_predict_private(model, reports, 40, one, &err));
        must(sotto_model_predict_private(again, reports, 40, other, &err));
        assert_memory_equal(one, other, sizeof one);
    }
    free(reports);
    sotto_model_free(model);
    sotto_model_free(again);
}

static void
test_round_trip(void **state)
{
    (void)state;
    check_same(SOTTO_OBJECTIVE_MARGINAL, SOTTO_LEVEL_LATENT);
    check_same(SOTTO_OBJECTIVE_MARGINAL, SOTTO_LEVEL_FEATURE);
    check_same(SOTTO_OBJECTIVE_LABEL, SOTTO_LEVEL_LATENT);
    check_same(SOTTO_OBJECTIVE_PLAIN, SOTTO_LEVEL_LATENT);
}

/* ---- Damage -------------------------------------------------------------- */

/* The file's tensors and metadata, to be written again with one change. */
struct copy {
    struct safetensors *file;
    struct safetensors_entry entry[32];
    size_t count;
    json_t *metadata;
};

static struct copy
copy_of(const char *path)
{
    struct copy copy = {.count = 0};
    must(safetensors_read(path, SIZE_MAX, &copy.file, &err));
    copy.count = safetensors_count(copy.file);
    for (size_t i = 0; i < copy.count; i++) {
        copy.entry[i] = *safetensors_at(copy.file, i);
    }
    copy.metadata = json_deep_copy(safetensors_metadata(copy.file));
    return copy;
}

static struct safetensors_entry *
find(struct copy *copy, const char *name)
{
    size_t i = 0;
    while (i + 1 < copy->count && strcmp(copy->entry[i].name, name) != 0) {
        i++;
    }
    assert_string_equal(copy->entry[i].name, name);
    return &copy->entry[i];
}

/* Writes the changed copy, which must be refused, and frees it. */
static void
refused(struct copy *copy, const char *text)
{
    const char *path = in_folder("bad.model");
    struct sotto_model *model = NULL;
    must(safetensors_write(path, 0644, copy->metadata, copy->entry, copy->count,
                           &err));
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_model_read(path, &model, &err), SOTTO_STATUS_FORMAT);
    assert_null(model);
    assert_non_null(strstr(err.message, "bad.model"));
    if (strstr(err.message, text) == NULL) {
        fail_msg("'%s' does not say '%s'", err.message, text);
    }
    json_decref(copy->metadata);
    safetensors_free(copy->file);
}

static void
test_damage(void **state)
{
    static float numbers[4096];
    static int32_t points[4096];
    char path[512];
    struct sotto_model *model =
        small_model(SOTTO_OBJECTIVE_MARGINAL, SOTTO_LEVEL_LATENT);
    struct copy copy;
    (void)state;
    (void)snprintf(path, sizeof path, "%s", in_folder("m.model"));
    must(sotto_model_write(model, path, &err));
    sotto_model_free(model);

    copy = copy_of(path);
    copy.count--;
    refused(&copy, "tensors");

    copy = copy_of(path);
    must(json_object_set_new(copy.metadata, "kind", json_string("analyst")) == 0
             ? SOTTO_STATUS_OK
             : SOTTO_STATUS_MEMORY);
    refused(&copy, "not a model");

    copy = copy_of(path);
    (void)json_object_set_new(copy.metadata, "version", json_integer(2));
    refused(&copy, "another version");

    copy = copy_of(path);
    (void)json_object_set_new(copy.metadata, "more", json_integer(2));
    refused(&copy, "of itself");

    copy = copy_of(path);
    (void)json_object_set_new(copy.metadata, "nets", json_integer(1));
    refused(&copy, "tensors");

    copy = copy_of(path);
    (void)json_object_set_new(copy.metadata, "level", json_string("feature"));
    refused(&copy, "net0.0.weight");

    copy = copy_of(path);
    find(&copy, "net1.2.bias")->name = "net1.2.base";
    refused(&copy, "net1.2.bias");

    copy = copy_of(path);
    memcpy(numbers, find(&copy, "net0.1.weight")->data, 60);
    numbers[7] = NAN;
    find(&copy, "net0.1.weight")->data = numbers;
    refused(&copy, "not finite");

    copy = copy_of(path);
    memcpy(numbers, find(&copy, "prior.p")->data, 40 * 3 * 4);
    numbers[5] += 0.5F;
    find(&copy, "prior.p")->data = numbers;
    refused(&copy, "probabilities");

    copy = copy_of(path);
    memcpy(points, find(&copy, "prior.point")->data, 40 * 3 * 4);
    points[3] = 9; /* beyond l */
    find(&copy, "prior.point")->data = points;
    refused(&copy, "point 1 of the prior");

    copy = copy_of(path);
    memcpy(points, find(&copy, "prior.point")->data, 40 * 3 * 4);
    points[5] = 3; /* a colour that is none */
    find(&copy, "prior.point")->data = points;
    refused(&copy, "point 1 of the prior");
}

/* Every prefix is refused. */
static void
test_cut(void **state)
{
    const char *path = in_folder("m.model");
    struct sotto_model *model =
        small_model(SOTTO_OBJECTIVE_LABEL, SOTTO_LEVEL_LATENT);
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    must(sotto_model_write(model, path, &err));
    sotto_model_free(model);
    model = NULL;
    must(host_file_read(path, SIZE_MAX, &data, &size, &err));
    for (size_t i = 0; i < size; i += 1 + i / 50) {
        assert_int_equal(model_parse(data, i, "cut", &model, &err),
                         SOTTO_STATUS_FORMAT);
        assert_null(model);
    }
    must(model_parse(data, size, "whole", &model, &err));
    sotto_model_free(model);
    free(data);
}

static void
test_memory(void **state)
{
    const char *path = in_folder("m.model");
    struct sotto_model *model = small_model(SOTTO_OBJECTIVE_MARGINAL,
                                            SOTTO_LEVEL_LATENT),
                       *again = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = sotto_model_write(model, path, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    n = 0;
    do {
        fail_alloc_at(++n);
        status = sotto_model_read(path, &again, &err);
        assert_true(status == SOTTO_STATUS_OK ||
                    (status == SOTTO_STATUS_MEMORY && again == NULL));
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
    sotto_model_free(again);
    sotto_model_free(model);
}

static int
setup(void **state)
{
    mechanism = open_mixed(4 * DECIMAL_UNIT, DECIMAL_UNIT, 8);
    aux = mixed_rows(40, 7);
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
        TEST(test_round_trip),
        TEST(test_damage),
        TEST(test_cut),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
