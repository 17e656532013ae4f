/*
 * sample.c: epsilon from below, from reports alone.
 *
 * If the mechanism keeps (epsilon, delta), then for any two records x, x' and
 * any event E, P(E|x) <= e^epsilon P(E|x') + delta. So
 *
 *     epsilon >= ln((P(E|x) - delta) / P(E|x')).
 *
 * The pair and the event are chosen on one sample, and judged on another that
 * had no say in the choice: Clopper and Pearson's lower bound for P(E|x) and
 * upper bound for P(E|x'), each at alpha/2, hold together with probability
 * 1 - alpha, whatever was chosen. A sound mechanism is found out with
 * probability alpha at most.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/clock.h"
#include "host/error.h"
#include "host/sort.h"
#include "privacy/audit.h"
#include "privacy/binomial.h"
#include "privacy/hostile.h"

#define CANDIDATES 24u /* records, of which the pair is chosen */
#define EXPLORED 8u    /* reports of each for choosing it */
#define CUTS 400u      /* thresholds tried for the likelihood ratio */
#define BYTES_MOST 256u
#define SECONDS_MOST 120.0

/* One side of the pair. */
struct world {
    uint64_t record;
    int32_t *q;
    double *ratio;   /* ln p(r|first) / p(r|second), of each report */
    uint32_t *bytes; /* how often each byte had each value */
};

enum event_kind {
    EVENT_RATIO_ABOVE, /* the likelihood ratio is at least `cut` */
    EVENT_RATIO_BELOW,
    EVENT_BYTE /* byte `at` is `value` */
};

struct event {
    enum event_kind kind;
    bool swapped; /* likelier in the second world */
    double cut;
    uint32_t at, value;
    double score;
};

struct sampling {
    struct sotto_audit *audit;
    struct sotto_mechanism *mechanism;
    struct hostile *hostile;
    size_t width;
    int32_t *candidate; /* the points of all candidates */
    uint8_t *report;    /* EXPLORED of each candidate */
    struct world world[2];
    uint32_t bytes; /* bytes of a report looked at */
    uint64_t n, done, total;
};

/* ---- Reports ------------------------------------------------------------- */

static enum sotto_status
make_report(struct sampling *s, uint64_t record, uint8_t *report,
            struct sotto_error *err)
{
    enum sotto_status status =
        audit_report(s->mechanism, hostile_record(s->hostile, record), report,
                     s->mechanism->shape.report_size, err);
    if (status == SOTTO_STATUS_OK && ++s->done % 1024 == 0) {
        audit_progress(s->audit, "sample", s->done, s->total);
    }
    return status;
}

static double
ratio_of(const struct sampling *s, const uint8_t *report)
{
    double ratio;
    if (!stages_valid(s->mechanism, report, s->mechanism->shape.report_size)) {
        return 0; /* log p is for valid reports only */
    }
    ratio = audit_log_p(s->mechanism, s->world[0].q, report) -
            audit_log_p(s->mechanism, s->world[1].q, report);
    return isnan(ratio) ? 0 : ratio;
}

/* ---- The pair ------------------------------------------------------------ */

static enum sotto_status
explore_candidates(struct sampling *s, struct sotto_error *err)
{
    size_t size = s->mechanism->shape.report_size;
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        stages_encode(s->mechanism, hostile_record(s->hostile, i));
        stages_points(s->mechanism, s->candidate + i * s->width);
        for (uint32_t j = 0; j < EXPLORED; j++) {
            enum sotto_status status =
                make_report(s, i, s->report + (i * EXPLORED + j) * size, err);
            if (status != SOTTO_STATUS_OK) {
                return status;
            }
        }
    }
    return SOTTO_STATUS_OK;
}

/* The mean of ln p(r|i)/p(r|j) over reports of i. */
static double
measure_divergence(const struct sampling *s, uint32_t i, uint32_t j)
{
    size_t size = s->mechanism->shape.report_size;
    double sum = 0;
    for (uint32_t m = 0; m < EXPLORED; m++) {
        const uint8_t *report = s->report + (i * EXPLORED + m) * size;
        if (stages_valid(s->mechanism, report, size)) {
            sum +=
                audit_log_p(s->mechanism, s->candidate + i * s->width, report) -
                audit_log_p(s->mechanism, s->candidate + j * s->width, report);
        }
    }
    return isnan(sum) ? 0 : sum;
}

