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

#include "data/tar.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "table/gunzip.h"

#define DEPTH_MAX 16u /* folders in one another */
#define PATH_MOST ((size_t)65536)

static enum sotto_status
fail_io(const char *path, int error, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot read '%s': %s",
                     host_shown(path), strerror(error));
}

/* ---- Archives ----------------------------------------------------------- */

static enum sotto_status
read_entries(const uint8_t *bytes, size_t size, const char *path,
             const struct source_taker *taker, struct sotto_error *err)
{
    struct tar tar = {.bytes = bytes, .size = size, .name = host_shown(path)};
    struct tar_file file;
    bool found = false;
    if (!tar_detect(bytes, size)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "'%s' is neither a folder nor a .tgz or .tar file",
                         host_shown(path));
    }
    enum sotto_status status = tar_next(&tar, &file, &found, err);
    while (status == SOTTO_STATUS_OK && found) {
        if (taker->wants(taker->context, file.base, file.base_size)) {
            status = taker->take(taker->context, file.base, file.base_size,
                                 file.data, file.size, err);
        }
        if (status == SOTTO_STATUS_OK) {
            status = tar_next(&tar, &file, &found, err);
        }
    }
    return status;
}

static enum sotto_status
read_archive(const char *path, const struct source_taker *taker,
             struct sotto_error *err)
{
    uint8_t *bytes = NULL, *plain = NULL;
    size_t size = 0, plain_size = 0;
    enum sotto_status status =
        host_file_read(path, SOURCE_BYTES_MAX, &bytes, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (gunzip_detect(bytes, size)) {
        status = gunzip_bytes(bytes, size, SOURCE_BYTES_MAX, host_shown(path),
                              &plain, &plain_size, err);
        if (status == SOTTO_STATUS_OK) {
            status = read_entries(plain, plain_size, path, taker, err);
        }
    } else {
        status = read_entries(bytes, size, path, taker, err);
    }
    free(bytes);
    free(plain);
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
    if (status == SOTTO_STATUS_OK) {
        status =
            taker->take(taker->context, name, strlen(name), bytes, size, err);
    }
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
