/*
 * metrics.h: what a collector counts, and its text for Prometheus.
 *
 * Counts of all clients together, never of one; written by many threads, each
 * number by itself, so that a reading is not of one moment.
 */
#ifndef SOTTO_COLLECTOR_METRICS_H
#define SOTTO_COLLECTOR_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "collector/judge.h"
#include "host/text.h"

#define METRICS_CLASSES 6u /* of statuses: 0xx (never) to 5xx */

#define METRICS_STEPS 12u /* of the histogram of seconds, but the last */

struct metrics {
    atomic_uint_fast64_t answers[METRICS_CLASSES];
    atomic_uint_fast64_t reports[JUDGE_VERDICTS];
    /* The same when the last window ended that has been moved on, for who may
       learn nothing finer; written before `windows` counts it. */
    atomic_uint_fast64_t settled[JUDGE_VERDICTS];
    /* Requests by how long an answer took, from their last byte on. */
    atomic_uint_fast64_t took[METRICS_STEPS + 1];
    atomic_uint_fast64_t took_us;           /* all of them, microseconds */
    atomic_uint_fast64_t commits, failures; /* groups put on disk, or not */
    atomic_uint_fast64_t windows, batches;  /* moved on; handed out */
    atomic_uint_fast64_t move_failures, scrub_failures;
    atomic_uint_fast64_t clean_at;    /* host_seconds, whole, when the
                                         store last held nothing of a
                                         window that has ended */
    atomic_uint_fast64_t late;        /* connections cut: too slow */
    atomic_uint_fast64_t turned_away; /* connections: too many */
    atomic_uint_fast64_t connections; /* now */
    atomic_uint_fast64_t waiting;     /* reports that wait for the disk */
    atomic_uint_fast64_t looks;       /* at all of the store */
    atomic_uint_fast64_t damaged_reports, damaged_places; /* they found */
    atomic_bool healthy; /* the last group went to the disk */
    atomic_bool behind;  /* windows are not moved on, or files not clean */
};

void metrics_init(struct metrics *metrics);
/* Adds what a body came to. */
void metrics_judged(struct metrics *metrics, const struct judge *judge);
/* Counts an answer by its status. */
void metrics_answered(struct metrics *metrics, unsigned status);
/* Counts how long an answer took. */
void metrics_took(struct metrics *metrics, double seconds);
/* Appends all of it; what is known of campaigns is the caller's to add. */
void metrics_write(struct metrics *metrics, struct host_text *text);

#endif
