/*
 * test_smooth_features.c: the features of leaves: their products are the
 * kernels where nothing was cut off, lengths are 1, scales are in order.
 */
#include "smooth_fixture.h"

#include "fail_alloc.h"

/* a_l . a_o over the features of a scale. */
static double
product(const struct smooth_features *features, size_t m, size_t l, size_t o)
{
    double sum = 0;
    for (size_t i = features->first[m]; i < features->first[m + 1]; i++) {
        sum += (double)features->a[l * features->count + i] *
               (double)features->a[o * features->count + i];
    }
    return sum;
}

/* Leaves at 0, 1, ..., 19: the third nearest is 2 away inside, 3 at the ends.
 */
static void
test_kernels(void **state)
{
    static const double length[] = {0, 1, 3, 9};
    struct smooth_features features;
    float centre[20];
    (void)state;
    for (size_t l = 0; l < 20; l++) {
        centre[l] = (float)l;
    }
    must(smooth_features_init(&features, centre, 20, 1, NULL, &err));
    assert_int_equal(features.first[0], 0);
    assert_int_equal(features.first[1], 1);
    assert_int_equal(features.first[SMOOTH_SCALES], features.count);
    assert_int_equal(features.first[SMOOTH_SCALES - 1], features.count);
    for (size_t m = 1; m < SMOOTH_SCALES - 1; m++) {
        assert_true(features.first[m + 1] > features.first[m]);
        for (size_t l = 0; l < 20; l++) {
            assert_true(fabs(product(&features, m, l, l) - 1) < 1e-5);
        }
        for (size_t o = 8; o < 14; o++) { /* all of them inside */
            double gap = (double)o - 10;
            double right = exp(-gap * gap / (2 * length[m] * 4));
            assert_true(fabs(product(&features, m, 10, o) - right) < 0.1);
        }
    }
    /* Longer lengths need fewer features. */
    assert_true(features.first[4] - features.first[3] <
                features.first[2] - features.first[1]);
    smooth_features_clear(&features);
}

/* Leaves of one code have all in common at the last scale, those of two codes
   nothing, and a leaf that is half in each is like both; one in none stays 0.
   The other scales are as they were. */
static void
test_codes(void **state)
{
    const double share[] = {5, 0, 9, 0, 3, 3, 0, 2, 0, 0};
    const float centre[] = {0, 1, 2, 3, 4};
    struct smooth_features features, before;
    const size_t m = SMOOTH_SCALES - 1;
    (void)state;
    must(smooth_features_init(&before, centre, 5, 1, NULL, &err));
    must(smooth_features_init(&features, centre, 5, 1, NULL, &err));
    must(smooth_features_add_codes(&features, share, 2, &err));
    assert_int_equal(features.count, before.count + 2);
    assert_int_equal(features.first[m + 1], features.count);
    assert_int_equal(features.first[m], before.count);
    assert_true(fabs(product(&features, m, 0, 1) - 1) < 1e-6);
    assert_true(fabs(product(&features, m, 0, 3)) < 1e-6);
    assert_true(fabs(product(&features, m, 1, 2) - sqrt(0.5)) < 1e-6);
    assert_true(fabs(product(&features, m, 2, 2) - 1) < 1e-6);
    assert_true(fabs(product(&features, m, 4, 4)) < 1e-6);
    for (size_t l = 0; l < 5; l++) {
        assert_memory_equal(features.a + l * features.count,
                            before.a + l * before.count,
                            before.count * sizeof *before.a);
    }
    smooth_features_clear(&features);
    smooth_features_clear(&before);
}

/* Leaves that coincide, one leaf alone, and numbers that are none. */
static void
test_edges(void **state)
{
    struct smooth_features features;
    float same[8] = {1, 2, 1, 2, 1, 2, 1, 2}, one[2] = {3, 4};
    (void)state;
    must(smooth_features_init(&features, same, 4, 2, NULL, &err));
    assert_true(fabs(product(&features, 1, 0, 3) - 1) < 1e-5);
    smooth_features_clear(&features);
    must(smooth_features_init(&features, one, 1, 2, NULL, &err));
    assert_int_equal(features.count, 4);
    smooth_features_clear(&features);
    one[0] = NAN;
    assert_int_not_equal(smooth_features_init(&features, one, 1, 2, NULL, &err),
                         SOTTO_STATUS_OK);
    smooth_features_clear(&features);
}

/* Fifteen places with four leaves each have all features of the shortest
   length; a leaf near one of them, e^-20 like it, has none. */
static void
test_noise(void **state)
{
    struct smooth_features features;
    float centre[61];
    (void)state;
    for (size_t l = 0; l < 60; l++) {
        centre[l] = (float)(l / 4);
    }
    centre[60] = 4e-5F;
    must(smooth_features_init(&features, centre, 61, 1, NULL, &err));
    assert_int_equal(features.first[2] - features.first[1], 15);
    assert_true(fabs(product(&features, 1, 0, 0) - 1) < 1e-5);
    assert_true(product(&features, 1, 60, 60) == 0);
    smooth_features_clear(&features);
}

static void
test_watch(void **state)
{
    const struct sotto_watch watch = {.tick = stop_at_once};
    const float centre[] = {0, 1, 3, 4, 8};
    struct smooth_features features;
    (void)state;
    assert_int_equal(
        smooth_features_init(&features, centre, 5, 1, &watch, &err),
        SOTTO_STATUS_STOPPED);
    smooth_features_clear(&features);
}

static void
test_memory(void **state)
{
    const float centre[] = {0, 1, 3, 4, 8};
    const double share[] = {1, 1, 1, 1, 1};
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        struct smooth_features features;
        fail_alloc_at(++n);
        status = smooth_features_init(&features, centre, 5, 1, NULL, &err);
        if (status == SOTTO_STATUS_OK) {
            status = smooth_features_add_codes(&features, share, 1, &err);
        }
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        smooth_features_clear(&features);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_codes),
        cmocka_unit_test(test_edges),   cmocka_unit_test(test_noise),
        cmocka_unit_test(test_watch),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
