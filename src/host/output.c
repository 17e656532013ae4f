/*
 * output.c: files that are either complete or not there.
 *
 * Where the file is while it is being written, and what is left if the program
 * is killed then:
 *
 *     new      UNNAMED     no name at all (O_TMPFILE)         nothing
 *       or     TEMPORARY   FOLDER/.sotto-PID-N.tmp            that file
 *       or     STRAIGHT    the pipe or device itself          part of the bytes
 *     write    the same
 *     commit   flush, fsync, then
 *              UNNAMED   --link------> PLACED                 (exclusive)
 *              UNNAMED   --link------> TEMPORARY              (otherwise)
 *              TEMPORARY --rename----> PLACED
 *              PLACED    fsync of the folder                  the new file
 *
 * A failure before PLACED leaves the old file, if any, and nothing else; one
 * after it leaves the new file, complete, or with `exclusive` no file. No call
 * links an unnamed file over another name, so without `exclusive` it gets a
 * temporary name for the moment before the rename.
 *
 * Secret keys pass through here, so the buffer is wiped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/error.h"
#include "host/file.h"
#include "sotto/sotto.h"

#define BUFFER_SIZE ((size_t)65536)
#define TEMPORARY_TRIES 100
#define TEMPORARY_NAME_SIZE 64
#define LINK_NAME_SIZE 32

enum place {
    PLACE_STRAIGHT = 0,
    PLACE_UNNAMED = 1,
    PLACE_TEMPORARY = 2,
    PLACE_PLACED = 3
};

struct sotto_output {
    int fd;
    int error; /* errno of the first failure, 0 before it */
    enum place place;
    char *path;      /* what the caller named: for messages */
    char *target;    /* where the file will be, links followed */
    char *temporary; /* where it is if TEMPORARY */
    bool exclusive;
    size_t fill;
    uint8_t buffer[BUFFER_SIZE];
};

/* ---- Messages ----------------------------------------------------------- */

static const char *
advice_write(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "; free some space or choose another place";
    case ENOENT:
    case ENOTDIR:
        return "; make the folder first or choose another place";
    case EEXIST:
        return "; remove it first or choose another name";
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
    case ENAMETOOLONG:
        return "; choose another place";
    default:
        return "";
    }
}

static enum sotto_status
fail_write(struct sotto_error *err, const char *path, int error)
{
    (void)host_fail(err, SOTTO_STATUS_IO, 0, "cannot write '%s': %s%s",
                    host_shown(path), strerror(error), advice_write(error));
    return host_about(SOTTO_STATUS_IO, err, SOTTO_ABOUT_FILE, path);
}

/* ---- Writing: the start ------------------------------------------------- */

/* Length of the folder part of a path, its last '/' included. */
static size_t
folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* open() of the folder a target is in. */
static int
open_folder(char *target, int flags, unsigned mode)
{
    size_t folder = folder_length(target);
    char first = target[folder];
    target[folder] = '\0';
    int fd = open(folder == 0 ? "." : target, flags | O_CLOEXEC, (mode_t)mode);
    target[folder] = first;
    return fd;
}

/* Sets `temporary` to the next name beside the target. */
static void
next_temporary(struct sotto_output *output)
{
    static atomic_uint serial;
    (void)snprintf(output->temporary + folder_length(output->target),
                   TEMPORARY_NAME_SIZE, ".sotto-%ld-%u.tmp", (long)getpid(),
                   atomic_fetch_add(&serial, 1u));
}

/* The path under which linkat finds a file that has no name. The other way,
   AT_EMPTY_PATH, is for the privileged on most kernels. */
static void
link_name(int fd, char name[LINK_NAME_SIZE])
{
    (void)snprintf(name, LINK_NAME_SIZE, "/proc/self/fd/%d", fd);
}

/*
 * Makes a file without a name in the target's folder: whatever ends the
 * program, the system removes it. False if this system, this file system or
 * this folder does not have them, or /proc is not there to link it by.
 */
static bool
open_unnamed(struct sotto_output *output, unsigned mode)
{
    char name[LINK_NAME_SIZE];
    int fd = open_folder(output->target, O_WRONLY | O_TMPFILE, mode);
    if (fd < 0) {
        return false;
    }
    link_name(fd, name);
    if (access(name, F_OK) != 0) {
        (void)close(fd);
        return false;
    }
    output->fd = fd;
    output->place = PLACE_UNNAMED;
    return true;
}

/*
 * Makes a file with a name beside the target: only within one file system is
 * a rename one step. open() with O_EXCL rather than mkstemp(), so that the
 * system applies the umask to `mode`; the name needs only to be free, since a
 * name somebody guessed and took is passed over.
 */
static bool
open_temporary(struct sotto_output *output, unsigned mode)
{
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        next_temporary(output);
        output->fd =
            open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                 (mode_t)mode);
        if (output->fd >= 0) {
            output->place = PLACE_TEMPORARY;
            return true;
        }
        if (errno != EEXIST && errno != EINTR) {
            break;
        }
    }
    return false;
}

/* A file beside the target, unnamed if that can be. */
static enum sotto_status
open_beside(struct sotto_output *output, unsigned mode, struct sotto_error *err)
{
    size_t folder = folder_length(output->target);
    output->temporary = malloc(folder + TEMPORARY_NAME_SIZE);
    if (output->temporary == NULL) {
        return host_fail_memory(err);
    }
    memcpy(output->temporary, output->target, folder);
    if (open_unnamed(output, mode) || open_temporary(output, mode)) {
        return SOTTO_STATUS_OK;
    }
    return fail_write(err, output->path, errno);
}

