/*
 * test_analyst.c: analyst files: what is in them, and that nothing else is
 * taken for one.
 */
#include "encoder/analyst.h"

#include "fail_alloc.h"
#include "host/safetensors.h"
#include "learnt_fixture.h"
#include "mechanism/mechanism.h"

static char path[128];
static struct sotto_mechanism *mechanism;
static struct safetensors *good;
static struct safetensors_entry entry[16];
static size_t count;

/* A trained mechanism's file, taken apart. */
static int
setup_file(void **state)
{
    static const uint32_t hidden[] = {3};
    struct vlm_options options = {.eps = "4",
                                  .label = "kind",
                                  .d = 2,
                                  .hidden = hidden,
                                  .hiddens = 1,
                                  .epochs = 2,
                                  .threads = 1,
                                  .steps = 100};
    struct sotto_table *table;
    if (setup(state) != 0) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s", in_folder("m.analyst"));
    table = people(30);
    must(train_vlm(table, &options, in_folder("m.sotto"), path, NULL,
                   &mechanism, &err));
    must(safetensors_read(path, (size_t)1 << 30, &good, &err));
    count = safetensors_count(good);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        entry[i] = *safetensors_at(good, i);
    }
    sotto_table_free(table);
    return 0;
}

static int
teardown_file(void **state)
{
    safetensors_free(good);
    sotto_mechanism_free(mechanism);
    mechanism = NULL;
    return teardown(state);
}

static struct safetensors_entry *
entry_of(const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entry[i].name, name) == 0) {
            return &entry[i];
        }
    }
    fail_msg("no entry %s", name);
    return NULL;
}

/* Writes the entries and this metadata; what reading it says. */
static enum sotto_status
rewrite(const json_t *metadata, struct sotto_analyst **ret)
{
    must(safetensors_write(path, 0600, metadata, entry, count, &err));
    memset(&err, 0xa5, sizeof err);
    return sotto_analyst_read(path, ret, &err);
}

static void
assert_damaged(const json_t *metadata, const char *message)
{
    struct sotto_analyst *analyst = NULL;
    assert_int_equal(rewrite(metadata, &analyst), SOTTO_STATUS_FORMAT);
    assert_null(analyst);
    assert_int_equal(err.status, SOTTO_STATUS_FORMAT);
    if (strstr(err.message, message) == NULL ||
        strstr(err.message, "m.analyst") == NULL) {
        fail_msg("'%s' is not in '%s'", message, err.message);
    }
}

static void
test_contents(void **state)
{
    struct sotto_analyst *analyst = NULL;
    const json_t *metadata = safetensors_metadata(good), *facts;
    const struct safetensors_entry *prior = entry_of("prior");
    struct stat file;
    (void)state;
    must(sotto_analyst_read(path, &analyst, &err));
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(sotto_analyst_points(analyst), 30);
    assert_int_equal(sotto_analyst_width(analyst), 2);
    assert_int_equal(sotto_analyst_x_width(analyst), 5);
    assert_memory_equal(sotto_analyst_prior(analyst), prior->data, prior->size);
    assert_string_equal(json_string_value(json_object_get(metadata, "kind")),
                        "vlm");
    assert_non_null(strstr(
        json_string_value(json_object_get(metadata, "auxiliary")), "none: "));
    facts = json_object_get(metadata, "facts");
    assert_int_equal(json_integer_value(json_object_get(facts, "rows")), 30);
    assert_int_equal(json_integer_value(json_object_get(facts, "epochs")), 2);
    sotto_analyst_free(analyst);
    sotto_analyst_free(NULL);
}

/* It serves the mechanism at every budget, and no other. */
static void
test_check(void **state)
{
    struct direct_options options = {.eps = "1"};
    struct sotto_table *table = people(10);
    struct sotto_mechanism *cheaper = NULL, *other = NULL;
    struct sotto_analyst *analyst = NULL;
    (void)state;
    must(sotto_analyst_read(path, &analyst, &err));
    must(sotto_analyst_check(analyst, mechanism, &err));
    must(sotto_mechanism_rebudget(mechanism, "0.5", 0.2, NULL,
                                  in_folder("c.sotto"), &cheaper, &err));
    must(sotto_analyst_check(analyst, cheaper, &err));
    must(train_direct(table, &options, in_folder("o.sotto"), &other, &err));
    must_fail(SOTTO_STATUS_INPUT, "another mechanism",
              sotto_analyst_check(analyst, other, &err));
    sotto_mechanism_free(cheaper);
    sotto_mechanism_free(other);
    sotto_analyst_free(analyst);
    sotto_table_free(table);
}

