/*
 * test_number.c: columns of numbers.
 */
#include "schema_fixture.h"

#include "fail_alloc.h"
#include "host/text.h"
#include "random/seeded.h"

static const struct schema_aim standard = {0};

static void
check_standard(const char *text, double shift, double scale)
{
    struct sotto_table *table = parse(text);
    struct schema schema;
    must(fit(table, 0, &standard, &schema));
    const struct schema_column column = schema.column[0];
    schema_clear(&schema);
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
    struct schema schema;
    (void)state;
    check_standard("a,b\n1,0\n3,0\n", 2, 1);
    check_standard("a,b\n1,0\n,0\n5,0\n", 3,
                   0.5); /* the missing one counts not */
    check_standard("a,b\n7,0\n7,0\n", 7, 0);
    check_standard("a,b\n1000000001,0\n1000000003,0\n", 1000000002, 1);
    check_standard("a,b\n-1e308,0\n1.7e308,0\n-1.7e308,0\n1e308,0\n", 0, 0);
    must_fail(SOTTO_STATUS_INPUT, "\"b\" has no value",
              fit(table, 1, &standard, &schema));
    sotto_table_free(table);
}

/* A range that is given, or the data's own, becomes -1 to 1. */
static void
test_range(void **state)
{
    const struct schema_aim own = {.range = true};
    const struct schema_aim given = {
        .range = true, .given = true, .low = -2, .high = 6};
    struct sotto_table *table = parse("a,b\n1,\n5,\n");
    struct schema schema;
    const struct schema_column *column;
    (void)state;
    must(schema_init(&schema, 3, &err));
    column = schema.column;
    must(schema_fit(&schema, table, 0, &own, &err));
    assert_true(column[0].shift == 3 && column[0].scale == 0.5);
    assert_string_equal(column[0].name, "a");
    assert_int_equal(column[0].count, 1);
    must(schema_fit(&schema, table, 0, &given, &err));
    assert_true(column[1].shift == 2 && column[1].scale == 0.25);
    must(schema_fit(&schema, table, 1, &given, &err));
    schema_clear(&schema);
    must_fail(SOTTO_STATUS_INPUT, "\"b\" has no value",
              fit(table, 1, &own, &schema));
    sotto_table_free(table);
}

/* All but a hundredth at either end, cut: an outlier moves nothing. */
static void
test_robust(void **state)
{
    const struct schema_aim robust = {.robust = true};
    char text[4000] = "a,b,c,d\n";
    struct sotto_table *table;
    struct schema schema;
    const struct schema_column *column;
    size_t used = strlen(text);
    (void)state;
    for (int i = 0; i < 201; i++) { /* 3 of 200 and a huge one; 7; nothing */
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 i == 200 ? "1e300,2,7,\n" : "%d,0,7,\n", i);
    }
    table = parse(text);
    must(schema_init(&schema, 4, &err));
    column = schema.column;
    must(schema_fit(&schema, table, 0, &robust, &err));
    assert_true(column[0].shift == 100 && column[0].scale == 1.0 / 98);
    assert_true(column[0].clip);
    must(schema_fit(&schema, table, 1, &robust, &err)); /* the extremes */
    assert_true(column[1].shift == 1 && column[1].scale == 1);
    must(schema_fit(&schema, table, 2, &robust, &err)); /* a constant */
    assert_true(column[2].shift == 7 && column[2].scale == 0);
    must_fail(SOTTO_STATUS_INPUT, "\"d\" has no value",
              schema_fit(&schema, table, 3, &robust, &err));
    schema_clear(&schema);
    sotto_table_free(table);
}

/* Of what is learnt, a logarithm where a schema asks for one; of what direct
   sends, never. x of a value and the value of an x undo each other. */
