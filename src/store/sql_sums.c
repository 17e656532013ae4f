/*
 * sql_sums.c: sums of SQLite's pages, as a VFS.
 *
 * Each file has the system's own beside it, and every call goes there; only
 * reading and writing look at what passes. SQLite reads and writes pages as a
 * whole, but for the header: 100 bytes before it knows how large pages are, and
 * 16 that tell whether they have changed.
 *
 * Within a transaction that is longer than the cache, SQLite writes a page
 * again into the frame it has in the log, and mends the sums from there on when
 * the transaction ends: until then frames are taken as they are.
 */
#include "store/sql_sums.h"

#include <pthread.h>
#include <string.h>

#include "store/sql_log.h"

#define RESERVED_AT ((size_t)20) /* in the header: bytes of a page */
#define HEADER ((size_t)100)
#define LEAF_OF_TABLE 13
#define LEAF_OF_INDEX 10
#define SETTLED INT64_MAX

struct sums_file {
    sqlite3_file base;
    sqlite3_file *real;     /* the system's */
    struct sums_file *main; /* of a log: its database; else NULL */
    struct sql_sums sums;   /* of a database */
    bool is_main;
    /* Of a log: */
    int64_t unsettled; /* frames from here on have no sum yet */
    int64_t header_of; /* the frame whose header was written last */
    bool has_magic;
    uint8_t magic[4];
};

/* ---- Sums ---------------------------------------------------------------- */

uint32_t
sql_sums_of(uint32_t number, const uint8_t *page)
{
    uint8_t bytes[4];
    host_checksum_write(number, bytes);
    uint32_t sum = host_checksum(host_checksum(0, bytes, sizeof bytes), page,
                                 SQL_SUMS_USED);
    return sum != 0 ? sum : 1;
}

bool
sql_sums_fit(uint32_t number, const uint8_t *page)
{
    return sql_sums_of(number, page) ==
           host_checksum_read(page + SQL_SUMS_USED);
}

void
sql_sums_stamp(uint8_t *image, size_t size)
{
    for (size_t i = 0; i < size / SQL_SUMS_PAGE; i++) {
        uint8_t *page = image + i * SQL_SUMS_PAGE;
        host_checksum_write(sql_sums_of((uint32_t)i + 1, page),
                            page + SQL_SUMS_USED);
    }
}

/* ---- Reading ------------------------------------------------------------- */

static struct sums_file *
from_base(sqlite3_file *base)
{
    return (struct sums_file *)(void *)base;
}

/* Notes a page that does not fit; what the connection gets. */
static int
note_bad(struct sql_sums *sums, uint32_t number, bool log, const uint8_t *page)
{
    sums->bad++;
    sums->page = number;
    sums->log = log;
    sums->foreign = !log && host_checksum_read(page + SQL_SUMS_USED) == 0;
    sums->kind = page[number == 1 ? HEADER : 0];
    if (sums->tell != NULL) {
        sums->tell(sums->context, sums);
    }
    bool leaf = sums->kind == LEAF_OF_TABLE || sums->kind == LEAF_OF_INDEX;
    bool given = sums->trust == SQL_SUMS_LENIENT ||
                 (sums->trust == SQL_SUMS_LEAVES && leaf && number != 1);
    sums->refused = sums->refused || !given;
    return given ? SQLITE_OK : SQLITE_IOERR_DATA;
}

/* A whole page of the database. One that the file has no more is not one that
   fits. */
static int
read_page(struct sums_file *file, uint8_t *page, sqlite3_int64 at)
{
    uint32_t number = (uint32_t)(at / (sqlite3_int64)SQL_SUMS_PAGE) + 1;
    int code =
        file->real->pMethods->xRead(file->real, page, (int)SQL_SUMS_PAGE, at);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) {
        return code;
    }
    if (!sql_sums_fit(number, page)) {
        int taken = note_bad(&file->sums, number, false, page);
        code = taken == SQLITE_OK ? code : taken;
    }
    memset(page + SQL_SUMS_USED, 0, HOST_CHECKSUM_SIZE);
    return code;
}

