/*
 * pages.c: the collector's pages to look at, made ahead of whoever asks.
 */
#include "collector/pages.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "collector/known.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/text.h"
#include "sotto/results.h"

#define CONFIDENCE 0.95
#define SHOW_S 10.0 /* while many batches are read: how often */
#define POLICY_SIZE 256u
#define PACE 3.0          /* it rests so many times as long as it works */
#define AGAIN_MOST_S 60.0 /* between tries of what failed */
#define REFUSED (JUDGE_VERDICTS - 1) /* every verdict but the first */

struct pages_page {
    char *name, *html;
    size_t size;
};

struct pages_held {
    atomic_size_t holders;
    char policy[POLICY_SIZE];
    struct pages_page *page; /* all campaigns first */
    size_t count;
};

struct pages {
    struct pages_options options;
    pthread_mutex_t lock; /* of `held` and `ending` */
    pthread_cond_t wake;
    struct pages_held *held;
    bool ending;
    bool started;
    pthread_t thread;
    /* The thread's alone. */
    struct campaigns *campaigns; /* held: the snapshot of now; NULL: none */
    struct known *known;
    size_t count;
    uint64_t seen;    /* the sum of counts that the pages show */
    uint64_t windows; /* how many they know of */
    bool failed;      /* the last pages could not be made: that was said */
    double again_s, again_at; /* after a failure: how long to wait, till when */
};

static void
log_pages(const struct pages *pages, enum sotto_log_level level,
          const char *code, const char *what, const struct sotto_error *err)
{
    char text[sizeof err->message + 128];
    if (pages->options.log != NULL) {
        (void)snprintf(text, sizeof text, "%s: %s", what, err->message);
        pages->options.log(pages->options.log_context, level, code, text);
    }
}

/* ---- Pages of one moment ------------------------------------------------- */

