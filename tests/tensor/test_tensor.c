/*
 * test_tensor.c: one table of operations, and three things that are asked of
 * every row on every back-end:
 *
 *   check     the values and gradients of the plain loops, at a small and at a
 *             large shape, and the same bits at any number of threads
 *   gradient  central differences, at the small shape
 *   time      `test_tensor time`: microseconds of each way, at the large shape
 *
 * An operation y = f(p_0, p_1, p_2) is tried by the scalar sum_i r_i y_i with
 * random r, in double precision, of which the gradients are what the way back
 * gives for dy = r. A loss is its own scalar. A new operation is a row here, a
 * new back-end one more in tensor_fixture.h.
 */
#include "fail_alloc.h"
#include "tensor_fixture.h"

#include <stdio.h>
#include <time.h>

#include "host/pool.h"

#define STEP 4e-3F
#define TOLERANCE 2e-3
#define PARAMETERS 3u
#define ROOM 4u /* of a norm's moments, widths */

struct work {
    enum activation activation;
    size_t n, in, out; /* rows, and entries of one before and behind */
    struct tensor_window window;
    size_t size[PARAMETERS]; /* 0: there is none */
    float *p[PARAMETERS], *g[PARAMETERS];
    float *y, *r, *dy, *room;
};

struct op {
    const char *name;
    bool (*shape)(struct work *work, bool large); /* false: not there */
    double (*forward)(struct tensor_backend *backend, struct work *work);
    void (*back)(struct tensor_backend *backend, struct work *work);
    double tolerance; /* of cpu against plain */
};

static double
dot(const float *a, const float *b, size_t size)
{
    double sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum += (double)a[i] * (double)b[i];
    }
    return sum;
}

static double
scalar(const struct work *w)
{
    return dot(w->y, w->r, w->n * w->out);
}

/* ---- Dense, convolution, pools, sums --------------------------------------
 */

static bool
shape_dense(struct work *w, bool large)
{
    w->n = large ? 65 : 5;
    w->in = large ? 300 : 4;
    w->out = large ? 150 : 3;
    w->size[0] = w->n * w->in;
    w->size[1] = w->out * w->in;
    w->size[2] = w->out;
    return true;
}

static double
forward_dense(struct tensor_backend *b, struct work *w)
{
    b->ops->dense(b, w->n, w->in, w->out, w->p[0], w->p[1], w->p[2],
                  w->activation, w->y);
    return scalar(w);
}

static void
back_dense(struct tensor_backend *b, struct work *w)
{
    b->ops->dense_back(b, w->n, w->in, w->out, w->p[0], w->p[1], w->y,
                       w->activation, w->dy, w->g[1], w->g[2], w->g[0]);
}

static bool
shape_conv(struct work *w, bool large)
{
    w->window = large ? (struct tensor_window){14, 14, 16, 32, 3, 1, 1}
                      : (struct tensor_window){4, 3, 2, 3, 3, 2, 1};
    w->n = large ? 33 : 2;
    w->in = w->window.height * w->window.width * w->window.channels;
    w->out = tensor_window_places(&w->window) * w->window.filters;
    w->size[0] = w->n * w->in;
    w->size[1] = w->window.filters * w->window.kernel * w->window.kernel *
                 w->window.channels;
    w->size[2] = w->window.filters;
    return true;
}

static double
forward_conv(struct tensor_backend *b, struct work *w)
{
    b->ops->conv(b, w->n, &w->window, w->p[0], w->p[1], w->p[2], w->activation,
                 w->y);
    return scalar(w);
}

static void
back_conv(struct tensor_backend *b, struct work *w)
{
    b->ops->conv_back(b, w->n, &w->window, w->p[0], w->p[1], w->y,
                      w->activation, w->dy, w->g[1], w->g[2], w->g[0]);
}

static bool
shape_pool(struct work *w, bool large)
{
    (void)shape_conv(w, large);
    w->window.filters = w->window.channels;
    w->window.kernel = w->window.stride = 2;
    w->out = tensor_window_places(&w->window) * w->window.channels;
    w->size[1] = w->size[2] = 0;
    return w->activation == ACTIVATION_NONE;
}

