/*
 * test_diffusion.c: walks among neighbours, against a dense matrix, and on
 * groups that no distance tells apart.
 */
#include "encoder/diffusion.h"

#include "cluster_fixture.h"
#include "encoder/neighbours.h"
#include "fail_alloc.h"
#include "tensor/symmetric.h"

enum { N = 400, D = 3, MANY = 1500 };

static float *
embed(unsigned threads, const float *x, size_t n, size_t d)
{
    struct host_pool *pool = pool_of(threads);
    struct tensor_backend *backend = backend_over(pool);
    float *y = calloc(n, diffusion_width(n) * sizeof *y);
    assert_non_null(y);
    must(diffusion_embed(pool, backend, x, n, d, 1, NULL, y, &err));
    tensor_backend_free(backend);
    host_pool_free(pool);
    return y;
}

/* A = (N + N') / 2, N the neighbours; D^-1/2 A D^-1/2, and D^-1/2. */
static void
set_matrix(const float *x, double *s, double *scale)
{
    struct tensor_backend *backend = backend_over(NULL);
    size_t k = N / 20;
    uint32_t *near = calloc(N, k * sizeof *near);
    assert_non_null(near);
    must(neighbours_find(NULL, backend, x, N, D, k, NULL, near, &err));
    memset(s, 0, (size_t)N * N * sizeof *s);
    for (size_t i = 0; i < N * k; i++) {
        s[i / k * N + near[i]] += 0.5;
        s[near[i] * (size_t)N + i / k] += 0.5;
    }
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t j = 0; j < N; j++) {
            sum += s[i * N + j];
        }
        scale[i] = 1 / sqrt(sum);
    }
    for (size_t i = 0; i < (size_t)N * N; i++) {
        s[i] *= scale[i / N] * scale[i % N];
    }
    free(near);
    tensor_backend_free(backend);
}

/* Distances of coordinates are those by the eigenvectors of the whole matrix.
   The first is the constant, and is left out; of the last few, which hardly
   count, iterations may not have seen the end. */
static void
test_dense(void **state)
{
    float *x = points(N, D, 3, 6), *y = embed(1, x, N, D);
    double *s = calloc((size_t)N * N, sizeof *s), *value = calloc(N, sizeof *s);
    double *scale = calloc(N, sizeof *s), worst = 0, largest = 0;
    size_t width = diffusion_width(N);
    (void)state;
    assert_true(s != NULL && value != NULL && scale != NULL);
    assert_int_equal(width, N / 20);
    set_matrix(x, s, scale);
    must(tensor_symmetric(N, s, value, &err));
    assert_true(fabs(value[0] - 1) < 1e-9);
    for (size_t m = 1; m <= width; m++) {
        double square = 0;
        for (size_t i = 0; i < N; i++) {
            s[m * N + i] *= scale[i];
            square += s[m * N + i] * s[m * N + i];
        }
        for (size_t i = 0; i < N; i++) {
            s[m * N + i] *= pow(value[m], 30) / sqrt(square / N);
        }
    }
    for (size_t i = 0; i < N; i += 7) {
        for (size_t j = 0; j < i; j++) {
            double mine = 0, true_one = 0;
            for (size_t m = 0; m < width; m++) {
                double a = (double)y[i * width + m] - y[j * width + m];
                double b = s[(m + 1) * N + i] - s[(m + 1) * N + j];
                mine += a * a;
                true_one += b * b;
            }
            worst = fmax(worst, fabs(sqrt(mine) - sqrt(true_one)));
            largest = fmax(largest, sqrt(true_one));
        }
    }
    print_message("distances up to %.3f differ by up to %.2g\n", largest,
                  worst);
    assert_true(worst < 0.02 * largest);
    free(scale);
    free(value);
    free(s);
    free(y);
    free(x);
}

/* Two rings, one around the other: the parts of a tree over distances cut
   through both, those of a tree over walks are the rings. */
