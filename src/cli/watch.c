/*
 * watch.c: long work of the library on a terminal.
 */
#include "cli/watch.h"

#include <string.h>

static volatile sig_atomic_t asked; /* to stop */

static void
ask(int signal)
{
    (void)signal;
    asked = 1;
}

void
watch_start(struct watch *watch)
{
    struct sigaction action;
    memset(watch, 0, sizeof *watch);
    memset(&action, 0, sizeof action);
    action.sa_handler = ask;
    action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
    asked = 0;
    (void)sigaction(SIGINT, &action, &watch->interrupt);
    (void)sigaction(SIGTERM, &action, &watch->terminate);
}

/* Another `what` begins another bar. What a checkpoint brought counts neither
   for the rate nor for the time left. */
static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct watch *watch = context;
    if (watch->what == NULL || strcmp(watch->what, what) != 0) {
        progress_end(&watch->bar);
        watch->what = what;
        watch->first = done;
        progress_start(&watch->bar, what, total > done ? total - done : 0);
    }
    progress_step(&watch->bar, done - watch->first);
    return asked == 0;
}

struct sotto_watch
watch_port(struct watch *watch)
{
    return (struct sotto_watch){tick, watch};
}

void
watch_end(struct watch *watch)
{
    progress_end(&watch->bar);
    (void)sigaction(SIGINT, &watch->interrupt, NULL);
    (void)sigaction(SIGTERM, &watch->terminate, NULL);
}
