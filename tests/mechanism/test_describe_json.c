/*
 * test_describe_json.c: what a mechanism promises, for programs.
 */
#include "mechanism_fixture.h"

#include <math.h>

#include <jansson.h>

#include "channel/symbols.h"
#include "mechanism/describe.h"

static struct sotto_error err;

static char *
describe(const struct compose_spec *spec, bool json)
{
    struct sotto_mechanism *mechanism = fixture_open(spec);
    char *text = NULL;
    assert_int_equal(sotto_mechanism_describe(mechanism, json, &text, &err),
                     SOTTO_STATUS_OK);
    sotto_mechanism_free(mechanism);
    return text;
}

/* Of a logarithm the range is in the number's own units, and the scale is
   named. */
static void
test_logarithm(void **state)
{
    struct schema_column column[FIXTURE_COLUMNS];
    struct compose_spec spec = fixture_plain;
    (void)state;
    memcpy(column, fixture_column, sizeof column);
    column[0].log = true;
    column[0].shift = log(1000);
    column[0].scale = 1 / log(10);
    spec.column = column;
    char *text = describe(&spec, true);
    json_t *object = json_loads(text, 0, NULL);
    const json_t *first = json_array_get(json_object_get(object, "columns"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "scale")),
                        "log");
    double low = json_number_value(json_object_get(first, "low"));
    double high = json_number_value(json_object_get(first, "high"));
    assert_true(fabs(low - 99) < 1e-9 && fabs(high - 9999) < 1e-9);
    json_decref(object);
    free(text);
    text = describe(&spec, false);
    fixture_in(text, "age: a number, whose logarithm is scaled");
    fixture_in(text, "on the scale of its logarithm");
    free(text);
    struct sotto_mechanism *mechanism = fixture_open(&spec);
    struct sotto_estimate *estimate = NULL;
    struct sotto_estimate_row row;
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    sotto_estimate_row(estimate, 0, 2, &row);
    assert_string_equal(row.name, "log of age"); /* its mean is no number's */
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

static void
test_json(void **state)
{
    static const char start[] =
        "{\"name\":\"plain\",\"campaign\":\"spring\",\"hash\":\"";
    static const char middle[] =
        "\",\"eps\":7.0,\"eps_text\":\"7\",\"delta\":0.0,"
        "\"delta_text\":\"0\",\"eps_features\":6.1,"
        "\"eps_label\":3.0,\"covers_checked\":false,"
        "\"eps_exact\":6.1,\"auxiliary\":\"not used\","
        "\"report_size\":62,\"columns\":["
        "{\"name\":\"age\",\"kind\":\"number\",\"count\":1,"
        "\"missing\":\"middle\",\"low\":18.0,\"high\":90.0},"
        "{\"name\":\"pixels\",\"kind\":\"bytes\",\"count\":2,"
        "\"missing\":\"middle\",\"low\":0.0,\"high\":255.0},"
        "{\"name\":\"colour\",\"kind\":\"category\",\"count\":4,"
        "\"missing\":\"other\","
        "\"categories\":[\"blue\",\"green\",\"red\"]},"
        "{\"name\":\"label\",\"kind\":\"category\",\"count\":3,"
        "\"missing\":\"other\","
        "\"categories\":[\"no\",\"yes\"]}],"
        "\"encoder\":{\"layers\":0,\"weights\":0,"
        "\"multiply_adds\":0,\"uneven\":false,\"stack\":[]},\"parts\":["
        "{\"covers\":\"features\",\"depends\":[\"age\"],"
        "\"covers_contradicted\":false,\"channel\":\"laplace\",\"eps\":2.0,"
        "\"eps_exact\":2.0,\"delta\":0.0,\"blocks\":1,"
        "\"domain\":{\"kind\":\"lattice\",\"d\":1,\"l\":4096},\"deviation\":";
    char *text = describe(&fixture_plain, true);
    (void)state;
    assert_memory_equal(text, start, sizeof start - 1);
    assert_memory_equal(text + sizeof start - 1 + 64, middle,
                        sizeof middle - 1);
    assert_null(strchr(text, '\n'));
    fixture_in(text, "\"channel\":\"flip\",\"eps\":3.0,\"eps_exact\":3.0,"
                     "\"delta\":0.0,\"blocks\":1,\"domain\":{\"kind\":"
                     "\"symbols\",\"k\":12}");
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_object_size(object), 17);
    assert_int_equal(json_array_size(json_object_get(object, "parts")), 4);
    json_decref(object);
    free(text);
}

