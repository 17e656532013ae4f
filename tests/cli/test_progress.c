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
#include <stdlib.h>

#include "cli/progress.c"

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

/* Runs a bar whose work has lasted three seconds; what reached stderr. */
static ssize_t
draw(int terminal, int reader, char *got, size_t size)
{
    struct progress p;
    int old = dup(STDERR_FILENO);
    (void)dup2(terminal, STDERR_FILENO);
    progress_start(&p, "work", 10);
    progress_step(&p, 1); /* too early */
    p.started -= 3.0;
    p.due -= 3.0;
    progress_step(&p, 5);
    progress_step(&p, 6); /* too soon after */
    progress_end(&p);
    progress_end(&p);
    (void)dup2(old, STDERR_FILENO);
    (void)close(old);
    (void)fcntl(reader, F_SETFL, O_NONBLOCK);
    return read(reader, got, size);
}

static void
test_terminal(void **state)
{
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
    assert_int_equal(draw(terminal, master, got, sizeof got - 1), -1);
    progress_silence(false);
    ssize_t size = draw(terminal, master, got, sizeof got - 1);
    assert_true(size > 0);
    got[size] = '\0';
    assert_memory_equal(got, "\rwork  50%  5/10  1.67/s  3 s left\r   ", 37);
    assert_null(strstr(got, "6/10"));
    assert_int_equal(got[size - 1], '\r');
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
    assert_int_equal(draw(ends[1], ends[0], got, sizeof got), -1);
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
