/*
 * watch.h: long work of the library on a terminal: a progress bar, and Ctrl-C
 * that lets it keep what it has.
 *
 *     struct watch watch;
 *     watch_start(&watch);
 *     options.watch = watch_port(&watch);
 *     ... the work ...
 *     watch_end(&watch);
 */
#ifndef SOTTO_CLI_WATCH_H
#define SOTTO_CLI_WATCH_H

#include <signal.h>

#include "cli/progress.h"
#include "sotto/sotto.h"

#define WATCH_WHAT_SIZE 64u

/* Stays where it is between start and end. */
struct watch {
    struct progress bar;
    char what[WATCH_WHAT_SIZE]; /* what the bar is about, "": nothing yet */
    uint64_t first;             /* steps that were done before this run */
    struct sigaction interrupt, terminate; /* as they were */
};

/* From here on SIGINT and SIGTERM ask the work to stop; a second one ends the
   program at once. One that is ignored (nohup, a shell's background) stays so.
   One watch at a time. */
void watch_start(struct watch *watch);
struct sotto_watch watch_port(struct watch *watch);
/* Whether one of them asked since the last start. */
bool watch_asked(void);
/* Clears the bar's line; the signals do what they did before. */
void watch_end(struct watch *watch);

#endif
