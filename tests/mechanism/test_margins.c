/*
 * test_margins.c: frequencies of a label and of codes alone: unbiased, with the
 * variance that all reports of a small channel have; and shares.
 */
#include "mechanism_fixture.h"

#include <math.h>
#include <stdio.h>

#include "fail_alloc.h"
#include "likelihood/interval.h"
#include "likelihood/likelihood.h"

#define BOOKS ((size_t)3)
#define K 2u
#define Z 1.96

static struct sotto_error err;

/* Three books of two codes, the six bytes of a column, with a label of three
   symbols: six combinations. */
static const struct schema_column columns[] = {
    {"pixels", SOTTO_COLUMN_BYTES, BOOKS *K, NULL, false, 127.5, 1 / 127.5},
    {"label", SOTTO_COLUMN_CATEGORY, 3, fixture_labels, false, 0, 0}};

static struct sotto_mechanism *
open_part(const struct compose_part *part)
{
    struct compose_spec spec = {.name = "books",
                                .campaign = "spring",
                                .auxiliary = "none",
                                .eps = 2 * DECIMAL_UNIT,
                                .column = columns,
                                .columns = 2,
                                .part = part,
                                .parts = 1};
    return fixture_open(&spec);
}

static struct sotto_mechanism *
open_books(const char *channel)
{
    static struct compose_part part;
    part = (struct compose_part){.covers = "both",
                                 .channel = channel,
                                 .eps = 2 * DECIMAL_UNIT,
                                 .blocks = 1,
                                 .factor = {{false, 0, K}, {true, 1}},
                                 .factors = 2,
                                 .books = BOOKS};
    return open_part(&part);
}
/* ---- All reports --------------------------------------------------------- */

/* Mean and variance, given the truth, of the sum of the estimates of all
   symbols with `own` in a factor, over every report there can be. */
static void
enumerate(const struct likelihood_instance *at, int32_t truth, size_t after,
          size_t k, size_t own, double *ret_mean, double *ret_variance)
{
    double mean = 0, square = 0, all = 0;
    for (uint32_t set = 0; set < 64; set++) {
        int64_t values[6];
        uint8_t wire[8] = {0};
        double entries[6], sum = 0, p;
        uint32_t named = 0;
        for (uint32_t i = 0; i < 6; i++) {
            if ((set >> i & 1) != 0) {
                values[named++] = i;
            }
        }
        if (named != at->values) {
            continue;
        }
        assert_true(at->likelihood->pack(at, values, wire));
        at->likelihood->estimate(at, wire, entries);
        for (size_t s = 0; s < 6; s++) {
            sum += s / after % k == own ? entries[s] : 0;
        }
        p = exp(at->likelihood->log_p(at, wire, &truth));
        mean += p * sum;
        square += p * sum * sum;
        all += p;
    }
    assert_true(fabs(all - 1) < 1e-9);
    *ret_mean = mean;
    *ret_variance = square - mean * mean;
}

static void
make_report(struct sotto_mechanism *mechanism, uint64_t stream, uint8_t *report)
{
    /* Codes 0, 1, 1; three of four say yes. */
    static const uint8_t pixels[BOOKS * K] = {9, 1, 1, 9, 1, 9};
    bool yes = stream % 4 != 0;
    struct sotto_value values[2] = {
        {SOTTO_VALUE_BYTES, 0, pixels, sizeof pixels},
        {SOTTO_VALUE_TEXT, 0, yes ? "yes" : "no", yes ? 3 : 2}};
    assert_int_equal(sotto_simulate(mechanism, 1, stream, values, 2, report,
                                    mechanism->shape.report_size),
                     SOTTO_STATUS_OK);
}

/* The interval is the one that the enumerated variances give. */
static void
check_row(const struct sotto_margins *margins, size_t i, size_t n,
          const struct likelihood_instance *at, size_t after, size_t k)
{
    struct sotto_estimate_row row;
    struct interval_share share;
    double in, out, mean_in, mean_out, half;
    sotto_margins_row(margins, i, Z, &row);
    enumerate(at, 0, after, k, 0, &mean_in, &in);
    enumerate(at, 0, after, k, 1, &mean_out, &out);
    assert_true(fabs(mean_in - 1) < 1e-9 && fabs(mean_out) < 1e-9);
    share = (struct interval_share){out, in - out + 1};
    half = interval_share_half(&share, row.value, (double)n, Z);
    assert_true(fabs(row.high - row.value - half) < 1e-9);
    assert_true(fabs(row.value - row.low - half) < 1e-9);
    assert_true(fabs(row.noise_deviation - sqrt(out / (double)n)) < 1e-9);
}

