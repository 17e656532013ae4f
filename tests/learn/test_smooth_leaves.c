/*
 * test_smooth_leaves.c: leaves of auxiliary records, how people lie in leaves
 * and codes, and what codes have of their leaves' labels.
 */
#include "smooth_fixture.h"

#include "fail_alloc.h"
#include "learn/codes/smooth_leaves.h"

enum { RECORDS = 96, CELLS = 4 };

static float z[RECORDS * 2];
static uint32_t code[RECORDS];
static struct host_pool *pool;
static struct tensor_backend *backend;

/* Twelve groups on a circle of radius 1 + m / 200; a code has three of them. */
static void
make_records(void)
{
    for (size_t m = 0; m < RECORDS; m++) {
        double angle = 0.5236 * (double)(m % 12) + 1e-3 * (double)(m / 12);
        double radius = 1 + (double)m / 200;
        z[2 * m] = (float)(radius * cos(angle));
        z[2 * m + 1] = (float)(radius * sin(angle));
        code[m] = (uint32_t)(m % 12 / 3);
    }
}

static enum sotto_status
make_leaves(struct smooth_leaves *leaves, bool unit)
{
    return smooth_leaves_init(leaves, z, RECORDS, 2, unit, 12, 3, 1, pool,
                              backend, NULL, &err);
}

static void
test_wanted(void **state)
{
    (void)state;
    /* 15,000 reports at 0.5, 1, 2, 4 have about these errors. */
    assert_in_range(smooth_leaves_wanted(10, 0.32, 45000), 110, 130);
    assert_in_range(smooth_leaves_wanted(15, 0.24, 45000), 170, 200);
    assert_in_range(smooth_leaves_wanted(30, 0.21, 45000), 280, 320);
    assert_int_equal(smooth_leaves_wanted(100, 0.22, 45000), 400);
    assert_int_equal(smooth_leaves_wanted(150, 2, 45000), 300);
    assert_int_equal(smooth_leaves_wanted(2000, 0.3, 45000), 400);
    assert_int_equal(smooth_leaves_wanted(10, 5, 45000), 60);
    assert_int_equal(smooth_leaves_wanted(10, 0.3, 80), 10);
    assert_int_equal(smooth_leaves_wanted(10, 0.3, 3), 1);
}

/* Products with 400 leaves and hundreds of classes would take hours. */
static void
test_cheap(void **state)
{
    (void)state;
    assert_true(smooth_leaves_are_cheap(400, 100, 100));
    assert_false(smooth_leaves_are_cheap(400, 100, 110));
    assert_true(smooth_leaves_are_cheap(60, 10, 1000));
    assert_false(smooth_leaves_are_cheap(120, 10, 1000));
    assert_false(smooth_leaves_are_cheap(400, 2000, 100));
}

/* Two books: by thirds of the circle as `code` has it, and by odd groups. A
   leaf is a group, so it has one code of each, of length 1 together; a code
   that no record has is a feature of no leaf. */
static void
test_codes(void **state)
{
    uint32_t both[2 * RECORDS];
    struct smooth_leaves leaves;
    const struct smooth_features *features = &leaves.features;
    size_t first;
    (void)state;
    make_records();
    must(make_leaves(&leaves, true));
    first = features->count;
    memcpy(both, code, sizeof code);
    for (size_t m = 0; m < RECORDS; m++) {
        both[RECORDS + m] = (uint32_t)(m % 2);
    }
    must(smooth_leaves_add_codes(&leaves, both, RECORDS, 2, CELLS, &err));
    assert_int_equal(features->count, first + 2 * CELLS);
    for (size_t m = 0; m < RECORDS; m++) {
        const float *row =
            features->a + leaves.leaf[m] * features->count + first;
        for (size_t c = 0; c < CELLS; c++) {
            float of = c == code[m] ? sqrtf(0.5F) : 0;
            float other = c == m % 2 ? sqrtf(0.5F) : 0;
            assert_true(fabsf(row[c] - of) < 1e-6F);
            assert_true(fabsf(row[CELLS + c] - other) < 1e-6F);
        }
    }
    smooth_leaves_clear(&leaves);
}