static double
forward_largest(struct tensor_backend *b, struct work *w)
{
    b->ops->pool(b, w->n, &w->window, TENSOR_POOL_MAX, w->p[0], w->y);
    return scalar(w);
}

static void
back_largest(struct tensor_backend *b, struct work *w)
{
    b->ops->pool_back(b, w->n, &w->window, TENSOR_POOL_MAX, w->p[0], w->y,
                      w->dy, w->g[0]);
}

static double
forward_mean(struct tensor_backend *b, struct work *w)
{
    b->ops->pool(b, w->n, &w->window, TENSOR_POOL_MEAN, w->p[0], w->y);
    return scalar(w);
}

static void
back_mean(struct tensor_backend *b, struct work *w)
{
    b->ops->pool_back(b, w->n, &w->window, TENSOR_POOL_MEAN, w->p[0], w->y,
                      w->dy, w->g[0]);
}

static bool
shape_rows(struct work *w, bool large)
{
    w->n = large ? 700 : 5;
    w->in = w->out = large ? 300 : 4;
    w->size[0] = w->n * w->in;
    return w->activation == ACTIVATION_NONE;
}

static bool
shape_add(struct work *w, bool large)
{
    (void)shape_rows(w, large);
    return true;
}

static double
forward_add(struct tensor_backend *b, struct work *w)
{
    memcpy(w->y, w->r, w->n * w->out * sizeof *w->y);
    b->ops->add(b, w->n * w->out, w->p[0], w->activation, w->y);
    return scalar(w);
}

/* ---- Batch norm: gain is p[1], shift p[2] ---------------------------------
 */

static bool
shape_norm(struct work *w, bool large)
{
    w->n = large ? 300 : 6;
    w->in = w->out = large ? 150 : 4;
    w->size[0] = w->n * w->in;
    w->size[1] = w->size[2] = w->out;
    return true;
}

static double
forward_norm(struct tensor_backend *b, struct work *w)
{
    float *room = w->room;
    b->ops->norm(b, w->n, w->out, true, 0.1F, w->p[0], w->p[1], w->p[2], room,
                 room + w->out, w->activation, room + 2 * w->out,
                 room + 3 * w->out, w->y);
    return scalar(w);
}

static void
back_norm(struct tensor_backend *b, struct work *w)
{
    b->ops->norm_back(b, w->n, w->out, w->p[0], w->p[1], w->room + 2 * w->out,
                      w->room + 3 * w->out, w->y, w->activation, w->dy, w->g[1],
                      w->g[2], w->g[0]);
}

/* ---- Rows, and losses against r -------------------------------------------
 */

static double
forward_softmax(struct tensor_backend *b, struct work *w)
{
    b->ops->softmax(b, w->n, w->out, w->p[0], w->y);
    return scalar(w);
}

static void
back_softmax(struct tensor_backend *b, struct work *w)
{
    b->ops->softmax_back(b, w->n, w->out, w->y, w->dy, w->g[0]);
}

static double
forward_clip(struct tensor_backend *b, struct work *w)
{
    b->ops->clip_l1(b, w->n, w->out, 1.5F, w->p[0], w->y);
    return scalar(w);
}

static void
back_clip(struct tensor_backend *b, struct work *w)
{
    b->ops->clip_l1_back(b, w->n, w->out, 1.5F, w->p[0], w->dy, w->g[0]);
}

static double
forward_gather(struct tensor_backend *b, struct work *w)
{
    uint32_t *row = malloc(w->n * sizeof *row);
    assert_non_null(row);
    for (size_t i = 0; i < w->n; i++) {
        row[i] = (uint32_t)((i * 7 + 3) % w->n);
    }
    b->ops->gather(b, w->n, w->out, w->p[0], row, w->y);
    free(row);
    return scalar(w);
}

#define LOSS(name)                                                             \
    static double forward_##name(struct tensor_backend *b, struct work *w)     \
    {                                                                          \
        return b->ops->name(b, w->n, w->out, w->p[0], w->r, 1, NULL);          \
    }                                                                          \
    static void back_##name(struct tensor_backend *b, struct work *w)          \
    {                                                                          \
        (void)b->ops->name(b, w->n, w->out, w->p[0], w->r, 1, w->g[0]);        \
    }
LOSS(bernoulli)
LOSS(gaussian)
LOSS(categorical)

