/*
 * test_direct_missing.c: a missing value is one of its own, and costs nothing.
 */
#include "direct_fixture.h"

#include <gmp.h>
#include <mpfr.h>

#include "base/decimal.h"
#include "client/device.h"
#include "mechanism/mechanism.h"
#include "privacy/tape.h"

static const char people[] = "age,colour,sugar,height,label\n"
                             "20,red,80,1.5,yes\n"
                             "70,blue,,1.7,no\n"
                             "40,,120,1.9,\n"
                             "30,red,100,1.6,yes\n";

/* ---- What is made ------------------------------------------------------- */

struct expected {
    const char *channel;
    size_t blocks, size;
    double eps;
};

static void
check_parts(const struct direct_options *options,
            const struct expected *expected, size_t count)
{
    struct sotto_table *table = parse(people, strlen(people));
    struct sotto_mechanism *mechanism = train(table, options);
    struct sotto_mechanism_info info;
    size_t from = 0;
    sotto_mechanism_info(mechanism, &info);
    assert_int_equal(info.parts, count);
    for (size_t i = 0; i < count; i++) {
        struct sotto_part_info part;
        sotto_mechanism_part(mechanism, i, &part);
        assert_string_equal(part.channel, expected[i].channel);
        assert_int_equal(part.blocks, expected[i].blocks);
        assert_int_equal(part.size, expected[i].size);
        assert_true(part.eps == expected[i].eps);
        if (part.l > 0) { /* entries of x are used once each, in order */
            assert_int_equal(mechanism->shape.part[i].from, from);
            from += part.blocks * part.size;
        }
    }
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
    (void)unlink(path);
}

/* Five shares of 0.5. A column with a gap in the data tells it; the label never
   does; all numbers may, and none need. */
static void
test_parts(void **state)
{
    static const struct expected found[] = {{"laplace", 1, 1, 0.5},
                                            {"laplace", 1, 2, 0.5},
                                            {"laplace", 1, 1, 0.5},
                                            {"flip", 1, 4, 0.5},
                                            {"flip", 1, 3, 0.5}};
    static const struct expected none[] = {
        {"laplace", 3, 1, 0.5}, {"flip", 1, 3, 0.5}, {"flip", 1, 3, 0.5}};
    static const struct expected named[] = {{"laplace", 1, 1, 0.5},
                                            {"laplace", 2, 2, 0.5},
                                            {"flip", 1, 3, 0.5},
                                            {"flip", 1, 3, 0.5}};
    static const char *const names[] = {"height", "sugar"};
    struct direct_options options = {.eps = "2.5", .label = "label"};
    (void)state;
    check_parts(&options, found, 5);
    options.no_missing = true;
    check_parts(&options, none, 3);
    options.missing = names;
    options.missings = 2;
    check_parts(&options, named, 4);
}

/* A window is on a line, and a ball has no room: such a column goes through
   laplace. In a cube it is two numbers, for one share. */
static void
test_other_channels(void **state)
{
    static const struct expected window[] = {{"window", 1, 1, 0.5},
                                             {"laplace", 1, 2, 0.5},
                                             {"window", 1, 1, 0.5},
                                             {"flip", 1, 4, 0.5},
                                             {"flip", 1, 3, 0.5}};
    static const struct expected gaussian[] = {{"gaussian", 1, 1, 0.5},
                                               {"laplace", 1, 2, 0.5},
                                               {"gaussian", 1, 1, 0.5},
                                               {"flip", 1, 4, 0.5},
                                               {"flip", 1, 3, 0.5}};
    static const struct expected duchi[] = {
        {"duchi", 1, 4, 1.5}, {"flip", 1, 4, 0.5}, {"flip", 1, 3, 0.5}};
    struct direct_options options = {
        .eps = "2.5", .label = "label", .numbers = "window"};
    (void)state;
    check_parts(&options, window, 5);
    options.numbers = "duchi";
    check_parts(&options, duchi, 3);
    options.numbers = "gaussian";
    options.delta = "0.000001";
    check_parts(&options, gaussian, 5);
}

