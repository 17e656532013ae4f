/*
 * file.c: reading whole files, and writing files that are either complete or
 * not there.
 *
 * A file being written, and what a failure at each step leaves behind:
 *
 *     new      FOLDER/.sotto-PID-N.tmp is made       the old file, if any
 *     write    bytes go there through our buffer     the old file, if any
 *     commit   flush, fsync, close, rename           the old file, if any
 *              fsync of the folder                   the new file, complete
 *                                                    (exclusive: no file)
 *
 * What is not a regular file (a pipe, a terminal, /dev/full, /dev/stdout)
 * cannot be renamed over: it is written straight away, and so may get part of
 * the bytes. Secret keys pass through here, so the buffer is wiped.
 */
#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/error.h"

#define BUFFER_SIZE ((size_t)65536)
#define TEMPORARY_TRIES 100
#define TEMPORARY_NAME_SIZE 64
#define SHOWN_MAX ((size_t)240) /* of a path in a message, so its end fits */

struct host_output {
    int fd;
    int error;       /* errno of the first failure, 0 before it */
    char *path;      /* what the caller named: for messages */
    char *target;    /* where the file will be, links followed */
    char *temporary; /* where it is until then; NULL: written straight */
    bool exclusive;
    size_t fill;
    uint8_t buffer[BUFFER_SIZE];
};

/* ---- Messages ----------------------------------------------------------- */

/* The end of a path too long to show whole: that is the part that tells. */
static const char *
shown(const char *path)
{
    size_t length = strlen(path);
    return length <= SHOWN_MAX ? path : path + (length - SHOWN_MAX);
}

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

static const char *
advice_write(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "; free some space or choose another place with -o";
    case ENOENT:
    case ENOTDIR:
        return "; make the folder first or choose another place with -o";
    case EEXIST:
        return "; remove it first or choose another name with -o";
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
    case ENAMETOOLONG:
        return "; choose another place with -o";
    default:
        return "";
    }
}

static enum sotto_status
fail_read(struct sotto_error *err, const char *path, int error)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s%s",
                     shown(path), strerror(error), advice_read(error));
}

static enum sotto_status
fail_write(struct sotto_error *err, const char *path, int error)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot write '%s': %s%s",
                     shown(path), strerror(error), advice_write(error));
}

/* ---- Descriptors -------------------------------------------------------- */

/*
 * The open descriptor a path stands for, or -1. Opening /dev/stdout by name
 * fails on a socket, and on a redirection to a file it would start over at
 * the file's beginning; a duplicate goes on where the shell left it.
 */
static int
descriptor_named(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout",
                                        "/dev/stderr"};
    static const char folder[] = "/dev/fd/";
    for (int fd = 0; fd < 3; fd++) {
        if (strcmp(path, names[fd]) == 0) {
            return fd;
        }
    }
    if (strncmp(path, folder, sizeof folder - 1) != 0) {
        return -1;
    }
    const char *digit = path + (sizeof folder - 1);
    int fd = 0;
    if (*digit == '\0') {
        return -1;
    }
    for (; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9' || fd > 99999) {
            return -1;
        }
        fd = 10 * fd + (*digit - '0');
    }
    return fd;
}

/* Opens a path, or duplicates the descriptor it stands for. */
static int
descriptor_open(const char *path, int flags)
{
    int named = descriptor_named(path);
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
    size_t capacity = BUFFER_SIZE;
    if (S_ISREG(info->st_mode) && info->st_size > 0) {
        capacity = (size_t)info->st_size + 1;
    }
    return capacity < most ? capacity : most;
}

