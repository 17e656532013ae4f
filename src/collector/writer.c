/*
 * writer.c: the one thread that owns the store.
 *
 * A round of the thread: wait for jobs, or for the mover's moment; take those
 * there are; write them, with a step of a move, in one transaction:
 *
 *     begin, put..., step, commit -----------------------> on disk
 *        |              |      |
 *        |              +------+--> once more, without the step
 *        |                             |        |
 *        |                             |        +--------> on disk, and the
 *        |                             |                   move is at fault
 *        +-----------------------------+-----------------> the disk takes
 *                                                          nothing
 *
 * Whoever sent the jobs is told after that, and never before. mover.h has the
 * states of a window. Times are of the monotonic clock: setting the system's
 * clock ends no window and delays none.
 */
#include "collector/writer.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/mover.h"
#include "collector/watcher.h"
#include "host/clock.h"
#include "host/error.h"
#include "store/store.h"

#define GROUP_MOST ((size_t)16384) /* reports that share a flush */
#define CLOSED_MOST 16u /* campaigns that a group finds forgotten at a time */
#define WATCH_PIECE ((size_t)1 << 20) /* bytes of the store, looked at ... */
#define WATCH_PAUSE_S 0.1             /* ... so often: 10 MB/s, and ... */
#define WATCH_ROUND_S 3600.0          /* ... from the beginning again */
#define OTHERS_S 0.0005               /* for others to join a group */

struct writer {
    struct writer_options options;
    struct store *store;
    struct watcher *watcher;
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t work, settled;
    struct writer_job *first, **end;
    size_t queued;   /* jobs there */
    size_t goal;     /* so many of them wake the thread */
    size_t waiting;  /* reports reserved or queued */
    size_t reserved; /* jobs that were promised and are not done */
    bool closing, ending;
    struct campaigns *asked; /* to be registered */
    enum sotto_status answer;
    struct sotto_error *answer_err;

    /* The thread's own. */
    struct campaigns *campaigns;
    struct mover mover;
    size_t last_jobs; /* of the last group */
    bool sick;
    bool hopeless;   /* and it will not get well by itself */
    double well_at;  /* when it is worth asking it again, if nobody has */
    double count_at; /* counts failed: when they are tried again; 0: no */
};

static void
log_commit(const struct writer *writer, enum sotto_log_level level,
           const char *code, const char *text)
{
    const struct mover_options *options = &writer->options.mover;
    if (options->log != NULL) {
        options->log(options->log_context, level, code, text);
    }
}

/* Says what an earlier life left, if it did not end by itself. */
static void
log_found(const struct writer *writer)
{
    struct store_found found;
    char text[300];
    store_found(writer->store, &found);
    if (found.mended > 0) {
        (void)snprintf(text, sizeof text,
                       "%" PRIu64 " byte%s of the store's log %s wrong, and "
                       "put right: nothing of it is lost; the disk, or memory, "
                       "may be failing",
                       found.mended, found.mended == 1 ? "" : "s",
                       found.mended == 1 ? "was" : "were");
        log_commit(writer, SOTTO_LOG_WARNING, "log-mended", text);
    }
    if (found.lost > 0) {
        (void)snprintf(text, sizeof text,
                       "the store's log is damaged at its frame %" PRIu64
                       ": what %" PRIu64 " commit%s from there on had stored "
                       "is lost, and the last of them alone may be what a loss "
                       "of power cut off; look at the store with sotto store "
                       "check",
                       found.damaged, found.lost, found.lost == 1 ? "" : "s");
        log_commit(writer, SOTTO_LOG_ERROR, "log-damaged", text);
    }
    if (found.open > 0 || found.commits > 0) {
        (void)snprintf(
            text, sizeof text,
            "the last stop came without warning, or too early: %" PRIu64
            " report%s of windows that were open %s found",
            found.open, found.open == 1 ? "" : "s",
            found.open == 1 ? "was" : "were");
        log_commit(writer, SOTTO_LOG_INFO, "reports-found", text);
    }
}

/* ---- The queue ----------------------------------------------------------- */

bool
writer_reserve(struct writer *writer, size_t count)
{
    bool room;
    (void)pthread_mutex_lock(&writer->lock);
    room = !writer->closing &&
           count <= writer->options.waiting_most - writer->waiting;
    if (room) {
        writer->waiting += count;
        writer->reserved++;
        atomic_store_explicit(&writer->options.mover.metrics->waiting,
                              writer->waiting, memory_order_relaxed);
    }
    (void)pthread_mutex_unlock(&writer->lock);
    return room;
}