/* What a file that tells nothing was written as, it is written as still. */
static void
test_categories(void **state)
{
    static const char *const names[] = {"blue", "red", "(missing)", "(other)"};
    struct direct_options options = {.eps = "1", .label = "label"};
    struct sotto_table *table = parse(people, strlen(people));
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_client *client = sotto_mechanism_client(mechanism);
    static const struct {
        struct sotto_value value;
        int32_t symbol;
    } cases[] = {{{.kind = SOTTO_VALUE_MISSING}, 2},
                 {{.kind = SOTTO_VALUE_NUMBER, .number = 3}, 2},
                 {{SOTTO_VALUE_TEXT, 0, "(missing)", 9}, 2},
                 {{SOTTO_VALUE_TEXT, 0, "green", 5}, 3},
                 {{SOTTO_VALUE_TEXT, 0, "blue", 4}, 0}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(sotto_mechanism_category(mechanism, 1, i),
                            names[i]);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_value values[5] = {{.kind = SOTTO_VALUE_MISSING}};
        values[1] = cases[i].value;
        schema_apply(&client->encoder, values);
        assert_int_equal(client->encoder.symbol[1], cases[i].symbol);
    }
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* A category that the data calls as the symbol is the symbol. */
static void
test_category_of_that_name(void **state)
{
    static const char text[] = "c\n(missing)\na\n\n \"\"\n";
    static const char *const names[] = {"c"};
    struct direct_options options = {
        .eps = "1", .missing = names, .missings = 1};
    struct sotto_table *table = parse(text, 14);
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_column_info column;
    (void)state;
    sotto_mechanism_column(mechanism, 0, &column);
    assert_int_equal(column.count, 3);
    assert_true(column.missing);
    assert_string_equal(sotto_mechanism_category(mechanism, 0, 0), "a");
    assert_string_equal(sotto_mechanism_category(mechanism, 0, 1), "(missing)");
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

static void
test_refused(void **state)
{
    static const char *const label[] = {"label"}, *const none[] = {"shoe"};
    static const char *const age[] = {"age"};
    static const char *const all[] = {"age", "sugar", "height"};
    struct direct_options options = {
        .eps = "1", .label = "label", .missing = label, .missings = 1};
    (void)state;
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "column \"label\" is the label, which does not tell");
    options.missing = none;
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "missing: there is no column \"shoe\"");
    options.missing = age;
    options.drop = age;
    options.drops = 1;
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "column \"age\" is dropped, or holds neither");
    options.drops = 0;
    options.missing = all;
    options.missings = 3;
    options.numbers = "gaussian";
    options.delta = "0.000001";
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "(a number that tells what is missing goes through "
                   "laplace)");
}

/* ---- Points and probabilities (invariants 1 and 4) ------------------------
 */

#define L 4

/* A record, and the point it is: x, and whether it is missing. */
struct point_case {
    struct sotto_value value;
    int32_t q[2];
};

#define NUMBER(number_)                                                        \
    {                                                                          \
        SOTTO_VALUE_NUMBER, number_, NULL, 0                                   \
    }

static const struct point_case cases[] = {
    {NUMBER(-1), {-L, 0}},
    {NUMBER(-0.75), {-3, 0}},
    {NUMBER(-0.5), {-2, 0}},
    {NUMBER(-0.3), {-1, 0}},
    {NUMBER(0), {0, 0}},
    {NUMBER(-0.0), {0, 0}},
    {NUMBER(5e-324), {0, 0}},
    {NUMBER(0.2), {1, 0}},
    {NUMBER(0.5), {2, 0}},
    {NUMBER(0.7), {3, 0}},
    {NUMBER(1), {L, 0}},
    {NUMBER(1.001), {L, 0}}, /* beyond: the end, and not missing */
    {NUMBER(1e30), {L, 0}},
    {NUMBER(-1e308), {-L, 0}}, /* an infinity as a float */
    {NUMBER((double)INFINITY), {0, L}},
    {NUMBER(-(double)INFINITY), {0, L}},
    {NUMBER((double)NAN), {0, L}},
    {{SOTTO_VALUE_MISSING, 0, NULL, 0}, {0, L}},
    {{SOTTO_VALUE_TEXT, (double)INFINITY, "1e400", 5}, {0, L}},
    {{SOTTO_VALUE_TEXT, (double)NAN, "abc", 3}, {0, L}},
    {{SOTTO_VALUE_BYTES, 0, "\xff", 1}, {0, L}},
};
#define CASES (sizeof cases / sizeof *cases)

static struct sotto_mechanism *
train_one(const char *eps, const char *numbers)
{
    static const struct range range = {"a", -1, 1};
    struct direct_options options = {.eps = eps,
                                     .l = L,
                                     .ranges = &range,
                                     .range_count = 1,
                                     .numbers = numbers};
    struct sotto_table *table = parse("a,b\n0,1\n,\n", 10);
    static const char *const drop[] = {"b"};
    options.drop = drop;
    options.drops = 1;
    struct sotto_mechanism *mechanism = train(table, &options);
    sotto_table_free(table);
    return mechanism;
}

static void
place(struct sotto_mechanism *mechanism, const struct sotto_value *value,
      int32_t ret_q[2])
{
    struct sotto_client *client = sotto_mechanism_client(mechanism);
    const struct report_part *part = &client->report.part[0];
    schema_apply(&client->encoder, value);
    part->place(client->encoder.x + part->from, 2, L, ret_q);
}

/* Whatever a record holds it is a point of the domain, and the one it should
   be: in the block of a lattice as in a cube. */
