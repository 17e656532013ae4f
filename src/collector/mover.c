/*
 * mover.c: when a window ends, how far it is moved on, and what is said of it.
 *
 * What fails is said once when it begins, with what to do, and once when it is
 * over; reports are taken all the while, so this is not about their health.
 */
#include "collector/mover.h"

#include <stdio.h>
#include <time.h>

#include "host/clock.h"
#include "host/error.h"

#define SLICE_ALONE ((size_t)8192)

static void
log_move(const struct mover *mover, enum sotto_log_level level,
         const char *code, const char *text)
{
    if (mover->options.log != NULL) {
        mover->options.log(mover->options.log_context, level, code, text);
    }
}

static void
say_why(const struct mover *mover, enum sotto_log_level level, const char *code,
        const char *what, const struct sotto_error *err, const char *advice)
{
    char text[sizeof err->message + 320];
    (void)snprintf(text, sizeof text, "%s: %s; %s", what, err->message, advice);
    log_move(mover, level, code, text);
}

static void
note_state(struct mover *mover)
{
    struct metrics *metrics = mover->options.metrics;
    atomic_store(&metrics->behind,
                 mover->failing || mover->said != MOVER_SAID_CLEAN);
}

static void
note_clean(struct mover *mover)
{
    atomic_store(&mover->options.metrics->clean_at, (uint64_t)host_seconds());
}

void
mover_init(struct mover *mover, const struct mover_options *options,
           struct store *store)
{
    *mover = (struct mover){
        .options = *options,
        .store = store,
        .end_at = host_seconds(),
        .unknown = true,
        .moving = true,
        .owed = true,
    };
    note_clean(mover);
}

/* ---- Moving -------------------------------------------------------------- */

/* Files are not worth scrubbing before all that an earlier life left has been
   moved on. */
static bool
may_scrub(const struct mover *mover)
{
    return mover->owed && !mover->moving && !mover->unknown;
}

static bool
holds_reports(const struct mover *mover)
{
    return mover->took || mover->unknown;
}

double
mover_next(const struct mover *mover)
{
    double moment = mover->moving ? mover->move_at : mover->end_at;
    if (holds_reports(mover) && moment < mover->move_at) {
        moment = mover->move_at;
    }
    if (may_scrub(mover) && moment > mover->scrub_at) {
        moment = mover->scrub_at;
    }
    return moment;
}

/* Where it is not known whether there is anything to be moved the step is one
   row: if nothing is left then, there was nothing. */
struct mover_step
mover_plan(const struct mover *mover, double now, bool alone, size_t reports)
{
    struct mover_step step = {0};
    bool sure = false;
    if (now < mover->move_at) {
        return step;
    }
    if (mover->moving) {
        sure = mover->real;
    } else if (now >= mover->end_at && holds_reports(mover)) {
        step.end = true;
        sure = mover->took;
    }
    step.needed = mover->moving || step.end;
    if (step.needed || !alone) {
        step.rows = !sure ? 1 : alone ? SLICE_ALONE : mover_slice(reports);
    }
    return step;
}

enum sotto_status
mover_step(struct mover *mover, struct mover_step *step,
           struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (step->end) {
        status = store_end_window(mover->store, err);
    }
    status = HOST_THEN(status, store_advance(mover->store, step->rows,
                                             mover->options.batch_min,
                                             &step->done, err));
    return status;
}

/* The window that filled is the one that moves now. What was refused is noted
   at this moment: while it is moved, more comes that is the next one's. */
static void
begin_move(struct mover *mover, bool real)
{
    for (unsigned i = 0; i < JUDGE_VERDICTS; i++) {
        mover->verdicts[i] = atomic_load(&mover->options.metrics->reports[i]);
    }
    mover->moving = true;
    mover->real = real;
    mover->end_at = host_seconds() + mover->options.window_s;
}

static void
end_move(struct mover *mover)
{
    struct metrics *metrics = mover->options.metrics;
    if (mover->real) {
        for (unsigned i = 0; i < JUDGE_VERDICTS; i++) {
            atomic_store(&metrics->settled[i], mover->verdicts[i]);
        }
        atomic_fetch_add(&metrics->windows, 1);
    }
    if (mover->failing) {
        log_move(mover, SOTTO_LOG_INFO, "windows-stuck-over",
                 "windows are moved on again");
    }
    mover->moving = mover->real = mover->failing = false;
    mover->owed = true;
    note_state(mover);
}

bool
mover_stepped(struct mover *mover, const struct mover_step *step, bool took)
{
    mover->took = mover->took || took; /* they were put before the step */
    if (step->rows == 0) {
        return false;
    }
    if (step->end) {
        begin_move(mover, mover->took);
        /* The puts may have filled the window and ended it themselves: then
           some of these reports are in the next one. */
        mover->took = false;
        mover->unknown = took;
    }
    if (step->done && mover->moving) {
        end_move(mover);
        return true;
    }
    if (!step->done && !mover->moving) {
        /* It was full. Some of these reports may be in the next one. */
        begin_move(mover, true);
    }
    mover->real = mover->moving;
    return false;
}