static int
read_magic(struct sums_file *file)
{
    int code = file->has_magic
                   ? SQLITE_OK
                   : file->real->pMethods->xRead(file->real, file->magic,
                                                 sizeof file->magic, 0);
    file->has_magic = code == SQLITE_OK;
    return code;
}

/* A page from the log: frame `n`, from 0, with the sum before it. */
static int
read_frame(struct sums_file *file, uint8_t *page, int64_t n)
{
    uint8_t bytes[SQL_FRAME_HEADER + SQL_LOG_PAGE + SQL_FRAME];
    bool first = n == 0;
    int64_t from = first
                       ? (int64_t)SQL_LOG_SUM
                       : (int64_t)SQL_LOG_HEADER + (n - 1) * (int64_t)SQL_FRAME;
    size_t skip = first ? SQL_LOG_HEADER - SQL_LOG_SUM : SQL_FRAME;
    int code = file->real->pMethods->xRead(file->real, bytes,
                                           (int)(skip + SQL_FRAME), from);
    code = code == SQLITE_OK ? read_magic(file) : code;
    if (code != SQLITE_OK) {
        return code;
    }
    const uint8_t *frame = bytes + skip;
    const uint8_t *before = first ? bytes : bytes + SQL_FRAME_SUM;
    memcpy(page, frame + SQL_FRAME_HEADER, SQL_LOG_PAGE);
    if (n < file->unsettled &&
        !sql_log_frame_sound(file->magic, before, frame)) {
        uint32_t number = (uint32_t)frame[0] << 24 | (uint32_t)frame[1] << 16 |
                          (uint32_t)frame[2] << 8 | frame[3];
        return note_bad(&file->main->sums, number, true, page);
    }
    return SQLITE_OK;
}

/* The frame whose page begins at a place in the log; -1: none does. */
static int64_t
frame_at(sqlite3_int64 at)
{
    sqlite3_int64 behind =
        at - (sqlite3_int64)(SQL_LOG_HEADER + SQL_FRAME_HEADER);
    return behind >= 0 && behind % (sqlite3_int64)SQL_FRAME == 0
               ? behind / (sqlite3_int64)SQL_FRAME
               : -1;
}

static bool
is_page(const struct sums_file *file, int amount, sqlite3_int64 at)
{
    return file->is_main && file->sums.summed && amount == (int)SQL_SUMS_PAGE &&
           at % (sqlite3_int64)SQL_SUMS_PAGE == 0;
}

static int
sums_read(sqlite3_file *base, void *to, int amount, sqlite3_int64 at)
{
    struct sums_file *file = from_base(base);
    if (is_page(file, amount, at)) {
        return read_page(file, to, at);
    }
    if (file->is_main && file->sums.summed && amount > (int)HEADER) {
        file->sums.page = 1; /* its header says that pages are of other size */
        file->sums.log = file->sums.foreign = false;
        file->sums.refused = true;
        return SQLITE_IOERR_DATA;
    }
    if (file->main != NULL && file->main->sums.summed &&
        amount == (int)SQL_LOG_PAGE && frame_at(at) >= 0) {
        return read_frame(file, to, frame_at(at));
    }
    return file->real->pMethods->xRead(file->real, to, amount, at);
}

/* ---- Writing ------------------------------------------------------------- */

static int
write_page(struct sums_file *file, const uint8_t *page, sqlite3_int64 at)
{
    uint8_t copy[SQL_SUMS_PAGE];
    uint32_t number = (uint32_t)(at / (sqlite3_int64)SQL_SUMS_PAGE) + 1;
    memcpy(copy, page, SQL_SUMS_USED);
    host_checksum_write(sql_sums_of(number, copy), copy + SQL_SUMS_USED);
    return file->real->pMethods->xWrite(file->real, copy, (int)SQL_SUMS_PAGE,
                                        at);
}

/* Keeps track of which frames have their sums. */
static void
note_frame(struct sums_file *file, int amount, sqlite3_int64 at)
{
    int64_t header = frame_at(at + (sqlite3_int64)SQL_FRAME_HEADER);
    int64_t page = frame_at(at);
    if (at == 0) {
        file->has_magic = false;
        file->unsettled = SETTLED;
    } else if (amount == (int)SQL_FRAME_HEADER && header >= 0) {
        file->header_of = header;
        if (header == file->unsettled) {
            file->unsettled++;
        }
    } else if (amount == (int)SQL_LOG_PAGE && page >= 0) {
        if (page != file->header_of && page < file->unsettled) {
            file->unsettled = page;
        }
        file->header_of = -1;
    }
}

