/*
 * stopwatch.c: a time that depends on the record (invariant 7).
 *
 *   flags   after whole reports of hostile records, the processor's own flags
 *           say whether an operation took or gave a subnormal number, which
 *           takes longer on many processors. Exact, and on x86-64 alone.
 *   clock   the fastest and the slowest of those records, found first, are
 *           timed again in an order drawn by coin. Welch's t says whether their
 *           times differ, and their medians by how much. A tenth is a
 * violation: less is what a deadline is for (docs/collector.md).
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "host/error.h"
#include "host/sort.h"
#include "host/welch.h"
#include "privacy/audit.h"
#include "privacy/hostile.h"
#include "random/seeded.h"

#define RECORDS_TIMED 24u
#define RECORDS_MOST 400u
#define WORK_LOOKED (UINT64_C(1) << 28) /* multiply-adds to look at flags */
#define LOOKS 5u                        /* at each record that is timed */
#define RUNS_LEAST 48u
#define RUNS_MOST 4000u
#define SECONDS 2.0 /* of the second timing, where RUNS_LEAST allow it */
#define SHARE 0.1

#if defined(__SSE2__)
#define SEES_SUBNORMAL true
#define FLAGS ((1u << 1) | (1u << 4))  /* an operand, a result */
#define MODES ((1u << 6) | (1u << 15)) /* that would hide them */

static unsigned
clear_flags(void)
{
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before & ~(FLAGS | MODES));
    return before;
}

static bool
take_flags(unsigned before)
{
    unsigned now = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before);
    return (now & FLAGS) != 0;
}
#else
#define SEES_SUBNORMAL false

static unsigned
clear_flags(void)
{
    return 0;
}

static bool
take_flags(unsigned before)
{
    (void)before;
    return false;
}
#endif

struct stopwatch {
    struct sotto_audit *audit;
    struct hostile *record[2]; /* of the two classes */
    uint8_t *report;
    uint8_t class_of[RUNS_MOST];
    double seconds[RUNS_MOST], sorted[RUNS_MOST];
    double least, most; /* seconds of the fastest and the slowest record */
    bool subnormal;
};

