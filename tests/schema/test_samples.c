/*
 * test_samples.c: columns of samples.
 */
#include "schema_fixture.h"

#include "host/text.h"
#include "random/seeded.h"

static void
test_fit(void **state)
{
    const struct schema_aim standard = {0}, range = {.range = true};
    const uint8_t samples[] = {0, 255, 3, 4, 5, 6};
    const struct sotto_image image = {1, 3, 1};
    struct sotto_table *table = NULL;
    struct schema schema;
    const struct schema_column *column;
    (void)state;
    must(sotto_table_new(2, &table, &err));
    must(sotto_table_add_bytes(table, "b", samples, &image, &err));
    must(schema_init(&schema, 2, &err));
    column = schema.column;
    must(schema_fit(&schema, table, 0, &standard, &err));
    assert_int_equal(column[0].count, 3);
    assert_true(column[0].shift == 0 && column[0].scale == 1.0 / 255);
    must(schema_fit(&schema, table, 0, &range, &err));
    assert_true(column[1].shift == 127.5 && column[1].scale == 1 / 127.5);
    assert_null(column[1].values);
    assert_int_equal(column[1].inputs, 3);
    assert_int_equal(column[1].at, 3);
    schema_clear(&schema);
    sotto_table_free(table);
}

static void
test_values(void **state)
{
    uint8_t room[4] = {9, 9, 9, 9};
    const struct schema_field field = {.count = 3, .room = room};
    const struct schema_column column = {.count = 3};
    struct sotto_value value = {.kind = SOTTO_VALUE_BYTES, .size = 1};
    struct seeded seeded;
    struct host_text text;
    (void)state;
    assert_int_equal(schema_bytes.read(value).size, 1);
    assert_int_equal(schema_bytes.hostile(&field, 1).size, 3);
    assert_memory_equal(room, "\xff\xff\xff\x09", 4);
    assert_int_equal(schema_bytes.hostile(&field, 2).size, 3);
    assert_memory_equal(room, "\xff\x00\xff\x09", 4);
    assert_int_equal(schema_bytes.hostile(&field, 5).size, 4);
    assert_int_equal(schema_bytes.hostile(&field, 6).size, 2);
    assert_int_equal(schema_bytes.hostile(&field, 19).kind,
                     SOTTO_VALUE_MISSING);
    seeded_init(&seeded, 1, 2);
    value = schema_bytes.draw(&field, &seeded.random);
    assert_ptr_equal(value.data, room);
    assert_int_equal(value.size, 3);
    host_text_init(&text, 100);
    schema_bytes.write(&column, &text);
    assert_string_equal(text.data, ",\\\"count\\\":3");
    host_text_clear(&text);
    host_text_init(&text, 100);
    schema_bytes.describe(&column, NULL, &text);
    assert_string_equal(text.data, "3 samples, as the pixels of an image");
    host_text_clear(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
