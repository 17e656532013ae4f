/*
 * test_known.c: what a collector's page knows of released reports: each batch
 * once, whatever fails, in a chart that never grows. The store is this file's.
 */
#include "mechanism/mechanism_fixture.h"

#include <stdio.h>

#include <math.h>

#include "collector/known.h"
#include "fail_alloc.h"
#include "store/store.h"

#define EACH 5u /* reports of a batch */

static struct sotto_error err;
static struct campaigns *campaigns;
static struct sotto_mechanism *mechanism; /* for reports */

/* ---- A store of batches -------------------------------------------------- */

static uint64_t batches;        /* that it has */
static enum sotto_status fails; /* reading does */
static uint64_t damaged;        /* this one is; 0: none */
static int open_readers;

enum sotto_status
store_reader_open(const char *url, struct store_reader **ret,
                  bool *ret_simulation, struct sotto_error *error)
{
    (void)error;
    assert_string_equal(url, "sqlite:here");
    assert_null(ret_simulation);
    open_readers++;
    *ret = NULL;
    return SOTTO_STATUS_OK;
}

void
store_reader_free(struct store_reader *reader)
{
    assert_null(reader);
    open_readers--;
}

enum sotto_status
store_reader_next(struct store_reader *reader,
                  const uint8_t hash[SOTTO_HASH_SIZE], uint64_t after,
                  struct store_batch *ret_batch, struct sotto_error *error)
{
    size_t size = mechanism->shape.report_size;
    assert_null(reader);
    assert_memory_equal(hash, mechanism->shape.hash, SOTTO_HASH_SIZE);
    if (fails != SOTTO_STATUS_OK || after + 1 == damaged) {
        error->status = fails != SOTTO_STATUS_OK ? fails : SOTTO_STATUS_FORMAT;
        return error->status;
    }
    if (after < batches) {
        ret_batch->reports = malloc(EACH * size);
        ret_batch->number = after + 1;
        ret_batch->count = EACH;
        ret_batch->size = EACH * size;
        for (uint64_t i = 0; i < EACH; i++) {
            fixture_report(mechanism, after * EACH + i,
                           ret_batch->reports + i * size, size);
        }
    }
    return SOTTO_STATUS_OK;
}

static int
set_up(void **state)
{
    (void)state;
    mechanism = fixture_open(&fixture_plain);
    return campaigns_from("m", fixture_open(&fixture_plain), "signature\n",
                          &campaigns, &err) == SOTTO_STATUS_OK
               ? 0
               : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    campaigns_release(campaigns);
    sotto_mechanism_free(mechanism);
    return 0;
}

static struct known
begin(void)
{
    struct known known;
    assert_int_equal(known_begin(campaigns, campaigns->campaign, &known, &err),
                     SOTTO_STATUS_OK);
    return known;
}

