/*
 * file.c: reading whole files, making folders, and what paths stand for.
 * Writing is output.c's.
 */
#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/error.h"
#include "host/wipe.h"

#define FIRST_CAPACITY ((size_t)65536)

/* ---- Messages ----------------------------------------------------------- */

static const char *
advice_read(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
        return "; check the name";
    case EACCES:
    case EPERM:
        return "; check who may read it";
    default:
        return "";
    }
}

enum sotto_status
host_file_fail_read(struct sotto_error *err, const char *path, int error)
{
    if (error == EISDIR) {
        (void)host_fail(err, SOTTO_STATUS_IO, 0,
                        "cannot read '%s': it is a folder; name a file in it",
                        host_shown(path));
        return host_about(SOTTO_STATUS_IO, err, SOTTO_ABOUT_FILE, path);
    }
    (void)host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s%s",
                    host_shown(path), strerror(error), advice_read(error));
    return host_about(SOTTO_STATUS_IO, err, SOTTO_ABOUT_FILE, path);
}

/* ---- Descriptors -------------------------------------------------------- */

/* The number that is all of `text`, or -1. */
static int
descriptor_number(const char *text)
{
    int fd = 0;
    if (*text == '\0') {
        return -1;
    }
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || fd > 99999) {
            return -1;
        }
        fd = 10 * fd + (*text - '0');
    }
    return fd;
}

int
host_file_descriptor(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout",
                                        "/dev/stderr"};
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int fd = 0; fd < 3; fd++) {
        if (strcmp(path, names[fd]) == 0) {
            return fd;
        }
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t size = strlen(folders[i]);
        if (strncmp(path, folders[i], size) == 0) {
            return descriptor_number(path + size);
        }
    }
    return -1;
}

int
host_file_open(const char *path, int flags)
{
    int named = host_file_descriptor(path);
    if (named >= 0) {
        return fcntl(named, F_DUPFD_CLOEXEC, 3);
    }
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* ---- Reading ------------------------------------------------------------ */

/* read(), but never stopped by a signal. */
static ssize_t
read_some(int fd, uint8_t *data, size_t size)
{
    ssize_t got;
    do {
        got = read(fd, data, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Bytes to ask for at first: a regular file's size and one more to see its
 * end, which saves growing; a pipe tells nothing, and /proc says 0. */
static size_t
first_capacity(const struct stat *info, size_t most)
{
    size_t capacity = FIRST_CAPACITY;
    if (S_ISREG(info->st_mode) && info->st_size > 0) {
        capacity = (size_t)info->st_size + 1;
    }
    return capacity < most ? capacity : most;
}

/*
 * Reads to the end or until `most` bytes are there. Records and keys come
 * through here: what is freed is wiped.
 */
static enum sotto_status
read_all(int fd, const char *path, size_t capacity, size_t most,
         uint8_t **ret_data, size_t *ret_size, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t size = 0;
    uint8_t *data = malloc(capacity);
    if (data == NULL) {
        return host_fail_memory(err);
    }
    for (;;) {
        ssize_t got = read_some(fd, data + size, capacity - size);
        if (got < 0) {
            status = host_file_fail_read(err, path, errno);
            goto done;
        }
        size += (size_t)got;
        if (got == 0 || size == most) {
            break;
        }
        if (size == capacity) {
            capacity = capacity < most / 2 ? 2 * capacity : most;
            uint8_t *larger = host_wipe_resize(data, size, capacity);
            if (larger == NULL) {
                status = host_fail_memory(err);
                goto done;
            }
            data = larger;
        }
    }
    *ret_data = data;
    *ret_size = size;
    data = NULL;
done:
    host_wipe_free(data, size);
    return status;
}

static enum sotto_status
fail_large(struct sotto_error *err, const char *path, size_t limit)
{
    return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                     "'%s' is too large: at most %zu bytes are allowed here",
                     host_shown(path), limit);
}

enum sotto_status
host_file_read(const char *path, size_t limit, uint8_t **ret_data,
               size_t *ret_size, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    struct stat info;
    uint8_t *data = NULL;
    size_t size = 0;
    /* One byte above the limit, if it comes, tells that there are more. */
    size_t most = limit < SIZE_MAX ? limit + 1 : limit;
    int fd = host_file_open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = host_file_fail_read(err, path, errno);
        goto done;
    }
    if (S_ISDIR(info.st_mode)) {
        status = host_file_fail_read(err, path, EISDIR);
        goto done;
    }
    if (S_ISREG(info.st_mode) && (uintmax_t)info.st_size > limit) {
        status = fail_large(err, path, limit);
        goto done;
    }
    status = read_all(fd, path, first_capacity(&info, most), most, &data, &size,
                      err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    if (size > limit) {
        status = fail_large(err, path, limit);
        goto done;
    }
    *ret_data = data;
    *ret_size = size;
    data = NULL;
done:
    host_wipe_free(data, size);
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

/* ---- Writing ------------------------------------------------------------ */

enum sotto_status
host_file_write(const char *path, unsigned mode, bool exclusive,
                const void *data, size_t size, struct sotto_error *err)
{
    struct sotto_output *output;
    enum sotto_status status =
        sotto_output_new(path, mode, exclusive, &output, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = sotto_output_write(output, data, size, err);
    if (status != SOTTO_STATUS_OK) {
        sotto_output_free(output);
        return status;
    }
    return sotto_output_commit(output, err);
}

/* ---- Folders ------------------------------------------------------------ */

enum sotto_status
host_folder_make(const char *path, unsigned mode, struct sotto_error *err)
{
    char *copy = strdup(path);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (copy == NULL) {
        return host_fail_memory(err);
    }
    for (char *at = copy; *at != '\0' && status == SOTTO_STATUS_OK;) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char end = *at;
        *at = '\0';
        if (mkdir(copy, mode) != 0 && errno != EEXIST) {
            status = host_fail(err, SOTTO_STATUS_IO, 0,
                               "cannot make the folder '%s': %s",
                               host_shown(copy), strerror(errno));
        }
        *at = end;
    }
    free(copy);
    return status;
}
