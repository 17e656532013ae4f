/*
 * test_likelihood.c: the losses against plain loops, their extremes, and that
 * the number of threads changes no bit.
 */
#include "tensor_fixture.h"

typedef double (*loss_op)(struct tensor_backend *self, size_t n, size_t width,
                          const float *a, const float *target, float scale,
                          float *da);

enum loss { BERNOULLI, GAUSSIAN, CATEGORICAL, LOSSES };

static loss_op
op_of(const struct tensor_backend *backend, enum loss loss)
{
    return loss == BERNOULLI  ? backend->ops->bernoulli
           : loss == GAUSSIAN ? backend->ops->gaussian
                              : backend->ops->categorical;
}

static const size_t ns[] = {1, 3, 65};
static const size_t widths[] = {1, 7, 16, 300, 784};

static void
check_loss(enum loss loss, size_t n, size_t width, float scale)
{
    size_t size = n * width;
    float *a = numbers(size, 1, 8);
    float *target = numbers(size, 2, 1);
    float *expected = numbers(size, 3, 1);
    float *first = NULL;
    double first_sum = 0;
    for (size_t i = 0; i < size; i++) {
        target[i] = fabsf(target[i]);
    }
    double sum =
        op_of(plain, loss)(plain, n, width, a, target, scale, expected);
    for (unsigned t = 0; t < CPUS; t++) {
        float *da = copied(a, size); /* in the logits' own place */
        double got =
            op_of(cpu[t], loss)(cpu[t], n, width, da, target, scale, da);
        assert_near(got, sum, 1e-6);
        assert_close(da, expected, size, 1e-6);
        if (first == NULL) {
            first = da;
            first_sum = got;
            continue;
        }
        assert_true(got == first_sum);
        assert_same(da, first, size);
        got = op_of(cpu[t], loss)(cpu[t], n, width, a, target, scale, NULL);
        assert_true(got == first_sum);
        free(da);
    }
    assert_true(op_of(plain, loss)(plain, n, width, a, target, scale, NULL) ==
                sum);
    free(first);
    free(expected);
    free(target);
    free(a);
}

static void
test_losses(void **state)
{
    (void)state;
    for (int loss = 0; loss < LOSSES; loss++) {
        for (size_t i = 0; i < 3; i++) {
            for (size_t j = 0; j < 5; j++) {
                check_loss((enum loss)loss, ns[i], widths[j], 0.25F);
            }
        }
    }
}

/* By hand: log 2 at a logit of 0, 0 at a right and sure one, |a| at a wrong
   and sure one; and a NaN is not lost. */
static void
test_known(void **state)
{
    struct tensor_backend *all[] = {plain, cpu[0], cpu[1]};
    const float a[] = {0, 200, -200, 200, -200, 30};
    const float t[] = {1, 1, 0, 0, 1, 0.5F};
    const double expected = 0.69314718055994531 + 200 + 200 + 15;
    const float slopes[] = {-1, 0, 0, 2, -2, 1};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        float da[6];
        double got = all[i]->ops->bernoulli(all[i], 1, 6, a, t, 2, da);
        assert_near(got, expected, 1e-7);
        assert_close(da, slopes, 6, 1e-6);
        const float bad[] = {NAN};
        assert_true(isnan(all[i]->ops->bernoulli(all[i], 1, 1, bad, t, 1, da)));
        assert_true(isnan(da[0]));
        const float logits[] = {1000, 1000, -1000, 0, 0, 0};
        const float one[] = {1, 0, 0, 0, 0, 1};
        const float p[] = {-0.5F, 0.5F, 0, 1 / 3.F, 1 / 3.F, -2 / 3.F};
        got = all[i]->ops->categorical(all[i], 2, 3, logits, one, 1, da);
        assert_near(got, log(2) + log(3), 1e-6);
        assert_close(da, p, 6, 1e-6);
        const float point[] = {3, -1};
        const float mean[] = {1, 1};
        got = all[i]->ops->gaussian(all[i], 1, 2, point, mean, 1, da);
        assert_near(got, 4, 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