void
writer_submit(struct writer *writer, struct writer_job *job)
{
    bool enough;
    job->next = NULL;
    (void)pthread_mutex_lock(&writer->lock);
    *writer->end = job;
    writer->end = &job->next;
    enough = ++writer->queued == writer->goal;
    (void)pthread_mutex_unlock(&writer->lock);
    if (enough) {
        (void)pthread_cond_signal(&writer->work);
    }
}

/* Takes jobs off the queue up to GROUP_MOST reports, one job at least. */
static struct writer_job *
take_group(struct writer *writer, size_t *ret_reports)
{
    struct writer_job *group = writer->first, *last = NULL;
    size_t reports = 0;
    for (struct writer_job *job = group; job != NULL; job = job->next) {
        size_t count = job->judge->found[JUDGE_PENDING];
        if (last != NULL && reports + count > GROUP_MOST) {
            break;
        }
        reports += count;
        last = job;
        writer->queued--;
    }
    if (last != NULL) {
        writer->first = last->next;
        last->next = NULL;
        if (writer->first == NULL) {
            writer->end = &writer->first;
        }
    }
    *ret_reports = reports;
    return group;
}

/* Tells every job of the group what became of it, and counts them. */
static size_t
finish_group(struct writer *writer, struct writer_job *group, size_t reports,
             bool stored)
{
    size_t jobs = 0;
    while (group != NULL) {
        struct writer_job *job = group;
        group = job->next;
        job->stored = stored && !job->closed;
        job->done(job);
        jobs++;
    }
    (void)pthread_mutex_lock(&writer->lock);
    writer->waiting -= reports;
    writer->reserved -= jobs;
    atomic_store_explicit(&writer->options.mover.metrics->waiting,
                          writer->waiting, memory_order_relaxed);
    if (writer->reserved == 0) {
        (void)pthread_cond_broadcast(&writer->settled);
    }
    (void)pthread_mutex_unlock(&writer->lock);
    return jobs;
}

/* ---- One group ----------------------------------------------------------- */

/* Reports of a group, as the store takes them. */
struct puts {
    const uint8_t **report;
    enum store_answer *answer;
    size_t count;
};

static void
gather_job(const struct writer_job *job, struct puts *puts)
{
    const uint8_t *report = NULL;
    size_t at = 0, slot = 0;
    for (; judge_next(job->judge, &at, &slot, &report); at++, slot++) {
        puts->report[puts->count++] = report;
    }
}

static size_t
settle_job(struct writer_job *job, const enum store_answer *answer)
{
    const uint8_t *report = NULL;
    size_t at = 0, slot = 0, count = 0;
    while (judge_next(job->judge, &at, &slot, &report)) {
        judge_settle(job->judge, at, answer[count++] == STORE_DUPLICATE);
    }
    return count;
}

/* Turns away all jobs of a campaign that another program has closed in the
   store, and those that would come next. */
static void
close_campaign(struct writer *writer, struct writer_job *group, uint32_t number)
{
    struct campaigns *campaigns = writer->campaigns;
    char text[CAMPAIGNS_NAME_MOST + 100];
    for (struct writer_job *job = group; job != NULL; job = job->next) {
        job->closed = job->closed || job->campaign == number;
    }
    for (size_t i = 0; campaigns != NULL && i < campaigns->count; i++) {
        struct campaign *campaign = &campaigns->campaign[i];
        if (campaign->number == number &&
            !atomic_exchange(&campaign->closed, true)) {
            (void)snprintf(text, sizeof text,
                           "/v1/campaigns/%s was forgotten in the store: its "
                           "reports are refused (410)",
                           campaign->name);
            log_commit(writer, SOTTO_LOG_INFO, "campaign-closed", text);
        }
    }
}

/* Puts the jobs of one campaign at the group's beginning with one question, and
   says where the next one's begin. */
static enum sotto_status
put_jobs(struct writer *writer, struct writer_job *group, struct puts *puts,
         struct writer_job **ret_next, struct sotto_error *err)
{
    struct writer_job *end = group;
    uint32_t campaign = group->campaign;
    size_t settled = 0;
    puts->count = 0;
    for (; end != NULL && end->campaign == campaign; end = end->next) {
        gather_job(end, puts);
    }
    enum sotto_status status = store_put_many(
        writer->store, campaign, puts->report, puts->count, puts->answer, err);
    for (struct writer_job *job = group;
         status == SOTTO_STATUS_OK && job != end; job = job->next) {
        settled += settle_job(job, puts->answer + settled);
    }
    if (status == SOTTO_STATUS_REFUSED) {
        close_campaign(writer, group, campaign);
    }
    *ret_next = end;
    return status;
}

