/*
 * test_describe.c: what a mechanism promises, in plain words and in JSON.
 */
#include "mechanism_fixture.h"

#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include "fail_alloc.h"
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

/* The text with every run of blanks and line breaks as one blank. */
static char *
unwrapped(const char *text)
{
    char *out = malloc(strlen(text) + 1), *to = out;
    assert_non_null(out);
    for (; *text != '\0'; text++) {
        bool blank = *text == ' ' || *text == '\n';
        if (!blank || (to > out && to[-1] != ' ')) {
            *to++ = blank ? ' ' : *text;
        }
    }
    *to = '\0';
    return out;
}

/* Lines of at most 80 columns, no control characters, UTF-8. */
static void
assert_shape(const char *text)
{
    size_t columns = 0;
    json_t *string = json_string(text); /* NULL if not UTF-8 */
    assert_non_null(string);
    json_decref(string);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        columns = c == '\n' ? 0 : columns + ((c & 0xc0) != 0x80);
        assert_true(columns <= 80);
        assert_true(c == '\n' || (c >= 0x20 && c != 0x7f));
    }
}

static void
test_prose(void **state)
{
    static const char *const said[] = {
        "Mechanism \"plain\" for the campaign \"spring\"",
        "- age: a number from 18 to 90; one beyond counts as the nearer end",
        "- pixels: 2 samples",
        "- colour: one of 3 categories: blue, green, red; anything else",
        "One report of exactly ",
        "Whatever one person's record is, the chance of any given report "
        "changes by at most a factor of e^7 = 1097 when it is replaced by any "
        "other record.",
        "could come to be almost sure of it: more than 99.9% likely",
        "For the size of this epsilon: little protection: the best guess "
        "between two that seemed equally likely may be right more than 99 "
        "times in a hundred.",
        "about all of the record: at most 7, as stated",
        ("by the maker's own labelling of the parts: features at most 6.1, "
         "label at most 3 (not checked; the total is)"),
        "- laplace: whole-number noise is added",
        "- subset: a set of several",
        "- flip: the true answer",
        "- age: 50.9, where the whole range from 18 to 90 is 72 wide",
        "- the share of an answer to colour (part 3): ",
        "- the share of an answer to colour x label (part 4): ",
        "each number of part 2 without a column of its own",
        "m times epsilon, 7 times m here",
        "taking part says that they are among them",
        "The maker says of the auxiliary data: \"not used\" (not checked).",
        "No gain from shuffling",
        "neighbours are any two records",
        "`sotto verify`",
    };
    char *text = describe(&fixture_plain, false), *flat = unwrapped(text);
    (void)state;
    assert_shape(text);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        fixture_in(flat, said[i]);
    }
    free(text);
    free(flat);
    text = describe(&fixture_encoded, false);
    flat = unwrapped(text);
    assert_shape(text);
    fixture_in(flat, "- age: a number, scaled by a range from 18 to 90; a");
    assert_null(strstr(flat, "nearer end"));
    fixture_in(flat, "An encoder of 1 layer and 12 weights, 9 multiply-adds");
    fixture_in(flat, "an answer to the encoder x label (part 1): ");
    fixture_in(flat, "says of the auxiliary data: \"none\" (not checked).");
    free(text);
    free(flat);
    text = describe(&fixture_image, false);
    flat = unwrapped(text);
    assert_shape(text);
    fixture_in(flat, "An encoder of 5 layers (2 convolutions, 2 pools, 1 dense "
                     "layer) and 35 weights, 174 multiply-adds a record, "
                     "transforms it first.");
    fixture_in(flat, "and sends at a time that was fixed before.");
    free(text);
    free(flat);
}

