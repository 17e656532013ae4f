/*
 * test_results_plan.c: what plan foretold, read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "mechanism/results.h"

static struct sotto_error err;

#define LINE(kind, eps, people, accuracy, low, high)                           \
    "{\"kind\": \"" kind "\", \"eps\": " eps ", \"people\": " people           \
    ", \"silent\": 0, \"lying\": 0, \"accuracy\": " accuracy ", \"low\": " low \
    ", \"high\": " high "}\n"

static const char first[] = LINE("direct", "4", "8000", "0.9", "0.85", "0.95");
static const char others[] = LINE("direct", "4", "500", "0.8", "null", "null")
    LINE("direct", "2", "500", "0.7", "0.6", "0.8")
        LINE("codebook", "4", "500", "0.6", "0.5", "0.7");
static const char rest[] =
    "{\"kind\": \"direct\", \"eps\": 4, \"people\": 500, \"silent\": 0.3, "
    "\"lying\": 0, \"accuracy\": 0.1}\n\n"
    "{\"answer\": \"people\", \"people\": 800}\n";

static char text[4096];

static int
set_up(void **state)
{
    (void)state;
    (void)snprintf(text, sizeof text, "%s%s%s", first, others, rest);
    return 0;
}

static enum sotto_status
parse(const char *from, double eps, struct sotto_results_accuracy **ret,
      size_t *ret_count)
{
    *ret = NULL;
    *ret_count = 0;
    return results_plan_parse(from, strlen(from), "p", eps, ret, ret_count,
                              &err);
}

static void
test_points(void **state)
{
    struct sotto_results_accuracy *at;
    size_t count;
    (void)state;
    assert_int_equal(parse(text, 4, &at, &count), SOTTO_STATUS_OK);
    assert_int_equal(count, 2);
    assert_true(at[0].people == 500 && at[0].accuracy == 0.8);
    assert_true(isnan(at[0].low) && isnan(at[0].high));
    assert_true(at[1].people == 8000 && at[1].accuracy == 0.9);
    assert_true(at[1].low == 0.85 && at[1].high == 0.95);
    free(at);
    assert_int_equal(parse(text, 3, &at, &count), SOTTO_STATUS_OK);
    assert_true(count == 0 && at == NULL);
    assert_int_equal(parse("", 4, &at, &count), SOTTO_STATUS_OK);
    assert_true(count == 0 && at == NULL);
}

/* The kind that plan recommends, though another comes first. */
static void
test_kind(void **state)
{
    static char more[sizeof text + 64];
    struct sotto_results_accuracy *at;
    size_t count;
    (void)state;
    (void)snprintf(more, sizeof more, "%s%s", text,
                   "{\"answer\": \"kind\", \"kind\": \"codebook\"}");
    assert_int_equal(parse(more, 4, &at, &count), SOTTO_STATUS_OK);
    assert_int_equal(count, 1);
    assert_true(at[0].accuracy == 0.6);
    free(at);
}

static void
test_refused(void **state)
{
    static const char *const bad[] = {"{}\n{\n", "[]\n", "text", "{} {}", "1"};
    struct sotto_results_accuracy *at;
    size_t count;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&err, 0x5a, sizeof err);
        assert_int_equal(parse(bad[i], 4, &at, &count), SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, i == 0 ? "line 2" : "line 1"));
    }
    assert_int_equal(sotto_results_plan("/nothing/here", 4, &at, &count, &err),
                     SOTTO_STATUS_IO);
}

/* Numbers that are none, or out of what they can be, are no points; and there
   may be only so many. */
static void
test_limits(void **state)
{
    static const char *const odd[] = {LINE("d", "4", "-1", "0.5", "0", "1"),
                                      LINE("d", "4", "1e300", "0.5", "0", "1"),
                                      LINE("d", "4", "9", "1.5", "0", "1"),
                                      LINE("d", "4", "\"9\"", "0.5", "0", "1"),
                                      LINE("d", "4", "9", "0.5", "0.9", "0.1")};
    struct sotto_results_accuracy *at;
    size_t count, used = 0;
    char *many = calloc(300, 200);
    (void)state;
    assert_non_null(many);
    for (size_t i = 0; i < 5; i++) {
        used += (size_t)snprintf(many + used, 60000 - used, "%s", odd[i]);
    }
    assert_int_equal(parse(many, 4, &at, &count), SOTTO_STATUS_OK);
    assert_int_equal(count, 1);
    assert_true(isnan(at[0].low));
    free(at);
    for (size_t i = 0; i < 300; i++) {
        used += (size_t)snprintf(many + used, 60000 - used, "%s",
                                 LINE("d", "4", "9", "0.5", "0", "1"));
    }
    assert_int_equal(parse(many, 4, &at, &count), SOTTO_STATUS_LIMIT);
    free(many);
}

static void
test_no_memory(void **state)
{
    struct sotto_results_accuracy *at = NULL;
    size_t count;
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    for (long n = 1; status != SOTTO_STATUS_OK; n++) {
        fail_alloc_at(n);
        status = parse(text, 4, &at, &count);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        assert_true(n < 100);
    }
    fail_alloc_at(0);
    free(at);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),    cmocka_unit_test(test_kind),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