static void
test_rings(void **state)
{
    float *x = calloc(MANY, 2 * sizeof *x), *y;
    uint32_t *ring = calloc(MANY, 3 * sizeof *ring);
    struct tensor_backend *backend = backend_over(NULL);
    struct seeded seeded;
    size_t width = diffusion_width(MANY);
    (void)state;
    assert_true(x != NULL && ring != NULL);
    seeded_init(&seeded, 3, 0);
    for (size_t i = 0; i < MANY; i++) {
        double radius = (i % 3 == 0 ? 1 : 2) + 0.1 * uniform(&seeded);
        double angle = 6.283185307 * uniform(&seeded);
        ring[i] = i % 3 == 0;
        x[2 * i] = (float)(radius * cos(angle));
        x[2 * i + 1] = (float)(radius * sin(angle));
    }
    y = embed(1, x, MANY, 2);
    for (size_t way = 0; way < 2; way++) {
        struct clustering clustering;
        uint32_t part[100], *of = ring + (size_t)MANY * (1 + way);
        const float *ground = way == 0 ? x : y;
        must(clustering_init(&clustering, NULL, backend, ground, MANY,
                             way == 0 ? 2 : width, 100, 1, NULL, &err));
        must(clustering_cut(&clustering, 2, part, &err));
        must(clustering_assign(&clustering, NULL, backend, ground, MANY, of,
                               &err));
        for (size_t i = 0; i < MANY; i++) {
            of[i] = part[of[i]];
        }
        clustering_clear(&clustering);
    }
    assert_false(same_parts(ring + MANY, ring, MANY));
    assert_true(same_parts(ring + 2 * (size_t)MANY, ring, MANY));
    tensor_backend_free(backend);
    free(ring);
    free(y);
    free(x);
}

static void
test_threads(void **state)
{
    float *x = points(MANY, D, 5, 9);
    float *one = embed(1, x, MANY, D), *two = embed(2, x, MANY, D);
    (void)state;
    assert_memory_equal(one, two, MANY * diffusion_width(MANY) * sizeof *one);
    free(one);
    free(two);
    free(x);
}

/* Rows that are all the same have neighbours, and nothing to tell. */
static void
test_same(void **state)
{
    float *x = calloc(N, D * sizeof *x), *y;
    (void)state;
    assert_non_null(x);
    y = embed(1, x, N, D);
    for (size_t i = 0; i < N * diffusion_width(N); i++) {
        assert_true(isfinite(y[i]));
    }
    free(x);
    free(y);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    (void)total;
    return strcmp(what, "walks") != 0 || done == 0;
}

static void
test_refused(void **state)
{
    struct tensor_backend *backend = backend_over(NULL);
    struct sotto_watch watch = {.tick = stop};
    float *x = points(N, D, 3, 6), *y = calloc(N, 32 * sizeof *y);
    (void)state;
    assert_non_null(y);
    must_fail(SOTTO_STATUS_USAGE, "200 to 100000 rows",
              diffusion_embed(NULL, backend, x, 199, D, 1, NULL, y, &err));
    must_fail(SOTTO_STATUS_USAGE, "200 to 100000 rows",
              diffusion_embed(NULL, backend, x, 100001, D, 1, NULL, y, &err));
    must_fail(SOTTO_STATUS_STOPPED, "stopped",
              diffusion_embed(NULL, backend, x, N, D, 1, &watch, y, &err));
    free(y);
    free(x);
    tensor_backend_free(backend);
}

static void
test_memory(void **state)
{
    struct tensor_backend *backend = backend_over(NULL);
    float *x = points(N, D, 3, 6), *y = calloc(N, 32 * sizeof *y);
    enum sotto_status status;
    long n = 0;
    (void)state;
    assert_non_null(y);
    do {
        fail_alloc_at(++n);
        status = diffusion_embed(NULL, backend, x, 200, D, 1, NULL, y, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 12);
    free(y);
    free(x);
    tensor_backend_free(backend);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),   cmocka_unit_test(test_rings),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_same),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