/* The processor's time that this thread had: what else runs does not count. */
static double
thread_seconds(void)
{
    struct timespec at = {0, 0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Makes one report; adds to `subnormal`. */
static enum sotto_status
time_report(struct stopwatch *watch, const struct sotto_value *values,
            double *ret_seconds, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = watch->audit->mechanism;
    unsigned before = clear_flags();
    double start = thread_seconds();
    enum sotto_status status = audit_report(mechanism, values, watch->report,
                                            mechanism->shape.report_size, err);
    *ret_seconds = thread_seconds() - start;
    watch->subnormal = take_flags(before) || watch->subnormal;
    return status;
}

/* The shortest of some runs: what else the system does makes them longer. */
static enum sotto_status
time_record(struct stopwatch *watch, uint64_t number, unsigned runs,
            double *ret_seconds, struct sotto_error *err)
{
    const struct sotto_value *values = hostile_record(watch->record[0], number);
    *ret_seconds = INFINITY;
    for (unsigned i = 0; i < runs; i++) {
        double seconds;
        enum sotto_status status = time_report(watch, values, &seconds, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        *ret_seconds = fmin(*ret_seconds, seconds);
    }
    return SOTTO_STATUS_OK;
}

/* Looks at records, at fewer where they take long; `ret_extreme` are the
   fastest and the slowest. */
static enum sotto_status
look_at_records(struct stopwatch *watch, uint64_t ret_extreme[2],
                struct sotto_error *err)
{
    uint64_t work = watch->audit->mechanism->shape.work;
    uint64_t count = WORK_LOOKED / (work + WORK_LOOKED / RECORDS_MOST);
    count = count > RECORDS_TIMED ? count : RECORDS_TIMED;
    watch->least = INFINITY;
    watch->most = 0;
    for (uint64_t i = 0; i < count && !watch->subnormal; i++) {
        bool timed = i < RECORDS_TIMED;
        bool heavy = work > WORK_LOOKED / LOOKS;
        double seconds;
        enum sotto_status status =
            time_record(watch, i, timed && !heavy ? LOOKS : 1, &seconds, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        if (timed && seconds < watch->least) {
            watch->least = seconds;
            ret_extreme[0] = i;
        }
        if (timed && seconds > watch->most) {
            watch->most = seconds;
            ret_extreme[1] = i;
        }
        audit_progress(watch->audit, "time", i + 1, 2 * count);
    }
    if (!SEES_SUBNORMAL) {
        audit_skip(
            watch->audit, "time",
            "this processor does not say whether a number was subnormal");
    } else {
        audit_note(watch->audit, "time", watch->subnormal,
                   watch->subnormal
                       ? "a record makes subnormal numbers, over which many "
                         "processors take longer"
                       : "no number was subnormal in the reports of %llu "
                         "records",
                   (unsigned long long)count);
    }
    return SOTTO_STATUS_OK;
}

/* The median of a class. */
static double
median_of(struct stopwatch *watch, size_t runs, unsigned class_of)
{
    size_t count = 0;
    for (size_t i = 0; i < runs; i++) {
        if (watch->class_of[i] == class_of) {
            watch->sorted[count++] = watch->seconds[i];
        }
    }
    host_sort_doubles(watch->sorted, count);
    return count > 0 ? watch->sorted[count / 2] : 0;
}

static void
judge_stopwatch(struct stopwatch *watch, size_t runs)
{
    double t =
        welch_cropped(watch->seconds, watch->class_of, runs, watch->sorted);
    double fast = median_of(watch, runs, 0), slow = median_of(watch, runs, 1);
    double share = fabs(slow - fast) / fmin(slow, fast);
    bool differ = fabs(t) >= WELCH_CRITERION && share > SHARE;
    audit_note(
        watch->audit, "time", differ,
        "%s: %.4g and %.4g ms, the medians of %zu runs in an order drawn "
        "by coin (Welch's t %+.1f)",
        differ ? "two records take different times"
               : "the fastest and the slowest of 24 records differ by "
                 "less than a tenth, or than chance",
        1e3 * fast, 1e3 * slow, runs, t);
}

/* The second timing. The records were chosen by the first alone. */
static enum sotto_status
compare_extremes(struct stopwatch *watch, const uint64_t extreme[2],
                 struct sotto_error *err)
{
    double fits = SECONDS / watch->most;
    size_t runs = fits < RUNS_LEAST  ? RUNS_LEAST
                  : fits < RUNS_MOST ? (size_t)fits
                                     : RUNS_MOST;
    const struct sotto_value *values[2];
    struct seeded coin;
    seeded_init(&coin, watch->audit->options.seed, 41);
    for (size_t i = 0; i < 2; i++) {
        values[i] = hostile_record(watch->record[i], extreme[i]);
    }
    for (size_t i = 0; i < runs; i++) {
        watch->class_of[i] = random_u32(&coin.random) & 1;
    }
    for (size_t i = 0; i < runs; i++) {
        enum sotto_status status = time_report(
            watch, values[watch->class_of[i]], &watch->seconds[i], err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        audit_progress(watch->audit, "time", runs + i + 1, 2 * runs);
    }
    judge_stopwatch(watch, runs);
    return SOTTO_STATUS_OK;
}

enum sotto_status
audit_stopwatch(struct sotto_audit *audit, struct sotto_error *err)
{
    struct stopwatch *watch = calloc(1, sizeof *watch);
    uint64_t extreme[2] = {0, 0};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (watch == NULL) {
        return host_fail_memory(err);
    }
    watch->audit = audit;
    watch->report = malloc(audit->mechanism->shape.report_size);
    for (size_t i = 0; i < 2; i++) {
        watch->record[i] = hostile_new(audit->mechanism, audit->options.seed);
    }
    if (watch->report == NULL || watch->record[0] == NULL ||
        watch->record[1] == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = look_at_records(watch, extreme, err);
    if (status == SOTTO_STATUS_OK && !watch->subnormal) {
        status = compare_extremes(watch, extreme, err);
    }
done:
    hostile_free(watch->record[0]);
    hostile_free(watch->record[1]);
    free(watch->report);
    free(watch);
    return status;
}
