/*
 * test_bench_task.c: the benchmark of a linear task's closed form, at a small
 * size: both come to the same loss, and the rows are filled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench/bench_task.h"

static size_t rows, searches;

static void
check(void *context, const struct sotto_bench_row *row)
{
    (void)context;
    if (strcmp(row->name, "task-linear search") == 0) {
        searches++;
        assert_true(row->rate > 0 && row->batch == 0);
        return;
    }
    rows++;
    assert_string_equal(row->name, "task-linear");
    assert_string_equal(row->setting, "300 x 20, 7 outputs");
    assert_int_equal(row->batch, 300);
    assert_true(row->ours > 0 && row->limit > 0 && row->memory_ours > 0);
    if (row->missing == NULL) {
        assert_true(row->peer > 0 && row->memory_peer > 0);
        assert_true(row->ratio_peer == row->peer / row->ours);
    }
}

static void
test_small(void **state)
{
    const struct bench_task_size size = {300, 20, 7};
    struct sotto_error err = {0};
    (void)state;
    if (bench_task_run(&size, check, NULL, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(rows, 2);
    assert_int_equal(searches, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
