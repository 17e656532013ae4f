/*
 * test_estimate.c: means and frequencies against the truth.
 */
#include "mechanism_fixture.h"

#include <math.h>
#include <stdio.h>

#include "fail_alloc.h"

static struct sotto_error err;

static struct sotto_estimate *
estimate_new(const struct sotto_mechanism *mechanism)
{
    struct sotto_estimate *estimate = NULL;
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    return estimate;
}

static struct sotto_estimate_row
row_of(const struct sotto_estimate *estimate, size_t i)
{
    struct sotto_estimate_row row;
    memset(&row, 0xa5, sizeof row);
    sotto_estimate_row(estimate, i, 1.96, &row);
    return row;
}

static void
assert_near(double a, double b, double off)
{
    if (!(fabs(a - b) <= off)) {
        fail_msg("%.17g is not within %g of %.17g", a, off, b);
    }
}

/* ---- Names -------------------------------------------------------------- */

static void
test_names(void **state)
{
    static const char *const names[] = {
        "age|-",        "part 2[0]|-", "part 2[1]|-",   "colour|blue",
        "colour|green", "colour|red",  "colour|(other)"};
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_estimate *estimate = estimate_new(mechanism);
    char text[128];
    (void)state;
    assert_int_equal(sotto_estimate_rows(estimate), 1 + 2 + 4 + 12);
    for (size_t i = 0; i < 7; i++) {
        struct sotto_estimate_row row = row_of(estimate, i);
        (void)snprintf(text, sizeof text, "%s|%s", row.name,
                       row.category != NULL ? row.category : "-");
        assert_string_equal(text, names[i]);
    }
    assert_string_equal(row_of(estimate, 7).name, "colour x label");
    assert_string_equal(row_of(estimate, 7).category, "blue x no");
    assert_string_equal(row_of(estimate, 8).category, "blue x yes");
    assert_string_equal(row_of(estimate, 18).category, "(other) x (other)");
    sotto_estimate_free(estimate);
    sotto_estimate_free(NULL);
    sotto_mechanism_free(mechanism);

    mechanism = fixture_open(&fixture_encoded);
    estimate = estimate_new(mechanism);
    assert_int_equal(sotto_estimate_rows(estimate), 9 + 3);
    assert_string_equal(row_of(estimate, 0).name, "part 1 x label");
    assert_string_equal(row_of(estimate, 0).category, "code 0 x no");
    assert_string_equal(row_of(estimate, 8).category, "code 2 x (other)");
    assert_string_equal(row_of(estimate, 11).name, "part 2[2]");
    assert_null(row_of(estimate, 11).category);
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/*
 * Pairs through signs: the estimate is the interaction, exactly on average over
 * n reports of one pair, and the interval reaches as far as rows and columns
 * can add to it: here to the truth, 1, which the estimate misses by 6/15.
 */
static void
test_pairs_are_widened_by_their_bias(void **state)
{
    static const char *const values[] = {"a", "b", "c", "d"};
    static const struct schema_column columns[] = {
        {"code", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 0},
        {"label", SOTTO_COLUMN_CATEGORY, 5, values, false, 0, 0}};
    static const struct compose_part part = {
        .covers = "both",
        .channel = "signs",
        .eps = 4 * DECIMAL_UNIT,
        .blocks = 1,
        .factor = {{true, 0, 0}, {true, 1, 0}},
        .factors = 2};
    static const struct sotto_value record[] = {{SOTTO_VALUE_TEXT, 0, "b", 1},
                                                {SOTTO_VALUE_TEXT, 0, "d", 1}};
    struct compose_spec spec = fixture_plain;
    struct sotto_mechanism *mechanism;
    struct sotto_estimate *estimate;
    struct sotto_estimate_row row;
    uint8_t report[64];
    (void)state;
    spec.column = columns;
    spec.columns = 2;
    spec.part = &part;
    spec.parts = 1;
    mechanism = fixture_open(&spec);
    estimate = estimate_new(mechanism);
    for (uint64_t i = 0; i < 20000; i++) {
        assert_int_equal(sotto_simulate(mechanism, 5, i, record, 2, report,
                                        mechanism->shape.report_size),
                         SOTTO_STATUS_OK);
        sotto_estimate_add(estimate, report);
    }
    assert_int_equal(sotto_estimate_rows(estimate), 15);
    row = row_of(estimate, 1 * 5 + 3);
    assert_string_equal(row.category, "b x d");
    assert_near(row.value, 1 - 1.0 / 5 - 1.0 / 3 + 2.0 / 15, 0.03);
    assert_near(row.high, row.value + 6.0 / 15, 0.03);
    assert_true(row.low <= 1 && row.high >= 1);
    row = row_of(estimate, 0);
    assert_near(row.value, 2.0 / 15, 0.03);
    assert_true(row.low <= 0 && row.high >= 0);
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/* Hostile names are made printable, empty ones stay. */
static void
test_hostile_names(void **state)
{
    static const char *const values[] = {"", "\x1b[2J\xff"};
    static const struct schema_column columns[] = {
        {"", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
        {"a\nb", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 0}};
    static const struct compose_part parts[] = {{.covers = "features",
                                                 .channel = "laplace",
                                                 .eps = DECIMAL_UNIT,
                                                 .blocks = 1,
                                                 .d = 1,
                                                 .l = 4},
                                                {.covers = "features",
                                                 .channel = "flip",
                                                 .eps = DECIMAL_UNIT,
                                                 .blocks = 1,
                                                 .factor = {{true, 1, 0}},
                                                 .factors = 1}};
    struct compose_spec spec = fixture_plain;
    spec.column = columns;
    spec.columns = 2;
    spec.part = parts;
    spec.parts = 2;
    struct sotto_mechanism *mechanism = fixture_open(&spec);
    struct sotto_estimate *estimate = estimate_new(mechanism);
    (void)state;
    assert_string_equal(row_of(estimate, 0).name, "");
    assert_string_equal(row_of(estimate, 1).name, "a\xef\xbf\xbd"
                                                  "b");
    assert_string_equal(row_of(estimate, 1).category, "");
    assert_string_equal(row_of(estimate, 2).category,
                        "\xef\xbf\xbd[2J\xef\xbf\xbd");
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/* ---- Few reports -------------------------------------------------------- */

static void
test_few(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_estimate *estimate = estimate_new(mechanism);
    struct sotto_estimate_row row = row_of(estimate, 0);
    uint8_t report[256];
    (void)state;
    assert_true(row.value == 54); /* nothing known: the middle */
    assert_true(isinf(row.low) && isinf(row.high) && row.low < row.high);
    assert_true(isinf(row.noise_deviation));
    fixture_report(mechanism, 0, report, mechanism->shape.report_size);
    report[0] = 'X';
    sotto_estimate_add(estimate, report); /* no report: passed over */
    assert_true(isinf(row_of(estimate, 0).noise_deviation));
    for (uint64_t i = 0; i < 3; i++) {
        fixture_report(mechanism, i, report, mechanism->shape.report_size);
        sotto_estimate_add(estimate, report);
        for (size_t j = 0; j < sotto_estimate_rows(estimate); j++) {
            row = row_of(estimate, j);
            assert_true(isfinite(row.value) && isfinite(row.noise_deviation));
            assert_true(isfinite(row.low) == (i > 0));
            assert_true(!isnan(row.low) && !isnan(row.high));
            assert_true(row.low <= row.value && row.value <= row.high);
        }
    }
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/* ---- The plain sums ----------------------------------------------------- */

/* The running mean and interval against two passes over the values. */
static void
test_arithmetic(void **state)
{
    enum { N = 500 };
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_estimate *estimate = estimate_new(mechanism);
    const struct likelihood_instance *instance = &mechanism->likelihood[0];
    size_t size = mechanism->shape.report_size;
    double values[N], mean = 0, squares = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        uint8_t report[256];
        int64_t value;
        fixture_report(mechanism, i, report, size);
        sotto_estimate_add(estimate, report);
        sotto_report_values(mechanism, report, 0, 0, &value);
        values[i] = (double)value;
        mean += values[i] / N;
    }
    for (size_t i = 0; i < N; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    double unit = 36.0 / 4096; /* half the range of an age, 4096 steps */
    double t = 1.964729;       /* of 499 degrees of freedom */
    double half = t * sqrt(squares / (N - 1) / N) + instance->bias + 0.5;
    struct sotto_estimate_row row = row_of(estimate, 0);
    assert_near(row.value, 54 + unit * mean, 1e-9);
    assert_near(row.low, 54 + unit * (mean - half), 1e-4);
    assert_near(row.high, 54 + unit * (mean + half), 1e-4);
    assert_near(row.noise_deviation, unit * sqrt(instance->variance_other / N),
                1e-9);
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/* A constant column has a width of 0: its mean is exact. */
static void
test_constant(void **state)
{
    struct schema_column columns[FIXTURE_COLUMNS];
    struct compose_spec spec = fixture_plain;
    memcpy(columns, fixture_column, sizeof columns);
    columns[0].scale = 0;
    columns[0].shift = 7;
    spec.column = columns;
    struct sotto_mechanism *mechanism = fixture_open(&spec);
    struct sotto_estimate *estimate = estimate_new(mechanism);
    uint8_t report[256];
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        fixture_report(mechanism, i, report, mechanism->shape.report_size);
        sotto_estimate_add(estimate, report);
    }
    struct sotto_estimate_row row = row_of(estimate, 0);
    assert_true(row.value == 7 && row.low == 7 && row.high == 7);
    assert_true(row.noise_deviation == 0);
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/* ---- Against the truth -------------------------------------------------- */

/*
 * 20,000 simulated people under a fixed seed, with known means. A row's value
 * is within 4.9 standard errors of the truth with probability 1 - 10^-6 each
 * (normal, alpha about 2 * 10^-5 over all 19 rows); and the noise alone
 * explains a rare symbol's spread.
 */
static void
test_truth(void **state)
{
    enum { N = 20000 };
    static const char *const colours[] = {"blue", "green", "red", "mauve"};
    static const double share[] = {0.1, 0.2, 0.3, 0.4};
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_estimate *estimate = estimate_new(mechanism);
    size_t size = mechanism->shape.report_size;
    double ages = 0;
    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        struct sotto_value values[FIXTURE_COLUMNS];
        uint8_t report[256];
        uint8_t pixels[2] = {255, 0}; /* x = 1, -1: (16, -16) of 32 */
        size_t tenth = i % 10;
        size_t colour = tenth < 1 ? 0 : tenth < 3 ? 1 : tenth < 6 ? 2 : 3;
        double age = 20 + (double)(i % 50);
        ages += age / N;
        fixture_record(age, pixels, colours[colour],
                       i / 10 % 4 == 0 ? "yes" : "no", values);
        assert_int_equal(sotto_simulate(mechanism, 11, i, values,
                                        FIXTURE_COLUMNS, report, size),
                         SOTTO_STATUS_OK);
        sotto_estimate_add(estimate, report);
    }
    for (size_t i = 0; i < sotto_estimate_rows(estimate); i++) {
        struct sotto_estimate_row row;
        double truth, error;
        sotto_estimate_row(estimate, i, 4.9, &row);
        if (i < 3) {
            truth = i == 0 ? ages : i == 1 ? 0.5 : -0.5;
        } else if (i < 7) {
            truth = share[i - 3];
        } else {
            size_t colour = (i - 7) / 3, label = (i - 7) % 3;
            truth = share[colour] * (label == 0   ? 0.75
                                     : label == 1 ? 0.25
                                                  : 0.0);
        }
        assert_near(row.value, truth, (row.high - row.low) / 2);
        error = (row.high - row.low) / 2 / 4.9;
        error -= i == 1 || i == 2 ? 1.0 / 32 / 4.9 : 0; /* the rounding */
        assert_true(row.noise_deviation < error * 1.1);
        if (truth == 0 || i == 1 || i == 2) { /* no spread but the noise's */
            assert_true(row.noise_deviation > error * 0.8); /* far end */
        }
    }
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/* ---- Coverage ----------------------------------------------------------- */

/*
 * Simulated reports under fixed seeds. Over SEEDS campaigns the 95% interval
 * must hold the truth in at least LEAST: if it held it with probability 0.95
 * just, fewer would with probability 0.08; at 0.98, below 10^-4.
 */
enum { SEEDS = 200, LEAST = 186 };

/* A number of [0, 1) for person i of a campaign. */
static double
uniform(uint64_t seed, uint64_t i)
{
    uint64_t x = (seed * 1000003 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

/* How many of the campaigns' intervals of row `at` hold `truth`. A share of
   `rare` of the people is red, the others are blue; ages are uniform. */
static int
covered(const struct compose_spec *spec, size_t n, double rare, size_t at,
        double truth)
{
    static const uint8_t pixels[2] = {0, 0};
    struct sotto_mechanism *mechanism = fixture_open(spec);
    int count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct sotto_estimate *estimate = estimate_new(mechanism);
        for (uint64_t i = 0; i < n; i++) {
            struct sotto_value values[FIXTURE_COLUMNS];
            uint8_t report[256];
            double u = uniform(seed, i);
            fixture_record(18 + 72 * u, pixels, u < rare ? "red" : "blue", "no",
                           values);
            assert_int_equal(sotto_simulate(mechanism, seed, i, values,
                                            FIXTURE_COLUMNS, report,
                                            mechanism->shape.report_size),
                             SOTTO_STATUS_OK);
            sotto_estimate_add(estimate, report);
        }
        struct sotto_estimate_row row = row_of(estimate, at);
        count += row.low <= truth && truth <= row.high;
        assert_true((row.high - row.low) / 2 >=
                    1.96 * row.noise_deviation * (1 - 1e-12));
        sotto_estimate_free(estimate);
    }
    sotto_mechanism_free(mechanism);
    return count;
}

/* A symbol that nobody has, and ones that few have: at epsilon 8 most
   campaigns never see their names. */
static void
test_coverage_rare(void **state)
{
    static const double shares[] = {0, 0.0005, 0.002, 0.01, 0.5};
    struct compose_part part = fixture_plain_part[2];
    struct compose_spec spec = fixture_plain;
    (void)state;
    part.channel = "flip";
    part.eps = spec.eps = 8 * DECIMAL_UNIT;
    spec.part = &part;
    spec.parts = 1;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        int count = covered(&spec, 569, shares[i], 2, shares[i]);
        if (count < LEAST) {
            fail_msg("share %g: %d of %d", shares[i], count, (int)SEEDS);
        }
    }
}

static void
test_coverage_mean(void **state)
{
    static const size_t sizes[] = {2, 3, 5, 10, 30, 400};
    struct compose_part part = fixture_plain_part[0];
    struct compose_spec spec = fixture_plain;
    (void)state;
    spec.part = &part;
    spec.parts = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int count = covered(&spec, sizes[i], 0, 0, 54);
        if (count < LEAST) {
            fail_msg("n %zu: %d of %d", sizes[i], count, (int)SEEDS);
        }
    }
}

/* ---- Limits and memory -------------------------------------------------- */

/* A small file that asks for a great many rows is refused. */
/*
 * Of two equal reports the interval is the noise's, and what rounding can do:
 * half a step on a line and in a cube, a step (and 2^-20 l) in a ball.
 */
static void
test_rounding(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_numbers);
    struct sotto_estimate *estimate = NULL;
    struct sotto_value values[6] = {{.kind = SOTTO_VALUE_MISSING}};
    uint8_t report[256];
    size_t size = mechanism->shape.report_size, row = 0;
    (void)state;
    assert_int_equal(sotto_simulate(mechanism, 1, 1, values, 6, report, size),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    sotto_estimate_add(estimate, report);
    sotto_estimate_add(estimate, report);
    for (size_t i = 0; i < 3; i++) {
        struct sotto_part_info part;
        sotto_mechanism_part(mechanism, i, &part);
        for (size_t j = 0; j < part.size; j++) {
            double rounding = i == 0 ? 1 + 64 * 0x1p-20 : 0.5;
            double steps = 3 * part.deviation / sqrt(2) + part.bias + rounding;
            double unit = i == 0 && j < 2 ? 6 : i == 0 ? 1 : 3;
            struct sotto_estimate_row found;
            sotto_estimate_row(estimate, row++, 3, &found);
            double half = unit * steps / (double)part.l;
            assert_true(fabs(found.high - found.value - half) < 1e-9 * half);
            assert_true(fabs(found.value - found.low - half) < 1e-9 * half);
        }
    }
    assert_int_equal(row, sotto_estimate_rows(estimate));
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

static void
test_too_many(void **state)
{
    static const struct schema_column column = {
        "b", SOTTO_COLUMN_BYTES, 65536, NULL, false, 0, 1};
    struct compose_part parts[65];
    struct compose_spec spec = fixture_plain;
    struct sotto_estimate *estimate = NULL;
    (void)state;
    for (size_t i = 0; i < 65; i++) {
        parts[i] = (struct compose_part){.covers = "features",
                                         .channel = "flip",
                                         .eps = DECIMAL_UNIT / 1000,
                                         .blocks = 1,
                                         .factor = {{false, 0, 65536}},
                                         .factors = 1};
    }
    spec.column = &column;
    spec.columns = 1;
    spec.part = parts;
    spec.parts = 65;
    struct sotto_mechanism *mechanism = fixture_open(&spec);
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(err.status, SOTTO_STATUS_LIMIT);
    fixture_in(err.message, "would give 4259840 estimates");
    assert_null(estimate);
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_estimate *estimate = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        sotto_estimate_free(estimate);
        estimate = NULL;
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(++n);
        status = sotto_estimate_new(mechanism, &estimate, &err);
        assert_int_equal(status == SOTTO_STATUS_OK, estimate != NULL);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_string_equal(err.message, "out of memory");
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 30);
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_pairs_are_widened_by_their_bias),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_truth),
        cmocka_unit_test(test_coverage_rare),
        cmocka_unit_test(test_coverage_mean),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
