/*
 * watcher.c: a thread that looks at all that the store keeps.
 *
 * A round goes through all of it, piece by piece, each a transaction of its
 * own, at a rate that leaves the disk to reports. Counts in the metrics are
 * those of this round where they are larger than the last one's, so that damage
 * shows as soon as it is seen and goes a round after it was repaired.
 */
#include "collector/watcher.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/clock.h"
#include "host/error.h"
#include "store/store.h"

#define SAID_MOST 16u /* places told of in a round; the rest are counted */

struct watcher {
    struct watcher_options options;
    struct store_checker *checker;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t end;
    bool ending;
    /* The thread's own. */
    struct store_damage last; /* of the round before */
    size_t said;
};

static void
log_watch(const struct watcher *watcher, enum sotto_log_level level,
          const char *code, const char *text)
{
    if (watcher->options.log != NULL) {
        watcher->options.log(watcher->options.log_context, level, code, text);
    }
}

/* Of the first round that finds a place, and of no other. */
static void
tell_place(void *context, const char *text)
{
    struct watcher *watcher = context;
    if (watcher->last.reports + watcher->last.places == 0 &&
        watcher->said++ < SAID_MOST) {
        log_watch(watcher, SOTTO_LOG_ERROR, "store-damaged", text);
    }
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void
note_damage(struct watcher *watcher, const struct store_damage *damage,
            bool done)
{
    struct metrics *metrics = watcher->options.metrics;
    if (done) {
        watcher->last = *damage;
        watcher->said = 0;
        atomic_fetch_add_explicit(&metrics->looks, 1, memory_order_relaxed);
    }
    atomic_store(&metrics->damaged_reports,
                 larger(damage->reports, watcher->last.reports));
    atomic_store(&metrics->damaged_places,
                 larger(damage->places, watcher->last.places));
}

/* Waits; false: it is over. */
static bool
wait_for(struct watcher *watcher, double seconds)
{
    struct timespec until;
    bool going;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_mutex_lock(&watcher->lock);
    while (!watcher->ending &&
           pthread_cond_timedwait(&watcher->end, &watcher->lock, &until) == 0) {
    }
    going = !watcher->ending;
    (void)pthread_mutex_unlock(&watcher->lock);
    return going;
}

static void *
watch_on(void *context)
{
    struct watcher *watcher = context;
    double pause = watcher->options.pause_s;
    while (wait_for(watcher, pause)) {
        struct store_damage damage = {0};
        struct sotto_error err = {0};
        bool done = false;
        enum sotto_status status = store_checker_step(
            watcher->checker, watcher->options.piece, &damage, &done, &err);
        if (status == SOTTO_STATUS_OK) {
            note_damage(watcher, &damage, done);
        }
        pause = status != SOTTO_STATUS_OK || done ? watcher->options.round_s
                                                  : watcher->options.pause_s;
    }
    return NULL;
}

enum sotto_status
watcher_new(const struct watcher_options *options, struct watcher **ret_watcher,
            struct sotto_error *err)
{
    struct watcher *watcher = calloc(1, sizeof *watcher);
    pthread_condattr_t monotonic;
    if (watcher == NULL) {
        return host_fail_memory(err);
    }
    watcher->options = *options;
    (void)pthread_mutex_init(&watcher->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watcher->end, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    enum sotto_status status = store_checker_open(
        options->store, tell_place, watcher, &watcher->checker, err);
    if (status == SOTTO_STATUS_OK) {
        int failed = pthread_create(&watcher->thread, NULL, watch_on, watcher);
        watcher->started = failed == 0;
        if (failed != 0) {
            status = host_fail(err, SOTTO_STATUS_IO, 0,
                               "cannot start a thread: %s", strerror(failed));
        }
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_watcher = watcher;
    } else {
        watcher_free(watcher);
    }
    return status;
}

void
watcher_free(struct watcher *watcher)
{
    if (watcher == NULL) {
        return;
    }
    if (watcher->started) {
        (void)pthread_mutex_lock(&watcher->lock);
        watcher->ending = true;
        (void)pthread_cond_signal(&watcher->end);
        (void)pthread_mutex_unlock(&watcher->lock);
        (void)pthread_join(watcher->thread, NULL);
    }
    store_checker_free(watcher->checker);
    (void)pthread_cond_destroy(&watcher->end);
    (void)pthread_mutex_destroy(&watcher->lock);
    free(watcher);
}