static enum sotto_status
put_group(struct writer *writer, struct writer_job *group,
          struct sotto_error *err)
{
    struct puts puts = {NULL, NULL, 0};
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t reports = 0;
    for (struct writer_job *job = group; job != NULL; job = job->next) {
        reports += job->judge->found[JUDGE_PENDING];
    }
    puts.report = malloc((reports + 1) * sizeof *puts.report);
    puts.answer = malloc((reports + 1) * sizeof *puts.answer);
    if (puts.report == NULL || puts.answer == NULL) {
        status = host_fail_memory(err);
    }
    while (group != NULL && status == SOTTO_STATUS_OK) {
        if (group->closed) {
            group = group->next;
        } else {
            status = put_jobs(writer, group, &puts, &group, err);
        }
    }
    free(puts.report);
    free(puts.answer);
    return status;
}

/* All of a group and the step in one transaction. `ret_suspect`: if it fails,
   the step may be why. Statuses: REFUSED (a campaign was forgotten); the
   store's. */
static enum sotto_status
write_once(struct writer *writer, struct writer_job *group,
           struct mover_step *step, bool *ret_suspect, struct sotto_error *err)
{
    enum sotto_status status = store_begin(writer->store, err);
    bool suspect = false;
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = put_group(writer, group, err);
    if (status == SOTTO_STATUS_OK && step->rows > 0) {
        status = mover_step(&writer->mover, step, err);
        suspect = step->needed || status != SOTTO_STATUS_OK;
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_commit(writer->store, err);
        suspect = suspect && status != SOTTO_STATUS_REFUSED;
    } else {
        store_rollback(writer->store);
    }
done:
    for (struct writer_job *job = group;
         status != SOTTO_STATUS_OK && job != NULL; job = job->next) {
        judge_unsettle(job->judge);
    }
    *ret_suspect = suspect;
    return status;
}

/* The same; again without the jobs of campaigns that turn out to be forgotten.
   False: nothing of it counts. */
static bool
write_group(struct writer *writer, struct writer_job *group,
            struct mover_step *step, bool *ret_suspect, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_REFUSED;
    *ret_suspect = false;
    for (unsigned i = 0;
         i < CLOSED_MOST && !*ret_suspect && status == SOTTO_STATUS_REFUSED;
         i++) {
        status = write_once(writer, group, step, ret_suspect, err);
    }
    return status == SOTTO_STATUS_OK;
}

/* Says once that the disk takes nothing, and once that it does again. */
static void
note_health(struct writer *writer, bool healthy, const struct sotto_error *err)
{
    struct metrics *metrics = writer->options.mover.metrics;
    char text[sizeof err->message + 64];
    atomic_fetch_add_explicit(healthy ? &metrics->commits : &metrics->failures,
                              1, memory_order_relaxed);
    atomic_store(&metrics->healthy, healthy);
    writer->well_at = host_seconds() + writer->options.sick_s;
    writer->hopeless = !healthy && err->status == SOTTO_STATUS_FORMAT;
    if (healthy == !writer->sick) {
        return;
    }
    writer->sick = !healthy;
    if (healthy) {
        log_commit(writer, SOTTO_LOG_INFO, "store-refuses-over",
                   "the store takes reports again");
    } else {
        (void)snprintf(text, sizeof text, "the store takes nothing: %s",
                       err->message);
        log_commit(writer, SOTTO_LOG_ERROR, "store-refuses", text);
    }
}

/* What fails leaves the last counts, and is tried again by itself. */
static void
count_campaigns(struct writer *writer)
{
    struct campaigns *campaigns = writer->campaigns;
    writer->count_at = 0;
    for (size_t i = 0; campaigns != NULL && i < campaigns->count; i++) {
        struct campaign *campaign = &campaigns->campaign[i];
        struct store_counts counts;
        if (store_count(writer->store, campaign->number, &counts, NULL) ==
            SOTTO_STATUS_OK) {
            if (counts.closed) {
                close_campaign(writer, NULL, campaign->number);
            }
            atomic_store(&campaign->waiting, counts.waiting);
            atomic_store(&campaign->released, counts.released);
            atomic_store(&campaign->held, counts.held);
            atomic_store(&campaign->batches, counts.batches); /* the last */
        } else {
            writer->count_at = host_seconds() + writer->options.mover.again_s;
        }
    }
}

