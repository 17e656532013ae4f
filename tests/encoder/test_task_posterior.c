/*
 * test_task_posterior.c: the mean of those who may have sent a report, and what
 * it loses, against sums over all rows and reports.
 */
#include "base/decimal.h"
#include "encoder/task_posterior.h"
#include "fail_alloc.h"
#include "learnt_fixture.h"

enum { ROWS = 60, K = 5, D = 2 };

static float y[ROWS * D];
static int32_t code[ROWS];
static size_t some[ROWS];

/* Rows of which every third is left out; nobody has the last code. */
static struct task_rows
fill_rows(void)
{
    struct task_rows rows = {.row = some};
    struct seeded seeded;
    seeded_init(&seeded, 4, 0);
    for (size_t i = 0; i < ROWS; i++) {
        code[i] = (int32_t)((K - 1) * uniform(&seeded));
        for (size_t j = 0; j < D; j++) {
            y[i * D + j] = (float)((double)code[i] + uniform(&seeded));
        }
        if (i % 3 != 0) {
            some[rows.count++] = i;
        }
    }
    return rows;
}

static double
chance(const struct task_response *response, size_t r, size_t row)
{
    return response->other + (r == (size_t)code[row] ? response->gap : 0);
}

static void
check_eps(uint64_t eps)
{
    struct task_rows rows = fill_rows();
    struct task_response response;
    double share[K], answer[K * D], loss = 0, found;
    must(task_response_find(&response, K, eps, &err));
    assert_true(fabs(response.gap + K * response.other - 1) < 1e-12);
    assert_true(log((response.gap + response.other) / response.other) <=
                (double)eps / (double)DECIMAL_UNIT + 1e-9);
    task_posterior_fit(&response, K, &rows, code, y, D, share, answer);
    for (size_t r = 0; r < K; r++) {
        double mass = 0, mean[D] = {0};
        for (size_t i = 0; i < rows.count; i++) {
            double weight = chance(&response, r, some[i]);
            mass += weight;
            for (size_t j = 0; j < D; j++) {
                mean[j] += weight * (double)y[some[i] * D + j];
            }
        }
        for (size_t j = 0; j < D; j++) {
            assert_true(fabs(mean[j] / mass - answer[r * D + j]) < 1e-12);
        }
        for (size_t i = 0; i < rows.count; i++) {
            for (size_t j = 0; j < D; j++) {
                loss += chance(&response, r, some[i]) *
                        pow((double)y[some[i] * D + j] - answer[r * D + j], 2);
            }
        }
    }
    found = task_posterior_loss(&response, K, &rows, code, y, D, answer);
    assert_true(fabs(found / loss - 1) < 1e-12);
}

static void
test_sums(void **state)
{
    (void)state;
    check_eps(DECIMAL_UNIT / 1000);
    check_eps(DECIMAL_UNIT);
    check_eps(8 * DECIMAL_UNIT);
    check_eps(32 * DECIMAL_UNIT);
}

static void
test_refused(void **state)
{
    struct task_response response;
    (void)state;
    must_fail(SOTTO_STATUS_BUDGET, "no such budget",
              task_response_find(&response, K, 33 * DECIMAL_UNIT, &err));
    fail_alloc_at(1);
    assert_int_equal(task_response_find(&response, K, DECIMAL_UNIT, &err),
                     SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
