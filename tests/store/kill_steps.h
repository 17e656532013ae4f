/*
 * kill_steps.h: a process that is killed before the n-th system call with which
 * it would change a file: SQLite's and ours, for both call what stands here.
 *
 * What the system has taken stays, as after any kill; test_ledger_power.c is
 * about what a disk forgets.
 */
#ifndef SOTTO_TESTS_KILL_STEPS_H
#define SOTTO_TESTS_KILL_STEPS_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_STEPS_MOST 400u

static long kill_steps_left; /* 0: nobody is killed */

static void
kill_steps_take(void)
{
    if (kill_steps_left > 0 && --kill_steps_left == 0) {
        (void)kill(getpid(), SIGKILL);
    }
}

ssize_t
pwrite64(int fd, const void *data, size_t size, off_t at)
{
    kill_steps_take();
    return syscall(SYS_pwrite64, fd, data, size, at);
}

ssize_t
pwrite(int fd, const void *data, size_t size, off_t at)
{
    return pwrite64(fd, data, size, at);
}

ssize_t
write(int fd, const void *data, size_t size)
{
    kill_steps_take();
    return syscall(SYS_write, fd, data, size);
}

/* The page cache is not lost by a kill: there is nothing to flush. */
int
fsync(int fd)
{
    (void)fd;
    kill_steps_take();
    return 0;
}

int
fdatasync(int fd)
{
    return fsync(fd);
}

int
ftruncate64(int fd, off_t size)
{
    kill_steps_take();
    return (int)syscall(SYS_ftruncate, fd, size);
}

int
ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

int
unlink(const char *path)
{
    kill_steps_take();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int
rename(const char *from, const char *to)
{
    kill_steps_take();
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int
link(const char *from, const char *to)
{
    kill_steps_take();
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/*
 * Runs `work` in a process that is killed before step `n`. Returns whether it
 * was; else it came to its end, and `work` returned true.
 */
static inline bool
kill_steps_run(bool (*work)(void *context), void *context, long n)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        kill_steps_left = n;
        bool done = work(context);
        kill_steps_left = 0;
        _exit(done ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return false;
}

#endif
