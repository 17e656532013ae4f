/*
 * late.h: a record's report, or, once a public time is over, that of a record
 * with everything missing.
 *
 *     start ---> child: the record's report, into memory that both see
 *       |
 *     the caller makes the missing record's report, whatever happens
 *       |
 *     take  <--- ended in time: the child's report; else the caller's
 *
 * An encoder that takes long for some records would speak through time
 * (invariant 7). Here both reports are always made and the wait has an end that
 * was fixed before; which of them is taken shows neither by time nor by size,
 * and costs nothing: either went through the same channel. The child is a
 * process, so that it can be ended anywhere and leaves nothing behind. How long
 * one record takes never changes the time that another gets: else one person's
 * report would tell of another's record.
 */
#ifndef SOTTO_VERB_LATE_H
#define SOTTO_VERB_LATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "sotto/sotto.h"

struct late {
    double seconds; /* that each record may take; 0: as long as it takes */
    size_t count;   /* of records that took longer */

    pid_t child; /* 0: none */
    int end;     /* a pipe that is closed when the child has ended */
    double until;
    size_t size;
    struct late_made *made; /* by the child */
};

/* Starts on the record's report of `size` bytes. Returns whether it did; else
   the system has no process or memory for it. */
bool late_start(struct late *late, struct sotto_client *client,
                const struct sotto_value *values, size_t count, size_t size);
/* Waits, and writes the record's report over `report` if it came in time. */
void late_take(struct late *late, uint8_t *report);
/* Ends the child, if there is one, and wipes what it made. */
void late_end(struct late *late);

#endif
