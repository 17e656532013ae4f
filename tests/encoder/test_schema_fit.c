/*
 * test_schema_fit.c: choosing columns, and what is fitted to them.
 */
#include "encoder/schema_fit.h"

#include "learnt_fixture.h"

static struct sotto_table *
parse(const char *text)
{
    struct sotto_table *table = NULL;
    must(sotto_table_parse(text, strlen(text), "-", NULL, &table, &err));
    return table;
}

static void
test_choose(void **state)
{
    static const char *const drop[] = {"c", "a"};
    static const char *const all[] = {"a", "b", "c", "d"};
    static const char *const none[] = {"e"};
    struct sotto_table *table = parse("a,b,c,d\n1,2,x,4\n");
    struct schema_choice choice;
    (void)state;
    must(schema_fit_choose(table, NULL, 0, NULL, &choice, &err));
    assert_int_equal(choice.columns, 4);
    assert_true(choice.label == SIZE_MAX);
    schema_fit_choice_clear(&choice);
    must(schema_fit_choose(table, drop, 2, "d", &choice, &err));
    assert_int_equal(choice.columns, 2);
    assert_int_equal(choice.kept[0], 1);
    assert_int_equal(choice.kept[1], 3);
    assert_int_equal(choice.label, 3); /* of the table */
    schema_fit_choice_clear(&choice);
    schema_fit_choice_clear(&choice);
    must_fail(SOTTO_STATUS_USAGE, "both the label and dropped",
              schema_fit_choose(table, drop, 2, "a", &choice, &err));
    must_fail(SOTTO_STATUS_USAGE, "every column",
              schema_fit_choose(table, all, 4, NULL, &choice, &err));
    must_fail(SOTTO_STATUS_USAGE,
              "drop: there is no column \"e\"; the columns are a, b, c, d",
              schema_fit_choose(table, none, 1, NULL, &choice, &err));
    must_fail(SOTTO_STATUS_USAGE,
              "label: ", schema_fit_choose(table, drop, 2, "e", &choice, &err));
    sotto_table_free(table);
}

static void
test_category(void **state)
{
    struct sotto_table *table = parse("a\nred\n\nblue\nred\nblu\n");
    struct compose_column column = {0};
    (void)state;
    must(schema_fit_category(table, 0, &column, &err));
    assert_int_equal(column.count, 4);
    assert_string_equal(column.values[0], "blu");
    assert_string_equal(column.values[1], "blue");
    assert_string_equal(column.values[2], "red");
    free((void *)(uintptr_t)column.values);
    sotto_table_free(table);
}

static void
check_standard(const char *text, double shift, double scale)
{
    struct sotto_table *table = parse(text);
    struct compose_column column = {0};
    must(schema_fit_standard(table, 0, &column, &err));
    if (!(fabs(column.shift - shift) <= 1e-12 * (1 + fabs(shift))) ||
        !(fabs(column.scale - scale) <= 1e-12 * (1 + fabs(scale)))) {
        fail_msg("%s: shift %g, scale %g", text, column.shift, column.scale);
    }
    sotto_table_free(table);
}

static void
test_standard(void **state)
{
    struct sotto_table *table = parse("a,b\n1,\n2,\n");
    struct compose_column column = {0};
    (void)state;
    check_standard("a,b\n1,0\n3,0\n", 2, 1);
    check_standard("a,b\n1,0\n,0\n5,0\n", 3,
                   0.5); /* the missing one counts not */
    check_standard("a,b\n7,0\n7,0\n", 7, 0);
    check_standard("a,b\n1000000001,0\n1000000003,0\n", 1000000002, 1);
    check_standard("a,b\n-1e308,0\n1.7e308,0\n-1.7e308,0\n1e308,0\n", 0, 0);
    must_fail(SOTTO_STATUS_INPUT, "\"b\" has no value",
              schema_fit_standard(table, 1, &column, &err));
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_category),
        cmocka_unit_test(test_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
