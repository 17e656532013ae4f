/*
 * source.c: the files in a folder, or in a .tgz or .tar archive, by name.
 */
#include "data/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"

#define DEPTH_MAX 16u /* folders in one another */
#define ARCHIVE_BLOCK ((size_t)65536)
#define PATH_MOST ((size_t)65536)

static enum sotto_status
fail_io(const char *path, int error, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                     host_shown(path), strerror(error));
}

/* ---- Archives ----------------------------------------------------------- */

static enum sotto_status
fail_archive(struct archive *archive, const char *path, bool any,
             struct sotto_error *err)
{
    const char *why = archive_error_string(archive);
    if (archive_errno(archive) == ENOMEM) {
        return host_fail_memory(err);
    }
    if (!any) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "'%s' is neither a folder nor a .tgz or .tar file",
                         host_shown(path));
    }
    return host_fail(err, SOTTO_STATUS_INPUT, 0,
                     "'%s': the archive is damaged or cut short (%.120s): "
                     "fetch or make it again",
                     host_shown(path), why != NULL ? why : "no detail");
}

/* Gives one file to the taker; `left` is what may still be unpacked. */
static enum sotto_status
take_entry(struct archive *archive, size_t size, const char *name,
           const char *path, size_t *left, const struct source_taker *taker,
           struct sotto_error *err)
{
    enum sotto_status status;
    uint8_t *data;
    if (size > *left) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "'%s' unpacks to more than %zu bytes",
                         host_shown(path), SOURCE_BYTES_MAX);
    }
    *left -= size;
    data = malloc(size + 1);
    if (data == NULL) {
        return host_fail_memory(err);
    }
    status =
        archive_read_data(archive, data, size) == (la_ssize_t)size
            ? taker->take(taker->context, name, strlen(name), data, size, err)
            : fail_archive(archive, path, true, err);
    free(data);
    return status;
}

/* Nothing is written and no path in the archive is followed, so that what it
   names can do no harm. */
static enum sotto_status
read_entries(struct archive *archive, const char *path,
             const struct source_taker *taker, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    struct archive_entry *entry = NULL;
    size_t left = SOURCE_BYTES_MAX;
    bool any = false;
    while (status == SOTTO_STATUS_OK) {
        int said = archive_read_next_header(archive, &entry);
        if (said == ARCHIVE_EOF && any) {
            break;
        }
        if (said != ARCHIVE_OK && said != ARCHIVE_WARN) {
            return fail_archive(archive, path, any, err);
        }
        const char *name = archive_entry_pathname(entry);
        const char *slash = name != NULL ? strrchr(name, '/') : NULL;
        any = true;
        name = slash != NULL ? slash + 1 : name;
        if (name != NULL && archive_entry_filetype(entry) == AE_IFREG &&
            archive_entry_hardlink(entry) == NULL &&
            taker->wants(taker->context, name, strlen(name))) {
            status = take_entry(archive, (size_t)archive_entry_size(entry),
                                name, path, &left, taker, err);
        }
    }
    return status;
}

static enum sotto_status
read_archive(const char *path, const struct source_taker *taker,
             struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    struct archive *archive;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return fail_io(path, errno, err);
    }
    archive = archive_read_new();
    if (archive == NULL ||
        archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
        archive_read_support_format_tar(archive) != ARCHIVE_OK) {
        status = host_fail_memory(err);
    } else if (archive_read_open_fd(archive, fd, ARCHIVE_BLOCK) != ARCHIVE_OK) {
        status = fail_archive(archive, path, false, err);
    } else {
        status = read_entries(archive, path, taker, err);
    }
    (void)archive_read_free(archive);
    (void)close(fd);
    return status;
}

/* ---- Folders ------------------------------------------------------------ */

static enum sotto_status read_folder(const char *path, unsigned depth,
                                     const struct source_taker *taker,
                                     struct sotto_error *err);

static enum sotto_status
read_file(const char *path, const char *name, const struct source_taker *taker,
          struct sotto_error *err)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum sotto_status status =
        host_file_read(path, SOURCE_BYTES_MAX, &bytes, &size, err);
    status = HOST_THEN(status, taker->take(taker->context, name, strlen(name),
                                           bytes, size, err));
    free(bytes);
    return status;
}

/* One name in a folder: a file that is wanted, or a folder, or nothing. What
   has gone meanwhile is nothing. */
static enum sotto_status
read_entry(const char *folder, const char *name, unsigned depth,
           const struct source_taker *taker, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    struct stat about;
    struct host_text path;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return status;
    }
    host_text_init(&path, PATH_MOST);
    host_text_print(&path, "%s/%s", folder, name);
    if (path.failed) {
        status = host_fail_memory(err);
    } else if (lstat(path.data, &about) == 0 && S_ISDIR(about.st_mode)) {
        status = depth > 0 ? read_folder(path.data, depth - 1, taker, err)
                           : SOTTO_STATUS_OK;
    } else if (stat(path.data, &about) == 0 && S_ISREG(about.st_mode) &&
               taker->wants(taker->context, name, strlen(name))) {
        status = read_file(path.data, name, taker, err);
    }
    host_text_clear(&path);
    return status;
}

static enum sotto_status
read_folder(const char *path, unsigned depth, const struct source_taker *taker,
            struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    struct dirent *entry;
    DIR *dir = opendir(path);
    if (dir == NULL) {
        return fail_io(path, errno, err);
    }
    while (status == SOTTO_STATUS_OK && (entry = readdir(dir)) != NULL) {
        status = read_entry(path, entry->d_name, depth, taker, err);
    }
    (void)closedir(dir);
    return status;
}

enum sotto_status
source_read(const char *path, const struct source_taker *taker,
            struct sotto_error *err)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        return fail_io(path, errno, err);
    }
    return S_ISDIR(about.st_mode) ? read_folder(path, DEPTH_MAX, taker, err)
                                  : read_archive(path, taker, err);
}
