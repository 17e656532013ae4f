/*
 * late.c: a record's report, or, once a public time is over, that of a record
 * with everything missing.
 */
#include "verb/late.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/watch.h"
#include "host/clock.h"

#define NS_PER_S 1e9
#define LOOK_S 0.1 /* between two looks whether to stop */

struct late_made {
    volatile sig_atomic_t whole; /* set last */
    uint8_t report[];
};

/* ---- The schedule -------------------------------------------------------- */

/* When the next turn begins, if it is `now`: as planned, or where that has
   passed at the next tick. */
static double
find_turn(const struct late *late, double now)
{
    double plan =
        late->schedule.first + (double)late->turns * late->schedule.turn;
    double ticks = ceil((now - late->schedule.first) / LATE_TICK_S);
    return fmax(plan, late->schedule.first + ticks * LATE_TICK_S);
}

/* Returns whether the moment has come: else somebody asks to stop, which is no
   record's doing. */
static bool
sleep_until(double moment)
{
    double left = moment - host_seconds();
    while (left > 0 && !watch_asked()) {
        const struct timespec time = {0, (long)(NS_PER_S * fmin(left, LOOK_S))};
        (void)nanosleep(&time, NULL);
        left = moment - host_seconds();
    }
    return left <= 0;
}

void
late_rest(struct late *late)
{
    late->turns++;
    (void)sleep_until(find_turn(late, host_seconds()));
}

/* ---- The child ----------------------------------------------------------- */

/* The child's life: it draws noise of its own (entropy_os.c) and touches no
   file. */
static _Noreturn void
make_report(struct late *late, pid_t parent, struct sotto_client *client,
            const struct sotto_value *values, size_t count)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && getppid() == parent) {
        late->made->whole =
            sotto_client_privatise(client, values, count, late->made->report,
                                   late->size) == SOTTO_STATUS_OK;
    }
    _exit(0);
}

/* Ends the child, if it runs, and wipes what it made. */
static void
end_child(struct late *late)
{
    if (late->child > 0) {
        (void)kill(late->child, SIGKILL);
        while (waitpid(late->child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (late->made != NULL) {
        size_t size = sizeof *late->made + late->size;
        explicit_bzero(late->made, size);
        (void)munmap(late->made, size);
    }
    late->child = 0;
    late->made = NULL;
}

static bool
start_child(struct late *late, struct sotto_client *client,
            const struct sotto_value *values, size_t count, size_t size)
{
    pid_t parent = getpid();
    late->size = size;
    late->until = host_seconds() + late->schedule.encoder;
    late->made = mmap(NULL, sizeof *late->made + size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (late->made == MAP_FAILED) {
        late->made = NULL;
        return false;
    }
    /* Where a parent ignored it, children vanish and ids are used again. */
    (void)signal(SIGCHLD, SIG_DFL);
    late->child = fork();
    if (late->child == 0) {
        make_report(late, parent, client, values, count);
    }
    if (late->child < 0) {
        end_child(late);
        return false;
    }
    return true;
}

/* Takes what the child has made by the end of its time, if it has ended.
   Returns whether that time has come. */
static bool
take_report(struct late *late, uint8_t *report)
{
    if (!sleep_until(late->until)) {
        return false;
    }
    if (waitpid(late->child, NULL, WNOHANG) == late->child) {
        late->child = 0;
    }
    if (late->child == 0 && late->made->whole) {
        memcpy(report, late->made->report, late->size);
    } else {
        late->count++;
    }
    return true;
}

enum sotto_status
late_make(struct late *late, struct sotto_client *client,
          const struct sotto_value *values, size_t count, uint8_t *report,
          size_t size)
{
    if (late->turns == 0 && !sleep_until(find_turn(late, host_seconds()))) {
        return SOTTO_STATUS_STOPPED;
    }
    if (!start_child(late, client, values, count, size)) {
        return SOTTO_STATUS_MEMORY;
    }
    bool taken = take_report(late, report);
    end_child(late);
    return taken && sleep_until(late->until + late->schedule.stop)
               ? SOTTO_STATUS_OK
               : SOTTO_STATUS_STOPPED;
}
