/*
 * test_message.c: what reaches a terminal is clean; a failure names its options
 * and those that would help, if the verb has them, and gives the exit status.
 * The program's files are in no library, so the one under test is included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/message.c"

static const struct cli_option options[] = {
    {0, false, false, "rate", "V", ""},
    {0, false, true, "drop", "COL", ""},
    CLI_OPTION_END,
};
static const struct cli_verb verb = {.name = "train", .options = options};
const struct cli_program cli_program = {
    .name = "sotto", .verb = {&verb}, .verbs = 1};

const struct cli_option *
cli_option_at(const struct cli_verb *of, size_t i)
{
    return i < 2 ? &of->options[i] : NULL;
}

/* What a failure prints, and that its exit status is this one. */
static void
check_fail(const struct sotto_error *err, const char *said, int status)
{
    char got[1400] = "";
    FILE *before = stderr;
    stderr = fmemopen(got, sizeof got, "w");
    int found = cli_fail(err);
    (void)fclose(stderr);
    stderr = before;
    assert_string_equal(got, said);
    assert_int_equal(found, status);
}

/* Columns of names are as wide as their characters, not their bytes. */
static void
test_padded(void **state)
{
    static const struct {
        const char *text;
        size_t width;
        const char *put;
    } cases[] = {
        {"Bern", 6, "Bern  "},
        {"Gen\xc3\xa8ve", 8, "Gen\xc3\xa8ve  "},
        {"Z\xc3\xbcrich", 3, "Z\xc3\xbcr"},
        {"a\xff\n", 4, "a?? "},
        {"", 2, "  "},
    };
    (void)state;
    assert_int_equal(cli_width("Gen\xc3\xa8ve"), 6);
    assert_int_equal(cli_width("\xff\x1b"), 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[64] = "";
        FILE *to = fmemopen(got, sizeof got, "w");
        assert_non_null(to);
        cli_put_padded(to, cases[i].text, cases[i].width);
        (void)fclose(to);
        assert_string_equal(got, cases[i].put);
    }
}

static void
test_shown(void **state)
{
    char large[5000];
    const char *first = cli_shown("a\nb");
    (void)state;
    assert_string_equal(first, "a?b");
    assert_string_equal(cli_shown("\x1b[1m\xff\xc3\xa9"), "?[1m?\xc3\xa9");
    assert_string_equal(cli_shown(""), "");
    assert_string_equal(cli_shown("last"), "last");
    assert_string_equal(first, "a?b");
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_in_range(strlen(cli_shown(large)), 4096, SHOWN_SIZE - 1);
}

static void
test_fail(void **state)
{
    struct sotto_error err = {.status = SOTTO_STATUS_USAGE,
                              .about = SOTTO_ABOUT_SETTING,
                              .subject = "rate",
                              .message = "rate is too high"};
    (void)state;
    cli_speak_as("train");
    check_fail(&err, "sotto train: --rate is too high\n", CLI_EXIT_BAD);
    memcpy(err.remedy, "drop eps", sizeof "drop eps");
    check_fail(&err, "sotto train: --rate is too high (--drop)\n",
               CLI_EXIT_BAD);
    memcpy(err.remedy, "rate drop", sizeof "rate drop");
    err.about = SOTTO_ABOUT_COLUMN;
    err.status = SOTTO_STATUS_REFUSED;
    check_fail(&err, "sotto train: rate is too high (--rate, --drop)\n",
               CLI_EXIT_REFUSED);
    cli_speak_as("fit");
    err.about = SOTTO_ABOUT_SETTING;
    check_fail(&err, "sotto fit: rate is too high\n", CLI_EXIT_REFUSED);
    cli_speak_as(NULL);
    err = (struct sotto_error){.status = SOTTO_STATUS_IO};
    check_fail(&err, "sotto: a file could not be read or written\n",
               CLI_EXIT_FAILED);
}

static void
test_exit(void **state)
{
    struct sotto_error err = {0};
    (void)state;
    assert_int_equal(cli_exit(SOTTO_STATUS_OK, &err), CLI_EXIT_DONE);
    assert_int_equal(CLI_THEN(CLI_EXIT_BAD, CLI_EXIT_FAILED), CLI_EXIT_BAD);
    assert_int_equal(CLI_THEN(CLI_EXIT_DONE, CLI_EXIT_FAILED), CLI_EXIT_FAILED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_padded),
        cmocka_unit_test(test_fail),
        cmocka_unit_test(test_exit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
