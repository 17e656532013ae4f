/*
 * test_train_vlm.c: the benchmark of training, at a small size: the step is
 * right, both come to the same loss, and the rows are filled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench/peer.h"
#include "bench/train_vlm.h"
#include "bench/vlm_peer.h"
#include "bench/vlm_step.h"
#include "host/pool.h"

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
    assert_string_equal(row->name, "train-vlm");
    assert_int_equal(row->batch, rows == 0 ? 64 : 1024);
    rows++;
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
    const struct train_vlm_size size = {1, 64, 1, PEER_PYTHON};
    (void)state;
    rows = 0;
    must(train_vlm_run(&size, check, NULL, &err));
    assert_int_equal(rows, 2);
}

static void
test_no_peer(void **state)
{
    const struct train_vlm_size size = {2, 64, 1, "/nowhere/python3"};
    char missing[] = "python3";
    (void)state;
    rows = 0;
    must(train_vlm_run(&size, check, missing, &err));
    assert_int_equal(rows, 2);
}

/* A step teaches; and a wrong one would be seen. */
static void
test_step(void **state)
{
    struct host_pool *pool = NULL;
    struct tensor_backend *backend = NULL;
    struct tensor_ops broken;
    const struct tensor_ops *right;
    struct vlm_step step;
    double before, after;
    (void)state;
    must(host_pool_new(2, &pool, &err));
    must(tensor_new("cpu", pool, &backend, &err));
    must(vlm_step_init(&step, backend, 64, &err));
    must(vlm_step_check(&step, &err));
    before = vlm_step_try(&step);
    for (size_t i = 0; i < 5; i++) {
        vlm_step_run(&step, 64);
    }
    after = vlm_step_try(&step);
    assert_true(after < before);
    right = backend->ops;
    broken = *right;
    broken.bernoulli = broken.gaussian;
    backend->ops = &broken;
    assert_int_equal(vlm_step_check(&step, &err), SOTTO_STATUS_CHECK);
    assert_non_null(strstr(err.message, "a training step is wrong"));
    backend->ops = right;
    vlm_step_clear(&step);
    tensor_backend_free(backend);
    host_pool_free(pool);
}

/* A peer that comes to something else. */
static void
test_disagreement(void **state)
{
    struct host_pool *pool = NULL;
    struct tensor_backend *backend = NULL;
    struct vlm_step step;
    struct peers peer;
    double loss;
    (void)state;
    if (peer_missing(PEER_PYTHON) != NULL) {
        skip();
    }
    must(host_pool_new(2, &pool, &err));
    must(tensor_new("cpu", pool, &backend, &err));
    must(vlm_step_init(&step, backend, 64, &err));
    must(vlm_peer_start(&peer, &step, 1, &err));
    loss = vlm_step_try(&step);
    must(peers_check(&peer, loss, &err));
    assert_int_equal(peers_check(&peer, 1.01 * loss, &err), SOTTO_STATUS_CHECK);
    assert_non_null(strstr(err.message, "the peer comes to a loss of"));
    peers_stop(&peer);
    vlm_step_clear(&step);
    tensor_backend_free(backend);
    host_pool_free(pool);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_no_peer),
        cmocka_unit_test(test_peer),
        cmocka_unit_test(test_disagreement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
