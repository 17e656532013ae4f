/*
 * test_date_text.c: what is a date.
 */
#include "schema/date_text.h"

#include "schema_fixture.h"

static void
test_dates(void **state)
{
    static const char *const dates[] = {
        "2015-03-01",     "2015/3/1",     "1.3.2015",
        "03/01/2015",     "2015-03",      "Mar-2015",
        "1-Mar-2015",     "Mar 1, 2015",  "2015-03-01T12:00:00",
        "1 May 1999",     "March 1 2015", "Dec-1811",
        "2015-03-01 9:30"};
    static const char *const others[] = {
        "",          "2015",        "12-34",      "1-2-3",      "2015-13-45",
        "36 months", "Mar",         "Mayor-2015", "12345-01",   "2015-03-01x",
        "1/2/15",    "192.168.1.1", "A-2015",     "2300-01-01", "Mar-Mar-2015"};
    (void)state;
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        if (!date_text_is(dates[i], strlen(dates[i]))) {
            fail_msg("%s is none", dates[i]);
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (date_text_is(others[i], strlen(others[i]))) {
            fail_msg("%s is one", others[i]);
        }
    }
    assert_true(date_text_is_number(20150301));
    assert_false(date_text_is_number(20151301));
    assert_false(date_text_is_number(2015));
    assert_false(date_text_is_number(20150301.5));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
