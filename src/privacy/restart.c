/*
 * restart.c: noise that repeats, entropy that is not the system's, and steps
 * that depend on the record.
 *
 * Reports must be independent across calls, forks and processes, and identical
 * where invariant 5 says so: for one person and one campaign, through a
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
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include "host/error.h"
#include "privacy/audit.h"
#include "privacy/hostile.h"
#include "random/seeded.h"

#define RECORD 1u  /* every number at the upper end of its range */
#define CALLS 64u  /* reports of one process */
#define FORKS 6u   /* children, each */
#define EACH 3u    /* reports of a child */
#define FRESH 3u   /* fresh processes */
#define STREAMS 8u /* of bytes in place of the system's */
#define STEPS_MOST UINT64_C(3000000)  /* of one report */
#define STEPS_ENOUGH UINT64_C(400000) /* of several */
#define CHANCE 1e-12                  /* below which a coincidence is none */

struct restart {
    struct sotto_audit *audit;
    struct sotto_client *client;
    struct hostile *hostile;
    size_t size;     /* of a report */
    size_t room;     /* reports that fit in `shared` */
    uint8_t *shared; /* reports, written by children too */
    int32_t *q;      /* the record's points */
    uint64_t done;
};

static uint8_t *
report_at(const struct restart *r, size_t i)
{
    return r->shared + i * r->size;
}

static void
step(struct restart *r)
{
    audit_progress(r->audit, "restart", ++r->done, 32);
}

static enum sotto_status
privatise(struct restart *r, uint64_t record, uint8_t *report)
{
    return sotto_client_privatise(r->client, hostile_record(r->hostile, record),
                                  r->client->sizes.columns, report, r->size);
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
        if (!report_valid(r->client, report_at(r, i), r->size)) {
            return false; /* another attack's find */
        }
        likeliest =
            fmax(likeliest, audit_log_p(r->client, r->q, report_at(r, i)));
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
        enum sotto_status status = privatise(r, RECORD, report_at(r, i));
        if (status != SOTTO_STATUS_OK) {
            return host_fail(err, status, 0, "%s",
                             sotto_status_message(status));
        }
    }
    judge_repeats(r, CALLS, "of one process");
    step(r);
    return SOTTO_STATUS_OK;
}

/* Waits for a child of ours to stop or end, whatever signals come. */
static bool
wait_for(pid_t child, int *ret_status)
{
    pid_t got;
    do {
        got = waitpid(child, ret_status, 0);
    } while (got < 0 && errno == EINTR);
    return got == child;
}

static bool
ended_well(pid_t child)
{
    int status;
    return wait_for(child, &status) && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void
report_in_child(struct restart *r, size_t first)
{
    for (size_t i = first; i < first + EACH; i++) {
        if (privatise(r, RECORD, report_at(r, i)) != SOTTO_STATUS_OK) {
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
        step(r);
    }
    if (good) {
        judge_repeats(r, (size_t)FORKS * EACH, "of forked processes");
    } else {
        audit_note(r->audit, "restart", false, "forks could not be tried: %s",
                   strerror(errno));
    }
}

static void
try_fresh(struct restart *r)
{
    const struct sotto_audit_options *options = &r->audit->options;
    for (size_t i = 0; options->fresh != NULL && i < FRESH; i++) {
        if (options->fresh(options->context, report_at(r, i), r->size) != 0) {
            audit_note(r->audit, "restart", false,
                       "fresh processes could not be tried");
            return;
        }
        step(r);
    }
    if (options->fresh != NULL) {
        judge_repeats(r, FRESH, "of fresh processes");
    }
}

/* ---- Tracing a child ----------------------------------------------------- */

static void
stop_traced(pid_t child)
{
    int status = 0;
    (void)kill(child, SIGKILL);
    while (wait_for(child, &status) && WIFSTOPPED(status)) {
        (void)kill(child, SIGKILL);
    }
}

/* Starts a child that stops, waits to be traced, and runs `body`. */
static pid_t
start_traced(struct restart *r, void (*body)(struct restart *, uint64_t),
             uint64_t record)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
            _exit(1);
        }
        (void)raise(SIGSTOP);
        body(r, record);
        _exit(0);
    }
    if (child < 0 || !wait_for(child, &status) || !WIFSTOPPED(status)) {
        return -1; /* it is gone: tracing is not allowed here */
    }
    if (ptrace(PTRACE_SETOPTIONS, child, NULL,
               PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD) != 0) {
        stop_traced(child);
        return -1;
    }
    return child;
}

