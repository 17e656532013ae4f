/*
 * test_channel_norm.c: batch norm of few columns over very many rows against
 * the plain loops, at every number of threads; and without memory.
 */
#include "fail_alloc.h"
#include "tensor_fixture.h"

#include "tensor/cpu/cpu.h"

static const struct {
    size_t n, width;
    enum activation activation;
    float offset; /* of x: far from 0 the squares are large */
} shapes[] = {
    {8192, 16, ACTIVATION_RELU, 0},
    {8193, 1, ACTIVATION_NONE, 300},
    {9001, 35, ACTIVATION_TANH, -20},
    {20000, 64, ACTIVATION_RELU, 1},
};

struct results {
    float *moments; /* mean, inverse, running mean and variance */
    float *y, *dy, *dx, *slopes;
};

/* The gradients are at a y of their own: at its kinks two back-ends would take
   different sides. */
static struct results
compute(struct tensor_backend *backend, size_t i, bool training, bool in_place)
{
    size_t n = shapes[i].n;
    size_t width = shapes[i].width;
    enum activation activation = shapes[i].activation;
    float *x = numbers(n * width, 1, 2);
    float *gain = numbers(2 * width, 2, 1);
    float *kinked = numbers(n * width, 3, 0.9F);
    struct results r = {numbers(4 * width, 4, 1), numbers(n * width, 5, 1),
                        numbers(n * width, 6, 1), numbers(n * width, 7, 1),
                        numbers(2 * width, 8, 1)};
    for (size_t j = 0; j < n * width; j++) {
        x[j] += shapes[i].offset;
    }
    for (size_t j = 3 * width; j < 4 * width; j++) {
        r.moments[j] = fabsf(r.moments[j]);
    }
    backend->ops->norm(backend, n, width, training, 0.1F, x, gain, gain + width,
                       r.moments + 2 * width, r.moments + 3 * width, activation,
                       r.moments, r.moments + width, r.y);
    backend->ops->norm_back(backend, n, width, x, gain, r.moments,
                            r.moments + width, kinked, activation, r.dy,
                            r.slopes, r.slopes + width, in_place ? r.dy : r.dx);
    free(x);
    free(gain);
    free(kinked);
    return r;
}

static void
assert_results(const struct results *a, const struct results *b, size_t i,
               double tolerance)
{
    size_t size = shapes[i].n * shapes[i].width;
    assert_close(a->moments, b->moments, 4 * shapes[i].width, tolerance);
    assert_close(a->y, b->y, size, tolerance);
    assert_close(a->dy, b->dy, size, tolerance);
    assert_close(a->dx, b->dx, size, tolerance);
    assert_close(a->slopes, b->slopes, 2 * shapes[i].width, tolerance);
}

static void
release(struct results *r)
{
    free(r->moments);
    free(r->y);
    free(r->dy);
    free(r->dx);
    free(r->slopes);
}

static void
test_against_plain(void **state)
{
    (void)state;
    assert_false(cpu_channels(8191, 16));
    assert_false(cpu_channels(8192, 784));
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        assert_true(cpu_channels(shapes[i].n, shapes[i].width));
        for (int how = 0; how < 4; how++) {
            struct results slow = compute(plain, i, how & 1, how & 2);
            struct results one = compute(cpu[0], i, how & 1, how & 2);
            assert_results(&one, &slow, i, 5e-5);
            for (unsigned t = 1; t < CPUS; t++) {
                struct results more = compute(cpu[t], i, how & 1, how & 2);
                assert_results(&more, &one, i, 0);
                release(&more);
            }
            release(&one);
            release(&slow);
        }
    }
}

/* Without memory the columns are cut instead. */
static void
test_memory(void **state)
{
    const size_t n = 8192;
    float *x = numbers(n * 3, 1, 2);
    float *y = numbers(n * 3, 2, 2);
    float *out = numbers(n * 3, 3, 2);
    const float gain[] = {1, 2, 3};
    (void)state;
    for (unsigned failing = 0; failing < 2; failing++) {
        float moments[2][12] = {{0}};
        float slopes[2][6];
        struct tensor_backend *both[] = {plain, cpu[1]};
        for (size_t b = 0; b < 2; b++) {
            struct tensor_backend *backend = both[b];
            float *m = moments[b];
            fail_alloc_at(b == 1 && failing == 0 ? 1 : 0);
            backend->ops->norm(backend, n, 3, true, 0.1F, x, gain, gain, m,
                               m + 3, ACTIVATION_NONE, m + 6, m + 9, y);
            assert_true(b == 0 || fail_alloc_count() > 0);
            fail_alloc_at(b == 1 && failing == 1 ? 1 : 0);
            backend->ops->norm_back(backend, n, 3, x, gain, m + 6, m + 9, y,
                                    ACTIVATION_NONE, y, slopes[b],
                                    slopes[b] + 3, out);
            fail_alloc_at(0);
        }
        assert_close(moments[1], moments[0], 12, 1e-6);
        assert_close(slopes[1], slopes[0], 6, 1e-5);
    }
    free(x);
    free(y);
    free(out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_plain),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
