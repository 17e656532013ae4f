/*
 * independence.c: noise that one block shares with another.
 *
 * Parts are enumerated one by one, so noise that two blocks share, or that a
 * report shares with the one before it, would go unseen. Here it is looked for
 * in reports of one record. Of each block three things are taken that depend
 * on its noise alone: how likely its report was, the lowest bit of its first
 * byte, and its first integer; each is cut in two at its middle. If two blocks
 * are independent, then given how often each of a pair of such bits is set,
 * how often both are is hypergeometric (Fisher's exact test): no estimate and
 * no limit theorem. What has a probability below CHANCE, over all pairs tried,
 * is no coincidence.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "privacy/audit.h"
#include "privacy/hostile.h"

#define REPORTS 4000u
#define BLOCKS_MOST 48u /* the first of them; their neighbours are compared */
#define CLOSE 8u        /* the first so many are all compared with each other */
#define FEATURES 3u
#define CHANCE 1e-12
#define RECORD 1u

struct independence {
    struct sotto_audit *audit;
    struct sotto_client *client;
    uint32_t blocks;
    int32_t *q;             /* the record's points */
    int64_t *values;        /* of one block */
    double *feature;        /* [block][feature][report] */
    uint8_t *bit;           /* the same, cut in two */
    double *factorial;      /* ln n! */
    double worst;           /* the least probability, as a logarithm */
    uint32_t first, second; /* the blocks it belongs to */
    bool lagged;
    uint32_t pairs;
};

static size_t
place(uint32_t block, uint32_t feature, uint32_t report)
{
    return ((size_t)block * FEATURES + feature) * REPORTS + report;
}

/* ---- Features ------------------------------------------------------------ */