/*
 * Reads to the end or until `most` bytes are there. Buffers that had to grow
 * leave copies behind: a key's file is far smaller than the first buffer.
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
            status = fail_read(err, path, errno);
            goto done;
        }
        size += (size_t)got;
        if (got == 0 || size == most) {
            break;
        }
        if (size == capacity) {
            capacity = capacity < most / 2 ? 2 * capacity : most;
            uint8_t *larger = realloc(data, capacity);
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
    free(data);
    return status;
}

static enum sotto_status
fail_large(struct sotto_error *err, const char *path, size_t limit)
{
    return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                     "'%s' is too large: at most %zu bytes are allowed here",
                     shown(path), limit);
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
    int fd = descriptor_open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = fail_read(err, path, errno);
        goto done;
    }
    if (S_ISDIR(info.st_mode)) {
        status = host_fail(err, SOTTO_STATUS_IO, 0,
                           "cannot read '%s': it is a folder; name a file in "
                           "it",
                           shown(path));
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
    free(data);
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

/* ---- Writing: the start ------------------------------------------------- */

/* Length of the folder part of a path, its last '/' included. */
static size_t
folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/*
 * Makes the temporary file beside the target: only within one file system is
 * a rename one step. open() with O_EXCL rather than mkstemp(), so that the
 * system applies the umask to `mode`; the name needs only to be free, since a
 * name somebody guessed and took is passed over.
 */
static enum sotto_status
temporary_open(struct host_output *output, unsigned mode,
               struct sotto_error *err)
{
    static atomic_uint serial;
    size_t folder = folder_length(output->target);
    char *name = malloc(folder + TEMPORARY_NAME_SIZE);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    memcpy(name, output->target, folder);
    for (int i = 0; i < TEMPORARY_TRIES && output->fd < 0; i++) {
        (void)snprintf(name + folder, TEMPORARY_NAME_SIZE, ".sotto-%ld-%u.tmp",
                       (long)getpid(), atomic_fetch_add(&serial, 1u));
        output->fd =
            open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
        if (output->fd < 0 && errno != EEXIST && errno != EINTR) {
            break;
        }
    }
    if (output->fd < 0) {
        int error = errno;
        free(name);
        return fail_write(err, output->path, error);
    }
    output->temporary = name;
    return SOTTO_STATUS_OK;
}

/*
 * Decides where the bytes go. A link is followed, so that it stays a link to
 * the new content; a link to nothing is replaced.
 */
static enum sotto_status
output_open(struct host_output *output, unsigned mode, struct sotto_error *err)
{
    struct stat info, link_info;
    bool named = descriptor_named(output->path) >= 0;
    bool there = !named && stat(output->path, &info) == 0;
    if (!named && !there && errno != ENOENT) {
        return fail_write(err, output->path, errno);
    }
    if (output->exclusive && (named || lstat(output->path, &link_info) == 0)) {
        return fail_write(err, output->path, EEXIST);
    }
    if (there && S_ISDIR(info.st_mode)) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "cannot write '%s': it is a folder; name a file in it "
                         "with -o",
                         shown(output->path));
    }
    if (named || (there && !S_ISREG(info.st_mode))) {
        output->fd = descriptor_open(output->path, O_WRONLY);
        return output->fd >= 0 ? SOTTO_STATUS_OK
                               : fail_write(err, output->path, errno);
    }
    output->target = there ? realpath(output->path, NULL) : NULL;
    if (there && output->target == NULL) {
        return errno == ENOMEM ? host_fail_memory(err)
                               : fail_write(err, output->path, errno);
    }
    if (!there && (output->target = strdup(output->path)) == NULL) {
        return host_fail_memory(err);
    }
    return temporary_open(output, mode, err);
}

