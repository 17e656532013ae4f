/*
 * test_identity.c: the columns themselves as a mechanism.
 */
#include "fail_alloc.h"
#include "learnt_fixture.h"
#include "mechanism/mechanism.h"
#include "mechanism/rows.h"

enum { ROWS = 300 };

static struct sotto_mechanism *
train(const struct sotto_table *table, const char *inside)
{
    const struct sotto_setting set[] = {{"inside", inside}};
    const struct sotto_train_options options = {
        .eps = "4", .label = "kind", .set = set, .sets = 1, .threads = 1};
    struct sotto_mechanism *mechanism = NULL;
    must(sotto_train(table, "identity", &options, in_folder("i.sotto"),
                     in_folder("i.analyst"), NULL, &mechanism, &err));
    return mechanism;
}

/* Each entry of z is one of x, times a number of its own, and the share inside
   is as asked; what is read again has the same shape. */
static void
test_map(void **state)
{
    struct sotto_table *table = people(ROWS);
    struct sotto_mechanism *mechanism = train(table, "0.8"), *again = NULL;
    size_t width = mechanism->shape.x, inside = 0;
    float x[8], z[8], by[8] = {0};
    struct rows rows;
    (void)state;
    assert_int_equal(width, 5); /* a; red, blue, other; b */
    assert_int_equal(mechanism->shape.z, width);
    assert_true(mechanism->shape.plain);
    must(sotto_mechanism_read(in_folder("i.sotto"), &again, &err));
    assert_true(again->shape.plain);
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < ROWS; i++) {
        double norm = 0;
        rows_encode(&rows, i, x, z);
        for (size_t j = 0; j < width; j++) {
            by[j] = by[j] == 0 && x[j] != 0 ? z[j] / x[j] : by[j];
            assert_true(fabsf(z[j] - by[j] * x[j]) < 1e-6F);
            norm += (double)fabsf(z[j]);
        }
        inside += norm <= 1;
    }
    assert_in_range(inside, (size_t)(0.8 * ROWS), (size_t)(0.83 * ROWS));
    rows_clear(&rows);
    sotto_mechanism_free(again);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* A layer that is no diagonal is an encoder: principal components are. */
static void
test_other(void **state)
{
    struct sotto_table *table = people(ROWS);
    const struct sotto_setting set[] = {{"d", "3"}};
    const struct sotto_train_options options = {
        .eps = "4", .label = "kind", .set = set, .sets = 1, .threads = 1};
    struct sotto_mechanism *mechanism = NULL;
    (void)state;
    must(sotto_train(table, "pca", &options, NULL, NULL, NULL, &mechanism,
                     &err));
    assert_false(mechanism->shape.plain);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* Every allocation fails in turn. */
static void
test_no_memory(void **state)
{
    struct sotto_table *table = people(40);
    const struct sotto_train_options options = {
        .eps = "4", .label = "kind", .threads = 1};
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        struct sotto_mechanism *mechanism = NULL;
        fail_alloc_at(++n);
        status = sotto_train(table, "identity", &options, NULL, NULL, NULL,
                             &mechanism, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        sotto_mechanism_free(mechanism);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_map, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
