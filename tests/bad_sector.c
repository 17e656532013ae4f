/*
 * bad_sector.c: the wrapped pread and pwrite behind bad_sector.h.
 */
#include "bad_sector.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

ssize_t __real_pread(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at);
ssize_t __real_pwrite(int fd, const void *from, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t size, off_t at);

static struct {
    dev_t device;
    ino_t number;
    off_t first, end;
} bad[BAD_SECTORS];
static atomic_uint count;
static atomic_bool no_writes;

void
bad_sector_reads(const char *path, off_t at, size_t size)
{
    struct stat info;
    unsigned i = atomic_load(&count);
    if (i < BAD_SECTORS && stat(path, &info) == 0) {
        bad[i].device = info.st_dev;
        bad[i].number = info.st_ino;
        bad[i].first = at;
        bad[i].end = at + (off_t)size;
        atomic_store(&count, i + 1);
    }
}

void
bad_sector_writes(void)
{
    atomic_store(&no_writes, true);
}

void
bad_sector_none(void)
{
    atomic_store(&count, 0);
    atomic_store(&no_writes, false);
}

ssize_t
__wrap_pread(int fd, void *to, size_t size, off_t at)
{
    struct stat info;
    unsigned all = atomic_load(&count);
    for (unsigned i = 0; i < all && fstat(fd, &info) == 0; i++) {
        if (info.st_dev == bad[i].device && info.st_ino == bad[i].number &&
            at < bad[i].end && at + (off_t)size > bad[i].first) {
            errno = EIO;
            return -1;
        }
    }
    return __real_pread(fd, to, size, at);
}

ssize_t
__wrap_pwrite(int fd, const void *from, size_t size, off_t at)
{
    if (atomic_load(&no_writes)) {
        errno = EIO;
        return -1;
    }
    return __real_pwrite(fd, from, size, at);
}