static void
test_points(void **state)
{
    static const char *const numbers[] = {"laplace", "duchi"};
    (void)state;
    for (size_t n = 0; n < 2; n++) {
        struct sotto_mechanism *mechanism = train_one("4", numbers[n]);
        for (size_t i = 0; i < CASES; i++) {
            int32_t q[2] = {99, 99};
            place(mechanism, &cases[i].value, q);
            assert_int_equal(q[0], cases[i].q[0]);
            assert_int_equal(q[1], cases[i].q[1]);
        }
        sotto_mechanism_free(mechanism);
        (void)unlink(path);
    }
}

#define CLAMP 20 /* of l = 4 at epsilon 16 (docs/format.md) */
#define SIDE (2 * CLAMP + 1)

/* The most and the least of p(report | record) over the records. */
struct extremes {
    mpz_t most, least, p;
};

/* Adds up the probability of every report of one record, exactly, by running
   the sampler that ships over a tape. */
static void
enumerate_record(const struct report_part *part, const int32_t *q,
                 struct extremes *at, mpz_t whole)
{
    struct tape *tape = tape_new();
    assert_non_null(tape);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        mpz_set_ui(at[i].p, 0);
    }
    do {
        struct random random;
        uint8_t wire[8];
        tape_random(tape, &random);
        part->instance.channel->sample(&part->instance, q, &random, wire);
        int x = (int16_t)(wire[0] | wire[1] << 8);
        int m = (int16_t)(wire[2] | wire[3] << 8);
        assert_in_range(x + CLAMP, 0, SIDE - 1);
        assert_in_range(m + CLAMP, 0, SIDE - 1);
        mpz_ptr p = at[(x + CLAMP) * SIDE + m + CLAMP].p;
        mpz_add(p, p, tape_numerator(tape));
        mpz_set(whole, tape_denominator(tape));
    } while (tape_next(tape));
    assert_null(tape_fault(tape));
    tape_free(tape);
}

/*
 * Of all records, present at any value, beyond the range, missing, text, NaN or
 * infinite, and of all reports, no probability is above e^epsilon times
 * another, and the largest ratio is e^epsilon as it is without the symbol for
 * what is missing: exact probabilities of the sampler (invariants 1 and 4).
 */
static void
test_exact_probabilities(void **state)
{
    struct sotto_mechanism *mechanism = train_one("16", NULL);
    const struct report_part *part =
        &sotto_mechanism_client(mechanism)->report.part[0];
    struct extremes *at = calloc((size_t)SIDE * SIDE, sizeof *at);
    double largest = -1;
    mpz_t whole, first;
    (void)state;
    assert_non_null(at);
    mpz_inits(whole, first, NULL);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        mpz_inits(at[i].most, at[i].least, at[i].p, NULL);
    }
    for (size_t i = 0; i < CASES; i++) {
        int32_t q[2];
        mpz_t sum;
        mpz_init(sum);
        place(mechanism, &cases[i].value, q);
        enumerate_record(part, q, at, whole);
        mpz_set(i == 0 ? first : sum, whole);
        assert_int_equal(mpz_cmp(first, whole), 0);
        mpz_set_ui(sum, 0);
        for (size_t j = 0; j < (size_t)SIDE * SIDE; j++) {
            mpz_add(sum, sum, at[j].p);
            if (i == 0 || mpz_cmp(at[j].p, at[j].most) > 0) {
                mpz_set(at[j].most, at[j].p);
            }
            if (i == 0 || mpz_cmp(at[j].p, at[j].least) < 0) {
                mpz_set(at[j].least, at[j].p);
            }
        }
        assert_int_equal(mpz_cmp(sum, whole), 0); /* a report for each */
        mpz_clear(sum);
    }
    for (size_t j = 0; j < (size_t)SIDE * SIDE; j++) {
        mpfr_t ratio, least;
        mpfr_inits2(512, ratio, least, (mpfr_ptr)NULL);
        assert_true(mpz_sgn(at[j].least) > 0);
        mpfr_set_z(ratio, at[j].most, MPFR_RNDU);
        mpfr_set_z(least, at[j].least, MPFR_RNDD);
        mpfr_div(ratio, ratio, least, MPFR_RNDU);
        mpfr_log(ratio, ratio, MPFR_RNDU);
        assert_true(mpfr_cmp_ui(ratio, 16) <= 0);
        largest = fmax(largest, mpfr_get_d(ratio, MPFR_RNDN));
        mpfr_clears(ratio, least, (mpfr_ptr)NULL);
        mpz_clears(at[j].most, at[j].least, at[j].p, NULL);
    }
    assert_true(fabs(largest - 16) < 1e-12);
    mpz_clears(whole, first, NULL);
    mpfr_free_cache();
    free(at);
    sotto_mechanism_free(mechanism);
}

/* ---- Estimates ---------------------------------------------------------- */

