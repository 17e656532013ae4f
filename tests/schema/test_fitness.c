/*
 * test_fitness.c: what in a table does not fit a schema.
 */
#include "schema_fixture.h"

static struct sotto_schema_misfit told[8];
static size_t tellings;

static bool
tell(void *own, const struct sotto_schema_misfit *misfit)
{
    told[tellings++] = *misfit;
    return tellings < *(size_t *)own;
}

static void
test_check(void **state)
{
    static const char text[] =
        "sotto-schema = 1\n[age]\ntype = integer\nrange = 0 : 100\n[colour]\n"
        "type = category\nvalues = red, blue\n[id]\ntype = id\nuse = drop\n"
        "[gone]\ntype = boolean\nvalues = 0, 1\n";
    struct sotto_table *table =
        parse("age,colour,id\n5,red,1\n101,green,2\nold,,3\n1.5,blue,4\n,red,"
              "5\n");
    struct sotto_schema *schema = NULL;
    struct sotto_schema_total total[4];
    size_t most = 8;
    (void)state;
    must(sotto_schema_parse(text, strlen(text), "s", &schema, &err));
    must(sotto_schema_check(schema, table, tell, &most, total, &err));
    assert_int_equal(tellings, 4);
    assert_int_equal(told[0].row, 1);
    assert_int_equal(told[0].line, 3);
    assert_int_equal(told[0].kind, SOTTO_SCHEMA_BEYOND);
    assert_int_equal(told[1].kind, SOTTO_SCHEMA_UNKNOWN);
    assert_int_equal(told[1].column, 1);
    assert_int_equal(told[2].kind, SOTTO_SCHEMA_WORD);
    assert_int_equal(told[3].kind, SOTTO_SCHEMA_FRACTION);
    assert_int_equal(total[0].of[SOTTO_SCHEMA_FITS], 1);
    assert_int_equal(total[0].of[SOTTO_SCHEMA_MISSING], 1);
    assert_int_equal(total[1].of[SOTTO_SCHEMA_MISSING], 1);
    assert_int_equal(total[1].of[SOTTO_SCHEMA_FITS], 3);
    assert_int_equal(total[2].of[SOTTO_SCHEMA_FITS], 0);
    assert_false(total[2].absent);
    assert_true(total[3].absent);
    /* The telling ends, the counting does not. */
    tellings = 0;
    most = 1;
    must(sotto_schema_check(schema, table, tell, &most, total, &err));
    assert_int_equal(tellings, 1);
    assert_int_equal(total[0].of[SOTTO_SCHEMA_WORD], 1);
    sotto_schema_free(schema);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