void
pages_release(struct pages_held *held)
{
    if (held == NULL || atomic_fetch_sub_explicit(&held->holders, 1,
                                                  memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; held->page != NULL && i < held->count; i++) {
        free(held->page[i].name);
        free(held->page[i].html);
    }
    free(held->page);
    free(held);
}

const char *
pages_find(struct pages *pages, const char *name, size_t *ret_size,
           struct pages_held **ret_held)
{
    struct pages_held *held;
    (void)pthread_mutex_lock(&pages->lock);
    held = pages->held;
    if (held != NULL) {
        atomic_fetch_add_explicit(&held->holders, 1, memory_order_relaxed);
    }
    (void)pthread_mutex_unlock(&pages->lock);
    for (size_t i = 0; held != NULL && i < held->count; i++) {
        if (strcmp(held->page[i].name, name) == 0) {
            *ret_size = held->page[i].size;
            *ret_held = held;
            return held->page[i].html;
        }
    }
    pages_release(held);
    return NULL;
}

const char *
pages_policy(const struct pages_held *held)
{
    return held->policy;
}

/* Nothing but the style that stands in the page, by its hash: all pages have
   the same, and what is escaped begins none before it. */
static void
set_policy(struct pages_held *held)
{
    static const char begin[] = "<style>", end[] = "</style>";
    const char *html = held->page[0].html;
    const char *from = html != NULL ? strstr(html, begin) : NULL;
    const char *to = from != NULL ? strstr(from, end) : NULL;
    uint8_t hash[crypto_hash_sha256_BYTES] = {0};
    char text[64];
    if (to != NULL) {
        from += sizeof begin - 1;
        (void)crypto_hash_sha256(hash, (const uint8_t *)from,
                                 (unsigned long long)(to - from));
    }
    (void)sodium_bin2base64(text, sizeof text, hash, sizeof hash,
                            sodium_base64_VARIANT_ORIGINAL);
    (void)snprintf(held->policy, sizeof held->policy,
                   "default-src 'none'; style-src 'sha256-%s'; base-uri "
                   "'none'; form-action 'none'; frame-ancestors 'none'",
                   text);
}

static void
publish(struct pages *pages, struct pages_held *held)
{
    struct pages_held *before;
    (void)pthread_mutex_lock(&pages->lock);
    before = pages->held;
    pages->held = held;
    (void)pthread_mutex_unlock(&pages->lock);
    pages_release(before);
}

/* ---- Making them --------------------------------------------------------- */

static struct sotto_results_campaign
describe_known(const struct pages *pages, const struct known *known)
{
    const struct campaign *campaign = known->campaign;
    return (struct sotto_results_campaign){
        .name = campaign->name,
        .mechanism = known->mechanism,
        .simulated = pages->options.simulation,
        .released = atomic_load(&campaign->released),
        .store = true,
        .batches = atomic_load(&campaign->batches),
        .waiting = atomic_load(&campaign->held),
        .step = known->step,
        .steps = known->steps,
        .trouble = known_trouble(known),
        .estimate = known->estimate,
        .margins = known->margins,
        .counted = known->counted,
        .accuracy = campaign->accuracy,
        .accuracies = campaign->accuracies,
    };
}

static enum sotto_status
write_page(struct pages_page *page, const char *name,
           const struct sotto_results *results, struct sotto_error *err)
{
    page->name = host_text_copy(name, strlen(name));
    return page->name != NULL
               ? sotto_results_page(results, &page->html, &page->size, err)
               : host_fail_memory(err);
}

/* One campaign is all there is to see, or else each has a page. */
static enum sotto_status
write_pages(const struct pages *pages, struct pages_held *held,
            struct sotto_results_campaign *all, struct sotto_error *err)
{
    static const char title[] = "What is being collected";
    struct sotto_results_refused refused[REFUSED];
    struct sotto_results results = {.title = title,
                                    .campaigns = pages->count,
                                    .campaign = all,
                                    .refused = refused,
                                    .refusals = REFUSED,
                                    .confidence = CONFIDENCE};
    char links[CAMPAIGNS_NAME_MOST + sizeof PAGES_PATH + 2];
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < REFUSED; i++) {
        refused[i] = (struct sotto_results_refused){
            judge_verdict_name((enum judge_verdict)(i + 1)),
            atomic_load(&pages->options.metrics->settled[i + 1])};
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < pages->count; i++) {
        struct sotto_results one = {.title = title,
                                    .home = PAGES_PATH,
                                    .campaign = &all[i],
                                    .campaigns = 1,
                                    .confidence = CONFIDENCE};
        status = write_page(&held->page[i + 1], all[i].name, &one, err);
    }
    struct host_text text;
    host_text_init(&text, CAMPAIGNS_MOST * sizeof links);
    for (size_t i = 0; pages->count > 1 && i < pages->count; i++) {
        (void)snprintf(links, sizeof links, "%s/%s", PAGES_PATH, all[i].name);
        host_text_add(&text, links, sizeof links);
    }
    for (size_t i = 0; !text.failed && pages->count > 1 && i < pages->count;
         i++) {
        all[i].link = text.data + i * sizeof links;
    }
    status = HOST_THEN(status,
                       text.failed ? host_fail_memory(err) : SOTTO_STATUS_OK);
    status = HOST_THEN(status, write_page(&held->page[0], "", &results, err));
    host_text_clear(&text);
    return status;
}

/* Room for a page of each and one of all; NULL: no memory. */
static struct pages_held *
make_room(size_t count)
{
    struct pages_held *held = calloc(1, sizeof *held);
    if (held != NULL) {
        atomic_init(&held->holders, 1);
        held->count = count + 1;
        held->page = calloc(held->count, sizeof *held->page);
        if (held->page == NULL) {
            pages_release(held);
            held = NULL;
        }
    }
    return held;
}

static enum sotto_status
fill_pages(const struct pages *pages, struct pages_held *held,
           struct sotto_error *err)
{
    struct sotto_results_campaign *all = calloc(pages->count + 1, sizeof *all);
    enum sotto_status status;
    if (all == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < pages->count; i++) {
        all[i] = describe_known(pages, &pages->known[i]);
    }
    status = write_pages(pages, held, all, err);
    free(all);
    return status;
}

