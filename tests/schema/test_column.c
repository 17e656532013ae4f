/*
 * test_column.c: the kinds of columns.
 */
#include "schema_fixture.h"

#include "fail_alloc.h"

/* Every kind is whole, and stands where its number says. */
static void
test_kinds(void **state)
{
    static const char *const names[] = {"number", "category", "bytes"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        const struct schema_kind *kind = schema_kind((enum sotto_column_kind)i);
        assert_string_equal(kind->name, names[i]);
        assert_non_null(kind->fit);
        assert_non_null(kind->read);
        assert_non_null(kind->write);
        assert_non_null(kind->hostile);
        assert_non_null(kind->draw);
        assert_non_null(kind->describe);
        assert_int_equal(kind->device, i); /* a new kind may share one */
        assert_int_equal(kind->ranged, i == SOTTO_COLUMN_NUMBER);
        assert_int_equal(kind->symbols, i == SOTTO_COLUMN_CATEGORY);
        assert_int_equal(kind->bytes, i == SOTTO_COLUMN_BYTES);
    }
}

/* A schema has texts of its own, and they lie as a device has them. */
static void
test_owner(void **state)
{
    char name[] = "colour", word[] = "red";
    const char *const values[] = {"blue", word};
    const struct schema_column view[] = {
        {.name = "age", .count = 1, .scale = 2, .missing = true},
        {.name = name,
         .kind = SOTTO_COLUMN_CATEGORY,
         .count = 3,
         .values = values,
         .input = true}};
    struct encode_column device = {
        .kind = ENCODE_COLUMN_CATEGORY, .count = 3, .inputs = 3};
    struct schema schema;
    (void)state;
    must(schema_init(&schema, 3, &err));
    must(schema_add(&schema, &view[0], &err));
    must(schema_add(&schema, &view[1], &err));
    name[0] = word[0] = 'X';
    assert_memory_equal(schema.column[1].name, "colour\0blue\0red", 16);
    assert_string_equal(schema.column[1].values[1], "red");
    assert_null(schema.column[0].values);
    assert_int_equal(schema.column[0].inputs, 2);
    assert_int_equal(schema.column[1].at, 2);
    assert_int_equal(schema.column[1].inputs, 3);
    device.text = (const uint8_t *)schema.column[1].name;
    must(schema_add_device(&schema, &device, 4, 5, &err));
    assert_int_equal(schema.columns, 3);
    assert_true(schema.column[2].name != schema.column[1].name);
    assert_memory_equal(schema.column[2].name, "colour\0blue\0red", 16);
    assert_string_equal(schema.column[2].values[0], "blue");
    assert_true(schema.column[2].input && !schema.column[2].clip);
    assert_true(schema.column[2].shift == 4 && schema.column[2].scale == 5);
    assert_int_equal(schema.column[2].at, 5);
    schema_clear(&schema);
    schema_clear(&schema);
}

static void
test_memory(void **state)
{
    const struct encode_column device = {.kind = ENCODE_COLUMN_CATEGORY,
                                         .count = 2,
                                         .text = (const uint8_t *)"a\0b"};
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    long n = 0;
    (void)state;
    while (status == SOTTO_STATUS_MEMORY) {
        struct schema schema;
        fail_alloc_at(++n);
        status = schema_init(&schema, 1, &err);
        if (status == SOTTO_STATUS_OK) {
            status = schema_add_device(&schema, &device, 0, 1, &err);
        }
        schema_clear(&schema);
    }
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_int_equal(n, 5);
}

static void
test_messages(void **state)
{
    (void)state;
    must_fail(
        SOTTO_STATUS_USAGE, "before \"x\" after",
        schema_column_fail(SOTTO_STATUS_USAGE, "before ", "x", " after", &err));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_owner),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
