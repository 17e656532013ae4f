/*
 * fake_store.h: a store in memory that fails when it is told to, and a writer
 * over it. Behind store.h's own seam: a program that includes this defines the
 * back-end "sqlite" itself, so that the archive's is not linked.
 *
 *     disk   what is committed; it outlives a writer, as a file does
 *     now    what the open transaction has made of it
 */
#ifndef SOTTO_TESTS_FAKE_STORE_H
#define SOTTO_TESTS_FAKE_STORE_H

#include "../mechanism/mechanism_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "collector/writer.h"
#include "host/clock.h"
#include "host/error.h"

#define IDS_MOST 4096u
#define ID_SIZE 16u
#define ID_AT (REPORT_HEADER_SIZE - ID_SIZE)

struct fake_state {
    size_t ids;       /* of `fake.id`, which are known */
    size_t open, old; /* reports of the window that fills, or moves */
    size_t left;      /* rows of the old one to be moved */
    size_t held, released;
    bool moving;
};

static struct fake {
    pthread_mutex_t lock;
    struct fake_state disk, now;
    uint8_t id[IDS_MOST][ID_SIZE];
    bool begun, dirty;  /* dirty: the log has something of a window */
    size_t puts, moved; /* of the transaction */
    size_t begins, commits, scrubs;
    /* What it does when. */
    bool others; /* have written: begin fails for good */
    bool fail_begin, fail_put, fail_move, fail_moved_commit;
    size_t fail_commit; /* so many of those with reports */
    size_t fail_count;  /* so many counts */
    bool hold;          /* commits with reports wait */
    bool holding;       /* one does */
    uint32_t closed;    /* campaign that another program closed; 0: none */
    uint32_t closing;   /* that is closed before the next commit of reports */
    bool reader;
    enum sotto_status scrub_status;
    size_t full;      /* reports of a window; 0: no limit */
    size_t step_most; /* rows that a step moves at most; 0: as many as asked */
    long step_ns;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Reads or writes a field of the fake while its writer runs. */
#define FAKE(expression)                                                       \
    do {                                                                       \
        (void)pthread_mutex_lock(&fake.lock);                                  \
        expression;                                                            \
        (void)pthread_mutex_unlock(&fake.lock);                                \
    } while (0)

static inline void
pause_ns(long ns)
{
    (void)nanosleep(&(struct timespec){0, ns}, NULL);
}

/* Until something is true of the fake, or ten seconds are over. */
#define FAKE_UNTIL(truth)                                                      \
    do {                                                                       \
        bool true_now = false;                                                 \
        double end_at = host_seconds() + 10;                                   \
        while (!true_now && host_seconds() < end_at) {                         \
            FAKE(true_now = (truth));                                          \
            pause_ns(1000000);                                                 \
        }                                                                      \
        if (!true_now) {                                                       \
            fail_msg("%s:%d: never: %s", __FILE__, __LINE__, #truth);          \
        }                                                                      \
    } while (0)

/* ---- The back-end -------------------------------------------------------- */

static inline enum sotto_status
fake_fail(const char *what, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "the fake fails to %s", what);
}

static inline enum sotto_status
fake_open(const char *place, bool simulation, void **ret,
          struct sotto_error *err)
{
    (void)place;
    (void)simulation;
    (void)err;
    FAKE(fake.now = fake.disk);
    *ret = &fake;
    return SOTTO_STATUS_OK;
}

static inline void
fake_rollback(void *own)
{
    (void)own;
    FAKE(fake.now = fake.disk; fake.begun = false);
}

static inline void
fake_close(void *own)
{
    fake_rollback(own);
}

static inline enum sotto_status
fake_campaign(void *own, const uint8_t *hash, const char *name,
              size_t payload_size, uint32_t *ret_campaign,
              struct sotto_error *err)
{
    (void)own;
    (void)hash;
    (void)name;
    (void)payload_size;
    (void)err;
    *ret_campaign = 1;
    return SOTTO_STATUS_OK;
}

static inline enum sotto_status
fake_begin(void *own, struct sotto_error *err)
{
    bool fails, others;
    (void)own;
    FAKE(others = fake.others; fails = fake.fail_begin || others; fake.begins++;
         fake.begun = !fails; fake.puts = fake.moved = 0);
    return others  ? host_fail(err, SOTTO_STATUS_FORMAT, 0, "others wrote")
           : fails ? fake_fail("begin", err)
                   : SOTTO_STATUS_OK;
}

static inline void
fake_end(void)
{
    struct fake_state *now = &fake.now;
    if (!now->moving) {
        now->moving = true;
        now->old = now->left = now->open;
        now->open = 0;
    }
}

static inline enum sotto_status
fake_put(void *own, uint32_t campaign, const uint8_t *report,
         enum store_answer *ret_answer, struct sotto_error *err)
{
    struct fake_state *now = &fake.now;
    enum sotto_status status = SOTTO_STATUS_OK;
    const uint8_t *id = report + ID_AT;
    size_t at = 0;
    (void)own;
    (void)pthread_mutex_lock(&fake.lock);
    fake.puts++;
    if (campaign == fake.closed) {
        (void)pthread_mutex_unlock(&fake.lock);
        return host_fail(err, SOTTO_STATUS_REFUSED, 0, "the fake forgot it");
    }
    while (at < now->ids && memcmp(fake.id[at], id, ID_SIZE) != 0) {
        at++;
    }
    if (fake.full > 0 && now->open >= fake.full) {
        fake_end();
    }
    if (fake.fail_put || at == IDS_MOST ||
        (fake.full > 0 && now->open >= 2 * fake.full)) {
        status = fake_fail("put", err);
    } else if (at < now->ids) {
        *ret_answer = STORE_DUPLICATE;
    } else {
        memcpy(fake.id[now->ids++], id, ID_SIZE);
        now->open++;
        *ret_answer = STORE_ACCEPTED;
    }
    (void)pthread_mutex_unlock(&fake.lock);
    return status;
}

static inline enum sotto_status
fake_commit(void *own, struct sotto_error *err)
{
    bool fails, closes, waits = true;
    (void)own;
    while (waits) {
        FAKE(fake.holding = waits = fake.hold && fake.puts > 0);
        pause_ns(waits ? 1000000 : 0);
    }
    (void)pthread_mutex_lock(&fake.lock);
    closes = fake.puts > 0 && fake.closing > 0;
    fake.closed = closes ? fake.closing : fake.closed;
    fake.closing = closes ? 0 : fake.closing;
    fails = closes || (fake.puts > 0 && fake.fail_commit > 0) ||
            (fake.moved > 0 && fake.fail_moved_commit);
    fake.fail_commit -= fake.puts > 0 && fake.fail_commit > 0 ? 1 : 0;
    fake.commits += fails ? 0 : 1;
    fake.dirty = fake.dirty || (!fails && fake.now.open > 0);
    if (fails) {
        fake.now = fake.disk;
    } else {
        fake.disk = fake.now;
    }
    fake.begun = false;
    (void)pthread_mutex_unlock(&fake.lock);
    return closes  ? host_fail(err, SOTTO_STATUS_REFUSED, 0, "forgotten")
           : fails ? fake_fail("commit", err)
                   : SOTTO_STATUS_OK;
}

static inline enum sotto_status
fake_end_window(void *own, struct sotto_error *err)
{
    (void)own;
    (void)err;
    FAKE(fake_end());
    return SOTTO_STATUS_OK;
}

/* As SQLite's: as many rows as were asked for, and what follows them only if
   there are fewer. */
static inline enum sotto_status
fake_advance(void *own, size_t rows, size_t batch_min, bool *ret_done,
             struct sotto_error *err)
{
    struct fake_state *now = &fake.now;
    bool fails;
    (void)own;
    (void)pthread_mutex_lock(&fake.lock);
    if (fake.step_most > 0 && rows > fake.step_most) {
        rows = fake.step_most;
    }
    fails = fake.fail_move && now->moving && now->old > 0;
    fake.moved += now->moving ? 1 : 0;
    if (!fails && now->moving) {
        if (rows > now->left) {
            now->held += now->old;
            now->moving = false;
            now->old = now->left = 0;
        } else {
            now->left -= rows;
        }
        if (!now->moving && now->held >= batch_min) {
            now->released += now->held;
            now->held = 0;
        }
    }
    *ret_done = !now->moving;
    long ns = fake.step_ns;
    (void)pthread_mutex_unlock(&fake.lock);
    pause_ns(ns);
    return fails ? fake_fail("move", err) : SOTTO_STATUS_OK;
}

static inline enum sotto_status
fake_scrub(void *own, bool *ret_clean, struct sotto_error *err)
{
    enum sotto_status status;
    (void)own;
    (void)pthread_mutex_lock(&fake.lock);
    status = fake.scrub_status;
    fake.scrubs++;
    *ret_clean = !fake.reader;
    fake.dirty = fake.dirty && (fake.reader || fake.disk.open > 0);
    (void)pthread_mutex_unlock(&fake.lock);
    return status == SOTTO_STATUS_OK
               ? status
               : host_fail(err, status, 0, "the fake is dirty");
}

static inline enum sotto_status
fake_count(void *own, uint32_t campaign, struct store_counts *ret_counts,
           struct sotto_error *err)
{
    bool fails;
    (void)own;
    FAKE(fails = fake.fail_count > 0; fake.fail_count -= fails ? 1 : 0);
    if (fails) {
        return fake_fail("count", err);
    }
    FAKE(*ret_counts = ((struct store_counts){
             fake.disk.open + fake.disk.old + fake.disk.held,
             fake.disk.released, fake.disk.released > 0,
             fake.disk.old + fake.disk.held, campaign == fake.closed}));
    return SOTTO_STATUS_OK;
}

const struct store_backend store_sqlite = {
    .kind = "sqlite",
    .open = fake_open,
    .close = fake_close,
    .campaign = fake_campaign,
    .begin = fake_begin,
    .put = fake_put,
    .commit = fake_commit,
    .rollback = fake_rollback,
    .end_window = fake_end_window,
    .advance = fake_advance,
    .scrub = fake_scrub,
    .count = fake_count,
};

/* ---- A writer over it ---------------------------------------------------- */

static struct sotto_mechanism *mechanism;
static size_t size;
static uint64_t serial; /* of the next report */
static struct metrics metrics;
static struct sotto_error err;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_text[16384];

static inline void
fake_log(void *context, enum sotto_log_level level, const char *code,
         const char *text)
{
    (void)context;
    (void)pthread_mutex_lock(&log_lock);
    size_t at = strlen(log_text);
    (void)snprintf(log_text + at, sizeof log_text - at, "%d %s: %s\n",
                   (int)level, code, text);
    (void)pthread_mutex_unlock(&log_lock);
}

/* How often the log has a piece. */
static inline size_t
said(const char *piece)
{
    size_t count = 0;
    (void)pthread_mutex_lock(&log_lock);
    for (const char *at = log_text; (at = strstr(at, piece)) != NULL; at++) {
        count++;
    }
    (void)pthread_mutex_unlock(&log_lock);
    return count;
}

static inline int
set_up_all(void **state)
{
    (void)state;
    mechanism = fixture_open(&fixture_plain);
    size = mechanism->shape.report_size;
    return 0;
}

static inline int
tear_down_all(void **state)
{
    (void)state;
    sotto_mechanism_free(mechanism);
    return 0;
}

/* An empty disk, and nothing counted or said. */
static inline int
set_up(void **state)
{
    (void)state;
    fake = (struct fake){.lock = PTHREAD_MUTEX_INITIALIZER};
    metrics_init(&metrics);
    log_text[0] = '\0';
    return 0;
}

/* A window that is over by itself in no test unless it says so. */
static inline struct writer_options
usual(void)
{
    return (struct writer_options){
        .store = "sqlite:fake",
        .waiting_most = 1000,
        .sick_s = 5,
        .stop_s = 5,
        .mover = {.window_s = 600,
                  .batch_min = 1000,
                  .again_s = 0.01,
                  .patience_s = 10,
                  .metrics = &metrics,
                  .log = fake_log},
    };
}

static inline struct writer *
start(const struct writer_options *options)
{
    struct writer *writer = NULL;
    if (writer_new(options, &writer, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return writer;
}

/* The same, when nothing of an earlier life is left to be done. */
static inline struct writer *
start_settled(const struct writer_options *options)
{
    size_t scrubs = fake.scrubs;
    struct writer *writer = start(options);
    FAKE_UNTIL(fake.scrubs > scrubs);
    return writer;
}

#define BODY_MOST 64u

struct body {
    struct writer_job job; /* first: the writer hands it back */
    struct judge judge;
    struct writer *writer;
    uint8_t data[BODY_MOST * 256];
    atomic_size_t done; /* times */
    size_t tries;       /* left, if it did not get there */
};

static inline void
body_done(struct writer_job *job)
{
    struct body *body = (struct body *)job;
    atomic_fetch_add(&body->done, 1);
}

/* `count` reports, the last of which have been made before if `serial` was set
   back. */
static inline void
body_make(struct body *body, struct writer *writer, size_t count)
{
    *body = (struct body){.writer = writer};
    for (size_t i = 0; i < count; i++) {
        fixture_report(mechanism, serial++, body->data + i * size, size);
    }
    assert_int_equal(judge_body(&body->judge, mechanism, JUDGE_BINARY, true,
                                body->data, count * size, count, &err),
                     SOTTO_STATUS_OK);
    body->job = (struct writer_job){
        .judge = &body->judge, .campaign = 1, .done = body_done};
}

static inline void
body_submit(struct body *body)
{
    assert_true(writer_reserve(body->writer, body->judge.found[JUDGE_PENDING]));
    writer_submit(body->writer, &body->job);
}

static inline void
body_wait(struct body *body)
{
    double end = host_seconds() + 10;
    while (atomic_load(&body->done) == 0 && host_seconds() < end) {
        pause_ns(100000);
    }
    assert_int_equal(atomic_load(&body->done), 1);
}

/* Sends `count` new reports; whether they are stored. All must have been put,
   then, or none counts. */
static inline bool
send_new(struct writer *writer, size_t count)
{
    struct body body;
    size_t before, after;
    FAKE(before = fake.disk.ids);
    body_make(&body, writer, count);
    body_submit(&body);
    body_wait(&body);
    FAKE(after = fake.disk.ids);
    assert_int_equal(after - before, body.job.stored ? count : 0);
    assert_int_equal(body.judge.found[JUDGE_ACCEPTED],
                     body.job.stored ? count : 0);
    assert_int_equal(body.judge.found[JUDGE_PENDING],
                     body.job.stored ? 0 : count);
    judge_clear(&body.judge);
    return body.job.stored;
}

#endif
