/*
 * test_precision.c: what to expect of shares and means, against what decode
 * prints, against simulated collections, and both ways round.
 */
#include "mechanism_fixture.h"

#include <math.h>

#include "fail_alloc.h"
#include "sotto/planning.h"

static struct sotto_error err;

static struct sotto_precision *
precision_new(const struct sotto_mechanism *mechanism,
              const struct sotto_table *table)
{
    struct sotto_precision *precision = NULL;
    assert_int_equal(sotto_precision_new(mechanism, table, &precision, &err),
                     SOTTO_STATUS_OK);
    return precision;
}

/* Ages from 20 to 80, a quarter of them blue, three quarters red. */
static struct sotto_table *
table_new(void)
{
    static const char *const colours[] = {"blue", "red", "red", "red"};
    static const char *const labels[] = {"no", "no", "yes", "yes"};
    static const uint8_t pixels[8] = {0, 255, 10, 20, 30, 40, 50, 60};
    static const struct sotto_image image = {1, 2, 1};
    const double age[4] = {20, 40, 60, 80};
    struct sotto_table *table = NULL;
    assert_int_equal(sotto_table_new(4, &table, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_numbers(table, "age", age, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(
        sotto_table_add_bytes(table, "pixels", pixels, &image, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_texts(table, "colour", colours, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_texts(table, "label", labels, &err),
                     SOTTO_STATUS_OK);
    return table;
}

static void
test_rows_and_what_a_table_says(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_table *table = table_new();
    struct sotto_precision *precision = precision_new(mechanism, NULL);
    struct sotto_precision_case when = {1000, 1.96, 0.05};
    struct sotto_precision_row row;
    (void)state;
    assert_true(sotto_precision_rows(precision) >= 2);
    sotto_precision_row(precision, 0, &when, &row);
    assert_string_equal(row.name, "age");
    assert_int_equal(row.categories, 0);
    assert_false(row.known);
    assert_true(fabs(row.low - 18) < 1e-9 && fabs(row.high - 90) < 1e-9);
    assert_true(fabs(row.value - 36) < 1e-9);
    assert_true(fabs(row.lied - 0.05 * 72) < 1e-9 && row.forged > row.lied);
    sotto_precision_free(precision);
    precision = precision_new(mechanism, table);
    sotto_precision_row(precision, 0, &when, &row);
    assert_true(row.known && fabs(row.value - sqrt(2000.0 / 3)) < 1e-9);
    for (size_t i = 0; i < sotto_precision_rows(precision); i++) {
        sotto_precision_row(precision, i, &when, &row);
        if (strcmp(row.name, "colour") == 0) {
            assert_int_equal(row.categories, 4);
            assert_true(row.known);
            assert_true(row.value == 0.75 || row.value == 0.25 ||
                        row.value == 0);
        }
    }
    sotto_precision_free(precision);
    sotto_precision_free(NULL);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

/* More people, a narrower interval; the inverse is the least that is enough. */
static void
test_people_are_the_inverse(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_precision *precision = precision_new(mechanism, NULL);
    (void)state;
    for (size_t i = 0; i < sotto_precision_rows(precision); i++) {
        struct sotto_precision_case when = {0, 1.96, 0};
        struct sotto_precision_row row;
        sotto_precision_row(precision, i, &when, &row);
        double half = 0.02 * (row.high - row.low);
        double people = sotto_precision_people(precision, i, 1.96, half);
        assert_true(isfinite(people));
        when.people = people;
        sotto_precision_row(precision, i, &when, &row);
        assert_true(row.half <= half);
        when.people = people - 2;
        sotto_precision_row(precision, i, &when, &row);
        assert_true(row.half > half);
    }
    assert_true(isinf(sotto_precision_people(precision, 0, 1.96, 1e-6)));
    sotto_precision_free(precision);
    sotto_mechanism_free(mechanism);
}

/* What decode prints of that many reports is as wide, and the errors of
   simulated collections are as large, as the formula says. */
static void
test_formula_beside_simulation(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_table *table = table_new();
    struct sotto_precision *precision = precision_new(mechanism, table);
    double ratio = -1;
    (void)state;
    assert_int_equal(sotto_precision_simulate(precision, mechanism, table, 500,
                                              200, 3, &ratio, &err),
                     SOTTO_STATUS_OK);
    if (!(fabs(ratio - 1) < 0.1)) {
        fail_msg("errors are %g of what the formula says", ratio);
    }
    sotto_precision_free(precision);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

/* A number from 0 to 10 that may be missing, told apart in one block. */
static struct sotto_mechanism *
open_gap(void)
{
    const struct schema_column columns[] = {{.name = "n",
                                             .kind = SOTTO_COLUMN_NUMBER,
                                             .count = 1,
                                             .shift = 5,
                                             .scale = 0.2,
                                             .missing = true}};
    const struct compose_part parts[] = {{.covers = "features",
                                          .channel = "laplace",
                                          .eps = 4 * DECIMAL_UNIT,
                                          .blocks = 1,
                                          .from = 0,
                                          .d = 2,
                                          .l = 4096}};
    struct compose_spec spec = fixture_plain;
    spec.eps = 4 * DECIMAL_UNIT;
    spec.column = columns;
    spec.columns = 1;
    spec.part = parts;
    spec.parts = 1;
    return fixture_open(&spec);
}

/* Half of the width that decode prints of 2,000 people drawn in turn: of row
   i. */
static double
decode_half(struct sotto_mechanism *mechanism, const struct sotto_table *table,
            size_t i)
{
    struct sotto_estimate *estimate = NULL;
    struct sotto_estimate_row row;
    uint8_t report[128];
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    for (size_t j = 0; j < 2000; j++) {
        struct sotto_value value =
            sotto_table_cell(table, j % sotto_table_rows(table), 0);
        assert_int_equal(sotto_simulate(mechanism, 5, j, &value, 1, report,
                                        mechanism->shape.report_size),
                         SOTTO_STATUS_OK);
        sotto_estimate_add(estimate, report);
    }
    sotto_estimate_row(estimate, i, 1.96, &row);
    sotto_estimate_free(estimate);
    assert_false(row.unbounded);
    return (row.high - row.low) / 2;
}

/* Of a column that half of the rows lack: the mean of the others and the share
   that is missing are as wide as decode makes them, and as the errors of
   simulated collections. */
static void
test_missing_values(void **state)
{
    const double n[8] = {NAN, 7, NAN, 9, NAN, 9, NAN, 8};
    struct sotto_mechanism *mechanism = open_gap();
    struct sotto_table *table = NULL;
    struct sotto_precision *precision;
    struct sotto_precision_case when = {2000, 1.96, 0.05};
    struct sotto_precision_row row;
    double ratio = -1, full;
    (void)state;
    assert_int_equal(sotto_table_new(8, &table, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_numbers(table, "n", n, &err),
                     SOTTO_STATUS_OK);
    precision = precision_new(mechanism, NULL);
    assert_int_equal(sotto_precision_rows(precision), 2);
    sotto_precision_row(precision, 0, &when, &row);
    full = row.half; /* everybody is taken to have a value */
    assert_true(!row.known && row.absent == 0 && !row.missing);
    sotto_precision_free(precision);
    precision = precision_new(mechanism, table);
    for (size_t i = 0; i < 2; i++) {
        sotto_precision_row(precision, i, &when, &row);
        double decoded = decode_half(mechanism, table, i);
        if (!(fabs(row.half / decoded - 1) < 0.05)) {
            fail_msg("row %zu: %g, decode prints %g", i, row.half, decoded);
        }
        assert_int_equal(row.missing, i == 1);
        assert_true(row.absent == (i == 0 ? 0.5 : 0));
        assert_true(i == 1 || row.half > 1.05 * full);
        assert_true(row.lied > 0 && row.forged > row.lied);
    }
    assert_int_equal(sotto_precision_simulate(precision, mechanism, table, 500,
                                              400, 3, &ratio, &err),
                     SOTTO_STATUS_OK);
    if (!(fabs(ratio - 1) < 0.1)) {
        fail_msg("errors are %g of what the formula says", ratio);
    }
    sotto_precision_free(precision);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

/* The label of pairs of a code and a label, by flip on 9 pairs. */
static void
test_pairs_tell_the_label(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    struct sotto_precision *precision = precision_new(mechanism, NULL);
    struct sotto_precision_case when = {1000, 1.96, 0};
    struct sotto_precision_row row;
    double p = exp(1) / (exp(1) + 8), o = 1 / (exp(1) + 8);
    double worst = 0;
    (void)state;
    assert_int_equal(sotto_precision_rows(precision), 1);
    sotto_precision_row(precision, 0, &when, &row);
    assert_string_equal(row.name, "label");
    assert_int_equal(row.categories, 3);
    for (int i = 0; i <= 1000; i++) { /* a label is named with 3 of 9 pairs */
        double f = i / 1000.0;
        double rate = f * (p + 2 * o) + (1 - f) * 3 * o;
        worst = fmax(worst, rate * (1 - rate));
    }
    assert_true(fabs(row.deviation / (sqrt(worst / 1000) / (p - o)) - 1) <
                1e-6);
    sotto_precision_free(precision);
    sotto_mechanism_free(mechanism);
}

static void
test_no_memory(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_precision *precision = NULL;
    (void)state;
    for (long i = 1; precision == NULL; i++) {
        enum sotto_status status;
        fail_alloc_at(i);
        status = sotto_precision_new(mechanism, NULL, &precision, &err);
        fail_alloc_at(0);
        assert_int_equal(status, precision != NULL ? SOTTO_STATUS_OK
                                                   : SOTTO_STATUS_MEMORY);
    }
    sotto_precision_free(precision);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_and_what_a_table_says),
        cmocka_unit_test(test_people_are_the_inverse),
        cmocka_unit_test(test_formula_beside_simulation),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_pairs_tell_the_label),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
