/*
 * test_smooth_exchange.c: particles that call classes by other names.
 */
#include "smooth_fixture.h"

#include "fail_alloc.h"

enum { LEAVES = 6, CLASSES = 3, PARTICLES = 10 };

static const double pi[LEAVES] = {0.2, 0.2, 0.1, 0.1, 0.2, 0.2};

/* Leaf l has the class l / 2; in the first `exchanged` particles 1 and 2 have
   each other's place. */
static void
set_tau(size_t exchanged, float *tau, double *mean)
{
    memset(mean, 0, LEAVES * CLASSES * sizeof *mean);
    for (size_t l = 0; l < LEAVES; l++) {
        for (size_t t = 0; t < PARTICLES; t++) {
            size_t y = l / 2;
            y = t < exchanged && y > 0 ? 3 - y : y;
            for (size_t i = 0; i < CLASSES; i++) {
                float p = i == y ? 0.8F : 0.1F;
                tau[(l * PARTICLES + t) * CLASSES + i] = p;
                mean[l * CLASSES + i] += (double)p / PARTICLES;
            }
        }
    }
}

static void
test_exchanged(void **state)
{
    float tau[LEAVES * PARTICLES * CLASSES];
    double mean[LEAVES * CLASSES], found[CLASSES * CLASSES];
    (void)state;
    for (size_t n = 0; n < 5; n++) {
        double share = (double)n / PARTICLES;
        const double right[] = {1,     0, 0,     0,        1 - share,
                                share, 0, share, 1 - share};
        set_tau(n, tau, mean);
        must(smooth_exchanged(tau, mean, pi, LEAVES, PARTICLES, CLASSES, NULL,
                              found, &err));
        for (size_t i = 0; i < CLASSES * CLASSES; i++) {
            assert_true(fabs(found[i] - right[i]) < 1e-9);
        }
    }
}

/* Of what says nothing no class is taken for another. */
static void
test_even(void **state)
{
    float tau[LEAVES * PARTICLES * CLASSES];
    double mean[LEAVES * CLASSES], found[CLASSES * CLASSES];
    (void)state;
    for (size_t i = 0; i < LEAVES * PARTICLES * CLASSES; i++) {
        tau[i] = 1 / 3.0F;
    }
    for (size_t i = 0; i < LEAVES * CLASSES; i++) {
        mean[i] = 1 / 3.0;
    }
    must(smooth_exchanged(tau, mean, pi, LEAVES, PARTICLES, CLASSES, NULL,
                          found, &err));
    for (size_t y = 0; y < CLASSES; y++) {
        assert_true(fabs(found[y * CLASSES + y] - 1) < 1e-9);
    }
}

static void
test_watch(void **state)
{
    const struct sotto_watch watch = {.tick = stop_at_once};
    float tau[LEAVES * PARTICLES * CLASSES];
    double mean[LEAVES * CLASSES], found[CLASSES * CLASSES];
    (void)state;
    set_tau(1, tau, mean);
    assert_int_equal(smooth_exchanged(tau, mean, pi, LEAVES, PARTICLES, CLASSES,
                                      &watch, found, &err),
                     SOTTO_STATUS_STOPPED);
}

static void
test_memory(void **state)
{
    float tau[LEAVES * PARTICLES * CLASSES];
    double mean[LEAVES * CLASSES];
    enum sotto_status status;
    long n = 0;
    (void)state;
    set_tau(1, tau, mean);
    do {
        double found[CLASSES * CLASSES] = {7};
        fail_alloc_at(++n);
        status = smooth_exchanged(tau, mean, pi, LEAVES, PARTICLES, CLASSES,
                                  NULL, found, &err);
        assert_true(status == SOTTO_STATUS_OK ||
                    (status == SOTTO_STATUS_MEMORY && found[0] == 7));
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchanged),
        cmocka_unit_test(test_even),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
