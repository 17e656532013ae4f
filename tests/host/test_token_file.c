/*
 * test_token_file.c: a secret word in a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "host/file.h"
#include "host/token_file.h"
#include "host/wipe.h"
#include "scratch.h"

static struct sotto_error err;

static void
put(const char *text, size_t size)
{
    assert_int_equal(
        host_file_write(in_folder("t"), 0600, false, text, size, &err),
        SOTTO_STATUS_OK);
}

static void
test_first_line(void **state)
{
    static const char *const texts[] = {
        "0123456789abcde!", "0123456789abcde!\n", "0123456789abcde!\r\nmore"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *token = NULL;
        size_t size = 0;
        put(texts[i], strlen(texts[i]));
        assert_int_equal(token_file_read(in_folder("t"), &token, &size, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(size, 16);
        assert_string_equal(token, "0123456789abcde!");
        host_wipe_free(token, size + 1);
    }
}

static void
test_none(void **state)
{
    static const char blank[] = "0123456789abcdef x", none[] = "short",
                      nul[] = "0123456789abcdef";
    char *token = NULL;
    size_t size = 0;
    (void)state;
    const struct {
        const char *text;
        size_t size;
    } bad[] = {{blank, sizeof blank - 1},
               {none, sizeof none - 1},
               {nul, sizeof nul},
               {"", 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(bad[i].text, bad[i].size);
        assert_int_equal(token_file_read(in_folder("t"), &token, &size, &err),
                         SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, "holds no token"));
    }
    assert_int_equal(token_file_read(in_folder("none"), &token, &size, &err),
                     SOTTO_STATUS_IO);
    assert_null(token);
}

static void
test_memory(void **state)
{
    enum sotto_status status;
    (void)state;
    put("0123456789abcdef", 16);
    for (long n = 1;; n++) {
        char *token = NULL;
        size_t size = 0;
        fail_alloc_at(n);
        status = token_file_read(in_folder("t"), &token, &size, &err);
        fail_alloc_at(0);
        host_wipe_free(token, size + 1);
        if (status == SOTTO_STATUS_OK) {
            assert_true(n > 1);
            break;
        }
        assert_int_equal(status, SOTTO_STATUS_MEMORY);
        assert_null(token);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_line),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
