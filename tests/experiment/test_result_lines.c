/*
 * test_result_lines.c: lines of prose are broken between words, and links lead
 * from a page to its folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "experiment/result_lines.h"
#include "host/text.h"

#define TEN "123456789 "
#define NINETY TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void
assert_lines(const char *page, const char *wanted)
{
    struct host_text text;
    host_text_init(&text, 1 << 20);
    result_lines(&text, page);
    assert_string_equal(text.data, wanted);
    host_text_clear(&text);
}

static void
test_lines(void **state)
{
    (void)state;
    assert_lines("a\n\nb\n", "a\n\nb\n");
    assert_lines(NINETY "123456789x\n", NINETY "123456789x\n");
    assert_lines(NINETY "ÄÖÜ456789x\n", NINETY "ÄÖÜ456789x\n");
    assert_lines(NINETY "123456789xy z\n",
                 TEN TEN TEN TEN TEN TEN TEN TEN "123456789\n"
                                                 "123456789xy z\n");
    assert_lines("- " NINETY "12345678 z\n", "- " NINETY "12345678\n  z\n");
    /* neither a list nor a table begins in the middle of a sentence */
    assert_lines(NINETY "123456789 - z\n", NINETY "123456789 -\nz\n");
    assert_lines(
        "| " NINETY NINETY "|\n# " NINETY NINETY "\n    " NINETY NINETY "\n",
        "| " NINETY NINETY "|\n# " NINETY NINETY "\n    " NINETY NINETY "\n");
}

static void
test_link(void **state)
{
    static const struct {
        const char *results, *path, *link;
    } cases[] = {{"results", "docs/results.md", "../results"},
                 {"./results/", "docs/results.md", "../results"},
                 {"results", "results.md", "results"},
                 {"results", "results/page.md", "."},
                 {"a/results", "a/docs/x/p.md", "../../results"},
                 {"/a/results", "/a/docs/p.md", "../results"},
                 {"/a/results", "docs/p.md", "/a/results"},
                 {"../results", "docs/p.md", "../results"},
                 {"results", "docs/../p.md", "results"},
                 {"resultsx", "results/p.md", "../resultsx"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *link = result_link(cases[i].results, cases[i].path);
        assert_string_equal(link, cases[i].link);
        free(link);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
