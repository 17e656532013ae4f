/*
 * test_trace.c: a child seen from outside: what it makes of entropy that is
 * ours, and how many instructions it takes, whatever signals come.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privacy/trace.h"

#define ASKED 5000u /* more than is told at a time */

static uint8_t *shared; /* with the children */
static bool traced;     /* whether this system lets us */

static void
ask(void *context)
{
    (void)context;
    if (syscall(SYS_getrandom, shared, ASKED, 0) != (long)ASKED) {
        _exit(1);
    }
}

static int
set_up(void **state)
{
    uint64_t bytes;
    (void)state;
    shared = mmap(NULL, ASKED, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        return -1;
    }
    traced = trace_told(ask, NULL, 0, 0, &bytes);
    return 0;
}

/* No child of any kind is left. */
static void
check_no_child(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* ---- Entropy ------------------------------------------------------------- */

static void
test_the_same_stream_tells_the_same(void **state)
{
    uint8_t first[ASKED];
    uint64_t bytes = 0;
    (void)state;
    if (!traced) {
        skip();
    }
    assert_true(trace_told(ask, NULL, 7, 1, &bytes));
    assert_int_equal(bytes, ASKED);
    memcpy(first, shared, ASKED);
    assert_true(trace_told(ask, NULL, 7, 1, &bytes));
    assert_memory_equal(first, shared, ASKED);
    assert_true(trace_told(ask, NULL, 7, 2, &bytes));
    assert_memory_not_equal(first, shared, ASKED);
    assert_true(trace_told(ask, NULL, 8, 1, &bytes));
    assert_memory_not_equal(first, shared, ASKED);
    check_no_child();
}

static void
do_nothing(void *context)
{
    (void)context;
}

static void
end_badly(void *context)
{
    (void)context;
    _exit(3);
}

static void
crash(void *context)
{
    (void)context;
    (void)kill(getpid(), SIGKILL);
}

/* Asks for what it cannot be given. */
static void
ask_badly(void *context)
{
    (void)context;
    (void)syscall(SYS_getrandom, NULL, ASKED, 0);
}

static void
test_children_that_ask_nothing_or_fail(void **state)
{
    uint64_t bytes = 9;
    (void)state;
    if (!traced) {
        skip();
    }
    assert_true(trace_told(do_nothing, NULL, 7, 1, &bytes));
    assert_int_equal(bytes, 0);
    assert_true(trace_told(ask_badly, NULL, 7, 1, &bytes));
    assert_int_equal(bytes, 0);
    assert_false(trace_told(end_badly, NULL, 7, 1, &bytes));
    assert_false(trace_told(crash, NULL, 7, 1, &bytes));
    check_no_child();
}

/* ---- Steps --------------------------------------------------------------- */

static volatile uint32_t sink;

static void
loop(void *context)
{
    uint32_t n = *(const uint32_t *)context;
    trace_mark();
    for (uint32_t i = 0; i < n; i++) {
        sink++;
    }
    trace_mark();
}

static uint64_t
steps_of(uint32_t n, uint64_t most)
{
    return trace_steps(loop, &n, most);
}

static void
test_steps_are_counted(void **state)
{
    uint64_t none, some;
    (void)state;
    if (!traced) {
        skip();
    }
    none = steps_of(0, 100000);
    some = steps_of(100, 100000);
    assert_true(none > 0);
    assert_true(some > none + 100);
    assert_int_equal(steps_of(100, 100000), some);
    /* As many for each round, but for the compiler's unrolling. */
    assert_true(steps_of(1000, 100000) - some >= 9 * (some - none) / 2);
    assert_int_equal(steps_of(100, some / 2), 0); /* too many */
    check_no_child();
}

static void
mark_once(void *context)
{
    (void)context;
    trace_mark();
}

static void
test_steps_without_marks(void **state)
{
    (void)state;
    if (!traced) {
        skip();
    }
    assert_int_equal(trace_steps(do_nothing, NULL, 100000), 0);
    assert_int_equal(trace_steps(mark_once, NULL, 100000), 0);
    assert_int_equal(trace_steps(crash, NULL, 100000), 0);
    check_no_child();
}

/* Somebody changes the size of the window, again and again. */
static pid_t
start_nuisance(void)
{
    pid_t nuisance = fork();
    if (nuisance == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        for (;;) {
            (void)kill(0, SIGWINCH);
            (void)usleep(200);
        }
    }
    return nuisance;
}

static void
test_signals_are_no_steps(void **state)
{
    uint64_t quiet = traced ? steps_of(2000, 1000000) : 0;
    pid_t nuisance;
    int status;
    (void)state;
    if (!traced) {
        skip();
    }
    assert_int_equal(setpgid(0, 0), 0); /* the test's own group */
    nuisance = start_nuisance();
    assert_true(nuisance > 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(steps_of(2000, 1000000), quiet);
    }
    (void)kill(nuisance, SIGKILL);
    assert_true(trace_wait(nuisance, &status));
    check_no_child();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_stream_tells_the_same),
        cmocka_unit_test(test_children_that_ask_nothing_or_fail),
        cmocka_unit_test(test_steps_are_counted),
        cmocka_unit_test(test_steps_without_marks),
        cmocka_unit_test(test_signals_are_no_steps),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
