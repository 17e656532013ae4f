/*
 * test_pool.c: every task runs once, whatever the numbers of tasks, threads and
 * cores; and results do not depend on them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "fail_alloc.h"
#include "host/pool.h"

#define TASKS 1000u

static struct sotto_error err;

struct record {
    atomic_uint ran[TASKS];
    atomic_uint workers[HOST_POOL_THREADS_MAX];
    unsigned threads;
};

static void
note(void *context, size_t index, unsigned worker)
{
    struct record *record = context;
    if (index >= TASKS || worker >= record->threads) {
        abort();
    }
    atomic_fetch_add(&record->ran[index], 1);
    atomic_fetch_add(&record->workers[worker], 1);
}

static struct host_pool *
pool_of(unsigned threads)
{
    struct host_pool *pool = NULL;
    assert_int_equal(host_pool_new(threads, &pool, &err), SOTTO_STATUS_OK);
    assert_non_null(pool);
    return pool;
}

static void
check_run(struct host_pool *pool, size_t tasks)
{
    static struct record record;
    memset(&record, 0, sizeof record);
    record.threads = host_pool_threads(pool);
    host_pool_run(pool, tasks, note, &record);
    for (size_t i = 0; i < TASKS; i++) {
        assert_int_equal(atomic_load(&record.ran[i]), i < tasks ? 1 : 0);
    }
}

static void
test_once(void **state)
{
    const unsigned threads[] = {1, 2, 3, 8, HOST_POOL_THREADS_MAX};
    const size_t tasks[] = {0, 1, 2, 3, 7, 64, TASKS};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct host_pool *pool = pool_of(threads[i]);
        assert_int_equal(host_pool_threads(pool), threads[i]);
        for (size_t j = 0; j < 7; j++) {
            check_run(pool, tasks[j]);
        }
        host_pool_free(pool);
    }
}

static void
test_no_pool(void **state)
{
    (void)state;
    check_run(NULL, 100);
    assert_int_equal(host_pool_threads(NULL), 1);
    host_pool_free(NULL);
}

static void
test_all_cores(void **state)
{
    cpu_set_t set;
    struct host_pool *pool = pool_of(0);
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(host_pool_threads(pool),
                     CPU_COUNT(&set) < (int)HOST_POOL_THREADS_MAX
                         ? CPU_COUNT(&set)
                         : (int)HOST_POOL_THREADS_MAX);
    check_run(pool, TASKS);
    host_pool_free(pool);
}

/* ---- Many short runs, of changing tasks --------------------------------- */

struct sum {
    uint64_t part[16];
    uint64_t add;
};

static void
add_one(void *context, size_t index, unsigned worker)
{
    struct sum *sum = context;
    (void)worker;
    sum->part[index] += sum->add + index;
}

static void
add_two(void *context, size_t index, unsigned worker)
{
    struct sum *sum = context;
    (void)worker;
    sum->part[index] += 2 * sum->add;
}

/* A task that ran twice, or with the context of another run, shows. */
static void
check_many(unsigned threads, uint64_t runs)
{
    struct host_pool *pool = pool_of(threads);
    struct sum sums[2] = {0};
    uint64_t expected[2][16] = {0};
    for (uint64_t r = 0; r < runs; r++) {
        struct sum *sum = &sums[r % 2];
        size_t tasks = 1 + r % 16;
        sum->add = r;
        host_pool_run(pool, tasks, r % 3 == 0 ? add_two : add_one, sum);
        for (size_t i = 0; i < tasks; i++) {
            expected[r % 2][i] += r % 3 == 0 ? 2 * r : r + i;
        }
    }
    assert_memory_equal(sums[0].part, expected[0], sizeof expected[0]);
    assert_memory_equal(sums[1].part, expected[1], sizeof expected[1]);
    host_pool_free(pool);
}

static void
test_many(void **state)
{
    (void)state;
    check_many(2, 50000);
    check_many(3, 5000); /* more than the cores of a small machine */
    check_many(16, 1000);
}

/* Between runs the workers fall asleep, and wake up again. */
static void
test_sleep(void **state)
{
    struct host_pool *pool = pool_of(4);
    const struct timespec pause = {0, 2000000};
    (void)state;
    for (int i = 0; i < 30; i++) {
        (void)nanosleep(&pause, NULL);
        check_run(pool, 50);
    }
    host_pool_free(pool);
}

struct meeting {
    atomic_uint arrived;
    unsigned expected;
};

static void
meet(void *context, size_t index, unsigned worker)
{
    struct meeting *meeting = context;
    (void)index;
    (void)worker;
    atomic_fetch_add(&meeting->arrived, 1);
    while (atomic_load(&meeting->arrived) < meeting->expected) {
        (void)sched_yield();
    }
}

/* Tasks that wait for one another end only if each has a thread. */
static void
test_together(void **state)
{
    (void)state;
    for (unsigned threads = 2; threads <= 5; threads++) {
        struct host_pool *pool = pool_of(threads);
        for (int i = 0; i < 20; i++) {
            struct meeting meeting = {0, threads};
            host_pool_run(pool, threads, meet, &meeting);
            assert_int_equal(atomic_load(&meeting.arrived), threads);
        }
        host_pool_free(pool);
    }
}

/* On one core, with all threads bound to it, work still goes on. */
static void
test_one_core(void **state)
{
    cpu_set_t all;
    cpu_set_t one;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &all)) {
            CPU_SET(i, &one);
        }
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    struct host_pool *pool = pool_of(0);
    assert_int_equal(host_pool_threads(pool), 1);
    host_pool_free(pool);
    check_many(4, 2000);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

/* ---- Failures ----------------------------------------------------------- */

static void
test_refused(void **state)
{
    struct host_pool *pool = NULL;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(host_pool_new(HOST_POOL_THREADS_MAX + 1, &pool, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(err.status, SOTTO_STATUS_LIMIT);
    assert_string_equal(err.message, "65 threads are too many: at most 64");
    fail_alloc_at(1);
    assert_int_equal(host_pool_new(2, &pool, &err), SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_null(pool);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),      cmocka_unit_test(test_no_pool),
        cmocka_unit_test(test_all_cores), cmocka_unit_test(test_many),
        cmocka_unit_test(test_sleep),     cmocka_unit_test(test_one_core),
        cmocka_unit_test(test_together),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
