/*
 * test_file.c: reading whole files, and writing files that are either
 * complete or not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "host/file.h"

#define BUFFER ((size_t)65536) /* the size of file.c's own buffer */

static char folder[64];
static struct sotto_error err;

/* ---- Helpers ------------------------------------------------------------ */

static int
setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/test_file.XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)umask(022);
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    return 0;
}

static int
teardown(void **state)
{
    char command[128];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* FOLDER/name; valid until the fourth call after it. */
static const char *
in_folder(const char *name)
{
    static char paths[4][512];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void
put(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void
assert_content(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *found = malloc(size + 2);
    assert_non_null(found);
    assert_int_equal(fread(found, 1, size + 2, file), size);
    assert_memory_equal(found, data, size);
    free(found);
    (void)fclose(file);
}

/* How many files the folder holds, temporary ones and all. */
static int
entries(void)
{
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    (void)closedir(dir);
    return count;
}

static void
assert_error(enum sotto_status got, enum sotto_status expected,
             const char *message)
{
    assert_int_equal(got, expected);
    assert_int_equal(err.status, expected);
    assert_int_equal(err.position, 0);
    assert_non_null(memchr(err.message, '\0', sizeof err.message));
    if (strstr(err.message, message) == NULL) {
        fail_msg("'%s' is not in '%s'", message, err.message);
    }
    memset(&err, 0xa5, sizeof err);
}

/* Reads and expects failure, with nothing handed out. */
static void
assert_unreadable(const char *path, size_t limit, enum sotto_status status,
                  const char *message)
{
    uint8_t mark = 0;
    uint8_t *data = &mark;
    size_t size = 12345;
    assert_error(host_file_read(path, limit, &data, &size, &err), status,
                 message);
    assert_ptr_equal(data, &mark);
    assert_int_equal(size, 12345);
    assert_int_equal(host_file_read(path, limit, &data, &size, NULL), status);
}

static void
assert_reads(const char *path, size_t limit, const void *expected,
             size_t expected_size)
{
    uint8_t *data = NULL;
    size_t size = 12345;
    assert_int_equal(host_file_read(path, limit, &data, &size, &err),
                     SOTTO_STATUS_OK);
    assert_non_null(data);
    assert_int_equal(size, expected_size);
    assert_memory_equal(data, expected, size);
    free(data);
}

static void
assert_unwritable(const char *path, bool exclusive, const char *message)
{
    assert_error(host_file_write(path, 0644, exclusive, "new", 3, &err),
                 SOTTO_STATUS_IO, message);
}

/* Bytes that repeat only after 251 of them. */
static uint8_t *
pattern(size_t size)
{
    uint8_t *data = malloc(size);
    assert_non_null(data);
    for (size_t i = 0; i < size; i++) {
        data[i] = (uint8_t)(i % 251);
    }
    return data;
}

/* Starts a process that writes to a pipe; the path of its reading end. */
static const char *
piped(const uint8_t *data, size_t size, int *ret_fd)
{
    static char path[32];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(ends[0]);
        while (size > 0) {
            ssize_t part = write(ends[1], data, size < 1000 ? size : 1000);
            if (part <= 0) {
                _exit(1);
            }
            data += part;
            size -= (size_t)part;
        }
        _exit(0);
    }
    (void)close(ends[1]);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    *ret_fd = ends[0];
    return path;
}

/* ---- Reading ------------------------------------------------------------ */

static void
test_read(void **state)
{
    (void)state;
    put(in_folder("a"), "hello", 5);
    put(in_folder("empty"), "", 0);
    assert_reads(in_folder("a"), 100, "hello", 5);
    assert_reads(in_folder("a"), SIZE_MAX, "hello", 5);
    assert_reads(in_folder("a"), 5, "hello", 5);
    assert_reads(in_folder("empty"), 100, "", 0);
    assert_reads(in_folder("empty"), 0, "", 0);
    assert_reads("/dev/null", 10, "", 0);
}

static void
test_read_failures(void **state)
{
    (void)state;
    put(in_folder("a"), "hello", 5);
    assert_unreadable(in_folder("none"), 9, SOTTO_STATUS_IO,
                      "/none': No such file or directory; check the name");
    assert_unreadable(folder, 9, SOTTO_STATUS_IO, "it is a folder");
    assert_unreadable(in_folder("a/b"), 9, SOTTO_STATUS_IO, "Not a directory");
    assert_unreadable("", 9, SOTTO_STATUS_IO, "cannot read ''");
    assert_unreadable(in_folder("a"), 4, SOTTO_STATUS_LIMIT,
                      "/a' is too large: at most 4 bytes");
    assert_unreadable("/dev/zero", 100000, SOTTO_STATUS_LIMIT, "too large");
    assert_unreadable("/dev/fd/99999", 9, SOTTO_STATUS_IO, "Bad file");
    assert_unreadable("/dev/fd/99999999999", 9, SOTTO_STATUS_IO, "No such");
    assert_unreadable("/dev/fd/", 9, SOTTO_STATUS_IO, "it is a folder");
    if (geteuid() != 0) {
        assert_int_equal(chmod(in_folder("a"), 0), 0);
        assert_unreadable(in_folder("a"), 9, SOTTO_STATUS_IO,
                          "Permission denied; check who may read it");
    }
}

/* However long the path, the reason is in the message. */
static void
test_read_long_path(void **state)
{
    char path[3000] = "/tmp";
    (void)state;
    for (size_t i = 4; i < sizeof path - 1; i++) {
        path[i] = i % 100 == 4 ? '/' : 'x';
    }
    assert_unreadable(path, 9, SOTTO_STATUS_IO,
                      "': No such file or directory; check the name");
}

/* A file that says it is empty but is not. */
static void
test_read_proc(void **state)
{
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    assert_int_equal(
        host_file_read("/proc/self/status", 1 << 20, &data, &size, &err),
        SOTTO_STATUS_OK);
    assert_true(size > 100);
    assert_memory_equal(data, "Name:", 5);
    free(data);
}

static void
test_read_pipe(void **state)
{
    static const size_t sizes[] = {
        0, 1, BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER + 7, 8 * BUFFER, 0};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes - 1; i++) {
        uint8_t *data = pattern(sizes[i] + 1);
        int fd;
        assert_reads(piped(data, sizes[i], &fd), sizes[i], data, sizes[i]);
        (void)close(fd);
        assert_reads(piped(data, sizes[i], &fd), SIZE_MAX, data, sizes[i]);
        (void)close(fd);
        const char *path = piped(data, sizes[i] + 1, &fd);
        uint8_t *none = NULL;
        size_t size;
        assert_error(host_file_read(path, sizes[i], &none, &size, &err),
                     SOTTO_STATUS_LIMIT, "too large");
        assert_null(none);
        (void)close(fd);
        free(data);
    }
    while (wait(NULL) > 0) {
    }
}

/* Standard input goes on where it is, as a shell's user expects. */
static void
test_read_stdin(void **state)
{
    (void)state;
    put(in_folder("a"), "first second", 12);
    int old = dup(0);
    int fd = open(in_folder("a"), O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(dup2(fd, 0), 0);
    assert_int_equal(lseek(0, 6, SEEK_SET), 6);
    assert_reads("/dev/stdin", 100, "second", 6);
    if (old >= 0) {
        assert_int_equal(dup2(old, 0), 0);
        (void)close(old);
    }
    (void)close(fd);
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
    assert_int_equal(info.st_mode & 07777, 0644);
    assert_int_equal(entries(), 1);
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
        struct host_output *output;
        assert_int_equal(
            host_output_new(in_folder("a"), 0644, false, &output, &err),
            SOTTO_STATUS_OK);
        assert_int_equal(host_output_write(output, "", 0, &err),
                         SOTTO_STATUS_OK);
        for (size_t at = 0; at < size; at += parts[i]) {
            size_t part = size - at < parts[i] ? size - at : parts[i];
            assert_int_equal(host_output_write(output, data + at, part, &err),
                             SOTTO_STATUS_OK);
        }
        assert_int_equal(host_output_commit(output, &err), SOTTO_STATUS_OK);
        assert_content(in_folder("a"), data, size);
    }
    assert_int_equal(entries(), 1);
    free(data);
}

/* Until commit the old file is there; after giving up, only that. */
static void
test_write_given_up(void **state)
{
    struct host_output *output;
    (void)state;
    put(in_folder("a"), "old", 3);
    assert_int_equal(
        host_output_new(in_folder("a"), 0644, false, &output, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(host_output_write(output, "new", 3, &err),
                     SOTTO_STATUS_OK);
    assert_content(in_folder("a"), "old", 3);
    host_output_free(output);
    host_output_free(NULL);
    assert_content(in_folder("a"), "old", 3);
    assert_int_equal(entries(), 1);
}

static void
test_write_exclusive(void **state)
{
    struct host_output *output;
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
    assert_int_equal(host_output_new(in_folder("b"), 0600, true, &output, &err),
                     SOTTO_STATUS_OK);
    put(in_folder("b"), "theirs", 6);
    assert_error(host_output_commit(output, &err), SOTTO_STATUS_IO,
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
                      "first or choose another place with -o");
    assert_unwritable(in_folder("a/x"), false, "Not a directory; make");
    assert_unwritable(folder, false, "it is a folder; name a file");
    assert_unwritable(in_folder("new/"), false, "make the folder first");
    assert_unwritable("", false, "cannot write ''");
    assert_unwritable("/proc/none", false, "cannot write '/proc/none'");
    if (geteuid() != 0) {
        assert_int_equal(chmod(folder, 0500), 0);
        assert_unwritable(in_folder("x"), false,
                          "Permission denied; choose another place with -o");
        assert_int_equal(chmod(folder, 0700), 0);
    }
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
        "or choose another place with -o";
    struct host_output *output;
    uint8_t *data = pattern(BUFFER);
    (void)state;
    assert_unwritable("/dev/full", false, message);
    assert_int_equal(host_output_new("/dev/full", 0644, false, &output, &err),
                     SOTTO_STATUS_OK);
    assert_error(host_output_write(output, data, BUFFER, &err), SOTTO_STATUS_IO,
                 message);
    assert_error(host_output_write(output, "x", 1, &err), SOTTO_STATUS_IO,
                 message);
    assert_error(host_output_commit(output, &err), SOTTO_STATUS_IO, message);
    free(data);
}

/* The same for a file whose disk fills up: the old one stays. */
static void
test_write_file_full(void **state)
{
    struct rlimit old, small;
    struct host_output *output;
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
    if (host_output_new(in_folder("a"), 0644, false, &output, NULL) ==
            SOTTO_STATUS_OK &&
        host_output_write(output, data, BUFFER - 1, NULL) == SOTTO_STATUS_OK) {
        later = host_output_commit(output, &err);
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

/* Left-over temporary files of another run do not stand in the way. */
static void
test_write_beside_leftovers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, ".sotto-%ld-%u.tmp", (long)getpid(),
                       i);
        put(in_folder(name), "x", 1);
    }
    assert_int_equal(
        host_file_write(in_folder("a"), 0644, false, "new", 3, &err),
        SOTTO_STATUS_OK);
    assert_content(in_folder("a"), "new", 3);
    assert_int_equal(entries(), 51);
}

/* ---- No memory ---------------------------------------------------------- */

static void
test_memory_read(void **state)
{
    int fd;
    uint8_t *all = pattern(3 * BUFFER);
    long n = 1;
    (void)state;
    for (;; n++) {
        uint8_t *data = NULL;
        size_t size = 0;
        const char *path = piped(all, 3 * BUFFER, &fd);
        fail_alloc_at(n);
        enum sotto_status status =
            host_file_read(path, SIZE_MAX, &data, &size, &err);
        long made = fail_alloc_count();
        fail_alloc_at(0);
        (void)close(fd);
        if (status == SOTTO_STATUS_OK) {
            assert_true(made < n);
            free(data);
            break;
        }
        assert_error(status, SOTTO_STATUS_MEMORY, "out of memory");
        assert_null(data);
    }
    assert_true(n > 2);
    free(all);
    while (wait(NULL) > 0) {
    }
}

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

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_read),
        TEST(test_read_failures),
        TEST(test_read_long_path),
        TEST(test_read_proc),
        TEST(test_read_pipe),
        TEST(test_read_stdin),
        TEST(test_write),
        TEST(test_write_parts),
        TEST(test_write_given_up),
        TEST(test_write_exclusive),
        TEST(test_write_links),
        TEST(test_write_failures),
        TEST(test_write_relative),
        TEST(test_write_full),
        TEST(test_write_file_full),
        TEST(test_write_descriptor),
        TEST(test_write_pipe),
        TEST(test_write_beside_leftovers),
        TEST(test_memory_read),
        TEST(test_memory_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
