/*
 * results_page.c: campaigns, promises and estimates as a page. Words and style
 * are a template, data/results-page.html; here are the values that fill it.
 *
 * The page needs nothing from anywhere, and every value is escaped
 * (template.h). It is a function of the facts it is given: whoever gives it
 * counts that change with a window alone gets a page that tells no more.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/confidence.h"
#include "host/embedded.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/template.h"
#include "host/values.h"
#include "mechanism/describe.h"
#include "mechanism/page.h"
#include "mechanism/results.h"

extern const struct embedded results_template[]; /* results-page.html */

#define NAME_MOST 100u       /* characters */
#define ABOUT_MOST 12000u    /* bytes of all that a mechanism says of itself */
#define ROWS_MOST 60u        /* of a table; halved until the page fits */
#define CAMPAIGNS_MOST 4096u /* of an overview, likewise */

/* ---- Texts and numbers --------------------------------------------------- */

void
results_shown(json_t *values, const char *name, const char *text, size_t most)
{
    struct host_text shown;
    host_text_init(&shown, RESULTS_TEXT_MOST);
    host_text_add(&shown, "", 0);
    host_printable_add(&shown, text, most);
    host_values_take(values, name, &shown);
}

const char *
results_count(uint64_t count, char text[RESULTS_COUNT_SIZE])
{
    char plain[24];
    int size = snprintf(plain, sizeof plain, "%llu", (unsigned long long)count);
    char *to = text;
    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = plain[i];
    }
    *to = '\0';
    return text;
}

void
results_set_count(json_t *values, const char *name, uint64_t count)
{
    char text[RESULTS_COUNT_SIZE];
    host_values_text(values, name, "%s", results_count(count, text));
}

json_t *
results_append(json_t *list)
{
    json_t *values = json_object();
    if (json_array_append_new(list, values) != 0) {
        return NULL;
    }
    return values;
}

void
results_set_list(json_t *values, const char *name, json_t *list, size_t count)
{
    if (json_array_size(list) == count) {
        (void)json_object_set(values, name, list);
    }
    json_decref(list);
}

/* ---- A campaign ---------------------------------------------------------- */

/* Sets a list to one text, or to none. */
static void
set_one(json_t *values, const char *list, const char *text)
{
    json_t *all = host_values_list(values, list, text != NULL ? 1 : 0);
    if (text != NULL) {
        host_values_text(json_array_get(all, 0), "text", "%s", text);
    }
}

/* Paragraphs, which empty lines part. */
static void
set_promises(json_t *values, const struct sotto_mechanism *mechanism)
{
    json_t *list = json_array();
    size_t count = 0;
    struct page page;
    page_init(&page, mechanism);
    describe_words(&page);
    const char *at = page.text.data;
    while (!page.text.failed && at != NULL && *at != '\0') {
        const char *gap = strstr(at, "\n\n");
        size_t size = gap != NULL ? (size_t)(gap - at) : strlen(at);
        host_values_text(results_append(list), "text", "%.*s", (int)size, at);
        at = gap != NULL ? gap + 2 : NULL;
        count++;
    }
    results_set_list(values, "promises", list,
                     page.text.failed ? SIZE_MAX : count);
    page_clear(&page);
}

/* All that inspect says, where it is not too long for a page. */
static enum sotto_status
set_about(json_t *values, const struct sotto_mechanism *mechanism, size_t most,
          struct sotto_error *err)
{
    char *text = NULL;
    enum sotto_status status =
        sotto_mechanism_describe(mechanism, false, &text, err);
    if (status == SOTTO_STATUS_OK) {
        set_one(values, "abouts", strlen(text) <= most ? text : NULL);
    }
    free(text);
    return status;
}

static void
set_trouble(json_t *values, const struct sotto_results_campaign *campaign)
{
    bool troubled = campaign->trouble != NULL;
    json_t *list = host_values_list(values, "troubles", troubled ? 1 : 0);
    if (troubled) {
        results_shown(json_array_get(list, 0), "text", campaign->trouble, 400);
    }
}

static enum sotto_status
set_campaign(json_t *values, const struct sotto_results *results,
             const struct sotto_results_campaign *campaign, size_t most,
             struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    char eps[128];
    sotto_mechanism_info(campaign->mechanism, &info);
    (void)snprintf(eps, sizeof eps, "%.40s%s%.40s", info.eps_text,
                   info.delta > 0 ? ", delta " : "",
                   info.delta > 0 ? info.delta_text : "");
    results_shown(values, "name", campaign->name, NAME_MOST);
    results_set_count(values, "released", campaign->released);
    host_values_bool(values, "store", campaign->store);
    results_set_count(values, "waiting", campaign->waiting);
    results_set_count(values, "batches", campaign->batches);
    host_values_text(values, "eps", "%s", eps);
    host_values_bool(values, "simulated", campaign->simulated);
    set_trouble(values, campaign);
    set_promises(values, campaign->mechanism);
    results_chart_released(values, campaign);
    results_chart_accuracy(values, campaign);
    host_values_bool(values, "estimates",
                     campaign->estimate != NULL && campaign->counted > 0);
    results_set_count(values, "counted", campaign->counted);
    host_values_text(values, "confidence", "%g", 100 * results->confidence);
    results_rows(values, campaign, confidence_z(results->confidence), most);
    return set_about(values, campaign->mechanism,
                     most == ROWS_MOST ? ABOUT_MOST : 0, err);
}

