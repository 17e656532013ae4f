/*
 * independence.c: noise that is shared.
 *
 * Parts are enumerated one by one, and only a few coordinates of each, so noise
 * that two blocks share, or two coordinates, or a report and the one before it,
 * would go unseen. Here it is looked for in reports of one record. What is
 * looked at are signals, each a bit of a report that depends on the noise of
 * one block alone:
 *
 *   likely   how likely the block's report was  \
 *   value    an integer of it                    } at least some cut
 *   low      the lowest bit of its first byte   /
 *
 * The cuts are medians of a pilot whose reports are not used again. So if two
 * signals are independent, then given how often each is set, how often both are
 * is hypergeometric (Fisher's exact test): no estimate and no limit theorem.
 * What has a probability below CHANCE, over all comparisons, is no coincidence.
 *
 * One report and the next are compared in disjoint pairs, (0, 1), (2, 3), ...
 * and then (1, 2), (3, 4), ..., (n-1, 0): overlapping ones would not be
 * independent of each other, and noise kept for the next time has either phase.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "host/error.h"
#include "host/sort.h"
#include "privacy/audit.h"
#include "privacy/hostile.h"

#define PILOT 64u
#define HALF_MOST 2048u /* pairs of reports; a multiple of 64 */
#define HALF_LEAST 128u
#define SECONDS_MOST 20.0
#define WORDS (HALF_MOST / 64)
#define BLOCKS_MOST 48u   /* the first of them */
#define SIGNALS_MOST 512u /* theirs, and then of further coordinates */
#define CHANCE 1e-12
#define NOTABLE 6.0 /* standard deviations: below, no tail is computed */
#define RECORD 1u

enum kind { KIND_LIKELY, KIND_LOW, KIND_VALUE };

/* Reports 0, 2, 4, ...; 1, 3, 5, ...; 2, 4, ..., 0. */
enum view { VIEW_EVEN, VIEW_ODD, VIEW_NEXT, VIEWS };

struct signal {
    enum kind kind;
    uint32_t block, index;
    bool apart; /* its block adds noise to each integer by itself */
    double cut;
    bool above; /* set if above the cut; else if at least */
    uint64_t bits[VIEWS][WORDS];
    uint32_t ones[VIEWS];
};

struct independence {
    struct sotto_audit *audit;
    struct sotto_mechanism *mechanism;
    uint32_t half, signals;
    int32_t *q;      /* the record's points */
    int64_t *values; /* of one block */
    struct signal *signal;
    double *now;       /* the signals of one report, not cut yet */
    double *pilot;     /* the same of the pilot, by signal */
    double *factorial; /* ln n! */
    uint32_t comparisons;
    double worst; /* the least probability, as a logarithm */
    const struct signal *first, *second;
    bool lagged;
};

/* ---- Signals ------------------------------------------------------------- */

static void
add_signal(struct independence *in, enum kind kind, uint32_t block,
           uint32_t index, bool apart)
{
    if (in->signals < SIGNALS_MOST) {
        struct signal *signal = &in->signal[in->signals++];
        signal->kind = kind;
        signal->block = block;
        signal->index = index;
        signal->apart = apart;
    }
}

/* On lattice and ball each coordinate has noise of its own. */
static bool
is_apart(const struct channel *channel)
{
    return channel->domain == CHANNEL_DOMAIN_LATTICE ||
           channel->domain == CHANNEL_DOMAIN_BALL;
}

/* Signals of a block in the order they are taken; what there is room for. */
static void
add_signals(struct independence *in)
{
    const struct shape *shape = &in->mechanism->shape;
    uint32_t block = 0;
    for (size_t i = 0; i < shape->parts; i++) {
        const struct likelihood_instance *own = &in->mechanism->likelihood[i];
        bool apart = is_apart(own->instance->channel);
        for (size_t j = 0; j < shape->part[i].blocks && block < BLOCKS_MOST;
             j++, block++) {
            add_signal(in, KIND_LIKELY, block, 0, apart);
            add_signal(in, KIND_LOW, block, 0, apart);
            add_signal(in, KIND_VALUE, block, 0, apart);
            /* Leaves the blocks that follow their three. */
            for (uint32_t m = 1;
                 apart && m < own->values &&
                 in->signals + 3 * (BLOCKS_MOST - block) <= SIGNALS_MOST;
                 m++) {
                add_signal(in, KIND_VALUE, block, m, apart);
            }
        }
    }
}

