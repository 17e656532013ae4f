/*
 * test_answer.c: what a collector may say, and that nothing else is believed.
 * tests/sender/test_exchange.py has more of what is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fail_alloc.h"
#include "sender/answer.h"

#define GOOD                                                                   \
    "{\"accepted\":2,\"duplicate\":1,\"refused\":1,\"duplicates\":[0],"        \
    "\"refusals\":[{\"report\":3,\"code\":\"hash\",\"why\":\"of another "      \
    "mechanism\"}]}"

static void
test_good(void **state)
{
    struct answer answer;
    struct sotto_error err = {0};
    (void)state;
    assert_int_equal(answer_parse(GOOD, strlen(GOOD), 4, &answer, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(answer.accepted, 2);
    assert_int_equal(answer.duplicate, 1);
    assert_int_equal(answer.refused, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(answer.code[i], "");
    }
    assert_string_equal(answer.code[3], "hash");
    assert_string_equal(answer.why, "hash: of another mechanism");
    answer_clear(&answer);
}

/* Every cut, and every byte changed to some others, is refused, or says the
   same of each report. */
static void
test_bad(void **state)
{
    static const char others[] = "0129-\"{}[],:x \n\xff";
    char text[sizeof GOOD];
    (void)state;
    for (size_t size = 0; size < strlen(GOOD); size++) {
        struct answer answer;
        assert_int_equal(answer_parse(GOOD, size, 4, &answer, NULL),
                         SOTTO_STATUS_FORMAT);
    }
    for (size_t i = 0; i < strlen(GOOD); i++) {
        for (size_t j = 0; j < sizeof others; j++) {
            struct answer answer = {0};
            memcpy(text, GOOD, sizeof text);
            text[i] = others[j];
            if (answer_parse(text, strlen(GOOD), 4, &answer, NULL) ==
                SOTTO_STATUS_OK) {
                assert_int_equal(answer.accepted, 2);
                assert_int_equal(answer.refused, 1);
                size_t codes = 0;
                for (size_t k = 0; k < 4; k++) {
                    codes += answer.code[k][0] != '\0';
                }
                assert_int_equal(codes, 1);
            }
            answer_clear(&answer);
        }
    }
}

static void
test_why_is_printable(void **state)
{
    char text[4096];
    struct answer answer;
    struct sotto_error err = {0};
    (void)state;
    (void)snprintf(text, sizeof text,
                   "{\"accepted\":0,\"duplicate\":0,\"refused\":1,"
                   "\"duplicates\":[],\"refusals\":[{\"report\":0,"
                   "\"code\":\"abcdefghijklmnopqrstuvwxyz-abcde\",\"why\":"
                   "\"\\u001b[2J%0500d\"}]}",
                   1);
    assert_int_equal(answer_parse(text, strlen(text), 1, &answer, &err),
                     SOTTO_STATUS_OK);
    assert_null(strchr(answer.why, 27));
    assert_true(strlen(answer.why) > 100);
    answer_clear(&answer);
}

static void
test_memory(void **state)
{
    struct answer answer;
    struct sotto_error err = {0};
    (void)state;
    for (long n = 1;; n++) {
        fail_alloc_at(n);
        enum sotto_status status =
            answer_parse(GOOD, strlen(GOOD), 4, &answer, &err);
        bool done = fail_alloc_count() < n;
        fail_alloc_at(0);
        if (status == SOTTO_STATUS_OK) {
            assert_string_equal(answer.code[3], "hash");
            answer_clear(&answer);
        } else {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
        if (done) {
            break;
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_why_is_printable),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