static void
test_joint(void **state)
{
    const double pi[CELLS] = {0.4, 0.3, 0.2, 0.1};
    struct smooth_leaves leaves;
    double *joint, tau[CELLS * 3], share[3], sum = 0;
    (void)state;
    make_records();
    must(make_leaves(&leaves, true));
    assert_int_equal(leaves.count, 12); /* directions: the groups */
    for (size_t m = 12; m < RECORDS; m++) {
        assert_int_equal(leaves.leaf[m], leaves.leaf[m % 12]);
    }
    for (size_t m = 0; m < 12; m++) { /* the group's third is the label */
        leaves.tau[leaves.leaf[m] * 3 + m % 3] = 1;
    }
    joint = smooth_leaves_joint(&leaves, code, RECORDS, CELLS, pi);
    assert_non_null(joint);
    for (size_t l = 0; l < 12; l++) {
        for (size_t c = 0; c < CELLS; c++) {
            sum += joint[l * CELLS + c];
        }
    }
    assert_true(fabs(sum - 1) < 1e-9);
    assert_true(fabs(joint[leaves.leaf[0] * CELLS] - 0.4 / 3) < 1e-9);
    assert_true(fabs(joint[leaves.leaf[11] * CELLS + 3] - 0.1 / 3) < 1e-9);
    smooth_leaves_codes(&leaves, joint, CELLS, tau, share);
    for (size_t i = 0; i < CELLS * 3; i++) {
        assert_true(fabs(tau[i] - 1 / 3.0) < 1e-9);
    }
    free(joint);
    joint = smooth_leaves_joint(&leaves, code, RECORDS, CELLS + 1, NULL);
    assert_non_null(joint);
    assert_true(fabs(joint[leaves.leaf[0] * (CELLS + 1)] - 1 / 12.0) < 1e-9);
    free(joint);
    smooth_leaves_clear(&leaves);
}

/* A code that no record has gets the classes' shares. */
static void
test_empty(void **state)
{
    struct smooth_leaves leaves;
    double *joint, tau[(CELLS + 1) * 3], share[3];
    (void)state;
    make_records();
    must(make_leaves(&leaves, false));
    for (size_t l = 0; l < leaves.count; l++) {
        leaves.tau[l * 3 + 1] = 0.75;
        leaves.tau[l * 3 + 2] = 0.25;
    }
    joint = smooth_leaves_joint(&leaves, code, RECORDS, CELLS + 1, NULL);
    assert_non_null(joint);
    smooth_leaves_codes(&leaves, joint, CELLS + 1, tau, share);
    assert_true(fabs(tau[CELLS * 3 + 1] - 0.75) < 1e-9);
    assert_true(fabs(share[2] - 0.25) < 1e-9);
    free(joint);
    smooth_leaves_clear(&leaves);
}

static void
test_memory(void **state)
{
    enum sotto_status status;
    long n = 0;
    (void)state;
    make_records();
    do {
        struct smooth_leaves leaves;
        fail_alloc_at(++n);
        status = make_leaves(&leaves, true);
        if (status == SOTTO_STATUS_OK) {
            status =
                smooth_leaves_add_codes(&leaves, code, RECORDS, 1, CELLS, &err);
        }
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        smooth_leaves_clear(&leaves);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 6);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wanted), cmocka_unit_test(test_cheap),
        cmocka_unit_test(test_codes),  cmocka_unit_test(test_joint),
        cmocka_unit_test(test_empty),  cmocka_unit_test(test_memory),
    };
    int failed;
    must(host_pool_new(1, &pool, &err));
    must(tensor_new("cpu", pool, &backend, &err));
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    tensor_backend_free(backend);
    host_pool_free(pool);
    return failed;
}
