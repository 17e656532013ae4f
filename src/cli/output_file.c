/*
 * output_file.c: a file of the program's own that is complete or not there.
 */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static const char *
advice(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "; free some space or choose another place with -o";
    case ENOENT:
    case ENOTDIR:
        return "; make the folder first or choose another place with -o";
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
        return "; choose another place with -o";
    default:
        return "";
    }
}

static bool
fail(const char *path, int error)
{
    cli_error("cannot write '%.240s': %s%s", path, strerror(error),
              advice(error));
    return false;
}

/* Where the file is or will be, links followed, and "FOLDER/.sotto-PID.part"
   beside it. */
static bool
choose_names(struct output_file *file)
{
    file->target = realpath(file->path, NULL);
    if (file->target == NULL) {
        file->target = strdup(file->path);
    }
    if (file->target == NULL) {
        return false;
    }
    const char *slash = strrchr(file->target, '/');
    int folder = slash != NULL ? (int)(slash - file->target) + 1 : 0;
    if (asprintf(&file->temporary, "%.*s.sotto-%ld.part", folder, file->target,
                 (long)getpid()) < 0) {
        file->temporary = NULL;
    }
    return file->temporary != NULL;
}

/* Opens what the bytes go to; -1 and errno on failure. */
static int
open_for(struct output_file *file)
{
    struct stat info;
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    if (cli_summary(file->path) == stderr) { /* it is standard output */
        return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    }
    if (stat(file->path, &info) == 0 && !S_ISREG(info.st_mode)) {
        return open(file->path, flags);
    }
    if (!choose_names(file)) {
        errno = ENOMEM;
        return -1;
    }
    int fd = open(file->temporary, flags | O_CREAT | O_EXCL, 0666);
    if (fd < 0) { /* so that nobody else's file is removed */
        free(file->temporary);
        file->temporary = NULL;
    }
    return fd;
}

bool
output_file_open(struct output_file *file, const char *path)
{
    *file = (struct output_file){.path = path};
    int fd = open_for(file);
    int error = errno;
    if (fd >= 0) {
        file->stream = fdopen(fd, "w");
        error = errno;
        if (file->stream == NULL) {
            (void)close(fd);
        }
    }
    if (file->stream == NULL) {
        output_file_drop(file);
        return fail(path, error);
    }
    return true;
}

/* The first error of flushing, reaching the disk and closing, or 0. */
static int
close_stream(struct output_file *file)
{
    int error = 0;
    errno = 0;
    if (fflush(file->stream) != 0 || ferror(file->stream) != 0) {
        error = errno != 0 ? errno : EIO;
    } else if (file->temporary != NULL && fsync(fileno(file->stream)) != 0) {
        error = errno;
    }
    if (fclose(file->stream) != 0 && error == 0) {
        error = errno;
    }
    file->stream = NULL;
    return error;
}

bool
output_file_commit(struct output_file *file)
{
    int error = close_stream(file);
    if (error == 0 && file->temporary != NULL &&
        rename(file->temporary, file->target) != 0) {
        error = errno;
    }
    if (error == 0) {
        free(file->temporary);
        file->temporary = NULL;
    }
    output_file_drop(file);
    return error == 0 || fail(file->path, error);
}

void
output_file_drop(struct output_file *file)
{
    if (file->stream != NULL) {
        (void)fclose(file->stream);
        file->stream = NULL;
    }
    if (file->temporary != NULL) {
        (void)unlink(file->temporary);
    }
    free(file->temporary);
    free(file->target);
    file->temporary = NULL;
    file->target = NULL;
}
