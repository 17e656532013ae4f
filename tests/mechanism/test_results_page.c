/*
 * test_results_page.c: the page of results: what is on it, that hostile names
 * stay text, that it fits whatever there is, and that memory may give out.
 */
#include "mechanism_fixture.h"

#include <math.h>
#include <stdio.h>

#include "fail_alloc.h"
#include "mechanism/results.h"

#define HOSTILE "<script>alert(1)</script>\"'&\x1b[31m"
#define REPORTS 2000u

static struct sotto_error err;

/* A mechanism with a column and a category of that name; its own may hold no
   quotes. */
static const char *const hostile_names[] = {HOSTILE, "<img src=x onerror=y>"};
static const struct schema_column hostile_columns[] = {
    {HOSTILE, SOTTO_COLUMN_CATEGORY, 3, hostile_names, false, 0, 0}};
static const struct compose_part hostile_part[] = {
    SYMBOL_PART("features", "flip", DECIMAL_UNIT, 1, {true, 0, 0})};
static const struct compose_spec hostile = {.name = "<script>",
                                            .campaign = "<script>",
                                            .auxiliary = "<script>",
                                            .eps = DECIMAL_UNIT,
                                            .column = hostile_columns,
                                            .columns = 1,
                                            .part = hostile_part,
                                            .parts = 1};

static struct sotto_results_campaign campaign;
static struct sotto_results results;
static struct sotto_estimate *estimate;
static struct sotto_margins *margins;
static char *html;
static size_t size;

/* The facts of a campaign of that mechanism, with some reports. */
static struct sotto_mechanism *
set_up_page(const struct compose_spec *spec)
{
    struct sotto_mechanism *mechanism = fixture_open(spec);
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_margins_new(mechanism, &margins, &err),
                     SOTTO_STATUS_OK);
    campaign = (struct sotto_results_campaign){.name = "spring",
                                               .mechanism = mechanism,
                                               .released = REPORTS,
                                               .estimate = estimate,
                                               .margins = margins,
                                               .counted = REPORTS};
    results = (struct sotto_results){.title = "What reports say",
                                     .campaign = &campaign,
                                     .campaigns = 1,
                                     .confidence = 0.95};
    return mechanism;
}

static void
add_reports(struct sotto_mechanism *mechanism, size_t values)
{
    static uint8_t report[4096];
    struct sotto_value value[8] = {{.kind = SOTTO_VALUE_MISSING}};
    for (uint64_t i = 0; i < REPORTS; i++) {
        assert_int_equal(sotto_simulate(mechanism, 1, i, value, values, report,
                                        mechanism->shape.report_size),
                         SOTTO_STATUS_OK);
        sotto_estimate_add(estimate, report);
        sotto_margins_add(margins, report);
    }
}

static void
tear_down_page(struct sotto_mechanism *mechanism)
{
    sotto_estimate_free(estimate);
    sotto_margins_free(margins);
    sotto_mechanism_free(mechanism);
    free(html);
    html = NULL;
}

