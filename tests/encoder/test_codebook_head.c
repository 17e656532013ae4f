/*
 * test_codebook_head.c: one layer says what the tree says.
 */
#include <math.h>

#include "encoder/codebook_head.h"
#include "host/pool.h"

#include "cluster_fixture.h"
#include "fail_alloc.h"
#include "head_codes.h"

enum { N = 1200, D = 4, GROUPS = 6 };

static float *z;
static struct clustering clustering;
static struct tensor_backend *backend;

static int
setup_cells(void **state)
{
    (void)state;
    z = points(N, D, GROUPS, 1);
    backend = backend_over(NULL);
    must(clustering_init(&clustering, NULL, backend, z, N, D, 40, 1, NULL,
                         &err));
    return 0;
}

static int
teardown_cells(void **state)
{
    (void)state;
    clustering_clear(&clustering);
    tensor_backend_free(backend);
    free(z);
    return 0;
}

/* Groups far apart: every code is the tree's part, and so the group. */
static void
test_separable(void **state)
{
    struct codebook_head head;
    uint32_t code[N], cell[N], part[40];
    (void)state;
    must(codebook_head_init(&head, &clustering, GROUPS, NULL, backend, z, z, N,
                            D, true, 1, NULL, &err));
    assert_int_equal(head.k, GROUPS);
    assert_int_equal(head.d, D);
    must(head_codes(&head, backend, z, N, code, &err));
    must(clustering_cut(&clustering, GROUPS, part, &err));
    must(clustering_assign(&clustering, NULL, backend, z, N, cell, &err));
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(code[i], part[cell[i]]);
        assert_int_equal(code[i], code[i % GROUPS]);
    }
    codebook_head_clear(&head);
    assert_null(head.weight);
}

/* z far from 0 and of any size: the layer is for z as it is. */
static void
test_scale(void **state)
{
    static const float scale[] = {1e-4F, 1e4F};
    float *other = malloc(N * D * sizeof *other);
    uint32_t code[N], truth[N];
    (void)state;
    assert_non_null(other);
    for (size_t s = 0; s < 2; s++) {
        struct clustering cells;
        struct codebook_head head;
        for (size_t i = 0; i < N * D; i++) {
            other[i] = scale[s] * z[i];
            truth[i / D] = (uint32_t)(i / D % GROUPS);
        }
        must(clustering_init(&cells, NULL, backend, other, N, D, 40, 1, NULL,
                             &err));
        must(codebook_head_init(&head, &cells, GROUPS, NULL, backend, other,
                                other, N, D, true, 1, NULL, &err));
        must(head_codes(&head, backend, other, N, code, &err));
        assert_true(same_parts(code, truth, N));
        codebook_head_clear(&head);
        clustering_clear(&cells);
    }
    free(other);
}

/* Without a bias every multiple of z has its code, and groups in other
   directions are found all the same. */
static void
test_no_bias(void **state)
{
    float *unit = malloc(N * D * sizeof *unit);
    float *far = malloc(N * D * sizeof *far);
    uint32_t truth[N], code[N], again[N];
    double mean[D] = {0};
    struct clustering cells;
    struct codebook_head head;
    (void)state;
    assert_true(unit != NULL && far != NULL);
    for (size_t i = 0; i < N * D; i++) {
        mean[i % D] += (double)z[i] / N;
    }
    for (size_t i = 0; i < N * D; i++) {
        double square = 0;
        for (size_t j = 0; j < D; j++) {
            double from = (double)z[i / D * D + j] - mean[j];
            square += from * from;
        }
        unit[i] = (float)(((double)z[i] - mean[i % D]) / sqrt(square));
        far[i] = unit[i] * (float)(1 + i / D % 7);
        truth[i / D] = (uint32_t)(i / D % GROUPS);
    }
    must(clustering_init(&cells, NULL, backend, unit, N, D, 40, 1, NULL, &err));
    must(codebook_head_init(&head, &cells, GROUPS, NULL, backend, unit, unit, N,
                            D, false, 1, NULL, &err));
    for (size_t c = 0; c < GROUPS; c++) {
        assert_true(head.bias[c] == 0);
    }
    must(head_codes(&head, backend, unit, N, code, &err));
    must(head_codes(&head, backend, far, N, again, &err));
    assert_true(same_parts(code, truth, N));
    assert_memory_equal(code, again, sizeof code);
    codebook_head_clear(&head);
    clustering_clear(&cells);
    free(unit);
    free(far);
}

/* Scores by a plain loop; of equal ones the first. */
static void
test_codes(void **state)
{
    float weight[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
    float bias[] = {0, 0, 0};
    struct codebook_head head = {
        .k = 3, .d = 4, .weight = weight, .bias = bias};
    static const float rows[] = {1, 2, 0, 0, 2, 2, 5, 5, 3, 1, 0, 0};
    uint32_t code[3];
    (void)state;
    must(head_codes(&head, backend, rows, 3, code, &err));
    assert_int_equal(code[0], 1);
    assert_int_equal(code[1], 0);
    assert_int_equal(code[2], 0);
    bias[2] = 0.5F;
    must(head_codes(&head, backend, rows, 3, code, &err));
    assert_int_equal(code[0], 2);
    assert_int_equal(code[1], 2);
    assert_int_equal(code[2], 0);
}

static void
test_threads(void **state)
{
    struct host_pool *pool = pool_of(2);
    struct tensor_backend *two = backend_over(pool);
    struct codebook_head a, b;
    (void)state;
    must(codebook_head_init(&a, &clustering, 20, NULL, backend, z, z, N, D,
                            true, 3, NULL, &err));
    must(codebook_head_init(&b, &clustering, 20, pool, two, z, z, N, D, true, 3,
                            NULL, &err));
    assert_memory_equal(a.weight, b.weight, sizeof(float) * 20 * D);
    assert_memory_equal(a.bias, b.bias, sizeof(float) * 20);
    codebook_head_clear(&a);
    codebook_head_clear(&b);
    tensor_backend_free(two);
    host_pool_free(pool);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    (void)total;
    assert_string_equal(what, "codebook");
    return done < 2;
}

static void
test_refused(void **state)
{
    struct sotto_watch watch = {.tick = stop};
    struct codebook_head head;
    (void)state;
    must_fail(SOTTO_STATUS_USAGE, "from 2 to 40",
              codebook_head_init(&head, &clustering, 1, NULL, backend, z, z, N,
                                 D, true, 1, NULL, &err));
    must_fail(SOTTO_STATUS_USAGE, "from 2 to 40",
              codebook_head_init(&head, &clustering, 41, NULL, backend, z, z, N,
                                 D, true, 1, NULL, &err));
    must_fail(SOTTO_STATUS_STOPPED, "stopped",
              codebook_head_init(&head, &clustering, 5, NULL, backend, z, z, N,
                                 D, true, 1, &watch, &err));
    assert_null(head.weight);
}

static void
test_memory(void **state)
{
    struct codebook_head head = {0};
    uint32_t code[N];
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = codebook_head_init(&head, &clustering, 3, NULL, backend, z, z,
                                    N, D, true, 1, NULL, &err);
        if (status == SOTTO_STATUS_OK) {
            status = head_codes(&head, backend, z, N, code, &err);
        }
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
        codebook_head_clear(&head);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separable), cmocka_unit_test(test_scale),
        cmocka_unit_test(test_no_bias),   cmocka_unit_test(test_codes),
        cmocka_unit_test(test_threads),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup_cells, teardown_cells);
}
