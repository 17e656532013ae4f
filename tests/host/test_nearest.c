/*
 * test_nearest.c: which of several names was meant.
 */
#include "host/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void
test_nearest(void **state)
{
    static const char *const names[] = {"age", "monthly income", "AGES", "x"};
    static const struct {
        const char *word, *meant;
    } cases[] = {
        {"Age", "age"},
        {"ages", "AGES"}, /* letters' case alone comes first */
        {"aeg", "age"},
        {"monthly_income", "monthly income"},
        {"MONTHLY INCOME", "monthly income"},
        {"weight", NULL},
        {"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = host_nearest(cases[i].word, names, 4);
        if (cases[i].meant == NULL) {
            assert_null(found);
        } else {
            assert_non_null(found);
            assert_string_equal(found, cases[i].meant);
        }
    }
    assert_null(host_nearest("age", names, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
