/*
 * test_token.c: the analyst's token.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "collector/token.h"
#include "host/file.h"
#include "scratch.h"

static struct sotto_error err;

static enum sotto_status
token_read(struct token *token, const char *path, struct sotto_error *ret_err)
{
    struct tokens tokens;
    enum sotto_status status;
    memset(&tokens, 0, sizeof tokens);
    status = tokens_read(path, NULL, &tokens, ret_err);
    *token = tokens.reports;
    return status;
}

static enum sotto_status
read_text(const char *text, size_t size, struct token *token)
{
    assert_int_equal(
        host_file_write(in_folder("t"), 0600, false, text, size, &err),
        SOTTO_STATUS_OK);
    return token_read(token, in_folder("t"), &err);
}

static void
test_right(void **state)
{
    struct token token;
    (void)state;
    assert_int_equal(read_text("0123456789abcdef\nmore", 21, &token),
                     SOTTO_STATUS_OK);
    assert_true(token.set);
    assert_true(token_right(&token, "Bearer 0123456789abcdef"));
    assert_true(token_right(&token, "bearer 0123456789abcdef"));
    assert_false(token_right(&token, "Bearer 0123456789abcdeF"));
    assert_false(token_right(&token, "Bearer 0123456789abcde"));
    assert_false(token_right(&token, "Bearer 0123456789abcdef "));
    assert_false(token_right(&token, "Bearer  0123456789abcdef"));
    assert_false(token_right(&token, "0123456789abcdef"));
    assert_false(token_right(&token, "Bearer "));
    assert_false(token_right(&token, ""));
    assert_false(token_right(&token, NULL));
}

/* A browser's way: a name of any kind, a colon, and the token. */
static void
test_basic(void **state)
{
    struct token token;
    (void)state;
    assert_int_equal(read_text("0123456789abcdef\nmore", 21, &token),
                     SOTTO_STATUS_OK);
    /* me:0123456789abcdef, :0123456789abcdef */
    assert_true(
        token_right_basic(&token, "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg=="));
    assert_true(token_right_basic(&token, "basic OjAxMjM0NTY3ODlhYmNkZWY="));
    assert_false(token_right(&token, "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg=="));
    /* 0123456789abcdef, me:0123456789abcdeF, me:0123456789abcdef: */
    assert_false(token_right_basic(&token, "Basic MDEyMzQ1Njc4OWFiY2RlZg=="));
    assert_false(
        token_right_basic(&token, "Basic bWU6MDEyMzQ1Njc4OWFiY2RlRg=="));
    assert_false(
        token_right_basic(&token, "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZjo="));
    assert_false(
        token_right_basic(&token, "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg==x"));
    assert_false(token_right_basic(&token, "Basic bWU6MDEy*"));
    assert_false(token_right_basic(&token, "Basic "));
    assert_false(token_right_basic(&token, "Bearer 0123456789abcdef"));
    assert_false(token_right_basic(&token, NULL));
    token.set = false;
    assert_false(
        token_right_basic(&token, "Basic bWU6MDEyMzQ1Njc4OWFiY2RlZg=="));
}

/* Longer than any name and token is no token, and overruns nothing. */
static void
test_basic_long(void **state)
{
    static char text[65536] = "Basic ";
    struct token token;
    (void)state;
    assert_int_equal(read_text("0123456789abcdef", 16, &token),
                     SOTTO_STATUS_OK);
    memset(text + 6, 'A', sizeof text - 7);
    assert_false(token_right_basic(&token, text));
}

/* All of a token counts: a guess is not right by a part of its hash. */
static void
test_guesses(void **state)
{
    struct token token;
    char guess[64];
    (void)state;
    assert_int_equal(read_text("0123456789abcdef", 16, &token),
                     SOTTO_STATUS_OK);
    for (unsigned i = 0; i < 4096; i++) {
        (void)snprintf(guess, sizeof guess, "Bearer a-guess-of-mine-%u", i);
        assert_false(token_right(&token, guess));
    }
}

