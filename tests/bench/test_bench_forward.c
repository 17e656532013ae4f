/*
 * test_bench_forward.c: one row, of an answer that was checked.
 */
#include "bench/bench_forward.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fail_alloc.h"

static int rows;

static void
take(void *context, const struct sotto_bench_row *row)
{
    assert_ptr_equal(context, &rows);
    assert_string_equal(row->name, "forward");
    assert_true(row->rate > 0 && row->ratio > 0);
    assert_true(row->rate * row->microseconds > 0.99e6 &&
                row->rate * row->microseconds < 1.01e6);
    rows++;
}

static void
test_row(void **state)
{
    struct sotto_error err;
    (void)state;
    rows = 0;
    assert_int_equal(bench_forward_run(0.01, take, &rows, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(rows, 1);
}

static void
test_memory(void **state)
{
    struct sotto_error err;
    enum sotto_status status;
    long n = 0;
    (void)state;
    rows = 0;
    do {
        fail_alloc_at(++n);
        status = bench_forward_run(0, take, &rows, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(rows, 0);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_int_equal(rows, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