static bool
has_new(const struct writer_job *group)
{
    while (group != NULL && group->judge->found[JUDGE_ACCEPTED] == 0) {
        group = group->next;
    }
    return group != NULL;
}

/* Writes a group, or a step of a move alone if there is none; whether that was
   committed, or there was nothing to be done. */
static bool
run_group(struct writer *writer, struct writer_job *group, size_t reports)
{
    struct sotto_error err = {0};
    struct mover *mover = &writer->mover;
    bool alone = group == NULL, suspect = false, stored;
    struct mover_step step = mover_plan(mover, host_seconds(), alone, reports);
    if (alone && step.rows == 0) {
        return true;
    }
    stored = write_group(writer, group, &step, &suspect, &err);
    if (!stored && (suspect || alone)) {
        step.rows = 0;
        stored = !alone && write_group(writer, group, &step, &suspect, &err);
        mover_failed(mover, &step, stored || alone ? &err : NULL);
    }
    if (stored && mover_stepped(mover, &step, has_new(group))) {
        count_campaigns(writer);
    }
    if (!alone) {
        note_health(writer, stored, &err);
        writer->last_jobs = finish_group(writer, group, reports, stored);
    }
    return stored;
}

/* ---- The thread ---------------------------------------------------------- */

/* Between groups: the numbers that a new snapshot's campaigns have. */
static void
register_campaigns(struct writer *writer)
{
    struct campaigns *asked = writer->asked;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < asked->count; i++) {
        struct campaign *campaign = &asked->campaign[i];
        const struct shape *shape = &campaign->mechanism->shape;
        size_t size = shape->report_size - REPORT_HEADER_SIZE;
        status = store_check_batch(writer->options.mover.batch_min, size,
                                   writer->answer_err);
        status = HOST_THEN(status, store_campaign(writer->store, shape->hash,
                                                  campaign->name, size,
                                                  &campaign->number,
                                                  writer->answer_err));
        atomic_store(&campaign->closed, status == SOTTO_STATUS_REFUSED);
        status = status == SOTTO_STATUS_REFUSED ? SOTTO_STATUS_OK : status;
    }
    if (status == SOTTO_STATUS_OK) {
        campaigns_release(writer->campaigns);
        writer->campaigns = campaigns_hold(asked);
        count_campaigns(writer);
    }
    (void)pthread_mutex_lock(&writer->lock);
    writer->answer = status;
    writer->asked = NULL;
    (void)pthread_cond_broadcast(&writer->settled);
    (void)pthread_mutex_unlock(&writer->lock);
}

/* Waits for `seconds` at most, or until `goal` jobs are queued. */
static void
wait_for(struct writer *writer, double seconds, size_t goal)
{
    struct timespec until;
    double whole = seconds < 3600 ? seconds : 3600;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    writer->goal = goal;
    (void)pthread_cond_timedwait(&writer->work, &writer->lock, &until);
}

/*
 * Whoever was answered just now is likely to send again at once. Those who are
 * quickest would otherwise be flushed alone and the others wait for that; a
 * single sender never waits.
 */
static void
wait_for_others(struct writer *writer)
{
    double end = host_seconds() + OTHERS_S, left = OTHERS_S;
    size_t goal = writer->last_jobs - writer->last_jobs / 8;
    while (writer->queued < goal && !writer->ending && left > 0) {
        wait_for(writer, left, goal);
        left = end - host_seconds();
    }
}

/* Waits for work until the next moment at which there is some anyway. */
static void
wait_for_work(struct writer *writer)
{
    double now = host_seconds(), moment = mover_next(&writer->mover);
    if (writer->sick && now < writer->well_at && moment > writer->well_at) {
        moment = writer->well_at;
    }
    if (writer->count_at > 0 && moment > writer->count_at) {
        moment = writer->count_at;
    }
    if (moment > now) {
        wait_for(writer, moment - now, 1);
    }
}

/* Whoever asks before sending must get to send again. */
static void
note_time(struct writer *writer)
{
    if (writer->sick && !writer->hopeless &&
        host_seconds() >= writer->well_at) {
        atomic_store(&writer->options.mover.metrics->healthy, true);
    }
}

