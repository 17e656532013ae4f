/*
 * crew.c: the rows of a table through a mechanism, on all threads.
 */
#include "mechanism/crew.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "mechanism/mechanism.h"

#define TASK_ROWS ((size_t)16)    /* convolutions take a millisecond a row */
#define ROUND_ROWS ((size_t)2048) /* between two looks at the watch */

static enum sotto_status
add_device(struct crew *crew, struct sotto_mechanism *mechanism,
           const struct sotto_table *table, struct sotto_error *err)
{
    struct sotto_mechanism *own = mechanism;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (crew->devices > 0) {
        status = mechanism_copy(mechanism, &own, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = rows_init(&crew->rows[crew->devices], own, table, err);
        if (status == SOTTO_STATUS_OK) {
            crew->devices++;
        } else if (own != mechanism) {
            sotto_mechanism_free(own);
        }
    }
    return status;
}

enum sotto_status
crew_init(struct crew *crew, struct sotto_mechanism *mechanism,
          const struct sotto_table *table, struct host_pool *pool,
          struct sotto_error *err)
{
    size_t threads = pool != NULL ? host_pool_threads(pool) : 1;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (sotto_table_rows(table) <= TASK_ROWS) {
        threads = 1; /* a single task is the caller's */
    }
    *crew = (struct crew){.pool = threads > 1 ? pool : NULL,
                          .rows = calloc(threads, sizeof *crew->rows)};
    if (crew->rows == NULL) {
        return host_fail_memory(err);
    }
    while (status == SOTTO_STATUS_OK && crew->devices < threads) {
        status = add_device(crew, mechanism, table, err);
    }
    if (status != SOTTO_STATUS_OK) {
        crew_clear(crew);
    }
    return status;
}

void
crew_clear(struct crew *crew)
{
    for (size_t i = 0; i < crew->devices; i++) {
        struct sotto_mechanism *mechanism = crew->rows[i].mechanism;
        rows_clear(&crew->rows[i]);
        if (i > 0) {
            sotto_mechanism_free(mechanism);
        }
    }
    free(crew->rows);
    memset(crew, 0, sizeof *crew);
}

struct run {
    const struct crew *crew;
    size_t first, end;
    crew_task *task;
    void *context;
};

static void
run_task(void *context, size_t index, unsigned worker)
{
    const struct run *run = context;
    size_t from = run->first + index * TASK_ROWS;
    size_t left = run->end - from;
    for (size_t i = 0; i < left && i < TASK_ROWS; i++) {
        run->task(run->context, &run->crew->rows[worker], from + i, worker);
    }
}

void
crew_run(struct crew *crew, size_t first, size_t end, crew_task *task,
         void *context)
{
    struct run run = {.crew = crew,
                      .first = first,
                      .end = end,
                      .task = task,
                      .context = context};
    host_pool_run(crew->pool, (end - first + TASK_ROWS - 1) / TASK_ROWS,
                  run_task, &run);
}

enum sotto_status
crew_run_watched(struct crew *crew, size_t n, const struct sotto_watch *watch,
                 const char *what, crew_task *task, void *context,
                 struct sotto_error *err)
{
    for (size_t first = 0; first < n; first += ROUND_ROWS) {
        if (watch != NULL && watch->tick != NULL &&
            !watch->tick(watch->context, what, first, n)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0, "stopped while %s",
                             what);
        }
        crew_run(crew, first, n - first < ROUND_ROWS ? n : first + ROUND_ROWS,
                 task, context);
    }
    return SOTTO_STATUS_OK;
}
