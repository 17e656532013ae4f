/*
 * restart.c: noise that repeats, entropy that is not the system's, and steps
 * that depend on the record.
 *
 * Reports must be independent across calls, forks and processes, and identical
 * where invariant 5 says so: for one person and one mechanism, through a
 * ledger. Where the system lets a parent trace its child, two more things are
 * seen from outside, whatever the code says of itself:
 *
 *   entropy   the child's getrandom() is answered with bytes of ours. The same
 *             bytes must give the same report, to the last bit, or something
 *             else had a say; other bytes another one (invariant 3).
 *   steps     the child is run one instruction at a time from the encoder's
 *             output to the finished report: as many for every record and
 *             every noise (invariant 7).
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/error.h"
#include "privacy/audit.h"
#include "privacy/hostile.h"
#include "privacy/trace.h"

#define RECORD 1u  /* every number at the upper end of its range */
#define CALLS 64u  /* reports of one process */
#define FORKS 6u   /* children, each */
#define EACH 3u    /* reports of a child */
#define FRESH 3u   /* fresh processes */
#define STREAMS 8u /* of bytes in place of the system's */
#define STEPS_SPENT UINT64_C(400000) /* beyond, three records must do */
#define CHANCE 1e-12                 /* below which a coincidence is none */

/* Other records: all at the lower end, not numbers, missing. */
static const uint64_t others[] = {0, 5, 19};
#define OTHERS (sizeof others / sizeof others[0])

struct restart {
    struct sotto_audit *audit;
    struct sotto_mechanism *mechanism;
    struct hostile *hostile;
    size_t size;     /* of a report */
    size_t room;     /* reports that fit in `shared` */
    uint8_t *shared; /* reports, written by children too */
    int32_t *q;      /* the record's points */
    uint64_t record; /* that a child is to use */
    uint64_t done;
};

static uint8_t *
report_at(const struct restart *r, size_t i)
{
    return r->shared + i * r->size;
}

static void
count_attack(struct restart *r)
{
    audit_progress(r->audit, "restart", ++r->done, 32);
}

static enum sotto_status
make_report(struct restart *r, uint64_t record, uint8_t *report,
            struct sotto_error *err)
{
    return audit_report(r->mechanism, hostile_record(r->hostile, record),
                        report, r->size, err);
}

/* ---- Coincidences -------------------------------------------------------- */

static bool
same_id(const uint8_t *a, const uint8_t *b)
{
    return memcmp(sotto_report_id(a), sotto_report_id(b), SOTTO_ID_SIZE) == 0;
}

static bool
same_payload(const struct restart *r, const uint8_t *a, const uint8_t *b)
{
    return memcmp(a + REPORT_HEADER_SIZE, b + REPORT_HEADER_SIZE,
                  r->size - REPORT_HEADER_SIZE) == 0;
}

