/*
 * test_progress.c: what the progress bar says, and when it says nothing. The
 * program's files are in no library, so the one under test is included.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

/* A clock that stands still between what the tests set, however busy the
   machine is. */
static struct timespec the_time = {.tv_sec = 1000};

static int
clock_still(clockid_t clock, struct timespec *ret_time)
{
    (void)clock;
    *ret_time = the_time;
    return 0;
}

#define clock_gettime clock_still
#include "cli/progress.c"
#undef clock_gettime

#define SILENCE_MS 50     /* how long nothing must come */
#define PATIENCE_MS 30000 /* how long something may take */

static void
assert_line(uint64_t total, uint64_t done, double seconds, const char *expected)
{
    struct progress p = {.what = "privatising", .total = total};
    char line[PROGRESS_LINE_SIZE];
    progress_format(&p, done, seconds, line);
    assert_string_equal(line, expected);
}

static void
test_format(void **state)
{
    (void)state;
    assert_line(60000, 27000, 3.0,
                "privatising  45%  27000/60000  9000/s  4 s left");
    assert_line(100, 100, 4.0, "privatising 100%  100/100  25/s  0 s left");
    assert_line(100, 0, 4.0, "privatising   0%  0/100  0.00/s  ? left");
    assert_line(100, 1, 0.0, "privatising   1%  1/100  0.00/s  ? left");
    assert_line(100, 3, 6.0, "privatising   3%  3/100  0.50/s  3:14 left");
    assert_line(10000, 1, 1.0,
                "privatising   0%  1/10000  1.00/s  2:46:39 left");
    assert_line(UINT64_MAX, 1, 100.0,
                "privatising   0%  1/18446744073709551615  0.01/s  "
                "99:59:59 left");
    assert_line(10, 20, 1.0, "privatising 100%  10/10  20/s  0 s left");
    assert_line(0, 20, 1.0, "privatising  20  20/s");
}

/* The longest line there can be is cut, not overrun. */
static void
test_format_long(void **state)
{
    char what[500];
    char line[PROGRESS_LINE_SIZE];
    struct progress p = {.what = what, .total = UINT64_MAX};
    (void)state;
    memset(what, 'x', sizeof what - 1);
    what[sizeof what - 1] = '\0';
    progress_format(&p, UINT64_MAX, 1e-300, line);
    assert_true(strlen(line) < PROGRESS_LINE_SIZE);
}

/*
 * Reads what is there, as text, for at most `wait_ms` after the last of it: a
 * terminal hands its bytes over piece by piece. Stops at `last`, if not NULL,
 * once it is the end. How many bytes there were.
 */
static size_t
read_text(int reader, const char *last, int wait_ms, char *got, size_t size)
{
    struct pollfd ready = {.fd = reader, .events = POLLIN};
    size_t fill = 0;
    while (fill + 1 < size && poll(&ready, 1, wait_ms) == 1) {
        ssize_t part = read(reader, got + fill, size - 1 - fill);
        if (part <= 0) {
            break;
        }
        fill += (size_t)part;
        got[fill] = '\0';
        size_t tail = last != NULL ? strlen(last) : 0;
        if (last != NULL && fill >= tail &&
            strcmp(got + fill - tail, last) == 0) {
            break;
        }
    }
    got[fill] = '\0';
    return fill;
}

/* Runs a bar whose work has lasted three seconds. */
static void
draw(int terminal)
{
    struct progress p;
    int old = dup(STDERR_FILENO);
    (void)dup2(terminal, STDERR_FILENO);
    progress_start(&p, "work", 10);
    progress_step(&p, 1); /* too early */
    the_time.tv_sec += 3;
    progress_step(&p, 5);
    progress_step(&p, 6); /* too soon after */
    progress_end(&p);
    progress_end(&p);
    (void)dup2(old, STDERR_FILENO);
    (void)close(old);
}

static void
test_terminal(void **state)
{
    static const char wiped[] = " \r"; /* how the bar ends */
    char got[1000] = "";
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    (void)state;
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) {
        skip();
    }
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (terminal < 0) {
        skip();
    }
    progress_silence(true);
    draw(terminal);
    assert_int_equal(read_text(master, NULL, SILENCE_MS, got, sizeof got), 0);
    progress_silence(false);
    draw(terminal);
    (void)read_text(master, wiped, PATIENCE_MS, got, sizeof got);
    assert_memory_equal(got, "\rwork  50%  5/10  1.67/s  3 s left\r   ", 37);
    assert_null(strstr(got, "6/10"));
    assert_int_equal(got[strlen(got) - 1], '\r');
    assert_int_equal(read_text(master, NULL, SILENCE_MS, got, sizeof got), 0);
    (void)close(terminal);
    (void)close(master);
}

static void
test_pipe(void **state)
{
    char got[16];
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    draw(ends[1]);
    assert_int_equal(read_text(ends[0], NULL, 0, got, sizeof got), 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_long),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