/* Lets it run to its next stop; false if it ended, or cannot be followed, and
   then it is gone. */
static bool
next_stop(pid_t child, enum __ptrace_request how, int deliver, int *ret_status)
{
    if (ptrace(how, child, NULL, (void *)(intptr_t)deliver) != 0) {
        stop_traced(child);
        *ret_status = -1;
        return false;
    }
    if (!wait_for(child, ret_status)) {
        *ret_status = -1;
        return false;
    }
    return WIFSTOPPED(*ret_status);
}

/* ---- Entropy ------------------------------------------------------------- */

/* What the child was told in place of entropy. */
struct told {
    struct seeded seeded;
    uint64_t calls, bytes;
    uint64_t buffer; /* of the call under way; 0: another call */
};

static bool
tell(pid_t child, struct told *told, size_t size)
{
    uint8_t bytes[4096];
    while (size > 0) {
        size_t part = size < sizeof bytes ? size : sizeof bytes;
        struct iovec local = {bytes, part};
        struct iovec remote = {(void *)(uintptr_t)told->buffer, part};
        for (size_t i = 0; i < part; i++) {
            bytes[i] = (uint8_t)random_u32(&told->seeded.random);
        }
        if (process_vm_writev(child, &local, 1, &remote, 1, 0) !=
            (ssize_t)part) {
            return false;
        }
        told->buffer += part;
        told->bytes += part;
        size -= part;
    }
    return true;
}

/* One stop at a system call: its entry or its return. */
static bool
at_system_call(pid_t child, struct told *told)
{
    struct __ptrace_syscall_info info;
    memset(&info, 0, sizeof info);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0) {
        return false;
    }
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        told->buffer = info.entry.nr == SYS_getrandom ? info.entry.args[0] : 0;
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && told->buffer != 0 &&
               info.exit.rval > 0) {
        told->calls++;
        return tell(child, told, (size_t)info.exit.rval);
    }
    return true;
}

static void
one_report(struct restart *r, uint64_t record)
{
    if (privatise(r, record, report_at(r, 0)) != SOTTO_STATUS_OK) {
        _exit(1);
    }
}

/* Where the C library has entropy without a system call (the kernel's vDSO),
   not even a plain request is seen. */
static void
plain_request(struct restart *r, uint64_t record)
{
    uint8_t bytes[16];
    (void)r;
    (void)record;
    _exit(getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes ? 0 : 1);
}

/* Runs `body` in a child that is told stream `stream`; one_report's report is
   at report_at(r, 0) then. */
