/*
 * test_sight.c: encoders that see groups, that see nothing, and that see
 * something of their own.
 */
#include "encoder/sight.h"

#include "cluster_fixture.h"
#include "fail_alloc.h"
#include "host/error.h"

enum { N = 1200, D = 4, GROUPS = 4, CELLS = 40, K = 4 };

static enum sotto_status
look_at(unsigned threads, const float *z, size_t n, size_t d,
        const struct sotto_watch *watch, struct sight *ret_sight)
{
    struct host_pool *pool = pool_of(threads);
    struct tensor_backend *backend = backend_over(pool);
    struct clustering clustering = {0};
    enum sotto_status status = clustering_init(&clustering, pool, backend, z, n,
                                               d, CELLS, 1, NULL, &err);
    status = HOST_THEN(status, sight_init(ret_sight, &clustering, pool, backend,
                                          z, n, d, K, 1, watch, &err));
    clustering_clear(&clustering);
    tensor_backend_free(backend);
    host_pool_free(pool);
    return status;
}

/* Rows by lot, of no group. */
static float *
fog(size_t n, size_t d, uint64_t seed)
{
    float *z = malloc(n * d * sizeof *z);
    struct seeded seeded;
    assert_non_null(z);
    seeded_init(&seeded, seed, 0);
    for (size_t i = 0; i < n * d; i++) {
        z[i] = (float)uniform(&seeded);
    }
    return z;
}

/* Two encoders that see the groups score above one that sees fog, and above
   one whose groups are real but its own: a number that others do not have. */
static void
test_score(void **state)
{
    float *z[4] = {points(N, D, GROUPS, 2), points(N, D, GROUPS, 3),
                   fog(N, D, 3), fog(N, 1, 4)};
    struct sight sight[4];
    struct sight_marks score[4], alone;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        z[3][i] = (float)((i / 300) * 10) + z[3][i];
    }
    for (size_t i = 0; i < 4; i++) {
        must(look_at(1, z[i], N, i == 3 ? 1 : D, NULL, &sight[i]));
        assert_int_equal(sight[i].n, N);
        assert_int_equal(sight[i].parts, K);
        assert_true(sight[i].halves <= 1 + 1e-9);
        free(z[i]);
    }
    assert_true(sight[0].halves > 0.98 && sight[3].halves > 0.98);
    assert_true(sight[2].halves < 0.6);
    must(sight_score(sight, 4, score, &err));
    for (size_t i = 0; i < 2; i++) {
        assert_true(score[i].score > 2 * score[2].score);
        assert_true(score[i].score > 2 * score[3].score);
        assert_true(score[i].sees > score[2].sees);
    }
    must(sight_score(sight + 2, 1, &alone, &err));
    assert_true(fabs(alone.score - sight[2].halves) < 1e-12);
    for (size_t i = 0; i < 4; i++) {
        sight_clear(&sight[i]);
        assert_null(sight[i].cell);
    }
}

/* Threads change nothing; at most SIGHT_RECORDS are looked at, evenly. */
static void
test_threads(void **state)
{
    enum { MANY = 25000 };
    float *z = points(MANY, 2, 2, 9);
    struct sight one, two;
    size_t first = 0;
    (void)state;
    must(look_at(1, z, MANY, 2, NULL, &one));
    must(look_at(2, z, MANY, 2, NULL, &two));
    assert_int_equal(one.n, SIGHT_RECORDS);
    assert_true(one.halves == two.halves);
    assert_memory_equal(one.cell, two.cell, one.n * sizeof *one.cell);
    assert_memory_equal(one.part, two.part, one.n * sizeof *one.part);
    for (size_t i = 0; i < one.n; i++) {
        first += one.part[i] == 0;
    }
    assert_true(first > 0 && first < one.n);
    sight_clear(&one);
    sight_clear(&two);
    free(z);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    (void)what;
    return done == 0 && total > 0;
}

static void
test_refused(void **state)
{
    struct sotto_watch watch = {.tick = stop};
    float *z = points(N, D, GROUPS, 9);
    struct sight sight[2] = {{0}, {0}};
    struct sight_marks score[2];
    (void)state;
    must_fail(SOTTO_STATUS_STOPPED, "stopped",
              look_at(1, z, N, D, &watch, &sight[0]));
    assert_null(sight[0].cell);
    must_fail(SOTTO_STATUS_USAGE, "3 records are too few",
              look_at(1, z, 3, D, NULL, &sight[0]));
    must(look_at(1, z, 100, D, NULL, &sight[0]));
    must(look_at(1, z, 90, D, NULL, &sight[1]));
    must_fail(SOTTO_STATUS_USAGE, "other records",
              sight_score(sight, 2, score, &err));
    sight_clear(&sight[1]);
    sight_clear(&sight[0]);
    free(z);
}

static void
test_memory(void **state)
{
    float *z = points(100, D, GROUPS, 9);
    struct tensor_backend *backend = backend_over(NULL);
    struct clustering clustering;
    struct sight sight = {0};
    struct sight_marks score[2];
    enum sotto_status status;
    long n = 0;
    (void)state;
    must(clustering_init(&clustering, NULL, backend, z, 100, D, 12, 1, NULL,
                         &err));
    do {
        fail_alloc_at(++n);
        status = sight_init(&sight, &clustering, NULL, backend, z, 100, D, K, 1,
                            NULL, &err);
        if (status == SOTTO_STATUS_OK) {
            struct sight twice[2] = {sight, sight};
            status = sight_score(twice, 2, score, &err);
        }
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
        sight_clear(&sight);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 12);
    clustering_clear(&clustering);
    tensor_backend_free(backend);
    free(z);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