static void
test_logarithm(void **state)
{
    const struct sotto_schema_column as = {
        .type = SOTTO_SCHEMA_NUMBER, .low = -100, .high = 100, .log = true};
    const struct schema_aim learnt = {.as = &as};
    const struct schema_aim robust = {.robust = true, .as = &as};
    const struct schema_aim sent = {.range = true, .as = &as};
    struct sotto_table *table = parse("a\n0\n1e9\n");
    const double end = log(101); /* cut there, as it was before */
    struct schema schema;
    const struct schema_column *column;
    (void)state;
    must(schema_init(&schema, 3, &err));
    column = schema.column;
    must(schema_fit(&schema, table, 0, &learnt, &err));
    assert_true(column[0].log && !column[0].clip);
    assert_true(fabs(column[0].shift - end / 2) < 1e-12);
    assert_true(fabs(column[0].scale - 2 / end) < 1e-12);
    must(schema_fit(&schema, table, 0, &robust, &err));
    assert_true(column[1].log && !column[1].clip);
    assert_true(fabs(column[1].scale * 2.33 - 2 / end) < 1e-12);
    must(schema_fit(&schema, table, 0, &sent, &err));
    assert_true(!column[2].log && column[2].scale == 0.01);
    for (double value = -1e6; value < 1e6; value += 4321) {
        double x = schema_column_x(&column[0], value);
        assert_true(fabs(schema_column_value(&column[0], x) - value) <=
                    1e-9 * (1 + fabs(value)));
    }
    schema_clear(&schema);
    sotto_table_free(table);
}

static void
test_robust_memory(void **state)
{
    const struct schema_aim robust = {.robust = true};
    struct sotto_table *table = parse("a\n1\n2\n");
    struct schema schema;
    (void)state;
    must(schema_init(&schema, 1, &err));
    fail_alloc_at(1);
    must_fail(SOTTO_STATUS_MEMORY, "",
              schema_fit(&schema, table, 0, &robust, &err));
    fail_alloc_at(0);
    schema_clear(&schema);
    sotto_table_free(table);
}

static void
test_values(void **state)
{
    const struct schema_field field = {.at = 1, .low = -1, .high = 3};
    const struct schema_column column = {.clip = true, .missing = true};
    struct sotto_value value = {
        .kind = SOTTO_VALUE_TEXT, .number = 7, .data = "7", .size = 1};
    struct seeded seeded;
    struct host_text text;
    (void)state;
    assert_int_equal(schema_number.read(value).kind, SOTTO_VALUE_NUMBER);
    value.number = (double)NAN;
    assert_int_equal(schema_number.read(value).kind, SOTTO_VALUE_TEXT);
    assert_true(schema_number.hostile(&field, 0).number == -1);
    assert_true(schema_number.hostile(&field, 2).number == 1);
    assert_true(schema_number.hostile(&field, 14).number == 7);
    assert_true(isnan(schema_number.hostile(&field, 5).number));
    assert_int_equal(schema_number.hostile(&field, 19).kind,
                     SOTTO_VALUE_MISSING);
    seeded_init(&seeded, 1, 2);
    for (int i = 0; i < 20; i++) {
        value = schema_number.draw(&field, &seeded.random);
        assert_true(value.number >= -1 && value.number <= 3);
    }
    host_text_init(&text, 100);
    schema_number.write(&column, &text);
    assert_string_equal(text.data,
                        ",\\\"transform\\\":\\\"clip\\\",\\\"missing\\\":1");
    host_text_clear(&text);
    host_text_init(&text, 100);
    schema_number.write(&(struct schema_column){.log = true}, &text);
    assert_string_equal(text.data, ",\\\"transform\\\":\\\"log\\\"");
    host_text_clear(&text);
}

static void
test_described(void **state)
{
    static const struct {
        struct schema_range range;
        bool missing, log;
        const char *words;
    } cases[] = {
        {{-1, 3, false},
         false,
         false,
         "a number, scaled by a range from -1 to 3; a "
         "missing one counts as the middle"},
        {{-1, 3, true},
         false,
         false,
         "a number from -1 to 3; one beyond counts as "
         "the nearer end, a missing one as the middle"},
        {{-1, 3, true},
         true,
         false,
         "a number from -1 to 3; one beyond counts as "
         "the nearer end, a missing one is told apart"},
        {{0, 3, false},
         true,
         true,
         "a number, whose logarithm is scaled by a range from 0 to 3; a "
         "missing one is told apart"},
        {{-1, 1e31, true}, false, false, "a number with an unusable range"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct schema_column column = {.missing = cases[i].missing,
                                             .log = cases[i].log};
        struct host_text text;
        host_text_init(&text, 1000);
        schema_number.describe(&column, &cases[i].range, &text);
        assert_string_equal(text.data, cases[i].words);
        host_text_clear(&text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard),      cmocka_unit_test(test_range),
        cmocka_unit_test(test_robust),        cmocka_unit_test(test_logarithm),
        cmocka_unit_test(test_robust_memory), cmocka_unit_test(test_values),
        cmocka_unit_test(test_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
