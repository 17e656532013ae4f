/*
 * refusals.h: what is refused, cut or sent away, by kind: a count of each for
 * the metrics, and a line in the log once when it begins and once when it is
 * over. Nothing is kept of who it was, and what one device alone may have sent
 * is said no finer than a window.
 */
#ifndef SOTTO_COLLECTOR_REFUSALS_H
#define SOTTO_COLLECTOR_REFUSALS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/text.h"
#include "sotto/sotto.h"

enum refusal {
    /* Connections that were not let in. */
    REFUSAL_FULL,
    REFUSAL_ADDRESS,
    REFUSAL_MEMORY,
    REFUSAL_FILES,
    REFUSAL_PROXY,
    /* Connections that were cut. */
    REFUSAL_SILENT,
    REFUSAL_IDLE,
    REFUSAL_SLOW,
    REFUSAL_FRESH,
    REFUSAL_LATE,
    /* Requests. */
    REFUSAL_HEAD,
    REFUSAL_LIBRARY,
    REFUSAL_CLIENT,
    REFUSAL_TOKEN,
    REFUSAL_LONG,
    REFUSAL_BODIES,
    REFUSAL_QUEUE,
    REFUSAL_DISK,
    REFUSAL_BATCHES,
    REFUSAL_UNREAD,
    REFUSAL_EXPIRED,
    REFUSALS
};

typedef void refusals_log(void *context, enum sotto_log_level level,
                          const char *code, const char *text);

struct refusals {
    atomic_uint_fast64_t count[REFUSALS];
    refusals_log *log; /* NULL: nobody listens */
    void *log_context;
    uint64_t quiet_ms;    /* without one, and it is over */
    uint64_t window_ms;   /* 0: there are none, and all is said at once */
    pthread_mutex_t lock; /* of what was said: */
    bool looked;
    uint64_t period; /* when the last one ended */
    struct refusals_said {
        bool on;
        uint64_t seen, first, began, last; /* counts; milliseconds */
    } said[REFUSALS];
};

void refusals_init(struct refusals *refusals, refusals_log *log,
                   void *log_context, unsigned quiet_s, unsigned window_s);
void refusals_clear(struct refusals *refusals);

/* Any thread's. */
void refusals_count(struct refusals *refusals, enum refusal kind);
/* Says what has begun and what is over, by a clock that only goes on. */
void refusals_tell(struct refusals *refusals, uint64_t now_ms);
/* Appends the counts for Prometheus. */
void refusals_write(struct refusals *refusals, struct host_text *text);

#endif
