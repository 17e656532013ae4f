/*
 * test_demo_page.c: the demo's templates, filled: what the values are, that
 * none is left out, and that a page lacks nothing when memory does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "demo/demo_page.c"
#include "demo/demo_settings.c"
#include "fail_alloc.h"
#include "host/file.h"

/* ---- What the page is written with --------------------------------------- */

static uint8_t by_hand[1u << 16], page[1u << 16]; /* read, with a NUL */
const struct embedded demo_template[] = {{"by-hand.sh", by_hand, 0},
                                         {"page.html", page, 0}};
static struct host_text written[2]; /* by-hand.sh, report.html */
static struct demo demo;

int
demo_write(const struct demo *of, const char *name, const void *data,
           size_t size)
{
    struct host_text *to = &written[strcmp(name, "report.html") == 0];
    assert_ptr_equal(of, &demo);
    host_text_add(to, data, size);
    return to->failed ? CLI_EXIT_FAILED : CLI_EXIT_DONE;
}

const char *
demo_campaign(const struct demo_budget *budget, char name[DEMO_NAME_SIZE])
{
    (void)snprintf(name, DEMO_NAME_SIZE, "campaign-%s", budget->text);
    return name;
}

int
cli_fail(const struct sotto_error *err)
{
    assert_int_equal(err->status, SOTTO_STATUS_MEMORY);
    return CLI_EXIT_FAILED;
}

static void
read_template(uint8_t room[1u << 16], const char *path)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    assert_int_equal(host_file_read(path, (1u << 16) - 1, &bytes, &size, NULL),
                     SOTTO_STATUS_OK);
    memcpy(room, bytes, size);
    free(bytes);
}

/* ---- A demo -------------------------------------------------------------- */

static void
set_up_budget(struct demo_budget *budget, const char *text, size_t k)
{
    (void)snprintf(budget->text, sizeof budget->text, "%s", text);
    budget->eps = strtod(text, NULL);
    budget->setting = demo_setting(budget->eps);
    budget->k = k;
    budget->pairs = k * DEMO_SYMBOLS;
    budget->named = 5;
    budget->report_size = 60 + k;
    budget->numbers_size = 84;
    budget->accuracy[DEMO_LEARNER_CODES] = 0.5;
    budget->accuracy[DEMO_LEARNER_NUMBERS] = 0.25;
}

static int
set_up(void **state)
{
    (void)state;
    read_template(by_hand, SOTTO_SOURCE_DIR "/data/demo-by-hand.sh");
    read_template(page, SOTTO_SOURCE_DIR "/data/demo-page.html");
    host_text_init(&written[0], TEXT_MOST);
    host_text_init(&written[1], TEXT_MOST);
    demo = (struct demo){.effort = demo_effort(true),
                         .seed = UINT64_MAX,
                         .auxiliary = 6000,
                         .people = 3000,
                         .clean = 0.875,
                         .comment = "<script>\"&'{{seed}}",
                         .budgets = 2,
                         .persons = 1,
                         .files = 1};
    set_up_budget(&demo.budget[0], "8", DEMO_CELLS + 1);
    set_up_budget(&demo.budget[1], "1", 2);
    demo.person[0].symbol = 7;
    demo.person[0].report[1].names[1][3] = true;
    (void)snprintf(demo.person[0].label, sizeof demo.person[0].label, "<7>");
    demo.person[0].image[15] = demo.person[0].image[16] = 1;
    demo.person[0].image[DEMO_PIXELS - 1] = 0.2F;
    demo.file[0] = (struct demo_file){"a.b", "what & why", 12, "0123"};
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        host_text_clear(&written[i]);
    }
    return 0;
}

/* ---- Tests --------------------------------------------------------------- */

static void
assert_holds(const struct host_text *text, const char *words)
{
    if (strstr(text->data, words) == NULL) {
        fail_msg("it does not hold: %s", words);
    }
}

static void
test_page(void **state)
{
    static const char *const held[] = {
        "<code>&lt;script&gt;&quot;&amp;'{{seed}}</code>",
        "is\n<b>&lt;7&gt;</b>",
        "<td>what &amp; why</td>",
        "seed 18446744073709551615, ",
        /* The headline is that of epsilon 1. */
        "From reports with epsilon 1 it learned to read 50.0% of new",
        "<b>2 codes</b>",
        "the 20 commonest of 21 codes</p>",
        "all 2 codes</p>",
        "(1\nnetwork) has",
        /* The axis is logarithmic, from 0.8 to 10. */
        "<text class=\"tick middle\" x=\"121.5\" y=\"320\">1</text>",
        "<polyline class=\"line-0\" points=\"121.5,158.0 676.5,158.0\"/>",
        "<circle class=\"dot-2\" cx=\"676.5\" cy=\"300.0\" r=\"6\"/>",
        "y=\"51.5\" dy=\"-6\">no privacy: 87.5%</text>",
        "d=\"M13 13h1v1h-1z\" class=\"g3\"/>",
        "d=\"M1 1h2v1h-2z\" class=\"g15\"/>",
        "y=\"7\" width=\"2\" height=\"1\"/><path d=\"M1 3h1v1h-1z\"/></svg>",
        /* e; e / (1 + e), rounded up; tanh(1/2); 5e / (5e + 17). */
        "<td class=\"r\">2.72</td>",
        "class=\"r\">73.106%</td><td class=\"r\">0.4621</td>",
        "class=\"r\">5 of 22</td><td class=\"r\">44.4%</td>",
        "-H 'Content-Type: application/octet-stream' \\\n",
        "127.0.0.1:&quot;$(cat mine.port)&quot;/v1/campaigns/campaign-1/",
        "Made by sotto " SOTTO_VERSION ".</footer>",
    };
    (void)state;
    assert_int_equal(demo_page_write(&demo), CLI_EXIT_DONE);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        assert_holds(&written[1], held[i]);
    }
    assert_null(strstr(written[1].data, "A quick demo"));
    assert_null(strstr(written[0].data, "{{"));
    assert_int_equal(strncmp(written[0].data, "#!/bin/sh -e\n", 13), 0);
    assert_holds(&written[0], "\nsotto fit mine-codes-8.sotto "
                              "mine-codes-8.reports --analyst");
    assert_holds(&written[0], "\nsotto fit mine-codes-1.sotto sqlite:mine.db ");
    assert_holds(&written[0], "--decay 0.3 --batches 10 --restarts 1 "
                              "--share-weight 0.1 \\\n");
}

/* An allocation that fails leaves no page, or costs it nothing. */
static void
test_memory(void **state)
{
    bool done = false;
    (void)state;
    json_set_alloc_funcs(malloc, free);
    assert_int_equal(demo_page_write(&demo), CLI_EXIT_DONE);
    struct host_text whole = written[1];
    host_text_init(&written[1], TEXT_MOST);
    for (long n = 1; !done; n++) {
        host_text_clear(&written[0]);
        host_text_clear(&written[1]);
        fail_alloc_at(n);
        int status = demo_page_write(&demo);
        done = fail_alloc_count() < n;
        fail_alloc_at(0);
        if (status == CLI_EXIT_DONE) {
            assert_int_equal(written[1].size, whole.size);
            assert_memory_equal(written[1].data, whole.data, whole.size);
        } else {
            assert_false(done);
        }
    }
    host_text_clear(&whole);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