static void
take_features(struct independence *in, const uint8_t *report, uint32_t at)
{
    const struct sotto_client *client = in->client;
    const uint8_t *wire = report + REPORT_HEADER_SIZE;
    const int32_t *q = in->q;
    uint32_t block = 0;
    for (uint32_t i = 0; i < client->sizes.parts; i++) {
        const struct channel_instance *own = &client->part[i].instance;
        for (uint32_t j = 0; j < client->part[i].blocks && block < in->blocks;
             j++, block++) {
            double *to = in->feature;
            own->channel->unpack(own, wire, in->values);
            to[place(block, 0, at)] = own->channel->log_p(own, wire, q);
            to[place(block, 1, at)] = wire[0] & 1;
            to[place(block, 2, at)] = (double)in->values[0];
            q += channel_width(own);
            wire += own->wire_size;
        }
    }
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* At the middle value, or just above it if nothing lies below. */
static void
cut(struct independence *in, uint32_t block, uint32_t feature, double *sorted)
{
    const double *from = in->feature + place(block, feature, 0);
    uint8_t *to = in->bit + place(block, feature, 0);
    double middle;
    memcpy(sorted, from, REPORTS * sizeof *sorted);
    qsort(sorted, REPORTS, sizeof *sorted, compare_doubles);
    middle = sorted[REPORTS / 2];
    for (uint32_t i = 0; i < REPORTS; i++) {
        to[i] = sorted[0] < middle ? from[i] >= middle : from[i] > middle;
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

/* Report i of the first block with report i + lag of the second. */
static void
compare(struct independence *in, uint32_t first, uint32_t second, uint32_t lag)
{
    for (uint32_t f = 0; f < FEATURES; f++) {
        const uint8_t *x = in->bit + place(first, f, 0);
        const uint8_t *y = in->bit + place(second, f, lag);
        uint32_t n = REPORTS - lag, a = 0, b = 0, both = 0;
        double tail;
        for (uint32_t i = 0; i < n; i++) {
            a += x[i];
            b += y[i];
            both += x[i] & y[i];
        }
        tail = log_tail(in, n, a, b, both);
        in->pairs++;
        if (tail < in->worst) {
            in->worst = tail;
            in->first = first;
            in->second = second;
            in->lagged = lag > 0;
        }
    }
}

static void
compare_all(struct independence *in)
{
    for (uint32_t i = 0; i < in->blocks; i++) {
        compare(in, i, i, 1);
        for (uint32_t j = i + 1; j < in->blocks; j++) {
            if (j == i + 1 || j < CLOSE) {
                compare(in, i, j, 0);
                compare(in, i, j, 1);
            }
        }
    }
}

/* ---- All of it ----------------------------------------------------------- */

static void
judge(struct independence *in)
{
    if (in->worst + log(2.0 * in->pairs) >= log(CHANCE)) {
        audit_note(in->audit, "restart", false,
                   "%u reports show no noise that blocks, or one report and "
                   "the next, would share (%u comparisons)",
                   REPORTS, in->pairs);
    } else if (in->lagged) {
        audit_note(in->audit, "restart", true,
                   "the noise of a report depends on that of the report before "
                   "it (blocks %u and %u; probability 10^%.0f)",
                   in->first + 1, in->second + 1, in->worst / log(10));
    } else {
        audit_note(in->audit, "restart", true,
                   "blocks %u and %u of a report share their noise "
                   "(probability 10^%.0f)",
                   in->first + 1, in->second + 1, in->worst / log(10));
    }
}

static enum sotto_status
gather(struct independence *in, struct hostile *hostile, uint8_t *report,
       struct sotto_error *err)
{
    struct sotto_client *client = in->client;
    audit_encode(client, hostile_record(hostile, RECORD));
    audit_points(client, in->q);
    for (uint32_t i = 0; i < REPORTS; i++) {
        enum sotto_status status = sotto_client_privatise(
            client, hostile_record(hostile, RECORD), client->sizes.columns,
            report, client->report_size);
        if (status != SOTTO_STATUS_OK) {
            return host_fail(err, status, 0, "%s",
                             sotto_status_message(status));
        }
        if (!report_valid(client, report, client->report_size)) {
            in->blocks = 0; /* another attack's find */
            return SOTTO_STATUS_OK;
        }
        take_features(in, report, i);
    }
    return SOTTO_STATUS_OK;
}

static uint32_t
count_blocks(const struct sotto_client *client, size_t *ret_values)
{
    uint64_t blocks = 0;
    *ret_values = 1;
    for (uint32_t i = 0; i < client->sizes.parts; i++) {
        size_t values = client->part[i].instance.values;
        blocks += client->part[i].blocks;
        *ret_values = values > *ret_values ? values : *ret_values;
    }
    return (uint32_t)(blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST);
}

static void
search(struct independence *in, double *sorted)
{
    in->factorial[0] = 0;
    for (uint32_t i = 1; i <= REPORTS; i++) {
        in->factorial[i] = in->factorial[i - 1] + log(i);
    }
    for (uint32_t i = 0; i < in->blocks * FEATURES; i++) {
        cut(in, i / FEATURES, i % FEATURES, sorted);
    }
    compare_all(in);
    judge(in);
}

enum sotto_status
audit_independence(struct sotto_audit *audit, struct sotto_error *err)
{
    struct independence in = {.audit = audit,
                              .client = audit->mechanism->client};
    size_t values, entries;
    struct hostile *hostile = hostile_new(audit->mechanism, 0);
    uint8_t *report = malloc(in.client->report_size);
    double *sorted = calloc(REPORTS, sizeof *sorted);
    enum sotto_status status = SOTTO_STATUS_OK;
    in.blocks = count_blocks(in.client, &values);
    entries = (size_t)in.blocks * FEATURES * REPORTS;
    in.q = calloc(audit_width(in.client), sizeof *in.q);
    in.values = calloc(values, sizeof *in.values);
    in.feature = calloc(entries, sizeof *in.feature);
    in.bit = calloc(entries, sizeof *in.bit);
    in.factorial = calloc(REPORTS + 1, sizeof *in.factorial);
    if (hostile == NULL || report == NULL || sorted == NULL || in.q == NULL ||
        in.values == NULL || in.feature == NULL || in.bit == NULL ||
        in.factorial == NULL) {
        status = host_fail_memory(err);
    } else {
        status = gather(&in, hostile, report, err);
    }
    if (status == SOTTO_STATUS_OK && in.blocks > 0) {
        search(&in, sorted);
    }
    free(in.q);
    free(in.values);
    free(in.feature);
    free(in.bit);
    free(in.factorial);
    free(sorted);
    free(report);
    hostile_free(hostile);
    return status;
}