void
mover_failed(struct mover *mover, const struct mover_step *step,
             const struct sotto_error *err)
{
    mover->move_at = host_seconds() + mover->options.again_s;
    if (err == NULL) {
        return;
    }
    if (!step->needed) {
        /* The window was full, and the store has ended it; or so it seems. */
        begin_move(mover, false);
    }
    atomic_fetch_add_explicit(&mover->options.metrics->move_failures, 1,
                              memory_order_relaxed);
    if (!mover->failing) {
        mover->failing = true;
        say_why(mover, SOTTO_LOG_ERROR, "windows-stuck",
                "windows are not moved on, and their reports stay beside what "
                "is kept of their ids",
                err,
                "new reports are taken while there is room, and moving is "
                "tried again and again: see that the store's disk has space, "
                "and docs/collector.md");
        note_state(mover);
    }
}

/* ---- Scrubbing ----------------------------------------------------------- */

static void
scrub_failed(struct mover *mover, const struct sotto_error *err)
{
    mover->scrub_at = host_seconds() + mover->options.patience_s;
    if (mover->said != MOVER_SAID_FAILED) {
        mover->said = MOVER_SAID_FAILED;
        say_why(mover, SOTTO_LOG_WARNING, "files-unclean",
                "the store's files may still tell how reports came", err,
                "docs/collector.md says what to do");
    }
}

static void
scrub_blocked(struct mover *mover)
{
    double now = host_seconds();
    mover->scrub_at = now + mover->options.again_s;
    if (mover->blocked_at == 0) {
        mover->blocked_at = now;
    }
    if (now - mover->blocked_at >= mover->options.patience_s &&
        mover->said == MOVER_SAID_CLEAN) {
        mover->said = MOVER_SAID_READER;
        log_move(mover, SOTTO_LOG_WARNING, "reader-in-way",
                 "a reader keeps the store's log from being cut: it grows, and "
                 "tells how reports of past windows came; end the program that "
                 "reads the store all that time");
    }
}

static void
scrub_done(struct mover *mover)
{
    if (mover->said != MOVER_SAID_CLEAN) {
        log_move(mover, SOTTO_LOG_INFO, "files-unclean-over",
                 "the store's files are clean again");
    }
    mover->said = MOVER_SAID_CLEAN;
    mover->owed = false;
    mover->blocked_at = mover->scrub_at = 0;
    note_clean(mover);
}

/* False: it failed, and not because of a reader. */
static bool
scrub_store(struct mover *mover)
{
    struct sotto_error err = {0};
    bool clean = false;
    enum sotto_status status = store_scrub(mover->store, &clean, &err);
    if (status == SOTTO_STATUS_OK && clean) {
        scrub_done(mover);
    } else {
        atomic_fetch_add_explicit(&mover->options.metrics->scrub_failures, 1,
                                  memory_order_relaxed);
        if (status != SOTTO_STATUS_OK) {
            scrub_failed(mover, &err);
        } else {
            scrub_blocked(mover);
        }
    }
    note_state(mover);
    return status == SOTTO_STATUS_OK;
}

void
mover_tend(struct mover *mover)
{
    double now = host_seconds();
    if (may_scrub(mover) && now >= mover->scrub_at) {
        (void)scrub_store(mover);
    }
    if (now >= mover->end_at && !mover->moving && !holds_reports(mover)) {
        mover->end_at = now + mover->options.window_s;
        if (!mover->owed) {
            note_clean(mover);
        }
    }
}

/* ---- The end ------------------------------------------------------------- */

/* A step in a transaction of its own. */
static bool
step_alone(struct mover *mover)
{
    struct sotto_error err = {0};
    struct mover_step step = {
        .rows = SLICE_ALONE, .end = !mover->moving, .needed = true};
    enum sotto_status status = store_begin(mover->store, &err);
    if (status == SOTTO_STATUS_OK) {
        status = mover_step(mover, &step, &err);
        if (status == SOTTO_STATUS_OK) {
            status = store_commit(mover->store, &err);
        } else {
            store_rollback(mover->store);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        (void)mover_stepped(mover, &step, false);
    } else {
        mover_failed(mover, &step, &err);
    }
    return status == SOTTO_STATUS_OK;
}

void
mover_finish(struct mover *mover, double seconds)
{
    const struct timespec pause = {0, 20000000};
    double end = host_seconds() + seconds;
    bool good = true;
    while (good && (mover->moving || holds_reports(mover)) &&
           host_seconds() < end) {
        good = step_alone(mover);
    }
    while (good && may_scrub(mover) && host_seconds() < end) {
        good = scrub_store(mover);
        if (mover->owed) {
            (void)nanosleep(&pause, NULL);
        }
    }
    if (mover->moving || holds_reports(mover) || mover->owed) {
        log_move(
            mover, SOTTO_LOG_WARNING, "stopped-early",
            "stopped before the last reports were moved on and the log cut: "
            "until it is started again, the store tells how they came");
    }
}
