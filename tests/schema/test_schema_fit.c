/*
 * test_schema_fit.c: choosing columns.
 */
#include "schema/schema_fit.h"

#include "schema_fixture.h"

/* The columns that are chosen without a schema. */
static enum sotto_status
choose(const struct sotto_table *of, const char *const *drop, size_t drops,
       const char *label, struct schema_choice *ret,
       struct sotto_error *ret_err)
{
    const struct sotto_train_options options = {
        .drop = drop, .drops = drops, .label = label};
    return schema_fit_choose(of, &options, ret, ret_err);
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
    must(choose(table, NULL, 0, NULL, &choice, &err));
    assert_int_equal(choice.columns, 4);
    assert_true(choice.label == SIZE_MAX);
    schema_fit_choice_clear(&choice);
    must(choose(table, drop, 2, "d", &choice, &err));
    assert_int_equal(choice.columns, 2);
    assert_int_equal(choice.kept[0], 1);
    assert_int_equal(choice.kept[1], 3);
    assert_int_equal(choice.label, 3); /* of the table */
    schema_fit_choice_clear(&choice);
    schema_fit_choice_clear(&choice);
    must_fail(SOTTO_STATUS_USAGE, "both the label and dropped",
              choose(table, drop, 2, "a", &choice, &err));
    must_fail(SOTTO_STATUS_USAGE, "every column",
              choose(table, all, 4, NULL, &choice, &err));
    must_fail(SOTTO_STATUS_USAGE,
              "drop: there is no column \"e\"; the columns are a, b, c, d",
              choose(table, none, 1, NULL, &choice, &err));
    must_fail(SOTTO_STATUS_USAGE,
              "label: ", choose(table, drop, 2, "e", &choice, &err));
    sotto_table_free(table);
}

static void
test_label(void **state)
{
    struct sotto_table *table = parse("a,b\n1,x\n2,y\n");
    struct schema schema;
    (void)state;
    must(schema_init(&schema, 1, &err));
    assert_int_equal(schema_fit_label(&schema, table, 0, NULL, 0, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "\"a\" does not hold categories"));
    assert_int_equal(schema_fit_label(&schema, table, 1, NULL, 0, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(schema.columns, 1);
    assert_int_equal(schema.column[0].count, 3);
    assert_false(schema.column[0].input);
    schema_clear(&schema);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