static double
signal_of(const struct independence *in, const struct signal *signal,
          const struct likelihood_instance *own, const uint8_t *wire,
          const int32_t *q)
{
    double likely;
    switch (signal->kind) {
    case KIND_LIKELY:
        likely = own->likelihood->log_p(own, wire, q);
        return isnan(likely) ? 0 : likely;
    case KIND_LOW:
        return wire[0] & 1;
    default:
        return (double)in->values[signal->index];
    }
}

/* Fills `now`. */
static void
take_signals(struct independence *in, const uint8_t *report)
{
    const struct shape *shape = &in->mechanism->shape;
    const uint8_t *wire = report + shape->part[0].offset;
    size_t book = sotto_report_book(in->mechanism, report);
    const int32_t *q = in->q;
    uint32_t block = 0, at = 0;
    for (size_t i = 0; i < shape->parts; i++) {
        const struct likelihood_instance *own = &in->mechanism->likelihood[i];
        for (size_t j = 0; j < shape->part[i].blocks && at < in->signals;
             j++, block++) {
            own->likelihood->unpack(own, wire, in->values);
            for (; at < in->signals && in->signal[at].block == block; at++) {
                in->now[at] =
                    signal_of(in, &in->signal[at], own, wire,
                              shape->part[i].books > 1 ? q + book : q);
            }
            q += shape->part[i].books * shape->part[i].width;
            wire += own->instance->wire_size;
        }
    }
}

/* At the pilot's median, or above it if nothing lies below. */
static void
choose_cuts(struct independence *in)
{
    for (uint32_t i = 0; i < in->signals; i++) {
        double *sorted = in->pilot + (size_t)i * PILOT;
        host_sort_doubles(sorted, PILOT);
        in->signal[i].cut = sorted[PILOT / 2];
        in->signal[i].above = !(sorted[0] < in->signal[i].cut);
    }
}

static void
keep_bits(struct independence *in, uint32_t report)
{
    uint32_t at = report / 2;
    for (uint32_t i = 0; i < in->signals; i++) {
        struct signal *signal = &in->signal[i];
        bool set = signal->above ? in->now[i] > signal->cut
                                 : in->now[i] >= signal->cut;
        uint64_t bit = (uint64_t)set << (at % 64);
        signal->bits[report % 2][at / 64] |= bit;
        signal->ones[report % 2] += set;
    }
}

/* The view of the next ones is that of the even ones, turned by one. */
static void
turn_views(struct independence *in)
{
    for (uint32_t i = 0; i < in->signals; i++) {
        struct signal *signal = &in->signal[i];
        const uint64_t *even = signal->bits[VIEW_EVEN];
        uint32_t words = in->half / 64;
        for (uint32_t w = 0; w < words; w++) {
            signal->bits[VIEW_NEXT][w] = even[w] >> 1 | even[(w + 1) % words]
                                                            << 63;
        }
        signal->ones[VIEW_NEXT] = signal->ones[VIEW_EVEN];
    }
}

/* ---- Fisher's test ------------------------------------------------------- */

static double
log_choose(const struct independence *in, uint32_t n, uint32_t k)
{
    return in->factorial[n] - in->factorial[k] - in->factorial[n - k];
}

/*
 * ln P(as many as `both`, or more, or as few or fewer if that is rarer), of n
 * trials with `a` and `b` successes.
 */
static double
log_tail(const struct independence *in, uint32_t n, uint32_t a, uint32_t b,
         uint32_t both)
{
    uint32_t least = a + b > n ? a + b - n : 0, most = a < b ? a : b;
    double above = 0, below = 0, whole = log_choose(in, n, b);
    for (uint32_t k = least; k <= most; k++) {
        double p =
            exp(log_choose(in, a, k) + log_choose(in, n - a, b - k) - whole);
        above += k >= both ? p : 0;
        below += k <= both ? p : 0;
    }
    return log(fmax(fmin(above, below), 1e-300));
}

