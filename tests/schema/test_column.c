/*
 * test_column.c: the kinds of columns.
 */
#include "schema_fixture.h"

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
        assert_int_equal(kind->symbols, i == SOTTO_COLUMN_CATEGORY);
        assert_int_equal(kind->bytes, i == SOTTO_COLUMN_BYTES);
    }
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
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
