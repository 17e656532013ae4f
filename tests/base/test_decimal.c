/*
 * test_decimal.c: budgets read from text exactly (invariant 2).
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <gmp.h>

#include "base/decimal.h"
#include "random/seeded.h"

static const uint64_t poison = UINT64_C(0x5a5a5a5a5a5a5a5a);

static void
check_read(const char *text, uint64_t expected)
{
    struct sotto_error err;
    uint64_t units = poison;
    memset(&err, 0x5a, sizeof err);
    assert_int_equal(decimal_read(text, strlen(text), &units, &err),
                     SOTTO_STATUS_OK);
    assert_true(units == expected);
    assert_int_equal(err.message[0], 0x5a); /* left alone on success */
}

static void
check_refused(const char *text, enum sotto_status status, size_t position)
{
    struct sotto_error err;
    uint64_t units = poison;
    memset(&err, 0x5a, sizeof err);
    assert_int_equal(decimal_read(text, strlen(text), &units, &err), status);
    assert_int_equal(err.status, status);
    assert_int_equal(err.position, position);
    assert_true(units == poison);
    assert_int_equal(decimal_read(text, strlen(text), &units, NULL), status);
}

static void
test_reads_exactly(void **state)
{
    (void)state;
    check_read("0", 0);
    check_read("1", DECIMAL_UNIT);
    check_read("0.5", DECIMAL_UNIT / 2);
    check_read("0.50", DECIMAL_UNIT / 2);
    check_read("0.1", DECIMAL_UNIT / 10);
    check_read("0.000000000001", 1);
    check_read("10", 10 * DECIMAL_UNIT);
    check_read("3.141592653589", UINT64_C(3141592653589));
    check_read("9999999.999999999999", UINT64_C(9999999999999999999));
}

static void
test_refuses_what_is_no_plain_number(void **state)
{
    (void)state;
    check_refused("", SOTTO_STATUS_FORMAT, 0);
    check_refused(".5", SOTTO_STATUS_FORMAT, 0);
    check_refused("-1", SOTTO_STATUS_FORMAT, 0);
    check_refused("+1", SOTTO_STATUS_FORMAT, 0);
    check_refused(" 1", SOTTO_STATUS_FORMAT, 0);
    check_refused("nan", SOTTO_STATUS_FORMAT, 0);
    check_refused("inf", SOTTO_STATUS_FORMAT, 0);
    check_refused("01", SOTTO_STATUS_FORMAT, 0);
    check_refused("00", SOTTO_STATUS_FORMAT, 0);
    check_refused("1.", SOTTO_STATUS_FORMAT, 2);
    check_refused("1 ", SOTTO_STATUS_FORMAT, 1);
    check_refused("1e3", SOTTO_STATUS_FORMAT, 1);
    check_refused("1,5", SOTTO_STATUS_FORMAT, 1);
    check_refused("0x1", SOTTO_STATUS_FORMAT, 1);
    check_refused("1.5.5", SOTTO_STATUS_FORMAT, 3);
    check_refused("1.5\n", SOTTO_STATUS_FORMAT, 3);
    check_refused("0.0000000000001", SOTTO_STATUS_LIMIT, 14);
    check_refused("0.0000000000000", SOTTO_STATUS_LIMIT, 14);
}

static void
test_a_zero_byte_is_no_end(void **state)
{
    uint64_t units = poison;
    (void)state;
    assert_int_equal(decimal_read("1\0", 2, &units, NULL), SOTTO_STATUS_FORMAT);
    assert_true(units == poison);
}

/*
 * A number of units that does not fit 64 bits must be refused, not wrapped
 * round: 18446744.573709551616 would read as 0.5.
 */
static void
test_nothing_wraps_round(void **state)
{
    static const char *const text[] = {"18446744.073709551616",
                                       "18446744.573709551616",
                                       "18446745",
                                       "99999999",
                                       "184467441",
                                       "999999999",
                                       "999999999.999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        uint64_t units = poison;
        assert_int_equal(decimal_read(text[i], strlen(text[i]), &units, NULL),
                         SOTTO_STATUS_LIMIT);
        assert_true(units == poison);
    }
}

/* Whatever number of digits is accepted, the value is the text's. */
static void
test_agrees_with_gmp(void **state)
{
    struct seeded seeded;
    mpz_t value;
    (void)state;
    mpz_init(value);
    seeded_init(&seeded, 9, 0);
    for (int i = 0; i < 20000; i++) {
        char text[32], digits[40];
        uint64_t whole = random_u32(&seeded.random);
        uint64_t part = random_u56(&seeded.random) % DECIMAL_UNIT, units;
        whole >>= random_u32(&seeded.random) % 32;
        snprintf(text, sizeof text, "%" PRIu64 ".%012" PRIu64, whole, part);
        snprintf(digits, sizeof digits, "%" PRIu64 "%012" PRIu64, whole, part);
        if (decimal_read(text, strlen(text), &units, NULL) == SOTTO_STATUS_OK) {
            mpz_set_str(value, digits, 10);
            assert_int_equal(mpz_cmp_ui(value, units), 0);
        } else {
            assert_true(whole > 9999999);
        }
    }
    mpz_clear(value);
}

static void
check_eps(const char *text, enum sotto_status status)
{
    struct sotto_error err;
    uint64_t units = poison;
    memset(&err, 0x5a, sizeof err);
    assert_int_equal(decimal_read_eps(text, strlen(text), &units, &err),
                     status);
    if (status != SOTTO_STATUS_OK) {
        assert_int_equal(err.status, status);
        assert_true(units == poison);
    }
}

static void
test_eps_has_a_range(void **state)
{
    (void)state;
    check_eps("0.000001", SOTTO_STATUS_OK);
    check_eps("32", SOTTO_STATUS_OK);
    check_eps("32.000000000000", SOTTO_STATUS_OK);
    check_eps("0", SOTTO_STATUS_BUDGET);
    check_eps("0.000000999999", SOTTO_STATUS_BUDGET);
    check_eps("32.000000000001", SOTTO_STATUS_BUDGET);
    check_eps("1e1", SOTTO_STATUS_FORMAT);
    check_eps("18446744.573709551616", SOTTO_STATUS_LIMIT);
}

/* A million digits are refused without looking at them. */
static void
test_a_long_text_is_refused_quickly(void **state)
{
    const size_t size = 1000000;
    char *text = malloc(size);
    uint64_t units;
    clock_t start = clock();
    (void)state;
    assert_non_null(text);
    memset(text, '9', size);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(decimal_read(text, size, &units, NULL),
                         SOTTO_STATUS_LIMIT);
    }
    text[1] = '.';
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(decimal_read(text, size, &units, NULL),
                         SOTTO_STATUS_LIMIT);
    }
    assert_true(clock() - start < CLOCKS_PER_SEC);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_exactly),
        cmocka_unit_test(test_refuses_what_is_no_plain_number),
        cmocka_unit_test(test_a_zero_byte_is_no_end),
        cmocka_unit_test(test_nothing_wraps_round),
        cmocka_unit_test(test_agrees_with_gmp),
        cmocka_unit_test(test_eps_has_a_range),
        cmocka_unit_test(test_a_long_text_is_refused_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
