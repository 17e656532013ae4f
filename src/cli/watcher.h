/*
 * watcher.h: long work on a terminal: a bar that says how far it is, and
 * Ctrl-C that asks it to stop and keep what it can.
 *
 *     struct watcher watcher;
 *     options.watch = watcher_start(&watcher);
 *     ... the work ...
 *     watcher_end(&watcher);
 */
#ifndef SOTTO_CLI_WATCHER_H
#define SOTTO_CLI_WATCHER_H

#include "cli/progress.h"
#include "sotto/sotto.h"

struct watcher {
    struct progress bar;
    char what[PROGRESS_LINE_SIZE]; /* is being done; "": nothing yet */
};

/* From now on SIGINT and SIGTERM ask the work to stop; a second one ends the
   program. `watcher` must outlive the work. */
struct sotto_watch watcher_start(struct watcher *watcher);
/* Clears the bar; signals are the system's again. */
void watcher_end(struct watcher *watcher);
/* Clears the bar for a moment, so that something else can be printed. */
void watcher_hide(struct watcher *watcher);

#endif
