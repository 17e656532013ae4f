/*
 * test_bench_step.c: the benchmarks of training, at a small size: each method's
 * step is right, both sides come to the same loss, and the rows are filled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "bench/bench_step.h"

static struct sotto_error err;
static size_t rows;
static const struct bench_step *method;
static const struct bench_step_size *asked;

static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* A row of what comes before a step. */
static void
check_before(const struct sotto_bench_row *row)
{
    assert_string_equal(row->name, "train-clm views");
    assert_string_equal(row->setting, "32 of 28x28, 2 threads");
    assert_int_equal(row->batch, 0);
    assert_true(row->ratio > 0);
}

/* `context`: what must be missing, or NULL. */
static void
check(void *context, const struct sotto_bench_row *row)
{
    const char *missing = context;
    size_t number = rows++;
    assert_true(row->microseconds > 0 && row->rate > 0);
    if (method->prepare != NULL && number == 1) {
        check_before(row);
        return;
    }
    assert_string_equal(row->name, method->name);
    assert_non_null(strstr(row->setting, ", 2 threads"));
    assert_int_equal(row->batch, asked->batch[number]);
    assert_true(row->ours > 0 && row->limit > 0 && row->memory_ours > 1e6);
    assert_true(row->ratio_limit == row->limit / row->ours);
    if (missing != NULL) {
        assert_string_equal(row->missing, missing);
        assert_true(row->peer == 0 && row->ratio_peer == 0);
        return;
    }
    if (row->missing != NULL) { /* nor can this machine have it */
        assert_string_equal(row->missing, peer_missing(PEER_PYTHON, "torch"));
        return;
    }
    assert_true(row->peer > 0 && row->memory_peer > 1e7);
    assert_true(row->ratio_peer == row->peer / row->ours);
}

static void
run(const struct bench_step *step, const struct bench_step_size *size,
    char *missing)
{
    rows = 0;
    method = step;
    asked = size;
    must(bench_step_run(step, size, check, missing, &err));
    assert_int_equal(rows, 2);
}

static void
test_peer(void **state)
{
    const struct bench_step_size vlm = {{64, 1024}, 1, 64, 1, PEER_PYTHON};
    const struct bench_step_size clm = {{16, 0}, 1, 16, 1, PEER_PYTHON};
    (void)state;
    run(&bench_step_vlm, &vlm, NULL);
    run(&bench_step_clm, &clm, NULL);
}

static void
test_no_peer(void **state)
{
    static const char nowhere[] = "/nowhere/python3";
    const struct bench_step_size vlm = {{64, 1024}, 2, 64, 1, nowhere};
    const struct bench_step_size clm = {{16, 0}, 2, 16, 1, nowhere};
    char missing[] = "python3";
    (void)state;
    run(&bench_step_vlm, &vlm, missing);
    run(&bench_step_clm, &clm, missing);
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
    static const struct bench_step *const steps[] = {&bench_step_vlm,
                                                     &bench_step_clm};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bench_step_job job = {.step = steps[i]};
        struct tensor_ops broken;
        const struct tensor_ops *right;
        double first, last = 0;
        must(bench_step_open(&job, BENCH_STEP_TRIED, &err));
        must(bench_step_check(&job, &err));
        right = job.backend->ops;
        broken = *right;
        broken.bernoulli = broken.gaussian;
        broken.pool_back = no_pool_back;
        job.backend->ops = &broken;
        assert_int_equal(bench_step_check(&job, &err), SOTTO_STATUS_CHECK);
        assert_non_null(strstr(err.message, "a training step is wrong"));
        job.backend->ops = right;
        first = bench_step_try(&job);
        for (size_t j = 0; j < 20; j++) {
            last = bench_step_try(&job);
        }
        assert_true(last < first);
        bench_step_close(&job);
    }
}

/* A peer that comes to something else. */
static void
test_disagreement(void **state)
{
    struct bench_step_job job = {.step = &bench_step_vlm};
    struct peers peer;
    double loss;
    (void)state;
    if (peer_missing(PEER_PYTHON, "torch") != NULL) {
        skip();
    }
    must(bench_step_open(&job, 64, &err));
    must(bench_step_peer(&job, 1, &peer, &err));
    loss = bench_step_try(&job);
    must(peers_check(&peer, loss, &err));
    assert_int_equal(peers_check(&peer, 1.01 * loss, &err), SOTTO_STATUS_CHECK);
    assert_non_null(strstr(err.message, "the peer comes to a loss of"));
    peers_stop(&peer);
    bench_step_close(&job);
}

/* What is run in place of a step runs, in every split; none is freed. */
static void
test_limit(void **state)
{
    static const struct bench_step *const steps[] = {&bench_step_vlm,
                                                     &bench_step_clm};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct bench_step_job job = {.step = steps[i]};
        const struct bench_step_limit *limit = steps[i]->limit;
        void *made = NULL;
        must(bench_step_open(&job, 2, &err));
        must(limit->make(steps[i]->net(job.own).encoder, 2, &made, &err));
        for (size_t split = 0; split < limit->splits; split++) {
            must(limit->run(made, job.pool, split, &err));
        }
        limit->free(made);
        limit->free(NULL);
        bench_step_close(&job);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_step),  cmocka_unit_test(test_no_peer),
        cmocka_unit_test(test_peer),  cmocka_unit_test(test_disagreement),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
