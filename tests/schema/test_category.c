/*
 * test_category.c: columns of which a value is one of several.
 */
#include "schema_fixture.h"

#include "fail_alloc.h"
#include "host/text.h"
#include "random/seeded.h"

static const struct schema_aim standard = {0};

static void
test_fit(void **state)
{
    struct sotto_table *table = parse("a\nred\n\nblue\nred\nblu\n");
    struct schema schema;
    (void)state;
    must(fit(table, 0, &standard, &schema));
    assert_int_equal(schema.column[0].count, 4);
    assert_string_equal(schema.column[0].values[0], "blu");
    assert_string_equal(schema.column[0].values[1], "blue");
    assert_string_equal(schema.column[0].values[2], "red");
    schema_clear(&schema);
    sotto_table_free(table);
}

/* Nothing but missing values, too many of them, no memory. */
static void
test_refused(void **state)
{
    struct sotto_table *table = NULL;
    struct schema schema;
    char name[1025][8];
    const char *texts[1025];
    (void)state;
    for (size_t i = 0; i < 1025; i++) {
        (void)snprintf(name[i], sizeof name[i], "%zu", i);
        texts[i] = name[i];
    }
    must(sotto_table_new(1025, &table, &err));
    must(sotto_table_add_texts(table, "t", texts, &err));
    must_fail(SOTTO_STATUS_INPUT, "\"t\" has more than 1024",
              fit(table, 0, &standard, &schema));
    for (size_t i = 0; i < 1025; i++) {
        texts[i] = NULL;
    }
    must(sotto_table_add_texts(table, "u", texts, &err));
    must_fail(SOTTO_STATUS_INPUT, "\"u\" has no value",
              fit(table, 1, &standard, &schema));
    texts[7] = "x";
    must(sotto_table_add_texts(table, "v", texts, &err));
    for (long n = 1; n <= 5; n++) {
        fail_alloc_at(n);
        assert_int_equal(fit(table, 2, &standard, &schema),
                         SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
    must(fit(table, 2, &standard, &schema));
    schema_clear(&schema);
    sotto_table_free(table);
}

static void
test_values(void **state)
{
    static const char *const words[] = {"a", "b"};
    const struct schema_field field = {.at = 1, .count = 3, .values = words};
    const struct schema_column column = {.count = 3, .input = true};
    struct sotto_value value = {
        .kind = SOTTO_VALUE_NUMBER, .number = 7, .data = "7", .size = 1};
    struct seeded seeded;
    struct host_text text;
    (void)state;
    assert_int_equal(schema_category.read(value).kind, SOTTO_VALUE_TEXT);
    value.data = NULL; /* a float without a text */
    assert_int_equal(schema_category.read(value).kind, SOTTO_VALUE_NUMBER);
    assert_string_equal(schema_category.hostile(&field, 0).data, "a");
    assert_int_equal(schema_category.hostile(&field, 2).size, 12);
    assert_null(schema_category.hostile(&field, 5).data);
    assert_int_equal(schema_category.hostile(&field, 19).kind,
                     SOTTO_VALUE_MISSING);
    seeded_init(&seeded, 1, 2);
    for (int i = 0; i < 20; i++) {
        value = schema_category.draw(&field, &seeded.random);
        assert_true(value.size == 1 || value.size == 12);
    }
    host_text_init(&text, 100);
    schema_category.write(&column, &text);
    assert_string_equal(text.data, ",\\\"count\\\":3,\\\"input\\\":1");
    host_text_clear(&text);
}

/* Twelve categories are named, each of them cut. */
static void
test_described(void **state)
{
    static const char *const words[13] = {"a", "b", "c", "d", "e", "f", "g",
                                          "h", "i", "j", "k", "l", "m"};
    struct schema_column column = {.count = 14, .values = words};
    const struct schema_range range = {0};
    struct host_text text;
    (void)state;
    host_text_init(&text, 1000);
    schema_category.describe(&column, &range, &text);
    assert_string_equal(text.data,
                        "one of 13 categories: a, b, c, d, e, f, g, h, i, j, "
                        "k, l and 1 more; anything else counts as (other)");
    host_text_clear(&text);
    host_text_init(&text, 1000);
    column.count = 3;
    column.missing = true;
    schema_category.describe(&column, &range, &text);
    assert_string_equal(text.data,
                        "one of 1 categories: a; a missing one is told apart, "
                        "as b, and anything else counts as (other)");
    host_text_clear(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