static void
set_line(json_t *values, const struct sotto_results_campaign *campaign)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(campaign->mechanism, &info);
    results_shown(values, "name", campaign->name, NAME_MOST);
    host_values_text(values, "link", "%s", campaign->link);
    host_values_text(values, "eps", "%.40s", info.eps_text);
    results_set_count(values, "released", campaign->released);
    results_set_count(values, "waiting", campaign->waiting);
}

/* Those with a page of their own are lines, the others are here. */
static enum sotto_status
set_campaigns(json_t *values, const struct sotto_results *results, size_t most,
              size_t lines_most, struct sotto_error *err)
{
    json_t *lines = json_array(), *all = json_array();
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t links = 0;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < results->campaigns;
         i++) {
        const struct sotto_results_campaign *campaign = &results->campaign[i];
        if (campaign->link == NULL) {
            status =
                set_campaign(results_append(all), results, campaign, most, err);
        } else if (links++ < lines_most) {
            set_line(results_append(lines), campaign);
        }
    }
    host_values_bool(values, "overview", links > 0);
    host_values_bool(values, "more", links > lines_most);
    host_values_size(values, "left",
                     links > lines_most ? links - lines_most : 0);
    results_set_list(values, "lines", lines,
                     links < lines_most ? links : lines_most);
    results_set_list(values, "campaigns", all, results->campaigns - links);
    return status;
}

/* ---- What was refused ---------------------------------------------------- */

static const char *
say_code(const char *code)
{
    static const char *const words[][2] = {
        {"duplicate", "came before, and counts once"},
        {"hash", "of another mechanism"},
        {"malformed", "cut short, or no report"},
        {"impossible", "a payload that no device can send"},
        {"simulated", "simulated, or not, where the other kind is taken"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i][0], code) == 0) {
            return words[i][1];
        }
    }
    return code;
}

static void
set_refused(json_t *values, const struct sotto_results *results)
{
    bool known = results->refused != NULL;
    json_t *list = host_values_list(values, "refusals", known ? 1 : 0);
    json_t *codes = known ? host_values_list(json_array_get(list, 0), "codes",
                                             results->refusals)
                          : NULL;
    for (size_t i = 0; known && i < results->refusals; i++) {
        json_t *code = json_array_get(codes, i);
        results_shown(code, "what", say_code(results->refused[i].code),
                      NAME_MOST);
        results_set_count(code, "count", results->refused[i].count);
    }
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
fill_page(const struct sotto_results *results, size_t most, size_t lines,
          struct host_text *page, struct sotto_error *err)
{
    json_t *values = json_object();
    json_t *homes =
        host_values_list(values, "homes", results->home != NULL ? 1 : 0);
    enum sotto_status status = set_campaigns(values, results, most, lines, err);
    if (results->home != NULL) {
        host_values_text(json_array_get(homes, 0), "link", "%s", results->home);
    }
    results_shown(values, "title", results->title, NAME_MOST);
    host_values_text(values, "version", "%s", SOTTO_VERSION);
    set_refused(values, results);
    if (status == SOTTO_STATUS_OK) {
        host_template_fill(page, (const char *)results_template[0].bytes,
                           values);
        status = page->failed ? host_fail_memory(err) : status;
    }
    json_decref(values);
    return status;
}

/* Names and tables of others can be long: then there are fewer rows. */
enum sotto_status
sotto_results_page(const struct sotto_results *results, char **ret_html,
                   size_t *ret_size, struct sotto_error *err)
{
    size_t most = ROWS_MOST, lines = CAMPAIGNS_MOST;
    for (;;) {
        struct host_text page;
        host_text_init(&page, RESULTS_TEXT_MOST);
        enum sotto_status status = fill_page(results, most, lines, &page, err);
        if (status == SOTTO_STATUS_OK &&
            (page.size <= SOTTO_RESULTS_MOST || (most == 0 && lines == 0))) {
            *ret_html = page.data;
            *ret_size = page.size;
            return SOTTO_STATUS_OK;
        }
        host_text_clear(&page);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        most /= 2;
        lines /= 2;
    }
}
