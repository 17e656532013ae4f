/*
 * progress.h: a progress bar on the terminal, for work that takes long enough
 * to wonder about.
 *
 *     struct progress bar;
 *     progress_start(&bar, "privatising", rows);
 *     for (...) { ...; progress_step(&bar, row + 1); }
 *     progress_end(&bar);
 *
 * It is drawn on standard error, only if that is a terminal, only once the
 * work has lasted two seconds, at most ten times a second, and it clears its
 * line at the end, so that nothing of it reaches a file or a pipe. For one
 * thread at a time.
 */
#ifndef SOTTO_CLI_PROGRESS_H
#define SOTTO_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROGRESS_LINE_SIZE 160u

struct progress {
    const char *what; /* what is being done, the caller's string */
    uint64_t total;   /* steps in all; 0: not known */
    double started;   /* seconds on the monotonic clock */
    double due;       /* when it may be drawn next */
    int drawn;        /* columns on the terminal now, 0: none */
    bool shown;       /* whether it is ever to be drawn */
};

/*
 * Turns all bars off, or on again: for --json and --quiet. Said once, by the
 * code that reads the options, before the first progress_start.
 */
void progress_silence(bool silent);

/* Begins; `what` must outlive the bar; `total` is 0 if not known. */
void progress_start(struct progress *p, const char *what, uint64_t total);
/* `done` steps of the total are done. Cheap enough to call for each. */
void progress_step(struct progress *p, uint64_t done);
/* Clears the line. Also right if nothing was drawn, and twice. */
void progress_end(struct progress *p);

/*
 * The bar's text after `seconds` of work, as progress_step draws it:
 * "privatising  45%  27000/60000  9000/s  4 s left".
 */
void progress_format(const struct progress *p, uint64_t done, double seconds,
                     char line[PROGRESS_LINE_SIZE]);

#endif
