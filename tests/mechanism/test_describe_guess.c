/*
 * test_describe_guess.c: what a guess can become, in words and in JSON.
 */
#include "mechanism_fixture.h"

#include <math.h>

#include <jansson.h>

#include "mechanism/describe.h"

static char *
describe(const struct compose_spec *spec, uint32_t reports, bool json)
{
    struct sotto_mechanism *mechanism = fixture_open(spec);
    char *text = NULL;
    assert_int_equal(
        sotto_mechanism_describe_reports(mechanism, reports, json, &text, NULL),
        SOTTO_STATUS_OK);
    sotto_mechanism_free(mechanism);
    return text;
}

/* One part at an epsilon, of the fixture's k-ary kind. */
static struct compose_spec
spend(struct compose_part *part, uint64_t eps)
{
    struct compose_spec spec = fixture_plain;
    *part = spec.part[0];
    part->eps = eps;
    spec.eps = eps;
    spec.part = part;
    spec.parts = 1;
    return spec;
}

/* The page says the bounds, none below; and agrees with the word and with
   "could at most come to think it" above it. */
static void
test_page(void **state)
{
    struct compose_part part;
    struct compose_spec spec = spend(&part, SOTTO_UNIT);
    char *text = describe(&spec, 12, false);
    (void)state;
    fixture_in(text, "WHAT A GUESS CAN BECOME\n");
    fixture_in(text, "  guess before  after one report            after 12 "
                     "reports\n"
                     "  1 in 2        26.8% to 73.2%              0.00061% to "
                     "over 99.9%\n"
                     "  1 in 10       3.92% to 23.2%              0.00006% to "
                     "over 99.9%\n"
                     "  1 in 1,000    0.0368% to 0.272%           0.00000% to "
                     "99.4%\n");
    fixture_in(text, "\"Over 99.9%\" is no bound worth the name");
    fixture_in(text, "73.2% likely");
    assert_null(strstr(text, "delta"));
    free(text);
    text = describe(&spec, 1, false);
    fixture_in(text, "\n  1 in 10       3.92% to 23.2%\n");
    assert_null(strstr(text, "no bound worth the name"));
    free(text);
}

/* All guesses of a JSON text, checked against the functions. */
static void
check_guesses(const char *text, uint64_t eps, uint64_t delta, uint32_t reports)
{
    static const uint64_t one_in[] = {2, 10, 1000};
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_t *list = json_object_get(object, "guesses");
    assert_int_equal(json_array_size(list), reports > 1 ? 6 : 3);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *guess = json_array_get(list, i);
        uint32_t m = i < 3 ? 1 : reports;
        double most = json_real_value(json_object_get(guess, "most")) * 1e12;
        double least = json_real_value(json_object_get(guess, "least")) * 1e12;
        assert_int_equal(json_integer_value(json_object_get(guess, "reports")),
                         m);
        assert_int_equal(json_integer_value(json_object_get(guess, "one_in")),
                         one_in[i % 3]);
        /* as they were printed, to the last digit */
        assert_true(fabs(most - (double)sotto_guess_most(one_in[i % 3],
                                                         m * eps)) < 1e-3);
        assert_true(fabs(least - (double)sotto_guess_least(one_in[i % 3],
                                                           m * eps)) < 1e-3);
        assert_true(
            fabs(json_real_value(json_object_get(guess, "outright")) * 1e12 -
                 (double)(m * delta)) < 1e-3);
    }
    json_decref(object);
}

static void
test_json(void **state)
{
    static const uint64_t eps[] = {SOTTO_UNIT / 1000, SOTTO_UNIT / 10,
                                   SOTTO_UNIT, 8 * SOTTO_UNIT, 32 * SOTTO_UNIT};
    static const uint32_t reports[] = {1, 2, 12, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
        for (size_t j = 0; j < sizeof reports / sizeof *reports; j++) {
            struct compose_part part;
            struct compose_spec spec = spend(&part, eps[i]);
            char *text = describe(&spec, reports[j], true);
            check_guesses(text, eps[i], 0, reports[j]);
            free(text);
        }
    }
}

/* A delta is said, and not hidden in the table. */
static void
test_outright(void **state)
{
    char *text = describe(&fixture_numbers, 10, false);
    (void)state;
    fixture_in(text, "Because of delta this is no bound of every report");
    fixture_in(text, "0.00015%");
    fixture_in(text, "0.0015");
    free(text);
    text = describe(&fixture_numbers, 10, true);
    check_guesses(text, 4 * SOTTO_UNIT, 1500000, 10);
    free(text);
}

/* Of a mechanism with a label, how often it can be told: both limits, named. */
static void
test_classes(void **state)
{
    char *text = describe(&fixture_encoded, 1, true);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    double most = 1 / (1 + exp(-2)), vertices = 1 - exp(-1) / 2;
    (void)state;
    assert_int_equal(json_integer_value(json_object_get(object, "classes")), 2);
    double found = json_real_value(json_object_get(object, "accuracy_most"));
    assert_true(found >= most && found < most + 2e-12);
    found = json_real_value(json_object_get(object, "accuracy_vertices"));
    assert_true(found >= vertices && found < vertices + 2e-12);
    json_decref(object);
    free(text);
    text = describe(&fixture_encoded, 1, false);
    fixture_in(text, "Of the 2 classes of label, if all are as frequent");
    fixture_in(text, "88.1%");
    fixture_in(text, "81.7%");
    free(text);
    text = describe(&fixture_plain, 1, true);
    assert_null(strstr(text, "\"classes\""));
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_outright),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
