/*
 * test_convolution.c: convolutions against the plain loops, at every number of
 * threads, in shapes of all sorts; and without memory.
 */
#include "fail_alloc.h"
#include "tensor_fixture.h"

struct shape {
    size_t n;
    struct tensor_window window;
    enum activation activation;
    bool biased;
};

#define RELU ACTIVATION_RELU
#define NONE ACTIVATION_NONE
#define TANH ACTIVATION_TANH

static const struct shape shapes[] = {
    {1, {1, 1, 1, 1, 1, 1, 0}, NONE, true},
    {3, {5, 5, 1, 16, 3, 1, 1}, RELU, true},
    {19, {28, 28, 1, 16, 5, 2, 2}, NONE, false}, /* a slice is 3 */
    {23, {14, 14, 16, 32, 3, 1, 1}, RELU, true},
    {67, {7, 7, 32, 64, 3, 1, 1}, NONE, false}, /* 5 of dW's, 2 left */
    {9, {7, 5, 3, 7, 3, 2, 1}, TANH, true},
    {10, {6, 9, 5, 1, 4, 3, 2}, RELU, false},
    {17, {4, 4, 17, 3, 1, 1, 0}, NONE, true},
    {5, {9, 9, 2, 10, 9, 1, 0}, RELU, true}, /* one place */
    {4, {3, 3, 4, 20, 3, 2, 2}, NONE, true},
    {8, {8, 8, 16, 16, 1, 2, 0}, NONE, false}, /* entries that count nowhere */
};

/* Results of one back-end. */
struct results {
    float *y, *dy, *dweight, *dbias, *dx;
};

struct sizes {
    size_t x, y, weight, filters;
};

static struct sizes
sizes_of(const struct shape *s)
{
    const struct tensor_window *w = &s->window;
    return (struct sizes){s->n * w->height * w->width * w->channels,
                          s->n * tensor_window_places(w) * w->filters,
                          w->filters * w->kernel * w->kernel * w->channels,
                          w->filters};
}

/* The gradients are at a y of their own: at its kinks two back-ends would take
   different sides. */
static struct results
compute(struct tensor_backend *backend, const struct shape *s, bool with_dx)
{
    struct sizes size = sizes_of(s);
    float *x = numbers(size.x, 1, 1);
    float *weight = numbers(size.weight, 2, 0.3F);
    float *bias = numbers(size.filters, 3, 1);
    float *kinked = numbers(size.y, 9, 1);
    struct results r = {numbers(size.y, 4, 9), numbers(size.y, 5, 1),
                        numbers(size.weight, 6, 9), numbers(size.filters, 7, 9),
                        numbers(size.x, 8, 9)};
    backend->ops->conv(backend, s->n, &s->window, x, weight,
                       s->biased ? bias : NULL, s->activation, r.y);
    backend->ops->conv_back(backend, s->n, &s->window, x, weight, kinked,
                            s->activation, r.dy, r.dweight,
                            s->biased ? r.dbias : NULL, with_dx ? r.dx : NULL);
    free(x);
    free(weight);
    free(bias);
    free(kinked);
    return r;
}

static void
release(struct results *r)
{
    free(r->y);
    free(r->dy);
    free(r->dweight);
    free(r->dbias);
    free(r->dx);
}

static void
assert_results(const struct results *a, const struct results *b,
               const struct shape *s, double tolerance)
{
    struct sizes size = sizes_of(s);
    assert_close(a->y, b->y, size.y, tolerance);
    assert_close(a->dy, b->dy, size.y, tolerance);
    assert_close(a->dweight, b->dweight, size.weight, tolerance);
    assert_close(a->dbias, b->dbias, size.filters, tolerance);
    assert_close(a->dx, b->dx, size.x, tolerance);
}

static void
test_against_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int with_dx = 0; with_dx < 2; with_dx++) {
            struct results slow = compute(plain, &shapes[i], with_dx);
            struct results fast = compute(cpu[1], &shapes[i], with_dx);
            assert_results(&fast, &slow, &shapes[i], 2e-5);
            release(&fast);
            release(&slow);
        }
    }
}

static void
test_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct results one = compute(cpu[0], &shapes[i], true);
        for (unsigned t = 1; t < CPUS; t++) {
            struct results more = compute(cpu[t], &shapes[i], true);
            assert_results(&more, &one, &shapes[i], 0);
            release(&more);
        }
        release(&one);
    }
}

/* By hand: a 3 x 3 image of one channel, a kernel of 2, stride 1, no padding;
   and a filter that picks its last entry. */
