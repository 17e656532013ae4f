/*
 * test_output.c: files that are either complete or not there, where the file
 * being written has no name and, with the system's refusals faked, where it
 * has one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "fail_alloc.h"
#include "file_fixture.h"

/* ---- A system that refuses ---------------------------------------------- */

static int unnamed_refused; /* errno of O_TMPFILE, 0: as the system has it */
static bool proc_refused;   /* /proc is not mounted */

int
open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0
                      ? (mode_t)va_arg(list, unsigned)
                      : 0;
    va_end(list);
    if (unnamed_refused != 0 && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = unnamed_refused;
        return -1;
    }
    return openat(AT_FDCWD, path, flags, mode);
}

int
access(const char *path, int mode)
{
    if (proc_refused && strncmp(path, "/proc/", 6) == 0) {
        errno = ENOENT;
        return -1;
    }
    return faccessat(AT_FDCWD, path, mode, 0);
}

static int
setup_plain(void **state)
{
    unnamed_refused = 0;
    proc_refused = false;
    return setup(state);
}

static int
setup_refused(void **state)
{
    unnamed_refused = EOPNOTSUPP;
    proc_refused = false;
    return setup(state);
}

static bool
has_unnamed(void)
{
    int fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd >= 0) {
        (void)close(fd);
    }
    return fd >= 0;
}

/* ---- Helpers ------------------------------------------------------------ */

static void
assert_unwritable(const char *path, bool exclusive, const char *message)
{
    assert_error(host_file_write(path, 0644, exclusive, "new", 3, &err),
                 SOTTO_STATUS_IO, message);
}

/* ---- Writing ------------------------------------------------------------ */

