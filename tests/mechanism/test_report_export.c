/*
 * test_report_export.c: the memory that a Parquet file of several thousand
 * columns takes while it is written: it does not grow with columns and rows.
 */
#include "mechanism/mechanism_fixture.h"

#include <stdio.h>
#include <sys/resource.h>

#include "table/parquet.h"

#define NUMBERS 2000u
#define SYMBOLS 1900u
#define COLUMNS (NUMBERS + SYMBOLS)
#define BLOCK 1024u /* reports */
#define BLOCKS 8u

static struct sotto_error err;

/* ---- A wide mechanism ---------------------------------------------------- */

static char name[COLUMNS][8];
static struct schema_column column[COLUMNS];
static struct compose_part part[SYMBOLS + 1];

static struct sotto_mechanism *
open_wide(void)
{
    struct compose_spec spec = fixture_plain;
    const struct compose_part numbers = NUMBER_PART(
        "features", "laplace", DECIMAL_UNIT, 1, 0, NUMBERS, 65536, 0);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        (void)snprintf(name[i], sizeof name[i], "c%u", i);
        column[i] = fixture_column[i < NUMBERS ? 0 : 2];
        column[i].name = name[i];
    }
    part[0] = numbers;
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        const struct compose_part symbol = SYMBOL_PART(
            "features", "flip", DECIMAL_UNIT / 1000, 1, {true, NUMBERS + i, 0});
        part[i + 1] = symbol;
    }
    spec.column = column;
    spec.columns = COLUMNS;
    spec.part = part;
    spec.parts = SYMBOLS + 1;
    spec.eps = DECIMAL_UNIT + SYMBOLS * (DECIMAL_UNIT / 1000);
    return fixture_open(&spec);
}

static uint8_t *
make_block(struct sotto_mechanism *mechanism)
{
    static struct sotto_value value[COLUMNS];
    size_t size = mechanism->shape.report_size;
    uint8_t *reports = malloc(BLOCK * size);
    assert_non_null(reports);
    for (size_t i = 0; i < COLUMNS; i++) {
        value[i] = i < NUMBERS
                       ? (struct sotto_value){.kind = SOTTO_VALUE_NUMBER,
                                              .number = (double)(20 + i % 60)}
                       : (struct sotto_value){.kind = SOTTO_VALUE_TEXT,
                                              .data = "red",
                                              .size = 3};
    }
    for (uint64_t i = 0; i < BLOCK; i++) {
        assert_int_equal(sotto_simulate(mechanism, 7, i, value, COLUMNS,
                                        reports + i * size, size),
                         SOTTO_STATUS_OK);
    }
    return reports;
}

/* ---- Memory -------------------------------------------------------------- */

/* Bytes that the program has had at most. */
static size_t
peak(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (size_t)usage.ru_maxrss * 1024;
}

static void
write_wide(const struct sotto_mechanism *mechanism, const uint8_t *reports,
           enum sotto_report_form form)
{
    const struct sotto_report_seen seen = {.reports = BLOCK * BLOCKS};
    const struct sotto_report_block block = {reports, BLOCK, 1};
    struct sotto_report_export *to = NULL;
    assert_int_equal(
        sotto_report_export_new(mechanism, "/dev/null", form, &to, &err),
        SOTTO_STATUS_OK);
    for (size_t i = 0; i < BLOCKS; i++) {
        assert_int_equal(sotto_report_export_add(to, &block, &err),
                         SOTTO_STATUS_OK);
    }
    assert_int_equal(sotto_report_export_commit(to, &seen, &err),
                     SOTTO_STATUS_OK);
}

/* What parquet.h says, and the report's values once; the values alone would
   take half as much again as that. */
static void
test_bound(void **state)
{
    const size_t values = BLOCK * BLOCKS * (NUMBERS * 8 + SYMBOLS * 4);
    const size_t bound = PARQUET_MEMORY + COLUMNS * 1024 + COLUMNS * 8;
    struct sotto_mechanism *mechanism = open_wide();
    uint8_t *reports = make_block(mechanism);
    size_t before = peak();
    (void)state;
    assert_true(values > 3 * bound / 2);
    write_wide(mechanism, reports, SOTTO_FORM_PARQUET);
    size_t grown = peak() - before;
    print_message("%zu columns: %zu bytes of values, %zu of memory\n",
                  (size_t)COLUMNS, values, grown);
#ifndef __SANITIZE_ADDRESS__ /* it keeps what was freed */
    assert_true(grown < bound);
#endif
    free(reports);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