static void
check_known(struct tensor_backend *backend)
{
    const struct tensor_window window = {3, 3, 1, 2, 2, 1, 0};
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const float weight[] = {1, 10, 100, 1000, 0, 0, 0, 1};
    const float bias[] = {0.5F, -7};
    const float y[] = {5421.5F, 0, 6532.5F, 0, 8754.5F, 1, 9865.5F, 2};
    const float dx[] = {1, 11, 10, 101, 1111, 1010, 100, 1101, 1001};
    float dy[] = {1, 1, 1, 1, 1, 1, 1, 1};
    const float dweight[] = {12, 16, 24, 28, 9, 11, 15, 17};
    float got[8];
    float got_dweight[8];
    float got_dbias[2];
    float got_dx[9];
    backend->ops->conv(backend, 1, &window, x, weight, bias, RELU, got);
    assert_close(got, y, 8, 1e-6);
    backend->ops->conv_back(backend, 1, &window, x, weight, got, RELU, dy,
                            got_dweight, got_dbias, got_dx);
    assert_close(got_dweight, dweight, 8, 1e-6);
    assert_near(got_dbias[0], 4, 0);
    assert_near(got_dbias[1], 2, 0);
    assert_close(got_dx, dx, 9, 1e-6);
}

static void
test_known(void **state)
{
    (void)state;
    check_known(plain);
    check_known(cpu[0]);
    check_known(cpu[2]);
}

/* No images: no result, and gradients of 0. */
static void
test_none(void **state)
{
    const struct shape *s = &shapes[1];
    struct sizes size = sizes_of(s);
    float *weight = numbers(size.weight, 2, 1);
    float *dweight = numbers(size.weight, 3, 1);
    float dbias[16];
    float nothing[1] = {0};
    (void)state;
    cpu[1]->ops->conv(cpu[1], 0, &s->window, nothing, weight, NULL, NONE,
                      nothing);
    cpu[1]->ops->conv_back(cpu[1], 0, &s->window, nothing, weight, nothing,
                           NONE, nothing, dweight, dbias, nothing);
    for (size_t i = 0; i < size.weight; i++) {
        assert_true(dweight[i] == 0.0F);
    }
    assert_true(dbias[15] == 0.0F);
    free(weight);
    free(dweight);
}

/* Fails every allocation in turn: the results are those of the plain loops, to
   rounding, and the next call is the fast one's again. */
static void
test_memory(void **state)
{
    const struct shape *s = &shapes[9]; /* without an activation */
    struct results slow = compute(plain, s, true);
    struct results fast = compute(cpu[1], s, true);
    struct sotto_error err;
    long count = 1;
    (void)state;
    for (long i = 1; i <= count; i++) {
        struct tensor_backend *backend;
        struct sizes size = sizes_of(s);
        float *x = numbers(size.x, 1, 1);
        float *weight = numbers(size.weight, 2, 0.3F);
        float *bias = numbers(size.filters, 3, 1);
        struct results r = compute(plain, s, true);
        memset(r.y, 0, size.y * sizeof *r.y);
        free(r.dy);
        r.dy = numbers(size.y, 5, 1);
        memset(r.dx, 0, size.x * sizeof *r.dx);
        memset(r.dweight, 0, size.weight * sizeof *r.dweight);
        assert_int_equal(tensor_new("cpu", pools[1], &backend, &err),
                         SOTTO_STATUS_OK);
        fail_alloc_at(i);
        backend->ops->conv(backend, s->n, &s->window, x, weight, bias,
                           s->activation, r.y);
        backend->ops->conv_back(backend, s->n, &s->window, x, weight, r.y,
                                s->activation, r.dy, r.dweight, r.dbias, r.dx);
        count = fail_alloc_count() > count ? fail_alloc_count() : count;
        fail_alloc_at(0);
        assert_results(&r, &slow, s, 2e-5);
        release(&r);
        r = compute(backend, s, true);
        assert_results(&r, &fast, s, 0);
        release(&r);
        tensor_backend_free(backend);
        free(x);
        free(weight);
        free(bias);
    }
    assert_true(count > 8);
    release(&fast);
    release(&slow);
}

/* More shapes than are kept: the old ones are forgotten, and made again. */
static void
test_many_shapes(void **state)
{
    float *x = numbers(600, 1, 1);
    float *y = numbers(600, 2, 1);
    const float weight[] = {2};
    (void)state;
    for (size_t side = 1; side <= 600; side++) {
        const struct tensor_window window = {side, 1, 1, 1, 1, 1, 0};
        cpu[1]->ops->conv(cpu[1], 1, &window, x, weight, NULL, NONE, y);
        assert_true(y[side - 1] == 2 * x[side - 1]);
    }
    free(x);
    free(y);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),   cmocka_unit_test(test_against_plain),
        cmocka_unit_test(test_threads), cmocka_unit_test(test_none),
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_many_shapes),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