/* A decoder for one epsilon of the record serves that one, whatever the label
   has. */
static void
test_one_epsilon(void **state)
{
    const struct shape_part *part = &mechanism->shape.part[0];
    struct sotto_mechanism *cheaper = NULL;
    struct sotto_analyst *analyst = NULL;
    json_t *metadata = json_deep_copy(safetensors_metadata(good));
    (void)state;
    assert_string_equal(part->covers, "features");
    assert_int_equal(
        json_object_set_new(metadata, "eps",
                            json_integer((json_int_t)part->instance->eps)),
        0);
    must(rewrite(metadata, &analyst));
    must(sotto_analyst_check(analyst, mechanism, &err));
    must(sotto_mechanism_rebudget(mechanism, "0.5", 0.2, NULL, NULL, &cheaper,
                                  &err));
    must_fail(SOTTO_STATUS_INPUT, "decoder is for epsilon",
              sotto_analyst_check(analyst, cheaper, &err));
    sotto_mechanism_free(cheaper);
    sotto_analyst_free(analyst);
    json_decref(metadata);
    must(safetensors_write(path, 0600, safetensors_metadata(good), entry, count,
                           &err));
}

/* One point at a time or many: the same; and without noise a report's estimate
   is its q. */
static void
test_decode(void **state)
{
    enum { N = 600 };
    struct sotto_analyst *analyst = NULL;
    struct sotto_mechanism_info info;
    static double z[2 * N];
    static float x[5 * N], one[5];
    double estimate[2];
    int64_t values[2];
    struct sotto_value record[4] = {{.kind = SOTTO_VALUE_MISSING}};
    uint8_t report[256];
    struct seeded seeded;
    (void)state;
    must(sotto_analyst_read(path, &analyst, &err));
    seeded_init(&seeded, 3, 0);
    for (size_t i = 0; i < 2 * N; i++) {
        z[i] = 4 * uniform(&seeded) - 2;
    }
    must(sotto_analyst_decode(analyst, z, N, x, &err));
    for (size_t i = 0; i < N; i += 37) {
        must(sotto_analyst_decode(analyst, z + 2 * i, 1, one, &err));
        for (size_t j = 0; j < 5; j++) {
            assert_true(fabs((double)one[j] - (double)x[5 * i + j]) < 1e-5);
        }
        assert_true(fabs((double)(one[1] + one[2] + one[3]) - 1) < 1e-5);
    }
    must(sotto_analyst_decode(analyst, z, 0, x, &err));
    sotto_mechanism_info(mechanism, &info);
    assert_int_equal(
        sotto_simulate(mechanism, 1, 1, record, 4, report, info.report_size),
        SOTTO_STATUS_OK);
    sotto_report_values(mechanism, report, 0, 0, values);
    sotto_analyst_estimate(analyst, mechanism, report, estimate);
    assert_true(estimate[0] == (double)values[0] / 100);
    assert_true(estimate[1] == (double)values[1] / 100);
    sotto_analyst_free(analyst);
}

/* ---- Damage ---------------------------------------------------------------
 */