static bool
run_told(struct restart *r, void (*body)(struct restart *, uint64_t),
         uint64_t stream, struct told *told)
{
    pid_t child = start_traced(r, body, RECORD);
    int status = -1, deliver = 0;
    memset(told, 0, sizeof *told);
    seeded_init(&told->seeded, r->audit->options.seed, stream);
    while (child > 0 && next_stop(child, PTRACE_SYSCALL, deliver, &status)) {
        deliver = 0;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            deliver = WSTOPSIG(status);
        } else if (!at_system_call(child, told)) {
            stop_traced(child);
            return false;
        }
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void
try_entropy(struct restart *r)
{
    struct told told;
    uint8_t *first = report_at(r, STREAMS + 1);
    bool good, same, bytes;
    good = run_told(r, plain_request, 1, &told) && told.bytes > 0 &&
           run_told(r, one_report, 1, &told);
    memcpy(first, report_at(r, 0), r->size);
    good = good && run_told(r, one_report, 1, &told);
    step(r);
    if (!good) {
        audit_note(r->audit, "restart", false,
                   "entropy could not be interposed: this system does not let "
                   "a process trace its child, or see it ask for entropy");
        return;
    }
    same = memcmp(first, report_at(r, 0), r->size) == 0;
    bytes = told.bytes > 0;
    for (uint64_t i = STREAMS; good && i > 0; i--) {
        good = run_told(r, one_report, i, &told);
        memcpy(report_at(r, i), report_at(r, 0), r->size);
        step(r);
    }
    memcpy(report_at(r, 0), report_at(r, STREAMS), r->size);
    if (!bytes) {
        audit_note(r->audit, "restart", true,
                   "a report was made without asking the system for entropy");
    } else if (!same) {
        audit_note(r->audit, "restart", true,
                   "the same entropy gave two different reports: something "
                   "else decides the noise, too");
    } else if (good && (ids_repeat(r, STREAMS) || noise_repeats(r, STREAMS))) {
        audit_note(r->audit, "restart", true,
                   "different entropy gave the same noise: it does not come "
                   "from the system");
    } else if (good) {
        audit_note(r->audit, "restart", false,
                   "the system's entropy alone decides a report: %llu bytes "
                   "of it were exchanged, %u times",
                   (unsigned long long)told.bytes, STREAMS + 2);
    }
}

/* ---- Steps --------------------------------------------------------------- */

/* Marks where the part that must not depend on the record begins and ends, by
   a signal that cannot be blocked. */
static void
marked_report(struct restart *r, uint64_t record)
{
    audit_encode(r->client, hostile_record(r->hostile, record));
    (void)raise(SIGSTOP);
    report_make(r->client, &r->client->entropy, report_at(r, 0));
    (void)raise(SIGSTOP);
}

/* Instructions between the two marks; 0 if they could not be counted. */
static uint64_t
count_steps(struct restart *r, uint64_t record)
{
    pid_t child = start_traced(r, marked_report, record);
    int status = 0;
    uint64_t steps = 0;
    bool marked = false, ended = false;
    if (child < 0) {
        return 0;
    }
    while (steps < STEPS_MOST && !ended) {
        if (!next_stop(child, marked ? PTRACE_SINGLESTEP : PTRACE_CONT, 0,
                       &status)) {
            return 0;
        }
        ended = marked && WSTOPSIG(status) == SIGSTOP;
        marked = marked || WSTOPSIG(status) == SIGSTOP;
        steps += marked && !ended;
    }
    stop_traced(child);
    return ended ? steps : 0;
}

static void
try_steps(struct restart *r)
{
    static const uint64_t records[] = {0, 1, 5, 3, 12, 19, 2, 17};
    size_t count = sizeof records / sizeof records[0], i;
    uint64_t first = count_steps(r, records[0]), least = first, most = first;
    uint64_t all = first;
    step(r);
    for (i = 1; i < count && first > 0 && (i < 2 || all < STEPS_ENOUGH); i++) {
        uint64_t steps = count_steps(r, records[i]);
        least = steps < least ? steps : least;
        most = steps > most ? steps : most;
        all += steps;
        step(r);
    }
    if (least == 0) {
        audit_note(r->audit, "restart", false,
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
                   (unsigned long long)least, i);
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
    return sotto_client_report(r->client, port, person, strlen(person),
                               hostile_record(r->hostile, record),
                               r->client->sizes.columns, report, r->size, NULL);
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
    if (status == SOTTO_STATUS_OK) {
        status = through_ledger(r, "one", 1, report_at(r, 1));
    }
    if (status == SOTTO_STATUS_OK) {
        status = through_ledger(r, "two", 1, report_at(r, 2));
    }
    step(r);
    if (status != SOTTO_STATUS_OK) {
        audit_note(r->audit, "restart", false,
                   "the ledger could not be tried: %s",
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
set_up(struct restart *r)
{
    void *shared;
    r->size = r->client->report_size;
    r->room = CALLS + 2;
    r->hostile = hostile_new(r->audit->mechanism, 0);
    r->q = calloc(audit_width(r->client), sizeof *r->q);
    shared = mmap(NULL, r->room * r->size, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return false;
    }
    r->shared = shared;
    return r->hostile != NULL && r->q != NULL;
}

static void
clear(struct restart *r)
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
    audit_encode(r->client, hostile_record(r->hostile, RECORD));
    audit_points(r->client, r->q);
    status = try_calls(r, err);
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
    struct restart r = {.audit = audit, .client = audit->mechanism->client};
    struct sigaction ours = {.sa_handler = SIG_DFL}, theirs;
    enum sotto_status status;
    (void)sigaction(SIGCHLD, &ours, &theirs);
    status = set_up(&r) ? try_all(&r, err) : host_fail_memory(err);
    (void)sigaction(SIGCHLD, &theirs, NULL);
    clear(&r);
    return status;
}
