/*
 * test_collector_bench.c: the benchmark of a collector, at a small size: rows
 * are filled, every report is where it should be, and nothing is left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/collector_bench.h"
#include "bench/collector_limit.h"
#include "bench/collector_place.h"
#include "client/device.h"
#include "fail_alloc.h"
#include "scratch.h"
#include "store/store.h"

static struct sotto_error err;
static size_t rows;

static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* ---- Rates --------------------------------------------------------------- */

static const size_t batches[] = {1, 20, 0};

static void
check_rate(void *context, const struct sotto_bench_row *row)
{
    (void)context;
    assert_string_equal(row->name, "collector");
    assert_string_equal(row->store, "sqlite");
    assert_int_equal(row->batch, batches[rows]);
    assert_true(row->ours > 0 && row->limit > 0 && row->p99_ms > 0);
    assert_true(row->ratio_limit == row->ours / row->limit);
    assert_true(row->group >= (double)row->batch && row->flushes > 0);
    rows++;
}

static void
test_rates(void **state)
{
    const struct collector_bench_size size = {batches, 4, 2, 0.03, 200, folder};
    (void)state;
    rows = 0;
    must(collector_bench_run(&size, check_rate, NULL, &err));
    assert_int_equal(rows, 2);
    assert_int_equal(entries(), 0);
}

static void
test_nowhere(void **state)
{
    const struct collector_bench_size size = {batches, 4,   2,
                                              0.03,    200, "/nowhere"};
    (void)state;
    assert_int_equal(collector_bench_run(&size, check_rate, NULL, &err),
                     SOTTO_STATUS_IO);
}

/* ---- Memory -------------------------------------------------------------- */

static void
check_memory(void *context, const struct sotto_bench_row *row)
{
    static const char *const after[] = {"after 300 reports",
                                        "after 600 reports"};
    (void)context;
    assert_string_equal(row->name, "collector memory");
    assert_string_equal(row->setting, after[rows]);
    assert_true(row->rate > 0 && row->memory_ours > 1e6);
    assert_null(row->store);
    rows++;
}

static void
test_memory(void **state)
{
    const struct collector_memory_size size = {300, 2, 100, 3, folder};
    (void)state;
    rows = 0;
    must(collector_memory_run(&size, check_memory, NULL, &err));
    assert_int_equal(rows, 2);
    assert_int_equal(entries(), 0);
}

static uint64_t grown;

static void
check_growth(void *context, const struct sotto_bench_row *row)
{
    (void)context;
    rows++;
    grown += rows == 3 ? 100 : 300;
    assert_true(row->rate > 0 && row->start_s > 0 && row->memory_ours > 0);
    assert_true(row->bytes > 60);
    assert_int_equal(strtoull(row->setting, NULL, 10), grown);
}

static void
test_growth(void **state)
{
    const struct collector_growth_size size = {300, 700, 100, 3, folder};
    (void)state;
    rows = 0;
    must(collector_growth_run(&size, check_growth, NULL, &err));
    assert_int_equal(rows, 3);
    assert_int_equal(entries(), 0);
}

/* ---- The limit ----------------------------------------------------------- */

static void
test_limit(void **state)
{
    struct collector_place place;
    struct store *store = NULL;
    struct store_counts counts = {0, 0, 0};
    uint32_t campaign = 0;
    double seconds = 0, rate = 0;
    char *url = NULL;
    (void)state;
    must(collector_place_init(&place, folder, &err));
    must(collector_place_store(&place, "limit", &url, &err));
    must(collector_limit_run(&place, url, 25, 10, &seconds, &err));
    must(collector_limit_run(&place, url, 25, 10, &seconds, &err));
    assert_true(seconds > 0);
    must(store_open(url, true, &store, &err));
    must(store_campaign(store, place.hash, "bench",
                        place.report_size - REPORT_HEADER_SIZE, &campaign,
                        &err));
    must(store_count(store, campaign, &counts, &err));
    assert_int_equal(counts.waiting, 50);
    /* It has a writer. */
    assert_int_equal(collector_limit_run(&place, url, 25, 10, &seconds, &err),
                     SOTTO_STATUS_IO);
    store_free(store);
    must(collector_limit_flush(&place, 1000, 0.01, &rate, &err));
    assert_true(rate > 0);
    free(url);
    collector_place_clear(&place);
    assert_int_equal(entries(), 0);
}

/* A window and a bit: it is moved on, and released. */
static void
test_limit_window(void **state)
{
    const size_t reports = STORE_WINDOW_MOST + 110000;
    struct collector_place place;
    struct store *store = NULL;
    struct store_counts counts = {0, 0, 0};
    uint32_t campaign = 0;
    double seconds = 0;
    char *url = NULL;
    (void)state;
    must(collector_place_init(&place, folder, &err));
    must(collector_place_store(&place, "limit", &url, &err));
    must(collector_limit_run(&place, url, reports, 16384, &seconds, &err));
    must(store_open(url, true, &store, &err));
    must(store_campaign(store, place.hash, "bench",
                        place.report_size - REPORT_HEADER_SIZE, &campaign,
                        &err));
    must(store_count(store, campaign, &counts, &err));
    assert_true(counts.released >= STORE_WINDOW_MOST);
    assert_int_equal(counts.released + counts.waiting, reports);
    store_free(store);
    free(url);
    collector_place_clear(&place);
}

/* ---- The folder ---------------------------------------------------------- */

static void
test_place(void **state)
{
    struct collector_place place;
    (void)state;
    must(collector_place_init(&place, folder, &err));
    for (size_t i = 0; i < COLLECTOR_PLACE_KINDS; i++) {
        assert_true(
            sotto_report_simulated(place.reports + i * place.report_size));
    }
    assert_int_equal(entries(), 1);
    collector_place_clear(&place);
    collector_place_clear(&place);
    assert_int_equal(entries(), 0);
    for (long n = 1;; n++) {
        enum sotto_status status;
        fail_alloc_at(n);
        status = collector_place_init(&place, folder, &err);
        fail_alloc_at(0);
        collector_place_clear(&place);
        assert_int_equal(entries(), 0);
        if (status == SOTTO_STATUS_OK) {
            break;
        }
        assert_int_equal(status, SOTTO_STATUS_MEMORY);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rates, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_nowhere, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_growth, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_memory, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_limit, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_limit_window, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_place, scratch_set_up,
                                        scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
