/*
 * test_distribution.c: quantiles and bins against the truth.
 */
#include "mechanism_fixture.h"

#include <math.h>

#include "fail_alloc.h"

static struct sotto_error err;

/* One number from 0 to 10 in 100 steps to either side of 5, and another that
   goes into a ball with nothing else. */
static struct sotto_mechanism *
open_number(const char *channel, bool missing, uint32_t l, uint64_t eps)
{
    const struct schema_column columns[] = {{.name = "n",
                                             .kind = SOTTO_COLUMN_NUMBER,
                                             .count = 1,
                                             .shift = 5,
                                             .scale = 0.2,
                                             .missing = missing}};
    const struct compose_part parts[] = {{.covers = "features",
                                          .channel = channel,
                                          .eps = eps,
                                          .blocks = 1,
                                          .from = 0,
                                          .d = missing ? 2 : 1,
                                          .l = l}};
    struct compose_spec spec = fixture_plain;
    spec.eps = eps;
    spec.column = columns;
    spec.columns = 1;
    spec.part = parts;
    spec.parts = 1;
    return fixture_open(&spec);
}

static struct sotto_distribution *
collect(struct sotto_mechanism *mechanism, size_t bins, uint64_t people)
{
    struct sotto_distribution *distribution = NULL;
    size_t size = mechanism->shape.report_size;
    uint8_t report[128];
    assert_int_equal(
        sotto_distribution_new(mechanism, 0, bins, &distribution, &err),
        SOTTO_STATUS_OK);
    memset(report, 'x', sizeof report);
    sotto_distribution_add(distribution, report); /* none: passed over */
    for (uint64_t i = 0; i < people; i++) {
        /* 2 with 40%, 4 with 30%, 9 with 30%; every other one missing where
           that is told */
        double value = i / 2 % 10 < 4 ? 2 : i / 2 % 10 < 7 ? 4 : 9;
        struct sotto_value record = {.kind = SOTTO_VALUE_NUMBER,
                                     .number = value};
        if (mechanism->shape.schema.column[0].missing && i % 2 == 0) {
            record.kind = SOTTO_VALUE_MISSING;
        }
        assert_int_equal(
            sotto_simulate(mechanism, 17, i, &record, 1, report, size),
            SOTTO_STATUS_OK);
        sotto_distribution_add(distribution, report);
    }
    return distribution;
}

static void
check(struct sotto_mechanism *mechanism)
{
    static const struct {
        double level, truth;
    } quantiles[] = {{0.2, 2}, {0.55, 4}, {0.85, 9}};
    static const double shares[] = {0.4, 0.3, 0, 0.3}; /* of 2.5 each */
    struct sotto_distribution *distribution = collect(mechanism, 4, 4000);
    struct sotto_distribution_row row;
    for (size_t i = 0; i < 3; i++) {
        sotto_distribution_quantile(distribution, quantiles[i].level, 1.96,
                                    &row);
        assert_true(row.low <= quantiles[i].truth &&
                    quantiles[i].truth <= row.high);
        assert_true(row.low <= row.value && row.value <= row.high);
        assert_true(row.low >= 0 && row.high <= 10);
        assert_true(row.high - row.low < 6);
    }
    for (size_t i = 0; i < 4; i++) {
        sotto_distribution_bin(distribution, i, 1.96, &row);
        assert_true(fabs(row.from - 2.5 * (double)i) < 1e-9);
        assert_true(fabs(row.to - 2.5 * (double)(i + 1)) < 1e-9);
        assert_true(row.low <= shares[i] && shares[i] <= row.high);
        assert_true(row.low <= row.value && row.value <= row.high);
        assert_true(row.high - row.low < 0.8);
    }
    sotto_distribution_free(distribution);
    sotto_mechanism_free(mechanism);
}

static void
test_truth(void **state)
{
    (void)state;
    check(open_number("laplace", false, 100, 8 * DECIMAL_UNIT));
    check(open_number("laplace", true, 100, 8 * DECIMAL_UNIT));
}

/* No report at all: nothing is ruled out. */
static void
test_nothing(void **state)
{
    struct sotto_mechanism *mechanism =
        open_number("laplace", true, 100, DECIMAL_UNIT);
    struct sotto_distribution *distribution = collect(mechanism, 2, 0);
    struct sotto_distribution_row row;
    (void)state;
    sotto_distribution_quantile(distribution, 0.5, 1.96, &row);
    assert_true(row.low == 0 && row.high == 10);
    sotto_distribution_bin(distribution, 0, 1.96, &row);
    assert_true(row.low == 0 && row.high == 1);
    sotto_distribution_free(distribution);
    sotto_distribution_free(NULL);
    sotto_mechanism_free(mechanism);
}

static void
test_refused(void **state)
{
    struct sotto_mechanism *mechanism =
        open_number("window", false, 100, DECIMAL_UNIT);
    struct sotto_distribution *distribution = NULL;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(
        sotto_distribution_new(mechanism, 0, 4, &distribution, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "column \"n\" is no number that goes"));
    sotto_mechanism_free(mechanism);
    mechanism = open_number("laplace", false, 3, DECIMAL_UNIT);
    assert_int_equal(
        sotto_distribution_new(mechanism, 0, 4, &distribution, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "too few steps for so many bins"));
    assert_null(distribution);
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism =
        open_number("laplace", true, 4, 4 * DECIMAL_UNIT);
    struct sotto_distribution *distribution = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = sotto_distribution_new(mechanism, 0, 4, &distribution, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_null(distribution);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    sotto_distribution_free(distribution);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
