/*
 * test_bench_fit.c: the benchmark of fitting, at a small size: both come to
 * the same likelihood, and the row is filled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench_fit.h"

static size_t rows;

static void
check(void *context, const struct sotto_bench_row *row)
{
    (void)context;
    rows++;
    assert_string_equal(row->name, "fit");
    assert_int_equal(row->batch, 100);
    assert_true(row->ours > 0 && row->limit > 0 && row->memory_ours > 0);
    assert_true(row->ratio_limit == row->limit / row->ours);
    if (row->missing == NULL) {
        assert_true(row->peer > 0 && row->memory_peer > 0);
        assert_true(row->ratio_peer == row->peer / row->ours);
    }
}

static void
test_small(void **state)
{
    const struct bench_fit_size size = {400, 300, 30, 4};
    struct sotto_error err = {0};
    (void)state;
    if (bench_fit_run(&size, check, NULL, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(rows, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
