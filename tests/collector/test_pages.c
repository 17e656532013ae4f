/*
 * test_pages.c: when the collector's pages are made: with the end of a window,
 * and again by themselves after something failed. The store and the page are
 * this file's.
 */
#include "mechanism/mechanism_fixture.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "collector/pages.h"
#include "host/clock.h"
#include "host/text.h"
#include "sotto/results.h"
#include "store/store.h"

#define EACH 5u /* reports of a batch */

static struct sotto_error err;
static struct campaigns *campaigns;
static struct sotto_mechanism *mechanism; /* for reports */
static struct metrics metrics;
static atomic_uint read_fails, page_fails; /* so many times more */
static atomic_uint reads, pages_made;

/* ---- A store of one batch, and a page of numbers ------------------------- */

enum sotto_status
store_reader_open(const char *url, struct store_reader **ret,
                  bool *ret_simulation, struct sotto_error *error)
{
    (void)url;
    (void)ret_simulation;
    (void)error;
    *ret = NULL;
    return SOTTO_STATUS_OK;
}

void
store_reader_free(struct store_reader *reader)
{
    (void)reader;
}

static bool
take_failure(atomic_uint *left)
{
    bool fails = atomic_load(left) > 0;
    if (fails) {
        atomic_fetch_sub(left, 1);
    }
    return fails;
}

enum sotto_status
store_reader_next(struct store_reader *reader,
                  const uint8_t hash[SOTTO_HASH_SIZE], uint64_t after,
                  struct store_batch *ret_batch, struct sotto_error *error)
{
    size_t size = mechanism->shape.report_size;
    (void)reader;
    (void)hash;
    atomic_fetch_add(&reads, 1);
    if (take_failure(&read_fails)) {
        error->status = SOTTO_STATUS_IO;
        return SOTTO_STATUS_IO;
    }
    if (after == 0) {
        ret_batch->reports = malloc(EACH * size);
        ret_batch->number = 1;
        ret_batch->count = EACH;
        ret_batch->size = EACH * size;
        for (uint64_t i = 0; i < EACH; i++) {
            fixture_report(mechanism, i, ret_batch->reports + i * size, size);
        }
    }
    return SOTTO_STATUS_OK;
}

/* "counted 5, refused 3": of the first campaign, and of the first reason. */
enum sotto_status
sotto_results_page(const struct sotto_results *results, char **ret_html,
                   size_t *ret_size, struct sotto_error *error)
{
    char text[100];
    if (take_failure(&page_fails)) {
        error->status = SOTTO_STATUS_MEMORY;
        return SOTTO_STATUS_MEMORY;
    }
    (void)snprintf(text, sizeof text, "counted %llu, refused %llu",
                   (unsigned long long)results->campaign[0].counted,
                   results->refusals > 0
                       ? (unsigned long long)results->refused[1].count
                       : 0ULL);
    *ret_html = host_text_copy(text, strlen(text));
    *ret_size = strlen(text);
    atomic_fetch_add(&pages_made, 1);
    return SOTTO_STATUS_OK;
}

static struct campaigns *
lend_campaigns(void *context)
{
    (void)context;
    return campaigns_hold(campaigns);
}

/* ---- Looking ------------------------------------------------------------- */

static int
set_up(void **state)
{
    (void)state;
    mechanism = fixture_open(&fixture_plain);
    metrics_init(&metrics);
    read_fails = page_fails = reads = pages_made = 0;
    if (campaigns_from("m", fixture_open(&fixture_plain), "signature\n",
                       &campaigns, &err) != SOTTO_STATUS_OK) {
        return -1;
    }
    atomic_store(&campaigns->campaign->batches, 1);
    atomic_store(&campaigns->campaign->released, EACH);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    campaigns_release(campaigns);
    sotto_mechanism_free(mechanism);
    return 0;
}

static struct pages *
begin(void)
{
    const struct pages_options options = {.store = "sqlite:here",
                                          .simulation = true,
                                          .metrics = &metrics,
                                          .campaigns = lend_campaigns,
                                          .look_s = 0.01};
    struct pages *pages = NULL;
    assert_int_equal(pages_new(&options, &pages, &err), SOTTO_STATUS_OK);
    return pages;
}

static bool
page_is(struct pages *pages, const char *wanted)
{
    struct pages_held *held = NULL;
    size_t size = 0;
    const char *html = pages_find(pages, "", &size, &held);
    bool is = html != NULL && strcmp(html, wanted) == 0;
    if (html != NULL) {
        pages_release(held);
    }
    return is;
}

static void
wait_until(struct pages *pages, const char *wanted)
{
    const struct timespec pause = {0, 1000000};
    double end = host_seconds() + 10;
    while (!page_is(pages, wanted) && host_seconds() < end) {
        (void)nanosleep(&pause, NULL);
    }
    if (!page_is(pages, wanted)) {
        fail_msg("never: %s", wanted);
    }
}

/* ---- Tests --------------------------------------------------------------- */

/* Nothing changes meanwhile: neither a count nor a window. */
static void
test_again(void **state)
{
    struct pages *pages;
    (void)state;
    read_fails = 2;
    pages = begin();
    wait_until(pages, "counted 5, refused 0");
    assert_int_equal(reads, 3);
    pages_free(pages);
    page_fails = 5; /* the first look makes two */
    pages = begin();
    wait_until(pages, "counted 5, refused 0");
    pages_free(pages);
    read_fails = 1000; /* what stays is tried less and less often */
    reads = 0;
    pages = begin();
    (void)nanosleep(&(struct timespec){0, 500000000}, NULL);
    assert_true(reads >= 3 && reads <= 7);
    pages_free(pages);
}

/* Refusals are those of the last window that was moved on, whenever the thread
   looks; and without a change no page is made. */
static void
test_windows(void **state)
{
    struct pages *pages = begin();
    (void)state;
    wait_until(pages, "counted 5, refused 0");
    unsigned made = pages_made;
    atomic_store(&metrics.reports[JUDGE_HASH], 9);
    (void)nanosleep(&(struct timespec){0, 100000000}, NULL);
    assert_true(page_is(pages, "counted 5, refused 0"));
    assert_int_equal(pages_made, made);
    atomic_store(&metrics.settled[JUDGE_HASH], 7);
    atomic_store(&metrics.windows, 1);
    wait_until(pages, "counted 5, refused 7");
    pages_free(pages);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_windows, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