static int
sums_write(sqlite3_file *base, const void *from, int amount, sqlite3_int64 at)
{
    struct sums_file *file = from_base(base);
    if (file->main != NULL) {
        note_frame(file, amount, at);
    }
    return is_page(file, amount, at)
               ? write_page(file, from, at)
               : file->real->pMethods->xWrite(file->real, from, amount, at);
}

/* ---- Passing on ---------------------------------------------------------- */

static int
sums_close(sqlite3_file *base)
{
    struct sums_file *file = from_base(base);
    int code = file->real->pMethods->xClose(file->real);
    sqlite3_free(file->real);
    return code;
}

static int
sums_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xTruncate(file->real, size);
}

static int
sums_sync(sqlite3_file *base, int flags)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xSync(file->real, flags);
}

static int
sums_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xFileSize(file->real, ret_size);
}

static int
sums_lock(sqlite3_file *base, int level)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xLock(file->real, level);
}

static int
sums_unlock(sqlite3_file *base, int level)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xUnlock(file->real, level);
}

static int
sums_check_lock(sqlite3_file *base, int *ret_locked)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xCheckReservedLock(file->real, ret_locked);
}

static int
sums_control(sqlite3_file *base, int what, void *argument)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xFileControl(file->real, what, argument);
}

static int
sums_sector(sqlite3_file *base)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xSectorSize(file->real);
}

static int
sums_device(sqlite3_file *base)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xDeviceCharacteristics(file->real);
}

static int
sums_map(sqlite3_file *base, int region, int size, int extend,
         void volatile **ret)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xShmMap(file->real, region, size, extend, ret);
}

static int
sums_shared_lock(sqlite3_file *base, int first, int count, int flags)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xShmLock(file->real, first, count, flags);
}

static void
sums_barrier(sqlite3_file *base)
{
    struct sums_file *file = from_base(base);
    file->real->pMethods->xShmBarrier(file->real);
}

static int
sums_unmap(sqlite3_file *base, int remove)
{
    struct sums_file *file = from_base(base);
    return file->real->pMethods->xShmUnmap(file->real, remove);
}

/* Version 2: files are not mapped, or pages would pass unseen. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = sums_close,
    .xRead = sums_read,
    .xWrite = sums_write,
    .xTruncate = sums_truncate,
    .xSync = sums_sync,
    .xFileSize = sums_size,
    .xLock = sums_lock,
    .xUnlock = sums_unlock,
    .xCheckReservedLock = sums_check_lock,
    .xFileControl = sums_control,
    .xSectorSize = sums_sector,
    .xDeviceCharacteristics = sums_device,
    .xShmMap = sums_map,
    .xShmLock = sums_shared_lock,
    .xShmBarrier = sums_barrier,
    .xShmUnmap = sums_unmap,
};

/* ---- Opening ------------------------------------------------------------- */

/* The VFS that is the usual one now: a test has its own. */
static sqlite3_vfs *
usual(void)
{
    return sqlite3_vfs_find(NULL);
}

/* Whether the header says that pages have sums. */
static bool
has_sums(sqlite3_file *real)
{
    uint8_t header[HEADER];
    return real->pMethods->xRead(real, header, (int)sizeof header, 0) ==
               SQLITE_OK &&
           header[RESERVED_AT] == HOST_CHECKSUM_SIZE;
}