/* Every kind of layer. */
static void
test_stack(void **state)
{
    char *text = describe(&fixture_image, true);
    (void)state;
    fixture_in(text,
               "\"encoder\":{\"layers\":5,\"weights\":35,"
               "\"multiply_adds\":174,\"uneven\":false,\"stack\":["
               "{\"kind\":\"conv\",\"in\":16,\"out\":8,\"from\":[4,4,1],"
               "\"to\":[2,2,2],\"kernel\":3,\"stride\":2,\"pad\":1,\"skip\":0},"
               "{\"kind\":\"pool\",\"in\":8,\"out\":8,\"from\":[2,2,2],"
               "\"to\":[2,2,2],\"kernel\":3,\"stride\":1,\"pad\":1,"
               "\"of\":\"max\"},"
               "{\"kind\":\"conv\",\"in\":8,\"out\":8,\"from\":[2,2,2],"
               "\"to\":[2,2,2],\"kernel\":1,\"stride\":1,\"pad\":0,\"skip\":2},"
               "{\"kind\":\"pool\",\"in\":8,\"out\":2,\"from\":[2,2,2],"
               "\"to\":[1,1,2],\"kernel\":2,\"stride\":1,\"pad\":0,"
               "\"of\":\"mean\"},"
               "{\"kind\":\"dense\",\"in\":2,\"out\":3}]}");
    free(text);
}

/* The realised epsilon is shown as what it is: the sum over parts and blocks,
   of what their tables give. */
static void
test_realised(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    (void)state;
    assert_int_equal(describe_realised(mechanism), 7 * DECIMAL_UNIT / 4);
    mechanism->likelihood[1].realised -= 1000;
    assert_int_equal(describe_realised(mechanism),
                     7 * DECIMAL_UNIT / 4 -
                         1000 * mechanism->shape.part[1].blocks);
    mechanism->likelihood[1].realised = UINT64_MAX;
    assert_true(describe_realised(mechanism) == UINT64_MAX);
    sotto_mechanism_free(mechanism);
}

static void
assert_refused(const struct sotto_mechanism *mechanism, const char *why)
{
    for (int json = 0; json < 2; json++) {
        char *text = NULL;
        memset(&err, 0xa5, sizeof err);
        assert_int_equal(sotto_mechanism_describe(mechanism, json, &text, &err),
                         SOTTO_STATUS_REFUSED);
        assert_int_equal(err.status, SOTTO_STATUS_REFUSED);
        fixture_in(err.message, "do not use this mechanism");
        fixture_in(err.message, why);
        assert_null(text);
    }
}

/* A table that keeps less than its part's promise is nobody's to describe: here
   the tables of a device are tampered with. */
static void
test_broken_table(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    struct likelihood_instance *likelihood = &mechanism->likelihood[0];
    struct symbols *own = NULL;
    (void)state;
    memcpy(&own, &likelihood->instance->own, sizeof own);
    assert_true(own->odds.threshold[0].low[0] < UINT32_MAX);
    own->odds.threshold[0].low[0]++;
    assert_int_equal(likelihood_init(likelihood, likelihood->instance),
                     SOTTO_STATUS_OK);
    assert_refused(mechanism, "the tables of part 1, as they would be drawn "
                              "from, realise an epsilon of 1.000000000001, "
                              "above the stated 1");
    own->odds.threshold[0].low[0]--;
    own->odds.threshold[1].high++;
    assert_int_equal(likelihood_init(likelihood, likelihood->instance),
                     SOTTO_STATUS_OK);
    assert_refused(mechanism, "realise no epsilon, above the stated 1");
    sotto_mechanism_free(mechanism);
}

/* Nor are parts that together realise more than the whole states. */
static void
test_broken_total(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    (void)state;
    mechanism->shape.eps = 7 * DECIMAL_UNIT / 4 - 1;
    assert_refused(mechanism, "the parts together");
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logarithm),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_realised),
        cmocka_unit_test(test_broken_table),
        cmocka_unit_test(test_broken_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