enum sotto_status
host_output_new(const char *path, unsigned mode, bool exclusive,
                struct host_output **ret_output, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    struct host_output *output = calloc(1, sizeof *output);
    if (output == NULL) {
        return host_fail_memory(err);
    }
    output->fd = -1;
    output->exclusive = exclusive;
    output->path = strdup(path);
    if (output->path == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = output_open(output, mode, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    *ret_output = output;
    output = NULL;
done:
    host_output_free(output);
    return status;
}

/* ---- Writing: the bytes ------------------------------------------------- */

/* Writes all of it, or remembers why not. */
static bool
write_through(struct host_output *output, const uint8_t *data, size_t size)
{
    while (size > 0 && output->error == 0) {
        ssize_t put = write(output->fd, data, size);
        if (put > 0) {
            data += put;
            size -= (size_t)put;
        } else if (put == 0) {
            output->error = EIO;
        } else if (errno != EINTR) {
            output->error = errno;
        }
    }
    return output->error == 0;
}

static bool
flush(struct host_output *output)
{
    size_t fill = output->fill;
    output->fill = 0;
    return write_through(output, output->buffer, fill);
}

enum sotto_status
host_output_write(struct host_output *output, const void *data, size_t size,
                  struct sotto_error *err)
{
    bool good = output->error == 0;
    if (good && size > BUFFER_SIZE - output->fill) {
        good = flush(output);
    }
    if (good && size >= BUFFER_SIZE) {
        good = write_through(output, data, size);
    } else if (good && size > 0) {
        memcpy(output->buffer + output->fill, data, size);
        output->fill += size;
    }
    return good ? SOTTO_STATUS_OK
                : fail_write(err, output->path, output->error);
}

/* ---- Writing: the end --------------------------------------------------- */

/* A pipe or a terminal has no disk to be flushed to: fsync says so. */
static bool
not_flushable(int error)
{
    return error == EINVAL || error == EROFS || error == ENOTSUP;
}

/* Everything to disk, and closed; the last chance for a full disk to say so.
 */
static int
output_close(struct host_output *output)
{
    int fd = output->fd;
    if (flush(output) && fsync(fd) != 0 &&
        (output->temporary != NULL || !not_flushable(errno))) {
        output->error = errno;
    }
    output->fd = -1;
    if (close(fd) != 0 && output->error == 0 && errno != EINTR) {
        output->error = errno;
    }
    return output->error;
}

/*
 * Names the file if the name is free. renameat2 is one step but not every
 * file system has it; link and unlink are two, and a crash between them
 * leaves one file with two names.
 */
static int
name_exclusive(const char *temporary, const char *target)
{
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_NOREPLACE) ==
        0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return errno;
    }
    if (link(temporary, target) != 0) {
        return errno;
    }
    (void)unlink(temporary);
    return 0;
}

/*
 * Makes the new name last. A folder we may write but not read cannot be
 * opened, and some file systems do not flush folders: then the name is as
 * safe as the system makes it.
 */
static int
flush_folder(char *target)
{
    int error = 0;
    size_t folder = folder_length(target);
    char first = target[folder];
    target[folder] = '\0';
    int fd =
        open(folder == 0 ? "." : target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    target[folder] = first;
    if (fd < 0) {
        return errno == EACCES ? 0 : errno;
    }
    if (fsync(fd) != 0 && !not_flushable(errno)) {
        error = errno;
    }
    (void)close(fd);
    return error;
}

enum sotto_status
host_output_commit(struct host_output *output, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    int error = output_close(output);
    if (error != 0 || output->temporary == NULL) {
        goto done;
    }
    if (output->exclusive) {
        error = name_exclusive(output->temporary, output->target);
    } else if (rename(output->temporary, output->target) != 0) {
        error = errno;
    }
    if (error != 0) {
        goto done;
    }
    free(output->temporary);
    output->temporary = NULL;
    error = flush_folder(output->target);
    if (error != 0 && output->exclusive) {
        (void)unlink(output->target); /* it is ours: nothing was there */
    }
done:
    if (error != 0) {
        status = fail_write(err, output->path, error);
    }
    host_output_free(output);
    return status;
}

void
host_output_free(struct host_output *output)
{
    if (output == NULL) {
        return;
    }
    if (output->fd >= 0) {
        (void)close(output->fd);
    }
    if (output->temporary != NULL) {
        (void)unlink(output->temporary);
    }
    free(output->temporary);
    free(output->target);
    free(output->path);
    explicit_bzero(output->buffer, sizeof output->buffer);
    free(output);
}

enum sotto_status
host_file_write(const char *path, unsigned mode, bool exclusive,
                const void *data, size_t size, struct sotto_error *err)
{
    struct host_output *output;
    enum sotto_status status =
        host_output_new(path, mode, exclusive, &output, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = host_output_write(output, data, size, err);
    if (status != SOTTO_STATUS_OK) {
        host_output_free(output);
        return status;
    }
    return host_output_commit(output, err);
}
