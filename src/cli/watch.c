/*
 * watch.c: long work of the library on a terminal.
 */
#include "cli/watch.h"

#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t asked; /* to stop */

static void
ask_stop(int signal)
{
    (void)signal;
    asked = 1;
}

static void
take_over(int signal, const struct sigaction *action, struct sigaction *ret_old)
{
    (void)sigaction(signal, NULL, ret_old);
    if (ret_old->sa_handler != SIG_IGN) {
        (void)sigaction(signal, action, NULL);
    }
}

void
watch_start(struct watch *watch)
{
    struct sigaction action;
    memset(watch, 0, sizeof *watch);
    memset(&action, 0, sizeof action);
    action.sa_handler = ask_stop;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    asked = 0;
    take_over(SIGINT, &action, &watch->interrupt);
    take_over(SIGTERM, &action, &watch->terminate);
}

/* Another `what`, kept here because the library may reuse its text, begins
   another bar. What a checkpoint brought counts neither
   for the rate nor for the time left. */
static bool
tick_watch(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct watch *watch = context;
    if (watch->what[0] == '\0' ||
        strncmp(watch->what, what, WATCH_WHAT_SIZE - 1) != 0) {
        progress_end(&watch->bar);
        (void)snprintf(watch->what, sizeof watch->what, "%s", what);
        watch->first = done;
        progress_start(&watch->bar, watch->what,
                       total > done ? total - done : 0);
    }
    progress_step(&watch->bar, done - watch->first);
    return asked == 0;
}

bool
watch_asked(void)
{
    return asked != 0;
}

struct sotto_watch
watch_port(struct watch *watch)
{
    return (struct sotto_watch){tick_watch, watch};
}

void
watch_end(struct watch *watch)
{
    progress_end(&watch->bar);
    (void)sigaction(SIGINT, &watch->interrupt, NULL);
    (void)sigaction(SIGTERM, &watch->terminate, NULL);
}
