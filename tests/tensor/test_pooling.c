/*
 * test_pooling.c: pools and sums against the plain loops, at every number of
 * threads; ties, borders and NaN.
 */
#include "tensor_fixture.h"

#define MAX TENSOR_POOL_MAX
#define MEAN TENSOR_POOL_MEAN

static const struct {
    size_t n;
    struct tensor_window window;
} shapes[] = {
    {1, {1, 1, 1, 1, 1, 1, 0}},     {33, {14, 14, 32, 32, 2, 2, 0}},
    {20, {7, 7, 64, 64, 2, 2, 1}},  {7, {9, 6, 3, 3, 3, 1, 1}},
    {5, {5, 8, 17, 17, 4, 3, 3}},   {6, {4, 4, 40, 40, 4, 1, 0}},
    {3, {10, 10, 16, 16, 2, 3, 0}},
};

static void
test_against_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        const struct tensor_window *w = &shapes[i / 2].window;
        enum tensor_pool of = i % 2 == 0 ? MAX : MEAN;
        size_t n = shapes[i / 2].n;
        size_t in = n * w->height * w->width * w->channels;
        size_t out = n * tensor_window_places(w) * w->channels;
        float *x = numbers(in, 1, 4);
        float *dy = numbers(out, 2, 1);
        float *y = numbers(out, 3, 1);
        float *dx = numbers(in, 4, 1);
        for (size_t j = 0; j < in; j++) {
            x[j] = roundf(x[j]); /* many are equal */
        }
        plain->ops->pool(plain, n, w, of, x, y);
        plain->ops->pool_back(plain, n, w, of, x, y, dy, dx);
        for (unsigned t = 0; t < CPUS; t++) {
            float *fast = numbers(out, 5, 1);
            float *slope = numbers(in, 6, 1);
            cpu[t]->ops->pool(cpu[t], n, w, of, x, fast);
            cpu[t]->ops->pool_back(cpu[t], n, w, of, x, fast, dy, slope);
            assert_close(fast, y, out, 1e-6);
            assert_close(slope, dx, in, 1e-6);
            free(fast);
            free(slope);
        }
        free(x);
        free(y);
        free(dy);
        free(dx);
    }
}

/* 3 x 3, windows of 2 with stride 2 and padding 1: what is outside does not
   count, and of two equal entries the first gets the gradient. */
static void
check_known(struct tensor_backend *backend)
{
    const struct tensor_window window = {3, 3, 1, 1, 2, 2, 1};
    const float x[] = {-1, -2, -3, -4, 5, 5, -7, 5, 2};
    const float largest[] = {-1, -2, -4, 5};
    const float mean[] = {-1, -2.5F, -5.5F, 4.25F};
    const float dy[] = {1, 2, 4, 8};
    const float dlargest[] = {1, 2, 0, 4, 8, 0, 0, 0, 0};
    const float dmean[] = {1, 1, 1, 2, 2, 2, 2, 2, 2};
    float y[4];
    float dx[9];
    backend->ops->pool(backend, 1, &window, MAX, x, y);
    assert_close(y, largest, 4, 0);
    backend->ops->pool_back(backend, 1, &window, MAX, x, y, dy, dx);
    assert_close(dx, dlargest, 9, 0);
    backend->ops->pool(backend, 1, &window, MEAN, x, y);
    assert_close(y, mean, 4, 0);
    backend->ops->pool_back(backend, 1, &window, MEAN, x, y, dy, dx);
    assert_close(dx, dmean, 9, 0);
}

static void
test_known(void **state)
{
    (void)state;
    check_known(plain);
    check_known(cpu[1]);
}

/* NaN stays, in a vector of channels and in what is left of them. */
static void
check_nan(struct tensor_backend *backend, size_t at, size_t channel)
{
    const struct tensor_window window = {1, 3, 17, 17, 3, 1, 1};
    float *x = numbers(3 * 17, 1, 1);
    float y[3 * 17];
    x[at * 17 + channel] = NAN;
    backend->ops->pool(backend, 1, &window, MAX, x, y);
    for (size_t c = 0; c < 17; c++) {
        assert_int_equal(isnan(y[17 + c]) != 0, c == channel);
    }
    free(x);
}

static void
test_nan(void **state)
{
    (void)state;
    for (size_t at = 0; at < 3; at++) {
        check_nan(plain, at, 16);
        check_nan(cpu[0], at, 16);
        check_nan(cpu[0], at, 3);
    }
}

static void
test_add(void **state)
{
    const size_t sizes[] = {1, 17, 100003};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (int a = ACTIVATION_NONE; a <= ACTIVATION_TANH; a++) {
            float *x = numbers(sizes[i], 1, 2);
            float *y = numbers(sizes[i], 2, 2);
            float *one = copied(y, sizes[i]);
            plain->ops->add(plain, sizes[i], x, (enum activation)a, y);
            cpu[0]->ops->add(cpu[0], sizes[i], x, (enum activation)a, one);
            assert_close(one, y, sizes[i], 1e-6);
            for (unsigned t = 1; t < CPUS; t++) {
                float *more = numbers(sizes[i], 2, 2);
                cpu[t]->ops->add(cpu[t], sizes[i], x, (enum activation)a, more);
                assert_same(more, one, sizes[i]);
                free(more);
            }
            free(x);
            free(y);
            free(one);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_against_plain),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_add),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