static void
make_page(void)
{
    free(html);
    html = NULL;
    assert_int_equal(sotto_results_page(&results, &html, &size, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(strlen(html), size);
    assert_true(size <= SOTTO_RESULTS_MOST);
    assert_null(strstr(html, "{{"));
}

static size_t
count_of(const char *piece)
{
    size_t count = 0;
    for (const char *at = html; (at = strstr(at, piece)) != NULL; at++) {
        count++;
    }
    return count;
}

static void
test_figures(void **state)
{
    struct sotto_mechanism *mechanism = set_up_page(&fixture_plain);
    static const uint64_t step[] = {500, 2000};
    static const struct sotto_results_accuracy accuracy[] = {
        {500, 0.8, NAN, NAN}, {2000, 0.9, 0.85, 0.95}};
    static const struct sotto_results_refused refused[] = {{"hash", 12345},
                                                           {"another", 1}};
    (void)state;
    add_reports(mechanism, FIXTURE_COLUMNS);
    make_page();
    fixture_in(html, "<b>");
    fixture_in(html, "2,000");
    fixture_in(html, "the chance of any given report");
    fixture_in(html, "THE PROMISE"); /* all that inspect says */
    fixture_in(html, "colour x label");
    fixture_in(html, "\u00b1");
    assert_null(strstr(html, "waiting"));
    assert_null(strstr(html, "not taken"));
    assert_null(strstr(html, "Released reports"));
    campaign.store = true;
    campaign.waiting = 7;
    campaign.batches = 2;
    campaign.step = step;
    campaign.steps = 2;
    campaign.accuracy = accuracy;
    campaign.accuracies = 2;
    campaign.trouble = "Some <b>.";
    campaign.simulated = true;
    results.refused = refused;
    results.refusals = 2;
    results.home = "/v1/page";
    make_page();
    fixture_in(html, "waiting, at the end of the last window</dt><dd>7</dd>");
    fixture_in(html, "500 people");
    fixture_in(html, "90.0% with 2,000 people");
    fixture_in(html, "Released reports");
    fixture_in(html, "of another mechanism</th><td class=\"r\">12,345</td>");
    fixture_in(html, "another</th>");
    fixture_in(html, "Some &lt;b&gt;.");
    fixture_in(html, "are simulated");
    fixture_in(html, "<a href=\"/v1/page\">");
    tear_down_page(mechanism);
}

/* The same facts are the same bytes, and without reports nothing is made up. */
static void
test_function_of_facts(void **state)
{
    struct sotto_mechanism *mechanism = set_up_page(&fixture_numbers);
    char *before;
    (void)state;
    campaign.counted = campaign.released = 0;
    campaign.estimate = NULL;
    campaign.margins = NULL;
    make_page();
    fixture_in(html, "Nothing yet");
    assert_null(strstr(html, "<tbody>"));
    campaign.estimate = estimate;
    campaign.margins = margins;
    campaign.counted = REPORTS;
    add_reports(mechanism, 6);
    make_page();
    before = html;
    html = NULL;
    make_page();
    assert_string_equal(html, before);
    free(before);
    tear_down_page(mechanism);
}

/* Whatever is in names is text, in tags, attributes and scripts alike. */
static void
test_hostile(void **state)
{
    struct sotto_mechanism *mechanism = set_up_page(&hostile);
    const struct sotto_results_refused refused = {HOSTILE, 1};
    (void)state;
    add_reports(mechanism, 1);
    campaign.name = HOSTILE;
    campaign.trouble = HOSTILE;
    results.title = HOSTILE;
    results.refused = &refused;
    results.refusals = 1;
    results.home = "\"onclick=\"x";
    make_page();
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "<img"));
    assert_null(strchr(html, '\x1b'));
    assert_null(strstr(html, "\"onclick"));
    assert_true(count_of("&lt;script&gt;alert(1)&lt;/script&gt;&quot;'&amp;") >
                4);
    fixture_in(html, "&lt;img src=x onerror=y&gt;");
    tear_down_page(mechanism);
}

/* ---- However much there is ------------------------------------------------
 */

static void
test_many_rows(void **state)
{
    static char text[400][80];
    static const char *names[400];
    struct schema_column column = hostile_columns[0];
    struct compose_spec spec = hostile;
    (void)state;
    for (size_t i = 0; i < 400; i++) {
        memset(text[i], '"', 70); /* six bytes each, once escaped */
        (void)snprintf(text[i] + 70, 10, "%zu", i);
        names[i] = text[i];
    }
    column.values = names;
    column.count = 401;
    spec.column = &column;
    struct sotto_mechanism *mechanism = set_up_page(&spec);
    add_reports(mechanism, 1);
    make_page();
    fixture_in(html, "more rows are not on this page");
    assert_true(count_of("<tr>") > 20);
    tear_down_page(mechanism);
}

static void
test_many_campaigns(void **state)
{
    static struct sotto_results_campaign all[1000];
    struct sotto_mechanism *mechanism = set_up_page(&fixture_plain);
    char name[101];
    (void)state;
    memset(name, '&', 100);
    name[100] = '\0';
    for (size_t i = 0; i < 1000; i++) {
        all[i] = (struct sotto_results_campaign){.name = name,
                                                 .mechanism = mechanism,
                                                 .link = "/v1/page/x",
                                                 .released = i};
    }
    results.campaign = all;
    results.campaigns = 3;
    make_page();
    assert_int_equal(count_of("<a href=\"/v1/page/x\">"), 3);
    assert_null(strstr(html, "have room"));
    results.campaigns = 1000;
    make_page();
    fixture_in(html, "Not all campaigns have room here");
    tear_down_page(mechanism);
}

static void
test_no_memory(void **state)
{
    struct sotto_mechanism *mechanism = set_up_page(&fixture_plain);
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    add_reports(mechanism, FIXTURE_COLUMNS);
    for (long n = 1; status != SOTTO_STATUS_OK; n++) {
        fail_alloc_at(n);
        status = sotto_results_page(&results, &html, &size, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        assert_true(n < 20000);
    }
    fail_alloc_at(0);
    tear_down_page(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_function_of_facts),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_many_campaigns),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
