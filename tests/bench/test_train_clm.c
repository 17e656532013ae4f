/*
 * test_train_clm.c: the benchmark of contrastive training, at a small size: the
 * step is right, both come to the same loss, and the rows are filled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench/clm_limit.h"
#include "bench/clm_peer.h"
#include "bench/clm_step.h"
#include "bench/peer.h"
#include "bench/train_clm.h"

static struct sotto_error err;
static size_t rows;

static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* `context`: what must be missing, or NULL. */
static void
check(void *context, const struct sotto_bench_row *row)
{
    const char *missing = context;
    rows++;
    assert_true(row->microseconds > 0 && row->rate > 0);
    if (rows == 2) {
        assert_string_equal(row->name, "train-clm views");
        assert_int_equal(row->batch, 0);
        assert_true(row->ratio > 0);
        return;
    }
    assert_string_equal(row->name, "train-clm");
    assert_int_equal(row->batch, 16);
    assert_true(row->ours > 0 && row->limit > 0 && row->memory_ours > 1e6);
    assert_true(row->ratio_limit == row->limit / row->ours);
    if (missing != NULL) {
        assert_string_equal(row->missing, missing);
        assert_true(row->peer == 0 && row->ratio_peer == 0);
        return;
    }
    if (row->missing != NULL) { /* nor can this machine have it */
        assert_string_equal(row->missing, peer_missing(PEER_PYTHON));
        return;
    }
    assert_true(row->peer > 0 && row->memory_peer > 1e7);
    assert_true(row->ratio_peer == row->peer / row->ours);
}

static void
test_peer(void **state)
{
    const struct train_clm_size size = {16, 1, 1, 1, PEER_PYTHON};
    (void)state;
    rows = 0;
    must(train_clm_run(&size, check, NULL, &err));
    assert_int_equal(rows, 2);
}

static void
test_no_peer(void **state)
{
    const struct train_clm_size size = {16, 2, 1, 1, "/nowhere/python3"};
    char missing[] = "python3";
    (void)state;
    rows = 0;
    must(train_clm_run(&size, check, missing, &err));
    assert_int_equal(rows, 2);
}

static void
no_pool_back(struct tensor_backend *self, size_t n,
             const struct tensor_window *window, enum tensor_pool of,
             const float *x, const float *y, const float *dy, float *dx)
{
    (void)self, (void)of, (void)x, (void)y, (void)dy;
    memset(dx, 0,
           n * window->height * window->width * window->channels * sizeof *dx);
}

/* A step teaches; and a wrong one would be seen. */
static void
test_step(void **state)
{
    struct tensor_backend *backend = NULL;
    struct tensor_ops broken;
    const struct tensor_ops *right;
    struct clm_step step;
    double after;
    (void)state;
    must(tensor_new("cpu", NULL, &backend, &err));
    must(clm_step_init(&step, NULL, backend, CLM_TRIED, &err));
    must(clm_step_check(&step, &err));
    right = backend->ops;
    broken = *right;
    broken.pool_back = no_pool_back;
    backend->ops = &broken;
    assert_int_equal(clm_step_check(&step, &err), SOTTO_STATUS_CHECK);
    backend->ops = right;
    after = clm_step_try(&step);
    for (size_t i = 0; i < 20; i++) {
        double next = clm_step_try(&step);
        assert_true(i < 19 || next < after);
    }
    clm_step_clear(&step);
    tensor_backend_free(backend);
}

/* Three layers, the first of them not back to the images. */
static void
test_limit(void **state)
{
    struct tensor_backend *backend = NULL;
    struct clm_limit *limit = NULL;
    struct clm_step step;
    (void)state;
    must(tensor_new("cpu", NULL, &backend, &err));
    must(clm_step_init(&step, NULL, backend, 2, &err));
    must(clm_limit_new(&step.net.encoder, 4, 1, &limit, &err));
    must(clm_limit_run(limit, &err));
    clm_limit_free(limit);
    clm_limit_free(NULL);
    clm_step_clear(&step);
    tensor_backend_free(backend);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peer),
        cmocka_unit_test(test_no_peer),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