static void *
write_on(void *context)
{
    struct writer *writer = context;
    bool ending = false;
    while (!ending) {
        struct writer_job *group;
        size_t reports = 0;
        bool asked;
        (void)pthread_mutex_lock(&writer->lock);
        if (writer->first == NULL && !writer->ending && writer->asked == NULL) {
            wait_for_work(writer);
        }
        if (writer->first != NULL) {
            wait_for_others(writer);
        }
        group = take_group(writer, &reports);
        asked = writer->asked != NULL;
        ending = writer->ending && group == NULL;
        (void)pthread_mutex_unlock(&writer->lock);
        if (asked) {
            register_campaigns(writer);
        }
        if (!ending) {
            if (!run_group(writer, group, reports)) {
                /* A store that is full of what is to be moved takes no group,
                   and no step with it; alone it may make room. */
                (void)run_group(writer, NULL, 0);
            }
            mover_tend(&writer->mover);
            note_time(writer);
            if (writer->count_at > 0 && host_seconds() >= writer->count_at) {
                count_campaigns(writer);
            }
        }
    }
    mover_finish(&writer->mover, writer->options.stop_s);
    return NULL;
}

/* ---- Life ---------------------------------------------------------------- */

/* A back-end that checks itself needs none. */
static enum sotto_status
start_watcher(struct writer *writer, struct sotto_error *err)
{
    const struct mover_options *mover = &writer->options.mover;
    const struct watcher_options options = {.store = writer->options.store,
                                            .piece = WATCH_PIECE,
                                            .pause_s = WATCH_PAUSE_S,
                                            .round_s = WATCH_ROUND_S,
                                            .metrics = mover->metrics,
                                            .log = mover->log,
                                            .log_context = mover->log_context};
    enum sotto_status status = watcher_new(&options, &writer->watcher, err);
    return status == SOTTO_STATUS_USAGE ? SOTTO_STATUS_OK : status;
}

enum sotto_status
writer_new(const struct writer_options *options, struct writer **ret_writer,
           struct sotto_error *err)
{
    struct writer *writer = calloc(1, sizeof *writer);
    pthread_condattr_t monotonic;
    enum sotto_status status;
    int failed;
    if (writer == NULL) {
        return host_fail_memory(err);
    }
    writer->options = *options;
    writer->end = &writer->first;
    (void)pthread_mutex_init(&writer->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&writer->work, &monotonic);
    (void)pthread_cond_init(&writer->settled, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    status = store_open_with_keys(options->store, options->window_keys,
                                  options->simulation, &writer->store, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    log_found(writer);
    mover_init(&writer->mover, &options->mover, writer->store);
    failed = pthread_create(&writer->thread, NULL, write_on, writer);
    if (failed != 0) {
        status = host_fail(err, SOTTO_STATUS_IO, 0, "cannot start a thread: %s",
                           strerror(failed));
        goto done;
    }
    writer->started = true;
    status = start_watcher(writer, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    *ret_writer = writer;
    writer = NULL;
done:
    writer_free(writer);
    return status;
}

void
writer_drain(struct writer *writer)
{
    (void)pthread_mutex_lock(&writer->lock);
    writer->closing = true;
    while (writer->reserved > 0) {
        (void)pthread_cond_wait(&writer->settled, &writer->lock);
    }
    (void)pthread_mutex_unlock(&writer->lock);
}

void
writer_free(struct writer *writer)
{
    if (writer == NULL) {
        return;
    }
    watcher_free(
        writer->watcher); /* its reading keeps the log from being cut */
    if (writer->started) {
        (void)pthread_mutex_lock(&writer->lock);
        writer->closing = true;
        writer->ending = true;
        (void)pthread_cond_signal(&writer->work);
        (void)pthread_mutex_unlock(&writer->lock);
        (void)pthread_join(writer->thread, NULL);
    }
    store_free(writer->store);
    campaigns_release(writer->campaigns);
    (void)pthread_cond_destroy(&writer->settled);
    (void)pthread_cond_destroy(&writer->work);
    (void)pthread_mutex_destroy(&writer->lock);
    free(writer);
}

enum sotto_status
writer_campaigns(struct writer *writer, struct campaigns *campaigns,
                 struct sotto_error *err)
{
    enum sotto_status status;
    (void)pthread_mutex_lock(&writer->lock);
    writer->asked = campaigns;
    writer->answer_err = err;
    (void)pthread_cond_signal(&writer->work);
    while (writer->asked != NULL) {
        (void)pthread_cond_wait(&writer->settled, &writer->lock);
    }
    status = writer->answer;
    (void)pthread_mutex_unlock(&writer->lock);
    return status;
}