static double
forward_multiply(struct tensor_backend *b, struct work *w)
{
    b->ops->multiply(b, false, true, w->n, w->out, w->in, 1, w->p[0], w->p[1],
                     0, w->y);
    return scalar(w);
}

static bool
shape_multiply(struct work *w, bool large)
{
    return shape_dense(w, large) && w->activation == ACTIVATION_NONE;
}

/* ---- The table ------------------------------------------------------------
 */

static const struct op ops[] = {
    {"multiply", shape_multiply, forward_multiply, NULL, 1e-5},
    {"dense", shape_dense, forward_dense, back_dense, 2e-5},
    {"conv", shape_conv, forward_conv, back_conv, 5e-5},
    {"pool max", shape_pool, forward_largest, back_largest, 1e-6},
    {"pool mean", shape_pool, forward_mean, back_mean, 1e-6},
    {"add", shape_add, forward_add, NULL, 1e-6},
    {"norm", shape_norm, forward_norm, back_norm, 2e-5},
    {"softmax", shape_rows, forward_softmax, back_softmax, 1e-6},
    {"clip", shape_rows, forward_clip, back_clip, 1e-6},
    {"gather", shape_rows, forward_gather, NULL, 0},
    {"bernoulli", shape_rows, forward_bernoulli, back_bernoulli, 1e-6},
    {"gaussian", shape_rows, forward_gaussian, back_gaussian, 1e-6},
    {"categorical", shape_rows, forward_categorical, back_categorical, 1e-6},
};
#define OPS (sizeof ops / sizeof *ops)

/* False: the operation has no such activation. */
static bool
work_make(struct work *w, const struct op *op, bool large, int activation)
{
    memset(w, 0, sizeof *w);
    w->activation = (enum activation)activation;
    if (!op->shape(w, large)) {
        return false;
    }
    for (uint32_t i = 0; i < PARAMETERS; i++) {
        w->p[i] = numbers(w->size[i], 21 + i, 1);
        w->g[i] = numbers(w->size[i], 31 + i, 1);
    }
    w->y = numbers(w->n * w->out, 24, 1);
    w->r = numbers(w->n * w->out, 25, 1);
    w->room = numbers(ROOM * w->out, 26, 1);
    for (size_t i = 0; i < w->n * w->out; i++) {
        w->r[i] = fabsf(w->r[i]); /* a target, too */
    }
    w->dy = copied(w->r, w->n * w->out);
    return true;
}

static void
work_free(struct work *w)
{
    for (size_t i = 0; i < PARAMETERS; i++) {
        free(w->p[i]);
        free(w->g[i]);
    }
    free(w->y);
    free(w->r);
    free(w->dy);
    free(w->room);
}

static double
work_run(struct work *w, const struct op *op, struct tensor_backend *backend)
{
    double value = op->forward(backend, w);
    if (op->back != NULL) {
        op->back(backend, w);
    }
    return value;
}

/* ---- Check ----------------------------------------------------------------
 */

static void
check_op(const struct op *op, bool large, int activation)
{
    struct work slow, one;
    if (!work_make(&slow, op, large, activation)) {
        return;
    }
    double expected = work_run(&slow, op, plain);
    (void)work_make(&one, op, large, activation);
    double value = work_run(&one, op, cpu[0]);
    assert_near(value, expected, 1e-4);
    assert_close(one.y, slow.y, one.n * one.out, op->tolerance);
    for (size_t i = 0; i < PARAMETERS; i++) {
        assert_close(one.g[i], slow.g[i], one.size[i], op->tolerance);
    }
    for (unsigned t = 1; t < CPUS; t++) {
        struct work more;
        (void)work_make(&more, op, large, activation);
        assert_true(work_run(&more, op, cpu[t]) == value);
        assert_same(more.y, one.y, one.n * one.out);
        for (size_t i = 0; i < PARAMETERS; i++) {
            assert_same(more.g[i], one.g[i], one.size[i]);
        }
        work_free(&more);
    }
    work_free(&one);
    work_free(&slow);
}

static void
test_check(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * OPS; i++) {
        for (int a = 0; a < ACTIVATION_COUNT; a++) {
            check_op(&ops[i / 2], i % 2 == 1, a);
        }
    }
}

