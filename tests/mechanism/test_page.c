/*
 * test_page.c: paragraphs that fit a page of 80 columns.
 */
#include "mechanism_fixture.h"

#include <stdio.h>

#include "mechanism/page.h"

/* Words of every length up to 99 wrap where they must and nowhere else, and
   none is lost; one wider than a line is cut. */
static void
test_wrapping(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    (void)state;
    for (int size = 1; size < 100; size++) {
        char word[100] = {0};
        struct page page;
        size_t columns = 0, seen = 0;
        memset(word, 'w', (size_t)size);
        page_init(&page, mechanism);
        page_say(&page, 6, "  - %s %s %s %s %s %s %s %s %s %s", word, word,
                 word, word, word, word, word, word, word, word);
        assert_false(page.text.failed);
        assert_memory_equal(page.text.data, "  - ", 4);
        for (const char *at = page.text.data; *at != '\0'; at++) {
            seen += *at == 'w';
            columns = *at == '\n' ? 0 : columns + 1;
            assert_true(columns <= 80);
            if (*at == '\n' && at[1] != '\0') {
                assert_memory_equal(at + 1, "      w", 7);
            }
        }
        assert_int_equal(seen, 10 * size);
        page_clear(&page);
    }
    sotto_mechanism_free(mechanism);
}

static void
test_pieces(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct page page;
    (void)state;
    page_init(&page, mechanism);
    assert_string_equal(page.info.name, "plain");
    page_title(&page, "TITLE");
    page_name(&page,
              "a\x1b name of more than the forty characters there may be");
    page_say(&page, 0, " is %d%s", 5, ".");
    page_gap(&page);
    page_say(&page, 0, "Next.");
    assert_string_equal(page.text.data,
                        "\nTITLE\n\n"
                        "a\xef\xbf\xbd name of more than the forty characte"
                        "... is 5.\n\nNext.\n");
    page_clear(&page);
    page_clear(&page);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