#define REPORTS 6000u
#define Z 4.0 /* two-sided: 1 in 15,000 for each of 2 x 4 intervals */

/* Two of three have a value: 0.2 or 0.6, 0.4 in the mean. A step is 0.25, so
   that rounding alone widens an interval by that. */
static struct sotto_value
value_of(uint32_t person)
{
    return person % 3 == 0
               ? (struct sotto_value){.kind = SOTTO_VALUE_MISSING}
               : (struct sotto_value){.kind = SOTTO_VALUE_NUMBER,
                                      .number = person % 3 == 1 ? 0.2 : 0.6};
}

static void
check_estimates(struct sotto_mechanism *mechanism)
{
    struct sotto_estimate *estimate = NULL;
    struct sotto_estimate_row row;
    uint8_t report[128];
    size_t size = mechanism->shape.report_size;
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_estimate_rows(estimate), 2);
    for (uint32_t i = 0; i < REPORTS; i++) {
        struct sotto_value value = value_of(i);
        assert_int_equal(
            sotto_simulate(mechanism, 7, i, &value, 1, report, size),
            SOTTO_STATUS_OK);
        sotto_estimate_add(estimate, report);
    }
    sotto_estimate_row(estimate, 0, Z, &row);
    assert_string_equal(row.name, "a");
    assert_null(row.category);
    assert_int_equal(row.missing, SOTTO_MISSING_TOLD);
    assert_false(row.unbounded);
    assert_true(row.low < 0.4 && 0.4 < row.high && row.high - row.low < 0.5);
    assert_true(row.low < row.value && row.value < row.high);
    sotto_estimate_row(estimate, 1, Z, &row);
    assert_string_equal(row.name, "a");
    assert_string_equal(row.category, "(missing)");
    assert_int_equal(row.missing, SOTTO_MISSING_TOLD);
    assert_true(row.low < 1.0 / 3 && 1.0 / 3 < row.high);
    assert_true(row.high - row.low < 0.3);
    sotto_estimate_free(estimate);
}

static void
test_estimates(void **state)
{
    static const char *const numbers[] = {"laplace", "window", "duchi"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct sotto_mechanism *mechanism = train_one("8", numbers[i]);
        check_estimates(mechanism);
        sotto_mechanism_free(mechanism);
        (void)unlink(path);
    }
}

/* Nobody has a value: nothing is said of the mean, and all of the share. */
static void
test_nobody(void **state)
{
    struct sotto_mechanism *mechanism = train_one("8", NULL);
    struct sotto_estimate *estimate = NULL;
    struct sotto_estimate_row row;
    static const struct sotto_value none = {.kind = SOTTO_VALUE_MISSING};
    uint8_t report[128];
    (void)state;
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    for (uint32_t i = 0; i < 500; i++) {
        assert_int_equal(sotto_simulate(mechanism, 3, i, &none, 1, report,
                                        mechanism->shape.report_size),
                         SOTTO_STATUS_OK);
        sotto_estimate_add(estimate, report);
    }
    sotto_estimate_row(estimate, 0, Z, &row);
    assert_true(row.unbounded && isinf(row.low) && isinf(row.high));
    assert_true(row.low < row.high);
    sotto_estimate_row(estimate, 1, Z, &row);
    assert_false(row.unbounded);
    assert_true(row.low < 1 && 1 < row.high);
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/* What a missing value counts as is said of every row. */
static void
test_told_or_not(void **state)
{
    static const enum sotto_estimate_missing expected[] = {
        SOTTO_MISSING_MIDDLE,                   /* age */
        SOTTO_MISSING_TOLD, SOTTO_MISSING_TOLD, /* sugar */
        SOTTO_MISSING_MIDDLE,                   /* height */
        SOTTO_MISSING_NONE};                    /* a category */
    struct direct_options options = {.eps = "1", .label = "label"};
    struct sotto_table *table = parse(people, strlen(people));
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_estimate *estimate = NULL;
    char *page = NULL;
    (void)state;
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    for (size_t i = 0; i < 5; i++) {
        struct sotto_estimate_row row;
        sotto_estimate_row(estimate, i, Z, &row);
        assert_int_equal(row.missing, expected[i]);
    }
    sotto_estimate_free(estimate);
    assert_int_equal(sotto_mechanism_part_column(mechanism, 1, 0), 2);
    assert_int_equal(sotto_mechanism_describe(mechanism, false, &page, &err),
                     SOTTO_STATUS_OK);
    assert_non_null(strstr(page, "  - whether sugar is missing: "));
    free(page);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_parts),
        TEST(test_other_channels),
        TEST(test_categories),
        TEST(test_category_of_that_name),
        TEST(test_refused),
        TEST(test_points),
        TEST(test_exact_probabilities),
        TEST(test_estimates),
        TEST(test_nobody),
        TEST(test_told_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
