/*
 * pool.c: the one thread pool of the program.
 *
 * `remaining` is the number of tasks that nobody has taken. Whoever lowers it
 * from r to r - 1 owns task tasks - r, and only then reads what the run is
 * about: a run cannot end, and so cannot be replaced by the next, before its
 * owner has lowered `pending`. A late thread that saw an older run's number
 * takes a task of the new run, or none; it can take nothing twice.
 *
 *     run      job, pending = remaining = tasks, wake sleepers
 *     worker   spin for work -> sleep -> take, call, --pending -> spin ...
 *     caller   take, call, --pending ... until nothing remains; then wait for
 *              pending = 0, spinning at first
 *
 * Either side says that it sleeps before it looks a last time, and the other
 * changes the number before it looks for sleepers, all in one total order: one
 * of them sees the other. With more threads than cores nobody spins.
 */
#include "host/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define SPINS 2000u /* some tens of microseconds */
#define CACHE_LINES 128

struct worker {
    struct host_pool *pool;
    pthread_t thread;
    unsigned number;
};

struct host_pool {
    atomic_size_t remaining;
    char apart[CACHE_LINES]; /* each of the two alone in its cache line */
    atomic_size_t pending;
    char far_apart[CACHE_LINES];
    atomic_uint sleepers; /* workers */
    atomic_bool waiting;  /* the caller, for pending = 0 */
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t work, end;
    size_t tasks;
    void (*task)(void *context, size_t index, unsigned worker);
    void *context;
    unsigned threads, started, spins;
    struct worker worker[HOST_POOL_THREADS_MAX];
};

static inline void
pause_a_moment(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- Tasks -------------------------------------------------------------- */

/* Takes one task and calls it; false if there was none. */
static bool
take_pool(struct host_pool *pool, unsigned number)
{
    size_t r = atomic_load(&pool->remaining);
    do {
        if (r == 0) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&pool->remaining, &r, r - 1));
    pool->task(pool->context, pool->tasks - r, number);
    if (atomic_fetch_sub(&pool->pending, 1) == 1 &&
        atomic_load(&pool->waiting)) {
        (void)pthread_mutex_lock(&pool->lock);
        (void)pthread_cond_signal(&pool->end);
        (void)pthread_mutex_unlock(&pool->lock);
    }
    return true;
}

static void
sleep_until_work(struct host_pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->remaining) == 0 && !atomic_load(&pool->stop)) {
        (void)pthread_cond_wait(&pool->work, &pool->lock);
    }
    atomic_fetch_sub(&pool->sleepers, 1);
    (void)pthread_mutex_unlock(&pool->lock);
}

static void *
work_on_tasks(void *context)
{
    const struct worker *self = context;
    struct host_pool *pool = self->pool;
    while (!atomic_load(&pool->stop)) {
        unsigned spins = 0;
        while (take_pool(pool, self->number)) {
        }
        while (spins < pool->spins &&
               atomic_load_explicit(&pool->remaining, memory_order_relaxed) ==
                   0) {
            pause_a_moment();
            spins++;
        }
        if (spins == pool->spins) {
            sleep_until_work(pool);
        }
    }
    return NULL;
}

static void
wait_for_the_others(struct host_pool *pool)
{
    for (unsigned spins = 0; spins < pool->spins; spins++) {
        if (atomic_load(&pool->pending) == 0) {
            return;
        }
        pause_a_moment();
    }
    (void)pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, true);
    while (atomic_load(&pool->pending) != 0) {
        (void)pthread_cond_wait(&pool->end, &pool->lock);
    }
    atomic_store(&pool->waiting, false);
    (void)pthread_mutex_unlock(&pool->lock);
}

void
host_pool_run(struct host_pool *pool, size_t tasks,
              void (*task)(void *context, size_t index, unsigned worker),
              void *context)
{
    if (pool == NULL || pool->threads == 1 || tasks <= 1) {
        for (size_t i = 0; i < tasks; i++) {
            task(context, i, 0);
        }
        return;
    }
    pool->task = task;
    pool->context = context;
    pool->tasks = tasks;
    atomic_store(&pool->pending, tasks);
    atomic_store(&pool->remaining, tasks);
    if (atomic_load(&pool->sleepers) > 0) {
        (void)pthread_mutex_lock(&pool->lock);
        (void)pthread_cond_broadcast(&pool->work);
        (void)pthread_mutex_unlock(&pool->lock);
    }
    while (take_pool(pool, 0)) {
    }
    wait_for_the_others(pool);
}

/* ---- Birth and death ---------------------------------------------------- */

/* Cores this process may use. */
static unsigned
count_cores(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return 1;
    }
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}

/* The worker threads; the caller is number 0. */
static enum sotto_status
start_workers(struct host_pool *pool, struct sotto_error *err)
{
    for (unsigned i = 1; i < pool->threads; i++) {
        struct worker *worker = &pool->worker[i];
        worker->pool = pool;
        worker->number = i;
        int error =
            pthread_create(&worker->thread, NULL, work_on_tasks, worker);
        if (error != 0) {
            return host_fail(err, SOTTO_STATUS_IO, 0,
                             "cannot start thread %u of %u: %s; ask for fewer",
                             i + 1, pool->threads, strerror(error));
        }
        pool->started = i;
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
host_pool_new(unsigned threads, struct host_pool **ret_pool,
              struct sotto_error *err)
{
    unsigned most = count_cores();
    if (threads == 0) {
        threads = most < HOST_POOL_THREADS_MAX ? most : HOST_POOL_THREADS_MAX;
    }
    if (threads > HOST_POOL_THREADS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "%u threads are too many: at most %u", threads,
                         HOST_POOL_THREADS_MAX);
    }
    struct host_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return host_fail_memory(err);
    }
    pool->threads = threads;
    pool->spins = threads <= most ? SPINS : 0;
    (void)pthread_mutex_init(&pool->lock, NULL);
    (void)pthread_cond_init(&pool->work, NULL);
    (void)pthread_cond_init(&pool->end, NULL);
    enum sotto_status status = start_workers(pool, err);
    if (status != SOTTO_STATUS_OK) {
        host_pool_free(pool);
        return status;
    }
    *ret_pool = pool;
    return SOTTO_STATUS_OK;
}

void
host_pool_free(struct host_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stop, true);
    (void)pthread_cond_broadcast(&pool->work);
    (void)pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i <= pool->started; i++) {
        (void)pthread_join(pool->worker[i].thread, NULL);
    }
    (void)pthread_cond_destroy(&pool->end);
    (void)pthread_cond_destroy(&pool->work);
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

unsigned
host_pool_threads(const struct host_pool *pool)
{
    return pool == NULL ? 1 : pool->threads;
}
