/*
 * test_lot.c: reports with the lot among codebooks, enumerated exactly on small
 * domains (invariants 1, 2 and 7); and makers of reports that are broken on
 * purpose, each of which must be found.
 */
#include "fail_alloc.h"
#include "privacy/audit_fixture.h"
#include "privacy/lot.h"
#include "random/draw.h"

#include <math.h>

#define POINTS 16u
#define BRANCHES 400000u
#define K 4u
#define BOOKS 3u

static struct sotto_error err;

/* `books` codebooks of K codes of an encoder, with a label of three symbols. */
static struct sotto_mechanism *
open_books(const char *channel, uint64_t eps, uint32_t books)
{
    static const char *const values[] = {"a", "b"};
    static float weight[FIXTURE_COLUMNS_MOST * FIXTURE_COLUMNS_MOST];
    static float bias[FIXTURE_COLUMNS_MOST];
    const struct schema_column columns[] = {
        {"x", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
        {"y", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
        {"label", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 1}};
    struct layer layer = layer_of(2, K * books, weight, bias);
    struct compose_part part = {.covers = "both",
                                .channel = channel,
                                .eps = eps,
                                .blocks = 1,
                                .factor = {{false, 0, K}, {true, 2, 0}},
                                .factors = 2,
                                .books = books};
    struct compose_spec spec = {.name = "books",
                                .campaign = "spring",
                                .auxiliary = "none",
                                .eps = eps,
                                .column = columns,
                                .columns = 3,
                                .layer = &layer,
                                .layers = 1,
                                .part = &part,
                                .parts = 1};
    for (uint32_t i = 0; i < 2 * K * books; i++) {
        weight[i] = (float)(i * 7 % 11) - 5;
    }
    return mechanism_of(&spec);
}

static struct lot_result
enumerate(struct sotto_mechanism *mechanism, lot_maker *make, size_t bytes)
{
    struct lot_request request = {mechanism, make, bytes, POINTS, BRANCHES};
    struct lot_result result;
    memset(&result, 0x5a, sizeof result);
    assert_int_equal(lot_enumerate(&request, &result, &err), SOTTO_STATUS_OK);
    return result;
}

static size_t
payload_of(const struct sotto_mechanism *mechanism)
{
    return mechanism->shape.report_size - REPORT_HEADER_SIZE;
}

static void
make_sound(const struct report_plan *plan, struct entropy *entropy,
           uint8_t *report)
{
    report_begin(plan, entropy, report);
    report_finish(plan, entropy, report);
}

/* ---- What ships ---------------------------------------------------------- */

/* Invariant 2: over all (book, report) the ratio is e^eps and no more, exactly,
   for every channel of symbols. */
static void
test_exact_epsilon(void **state)
{
    static const char *const channels[] = {"flip", "subset", "signs"};
    static const uint64_t eps[] = {UNITS(0.5), UNITS(1), UNITS(4)};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            struct sotto_mechanism *mechanism =
                open_books(channels[i], eps[j], BOOKS);
            struct lot_result r =
                enumerate(mechanism, make_sound, payload_of(mechanism));
            assert_string_equal(r.fault, "");
            assert_true(r.whole && r.uniform && r.within);
            assert_true(r.reports % BOOKS == 0 && r.reports > BOOKS);
            assert_true(r.eps == (double)eps[j] / (double)DECIMAL_UNIT);
            sotto_mechanism_free(mechanism);
        }
    }
}

/* Numbers of books that are powers of two, and that are not. */
static void
test_uniform(void **state)
{
    (void)state;
    for (uint32_t books = 2; books <= 13; books++) {
        struct sotto_mechanism *mechanism = open_books("flip", UNITS(1), books);
        struct lot_result r = enumerate(mechanism, report_begin, 1);
        assert_string_equal(r.fault, "");
        assert_true(r.whole && r.uniform && r.within);
        assert_int_equal(r.reports, books);
        assert_int_equal(r.branches, POINTS * books);
        assert_true(r.eps == 0);
        sotto_mechanism_free(mechanism);
    }
}