static void
test_metadata(void **state)
{
    static const char *const keys[] = {
        "format", "version", "kind",    "digest", "auxiliary",
        "d",      "l",       "decoder", "x",      "facts"};
    static const struct {
        const char *key, *value, *message;
    } wrong[] = {
        {"format", "\"other\"", "keys"},
        {"version", "2", "keys"},
        {"version", "\"1\"", "keys"},
        {"facts", "[]", "keys"},
        {"digest", "\"00\"", "digest"},
        {"digest", "\"zz\"", "digest"},
        {"d", "3", "fit"},
        {"d", "0", "domain"},
        {"d", "-2", "domain"},
        {"d", "2.0", "domain"},
        {"d", "1e99", "domain"},
        {"l", "0", "domain"},
        {"eps", "0", "epsilon"},
        {"eps", "-1", "epsilon"},
        {"eps", "1.0", "epsilon"},
        {"eps", "\"1\"", "epsilon"},
        {"eps", "32000000000001", "epsilon"},
        {"l", "1048577", "domain"},
        {"l", "1", "domain"},
        {"decoder", "{}", "decoder"},
        {"decoder", "[]", "fit x"},
        {"decoder", "[{}]", "layer"},
        {"decoder", "[{\"in\":2,\"out\":5,\"activation\":\"none\"}]",
         "decoder.0.weight"},
        {"decoder", "[{\"in\":2,\"out\":0,\"activation\":\"none\"}]", "fit"},
        {"decoder", "[{\"in\":2,\"out\":3,\"activation\":\"step\"}]", "layer"},
        {"decoder", "[{\"in\":2,\"out\":3,\"activation\":\"relu\",\"more\":1}]",
         "layer"},
        {"x", "{}", "blocks"},
        {"x", "[]", "fit x"},
        {"x", "[{\"likelihood\":\"gaussian\",\"count\":4}]", "fit x"},
        {"x", "[{\"likelihood\":\"gaussian\",\"count\":0}]", "block"},
        {"x", "[{\"likelihood\":\"gaussian\",\"count\":1048577}]", "block"},
        {"x", "[{\"likelihood\":\"cauchy\",\"count\":5}]", "block"},
        {"x", "[{\"count\":5}]", "block"},
        {"more", "1", "keys"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_t *metadata = json_deep_copy(safetensors_metadata(good));
        assert_int_equal(json_object_del(metadata, keys[i]), 0);
        assert_damaged(metadata, "keys");
        json_decref(metadata);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *metadata = json_deep_copy(safetensors_metadata(good));
        assert_int_equal(json_object_set_new(
                             metadata, wrong[i].key,
                             json_loads(wrong[i].value, JSON_DECODE_ANY, NULL)),
                         0);
        assert_damaged(metadata, wrong[i].message);
        json_decref(metadata);
    }
}

/* A point outside the domain, a weight that is no number, a tensor too many,
   one too few, of another type. */
static void
test_tensors(void **state)
{
    const json_t *metadata = safetensors_metadata(good);
    struct safetensors_entry *prior = entry_of("prior");
    struct safetensors_entry *weight = entry_of("decoder.1.weight");
    int32_t *points = malloc(prior->size);
    float *values = malloc(weight->size);
    struct sotto_analyst *analyst = NULL;
    const void *keep = prior->data;
    (void)state;
    assert_non_null(points);
    assert_non_null(values);
    memcpy(points, prior->data, prior->size);
    points[0] = 60;
    points[1] = -41;
    prior->data = points;
    assert_damaged(metadata, "domain");
    points[0] = INT32_MIN;
    points[1] = INT32_MIN;
    assert_damaged(metadata, "domain");
    points[0] = 60;
    points[1] = -40;
    assert_int_equal(rewrite(metadata, &analyst), SOTTO_STATUS_OK);
    sotto_analyst_free(analyst);
    prior->data = keep;
    keep = weight->data;
    memcpy(values, weight->data, weight->size);
    values[1] = NAN;
    weight->data = values;
    assert_damaged(metadata, "finite");
    values[1] = INFINITY;
    assert_damaged(metadata, "finite");
    weight->data = keep;
    entry[count] = entry[0];
    entry[count++].name = "more";
    assert_damaged(metadata, "nothing names");
    count -= 2;
    assert_damaged(metadata, "prior");
    count++;
    entry_of("prior")->type = SAFETENSORS_F32;
    assert_damaged(metadata, "prior");
    free(points);
    free(values);
}

/* Cut anywhere, or with any byte changed: refused or read, never a crash; cut,
   always refused. */
static void
test_bytes(void **state)
{
    struct sotto_analyst *analyst = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    must(host_file_read(path, (size_t)1 << 20, &data, &size, &err));
    for (size_t i = 0; i < size; i++) {
        assert_int_not_equal(analyst_parse(data, i, "cut", &analyst, &err),
                             SOTTO_STATUS_OK);
        assert_null(analyst);
        data[i] ^= 0x15;
        if (analyst_parse(data, size, "changed", &analyst, &err) ==
            SOTTO_STATUS_OK) {
            sotto_analyst_free(analyst);
            analyst = NULL;
        }
        assert_null(analyst);
        data[i] ^= 0x15;
    }
    free(data);
    must_fail(SOTTO_STATUS_IO, "none.analyst",
              sotto_analyst_read(in_folder("none.analyst"), &analyst, &err));
}

static void
test_memory(void **state)
{
    struct sotto_analyst *analyst = NULL;
    enum sotto_status status;
    double z[2] = {0};
    float x[5];
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = sotto_analyst_read(path, &analyst, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_null(analyst);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
    } while (fail_alloc_count() >= n);
    assert_true(n > 3);
    n = 0;
    do {
        fail_alloc_at(++n);
        status = sotto_analyst_decode(analyst, z, 1, x, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    sotto_analyst_free(analyst);
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, setup_file, teardown_file)
    const struct CMUnitTest tests[] = {
        TEST(test_contents), TEST(test_check),    TEST(test_one_epsilon),
        TEST(test_decode),   TEST(test_metadata), TEST(test_tensors),
        TEST(test_bytes),    TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