/* What cannot be made leaves the last ones. */
static void
make_pages(struct pages *pages)
{
    struct pages_held *held = make_room(pages->count);
    struct sotto_error err = {0};
    enum sotto_status status =
        held != NULL ? fill_pages(pages, held, &err) : host_fail_memory(&err);
    if (status == SOTTO_STATUS_OK && held != NULL) {
        set_policy(held);
        publish(pages, held);
    } else {
        if (!pages->failed) {
            log_pages(pages, SOTTO_LOG_WARNING, "page-old",
                      "the page to look at stays as it was", &err);
        }
        pages_release(held);
    }
    pages->failed = status != SOTTO_STATUS_OK;
}

/* ---- Keeping up ---------------------------------------------------------- */

/* Takes over what is known of the same mechanism; its counts are those of the
   snapshot of now. */
static bool
keep_known(struct pages *pages, struct campaign *campaign,
           struct known *ret_known)
{
    for (size_t i = 0; i < pages->count; i++) {
        struct known *known = &pages->known[i];
        if (known->origin != NULL &&
            memcmp(known->mechanism->shape.hash,
                   campaign->mechanism->shape.hash, SOTTO_HASH_SIZE) == 0) {
            *ret_known = *known;
            ret_known->campaign = campaign;
            known->origin = NULL;
            return true;
        }
    }
    return false;
}

static void
forget_known(struct pages *pages)
{
    for (size_t i = 0; i < pages->count; i++) {
        if (pages->known[i].origin != NULL) {
            known_clear(&pages->known[i]);
        }
    }
    free(pages->known);
    pages->known = NULL;
    pages->count = 0;
    campaigns_release(pages->campaigns);
    pages->campaigns = NULL;
}

/* Makes what is known about the campaigns of now, which are held from here on.
   False for lack of memory: then nothing is known. */
static bool
follow_campaigns(struct pages *pages, struct campaigns *campaigns)
{
    struct known *known = calloc(campaigns->count + 1, sizeof *known);
    enum sotto_status status = SOTTO_STATUS_OK;
    struct sotto_error err = {0};
    size_t count = 0;
    if (known == NULL) {
        forget_known(pages);
        return false;
    }
    while (status == SOTTO_STATUS_OK && count < campaigns->count) {
        struct campaign *campaign = &campaigns->campaign[count];
        if (!keep_known(pages, campaign, &known[count])) {
            status = known_begin(campaigns, campaign, &known[count], &err);
        }
        count++;
    }
    forget_known(pages);
    pages->known = known;
    pages->count = count;
    pages->campaigns = campaigns_hold(campaigns);
    if (status != SOTTO_STATUS_OK) {
        forget_known(pages);
    }
    return status == SOTTO_STATUS_OK;
}

/* Waits, unless it is over: then false. */
static bool
wait_for(struct pages *pages, double seconds)
{
    struct timespec until;
    double moment;
    bool ending;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    moment = (double)until.tv_sec + (double)until.tv_nsec / 1e9 + seconds;
    until.tv_sec = (time_t)moment;
    until.tv_nsec = (long)((moment - (double)until.tv_sec) * 1e9);
    (void)pthread_mutex_lock(&pages->lock);
    if (!pages->ending) {
        (void)pthread_cond_timedwait(&pages->wake, &pages->lock, &until);
    }
    ending = pages->ending;
    (void)pthread_mutex_unlock(&pages->lock);
    return !ending;
}

/* Reads one batch; false: there is none, or reading fails. What cannot be read
   is said once, for now or for good. */
static bool
read_batch(struct pages *pages, struct known *known)
{
    struct sotto_error err = {0};
    bool said = known->failed, more = false, passed = false;
    enum sotto_status status =
        known_read(known, pages->options.store, &more, &passed, &err);
    if ((status != SOTTO_STATUS_OK && !said) ||
        (passed && known->unread == 1)) {
        log_pages(pages, SOTTO_LOG_WARNING, "page-old",
                  passed ? "the page to look at lacks batches that are damaged"
                         : "the page to look at lacks batches that cannot be "
                           "read, which is tried again",
                  &err);
    }
    return more;
}

/* Reads what was released and not read, at a pace that leaves the processor to
   those who answer; shows how far it came from time to time. */
