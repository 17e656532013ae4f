/*
 * test_tensor.c: every operation's gradient against central differences, on
 * both back-ends; and what all back-ends share.
 *
 * An operation y = f(p) is tried by the scalar sum_i r_i y_i with random r, in
 * double precision, of which the gradient in p is what the way back gives for
 * dy = r.
 */
#include "fail_alloc.h"
#include "tensor_fixture.h"

#include "host/pool.h"

#define STEP 4e-3F
#define TOLERANCE 2e-3

/* What is tried: `forward` fills y from `p`, whatever of it that is. */
struct trial {
    struct tensor_backend *backend;
    size_t n, in, out;
    enum activation activation;
    float *x, *weight, *bias, *y, *r;
    double (*forward)(struct trial *trial);
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

static void
check_gradient(struct trial *trial, float *p, const float *gradient,
               size_t size)
{
    for (size_t i = 0; i < size; i++) {
        float kept = p[i];
        p[i] = kept + STEP;
        double above = p[i];
        double high = trial->forward(trial);
        p[i] = kept - STEP;
        double below = p[i];
        double low = trial->forward(trial);
        p[i] = kept;
        assert_near((high - low) / (above - below), gradient[i], TOLERANCE);
    }
}

static void
trial_make(struct trial *trial, struct tensor_backend *backend, size_t n,
           size_t in, size_t out)
{
    *trial = (struct trial){.backend = backend,
                            .n = n,
                            .in = in,
                            .out = out,
                            .x = numbers(n * in, 21, 1),
                            .weight = numbers(out * in, 22, 1),
                            .bias = numbers(out, 23, 1),
                            .y = numbers(n * out, 24, 1),
                            .r = numbers(n * out, 25, 1)};
}

static void
trial_free(struct trial *trial)
{
    free(trial->r);
    free(trial->y);
    free(trial->bias);
    free(trial->weight);
    free(trial->x);
}

/* ---- Dense -------------------------------------------------------------- */

static double
dense_forward(struct trial *t)
{
    t->backend->ops->dense(t->backend, t->n, t->in, t->out, t->x, t->weight,
                           t->bias, t->activation, t->y);
    return dot(t->y, t->r, t->n * t->out);
}

static void
check_dense(struct tensor_backend *backend, enum activation activation)
{
    struct trial t;
    trial_make(&t, backend, 5, 4, 3);
    float *dy = copied(t.r, 15);
    float dweight[12];
    float dbias[3];
    float dx[20];
    t.activation = activation;
    t.forward = dense_forward;
    (void)t.forward(&t);
    backend->ops->dense_back(backend, 5, 4, 3, t.x, t.weight, t.y, activation,
                             dy, dweight, dbias, dx);
    check_gradient(&t, t.weight, dweight, 12);
    check_gradient(&t, t.bias, dbias, 3);
    check_gradient(&t, t.x, dx, 20);
    free(dy);
    trial_free(&t);
}

static void
test_dense(void **state)
{
    (void)state;
    for (int a = ACTIVATION_NONE; a <= ACTIVATION_TANH; a++) {
        check_dense(plain, (enum activation)a);
        check_dense(cpu[1], (enum activation)a);
    }
}

/* ---- Batch norm: gain is `weight`, shift `bias` ------------------------- */

static float moments[4][4];

static double
norm_forward(struct trial *t)
{
    t->backend->ops->norm(t->backend, t->n, t->out, true, 0.1F, t->x, t->weight,
                          t->bias, moments[0], moments[1], t->activation,
                          moments[2], moments[3], t->y);
    return dot(t->y, t->r, t->n * t->out);
}

static void
check_norm(struct tensor_backend *backend, enum activation activation)
{
    struct trial t;
    trial_make(&t, backend, 6, 4, 4);
    float *dy = copied(t.r, 24);
    float dgain[4];
    float dshift[4];
    float dx[24];
    t.activation = activation;
    t.forward = norm_forward;
    (void)t.forward(&t);
    backend->ops->norm_back(backend, 6, 4, t.x, t.weight, moments[2],
                            moments[3], t.y, activation, dy, dgain, dshift, dx);
    check_gradient(&t, t.weight, dgain, 4);
    check_gradient(&t, t.bias, dshift, 4);
    check_gradient(&t, t.x, dx, 24);
    free(dy);
    trial_free(&t);
}

static void
test_norm(void **state)
{
    (void)state;
    for (int a = ACTIVATION_NONE; a <= ACTIVATION_TANH; a++) {
        check_norm(plain, (enum activation)a);
        check_norm(cpu[1], (enum activation)a);
    }
}

/* ---- Softmax and clipping ----------------------------------------------- */

static double
softmax_forward(struct trial *t)
{
    t->backend->ops->softmax(t->backend, t->n, t->out, t->x, t->y);
    return dot(t->y, t->r, t->n * t->out);
}

static double
clip_forward(struct trial *t)
{
    t->backend->ops->clip_l1(t->backend, t->n, t->out, 1.5F, t->x, t->y);
    return dot(t->y, t->r, t->n * t->out);
}

static void
test_rowwise(void **state)
{
    struct tensor_backend *all[] = {plain, cpu[1]};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct trial t;
        float dx[20];
        trial_make(&t, all[i], 5, 4, 4);
        t.forward = softmax_forward;
        (void)t.forward(&t);
        all[i]->ops->softmax_back(all[i], 5, 4, t.y, t.r, dx);
        check_gradient(&t, t.x, dx, 20);
        t.forward = clip_forward;
        all[i]->ops->clip_l1_back(all[i], 5, 4, 1.5F, t.x, t.r, dx);
        check_gradient(&t, t.x, dx, 20);
        trial_free(&t);
    }
}

/* ---- Losses: targets in `y` --------------------------------------------- */

static double
bernoulli_forward(struct trial *t)
{
    return t->backend->ops->bernoulli(t->backend, t->n, t->in, t->x, t->y, 1,
                                      NULL);
}

static double
gaussian_forward(struct trial *t)
{
    return t->backend->ops->gaussian(t->backend, t->n, t->in, t->x, t->y, 1,
                                     NULL);
}

static double
categorical_forward(struct trial *t)
{
    return t->backend->ops->categorical(t->backend, t->n, t->in, t->x, t->y, 1,
                                        NULL);
}

static void
test_losses(void **state)
{
    struct tensor_backend *all[] = {plain, cpu[1]};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct trial t;
        float dx[20];
        trial_make(&t, all[i], 5, 4, 4);
        for (size_t j = 0; j < 20; j++) {
            t.y[j] = fabsf(t.y[j]);
            t.x[j] *= 3;
        }
        (void)all[i]->ops->bernoulli(all[i], 5, 4, t.x, t.y, 1, dx);
        t.forward = bernoulli_forward;
        check_gradient(&t, t.x, dx, 20);
        (void)all[i]->ops->gaussian(all[i], 5, 4, t.x, t.y, 1, dx);
        t.forward = gaussian_forward;
        check_gradient(&t, t.x, dx, 20);
        (void)all[i]->ops->categorical(all[i], 5, 4, t.x, t.y, 1, dx);
        t.forward = categorical_forward;
        check_gradient(&t, t.x, dx, 20);
        trial_free(&t);
    }
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
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),   cmocka_unit_test(test_norm),
        cmocka_unit_test(test_rowwise), cmocka_unit_test(test_losses),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
