/*
 * crew.h: the rows of a table through a mechanism, on all threads: a device for
 * each.
 *
 *     struct crew crew;
 *     crew_init(&crew, mechanism, table, pool, err);
 *     crew_run(&crew, 0, sotto_table_rows(table), task, context);
 *     crew_clear(&crew);
 *
 * What a task finds of a row does not depend on which device it has, nor on how
 * many there are.
 */
#ifndef SOTTO_MECHANISM_CREW_H
#define SOTTO_MECHANISM_CREW_H

#include "mechanism/rows.h"

struct host_pool;

struct crew {
    struct host_pool *pool;
    struct rows *rows; /* of each thread; the first has the caller's device */
    size_t devices;
};

/* Of thread `worker`, so that what it writes to is its own. */
typedef void crew_task(void *context, struct rows *rows, size_t row,
                       unsigned worker);

/* `pool` NULL: one thread. The mechanism, table and pool must outlive it, and
   the mechanism is in use until crew_clear. Statuses: INPUT, MEMORY; after any
   of them there is nothing to clear. */
SOTTO_CHECKED enum sotto_status crew_init(struct crew *crew,
                                          struct sotto_mechanism *mechanism,
                                          const struct sotto_table *table,
                                          struct host_pool *pool,
                                          struct sotto_error *err);
void crew_clear(struct crew *crew);
/* Calls task with every number from `first` to before `end`, in any order, and
   returns when all have returned. It need not be a row. */
void crew_run(struct crew *crew, size_t first, size_t end, crew_task *task,
              void *context);
/* Runs it with every number below n, and tells `watch`, if not NULL, how far it
   is, as `what` it does: "encoding". Statuses: STOPPED. */
SOTTO_CHECKED enum sotto_status
crew_run_watched(struct crew *crew, size_t n, const struct sotto_watch *watch,
                 const char *what, crew_task *task, void *context,
                 struct sotto_error *err);

#endif
