/*
 * test_entropy_os.c: the Linux entropy source: forks, threads, large requests,
 * and a system that gives short counts, interrupts, or nothing (invariant 3).
 *
 * getrandom and madvise are defined here and take the place of the C
 * library's.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sotto/client.h"

#define SAMPLE 32u
#define FORKS 300
#define THREADS 16

enum mode { MODE_WHOLE, MODE_SHORT, MODE_INTERRUPTED, MODE_BROKEN };

static enum mode mode;
static int calls;
static int no_wipe_on_fork;
static int fork_within; /* fork once, in the middle of the next refill */
static pid_t forked = -1;

ssize_t
getrandom(void *buffer, size_t size, unsigned flags)
{
    calls++;
    if (mode == MODE_BROKEN) {
        errno = ENOSYS;
        return -1;
    }
    if (mode == MODE_INTERRUPTED && calls % 2 == 1) {
        errno = EINTR;
        return -1;
    }
    if (mode == MODE_SHORT && size > 7) {
        size = 7;
    }
    if (fork_within) { /* as a signal handler might */
        ssize_t got = syscall(SYS_getrandom, buffer, size, flags);
        fork_within = 0;
        forked = fork();
        return got;
    }
    return syscall(SYS_getrandom, buffer, size, flags);
}

int
madvise(void *address, size_t size, int advice)
{
    if (no_wipe_on_fork && advice == MADV_WIPEONFORK) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, address, size, advice);
}

/* 64 bytes that are all zero have probability 2^-512. */
static void
check_filled(const uint8_t *bytes, size_t size)
{
    static const uint8_t zeros[64];
    for (size_t i = 0; i + sizeof zeros <= size; i += sizeof zeros) {
        assert_memory_not_equal(bytes + i, zeros, sizeof zeros);
    }
}

static void
draw(uint8_t sample[SAMPLE])
{
    memset(sample, 0, SAMPLE);
    assert_int_equal(sotto_entropy(sample, SAMPLE), 0);
}

/* The pool holds unused bytes at every fork: they must not come twice. */
static void
check_fork(void)
{
    uint8_t ours[SAMPLE], theirs[SAMPLE];
    int ends[2], status;
    pid_t child;
    draw(ours);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int failed = sotto_entropy(theirs, SAMPLE) != 0 ||
                     write(ends[1], theirs, SAMPLE) != SAMPLE;
        _exit(failed);
    }
    draw(ours);
    assert_int_equal(read(ends[0], theirs, SAMPLE), SAMPLE);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_memory_not_equal(ours, theirs, SAMPLE);
    close(ends[0]);
    close(ends[1]);
}

static void
test_a_fork_never_repeats_its_parent(void **state)
{
    (void)state;
    mode = MODE_WHOLE;
    for (int i = 0; i < FORKS; i++) {
        check_fork();
    }
}

/* The child's pool is emptied between being filled and being drawn from. */
static void
test_a_fork_within_a_draw_is_noticed(void **state)
{
    static const uint8_t zeros[SAMPLE];
    uint8_t ours[SAMPLE], theirs[SAMPLE];
    int ends[2], status;
    (void)state;
    mode = MODE_WHOLE;
    assert_int_equal(pipe(ends), 0);
    fork_within = 1;
    while (forked < 0) {
        draw(ours);
    }
    if (forked == 0) {
        _exit(write(ends[1], ours, SAMPLE) != SAMPLE);
    }
    assert_int_equal(read(ends[0], theirs, SAMPLE), SAMPLE);
    assert_int_equal(waitpid(forked, &status, 0), forked);
    assert_int_equal(status, 0);
    assert_memory_not_equal(theirs, zeros, SAMPLE);
    assert_memory_not_equal(theirs, ours, SAMPLE);
    close(ends[0]);
    close(ends[1]);
}

static void *
draw_in_thread(void *sample)
{
    (void)sotto_entropy(sample, SAMPLE);
    return NULL;
}

