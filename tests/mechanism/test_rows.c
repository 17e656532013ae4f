/*
 * test_rows.c: the rows of a table as records of a mechanism.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "fail_alloc.h"
#include "mechanism/compose.h"
#include "mechanism/rows.h"

static struct sotto_error err;

/* a and b through one layer, the colour as it is, and a label for itself:

       x = (a / 10, blue?, red?, other?, b / 10)
       z = (x_0 + x_4, x_0 - x_4, 1, 2 x_2)
       part 0   features   z_0 and z_1 in blocks of one number, l = 100
       part 1   label      kind
       part 2   features   colour, and whether z_3 is above z_2
*/
static struct sotto_mechanism *
make(void)
{
    static const char *const colours[] = {"blue", "red"};
    static const char *const kinds[] = {"no", "yes", "1"};
    static const struct schema_column column[] = {
        {"a", SOTTO_COLUMN_NUMBER, 0, NULL, true, 0, 0.1},
        {"kind", SOTTO_COLUMN_CATEGORY, 4, kinds, false, 0, 0},
        {"colour", SOTTO_COLUMN_CATEGORY, 3, colours, true, 0, 0},
        {"b", SOTTO_COLUMN_NUMBER, 0, NULL, true, 0, 0.1},
    };
    static const float weight[4 * 5] = {
        1, 0, 0, 0, 1, 1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0,
    };
    static const float bias[4] = {0, 0, 1, 0};
    static const struct layer layer = {5, 4, ACTIVATION_NONE, weight, bias};
    static const struct compose_part part[] = {
        {.covers = "features",
         .channel = "laplace",
         .eps = DECIMAL_UNIT,
         .blocks = 2,
         .d = 1,
         .l = 100},
        {.covers = "label",
         .channel = "flip",
         .eps = DECIMAL_UNIT,
         .blocks = 1,
         .factor = {{true, 1, 4}},
         .factors = 1},
        {.covers = "features",
         .channel = "flip",
         .eps = DECIMAL_UNIT,
         .blocks = 1,
         .factor = {{true, 2, 3}, {false, 2, 2}},
         .factors = 2},
    };
    struct compose_spec spec = {"rows", "rows", "not used", 4 * DECIMAL_UNIT,
                                column, 4,      &layer,     1,
                                part,   3};
    struct sotto_mechanism *mechanism = NULL;
    if (compose_open(&spec, &mechanism, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return mechanism;
}

static struct sotto_table *
parse(const char *text)
{
    struct sotto_table *table = NULL;
    if (sotto_table_parse(text, strlen(text), "-", NULL, &table, &err) !=
        SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return table;
}

static const char people[] = "spare,colour,b,kind,a\n"
                             "0,red,2,yes,3\n"
                             "0,green,-1,maybe,4\n"
                             "0,blue,,1,odd\n"
                             "0,,90,,90\n";

/* ---- What a row is ------------------------------------------------------ */

static void
test_record(void **state)
{
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = parse(people);
    struct rows rows;
    (void)state;
    assert_int_equal(rows_init(&rows, mechanism, table, &err), SOTTO_STATUS_OK);
    assert_int_equal(rows.count, 4);
    /* A stray word makes the column text; its numbers stay numbers. */
    const struct sotto_value *value = rows_at(&rows, 1);
    assert_int_equal(value[0].kind, SOTTO_VALUE_NUMBER);
    assert_true(value[0].number == 4 && value[3].number == -1);
    assert_int_equal(value[2].kind, SOTTO_VALUE_TEXT);
    assert_memory_equal(value[2].data, "green", 5);
    assert_int_equal(rows_at(&rows, 2)[3].kind, SOTTO_VALUE_MISSING);
    rows_clear(&rows);
    rows_clear(&rows);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

/* The same records for whoever has only the public header. */
static void
test_public(void **state)
{
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = parse(people), *other = parse("x\n1\n");
    struct sotto_records *records = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    assert_int_equal(sotto_records_new(mechanism, other, &records, &err),
                     SOTTO_STATUS_INPUT);
    assert_null(records);
    do {
        fail_alloc_at(++n);
        status = sotto_records_new(mechanism, table, &records, &err);
    } while (status == SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_int_equal(sotto_records_columns(records), 4);
    const struct sotto_value *value = sotto_records_at(records, 1);
    assert_true(value[0].number == 4 && value[3].number == -1);
    assert_memory_equal(value[2].data, "green", 5);
    sotto_records_free(records);
    sotto_records_free(NULL);
    sotto_table_free(table);
    sotto_table_free(other);
    sotto_mechanism_free(mechanism);
}

static void
test_encode(void **state)
{
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = parse(people);
    struct rows rows;
    float x[5], z[4], again[4];
    (void)state;
    assert_int_equal(rows_init(&rows, mechanism, table, &err), SOTTO_STATUS_OK);
    assert_int_equal(rows_x_width(&rows), 5);
    assert_int_equal(rows_z_width(&rows), 4);
    rows_encode(&rows, 0, x, z);
    assert_true(x[0] == 0.3F && x[1] == 0 && x[2] == 1 && x[3] == 0);
    assert_true(x[4] == 0.2F);
    assert_true(z[0] == 0.3F + 0.2F && z[1] == 0.3F - 0.2F);
    assert_true(z[2] == 1 && z[3] == 2);
    rows_encode(&rows, 0, NULL, again);
    assert_memory_equal(z, again, sizeof z);
    rows_encode(&rows, 2, x, NULL);
    assert_true(x[0] == 0 && x[1] == 1 && x[4] == 0);
    rows_clear(&rows);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

static void
test_points(void **state)
{
    static const int32_t expected[][3] = {
        {50, 10, 1 * 2 + 1}, {30, 50, 2 * 2 + 0}, {0, 0, 0}, {100, 0, 4}};
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = parse(people);
    struct rows rows;
    (void)state;
    assert_int_equal(rows_init(&rows, mechanism, table, &err), SOTTO_STATUS_OK);
    assert_int_equal(rows_q_width(&rows), 3);
    for (size_t row = 0; row < 4; row++) {
        int32_t q[4] = {-7, -7, -7, -7};
        rows_q(&rows, row, q);
        assert_memory_equal(q, expected[row], sizeof expected[row]);
        assert_int_equal(q[3], -7);
    }
    rows_clear(&rows);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

static void
test_classes(void **state)
{
    static const size_t expected[] = {1, 3, 2, 3}; /* 3: other */
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = parse(people);
    struct rows rows;
    (void)state;
    assert_int_equal(rows_init(&rows, mechanism, table, &err), SOTTO_STATUS_OK);
    for (size_t row = 0; row < 4; row++) {
        assert_int_equal(rows_class(&rows, row), expected[row]);
    }
    rows_clear(&rows);
    sotto_table_free(table);

    /* A label that reads as a number is text for a category column. */
    table = parse("a,b,colour,kind\n1,2,red,1\n1,2,red,2\n");
    assert_int_equal(rows_init(&rows, mechanism, table, &err), SOTTO_STATUS_OK);
    assert_int_equal(rows_class(&rows, 0), 2);
    assert_int_equal(rows_class(&rows, 1), 3);
    rows_clear(&rows);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

/* ---- Columns that are not there ----------------------------------------- */

static void
test_absent(void **state)
{
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = parse("colour,a,b\nred,3,2\n");
    struct rows rows;
    int32_t q[3];
    (void)state;
    assert_int_equal(rows_init(&rows, mechanism, table, &err), SOTTO_STATUS_OK);
    assert_int_equal(rows.column[1], SIZE_MAX);
    rows_q(&rows, 0, q);
    assert_true(q[0] == 50 && q[1] == 10 && q[2] == 3);
    assert_int_equal(rows_class(&rows, 0), SIZE_MAX);
    rows_clear(&rows);
    sotto_table_free(table);

    static const struct {
        const char *text, *name;
    } lacking[] = {{"kind,a,b\nyes,1,2\n", "\"colour\""},
                   {"colour,kind,a\nred,yes,1\n", "\"b\""}};
    for (size_t i = 0; i < 2; i++) {
        table = parse(lacking[i].text);
        memset(&err, 0xa5, sizeof err);
        assert_int_equal(rows_init(&rows, mechanism, table, &err),
                         SOTTO_STATUS_INPUT);
        assert_int_equal(err.status, SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, lacking[i].name));
        assert_int_equal(rows_init(&rows, mechanism, table, NULL),
                         SOTTO_STATUS_INPUT);
        sotto_table_free(table);
    }
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = parse(people);
    struct rows rows;
    (void)state;
    for (long n = 1; n <= 2; n++) {
        fail_alloc_at(n);
        assert_int_equal(rows_init(&rows, mechanism, table, &err),
                         SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),  cmocka_unit_test(test_public),
        cmocka_unit_test(test_encode),  cmocka_unit_test(test_points),
        cmocka_unit_test(test_classes), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
