/*
 * test_file.c: reading whole files, making folders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/wait.h>

#include "fail_alloc.h"
#include "file_fixture.h"

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
}

static void
test_read_forbidden(void **state)
{
    uint8_t *data = NULL;
    size_t size;
    (void)state;
    put(in_folder("a"), "hello", 5);
    assert_int_equal(chmod(in_folder("a"), 0), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    become_nobody();
    enum sotto_status status =
        host_file_read(in_folder("a"), 9, &data, &size, &err);
    become_self();
    assert_error(status, SOTTO_STATUS_IO,
                 "Permission denied; check who may read it");
    assert_null(data);
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

/* What a path stands for. */
static void
test_descriptor(void **state)
{
    (void)state;
    assert_int_equal(host_file_descriptor("/dev/stdin"), 0);
    assert_int_equal(host_file_descriptor("/dev/stderr"), 2);
    assert_int_equal(host_file_descriptor("/dev/fd/12"), 12);
    assert_int_equal(host_file_descriptor("/proc/self/fd/1"), 1);
    assert_int_equal(host_file_descriptor("/dev/fd/"), -1);
    assert_int_equal(host_file_descriptor("/dev/fd/1x"), -1);
    assert_int_equal(host_file_descriptor("/dev/null"), -1);
    assert_int_equal(host_file_descriptor(""), -1);
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

/* A folder and those above it are made, by their names as they are. */
static void
test_folder(void **state)
{
    struct stat info;
    (void)state;
    for (int i = 0; i < 2; i++) { /* one that is there is fine */
        assert_int_equal(host_folder_make(in_folder("a//b/c/"), 0777, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(stat(in_folder("a/b/c"), &info), 0);
        assert_true(S_ISDIR(info.st_mode));
    }
    FILE *file = fopen(in_folder("a/file"), "w");
    assert_int_equal(fclose(file), 0);
    assert_int_equal(host_folder_make(in_folder("a/file/x"), 0777, &err),
                     SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "a/file/x"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_read),           TEST(test_read_failures),
        TEST(test_read_forbidden), TEST(test_read_long_path),
        TEST(test_read_proc),      TEST(test_read_pipe),
        TEST(test_read_stdin),     TEST(test_descriptor),
        TEST(test_memory_read),    TEST(test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