static void
catch_up(struct pages *pages)
{
    double shown = host_seconds();
    for (size_t i = 0; i < pages->count; i++) {
        double began = host_seconds();
        while (read_batch(pages, &pages->known[i])) {
            if (!wait_for(pages, PACE * (host_seconds() - began))) {
                return;
            }
            if (host_seconds() - shown > SHOW_S) {
                make_pages(pages);
                shown = host_seconds();
            }
            began = host_seconds();
        }
    }
}

/* What the pages show, as a sum that differs when it does: all of them grow. */
static uint64_t
sum_counts(struct pages *pages)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pages->count; i++) {
        const struct campaign *campaign = pages->known[i].campaign;
        sum += 3 * atomic_load(&campaign->released) +
               atomic_load(&campaign->held) + atomic_load(&campaign->batches);
    }
    return sum;
}

/* Whether pages lack something that another try may get. */
static bool
lack_something(const struct pages *pages)
{
    bool lack = pages->failed;
    for (size_t i = 0; i < pages->count; i++) {
        lack = lack || pages->known[i].failed;
    }
    return lack;
}

/* What failed is tried again by itself: after a look, and then each time after
   twice as long, for a failure that stays is not worth a thread. */
static void
plan_again(struct pages *pages)
{
    double wait = 2 * pages->again_s;
    if (!lack_something(pages)) {
        pages->again_s = 0;
        return;
    }
    pages->again_s = wait == 0             ? pages->options.look_s
                     : wait < AGAIN_MOST_S ? wait
                                           : AGAIN_MOST_S;
    pages->again_at = host_seconds() + pages->again_s;
}

static bool
is_changed(struct pages *pages)
{
    return atomic_load(&pages->options.metrics->windows) != pages->windows ||
           sum_counts(pages) != pages->seen ||
           (pages->again_s > 0 && host_seconds() >= pages->again_at);
}

/* Looks whether something has changed, and makes the pages anew if so. */
static void
look(struct pages *pages)
{
    struct campaigns *campaigns =
        pages->options.campaigns(pages->options.context);
    bool fresh = pages->campaigns != campaigns;
    bool good = !fresh || follow_campaigns(pages, campaigns);
    campaigns_release(campaigns);
    if (!good) {
        return; /* no memory: the next look tries again */
    }
    if (fresh) {
        make_pages(pages); /* at once, with what is known */
    }
    if (fresh || is_changed(pages)) {
        pages->windows = atomic_load(&pages->options.metrics->windows);
        pages->seen = sum_counts(pages);
        catch_up(pages);
        make_pages(pages);
        plan_again(pages);
    }
}

static void *
keep_pages(void *context)
{
    struct pages *pages = context;
    do {
        look(pages);
    } while (wait_for(pages, pages->options.look_s));
    return NULL;
}

/* ---- Life ---------------------------------------------------------------- */

enum sotto_status
pages_new(const struct pages_options *options, struct pages **ret_pages,
          struct sotto_error *err)
{
    struct pages *pages = calloc(1, sizeof *pages);
    pthread_condattr_t monotonic;
    int failed;
    if (pages == NULL) {
        return host_fail_memory(err);
    }
    pages->options = *options;
    (void)pthread_mutex_init(&pages->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&pages->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    failed = pthread_create(&pages->thread, NULL, keep_pages, pages);
    if (failed != 0) {
        pages_free(pages);
        return host_fail(err, SOTTO_STATUS_IO, 0, "cannot start a thread: %s",
                         strerror(failed));
    }
    pages->started = true;
    *ret_pages = pages;
    return SOTTO_STATUS_OK;
}

void
pages_free(struct pages *pages)
{
    if (pages == NULL) {
        return;
    }
    if (pages->started) {
        (void)pthread_mutex_lock(&pages->lock);
        pages->ending = true;
        (void)pthread_cond_signal(&pages->wake);
        (void)pthread_mutex_unlock(&pages->lock);
        (void)pthread_join(pages->thread, NULL);
    }
    forget_known(pages);
    pages_release(pages->held);
    (void)pthread_cond_destroy(&pages->wake);
    (void)pthread_mutex_destroy(&pages->lock);
    free(pages);
}