/* Too many branches: nothing is claimed. */
static void
test_not_whole(void **state)
{
    struct sotto_mechanism *mechanism = open_books("subset", UNITS(1), BOOKS);
    struct lot_request request = {mechanism, make_sound, payload_of(mechanism),
                                  POINTS, 100};
    struct lot_result r;
    (void)state;
    assert_int_equal(lot_enumerate(&request, &r, &err), SOTTO_STATUS_OK);
    assert_false(r.whole || r.within || r.uniform);
    sotto_mechanism_free(mechanism);
}

/* ---- What is broken on purpose ------------------------------------------- */

/* The lot is the record's: the book whose first score is largest. */
static void
make_from_record(const struct report_plan *plan, struct entropy *entropy,
                 uint8_t *report)
{
    const float *z = *plan->z;
    report_begin(plan, entropy, report);
    report[REPORT_HEADER_SIZE] =
        (uint8_t)(z[0] > z[K] ? (z[0] > z[2 * K] ? 0 : 2)
                              : (z[K] > z[2 * K] ? 1 : 2));
    report_finish(plan, entropy, report);
}

/* One record alone moves the lot a little: from book 2 to book 0, where the
   label is the first. */
static void
make_nudged(const struct report_plan *plan, struct entropy *entropy,
            uint8_t *report)
{
    report_begin(plan, entropy, report);
    if (plan->symbol[2] == 0 && report[REPORT_HEADER_SIZE] == 2) {
        report[REPORT_HEADER_SIZE] = 0;
    }
    report_finish(plan, entropy, report);
}

/* Bytes modulo 3, past the primitives. */
static void
make_modulo(const struct report_plan *plan, struct entropy *entropy,
            uint8_t *report)
{
    report_begin(plan, entropy, report);
    report[REPORT_HEADER_SIZE] = (uint8_t)(random_u32(&entropy->random) % 3);
}

/* A byte modulo 3, exactly drawn: not uniform, though of no record. */
static void
make_biased(const struct report_plan *plan, struct entropy *entropy,
            uint8_t *report)
{
    report_begin(plan, entropy, report);
    report[REPORT_HEADER_SIZE] =
        (uint8_t)(draw_below(&entropy->random, 256) % 3);
}

/* What is asked is not the lot's book but the record's choice of two. */
static void
make_other_book(const struct report_plan *plan, struct entropy *entropy,
                uint8_t *report)
{
    report_begin(plan, entropy, report);
    if (report[REPORT_HEADER_SIZE] < 2 && (*plan->z)[0] > (*plan->z)[K]) {
        report[REPORT_HEADER_SIZE] ^= 1;
        report_finish(plan, entropy, report);
        report[REPORT_HEADER_SIZE] ^= 1;
    } else {
        report_finish(plan, entropy, report);
    }
}

/* The last book is asked at twice the epsilon. */
static void
make_unequal(const struct report_plan *plan, struct entropy *entropy,
             uint8_t *report)
{
    static uint64_t own[4096];
    struct channel_instance sound = plan->part[0].instance;
    struct channel_instance *instance = &plan->part[0].instance;
    report_begin(plan, entropy, report);
    if (report[REPORT_HEADER_SIZE] == BOOKS - 1) {
        assert_true(sound.channel->own_size <= sizeof own);
        assert_int_equal(channel_init(instance, sound.channel, sound.size,
                                      sound.rows, sound.l, 2 * sound.eps,
                                      sound.delta, own),
                         SOTTO_STATUS_OK);
    }
    report_finish(plan, entropy, report);
    *instance = sound;
}

/* The last book draws once more than the others. */
static void
make_longer(const struct report_plan *plan, struct entropy *entropy,
            uint8_t *report)
{
    make_sound(plan, entropy, report);
    if (report[REPORT_HEADER_SIZE] == BOOKS - 1) {
        (void)draw_below(&entropy->random, 2);
    }
}

/* The last book sends a byte less: what is behind it is left as it was. */
static void
make_shorter(const struct report_plan *plan, struct entropy *entropy,
             uint8_t *report)
{
    uint8_t left = report[plan->size - 1];
    make_sound(plan, entropy, report);
    if (report[REPORT_HEADER_SIZE] == BOOKS - 1) {
        report[plan->size - 1] = left;
    }
}