/* ---- Gradient -------------------------------------------------------------
 */

static void
check_gradient(const struct op *op, struct tensor_backend *backend,
               int activation)
{
    struct work w;
    if (op->back == NULL || !work_make(&w, op, false, activation)) {
        return;
    }
    (void)work_run(&w, op, backend);
    for (size_t i = 0; i < PARAMETERS; i++) {
        for (size_t j = 0; j < w.size[i]; j++) {
            float kept = w.p[i][j];
            w.p[i][j] = kept + STEP;
            double above = w.p[i][j];
            double high = op->forward(backend, &w);
            w.p[i][j] = kept - STEP;
            double below = w.p[i][j];
            double low = op->forward(backend, &w);
            w.p[i][j] = kept;
            double slope = (high - low) / (above - below);
            if (!(fabs(slope - w.g[i][j]) <= TOLERANCE * (1 + fabs(slope)))) {
                fail_msg("%s, %s on %s: p%zu[%zu] has %g, not %g", op->name,
                         activation_name(w.activation), backend->ops->name, i,
                         j, (double)w.g[i][j], slope);
            }
        }
    }
    work_free(&w);
}

static void
test_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPS; i++) {
        for (int a = 0; a < ACTIVATION_COUNT; a++) {
            check_gradient(&ops[i], plain, a);
            check_gradient(&ops[i], cpu[1], a);
        }
    }
}

/* ---- Time -----------------------------------------------------------------
 */

static double
microseconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* The fastest of several runs of one way. */
static double
time_way(struct work *w, const struct op *op, struct tensor_backend *backend,
         bool back)
{
    double least = INFINITY;
    for (int i = 0; i < 20; i++) {
        double start = microseconds();
        if (back) {
            op->back(backend, w);
        } else {
            (void)op->forward(backend, w);
        }
        least = fmin(least, microseconds() - start);
    }
    return least;
}

static int
print_times(void)
{
    void *none = NULL;
    int failed = backends_make(&none);
    for (size_t i = 0; failed == 0 && i < 2 * OPS; i++) {
        struct tensor_backend *backend = i % 2 == 0 ? plain : cpu[1];
        const struct op *op = &ops[i / 2];
        struct work w;
        (void)work_make(&w, op, true, ACTIVATION_NONE);
        double forward = time_way(&w, op, backend, false);
        double back = op->back != NULL ? time_way(&w, op, backend, true) : 0;
        print_message("%-12s %-6s %10.1f %10.1f us\n", op->name,
                      backend->ops->name, forward, back);
        work_free(&w);
    }
    (void)backends_free(&none);
    return failed;
}

/* ---- What back-ends share ----------------------------------------------- */

static void
test_names(void **state)
{
    (void)state;
    assert_string_equal(activation_name(ACTIVATION_NONE), "none");
    assert_string_equal(activation_name(ACTIVATION_RELU), "relu");
    assert_string_equal(activation_name(ACTIVATION_SIGMOID), "sigmoid");
    assert_string_equal(activation_name(ACTIVATION_TANH), "tanh");
    assert_string_equal(activation_name((enum activation)9), "?");
    assert_string_equal(plain->ops->name, "plain");
    assert_string_equal(cpu[0]->ops->name, "cpu");
    assert_string_equal(tensor_name_at(0), "cpu");
    assert_string_equal(tensor_name_at(1), "plain");
    assert_null(tensor_name_at(2));
    tensor_backend_free(NULL);
}

static void
test_failures(void **state)
{
    struct sotto_error err;
    struct tensor_backend *none = NULL;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(tensor_new("gpu", NULL, &none, &err), SOTTO_STATUS_USAGE);
    assert_int_equal(err.status, SOTTO_STATUS_USAGE);
    assert_string_equal(err.message,
                        "there is no back-end 'gpu': cpu and plain are there");
    for (size_t i = 0; tensor_name_at(i) != NULL; i++) {
        fail_alloc_at(1);
        assert_int_equal(tensor_new(tensor_name_at(i), NULL, &none, &err),
                         SOTTO_STATUS_MEMORY);
        assert_int_equal(err.status, SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
    assert_null(none);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_failures),
    };
    if (argc == 2 && strcmp(argv[1], "time") == 0) {
        return print_times();
    }
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
