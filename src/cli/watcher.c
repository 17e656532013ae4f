/*
 * watcher.c: long work on a terminal: a bar, and Ctrl-C.
 */
#include "cli/watcher.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t asked;

static void
ask(int number)
{
    (void)number;
    asked = 1;
}

/* The bar's delay is for the whole work, not for each step of it. */
static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct watcher *watcher = context;
    if (strncmp(watcher->what, what, sizeof watcher->what - 1) != 0) {
        double due = watcher->bar.due;
        bool first = watcher->what[0] == '\0';
        progress_end(&watcher->bar);
        (void)snprintf(watcher->what, sizeof watcher->what, "%s", what);
        progress_start(&watcher->bar, watcher->what, total);
        watcher->bar.due = first ? watcher->bar.due : due;
    }
    watcher->bar.total = total;
    progress_step(&watcher->bar, done);
    return asked == 0;
}

struct sotto_watch
watcher_start(struct watcher *watcher)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    memset(watcher, 0, sizeof *watcher);
    asked = 0;
    action.sa_handler = ask;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    return (struct sotto_watch){tick, watcher};
}

void
watcher_hide(struct watcher *watcher)
{
    progress_end(&watcher->bar);
}

void
watcher_end(struct watcher *watcher)
{
    progress_end(&watcher->bar);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
}
