/*
 * test_describe_json.c: what a mechanism promises, for programs.
 */
#include "mechanism_fixture.h"

#include <math.h>

#include <jansson.h>

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
        "{\"name\":\"age\",\"kind\":\"number\",\"count\":1,\"low\":18.0,"
        "\"high\":90.0},"
        "{\"name\":\"pixels\",\"kind\":\"bytes\",\"count\":2,\"low\":0.0,"
        "\"high\":255.0},"
        "{\"name\":\"colour\",\"kind\":\"category\",\"count\":4,"
        "\"categories\":[\"blue\",\"green\",\"red\"]},"
        "{\"name\":\"label\",\"kind\":\"category\",\"count\":3,"
        "\"categories\":[\"no\",\"yes\"]}],"
        "\"encoder\":{\"layers\":0,\"weights\":0,"
        "\"multiply_adds\":0,\"uneven\":false,\"stack\":[]},\"parts\":["
        "{\"covers\":\"features\",\"channel\":\"laplace\",\"eps\":2.0,"
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
    assert_int_equal(json_object_size(object), 16);
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

/* The realised epsilon is shown as what it is. */
static void
test_eps_exact(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    double eps = describe_eps_exact(mechanism);
    (void)state;
    assert_true(eps <= 1.75 && eps > 1.7499999);
    sotto_mechanism_free(mechanism);
}

/* A sampler that kept less than its promise would be no one's to describe. */
static void
test_eps_refused(void **state)
{
    static const double factors[] = {1 + 1e-11, 2, NAN, INFINITY};
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    double *exact = &mechanism->likelihood[1].eps_exact;
    (void)state;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        char *text = NULL;
        *exact = 0.25 * factors[i];
        for (int json = 0; json < 2; json++) {
            memset(&err, 0xa5, sizeof err);
            assert_int_equal(
                sotto_mechanism_describe(mechanism, json, &text, &err),
                SOTTO_STATUS_REFUSED);
            assert_int_equal(err.status, SOTTO_STATUS_REFUSED);
            fixture_in(err.message, "do not use this mechanism");
            assert_null(text);
        }
    }
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_eps_exact),
        cmocka_unit_test(test_eps_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