/*
 * A file in place of another is for the same eyes. It is made with no bit that
 * the old one lacks, so that a failure to add the others leaves it narrower. A
 * private file, one that `mode` gives to its owner alone, stays that.
 */
static enum sotto_status
open_instead(struct sotto_output *output, unsigned mode, unsigned old,
             struct sotto_error *err)
{
    enum sotto_status status = open_beside(output, mode & old, err);
    if (status == SOTTO_STATUS_OK && (mode & 077) != 0) {
        (void)fchmod(output->fd, (mode_t)(old & 0777));
    }
    return status;
}

/*
 * Decides where the bytes go. A link is followed, so that it stays a link to
 * the new content; a link to nothing is replaced.
 */
static enum sotto_status
output_open(struct sotto_output *output, unsigned mode, struct sotto_error *err)
{
    struct stat info, link_info;
    bool named = host_file_descriptor(output->path) >= 0;
    bool there = !named && stat(output->path, &info) == 0;
    if (!named && !there && errno != ENOENT) {
        return fail_write(err, output->path, errno);
    }
    if (output->exclusive && (named || lstat(output->path, &link_info) == 0)) {
        return fail_write(err, output->path, EEXIST);
    }
    if (there && S_ISDIR(info.st_mode)) {
        (void)host_fail(err, SOTTO_STATUS_IO, 0,
                        "cannot write '%s': it is a folder; name a file in it",
                        host_shown(output->path));
        return host_about(SOTTO_STATUS_IO, err, SOTTO_ABOUT_FILE, output->path);
    }
    if (named || (there && !S_ISREG(info.st_mode))) {
        output->fd = host_file_open(output->path, O_WRONLY);
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
    return there ? open_instead(output, mode, (unsigned)info.st_mode, err)
                 : open_beside(output, mode, err);
}

enum sotto_status
sotto_output_new(const char *path, unsigned mode, bool exclusive,
                 struct sotto_output **ret_output, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    struct sotto_output *output = calloc(1, sizeof *output);
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
    sotto_output_free(output);
    return status;
}

/* ---- Writing: the bytes ------------------------------------------------- */

/* Writes all of it, or remembers why not. */
static bool
write_through(struct sotto_output *output, const uint8_t *data, size_t size)
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
flush_buffer(struct sotto_output *output)
{
    size_t fill = output->fill;
    output->fill = 0;
    return write_through(output, output->buffer, fill);
}

enum sotto_status
sotto_output_write(struct sotto_output *output, const void *data, size_t size,
                   struct sotto_error *err)
{
    bool good = output->error == 0;
    if (good && size > BUFFER_SIZE - output->fill) {
        good = flush_buffer(output);
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

/* Everything to disk: the last chance for a full one to say so. */
static void
flush_file(struct sotto_output *output)
{
    if (flush_buffer(output) && fsync(output->fd) != 0 &&
        (output->place != PLACE_STRAIGHT || !not_flushable(errno))) {
        output->error = errno;
    }
}

/* Gives an unnamed file its name, or a temporary one where that name may be
   taken. */
static void
link_unnamed(struct sotto_output *output)
{
    char name[LINK_NAME_SIZE];
    const char *to = output->exclusive ? output->target : output->temporary;
    int done = -1;
    link_name(output->fd, name);
    for (int i = 0; i < TEMPORARY_TRIES && done != 0; i++) {
        next_temporary(output);
        done = linkat(AT_FDCWD, name, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
        if (done != 0 && (output->exclusive || errno != EEXIST)) {
            break;
        }
    }
    if (done != 0) {
        output->error = errno;
    } else {
        output->place = output->exclusive ? PLACE_PLACED : PLACE_TEMPORARY;
    }
}

static void
close_file(struct sotto_output *output)
{
    int fd = output->fd;
    output->fd = -1;
    if (close(fd) != 0 && output->error == 0 && errno != EINTR) {
        output->error = errno;
    }
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

static void
rename_temporary(struct sotto_output *output)
{
    if (output->exclusive) {
        output->error = name_exclusive(output->temporary, output->target);
    } else if (rename(output->temporary, output->target) != 0) {
        output->error = errno;
    }
    if (output->error == 0) {
        output->place = PLACE_PLACED;
    }
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
    int fd = open_folder(target, O_RDONLY | O_DIRECTORY, 0);
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
sotto_output_commit(struct sotto_output *output, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    flush_file(output);
    if (output->error == 0 && output->place == PLACE_UNNAMED) {
        link_unnamed(output);
    }
    close_file(output);
    if (output->error == 0 && output->place == PLACE_TEMPORARY) {
        rename_temporary(output);
    }
    if (output->error == 0 && output->place == PLACE_PLACED) {
        output->error = flush_folder(output->target);
    }
    if (output->error != 0) {
        status = fail_write(err, output->path, output->error);
        if (output->exclusive && output->place == PLACE_PLACED) {
            (void)unlink(output->target); /* it is ours: nothing was there */
        }
    }
    sotto_output_free(output);
    return status;
}

void
sotto_output_free(struct sotto_output *output)
{
    if (output == NULL) {
        return;
    }
    if (output->fd >= 0) {
        (void)close(output->fd);
    }
    if (output->place == PLACE_TEMPORARY) {
        (void)unlink(output->temporary);
    }
    free(output->temporary);
    free(output->target);
    free(output->path);
    explicit_bzero(output->buffer, sizeof output->buffer);
    free(output);
}