static void
test_rows(void **state)
{
    static const char *const channels[] = {"flip", "subset"};
    static const char *const names[] = {"label", "part 1 (book 0)",
                                        "part 1 (book 1)", "part 1 (book 2)"};
    enum { REPORTS = 30000 };
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        struct sotto_mechanism *mechanism = open_books(channels[c]);
        const struct likelihood_instance *at = &mechanism->likelihood[0];
        static const double truth[9] = {0.25, 0.75, 0, 1, 0, 0, 1, 0, 1};
        struct sotto_margins *margins = NULL;
        size_t asked[BOOKS] = {0, 0, 0};
        uint8_t report[256];
        assert_int_equal(sotto_margins_new(mechanism, &margins, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(sotto_margins_rows(margins), 3 + 3 * 2);
        for (uint64_t i = 0; i < REPORTS; i++) {
            make_report(mechanism, i, report);
            asked[sotto_report_book(mechanism, report)]++;
            sotto_margins_add(margins, report);
        }
        report[5] ^= 1; /* no report of this mechanism: passed over */
        sotto_margins_add(margins, report);
        for (size_t i = 0; i < 9; i++) {
            struct sotto_estimate_row row;
            size_t group = i < 3 ? 0 : 1 + (i - 3) / 2;
            sotto_margins_row(margins, i, Z, &row);
            assert_string_equal(row.name, names[group]);
            assert_true(fabs(row.value - truth[i]) <
                        (row.high - row.value) * 4 / Z);
            check_row(margins, i, i < 3 ? REPORTS : asked[group - 1], at,
                      i < 3 ? 1 : 3, i < 3 ? 3 : 2);
            if (i < 3) {
                assert_string_equal(row.category, i == 0   ? "no"
                                                  : i == 1 ? "yes"
                                                           : "(other)");
            } else {
                assert_string_equal(row.category,
                                    (i - 3) % 2 == 0 ? "code 0" : "code 1");
            }
        }
        sotto_margins_free(margins);
        sotto_mechanism_free(mechanism);
    }
}

/* A part about one thing has no margins; a report of signs tells none. */
static void
test_none(void **state)
{
    static const struct compose_part alone = {.covers = "label",
                                              .channel = "flip",
                                              .eps = 2 * DECIMAL_UNIT,
                                              .blocks = 1,
                                              .factor = {{true, 1}},
                                              .factors = 1};
    struct sotto_mechanism *mechanism = open_part(&alone);
    struct sotto_margins *margins = NULL;
    uint8_t report[256];
    (void)state;
    assert_int_equal(sotto_margins_new(mechanism, &margins, &err),
                     SOTTO_STATUS_OK);
    make_report(mechanism, 1, report);
    sotto_margins_add(margins, report);
    assert_int_equal(sotto_margins_rows(margins), 0);
    sotto_margins_free(margins);
    sotto_margins_free(NULL);
    sotto_mechanism_free(mechanism);

    mechanism = open_books("signs");
    assert_int_equal(sotto_margins_new(mechanism, &margins, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_margins_rows(margins), 0);
    sotto_margins_free(margins);
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = open_books("flip");
    struct sotto_margins *margins = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = sotto_margins_new(mechanism, &margins, &err);
    } while (status == SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
    sotto_margins_free(margins);
    sotto_mechanism_free(mechanism);
}

/* ---- Shares -------------------------------------------------------------- */

static void
check_shares(const double *from, const double *to, size_t n)
{
    double share[8];
    memcpy(share, from, n * sizeof *from);
    sotto_shares_project(share, n);
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs(share[i] - to[i]) < 1e-12);
    }
}

static void
test_shares(void **state)
{
    (void)state;
    /* Shares already; a sum of 1.2 without a negative one: each less 0.1; the
       negative drops out, then what it had is taken from the others; and one
       that drops out only when another has. */
    check_shares((double[]){0.3, 0.7}, (double[]){0.3, 0.7}, 2);
    check_shares((double[]){0.5, 0.7}, (double[]){0.4, 0.6}, 2);
    check_shares((double[]){0.5, 0.7, -0.2}, (double[]){0.4, 0.6, 0}, 3);
    check_shares((double[]){1.3, 0.1, -0.4}, (double[]){1, 0, 0}, 3);
    check_shares((double[]){0.8, 0.6, 0.15, -0.6}, (double[]){0.6, 0.4, 0, 0},
                 4);
    check_shares((double[]){-5}, (double[]){1}, 1);
    check_shares((double[]){-1, -1}, (double[]){0.5, 0.5}, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
