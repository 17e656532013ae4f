/*
 * trace.c: a child process, seen from outside.
 */
#include "privacy/trace.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

#include "random/seeded.h"

bool
trace_wait(pid_t child, int *ret_status)
{
    pid_t got;
    do {
        got = waitpid(child, ret_status, 0);
    } while (got < 0 && errno == EINTR);
    return got == child;
}

/* ---- Starting and stopping ----------------------------------------------- */

/* A signal that cannot be blocked. */
void
trace_mark(void)
{
    (void)raise(SIGSTOP);
}

static void
stop_traced(pid_t child)
{
    int status = 0;
    (void)kill(child, SIGKILL);
    while (trace_wait(child, &status) && WIFSTOPPED(status)) {
        (void)kill(child, SIGKILL);
    }
}

/* Whether it stopped because it raised SIGSTOP itself. */
static bool
at_mark(pid_t child, int status)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    return WSTOPSIG(status) == SIGSTOP &&
           ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0 &&
           info.si_pid == child;
}

/* Waits until the child stops at its first mark; other signals may come before,
   and it is not told of them. */
static bool
wait_for_mark(pid_t child)
{
    int status = 0;
    while (trace_wait(child, &status) && WIFSTOPPED(status)) {
        if (at_mark(child, status)) {
            return true;
        }
        if (ptrace(PTRACE_CONT, child, NULL, NULL) != 0) {
            stop_traced(child);
            return false;
        }
    }
    return false; /* it is gone: tracing is not allowed here */
}

/* Starts a child that stops, waits to be traced, and runs `body`. */
static pid_t
start_traced(trace_body *body, void *context)
{
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
            _exit(1);
        }
        trace_mark();
        body(context);
        _exit(0);
    }
    if (child < 0 || !wait_for_mark(child)) {
        return -1;
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
    if (!trace_wait(child, ret_status)) {
        *ret_status = -1;
        return false;
    }
    return WIFSTOPPED(*ret_status);
}

/* ---- Entropy ------------------------------------------------------------- */

/* What the child is told in place of entropy. */
struct told {
    struct seeded seeded;
    uint64_t bytes;
    uint64_t buffer; /* of the call under way; 0: another call */
};

static bool
tell_trace(pid_t child, struct told *told, size_t size)
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
        return tell_trace(child, told, (size_t)info.exit.rval);
    }
    return true;
}

bool
trace_told(trace_body *body, void *context, uint64_t seed, uint64_t stream,
           uint64_t *ret_bytes)
{
    struct told told = {.bytes = 0};
    pid_t child = start_traced(body, context);
    int status = -1, deliver = 0;
    seeded_init(&told.seeded, seed, stream);
    while (child > 0 && next_stop(child, PTRACE_SYSCALL, deliver, &status)) {
        deliver = 0;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            deliver = WSTOPSIG(status);
        } else if (!at_system_call(child, &told)) {
            stop_traced(child);
            return false;
        }
    }
    *ret_bytes = told.bytes;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- Steps --------------------------------------------------------------- */

/* Other signals (a window that changes its size) are no step, and the child is
   not told of them. */
uint64_t
trace_steps(trace_body *body, void *context, uint64_t most)
{
    pid_t child = start_traced(body, context);
    int status = 0;
    uint64_t steps = 0;
    bool marked = false, ended = false;
    if (child < 0) {
        return 0;
    }
    while (steps < most && !ended) {
        if (!next_stop(child, marked ? PTRACE_SINGLESTEP : PTRACE_CONT, 0,
                       &status)) {
            return 0;
        }
        ended = marked && at_mark(child, status);
        marked = marked || at_mark(child, status);
        steps += marked && WSTOPSIG(status) == SIGTRAP;
    }
    stop_traced(child);
    return ended ? steps : 0;
}
