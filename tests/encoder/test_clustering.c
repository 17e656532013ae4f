/*
 * test_clustering.c: cells and their tree on points whose groups are known.
 */
#include "encoder/clustering.h"
#include "host/pool.h"

#include "cluster_fixture.h"
#include "fail_alloc.h"

enum { N = 600, D = 4, GROUPS = 6 };

static uint32_t truth[N];

static struct clustering
cluster(unsigned threads, const float *z, size_t n, size_t cells, uint64_t seed)
{
    struct host_pool *pool = pool_of(threads);
    struct tensor_backend *backend = backend_over(pool);
    struct clustering clustering;
    must(clustering_init(&clustering, pool, backend, z, n, D, cells, seed, NULL,
                         &err));
    tensor_backend_free(backend);
    host_pool_free(pool);
    return clustering;
}

/* The part of every row, at a cut. */
static void
parts_of(const struct clustering *clustering, const float *z, size_t n,
         size_t parts, uint32_t *ret)
{
    struct tensor_backend *backend = backend_over(NULL);
    uint32_t *part = calloc(clustering->cells, sizeof *part);
    assert_non_null(part);
    must(clustering_cut(clustering, parts, part, &err));
    must(clustering_assign(clustering, NULL, backend, z, n, ret, &err));
    for (size_t i = 0; i < n; i++) {
        assert_true(ret[i] < clustering->cells);
        ret[i] = part[ret[i]];
        assert_true(ret[i] < parts);
    }
    free(part);
    tensor_backend_free(backend);
}

/* Many cells, cut where there are as many parts as groups: the groups. */
static void
test_groups(void **state)
{
    float *z = points(N, D, GROUPS, 1);
    struct clustering clustering = cluster(1, z, N, 40, 1);
    uint32_t part[N];
    double weight = 0, spread = 0;
    (void)state;
    assert_int_equal(clustering.cells, 40);
    assert_int_equal(clustering.d, D);
    for (size_t i = 0; i < clustering.cells; i++) {
        assert_true(clustering.weight[i] >= 1);
        weight += clustering.weight[i];
    }
    assert_true(weight == N);
    parts_of(&clustering, z, N, GROUPS, part);
    assert_true(same_parts(part, truth, N));
    clustering_clear(&clustering);
    assert_null(clustering.centre);
    /* With a cell a group, the spread is that about the means. */
    clustering = cluster(1, z, N, GROUPS, 1);
    for (size_t g = 0; g < GROUPS; g++) {
        double mean[D] = {0};
        for (size_t i = g; i < N; i += GROUPS) {
            for (size_t j = 0; j < D; j++) {
                mean[j] += (double)z[i * D + j] * GROUPS / N;
            }
        }
        for (size_t i = g; i < N; i += GROUPS) {
            for (size_t j = 0; j < D; j++) {
                double off = (double)z[i * D + j] - mean[j];
                spread += off * off / N;
            }
        }
    }
    assert_true(fabs(clustering.spread - spread) < 1e-5);
    clustering_clear(&clustering);
    free(z);
}

/* The pairs that are merged first are the cheapest by Ward's cost: on a line,
   of 0, 1, 10, 12, 30 first 0 and 1, then 10 and 12, then these two. */
static void
test_tree(void **state)
{
    static const float z[] = {0, 1, 10, 12, 30};
    struct tensor_backend *backend = backend_over(NULL);
    struct clustering clustering;
    uint32_t cell[5], part[5];
    (void)state;
    must(
        clustering_init(&clustering, NULL, backend, z, 5, 1, 5, 1, NULL, &err));
    assert_int_equal(clustering.cells, 5);
    assert_true(clustering.spread == 0);
    must(clustering_assign(&clustering, NULL, backend, z, 5, cell, &err));
    must(clustering_cut(&clustering, 4, part, &err));
    assert_int_equal(part[cell[0]], part[cell[1]]);
    assert_int_not_equal(part[cell[2]], part[cell[3]]);
    must(clustering_cut(&clustering, 3, part, &err));
    assert_int_equal(part[cell[0]], part[cell[1]]);
    assert_int_equal(part[cell[2]], part[cell[3]]);
    assert_int_not_equal(part[cell[0]], part[cell[2]]);
    must(clustering_cut(&clustering, 2, part, &err));
    assert_int_equal(part[cell[0]], part[cell[3]]);
    assert_int_not_equal(part[cell[0]], part[cell[4]]);
    clustering_clear(&clustering);
    tensor_backend_free(backend);
}