static size_t
read_all(struct known *known)
{
    size_t count = 0;
    bool more = true, passed;
    atomic_store(&known->campaign->batches, batches); /* as counted with them */
    while (more) {
        assert_int_equal(known_read(known, "sqlite:here", &more, &passed, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(open_readers, 0);
        count += more ? 1 : 0;
    }
    return count;
}

/* ---- Tests --------------------------------------------------------------- */

static void
test_each_once(void **state)
{
    struct known known = begin();
    struct sotto_estimate *all = NULL;
    struct sotto_estimate_row own, other;
    static uint8_t report[256];
    (void)state;
    batches = 3;
    assert_int_equal(read_all(&known), 3);
    assert_int_equal(read_all(&known), 0);
    batches = 7;
    bool more = true, passed; /* what is not counted yet is not read */
    assert_int_equal(known_read(&known, "sqlite:here", &more, &passed, &err),
                     SOTTO_STATUS_OK);
    assert_false(more);
    atomic_store(&known.campaign->released, 7 * EACH);
    assert_non_null(known_trouble(&known)); /* not all are counted yet */
    assert_int_equal(read_all(&known), 4);
    assert_null(known_trouble(&known));
    assert_int_equal(known.counted, 7 * EACH);
    assert_int_equal(known.steps, 7);
    assert_int_equal(known.step[2], 3 * EACH);
    assert_int_equal(sotto_estimate_new(mechanism, &all, &err),
                     SOTTO_STATUS_OK);
    for (uint64_t i = 0; i < 7 * EACH; i++) {
        fixture_report(mechanism, i, report, mechanism->shape.report_size);
        sotto_estimate_add(all, report);
    }
    for (size_t i = 0; i < sotto_estimate_rows(all); i++) {
        sotto_estimate_row(all, i, 1.96, &other);
        sotto_estimate_row(known.estimate, i, 1.96, &own);
        assert_true(own.value == other.value && own.high == other.high);
    }
    sotto_estimate_free(all);
    known_clear(&known);
}

/* A campaign that the store forgot is not known here either. */
static void
test_forgotten(void **state)
{
    struct known known = begin(), fresh = begin();
    struct sotto_estimate_row row, other;
    (void)state;
    batches = 3;
    assert_int_equal(read_all(&known), 3);
    batches = 0;
    atomic_store(&known.campaign->released, 0);
    assert_int_equal(read_all(&known), 0);
    assert_int_equal(known.counted + known.last + known.steps, 0);
    assert_null(known_trouble(&known));
    sotto_estimate_row(known.estimate, 0, 1.96, &row);
    sotto_estimate_row(fresh.estimate, 0, 1.96, &other);
    assert_memory_equal(&row.value, &other.value, sizeof row.value);
    known_clear(&fresh);
    known_clear(&known);
}

/* What cannot be read is said, and read once it can be. */
static void
test_failing(void **state)
{
    struct known known = begin();
    bool more = true, passed = true;
    (void)state;
    batches = 2;
    atomic_store(&known.campaign->batches, batches);
    atomic_store(&known.campaign->released, 2 * EACH);
    fails = SOTTO_STATUS_IO;
    assert_int_equal(known_read(&known, "sqlite:here", &more, &passed, &err),
                     SOTTO_STATUS_IO);
    assert_false(more);
    assert_false(passed);
    assert_true(known.failed);
    assert_int_equal(open_readers, 0);
    assert_non_null(strstr(known_trouble(&known), "tried again"));
    fails = SOTTO_STATUS_OK;
    assert_int_equal(read_all(&known), 2);
    assert_false(known.failed);
    assert_null(known_trouble(&known));
    known_clear(&known);
}

/* What is damaged is said, and what is behind it is read. */
static void
test_damaged(void **state)
{
    struct known known = begin();
    (void)state;
    batches = 4;
    atomic_store(&known.campaign->released, 4 * EACH);
    damaged = 2;
    assert_int_equal(read_all(&known), 4);
    assert_int_equal(open_readers, 0);
    assert_int_equal(known.unread, 1);
    assert_int_equal(known.counted, 3 * EACH);
    assert_int_equal(known.last, 4);
    assert_false(known.failed);
    assert_non_null(strstr(known_trouble(&known), "cannot be read"));
    assert_int_equal(known.steps, 4);
    assert_int_equal(known.step[1], EACH);
    damaged = 0;
    known_clear(&known);
}

/* Steps become half as many when there is no room, and are even all the way. */
static void
test_long_chart(void **state)
{
    struct known known = begin();
    (void)state;
    batches = 1000;
    assert_int_equal(read_all(&known), 1000);
    assert_int_equal(known.stride, 8);
    assert_int_equal(known.steps, 125);
    for (size_t i = 0; i < known.steps; i++) {
        assert_int_equal(known.step[i], (i + 1) * 8 * EACH);
    }
    known_clear(&known);
}

/* A mechanism whose estimates no page could show: counts alone. */
static void
test_too_many(void **state)
{
    static const char *names[CHANNEL_K_MAX];
    static char text[CHANNEL_K_MAX][8];
    struct schema_column column = fixture_column[2];
    const struct compose_part part =
        SYMBOL_PART("features", "flip", DECIMAL_UNIT, 1, {true, 0, 0});
    struct compose_spec spec = fixture_plain;
    struct campaigns *own = NULL;
    struct known known;
    size_t count = 20000 < CHANNEL_K_MAX ? 20000 : CHANNEL_K_MAX;
    (void)state;
    for (size_t i = 0; i + 1 < count; i++) {
        (void)snprintf(text[i], sizeof text[i], "%zu", i);
        names[i] = text[i];
    }
    column.count = count;
    column.values = names;
    spec.column = &column;
    spec.columns = 1;
    spec.part = &part;
    spec.parts = 1;
    spec.eps = DECIMAL_UNIT;
    assert_int_equal(
        campaigns_from("n", fixture_open(&spec), "signature\n", &own, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(known_begin(own, own->campaign, &known, &err),
                     SOTTO_STATUS_OK);
    assert_null(known.estimate);
    assert_null(known.margins);
    assert_non_null(strstr(known_trouble(&known), "more estimates"));
    known_clear(&known);
    campaigns_release(own);
}

static void
test_no_memory(void **state)
{
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    struct known known;
    (void)state;
    for (long n = 1; status != SOTTO_STATUS_OK; n++) {
        fail_alloc_at(n);
        status = known_begin(campaigns, campaigns->campaign, &known, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        known_clear(&known);
        assert_true(n < 1000);
    }
    fail_alloc_at(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once),  cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_failing),    cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_long_chart), cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