/* The two records farthest apart, both ways added. */
static void
choose_pair(struct sampling *s)
{
    double best = -INFINITY;
    for (uint32_t i = 0; i < CANDIDATES; i++) {
        for (uint32_t j = 0; j < i; j++) {
            double apart =
                measure_divergence(s, i, j) + measure_divergence(s, j, i);
            if (apart > best) {
                best = apart;
                s->world[0].record = i;
                s->world[1].record = j;
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        s->world[i].q = s->candidate + s->world[i].record * s->width;
    }
}

/* ---- The event ----------------------------------------------------------- */

static double
lower_bound(const struct sampling *s, uint64_t likely, uint64_t unlikely)
{
    double alpha = s->audit->options.alpha / 2;
    double delta = s->audit->info.delta_stated;
    double p = binomial_lower(likely, s->n, alpha) - delta;
    double q = binomial_upper(unlikely, s->n, alpha);
    return p > 0 ? log(p / q) : -INFINITY;
}

static void
consider_event(const struct sampling *s, struct event event, uint64_t first,
               uint64_t second, struct event *best)
{
    uint64_t most = first > second ? first : second;
    uint64_t least = first > second ? second : first;
    /* The bound is below the plain quotient: most need not be computed. */
    if (log((double)most / (least > 7 ? (double)least : 7)) <= best->score) {
        return;
    }
    event.swapped = second > first;
    event.score = event.swapped ? lower_bound(s, second, first)
                                : lower_bound(s, first, second);
    if (event.score > best->score) {
        *best = event;
    }
}

/* How many of the sorted are below `cut`. */
static uint64_t
count_below(const double *sorted, uint64_t n, double cut)
{
    uint64_t low = 0, high = n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (sorted[middle] < cut) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Cuts at the quantiles of either world, closer together at the ends. */
static void
consider_ratios(struct sampling *s, struct event *best)
{
    for (int w = 0; w < 2; w++) {
        host_sort_doubles(s->world[w].ratio, s->n);
    }
    for (uint32_t i = 0; i < 2 * CUTS; i++) {
        const double *from = s->world[i % 2].ratio;
        uint32_t cut = i / 2;
        double share = (1 - cos(M_PI * cut / CUTS)) / 2;
        struct event event = {.kind = EVENT_RATIO_ABOVE};
        uint64_t below[2];
        event.cut = from[(uint64_t)(share * (double)(s->n - 1))];
        for (int w = 0; w < 2; w++) {
            below[w] = count_below(s->world[w].ratio, s->n, event.cut);
        }
        consider_event(s, event, s->n - below[0], s->n - below[1], best);
        event.kind = EVENT_RATIO_BELOW;
        consider_event(s, event, below[0], below[1], best);
    }
}

static void
consider_bytes(const struct sampling *s, struct event *best)
{
    for (uint32_t i = 0; i < s->bytes * 256; i++) {
        struct event event = {
            .kind = EVENT_BYTE, .at = i / 256, .value = i % 256};
        uint32_t first = s->world[0].bytes[i], second = s->world[1].bytes[i];
        if (first != second) {
            consider_event(s, event, first, second, best);
        }
    }
}

static enum sotto_status
gather_samples(struct sampling *s, struct sotto_error *err)
{
    for (uint64_t i = 0; i < 2 * s->n; i++) {
        struct world *world = &s->world[i % 2];
        enum sotto_status status =
            make_report(s, world->record, s->report, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        world->ratio[i / 2] = ratio_of(s, s->report);
        for (uint32_t j = 0; j < s->bytes; j++) {
            world->bytes[256 * j + s->report[REPORT_HEADER_SIZE + j]]++;
        }
    }
    return SOTTO_STATUS_OK;
}

static bool
happened(const struct sampling *s, const struct event *event)
{
    switch (event->kind) {
    case EVENT_RATIO_ABOVE:
        return ratio_of(s, s->report) >= event->cut;
    case EVENT_RATIO_BELOW:
        return ratio_of(s, s->report) < event->cut;
    default:
        return s->report[REPORT_HEADER_SIZE + event->at] == event->value;
    }
}

static enum sotto_status
judge_sample(struct sampling *s, const struct event *event,
             struct sotto_error *err)
{
    struct sotto_audit *audit = s->audit;
    uint64_t count[2] = {0, 0};
    for (uint64_t i = 0; i < 2 * s->n; i++) {
        enum sotto_status status =
            make_report(s, s->world[i % 2].record, s->report, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        count[i % 2] += happened(s, event);
    }
    audit->info.samples = s->n;
    audit->info.eps_lower =
        fmax(0, lower_bound(s, count[event->swapped], count[!event->swapped]));
    audit_note(
        audit, "sample", audit->info.eps_lower > audit->info.eps_stated,
        "an event seen %llu times in %llu reports of one record and "
        "%llu times in as many of another: epsilon is at least %.6g "
        "(%.4g%% confidence); stated is %.12g",
        (unsigned long long)count[event->swapped], (unsigned long long)s->n,
        (unsigned long long)count[!event->swapped], audit->info.eps_lower,
        100 * (1 - audit->options.alpha), audit->info.eps_stated);
    return SOTTO_STATUS_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static bool
set_up_sample(struct sampling *s)
{
    size_t size = s->mechanism->shape.report_size,
           payload = size - REPORT_HEADER_SIZE;
    bool good;
    s->width = stages_points_width(s->mechanism);
    s->bytes = (uint32_t)(payload < BYTES_MOST ? payload : BYTES_MOST);
    s->hostile = hostile_new(s->audit->mechanism, s->audit->options.seed);
    s->candidate = calloc(CANDIDATES * s->width, sizeof *s->candidate);
    s->report = calloc((size_t)CANDIDATES * EXPLORED, size);
    good = s->hostile != NULL && s->candidate != NULL && s->report != NULL;
    for (int i = 0; good && i < 2; i++) {
        s->world[i].ratio = calloc(s->n, sizeof(double));
        s->world[i].bytes = calloc((size_t)s->bytes * 256, sizeof(uint32_t));
        good = s->world[i].ratio != NULL && s->world[i].bytes != NULL;
    }
    return good;
}

static void
clear_sample(struct sampling *s)
{
    for (int i = 0; i < 2; i++) {
        free(s->world[i].ratio);
        free(s->world[i].bytes);
    }
    free(s->candidate);
    free(s->report);
    hostile_free(s->hostile);
}

/* A likelihood can take long: as many reports as two minutes allow. */
static enum sotto_status
limit_samples(struct sampling *s, struct sotto_error *err)
{
    double start = host_seconds(), each;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (int i = 0; i < 16 && status == SOTTO_STATUS_OK; i++) {
        status = make_report(s, s->world[0].record, s->report, err);
        (void)ratio_of(s, s->report);
    }
    each = (host_seconds() - start) / 16;
    if ((double)s->n * 4 * each > SECONDS_MOST) {
        s->n = (uint64_t)(SECONDS_MOST / (4 * each)) + 1;
        s->total = 4 * s->n;
    }
    return status;
}

enum sotto_status
audit_sample(struct sotto_audit *audit, struct sotto_error *err)
{
    struct sampling s = {.audit = audit,
                         .mechanism = audit->mechanism,
                         .n = audit->options.samples,
                         .total = 4 * audit->options.samples};
    struct event event = {.kind = EVENT_RATIO_ABOVE, .score = -INFINITY};
    enum sotto_status status =
        set_up_sample(&s) ? explore_candidates(&s, err) : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK) {
        choose_pair(&s);
        status = limit_samples(&s, err);
    }
    status = HOST_THEN(status, gather_samples(&s, err));
    if (status == SOTTO_STATUS_OK) {
        consider_ratios(&s, &event);
        consider_bytes(&s, &event);
        status = judge_sample(&s, &event, err);
    }
    clear_sample(&s);
    return status;
}