static void
test_planted_faults(void **state)
{
    static const struct {
        lot_maker *make;
        bool lot; /* the lot is not uniform */
        bool within;
        double eps;
    } faults[] = {
        {make_from_record, true, false, (double)INFINITY},
        {make_nudged, true, false, (double)INFINITY},
        {make_other_book, false, true, 1},
    };
    struct sotto_mechanism *mechanism = open_books("flip", UNITS(1), BOOKS);
    struct lot_result r;
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        r = enumerate(mechanism, faults[i].make, payload_of(mechanism));
        assert_string_equal(r.fault, "");
        assert_int_equal(r.uniform, !faults[i].lot);
        assert_int_equal(r.within, faults[i].within);
        assert_true(r.eps == faults[i].eps);
    }
    r = enumerate(mechanism, make_biased, 1);
    assert_false(r.uniform);
    r = enumerate(mechanism, make_modulo, 1);
    assert_non_null(strstr(r.fault, "past the exact primitives"));
    r = enumerate(mechanism, make_unequal, payload_of(mechanism));
    assert_true(r.fault[0] != '\0' || (!r.within && r.eps > 1.9));
    r = enumerate(mechanism, make_longer, payload_of(mechanism));
    assert_non_null(strstr(r.fault, "depends on"));
    r = enumerate(mechanism, make_shorter, payload_of(mechanism));
    assert_non_null(strstr(r.fault, "outside the valid set"));
    sotto_mechanism_free(mechanism);
}

/* ---- The audit ----------------------------------------------------------- */

static void
check_audit(const char *channel, const char *says)
{
    struct sotto_mechanism *mechanism = open_books(channel, UNITS(1), BOOKS);
    struct sotto_audit_options options = {.samples = 2000, .branches = 100000};
    struct sotto_audit *audit = NULL;
    struct sotto_audit_info info;
    bool said = false, lot = false;
    assert_int_equal(sotto_audit_run(mechanism, &options, &audit, &err),
                     SOTTO_STATUS_OK);
    sotto_audit_info(audit, &info);
    assert_false(info.violated);
    assert_true(info.eps_exact == 1);
    for (size_t i = 0; i < info.findings; i++) {
        const char *text = sotto_audit_finding(audit, i)->text;
        said = said || strstr(text, says) != NULL;
        lot = lot || strstr(text, "probability exactly 1/3") != NULL;
    }
    assert_true(said && lot);
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/* The whole audit holds on three codebooks. */
static void
test_audit_holds(void **state)
{
    (void)state;
    check_audit("flip", "with their lot, one is at most e^1 times");
    check_audit("subset", "with their lot, one is at most e^1 times");
    check_audit("signs", "with their lot, one is at most e^1 times");
}

/* A small limit for the channels leaves the lot whole, and is no violation: one
   that is far below the lot's branches, and one that just is. */
static void
test_audit_few_branches(void **state)
{
    (void)state;
    for (uint64_t most = 1; most <= 46; most += 45) {
        struct sotto_mechanism *mechanism = open_books("flip", UNITS(1), BOOKS);
        struct sotto_audit_options options = {.samples = 2000,
                                              .branches = most};
        struct sotto_audit *audit = NULL;
        struct sotto_audit_info info;
        bool lot = false;
        assert_int_equal(sotto_audit_run(mechanism, &options, &audit, &err),
                         SOTTO_STATUS_OK);
        sotto_audit_info(audit, &info);
        assert_false(info.violated);
        for (size_t i = 0; i < info.findings; i++) {
            const char *text = sotto_audit_finding(audit, i)->text;
            lot = lot || strstr(text, "probability exactly 1/3") != NULL;
        }
        assert_true(lot);
        sotto_audit_free(audit);
        sotto_mechanism_free(mechanism);
    }
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = open_books("flip", UNITS(1), BOOKS);
    struct lot_request request = {mechanism, report_begin, 1, 2, BRANCHES};
    (void)state;
    enum sotto_status status;
    struct lot_result r;
    long n = 0;
    do {
        fail_alloc_at(++n);
        status = lot_enumerate(&request, &r, &err);
        assert_true(status == SOTTO_STATUS_MEMORY || fail_alloc_count() < n);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(r.uniform && n > 3);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_epsilon),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_not_whole),
        cmocka_unit_test(test_planted_faults),
        cmocka_unit_test(test_audit_holds),
        cmocka_unit_test(test_audit_few_branches),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
