/*
 * writer.h: the one thread that owns the store.
 *
 *     requests --writer_submit--> queue --all of it--> begin, put..., commit
 *                                                           |
 *              <---------------- done(job) ----------------+
 *
 * While one group is being flushed the next one queues up, so that the more
 * comes the more share a flush. Moving a window on shares them, too, in slices;
 * if that fails, the group is written without it. When the disk takes nothing,
 * the jobs of the group are told so and the next group tries again. Jobs of a
 * campaign that was forgotten meanwhile are told that, and the group is written
 * without them.
 */
#ifndef SOTTO_COLLECTOR_WRITER_H
#define SOTTO_COLLECTOR_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/campaigns.h"
#include "collector/judge.h"
#include "collector/mover.h"
#include "sotto/sotto.h"

struct writer;

/* What is asked of the store: the caller's until `done` is called, which the
   writer's thread does. */
struct writer_job {
    struct writer_job *next;
    struct judge *judge;
    uint32_t campaign;
    bool stored; /* on disk; else nothing of it counts */
    bool closed; /* and none of it ever will: the campaign was forgotten */
    void (*done)(struct writer_job *job);
};

struct writer_options {
    const char *store;
    const char *window_keys; /* as store_open_with_keys has it */
    bool simulation;
    size_t waiting_most;
    double sick_s; /* that a failure makes it unhealthy, if it may pass */
    double stop_s; /* for the last window to be moved on when it stops */
    struct mover_options mover;
};

/* Opens the store and starts. Statuses: store_open's, MEMORY, IO. */
SOTTO_CHECKED enum sotto_status writer_new(const struct writer_options *options,
                                           struct writer **ret_writer,
                                           struct sotto_error *err);
/* Finishes what was submitted, ends the window, moves all on, in stop_s seconds
   or not wholly, and closes the store. NULL is fine. */
void writer_free(struct writer *writer);

/* Gives every campaign the store's number and counts from now on; waits until
   that is done. The snapshot is held until another takes its place. Statuses:
   store_campaign's. */
SOTTO_CHECKED enum sotto_status writer_campaigns(struct writer *writer,
                                                 struct campaigns *campaigns,
                                                 struct sotto_error *err);

/* A place in the queue for `count` reports; false: more than waiting_most would
   wait, or it is closing. What was reserved must be submitted. */
bool writer_reserve(struct writer *writer, size_t count);
void writer_submit(struct writer *writer, struct writer_job *job);
/* No place is given any more; returns when all jobs are done. */
void writer_drain(struct writer *writer);

#endif
