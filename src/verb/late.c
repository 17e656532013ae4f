/*
 * late.c: a record's report, or, once a public time is over, that of a record
 * with everything missing.
 */
#include "verb/late.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/clock.h"

struct late_made {
    volatile sig_atomic_t whole; /* set last */
    uint8_t report[];
};

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

bool
late_start(struct late *late, struct sotto_client *client,
           const struct sotto_value *values, size_t count, size_t size)
{
    int ends[2] = {-1, -1};
    pid_t parent = getpid();
    late->size = size;
    late->until = host_seconds() + late->seconds;
    late->made = mmap(NULL, sizeof *late->made + size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (late->made == MAP_FAILED) {
        late->made = NULL;
        return false;
    }
    /* Where a parent ignored it, children vanish and ids are used again. */
    (void)signal(SIGCHLD, SIG_DFL);
    late->child = pipe(ends) == 0 ? fork() : -1;
    if (late->child == 0) {
        make_report(late, parent, client, values, count);
    }
    if (ends[1] >= 0) {
        (void)close(ends[1]);
    }
    late->end = ends[0];
    if (late->child < 0) {
        late_end(late);
        return false;
    }
    return true;
}

/* Whether the child ends before its time is over. */
static bool
is_in_time(const struct late *late)
{
    struct pollfd end = {.fd = late->end, .events = POLLIN};
    for (;;) {
        double left = 1000 * (late->until - host_seconds());
        int got = left > 0 ? poll(&end, 1, (int)left + 1) : 0;
        if (got > 0 || left <= 0) {
            return got > 0;
        }
        if (got < 0 && errno != EINTR) {
            return false;
        }
    }
}

void
late_take(struct late *late, uint8_t *report)
{
    if (is_in_time(late) && late->made->whole) {
        memcpy(report, late->made->report, late->size);
    } else {
        late->count++;
    }
}

void
late_end(struct late *late)
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
        if (late->end >= 0) {
            (void)close(late->end);
        }
    }
    late->child = 0;
    late->made = NULL;
}
