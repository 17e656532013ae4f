/*
 * pages.h: the collector's pages to look at: one of all campaigns and one of
 * each, made ahead of whoever asks.
 *
 *     a window has been moved on ... counts and refusals as of then ---+
 *     a batch was released --> read, one at a time --> estimates ------+
 *                                                                      v
 *     request --> the pages as they are, from memory <------------- HTML, anew
 *
 * A thread of its own does that, and rests three times as long as it works, so
 * that those who answer have the processor. It holds the store open for one
 * batch at a time, so that its log can be cut in between.
 *
 * What a page tells changes with the end of a window alone: counts are the
 * store's of windows that have ended, without what the open one has when they
 * are taken, and refusals are those that the mover noted when the window ended.
 * So nothing on it says when a single report came. No page is made from reports
 * that have not been released. What fails is tried again by itself, after a
 * look and then less and less often.
 */
#ifndef SOTTO_COLLECTOR_PAGES_H
#define SOTTO_COLLECTOR_PAGES_H

#include "collector/campaigns.h"
#include "collector/metrics.h"

struct pages;
struct pages_held; /* pages of one moment */

struct pages_options {
    const char *store; /* must outlive the pages */
    bool simulation;
    struct metrics *metrics;
    /* The campaigns of now, held. */
    struct campaigns *(*campaigns)(void *context);
    void *context;
    double look_s; /* between looks at whether something changed */
    void (*log)(void *context, enum sotto_log_level level, const char *code,
                const char *text);
    void *log_context;
};

/* Starts the thread. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status pages_new(const struct pages_options *options,
                                          struct pages **ret_pages,
                                          struct sotto_error *err);
/* Stops it: a batch that is being read is finished first. */
void pages_free(struct pages *pages);

/*
 * The page of that name, "" for all campaigns; NULL: there is none, or none
 * yet. `ret_held` has to be released once its bytes are not needed any more.
 */
const char *pages_find(struct pages *pages, const char *name, size_t *ret_size,
                       struct pages_held **ret_held);
void pages_release(struct pages_held *held);
/* What a browser may do with them: a Content-Security-Policy. */
const char *pages_policy(const struct pages_held *held);

#define PAGES_PATH "/v1/page"

#endif
