/*
 * late.h: a record's report, or, once a public time is over, that of a record
 * with everything missing; one person after the other, by a public schedule.
 *
 *     turn of person i, from s[i] on
 *       b[i]     the report of person i - 1 is queued, people who were asked
 *                before give theirs again, and the ledger says whether this
 *                one may be asked
 *       m[i]     the report of a record with everything missing
 *                of the first person: the caller sleeps until e[0]
 *       e[i] --- late_make: a child starts on the record's report
 *                the caller sleeps, `encoder` seconds: the child's report if it
 *                has ended by then, else the other one; the child is ended
 *                the caller sleeps until `stop` seconds later
 *       c[i] --- the charge, f[i]
 *       late_rest: the caller sleeps until the next turn, s[i + 1]
 *     behind the last rest, at s[n], the last report is queued
 *
 * An encoder that takes long for some records would speak through time
 * (invariant 7). Which of the two reports is taken shows neither by time nor by
 * size, and costs nothing: either went through the same channel. The child is a
 * process, so that it can be ended anywhere and leaves nothing behind; and
 * nothing else runs beside it.
 *
 * Why the time of sending does not depend on a record. With the schedule's
 * first, turn, encoder and stop, which are public (sotto/collecting.h), a tick
 * of LATE_TICK_S, and up(t) the first of first, first + tick, ... not before t:
 *
 *     e[0]     = up(when all records were read + b[0] + m[0])
 *     e[i]     = s[i] + b[i] + m[i], i > 0
 *     c[i]     = e[i] + encoder + stop
 *     s[i + 1] = max(up(c[i] + f[i]), first + (i + 1) turn)
 *
 * b and f are what the files of ledger and queue and the disk take: of records
 * they have at most reports, as long for every record, and noise. m is what
 * the encoder takes for a record that is always the same. When the child ended
 * is in none of these: it is looked at once, at e[i] + encoder, and what
 * follows has a time of its own, `stop`. So by induction every e[i], c[i] and
 * s[i], when the last report is queued, and so whether the deadline has passed
 * and by how many steps of the grid (sender.c), are functions of public facts
 * and of the disk. A slow disk moves all of it, by whole ticks once the plan is
 * behind, and equally for every record. Where the disk is fast, s[i] = first +
 * i turn.
 *
 * What is left: reading the file before e[0], which takes longer for longer
 * records, and moves e[0] only if it takes longer than is set aside for it; a
 * system that needs more than `stop` to end a process; and what one process
 * leaves for the next in caches and in the processor's frequency.
 */
#ifndef SOTTO_VERB_LATE_H
#define SOTTO_VERB_LATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "sotto/sotto.h"

#define LATE_TICK_S 0.01

struct late {
    struct sotto_schedule schedule; /* encoder 0: as long as it takes */
    size_t turns;                   /* that are over */
    size_t count;                   /* of records that took longer */

    pid_t child;            /* 0: none */
    double until;           /* it may take */
    struct late_made *made; /* by the child */
    size_t size;            /* of its report */
};

/*
 * Writes the record's report over `report`, of `size` bytes, if it is made in
 * time, and leaves that as it is if not; takes the schedule's `encoder` and
 * `stop` in either case. Statuses: MEMORY (the system has no process or memory
 * for it), STOPPED (watch_asked, at any time: nobody is to be charged).
 */
SOTTO_CHECKED enum sotto_status late_make(struct late *late,
                                          struct sotto_client *client,
                                          const struct sotto_value *values,
                                          size_t count, uint8_t *report,
                                          size_t size);
/* Ends a turn, behind the charge: waits until the next one begins, or somebody
   asks to stop. */
void late_rest(struct late *late);

#endif
