/*
 * test_amount.c: budgets are written as short as they can be read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "host/amount.h"
#include "random/seeded.h"

static void
check_written(uint64_t units, const char *expected)
{
    char text[DECIMAL_TEXT_SIZE];
    memset(text, 0x5a, sizeof text);
    assert_int_equal(amount_write(units, text), strlen(expected));
    assert_string_equal(text, expected);
}

static void
test_writes_the_shortest_text(void **state)
{
    (void)state;
    check_written(0, "0");
    check_written(1, "0.000000000001");
    check_written(DECIMAL_UNIT / 10, "0.1");
    check_written(DECIMAL_UNIT, "1");
    check_written(DECIMAL_UNIT + 1, "1.000000000001");
    check_written(10 * DECIMAL_UNIT, "10");
    check_written(100 * DECIMAL_UNIT, "100");
    check_written(UINT64_MAX, "18446744.073709551615");
}

static void
test_what_is_written_reads_back(void **state)
{
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 10, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t units = random_u56(&seeded.random) << 6;
        uint64_t back = 0;
        char text[DECIMAL_TEXT_SIZE];
        units = (units | random_u32(&seeded.random)) >> (i % 62);
        assert_in_range(amount_write(units, text), 1, DECIMAL_TEXT_SIZE - 1);
        assert_int_equal(decimal_read(text, strlen(text), &back, NULL),
                         SOTTO_STATUS_OK);
        assert_true(back == units);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes_the_shortest_text),
        cmocka_unit_test(test_what_is_written_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
