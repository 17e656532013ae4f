/*
 * test_template.c: a text with holes, filled from JSON values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fail_alloc.h"
#include "host/template.h"

/* Fills a template from values in JSON; the caller clears the text. */
static struct host_text
fill_from(const char *template, const char *json)
{
    struct host_text text;
    json_t *values = json_loads(json, 0, NULL);
    assert_non_null(values);
    host_text_init(&text, 4096);
    host_template_fill(&text, template, values);
    json_decref(values);
    return text;
}

static void
assert_filled(const char *template, const char *json, const char *expected)
{
    struct host_text text = fill_from(template, json);
    assert_false(text.failed);
    assert_string_equal(text.data, expected);
    host_text_clear(&text);
}

static void
assert_refused(const char *template, const char *json)
{
    struct host_text text = fill_from(template, json);
    assert_true(text.failed);
    host_text_clear(&text);
}

/* Whatever a value holds, it stays between its tags and in its quotes, and is
   no template. */
static void
test_values(void **state)
{
    (void)state;
    assert_filled("plain { } }} 1", "{}", "plain { } }} 1");
    assert_filled("{{a}}{{b}}-{{a}}\n", "{\"a\":\"x\",\"b\":-12}", "x-12-x\n");
    assert_filled("<p title=\"{{a}}\">", "{\"a\":\"\\\"><b>&'\\\"\"}",
                  "<p title=\"&quot;&gt;&lt;b&gt;&amp;'&quot;\">");
    assert_filled("{{a}}.", "{\"a\":\"{{a}}{{#b}}\"}", "{{a}}{{#b}}.");
    assert_filled("[{{a}}]", "{\"a\":\"\"}", "[]");
}

static void
test_sections(void **state)
{
    (void)state;
    assert_filled("{{#a}}\n{{n}}{{m}};\n{{/a}}\nend",
                  "{\"m\":0,\"a\":[{\"n\":1},{\"n\":2,\"m\":3}]}",
                  "10;\n23;\nend");
    assert_filled("a{{#a}}b{{/a}}c", "{\"a\":[]}", "ac");
    assert_filled("{{#a}}yes{{/a}}{{^a}}no{{/a}}", "{\"a\":true}", "yes");
    assert_filled("{{#a}}yes{{/a}}{{^a}}no{{/a}}", "{\"a\":false}", "no");
    assert_filled("{{#a}}({{#b}}{{c}}{{/b}}{{^d}}!{{/d}}){{/a}}",
                  "{\"d\":false,\"a\":[{\"b\":[{\"c\":1},{\"c\":2}]},"
                  "{\"b\":[{\"c\":3}],\"d\":true}]}",
                  "(12!)(3)");
}

static void
test_refused(void **state)
{
    (void)state;
    assert_refused("{{a}}", "{}");
    assert_refused("{{a}}", "{\"a\":true}");
    assert_refused("{{a}}", "{\"a\":1.5}");
    assert_refused("{{a", "{\"a\":1}");
    assert_refused("{{#a}}b", "{\"a\":true}");
    assert_refused("{{#a}}b{{/c}}", "{\"a\":true}");
    assert_refused("{{#a}}b{{/a}}", "{}");
    assert_refused("{{#a}}b{{/a}}", "{\"a\":1}");
    assert_refused("{{^a}}b{{/a}}", "{\"a\":[]}");
    assert_refused("{{#a}}{{b{{/a}}}}", "{\"a\":true,\"b\":1}");
    assert_refused("{{a23456789012345678901234567890123}}", "{}");
    assert_refused("{{/a}}", "{\"a\":1}");
}

static void
test_memory(void **state)
{
    struct host_text text;
    json_t *values = json_loads("{\"a\":[{\"b\":\"<\"},{\"b\":1}]}", 0, NULL);
    bool done = false;
    (void)state;
    assert_non_null(values);
    for (long n = 1; !done; n++) {
        host_text_init(&text, 4096);
        fail_alloc_at(n);
        host_template_fill(&text, "x{{#a}}{{b}}{{/a}}", values);
        done = fail_alloc_count() < n;
        fail_alloc_at(0);
        assert_int_equal(text.failed, !done);
        host_text_clear(&text);
    }
    json_decref(values);
    host_text_init(&text, 3);
    host_template_fill(&text, "four", NULL);
    assert_true(text.failed);
    host_text_clear(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
