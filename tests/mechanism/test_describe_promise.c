/*
 * test_describe_promise.c: pure and approximate promises, told apart.
 */
#include "mechanism_fixture.h"

#include <math.h>

#include <jansson.h>

#include "mechanism/describe.h"

static char *
describe(const struct compose_spec *spec, bool json)
{
    struct sotto_mechanism *mechanism = fixture_open(spec);
    char *text = NULL;
    assert_int_equal(sotto_mechanism_describe(mechanism, json, &text, NULL),
                     SOTTO_STATUS_OK);
    sotto_mechanism_free(mechanism);
    return text;
}

/* Every run of blanks and line breaks becomes one blank, in place. */
static char *
unwrap(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        bool blank = *at == ' ' || *at == '\n';
        if (!blank || (to > text && to[-1] != ' ')) {
            *to++ = blank ? ' ' : *at;
        }
    }
    *to = '\0';
    return text;
}

static void
assert_narrow(const char *text)
{
    for (const char *at = text; *at != '\0';) {
        size_t size = strcspn(at, "\n");
        assert_true(size <= 80);
        at += size + (at[size] == '\n');
    }
}

static void
test_prose(void **state)
{
    static const char *const said[] = {
        "for every set of reports: the chance that the report is one of them "
        "is at most e^4 = 54.60 times what it would be if the record were "
        "replaced by any other, plus delta, which is 0.0000015.",
        "This is (epsilon, delta) local differential privacy, which is less "
        "than the pure kind; neighbours are any two records at all.",
        "with probability delta says outright which of the two it is, and "
        "otherwise shifts their odds by at most that factor",
        "must name one is right at most 98.3% of the time.",
        "could give away the records of 1.5 of them on average.",
        "Epsilon and delta of one report:",
        "about all of the record: at most 4 and 0.0000015, as stated",
        "realised: epsilon 4, rounded up",
        "computed from the tables",
        "1 features gaussian 4 numbers, length 64 1 1 delta 0.0000015 each",
        "2 features duchi 2 numbers, each +-1000 1 2 3 label window -500 to "
        "500 1 1 ",
        "cost m times epsilon, 4 times m here, and m times delta, 0.0000015 "
        "times m here.",
        "- a: a number, scaled by a range from -2 to 4; a missing one",
        "- d: a number from -2 to 4; one beyond counts as the nearer end",
        "- f: a number from -2 to 4; one beyond counts as the nearer end",
    };
    char *text = describe(&fixture_numbers, false);
    (void)state;
    assert_narrow(text);
    (void)unwrap(text);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        fixture_in(text, said[i]);
    }
    assert_null(strstr(text, "pure local differential privacy"));
    free(text);
}

/* With delta 0 not a word of it. */
static void
test_pure(void **state)
{
    char *text = unwrap(describe(&fixture_plain, false));
    (void)state;
    fixture_in(text, "This is pure local differential privacy;");
    assert_null(strstr(text, "delta"));
    free(text);
}

/* The widest rows there are stay on their lines. */
static void
test_wide(void **state)
{
    struct schema_column wide = {"w",   SOTTO_COLUMN_BYTES, 4096, NULL, false,
                                 127.5, 1 / 127.5};
    struct compose_part cube = {.covers = "features",
                                .channel = "duchi",
                                .eps = 133333333333,
                                .blocks = 1,
                                .d = 4096,
                                .l = 1048576};
    struct compose_spec spec = fixture_numbers;
    (void)state;
    spec.column = &wide;
    spec.columns = 1;
    spec.part = &cube;
    spec.parts = 1;
    char *text = describe(&spec, false);
    assert_narrow(text);
    fixture_in(text, "4096 numbers, each +-1048576 ");
    free(text);
}

static void
test_json(void **state)
{
    static const char *const kinds[] = {"ball", "cube", "lattice"};
    char *text = describe(&fixture_numbers, true);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    json_t *parts = json_object_get(object, "parts");
    (void)state;
    assert_true(json_real_value(json_object_get(object, "delta")) == 1.5e-6);
    assert_string_equal(
        json_string_value(json_object_get(object, "delta_text")), "0.0000015");
    for (size_t i = 0; i < 3; i++) {
        json_t *one = json_array_get(parts, i);
        json_t *domain = json_object_get(one, "domain");
        assert_true(json_real_value(json_object_get(one, "delta")) ==
                    (i == 0 ? 1.5e-6 : 0));
        assert_string_equal(json_string_value(json_object_get(domain, "kind")),
                            kinds[i]);
        assert_int_equal(json_integer_value(json_object_get(domain, "l")),
                         fixture_numbers_part[i].l);
    }
    json_decref(object);
    free(text);
}

/* A column in a ball has the range that no other column can push out of it;
   the noise is told in the column's units all the same. */
static void
test_ball(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_numbers);
    struct sotto_column_info info;
    struct sotto_part_info own;
    char expected[80];
    char *text = unwrap(describe(&fixture_numbers, false));
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        bool bytes = i == 2;
        sotto_mechanism_column(mechanism, i, &info);
        assert_true(fabs(info.low - (bytes ? 0 : -2)) < 1e-9);
        assert_true(fabs(info.high - (bytes ? 255 : 4)) < 1e-9);
    }
    sotto_mechanism_part(mechanism, 0, &own);
    assert_string_equal(own.domain, "ball");
    assert_true(own.delta == 1.5e-6);
    (void)snprintf(expected, sizeof expected,
                   "- a: %.3g, where the whole range from -2 to 4 is 6 wide",
                   6 * own.deviation / 64);
    fixture_in(text, expected);
    sotto_mechanism_free(mechanism);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prose), cmocka_unit_test(test_pure),
        cmocka_unit_test(test_wide),  cmocka_unit_test(test_json),
        cmocka_unit_test(test_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
