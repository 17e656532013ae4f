/*
 * progress.c: a progress bar on the terminal.
 *
 * The line is cleared by writing blanks over it, not by escape sequences, so
 * it works on any terminal; it is cut to the terminal's width, because a line
 * that wraps cannot be cleared that way.
 */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define FIRST_DELAY 2.0 /* seconds of work before the first drawing */
#define INTERVAL 0.1    /* seconds between drawings */
#define WHAT_MAX 40     /* bytes of `what` that are shown */
#define LEFT_MAX 359999 /* longest time left worth showing: 99:59:59 */

static bool silenced;

static double
read_clock(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0) {
        return 0.0;
    }
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Columns that can be written without wrapping. */
static int
count_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) {
        return 79;
    }
    return size.ws_col - 1;
}

/* "4 s", "2:05" or "1:02:05". */
static void
format_left(double seconds, char *text, size_t size)
{
    long left = seconds < LEFT_MAX ? (long)(seconds + 0.5) : LEFT_MAX;
    if (left < 60) {
        (void)snprintf(text, size, "%ld s", left);
    } else if (left < 3600) {
        (void)snprintf(text, size, "%ld:%02ld", left / 60, left % 60);
    } else {
        (void)snprintf(text, size, "%ld:%02ld:%02ld", left / 3600,
                       left / 60 % 60, left % 60);
    }
}

void
progress_format(const struct progress *p, uint64_t done, double seconds,
                char line[PROGRESS_LINE_SIZE])
{
    char left[32] = "?";
    double rate = seconds > 0.0 ? (double)done / seconds : 0.0;
    int digits = rate < 10.0 ? 2 : 0;
    if (p->total == 0) {
        (void)snprintf(line, PROGRESS_LINE_SIZE, "%.*s  %ju  %.*f/s", WHAT_MAX,
                       p->what, (uintmax_t)done, digits, rate);
        return;
    }
    if (done > p->total) {
        done = p->total;
    }
    if (rate > 0.0) {
        format_left((double)(p->total - done) / rate, left, sizeof left);
    }
    int percent = (int)(100.0 * (double)done / (double)p->total);
    (void)snprintf(line, PROGRESS_LINE_SIZE,
                   "%.*s %3d%%  %ju/%ju  %.*f/s  %s left", WHAT_MAX, p->what,
                   percent, (uintmax_t)done, (uintmax_t)p->total, digits, rate,
                   left);
}

void
progress_silence(bool silent)
{
    silenced = silent;
}

void
progress_start(struct progress *p, const char *what, uint64_t total)
{
    p->what = what;
    p->total = total;
    p->started = read_clock();
    p->due = p->started + FIRST_DELAY;
    p->drawn = 0;
    p->shown = !silenced && isatty(STDERR_FILENO) == 1;
}

void
progress_step(struct progress *p, uint64_t done)
{
    char line[PROGRESS_LINE_SIZE];
    if (!p->shown) {
        return;
    }
    double time = read_clock();
    if (time < p->due) {
        return;
    }
    p->due = time + INTERVAL;
    progress_format(p, done, time - p->started, line);
    int width = (int)strlen(line);
    int most = count_columns();
    if (width > most) {
        width = most;
    }
    int blanks = p->drawn > width ? p->drawn - width : 0;
    (void)fprintf(stderr, "\r%.*s%*s", width, line, blanks, "");
    (void)fflush(stderr);
    p->drawn = width;
}

void
progress_end(struct progress *p)
{
    if (p->drawn > 0) {
        (void)fprintf(stderr, "\r%*s\r", p->drawn, "");
        (void)fflush(stderr);
        p->drawn = 0;
    }
}