static void
test_threads(void **state)
{
    enum { MANY = 5000 };
    float *z = points(MANY, D, GROUPS, 6);
    struct clustering one = cluster(1, z, MANY, 60, 7);
    struct clustering two = cluster(2, z, MANY, 60, 7);
    struct clustering other = cluster(1, z, MANY, 60, 8);
    (void)state;
    assert_int_equal(one.cells, two.cells);
    assert_true(one.spread == two.spread);
    assert_memory_equal(one.centre, two.centre,
                        one.cells * D * sizeof *one.centre);
    assert_memory_equal(one.weight, two.weight, one.cells * sizeof *one.weight);
    assert_memory_equal(one.merged, two.merged,
                        2 * (one.cells - 1) * sizeof *one.merged);
    assert_true(other.spread != one.spread);
    clustering_clear(&one);
    clustering_clear(&two);
    clustering_clear(&other);
    free(z);
}

/* Never more cells than different rows, whatever is asked for. */
static void
test_few(void **state)
{
    float z[30 * D] = {0};
    struct tensor_backend *backend = backend_over(NULL);
    struct clustering clustering = {0};
    uint32_t part[30];
    (void)state;
    for (size_t i = 0; i < 30; i++) {
        z[i * D] = (float)(i % 3);
    }
    clustering = cluster(1, z, 30, 20, 1);
    assert_int_equal(clustering.cells, 3);
    assert_true(clustering.weight[0] == 10 && clustering.spread == 0);
    parts_of(&clustering, z, 30, 2, part);
    clustering_clear(&clustering);
    clustering = cluster(1, z, 1, 20, 1);
    assert_int_equal(clustering.cells, 1);
    clustering_clear(&clustering);
    must_fail(
        SOTTO_STATUS_USAGE, "nothing to cluster",
        clustering_init(&clustering, NULL, backend, z, 0, D, 5, 1, NULL, &err));
    must_fail(
        SOTTO_STATUS_USAGE, "nothing to cluster",
        clustering_init(&clustering, NULL, backend, z, 5, D, 0, 1, NULL, &err));
    assert_null(clustering.centre);
    clustering_clear(&clustering);
    tensor_backend_free(backend);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    assert_string_equal(what, "clustering");
    return done == 0 && total > 0;
}

static void
test_stopped(void **state)
{
    float *z = points(N, D, GROUPS, 6);
    struct tensor_backend *backend = backend_over(NULL);
    struct sotto_watch watch = {.tick = stop};
    struct clustering clustering;
    (void)state;
    must_fail(SOTTO_STATUS_STOPPED, "stopped",
              clustering_init(&clustering, NULL, backend, z, N, D, 50, 1,
                              &watch, &err));
    assert_null(clustering.centre);
    tensor_backend_free(backend);
    free(z);
}

static void
test_memory(void **state)
{
    float *z = points(60, D, GROUPS, 1);
    struct tensor_backend *backend = backend_over(NULL);
    struct clustering clustering = {0};
    uint32_t part[60], cell[60];
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = clustering_init(&clustering, NULL, backend, z, 60, D, 12, 1,
                                 NULL, &err);
        if (status == SOTTO_STATUS_OK) {
            status = clustering_cut(&clustering, 4, part, &err);
        }
        if (status == SOTTO_STATUS_OK) {
            status = clustering_assign(&clustering, NULL, backend, z, 60, cell,
                                       &err);
        }
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
        clustering_clear(&clustering);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 12);
    tensor_backend_free(backend);
    free(z);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),  cmocka_unit_test(test_tree),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_few),
        cmocka_unit_test(test_stopped), cmocka_unit_test(test_memory),
    };
    for (size_t i = 0; i < N; i++) {
        truth[i] = (uint32_t)(i % GROUPS);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
