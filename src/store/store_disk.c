/*
 * store_disk.c: how much room a store takes, and how much is left for it.
 */
#include "store/store_disk.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "host/text.h"

#define PREFIX "sqlite:"
#define PATH_MOST ((size_t)8192)

/* What a file and its companions begin with, and end with. */
static const char *const tail[] = {"", "-wal", "-shm", "-journal", "-tags"};

static bool
is_file(const char *url)
{
    return strncmp(url, PREFIX, strlen(PREFIX)) == 0;
}

/* The files of tags in a folder. */
static uint64_t
folder_bytes(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    struct stat found;
    uint64_t bytes = 0;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        if (fstatat(dirfd(folder), entry->d_name, &found, 0) == 0 &&
            S_ISREG(found.st_mode)) {
            bytes += (uint64_t)found.st_blocks * 512;
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return bytes;
}

bool
store_disk_look(const char *url, struct store_disk *ret_disk)
{
    struct store_disk disk = {0};
    struct statvfs system;
    const char *path = is_file(url) ? url + strlen(PREFIX) : NULL;
    if (path == NULL || statvfs(path, &system) != 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) {
        struct host_text name;
        struct stat found;
        host_text_init(&name, PATH_MOST);
        host_text_print(&name, "%s%s", path, tail[i]);
        if (!name.failed && stat(name.data, &found) == 0) {
            disk.bytes += S_ISDIR(found.st_mode)
                              ? folder_bytes(name.data)
                              : (uint64_t)found.st_blocks * 512;
        }
        host_text_clear(&name);
    }
    disk.left = (uint64_t)system.f_bavail * system.f_frsize;
    *ret_disk = disk;
    return true;
}

bool
store_disk_missing(const char *url)
{
    struct stat found;
    return is_file(url) && stat(url + strlen(PREFIX), &found) != 0 &&
           errno == ENOENT;
}

bool
store_disk_makeable(const char *url)
{
    const char *path = url + strlen(PREFIX), *end;
    char *folder;
    bool good;
    if (!is_file(url)) {
        return false;
    }
    end = strrchr(path, '/');
    if (end == NULL) {
        return access(".", W_OK | X_OK) == 0;
    }
    folder = host_text_copy(path, end == path ? 1 : (size_t)(end - path));
    good = folder != NULL && access(folder, W_OK | X_OK) == 0;
    free(folder);
    return good;
}