/* The verdict and the odds for other sizes of epsilon. */
static void
test_verdicts(void **state)
{
    static const struct {
        uint64_t tenths;
        const char *factor, *belief, *verdict;
    } rows[] = {
        {1, "e^0.1 = 1.11 ", "at most come to think it 52.5%", "strong"},
        {10, "e^1 = 2.72 ", "at most come to think it 73.2%", "strong"},
        {11, "e^1.1 = 3.01 ", "at most come to think it 75.1%", "moderate"},
        {21, "e^2.1 = 8.17 ", "at most come to think it 89.1%", "moderate"},
        {22, "e^2.2 = 9.03 ", "at most come to think it 90.1%", "weak"},
        {40, "e^4 = 54.60 ", "at most come to think it 98.3%", "weak"},
        {45, "e^4.5 = 90.02 ", "at most come to think it 99.0%", "weak"},
        {46, "e^4.6 = 99.49 ", "at most come to think it 99.1%", "little"},
        {69, "e^6.9 = 993 ", "at most come to think it 99.9%", "little"},
        {101, "e^10.1 = 24344 ", "be almost sure of it: more than 99.9%",
         "little"},
        {320, "e^32 = 78962960.2 million ",
         "be almost sure of it: more than 99.9%", "little"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct compose_spec spec = fixture_plain;
        struct compose_part part = fixture_plain_part[0];
        char expected[64];
        part.eps = spec.eps = rows[i].tenths * DECIMAL_UNIT / 10;
        spec.part = &part;
        spec.parts = 1;
        char *text = describe(&spec, false), *flat = unwrapped(text);
        fixture_in(flat, rows[i].factor);
        fixture_in(flat, "features at most");
        fixture_in(flat, "no part is labelled as being about a label");
        (void)snprintf(expected, sizeof expected, "%s likely", rows[i].belief);
        fixture_in(flat, expected);
        (void)snprintf(expected, sizeof expected, "epsilon: %s protection",
                       rows[i].verdict);
        fixture_in(flat, expected);
        free(text);
        free(flat);
    }
}

/* Bytes of a hostile file steer no terminal and break no JSON. */
static void
test_hostile(void **state)
{
    static char long_value[3000];
    static const char *const values[] = {"\x1b]0;x\x07", "\xff\xc0\x80", "a\nb",
                                         long_value};
    static struct schema_column columns[] = {
        {"\x1b[31m\xe2\x80\xae\"\\", SOTTO_COLUMN_CATEGORY, 5, values, false, 0,
         0},
        {"nan", SOTTO_COLUMN_NUMBER, 1, NULL, false, NAN, 1},
        {"huge", SOTTO_COLUMN_NUMBER, 1, NULL, false, 1e308, 1e-308},
        {long_value, SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, INFINITY}};
    struct compose_part parts[2] = {fixture_plain_part[0],
                                    fixture_plain_part[2]};
    struct compose_spec spec = fixture_plain;
    (void)state;
    memset(long_value, 'w', sizeof long_value - 1);
    parts[0].blocks = 3;
    parts[1].factor[0].at = 0;
    spec.column = columns;
    spec.columns = 4;
    spec.part = parts;
    spec.parts = 2;
    char *text = describe(&spec, false);
    assert_shape(text);
    fixture_in(text, "- nan: a number with an unusable range");
    fixture_in(text, "- huge: a number with an unusable range");
    fixture_in(text, "- nan: unknown, for its range is unusable");
    assert_null(strstr(text, "from nan"));
    assert_null(strstr(text, "inf to"));
    fixture_in(text, "\xef\xbf\xbd[31m\xef\xbf\xbd\"\\");
    assert_null(strstr(text, "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"));
    free(text);
    text = describe(&spec, true);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    json_t *list = json_object_get(object, "columns");
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "low")));
    assert_null(strchr(text, '\x1b'));
    json_decref(object);
    free(text);
}

/* A long list of categories is counted in prose and whole in JSON. */
static void
test_many_categories(void **state)
{
    static char store[100][8];
    static const char *values[100];
    struct schema_column columns[FIXTURE_COLUMNS];
    struct compose_spec spec = fixture_plain;
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        (void)snprintf(store[i], sizeof store[i], "v%zu", i);
        values[i] = store[i];
    }
    memcpy(columns, fixture_column, sizeof columns);
    columns[2].values = values;
    columns[2].count = 101;
    spec.column = columns;
    char *text = describe(&spec, false), *flat = unwrapped(text);
    assert_shape(text);
    fixture_in(flat, "one of 100 categories: v0, v1, v2,");
    fixture_in(flat, "v11 and 88 more; anything else counts as (other)");
    free(text);
    free(flat);
    text = describe(&spec, true);
    fixture_in(text, "\"v98\",\"v99\"]");
    free(text);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    (void)state;
    json_set_alloc_funcs(malloc, free);
    for (int json = 0; json < 2; json++) {
        enum sotto_status status;
        long n = 0;
        do {
            char *text = NULL;
            memset(&err, 0xa5, sizeof err);
            fail_alloc_at(++n);
            status = sotto_mechanism_describe(mechanism, json, &text, &err);
            assert_int_equal(status == SOTTO_STATUS_OK, text != NULL);
            if (status != SOTTO_STATUS_OK) {
                assert_int_equal(err.status, SOTTO_STATUS_MEMORY);
            }
            free(text);
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > 5);
    }
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prose),   cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_many_categories),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
