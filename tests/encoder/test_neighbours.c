/*
 * test_neighbours.c: the nearest rows, against a plain loop.
 */
#include "encoder/neighbours.h"

#include "cluster_fixture.h"
#include "fail_alloc.h"

enum { N = 5000, D = 5, K = 7 };

static double
distance(const float *x, size_t i, size_t j)
{
    double sum = 0;
    for (size_t c = 0; c < D; c++) {
        double gap = (double)x[i * D + c] - (double)x[j * D + c];
        sum += gap * gap;
    }
    return sum;
}

static uint32_t *
find(unsigned threads, const float *x, size_t n)
{
    struct host_pool *pool = pool_of(threads);
    struct tensor_backend *backend = backend_over(pool);
    uint32_t *near = calloc(n, K * sizeof *near);
    assert_non_null(near);
    must(neighbours_find(pool, backend, x, n, D, K, NULL, near, &err));
    tensor_backend_free(backend);
    host_pool_free(pool);
    return near;
}

/* Nobody else is nearer than the farthest of the k, but for rounding; blocks
   of rows and of columns are more than one. */
static void
test_nearest(void **state)
{
    float *x = points(N, D, 3, 4);
    uint32_t *near = find(1, x, N), *two = find(2, x, N);
    (void)state;
    assert_memory_equal(near, two, (size_t)N * K * sizeof *near);
    for (size_t i = 0; i < N; i += 97) {
        double farthest = 0;
        size_t nearer = 0;
        for (size_t k = 0; k < K; k++) {
            uint32_t j = near[i * K + k];
            assert_true(j < N && j != i);
            assert_true(k == 0 || j > near[i * K + k - 1]);
            farthest = fmax(farthest, distance(x, i, j));
        }
        for (size_t j = 0; j < N; j++) {
            nearer += j != i && distance(x, i, j) < farthest - 1e-3;
        }
        assert_true(nearer < K);
    }
    free(near);
    free(two);
    free(x);
}

/* Of rows that are equally far, the first. */
static void
test_equal(void **state)
{
    float x[20 * D] = {0};
    uint32_t *near = find(1, x, 20);
    (void)state;
    for (uint32_t k = 0; k < K; k++) {
        assert_int_equal(near[k], k + 1);
        assert_int_equal(near[10 * K + k], k);
    }
    free(near);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    assert_string_equal(what, "neighbours");
    return done == 0 && total > 0;
}

static void
test_refused(void **state)
{
    struct tensor_backend *backend = backend_over(NULL);
    struct sotto_watch watch = {.tick = stop};
    float *x = points(N, D, 3, 4);
    uint32_t *near = calloc(N, K * sizeof *near);
    (void)state;
    assert_non_null(near);
    must_fail(SOTTO_STATUS_USAGE, "neighbours",
              neighbours_find(NULL, backend, x, K, D, K, NULL, near, &err));
    must_fail(SOTTO_STATUS_USAGE, "neighbours",
              neighbours_find(NULL, backend, x, N, D, 0, NULL, near, &err));
    must_fail(SOTTO_STATUS_STOPPED, "stopped",
              neighbours_find(NULL, backend, x, N, D, K, &watch, near, &err));
    for (size_t i = 0; i < (size_t)N * D; i++) {
        x[i] = 1e25F;
    }
    must_fail(SOTTO_STATUS_INPUT, "too large",
              neighbours_find(NULL, backend, x, 50, D, K, NULL, near, &err));
    free(near);
    free(x);
    tensor_backend_free(backend);
}

static void
test_memory(void **state)
{
    struct tensor_backend *backend = backend_over(NULL);
    float *x = points(50, D, 3, 4);
    uint32_t near[50 * K];
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = neighbours_find(NULL, backend, x, 50, D, K, NULL, near, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 3);
    free(x);
    tensor_backend_free(backend);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