/* Whether two of the reports have one id. */
static bool
ids_repeat(const struct restart *r, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (same_id(report_at(r, i), report_at(r, j))) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Whether the noise repeats. Of n - 1 neighbours, c are equal; independent
 * ones are equal with probability at most that of the likeliest report, so c
 * or more are with probability at most C(n-1, c) p^c.
 */
static bool
noise_repeats(const struct restart *r, size_t count)
{
    double likeliest = -INFINITY, equal = 0, n = (double)count - 1, chance;
    for (size_t i = 0; i < count; i++) {
        if (!stages_valid(r->mechanism, report_at(r, i), r->size)) {
            return false; /* another attack's find */
        }
        likeliest =
            fmax(likeliest, audit_log_p(r->mechanism, r->q, report_at(r, i)));
        equal += i > 0 && same_payload(r, report_at(r, i), report_at(r, i - 1));
    }
    chance = lgamma(n + 1) - lgamma(equal + 1) - lgamma(n - equal + 1) +
             equal * fmin(0, likeliest);
    return equal > 0 && chance < log(CHANCE);
}

static void
judge_repeats(struct restart *r, size_t count, const char *where)
{
    if (ids_repeat(r, count)) {
        audit_note(r->audit, "restart", true,
                   "two of %zu reports %s have the same random id", count,
                   where);
    } else if (noise_repeats(r, count)) {
        audit_note(r->audit, "restart", true,
                   "the noise of %zu reports %s repeats", count, where);
    } else {
        audit_note(r->audit, "restart", false,
                   "%zu reports %s show no repeated id or noise", count, where);
    }
}

/* ---- Calls, forks, fresh processes --------------------------------------- */

static enum sotto_status
try_calls(struct restart *r, struct sotto_error *err)
{
    for (size_t i = 0; i < CALLS; i++) {
        enum sotto_status status = make_report(r, RECORD, report_at(r, i), err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
    }
    judge_repeats(r, CALLS, "of one process");
    count_attack(r);
    return SOTTO_STATUS_OK;
}

static bool
ended_well(pid_t child)
{
    int status;
    return trace_wait(child, &status) && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void
report_in_child(struct restart *r, size_t first)
{
    for (size_t i = first; i < first + EACH; i++) {
        if (make_report(r, RECORD, report_at(r, i), NULL) != SOTTO_STATUS_OK) {
            _exit(1);
        }
    }
    _exit(0);
}

static void
try_forks(struct restart *r)
{
    bool good = true;
    for (size_t i = 0; good && i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            report_in_child(r, i * EACH);
        }
        good = child > 0 && ended_well(child);
        count_attack(r);
    }
    if (good) {
        judge_repeats(r, (size_t)FORKS * EACH, "of forked processes");
    } else {
        audit_skip(r->audit, "restart",
                   "forks could not be tried: a child could not be made, or "
                   "made no report");
    }
}

static void
try_fresh(struct restart *r)
{
    const struct sotto_audit_options *options = &r->audit->options;
    for (size_t i = 0; options->fresh != NULL && i < FRESH; i++) {
        if (options->fresh(options->context, report_at(r, i), r->size) != 0) {
            audit_skip(r->audit, "restart",
                       "fresh processes could not be tried");
            return;
        }
        count_attack(r);
    }
    if (options->fresh != NULL) {
        judge_repeats(r, FRESH, "of fresh processes");
    }
}

/* ---- Entropy ------------------------------------------------------------- */

static void
one_report(void *context)
{
    struct restart *r = context;
    if (make_report(r, r->record, report_at(r, 0), NULL) != SOTTO_STATUS_OK) {
        _exit(1);
    }
}

/* Where the C library has entropy without a system call (the kernel's vDSO),
   not even a plain request is seen. */
static void
plain_request(void *context)
{
    uint8_t bytes[16];
    (void)context;
    _exit(getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes ? 0 : 1);
}

/* A report of `record` at report_at(r, to), of a child told that stream. */
static bool
report_told(struct restart *r, uint64_t record, uint64_t stream, size_t to,
            uint64_t *ret_bytes)
{
    bool good;
    r->record = record;
    good = trace_told(one_report, r, r->audit->options.seed, stream, ret_bytes);
    memmove(report_at(r, to), report_at(r, 0), r->size);
    return good;
}

/* Whether a report of one entropy begins alike for every record. */
static bool
headers_agree(const struct restart *r)
{
    for (size_t i = 0; i < OTHERS; i++) {
        if (memcmp(report_at(r, 1), report_at(r, 3 + i), REPORT_HEADER_SIZE) !=
            0) {
            return false;
        }
    }
    return true;
}

static void
judge_other(struct restart *r)
{
    audit_note(r->audit, "restart", true,
               "the same entropy gave two different reports: something else "
               "decides the noise, too");
}

/* Reports of one entropy: two of the same record, then of others. */
static bool
judge_same(struct restart *r, uint64_t bytes)
{
    uint64_t need = r->mechanism->shape.entropy;
    if (bytes == 0) {
        audit_note(r->audit, "restart", true,
                   "a report was made without asking the system for entropy");
    } else if (bytes < need) {
        audit_note(r->audit, "restart", true,
                   "a report that draws %llu bytes was made of %llu bytes of "
                   "entropy: the rest is stretched",
                   (unsigned long long)need, (unsigned long long)bytes);
    } else if (memcmp(report_at(r, 1), report_at(r, 2), r->size) != 0) {
        judge_other(r);
    } else if (!headers_agree(r)) {
        audit_note(r->audit, "restart", true,
                   "the beginning of a report, its id, depends on the record");
    } else {
        return true;
    }
    return false;
}

static void
judge_streams(struct restart *r, uint64_t bytes)
{
    if (ids_repeat(r, STREAMS) || noise_repeats(r, STREAMS)) {
        audit_note(r->audit, "restart", true,
                   "different entropy gave the same noise: it does not come "
                   "from the system");
    } else {
        audit_note(r->audit, "restart", false,
                   "the system's entropy alone decides a report and its id: "
                   "%llu bytes of it were exchanged, %u times",
                   (unsigned long long)bytes,
                   2 * STREAMS + 2 + (unsigned)OTHERS);
    }
}

static void
try_entropy(struct restart *r)
{
    uint64_t bytes = 0;
    bool good = trace_told(plain_request, r, 0, 0, &bytes) && bytes > 0;
    bool same = true;
    good = good && report_told(r, RECORD, 1, 1, &bytes) &&
           report_told(r, RECORD, 1, 2, &bytes);
    for (size_t i = 0; good && i < OTHERS; i++) {
        good = report_told(r, others[i], 1, 3 + i, &bytes);
    }
    count_attack(r);
    if (good && !judge_same(r, bytes)) {
        return;
    }
    for (size_t i = STREAMS; good && i > 0; i--) {
        good = report_told(r, RECORD, i, STREAMS, &bytes) &&
               report_told(r, RECORD, i, i - 1, &bytes);
        same = same &&
               memcmp(report_at(r, STREAMS), report_at(r, i - 1), r->size) == 0;
        count_attack(r);
    }
    if (good && !same) {
        judge_other(r);
    } else if (good) {
        judge_streams(r, bytes);
    } else {
        audit_skip(r->audit, "restart",
                   "entropy could not be interposed: this system does not let "
                   "a process trace its child, or see it ask for entropy");
    }
}

/* ---- Steps --------------------------------------------------------------- */

static void
marked_report(void *context)
{
    struct restart *r = context;
    stages_encode(r->mechanism, hostile_record(r->hostile, r->record));
    trace_mark();
    (void)stages_report(r->mechanism, report_at(r, 0));
    trace_mark();
}

/* Counts for one record after another; returns how many were counted. */
static size_t
count_steps(struct restart *r, uint64_t *ret_least, uint64_t *ret_most)
{
    static const uint64_t records[] = {0, 1, 5, 3, 12, 19, 2, 17};
    size_t count = sizeof records / sizeof records[0], i;
    uint64_t all = 0;
    *ret_least = UINT64_MAX;
    *ret_most = 0;
    for (i = 0; i < count && (i < 3 || all < STEPS_SPENT); i++) {
        uint64_t steps;
        r->record = records[i];
        steps = trace_steps(marked_report, r, r->audit->options.steps / 3);
        if (steps == 0) {
            return 0;
        }
        *ret_least = steps < *ret_least ? steps : *ret_least;
        *ret_most = steps > *ret_most ? steps : *ret_most;
        all += steps;
        count_attack(r);
    }
    return i;
}

static void
try_steps(struct restart *r)
{
    uint64_t least, most;
    size_t count = count_steps(r, &least, &most);
    if (count == 0) {
        audit_skip(r->audit, "restart",
                   "instructions could not be counted: there are too many, or "
                   "this system does not let a process trace its child");
    } else if (least != most) {
        audit_note(r->audit, "restart", true,
                   "the steps from the encoder's output to the report depend "
                   "on the record or the noise: %llu to %llu instructions "
                   "(invariant 7)",
                   (unsigned long long)least, (unsigned long long)most);
    } else {
        audit_note(r->audit, "restart", false,
                   "%llu instructions from the encoder's output to the report, "
                   "for each of %zu records",
                   (unsigned long long)least, count);
    }
}

/* ---- One person, one report ---------------------------------------------- */

static enum sotto_status
through_ledger(struct restart *r, const char *person, uint64_t record,
               uint8_t *report)
{
    const struct sotto_ledger_port *port =
        r->audit->options.ledger(r->audit->options.context);
    if (port == NULL) {
        return SOTTO_STATUS_IO;
    }
    return sotto_client_report(
        r->mechanism->client, port, person, strlen(person),
        hostile_record(r->hostile, record), r->mechanism->shape.schema.columns,
        report, r->size, NULL);
}

/* The ledger is opened anew before each. */
static void
try_ledger(struct restart *r)
{
    enum sotto_status status;
    if (r->audit->options.ledger == NULL) {
        return;
    }
    status = through_ledger(r, "one", 0, report_at(r, 0));
    status = HOST_THEN(status, through_ledger(r, "one", 1, report_at(r, 1)));
    status = HOST_THEN(status, through_ledger(r, "two", 1, report_at(r, 2)));
    count_attack(r);
    if (status != SOTTO_STATUS_OK) {
        audit_skip(r->audit, "restart", "the ledger could not be tried: %s",
                   sotto_status_message(status));
    } else if (memcmp(report_at(r, 0), report_at(r, 1), r->size) != 0) {
        audit_note(r->audit, "restart", true,
                   "one person was given two reports by the ledger "
                   "(invariant 5)");
    } else if (same_id(report_at(r, 0), report_at(r, 2))) {
        audit_note(r->audit, "restart", true,
                   "two people were given one report by the ledger");
    } else {
        audit_note(r->audit, "restart", false,
                   "asked again with another record after a restart, the "
                   "ledger gave the same report");
    }
}

/* ---- All of it ----------------------------------------------------------- */

static bool
set_up_restart(struct restart *r)
{
    void *shared;
    r->size = r->mechanism->shape.report_size;
    r->room = CALLS + 2;
    r->hostile = hostile_new(r->audit->mechanism, 0);
    r->q = calloc(stages_points_width(r->mechanism), sizeof *r->q);
    shared = mmap(NULL, r->room * r->size, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return false;
    }
    r->shared = shared;
    return r->hostile != NULL && r->q != NULL;
}

static void
clear_restart(struct restart *r)
{
    if (r->shared != NULL) {
        (void)munmap(r->shared, r->room * r->size);
    }
    free(r->q);
    hostile_free(r->hostile);
}

static enum sotto_status
try_all(struct restart *r, struct sotto_error *err)
{
    enum sotto_status status;
    stages_encode(r->mechanism, hostile_record(r->hostile, RECORD));
    stages_points(r->mechanism, r->q);
    status = try_calls(r, err);
    status = HOST_THEN(status, audit_independence(r->audit, err));
    if (status == SOTTO_STATUS_OK) {
        try_forks(r);
        try_fresh(r);
        try_entropy(r);
        try_steps(r);
        try_ledger(r);
        audit_progress(r->audit, "restart", 32, 32);
    }
    return status;
}

/* A caller that ignores SIGCHLD, or reaps in a handler, would take our
   children from us: for this time it does not. */
enum sotto_status
audit_restart(struct sotto_audit *audit, struct sotto_error *err)
{
    struct restart r = {.audit = audit, .mechanism = audit->mechanism};
    struct sigaction ours = {.sa_handler = SIG_DFL}, theirs;
    enum sotto_status status;
    (void)sigaction(SIGCHLD, &ours, &theirs);
    status = set_up_restart(&r) ? try_all(&r, err) : host_fail_memory(err);
    (void)sigaction(SIGCHLD, &theirs, NULL);
    clear_restart(&r);
    return status;
}
