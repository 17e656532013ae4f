/*
 * watcher.h: a thread that looks at all that the store keeps, a little at a
 * time, again and again, and says what is damaged.
 */
#ifndef SOTTO_COLLECTOR_WATCHER_H
#define SOTTO_COLLECTOR_WATCHER_H

#include "collector/metrics.h"
#include "sotto/sotto.h"

struct watcher;

struct watcher_options {
    const char *store;
    size_t piece;   /* bytes looked at without a pause */
    double pause_s; /* between two pieces */
    double round_s; /* between two rounds */
    struct metrics *metrics;
    void (*log)(void *context, enum sotto_log_level level, const char *code,
                const char *text);
    void *log_context;
};

/* Opens the store for looking, and starts. Statuses: store_checker_open's, IO,
   MEMORY. */
SOTTO_CHECKED enum sotto_status
watcher_new(const struct watcher_options *options, struct watcher **ret_watcher,
            struct sotto_error *err);
/* Ends it, within a piece. NULL is fine. */
void watcher_free(struct watcher *watcher);

#endif