/* Whether `both` is far enough from its mean to be worth a look. */
static bool
is_notable(uint32_t n, uint32_t a, uint32_t b, uint32_t both)
{
    double share = (double)a / n, mean = share * b;
    double variance = mean * (1 - share) * (n - b) / (n - 1.0);
    double off = (double)both - mean;
    return off * off > NOTABLE * NOTABLE * variance;
}

static void
judge_pair(struct independence *in, const struct signal *first,
           const struct signal *second, bool lagged, const uint32_t table[4])
{
    in->comparisons++;
    if (is_notable(table[0], table[1], table[2], table[3])) {
        double tail = log_tail(in, table[0], table[1], table[2], table[3]);
        if (tail < in->worst) {
            in->worst = tail;
            in->first = first;
            in->second = second;
            in->lagged = lagged;
        }
    }
}

static uint32_t
count_both(const struct independence *in, const struct signal *first,
           enum view x, const struct signal *second, enum view y)
{
    const uint64_t *a = first->bits[x], *b = second->bits[y];
    uint32_t count = 0;
    for (uint32_t w = 0; w < in->half / 64; w++) {
        count += (uint32_t)__builtin_popcountll(a[w] & b[w]);
    }
    return count;
}

/* The first of one report with the second of the next. */
static void
compare_lagged(struct independence *in, const struct signal *first,
               const struct signal *second)
{
    static const enum view views[][2] = {{VIEW_EVEN, VIEW_ODD},
                                         {VIEW_ODD, VIEW_NEXT}};
    for (int i = 0; i < 2; i++) {
        enum view x = views[i][0], y = views[i][1];
        uint32_t table[4] = {in->half, first->ones[x], second->ones[y],
                             count_both(in, first, x, second, y)};
        judge_pair(in, first, second, true, table);
    }
}

/* Both of one report. */
static void
compare_same(struct independence *in, const struct signal *first,
             const struct signal *second)
{
    uint32_t table[4] = {2 * in->half,
                         first->ones[VIEW_EVEN] + first->ones[VIEW_ODD],
                         second->ones[VIEW_EVEN] + second->ones[VIEW_ODD], 0};
    table[3] = count_both(in, first, VIEW_EVEN, second, VIEW_EVEN) +
               count_both(in, first, VIEW_ODD, second, VIEW_ODD);
    judge_pair(in, first, second, false, table);
}

/* Two blocks are independent, and two integers of some. */
static bool
independent(const struct signal *a, const struct signal *b)
{
    return a->block != b->block ||
           (a->apart && a->kind == KIND_VALUE && b->kind == KIND_VALUE);
}

static void
compare_all(struct independence *in)
{
    for (uint32_t i = 0; i < in->signals; i++) {
        for (uint32_t j = 0; j < in->signals; j++) {
            const struct signal *first = &in->signal[i];
            const struct signal *second = &in->signal[j];
            compare_lagged(in, first, second);
            if (i < j && independent(first, second)) {
                compare_same(in, first, second);
            }
        }
    }
}

/* ---- All of it ----------------------------------------------------------- */

/* `worst` is the smaller of two tails: twice that is its chance. */
static void
judge_independence(struct independence *in)
{
    const struct signal *a = in->first, *b = in->second;
    double power = in->worst / log(10);
    if (in->worst + log(2.0 * in->comparisons) >= log(CHANCE)) {
        audit_note(in->audit, "restart", false,
                   "%u reports show no noise that blocks, coordinates, or one "
                   "report and the next would share (%u comparisons)",
                   2 * in->half, in->comparisons);
    } else if (in->lagged) {
        audit_note(in->audit, "restart", true,
                   "the noise of a report depends on that of the report before "
                   "it (blocks %u and %u; probability 10^%.0f)",
                   a->block + 1, b->block + 1, power);
    } else if (a->block == b->block) {
        audit_note(in->audit, "restart", true,
                   "coordinates %u and %u of block %u share their noise "
                   "(probability 10^%.0f)",
                   a->index + 1, b->index + 1, a->block + 1, power);
    } else {
        audit_note(in->audit, "restart", true,
                   "blocks %u and %u of a report share their noise "
                   "(probability 10^%.0f)",
                   a->block + 1, b->block + 1, power);
    }
}