static void
test_threads_draw_different_bytes(void **state)
{
    uint8_t sample[THREADS][SAMPLE];
    pthread_t thread[THREADS];
    (void)state;
    memset(sample, 0, sizeof sample);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(
            pthread_create(&thread[i], NULL, draw_in_thread, sample[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        for (int j = 0; j < i; j++) {
            assert_memory_not_equal(sample[i], sample[j], SAMPLE);
        }
    }
}

static void
test_requests_of_every_size_are_filled(void **state)
{
    static uint8_t bytes[300001];
    static const size_t size[] = {0,    1,    64,    4095,   4096,
                                  4097, 8192, 16384, 100000, 300000};
    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        memset(bytes, 0, sizeof bytes);
        assert_int_equal(sotto_entropy(bytes, size[i]), 0);
        check_filled(bytes, size[i]);
        assert_int_equal(bytes[size[i]], 0); /* and nothing beyond */
    }
}

/* Small requests in a row, over many refills of the pool. */
static void
test_bytes_do_not_come_twice(void **state)
{
    static uint8_t sample[4000][SAMPLE];
    (void)state;
    calls = 0;
    for (size_t i = 0; i < 4000; i++) {
        draw(sample[i]);
        assert_true(i == 0 || memcmp(sample[i], sample[i - 1], SAMPLE) != 0);
    }
    for (size_t i = 0; i < 4000; i += 37) {
        for (size_t j = 0; j < 4000; j++) {
            assert_true(i == j || memcmp(sample[i], sample[j], SAMPLE) != 0);
        }
    }
    assert_in_range(calls, 4, 16); /* buffered */
}

static void
test_short_counts_and_interrupts_are_gone_on_from(void **state)
{
    static uint8_t bytes[20000];
    (void)state;
    for (mode = MODE_SHORT; mode <= MODE_INTERRUPTED; mode++) {
        memset(bytes, 0, sizeof bytes);
        assert_int_equal(sotto_entropy(bytes, sizeof bytes), 0);
        check_filled(bytes, sizeof bytes);
        for (int i = 0; i < 10; i++) { /* past what is buffered */
            memset(bytes, 0, 4000);
            assert_int_equal(sotto_entropy(bytes, 4000), 0);
            check_filled(bytes, 4000);
        }
    }
    mode = MODE_WHOLE;
}

static void
test_without_entropy_every_request_fails_in_the_end(void **state)
{
    uint8_t bytes[8192];
    int refused = 0;
    (void)state;
    mode = MODE_BROKEN;
    assert_int_not_equal(sotto_entropy(bytes, sizeof bytes), 0);
    for (int i = 0; i < 10; i++) { /* the buffered bytes may still be had */
        refused += sotto_entropy(bytes, 4000) != 0;
    }
    assert_in_range(refused, 6, 10);
    mode = MODE_WHOLE;
    assert_int_equal(sotto_entropy(bytes, sizeof bytes), 0);
}

/* A new thread has no pool yet; without MADV_WIPEONFORK it gets none. */
static void *
draw_unbuffered(void *unused)
{
    uint8_t sample[SAMPLE];
    (void)unused;
    calls = 0;
    for (int i = 0; i < 10; i++) {
        (void)sotto_entropy(sample, SAMPLE);
    }
    return NULL;
}

static void
test_nothing_is_buffered_where_a_fork_would_copy_it(void **state)
{
    pthread_t thread;
    (void)state;
    no_wipe_on_fork = 1;
    assert_int_equal(pthread_create(&thread, NULL, draw_unbuffered, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(calls, 10);
    no_wipe_on_fork = 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fork_never_repeats_its_parent),
        cmocka_unit_test(test_a_fork_within_a_draw_is_noticed),
        cmocka_unit_test(test_threads_draw_different_bytes),
        cmocka_unit_test(test_requests_of_every_size_are_filled),
        cmocka_unit_test(test_bytes_do_not_come_twice),
        cmocka_unit_test(test_short_counts_and_interrupts_are_gone_on_from),
        cmocka_unit_test(test_without_entropy_every_request_fails_in_the_end),
        cmocka_unit_test(test_nothing_is_buffered_where_a_fork_would_copy_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
