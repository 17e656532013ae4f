/*
 * test_bench_reading.c: rows of every table, of answers that were checked; and
 * memory that does not grow.
 */
#include "bench/bench_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static int rows;
static double memory[8];

static void
take(void *context, const struct sotto_bench_row *row)
{
    assert_ptr_equal(context, &rows);
    assert_true(row->rate > 0 && row->microseconds > 0);
    memory[rows % 8] = row->memory_ours;
    rows++;
}

/* Ours alone: one row a table and number of threads. */
static void
test_alone(void **state)
{
    const struct bench_reading_size size = {100000, 1, false};
    struct sotto_error err;
    (void)state;
    rows = 0;
    assert_int_equal(bench_reading_run(&size, take, &rows, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(rows, 6);
}

/* Python is there, pandas perhaps: both come to our sums. */
static void
test_peers(void **state)
{
    const struct bench_reading_size size = {100000, 1, true};
    struct sotto_error err;
    (void)state;
    rows = 0;
    assert_int_equal(bench_reading_run(&size, take, &rows, &err),
                     SOTTO_STATUS_OK);
    assert_true(rows == 12 || rows == 21);
}

/* A sanitizer keeps what is freed, so its process grows whatever is read. */
static void
test_memory(void **state)
{
    struct sotto_error err;
    const char *sanitize = getenv("SOTTO_SANITIZE");
    (void)state;
    rows = 0;
    assert_int_equal(
        bench_reading_memory(40000000, 10000000, take, &rows, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(rows, 4);
    if (sanitize == NULL || *sanitize == '\0') {
        assert_true(memory[rows - 1] < memory[0] + 2e6);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