static int
sums_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
          int *ret_flags)
{
    struct sums_file *file = from_base(base);
    sqlite3_vfs *system = usual();
    (void)vfs;
    memset(file, 0, sizeof *file);
    file->unsettled = SETTLED;
    file->header_of = -1;
    file->real = sqlite3_malloc64((sqlite3_uint64)system->szOsFile);
    if (file->real == NULL) {
        return SQLITE_NOMEM;
    }
    memset(file->real, 0, (size_t)system->szOsFile);
    int code = system->xOpen(system, name, file->real, flags, ret_flags);
    if (code != SQLITE_OK) {
        if (file->real->pMethods != NULL) {
            (void)file->real->pMethods->xClose(file->real);
        }
        sqlite3_free(file->real);
        return code;
    }
    file->base.pMethods = &methods;
    file->is_main = (flags & SQLITE_OPEN_MAIN_DB) != 0;
    file->sums.summed = file->is_main && has_sums(file->real);
    if ((flags & SQLITE_OPEN_WAL) != 0) {
        file->main = from_base(sqlite3_database_file_object(name));
    }
    return SQLITE_OK;
}

static int
sums_delete(sqlite3_vfs *vfs, const char *name, int settle)
{
    (void)vfs;
    return usual()->xDelete(usual(), name, settle);
}

static int
sums_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs;
    return usual()->xAccess(usual(), name, flags, ret);
}

static int
sums_name(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
    (void)vfs;
    return usual()->xFullPathname(usual(), name, size, ret);
}

static int
sums_random(sqlite3_vfs *vfs, int size, char *ret)
{
    (void)vfs;
    return usual()->xRandomness(usual(), size, ret);
}

static int
sums_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return usual()->xSleep(usual(), microseconds);
}

static int
sums_time(sqlite3_vfs *vfs, double *ret)
{
    (void)vfs;
    return usual()->xCurrentTime(usual(), ret);
}

static int
sums_error(sqlite3_vfs *vfs, int size, char *ret)
{
    (void)vfs;
    return usual()->xGetLastError(usual(), size, ret);
}

static sqlite3_vfs vfs = {
    .iVersion = 1,
    .szOsFile = (int)sizeof(struct sums_file),
    .mxPathname = 1024,
    .zName = SQL_SUMS_VFS,
    .xOpen = sums_open,
    .xDelete = sums_delete,
    .xAccess = sums_access,
    .xFullPathname = sums_name,
    .xRandomness = sums_random,
    .xSleep = sums_sleep,
    .xCurrentTime = sums_time,
    .xGetLastError = sums_error,
};

static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;
static bool registered;

int
sql_sums_register(void)
{
    (void)pthread_mutex_lock(&registering);
    int code = registered ? SQLITE_OK : sqlite3_vfs_register(&vfs, 0);
    registered = code == SQLITE_OK;
    (void)pthread_mutex_unlock(&registering);
    return code;
}

/* ---- Connections --------------------------------------------------------- */

static struct sums_file *
find_file(sqlite3 *db, const char *name)
{
    sqlite3_file *file = NULL;
    int code =
        db == NULL
            ? SQLITE_MISUSE
            : sqlite3_file_control(db, name, SQLITE_FCNTL_FILE_POINTER, &file);
    return code == SQLITE_OK && file != NULL && file->pMethods == &methods
               ? from_base(file)
               : NULL;
}

struct sql_sums *
sql_sums_of_connection(sqlite3 *db, const char *name)
{
    struct sums_file *file = find_file(db, name);
    return file != NULL ? &file->sums : NULL;
}

uint64_t
sql_sums_bad(sqlite3 *db)
{
    const struct sql_sums *sums = sql_sums_of_connection(db, "main");
    return sums != NULL ? sums->bad : 0;
}

void
sql_sums_trust(sqlite3 *db, enum sql_sums_trust trust)
{
    struct sql_sums *sums = sql_sums_of_connection(db, "main");
    if (sums != NULL) {
        sums->trust = trust;
    }
}

int
sql_sums_read(sqlite3 *db, uint32_t number, uint8_t *to)
{
    struct sums_file *file = find_file(db, "main");
    if (file == NULL || number == 0) {
        return SQLITE_MISUSE;
    }
    sqlite3_file *real = file->real;
    int code = real->pMethods->xRead(real, to, (int)SQL_SUMS_PAGE,
                                     (sqlite3_int64)(number - 1) *
                                         (sqlite3_int64)SQL_SUMS_PAGE);
    return code == SQLITE_OK && !sql_sums_fit(number, to) ? SQLITE_IOERR_DATA
                                                          : code;
}
