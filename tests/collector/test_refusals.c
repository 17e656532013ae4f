/*
 * test_refusals.c: what is refused is counted by kind, and said once when it
 * begins and once when it is over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "collector/refusals.h"

static char said[4096];

static void
take_log(void *context, enum sotto_log_level level, const char *code,
         const char *text)
{
    size_t at = strlen(said);
    assert_ptr_equal(context, said);
    (void)snprintf(said + at, sizeof said - at, "%d %s: %s\n", (int)level, code,
                   text);
}

static void
test_once(void **state)
{
    struct refusals refusals;
    (void)state;
    refusals_init(&refusals, take_log, said, 60, 600);
    refusals_tell(&refusals, 1000);
    assert_string_equal(said, "");
    for (int i = 0; i < 1000; i++) {
        refusals_count(&refusals, REFUSAL_FULL);
    }
    refusals_tell(&refusals, 2000);
    assert_non_null(strstr(said, "1 connections-full: all places"));
    said[0] = '\0';
    refusals_count(&refusals, REFUSAL_FULL);
    refusals_tell(&refusals, 30000);
    refusals_tell(&refusals, 89999);
    assert_string_equal(said, "");
    refusals_tell(&refusals, 90000);
    assert_string_equal(
        said, "0 connections-full-over: it is over: 1001 times within 28 s\n");
    said[0] = '\0';
    refusals_tell(&refusals, 200000);
    assert_string_equal(said, "");
    refusals_count(&refusals, REFUSAL_FULL);
    refusals_tell(&refusals, 300000);
    assert_non_null(strstr(said, "connections-full: "));
    refusals_clear(&refusals);
}

/* What one device may have sent is said when a window is over, by a grid that
   no request moves; the lines of two moments in one window are the same. */
static void
test_by_window(void **state)
{
    static const enum refusal kinds[] = {REFUSAL_LATE, REFUSAL_HEAD,
                                         REFUSAL_LIBRARY, REFUSAL_LONG,
                                         REFUSAL_EXPIRED};
    static const uint64_t moments[] = {1001, 300000, 600999};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char first[sizeof said] = "";
        for (size_t m = 0; m < sizeof moments / sizeof *moments; m++) {
            struct refusals refusals;
            said[0] = '\0';
            refusals_init(&refusals, take_log, said, 60, 600);
            refusals_tell(&refusals, 1000);
            refusals_tell(&refusals, moments[m]);
            refusals_count(&refusals, kinds[k]);
            refusals_tell(&refusals, moments[m]);
            refusals_tell(&refusals, 600999);
            assert_string_equal(said, "");
            refusals_tell(&refusals, 601100);
            assert_non_null(strchr(said, ':'));
            refusals_tell(&refusals, 1200900);
            assert_null(strstr(said, "-over"));
            refusals_tell(&refusals, 1201000);
            assert_non_null(strstr(said, "-over: it is over: 1 times within "
                                         "600 s\n"));
            if (m == 0) {
                memcpy(first, said, sizeof first);
            }
            assert_string_equal(said, first);
            refusals_clear(&refusals);
        }
    }
}

/* Every kind has a code of its own, a sentence and a count. */
static void
test_kinds(void **state)
{
    struct refusals refusals;
    struct host_text text;
    (void)state;
    for (int i = 0; i < REFUSALS; i++) {
        char again[4096];
        said[0] = '\0';
        refusals_init(&refusals, take_log, said, 0, 0);
        refusals_tell(&refusals, 0);
        refusals_count(&refusals, (enum refusal)i);
        refusals_tell(&refusals, 1);
        (void)snprintf(again, sizeof again, "%s", strchr(said, ' '));
        *strchr(again + 1, ':') = '\0';
        assert_true(strlen(again) > 5);
        assert_null(strstr(said, "(null)"));
        refusals_tell(&refusals, 2);
        assert_non_null(strstr(said, "-over: it is over: 1 times"));
        host_text_init(&text, 65536);
        refusals_write(&refusals, &text);
        assert_false(text.failed);
        assert_null(strstr(text.data, "(null)"));
        assert_non_null(strstr(text.data, "} 1\n"));
        host_text_clear(&text);
        refusals_clear(&refusals);
    }
}

/* Without anybody to listen they are counted all the same. */
static void
test_silent(void **state)
{
    struct refusals refusals;
    (void)state;
    refusals_init(&refusals, NULL, NULL, 60, 600);
    refusals_count(&refusals, REFUSAL_HEAD);
    refusals_tell(&refusals, 1);
    assert_int_equal(atomic_load(&refusals.count[REFUSAL_HEAD]), 1);
    refusals_clear(&refusals);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_by_window),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