static void
test_write(void **state)
{
    struct stat info;
    (void)state;
    assert_int_equal(
        host_file_write(in_folder("a"), 0600, false, "hello", 5, &err),
        SOTTO_STATUS_OK);
    assert_content(in_folder("a"), "hello", 5);
    assert_int_equal(stat(in_folder("a"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(host_file_write(in_folder("a"), 0666, false, "", 0, &err),
                     SOTTO_STATUS_OK);
    assert_content(in_folder("a"), "", 0);
    assert_int_equal(stat(in_folder("a"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600); /* as it was */
    assert_int_equal(entries(), 1);
}

/* A new file has the bits asked for, less the umask's; one in place of another
   has the other's, whatever the umask; a private one stays private. */
static void
test_write_modes(void **state)
{
    static const struct {
        unsigned old, asked, got; /* old 0: there is none */
    } rows[] = {{0, 0666, 0644},    {0, 0600, 0600},    {0600, 0644, 0600},
                {0640, 0644, 0640}, {0666, 0644, 0666}, {0444, 0644, 0444},
                {0755, 0644, 0755}, {0644, 0600, 0600}, {04755, 0644, 0755}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stat info;
        const char *path = in_folder("a");
        if (rows[i].old != 0) {
            put(path, "old", 3);
            assert_int_equal(chmod(path, (mode_t)rows[i].old), 0);
        }
        assert_int_equal(
            host_file_write(path, rows[i].asked, false, "new", 3, &err),
            SOTTO_STATUS_OK);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 07777, rows[i].got);
        assert_content(path, "new", 3);
        assert_int_equal(unlink(path), 0);
    }
}

/* Any way of cutting the bytes into writes gives the same file. */
static void
test_write_parts(void **state)
{
    static const size_t parts[] = {1, 7, 4096, BUFFER - 1, BUFFER, BUFFER + 1};
    size_t size = 3 * BUFFER + 11;
    uint8_t *data = pattern(size);
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct sotto_output *output;
        assert_int_equal(
            sotto_output_new(in_folder("a"), 0644, false, &output, &err),
            SOTTO_STATUS_OK);
        assert_int_equal(sotto_output_write(output, "", 0, &err),
                         SOTTO_STATUS_OK);
        for (size_t at = 0; at < size; at += parts[i]) {
            size_t part = size - at < parts[i] ? size - at : parts[i];
            assert_int_equal(sotto_output_write(output, data + at, part, &err),
                             SOTTO_STATUS_OK);
        }
        assert_int_equal(sotto_output_commit(output, &err), SOTTO_STATUS_OK);
        assert_content(in_folder("a"), data, size);
    }
    assert_int_equal(entries(), 1);
    free(data);
}

/* Until commit the old file is there; after giving up, only that. */
static void
test_write_given_up(void **state)
{
    struct sotto_output *output;
    (void)state;
    put(in_folder("a"), "old", 3);
    assert_int_equal(
        sotto_output_new(in_folder("a"), 0644, false, &output, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_output_write(output, "new", 3, &err),
                     SOTTO_STATUS_OK);
    assert_content(in_folder("a"), "old", 3);
    sotto_output_free(output);
    sotto_output_free(NULL);
    assert_content(in_folder("a"), "old", 3);
    assert_int_equal(entries(), 1);
}

static void
test_write_exclusive(void **state)
{
    struct sotto_output *output;
    (void)state;
    assert_int_equal(
        host_file_write(in_folder("a"), 0600, true, "old", 3, &err),
        SOTTO_STATUS_OK);
    assert_unwritable(in_folder("a"), true, "/a': File exists; remove it");
    assert_int_equal(symlink("/nonexistent/x", in_folder("link")), 0);
    assert_unwritable(in_folder("link"), true, "File exists");
    assert_unwritable("/dev/stdout", true, "File exists");
    assert_content(in_folder("a"), "old", 3);
    /* One that appears while we write is refused too. */
    assert_int_equal(
        sotto_output_new(in_folder("b"), 0600, true, &output, &err),
        SOTTO_STATUS_OK);
    put(in_folder("b"), "theirs", 6);
    assert_error(sotto_output_commit(output, &err), SOTTO_STATUS_IO,
                 "/b': File exists; remove it first");
    assert_content(in_folder("b"), "theirs", 6);
    assert_int_equal(entries(), 3);
}

static void
test_write_links(void **state)
{
    struct stat info;
    (void)state;
    put(in_folder("a"), "old", 3);
    assert_int_equal(symlink("a", in_folder("link")), 0);
    assert_int_equal(
        host_file_write(in_folder("link"), 0644, false, "new", 3, &err),
        SOTTO_STATUS_OK);
    assert_content(in_folder("a"), "new", 3);
    assert_int_equal(lstat(in_folder("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(symlink("none", in_folder("dangling")), 0);
    assert_int_equal(
        host_file_write(in_folder("dangling"), 0644, false, "new", 3, &err),
        SOTTO_STATUS_OK);
    assert_content(in_folder("dangling"), "new", 3);
    assert_int_equal(symlink("loop", in_folder("loop")), 0);
    assert_unwritable(in_folder("loop"), false, "symbolic links");
    assert_int_equal(entries(), 4);
}

static void
test_write_failures(void **state)
{
    (void)state;
    put(in_folder("a"), "old", 3);
    assert_unwritable(in_folder("none/x"), false,
                      "/none/x': No such file or directory; make the folder "
                      "first or choose another place");
    assert_unwritable(in_folder("a/x"), false, "Not a directory; make");
    assert_unwritable(folder, false, "it is a folder; name a file");
    assert_unwritable(in_folder("new/"), false, "make the folder first");
    assert_unwritable("", false, "cannot write ''");
    assert_unwritable("/proc/none", false, "cannot write '/proc/none'");
    assert_int_equal(chmod(folder, 0555), 0);
    become_nobody();
    enum sotto_status status =
        host_file_write(in_folder("x"), 0644, false, "new", 3, &err);
    become_self();
    assert_error(status, SOTTO_STATUS_IO,
                 "Permission denied; choose another place");
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(entries(), 1);
}

/* The bytes fit the name's folder, not the relative path's. */
static void
test_write_relative(void **state)
{
    char *old = getcwd(NULL, 0);
    (void)state;
    assert_non_null(old);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(host_file_write("plain", 0644, false, "x", 1, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(host_file_write("plain", 0644, false, "y", 1, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(chdir(old), 0);
    assert_content(in_folder("plain"), "y", 1);
    assert_int_equal(entries(), 1);
    free(old);
}

/* A full device says so, whether the buffer hides it until commit or not. */
static void
test_write_full(void **state)
{
    static const char message[] =
        "cannot write '/dev/full': No space left on device; free some space "
        "or choose another place";
    struct sotto_output *output;
    uint8_t *data = pattern(BUFFER);
    (void)state;
    assert_unwritable("/dev/full", false, message);
    assert_int_equal(sotto_output_new("/dev/full", 0644, false, &output, &err),
                     SOTTO_STATUS_OK);
    assert_error(sotto_output_write(output, data, BUFFER, &err),
                 SOTTO_STATUS_IO, message);
    assert_error(sotto_output_write(output, "x", 1, &err), SOTTO_STATUS_IO,
                 message);
    assert_error(sotto_output_commit(output, &err), SOTTO_STATUS_IO, message);
    free(data);
}

/* The same for a file whose disk fills up: the old one stays. */
static void
test_write_file_full(void **state)
{
    struct rlimit old, small;
    struct sotto_output *output;
    uint8_t *data = pattern(BUFFER);
    (void)state;
    put(in_folder("a"), "old", 3);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1000;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum sotto_status now =
        host_file_write(in_folder("a"), 0644, false, data, BUFFER, &err);
    struct sotto_error now_err = err;
    memset(&err, 0xa5, sizeof err);
    enum sotto_status later = SOTTO_STATUS_OK;
    if (sotto_output_new(in_folder("a"), 0644, false, &output, NULL) ==
            SOTTO_STATUS_OK &&
        sotto_output_write(output, data, BUFFER - 1, NULL) == SOTTO_STATUS_OK) {
        later = sotto_output_commit(output, &err);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_error(later, SOTTO_STATUS_IO, "File too large; free some space");
    err = now_err;
    assert_error(now, SOTTO_STATUS_IO, "File too large; free some space");
    assert_content(in_folder("a"), "old", 3);
    assert_int_equal(entries(), 1);
    free(data);
}

/* A descriptor's path goes on where it is, and keeps what it has. */
static void
test_write_descriptor(void **state)
{
    char path[32];
    (void)state;
    int fd = open(in_folder("log"), O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "before ", 7), 7);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_int_equal(host_file_write(path, 0644, false, "after", 5, &err),
                     SOTTO_STATUS_OK);
    assert_content(in_folder("log"), "before after", 12);
    (void)close(fd);
    assert_int_equal(entries(), 1);
}

static void
test_write_pipe(void **state)
{
    char got[8];
    (void)state;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    int fd = open(in_folder("pipe"), O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(
        host_file_write(in_folder("pipe"), 0644, false, "hello", 5, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(read(fd, got, sizeof got), 5);
    assert_memory_equal(got, "hello", 5);
    (void)close(fd);
    (void)signal(SIGPIPE, SIG_IGN);
    int ends[2];
    char path[32];
    assert_int_equal(pipe(ends), 0);
    (void)close(ends[0]);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    assert_unwritable(path, false, "Broken pipe");
    (void)close(ends[1]);
    assert_int_equal(entries(), 1);
}

/*
 * Temporary files that another run left do not stand in the way. Comes first:
 * the n-th temporary name of this process is numbered n.
 */
static void
test_write_beside_leftovers(void **state)
{
    static unsigned first;
    (void)state;
    for (unsigned i = first; i < first + 50; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, ".sotto-%ld-%u.tmp", (long)getpid(),
                       i);
        put(in_folder(name), "x", 1);
    }
    first += 51;
    assert_int_equal(
        host_file_write(in_folder("a"), 0644, false, "new", 3, &err),
        SOTTO_STATUS_OK);
    assert_content(in_folder("a"), "new", 3);
    assert_int_equal(entries(), 51);
}

/* ---- Without a name ----------------------------------------------------- */

/* Starts a writer of FOLDER/name and kills it half-way. */
static void
kill_writer(const char *name, bool exclusive)
{
    int ends[2];
    char ready;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static uint8_t data[3 * BUFFER];
        struct sotto_output *output;
        if (sotto_output_new(in_folder(name), 0644, exclusive, &output, NULL) ==
                SOTTO_STATUS_OK &&
            sotto_output_write(output, data, sizeof data, NULL) ==
                SOTTO_STATUS_OK &&
            write(ends[1], "x", 1) == 1) {
            (void)pause();
        }
        _exit(1);
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &ready, 1), 1);
    (void)close(ends[0]);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void
test_killed(void **state)
{
    (void)state;
    if (!has_unnamed()) {
        skip();
    }
    put(in_folder("old"), "old", 3);
    kill_writer("old", false);
    kill_writer("new", false);
    kill_writer("mine", true);
    assert_int_equal(entries(), 1);
    assert_content(in_folder("old"), "old", 3);
}

/* Where there are no unnamed files a killed writer leaves one, and only one:
   the fallback is what runs in the tests that follow. */
static void
test_killed_refused(void **state)
{
    (void)state;
    kill_writer("new", false);
    assert_int_equal(entries(), 1);
}

/* Every way in which a system can lack unnamed files. */
static void
test_refusals(void **state)
{
    static const int errors[] = {EOPNOTSUPP, EISDIR, ENOENT, EINVAL, EACCES};
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors + 1; i++) {
        proc_refused = i == sizeof errors / sizeof *errors;
        unnamed_refused = proc_refused ? 0 : errors[i];
        struct sotto_output *output;
        assert_int_equal(
            sotto_output_new(in_folder("a"), 0644, false, &output, &err),
            SOTTO_STATUS_OK);
        assert_int_equal(entries(), i == 0 ? 1 : 2);
        assert_int_equal(sotto_output_write(output, &i, sizeof i, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(sotto_output_commit(output, &err), SOTTO_STATUS_OK);
        assert_content(in_folder("a"), &i, sizeof i);
        assert_int_equal(entries(), 1);
    }
}

/* The folder is gone at commit: no name can be given. */
static void
test_folder_gone(void **state)
{
    struct sotto_output *output;
    (void)state;
    if (!has_unnamed()) {
        skip();
    }
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
        assert_int_equal(sotto_output_new(in_folder("sub/a"), 0644,
                                          exclusive == 1, &output, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(rmdir(in_folder("sub")), 0);
        assert_error(sotto_output_commit(output, &err), SOTTO_STATUS_IO,
                     "/sub/a': No such file or directory; make the folder");
    }
}

/* ---- No memory ---------------------------------------------------------- */

static void
test_memory_write(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        const char *path = in_folder(old == 0 ? "new" : "old");
        long n = 1;
        if (old == 1) {
            put(path, "old", 3);
        }
        for (;; n++) {
            fail_alloc_at(n);
            enum sotto_status status =
                host_file_write(path, 0644, false, "new", 3, &err);
            fail_alloc_at(0);
            if (status == SOTTO_STATUS_OK) {
                break;
            }
            assert_error(status, SOTTO_STATUS_MEMORY, "out of memory");
            assert_int_equal(entries(), 2 * old);
        }
        assert_true(n > 2);
        assert_content(path, "new", 3);
    }
}

#define PLAIN(name) cmocka_unit_test_setup_teardown(name, setup_plain, teardown)
#define REFUSED(name)                                                          \
    cmocka_unit_test_setup_teardown(name, setup_refused, teardown)
#define BOTH(name) PLAIN(name), REFUSED(name)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_write),
        BOTH(test_write_modes),
        BOTH(test_write_parts),
        BOTH(test_write_given_up),
        BOTH(test_write_exclusive),
        BOTH(test_write_links),
        BOTH(test_write_failures),
        BOTH(test_write_relative),
        BOTH(test_write_full),
        BOTH(test_write_file_full),
        BOTH(test_write_descriptor),
        BOTH(test_write_pipe),
        BOTH(test_write_beside_leftovers),
        PLAIN(test_killed),
        REFUSED(test_killed_refused),
        PLAIN(test_refusals),
        PLAIN(test_folder_gone),
        BOTH(test_memory_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
