/*
 * sqlite_runs.h: what sqlite_runs.c and sqlite_jobs.c share: runs as the table
 * `run` names them, and their files.
 */
#ifndef SOTTO_STORE_SQLITE_SQLITE_RUNS_H
#define SOTTO_STORE_SQLITE_SQLITE_RUNS_H

#include "store/sqlite/sqlite_store.h"

#define RUNS_REST_S                                                            \
    60.0 /* until what failed beside the writer is tried again */

/* ---- sqlite_runs.c ------------------------------------------------------- */

/* Opens the file of a run with that number and so many tags. Statuses: FORMAT,
   IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
sqlite_runs_open(const struct sqlite_store *store, struct sqlite_run *run,
                 struct sotto_error *err);
/* Closes it: there is none any more. */
void sqlite_runs_shut(struct sqlite_run *run);
/* Puts a file on a list of those that go. */
void sqlite_runs_doom(struct sqlite_doomed *doomed, int64_t number);
/* Begins to read filters that are not in memory, if that is not begun. */
void sqlite_filters_begin(struct sqlite_store *store);

/* ---- sqlite_jobs.c ------------------------------------------------------- */

/* Ends what is merged into a level, wherever it is, and removes what it wrote;
   nothing happens if there is nothing. */
void sqlite_runs_drop(struct sqlite_store *store, unsigned level);

#endif
