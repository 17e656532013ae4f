/*
 * test_matrix.c: the rows of a table as x.
 */
#include "schema_fixture.h"

#include "fail_alloc.h"
#include "schema/matrix.h"

static const char *const colours[] = {"blue", "red"};
static const struct schema_column columns[] = {
    {.name = "age", .count = 1, .shift = 40, .scale = 0.1},
    {.name = "colour",
     .kind = SOTTO_COLUMN_CATEGORY,
     .count = 3,
     .values = colours,
     .input = true},
    {.name = "label",
     .kind = SOTTO_COLUMN_CATEGORY,
     .count = 3,
     .values = colours},
    {.name = "gone", .count = 1, .scale = 1, .missing = true},
};

static struct schema
own(const struct schema_column *column, size_t count)
{
    struct schema schema;
    must(schema_init(&schema, count, &err));
    for (size_t i = 0; i < count; i++) {
        must(schema_add(&schema, &column[i], &err));
    }
    return schema;
}

static void
test_fill(void **state)
{
    static const float expected[3][6] = {
        {1, 0, 1, 0, 0, 1}, {0, 1, 0, 0, 0, 1}, {-1.5f, 0, 0, 1, 0, 1}};
    /* A stray word makes the ages text, and they are numbers still. */
    struct sotto_table *table =
        parse("colour,age,label\nred,50,red\nblue,old,red\n,25,x\n");
    struct schema schema = own(columns, 4);
    float x[3][6];
    (void)state;
    assert_int_equal(matrix_width(columns, 4), 6);
    memset(x, 0xa5, sizeof x);
    must(matrix_fill(&schema, table, &x[0][0], &err));
    schema_clear(&schema);
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 6; j++) {
            assert_true(x[i][j] == expected[i][j]);
        }
    }
    sotto_table_free(table);
}

static void
test_samples(void **state)
{
    static const struct schema_column column = {.name = "b",
                                                .kind = SOTTO_COLUMN_BYTES,
                                                .count = 2,
                                                .shift = 127.5,
                                                .scale = 1 / 127.5};
    const struct sotto_image image = {1, 2, 1};
    struct sotto_table *table = NULL;
    struct schema schema = own(&column, 1);
    float x[2];
    (void)state;
    must(sotto_table_new(1, &table, &err));
    must(sotto_table_add_bytes(table, "b", (const uint8_t *)"\xff", &image,
                               &err));
    must(matrix_fill(&schema, table, x, &err));
    schema_clear(&schema);
    assert_true(x[0] == 1 && x[1] == -1);
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct sotto_table *table = parse("colour,age\nred,50\n");
    struct schema schema = own(columns, 4);
    enum sotto_status status;
    float x[6];
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = matrix_fill(&schema, table, x, &err);
    } while (status == SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_int_equal(n, 6); /* five blocks */
    schema_clear(&schema);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