static void
test_none(void **state)
{
    struct token token;
    (void)state;
    assert_int_equal(token_read(&token, NULL, &err), SOTTO_STATUS_OK);
    assert_false(token.set);
    assert_false(token_right(&token, "Bearer "));
    assert_false(token_right(&token, NULL));
}

static void
test_bad(void **state)
{
    struct token token;
    (void)state;
    assert_int_equal(read_text("short", 5, &token), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "openssl rand"));
    assert_false(token.set);
    assert_int_equal(read_text("", 0, &token), SOTTO_STATUS_INPUT);
    assert_int_equal(read_text("aaaaaaaaaaaaaaaaaaaaaaaa", 24, &token),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "8 of them different"));
    assert_int_equal(read_text("0123456012345601234560", 22, &token),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(read_text("0123456701234567", 16, &token),
                     SOTTO_STATUS_OK);
    assert_int_equal(read_text("0123456789abcdef with blanks", 28, &token),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(read_text("0123456789abcdef\0", 17, &token),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(token_read(&token, in_folder("none"), &err),
                     SOTTO_STATUS_IO);
}

/* Whoever else can read or write the file has, or chooses, the token. */
static void
test_mode(void **state)
{
    static const struct {
        mode_t mode;
        bool good, good_of_root;
    } cases[] = {
        {0600, true, true},   {0400, true, true},   {0440, false, true},
        {0640, false, true},  {0660, false, false}, {0620, false, false},
        {0604, false, false}, {0644, false, false}, {0602, false, false},
        {0601, false, false}, {0610, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool good = geteuid() == 0 ? cases[i].good_of_root : cases[i].good;
        struct token token;
        (void)read_text("0123456789abcdef", 16, &token);
        assert_int_equal(chmod(in_folder("t"), cases[i].mode), 0);
        memset(&err, 0xa5, sizeof err);
        assert_int_equal(token_read(&token, in_folder("t"), &err),
                         good ? SOTTO_STATUS_OK : SOTTO_STATUS_REFUSED);
        assert_int_equal(token.set, good);
        if (!good) {
            assert_non_null(strstr(err.message, "chmod 600"));
        }
        /* Another's, where we may make it so. */
        if (geteuid() == 0 && chown(in_folder("t"), 1, 1) == 0) {
            assert_int_equal(token_read(&token, in_folder("t"), &err),
                             cases[i].good ? SOTTO_STATUS_OK
                                           : SOTTO_STATUS_REFUSED);
        }
        assert_int_equal(unlink(in_folder("t")), 0);
    }
}

/* One for reports and another for metrics: neither is the other, and they may
   not be the same. */
static void
test_two(void **state)
{
    struct tokens tokens;
    (void)state;
    memset(&tokens, 0, sizeof tokens);
    assert_int_equal(host_file_write(in_folder("a"), 0600, false,
                                     "0123456789abcdef", 16, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(host_file_write(in_folder("b"), 0600, false,
                                     "0123456789abcdeF\n", 17, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(tokens_read(in_folder("a"), in_folder("b"), &tokens, &err),
                     SOTTO_STATUS_OK);
    assert_true(token_right(&tokens.reports, "Bearer 0123456789abcdef"));
    assert_false(token_right(&tokens.reports, "Bearer 0123456789abcdeF"));
    assert_true(token_right(&tokens.metrics, "Bearer 0123456789abcdeF"));
    assert_false(token_right(&tokens.metrics, "Bearer 0123456789abcdef"));
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(tokens_read(in_folder("a"), in_folder("a"), &tokens, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "one of their own"));
    /* What was read before stays. */
    assert_true(token_right(&tokens.metrics, "Bearer 0123456789abcdeF"));
    assert_int_equal(tokens_read(NULL, in_folder("b"), &tokens, &err),
                     SOTTO_STATUS_OK);
    assert_false(tokens.reports.set);
    assert_true(tokens.metrics.set);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right), cmocka_unit_test(test_guesses),
        cmocka_unit_test(test_none),  cmocka_unit_test(test_bad),
        cmocka_unit_test(test_mode),  cmocka_unit_test(test_two),
        cmocka_unit_test(test_basic), cmocka_unit_test(test_basic_long),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