/* One report, its signals in `now`. */
static enum sotto_status
take_report(struct independence *in, struct hostile *hostile, uint8_t *report,
            bool *ret_valid, struct sotto_error *err)
{
    size_t size = in->mechanism->shape.report_size;
    enum sotto_status status = audit_report(
        in->mechanism, hostile_record(hostile, RECORD), report, size, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_valid = stages_valid(in->mechanism, report, size);
    }
    if (status == SOTTO_STATUS_OK && *ret_valid) {
        take_signals(in, report);
    }
    return status;
}

/* As many pairs as there is time for. */
static uint32_t
choose_half(double each)
{
    uint32_t half = HALF_MOST;
    while (half > HALF_LEAST && 2 * half * each > SECONDS_MOST) {
        half /= 2;
    }
    return half;
}

/* The pilot, then the reports that count. *ret_valid is false if one was not a
   report: another attack's find. */
static enum sotto_status
gather_signals(struct independence *in, struct hostile *hostile,
               uint8_t *report, bool *ret_valid, struct sotto_error *err)
{
    double start = host_seconds();
    enum sotto_status status = SOTTO_STATUS_OK;
    *ret_valid = true;
    stages_encode(in->mechanism, hostile_record(hostile, RECORD));
    stages_points(in->mechanism, in->q);
    for (uint32_t i = 0; i < PILOT && status == SOTTO_STATUS_OK && *ret_valid;
         i++) {
        status = take_report(in, hostile, report, ret_valid, err);
        for (uint32_t j = 0; j < in->signals; j++) {
            in->pilot[(size_t)j * PILOT + i] = in->now[j];
        }
    }
    choose_cuts(in);
    in->half = choose_half((host_seconds() - start) / PILOT);
    for (uint32_t i = 0;
         i < 2 * in->half && status == SOTTO_STATUS_OK && *ret_valid; i++) {
        status = take_report(in, hostile, report, ret_valid, err);
        keep_bits(in, i);
    }
    return status;
}

static void
search_shared(struct independence *in)
{
    in->factorial[0] = 0;
    for (uint32_t i = 1; i <= 2 * HALF_MOST; i++) {
        in->factorial[i] = in->factorial[i - 1] + log(i);
    }
    turn_views(in);
    compare_all(in);
    judge_independence(in);
}

static size_t
most_values(const struct sotto_mechanism *mechanism)
{
    size_t most = 1;
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        size_t values = mechanism->likelihood[i].values;
        most = values > most ? values : most;
    }
    return most;
}

static bool
set_up_independence(struct independence *in)
{
    in->q = calloc(stages_points_width(in->mechanism), sizeof *in->q);
    in->values = calloc(most_values(in->mechanism), sizeof *in->values);
    in->signal = calloc(SIGNALS_MOST, sizeof *in->signal);
    in->now = calloc(SIGNALS_MOST, sizeof *in->now);
    in->pilot = calloc((size_t)SIGNALS_MOST * PILOT, sizeof *in->pilot);
    in->factorial = calloc(2 * HALF_MOST + 1, sizeof *in->factorial);
    return in->q != NULL && in->values != NULL && in->signal != NULL &&
           in->now != NULL && in->pilot != NULL && in->factorial != NULL;
}

static void
clear_independence(struct independence *in)
{
    free(in->q);
    free(in->values);
    free(in->signal);
    free(in->now);
    free(in->pilot);
    free(in->factorial);
}

enum sotto_status
audit_independence(struct sotto_audit *audit, struct sotto_error *err)
{
    struct independence in = {.audit = audit, .mechanism = audit->mechanism};
    struct hostile *hostile = hostile_new(audit->mechanism, 0);
    uint8_t *report = malloc(in.mechanism->shape.report_size);
    enum sotto_status status = SOTTO_STATUS_OK;
    bool valid = false;
    if (!set_up_independence(&in) || hostile == NULL || report == NULL) {
        status = host_fail_memory(err);
    } else {
        add_signals(&in);
        status = gather_signals(&in, hostile, report, &valid, err);
    }
    if (status == SOTTO_STATUS_OK && valid) {
        search_shared(&in);
    }
    clear_independence(&in);
    free(report);
    hostile_free(hostile);
    return status;
}
