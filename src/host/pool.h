/*
 * pool.h: the one thread pool of the program.
 *
 * Work is cut into tasks whose number and shape never depend on the number of
 * threads; threads take tasks as they become free. A task writes only what no
 * other writes, so results are the same however many threads there are.
 */
#ifndef SOTTO_HOST_POOL_H
#define SOTTO_HOST_POOL_H

#include <stddef.h>

#include "sotto/sotto.h"

struct host_pool;

#define HOST_POOL_THREADS_MAX 64u

/* `threads` of them, the caller's included; 0: one for each core this process
   may use. Statuses: MEMORY, LIMIT (more than HOST_POOL_THREADS_MAX), IO (the
   system gave no thread). */
SOTTO_CHECKED enum sotto_status host_pool_new(unsigned threads,
                                              struct host_pool **ret_pool,
                                              struct sotto_error *err);
void host_pool_free(struct host_pool *pool);
unsigned host_pool_threads(const struct host_pool *pool);

/*
 * Calls task(context, index, worker) for every index below `tasks`, in any
 * order, `worker` below host_pool_threads; returns when all have returned. The
 * caller works too. A single task, or a pool of one, costs a call. Not to be
 * called from a task. A NULL pool is a pool of one.
 */
void host_pool_run(struct host_pool *pool, size_t tasks,
                   void (*task)(void *context, size_t index, unsigned worker),
                   void *context);

#endif
