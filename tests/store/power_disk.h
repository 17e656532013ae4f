/*
 * power_disk.h: a disk in memory whose power can fail, as an SQLite VFS.
 *
 * A file's bytes are safe once it was flushed (xSync), a name once its folder
 * was: by xDelete with its flag, and by the first xSync of a file that xOpen
 * made, as SQLite's own VFS for Unix does it.
 *
 *     node    now: what the program reads    safe: what surely survives
 *             changes since the last xSync: writes and truncations
 *     folder  name -> node, now; name -> node, safe; changes since its flush
 *
 * When the power fails, any subset of the changes may have reached the disk:
 * writes in sectors of 512 bytes, each whole, in part or not at all, later
 * ones without earlier ones; likewise names. From then on every call fails,
 * until power_restore.
 */
#ifndef SOTTO_TESTS_POWER_DISK_H
#define SOTTO_TESTS_POWER_DISK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR 512
#define NODES 4096u
#define NAMES 4u
#define CHANGES 512u
#ifndef FILE_MAX
#define FILE_MAX (1 << 18)
#endif
#define SHARED 4u /* regions of memory that connections share, for a log */

enum power_lie {
    POWER_HONEST = 0,
    POWER_NO_FLUSH = 1,       /* xSync does nothing: synchronous=OFF */
    POWER_NO_FOLDER_FLUSH = 2 /* xDelete flushes none: synchronous=FULL */
};

struct change {
    bool truncate;
    size_t at, size;
    uint8_t *data;
};

struct node {
    uint8_t *now, *safe;
    size_t now_size, safe_size;
    struct change change[CHANGES];
    size_t changes;
};

struct entry {
    char name[128];
    struct node *now, *safe;
};

/* One thing that happened to the folder. */
struct renaming {
    size_t entry;
    struct node *node; /* NULL: the name was removed */
};

struct power {
    enum power_lie lie;
    uint64_t random;
    long left; /* operations until the power fails; -1: it does not */
    bool dark;
    bool hiccup; /* it does not fail: one operation does, and the rest go on */
    struct entry entry[NAMES];
    struct renaming renaming[CHANGES];
    size_t renamings;
    struct node *node[NODES];
    size_t nodes;
    size_t at_write, at_flush, at_delete, at_open; /* where it failed */
    uint8_t *shared[SHARED];                       /* gone with the power */
    sqlite3_vfs vfs;
};

static struct power power;

struct power_file {
    sqlite3_file base;
    struct node *node;
    bool made; /* its name is not flushed yet */
};

/* ---- The disk ----------------------------------------------------------- */

/* The same numbers on every machine. */
static size_t
chance(size_t below)
{
    uint64_t z = (power.random += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ (z >> 31)) % below);
}

/* Counts an operation; true if it fails: the one whose turn it is, and all
   that come after the power is gone. */
static bool
power_fails(size_t *counter)
{
    bool turn = !power.dark && power.left > 0 && --power.left == 0;
    if (turn) {
        power.dark = !power.hiccup;
        (*counter)++;
    }
    return turn || power.dark;
}

static struct node *
node_new(void)
{
    struct node *node = calloc(1, sizeof *node);
    assert_non_null(node);
    node->now = calloc(1, FILE_MAX);
    node->safe = calloc(1, FILE_MAX);
    assert_non_null(node->now);
    assert_non_null(node->safe);
    assert_true(power.nodes < NODES);
    power.node[power.nodes++] = node;
    return node;
}

static void
node_forget_changes(struct node *node)
{
    for (size_t i = 0; i < node->changes; i++) {
        free(node->change[i].data);
    }
    node->changes = 0;
}

static void
node_flush(struct node *node)
{
    memcpy(node->safe, node->now, FILE_MAX);
    node->safe_size = node->now_size;
    node_forget_changes(node);
}

static void
folder_flush(void)
{
    for (size_t i = 0; i < NAMES; i++) {
        power.entry[i].safe = power.entry[i].now;
    }
    power.renamings = 0;
}

static struct entry *
entry_of(const char *name)
{
    size_t i = 0;
    while (i < NAMES && power.entry[i].name[0] != '\0' &&
           strcmp(power.entry[i].name, name) != 0) {
        i++;
    }
    assert_true(i < NAMES && strlen(name) < sizeof power.entry[i].name);
    (void)strcpy(power.entry[i].name, name);
    return &power.entry[i];
}

static void
rename_to(struct entry *entry, struct node *node)
{
    assert_true(power.renamings < CHANGES);
    entry->now = node;
    power.renaming[power.renamings].entry = (size_t)(entry - power.entry);
    power.renaming[power.renamings++].node = node;
}

/* One write into what survives, sector by sector. */
static void
survive_write(struct node *node, const struct change *change, size_t luck)
{
    size_t end = change->at + change->size;
    for (size_t from = change->at, to; from < end; from = to) {
        to = (from / SECTOR + 1) * SECTOR;
        to = to < end ? to : end;
        size_t got = chance(4) < luck ? to - from : 0;
        if (got > 0 && chance(8) == 0) {
            got = chance(got + 1); /* torn */
        }
        memcpy(node->safe + from, change->data + (from - change->at), got);
        if (got > 0 && from + got > node->safe_size) {
            node->safe_size = from + got;
        }
    }
}

static void
survive(struct node *node)
{
    size_t luck = chance(5); /* 0: nothing survives, 4: nearly all */
    for (size_t i = 0; i < node->changes; i++) {
        const struct change *change = &node->change[i];
        if (!change->truncate) {
            survive_write(node, change, luck);
        } else if (chance(4) < luck) {
            node->safe_size = change->size;
            memset(node->safe + change->size, 0, FILE_MAX - change->size);
        }
    }
    node_forget_changes(node);
    memcpy(node->now, node->safe, FILE_MAX);
    node->now_size = node->safe_size;
}

static void
forget_shared(void)
{
    for (size_t i = 0; i < SHARED; i++) {
        free(power.shared[i]);
        power.shared[i] = NULL;
    }
}

/* The power is back: the disk is what survived. */
static void
power_restore(void)
{
    size_t luck = chance(5);
    for (size_t i = 0; i < power.nodes; i++) {
        survive(power.node[i]);
    }
    for (size_t i = 0; i < power.renamings; i++) {
        if (chance(4) < luck) {
            power.entry[power.renaming[i].entry].safe = power.renaming[i].node;
        }
    }
    for (size_t i = 0; i < NAMES; i++) {
        power.entry[i].now = power.entry[i].safe;
    }
    forget_shared();
    power.renamings = 0;
    power.dark = false;
    power.left = -1;
}

/* ---- The VFS ------------------------------------------------------------ */

static int
file_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int
file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
    const struct node *node = ((struct power_file *)file)->node;
    size_t from = (size_t)at, wanted = (size_t)size;
    size_t there = from < node->now_size ? node->now_size - from : 0;
    size_t got = wanted < there ? wanted : there;
    if (power.dark) {
        return SQLITE_IOERR_READ;
    }
    memset(to, 0, wanted);
    memcpy(to, node->now + from, got);
    return got == wanted ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static struct change *
add_change(struct node *node, bool truncate, size_t at, size_t size)
{
    if (node->changes == CHANGES && power.lie == POWER_NO_FLUSH) {
        node_flush(node); /* by and by it is written all the same */
    }
    assert_true(node->changes < CHANGES && at + size <= FILE_MAX);
    struct change *change = &node->change[node->changes++];
    *change = (struct change){truncate, at, size, NULL};
    return change;
}

static int
file_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at)
{
    struct node *node = ((struct power_file *)file)->node;
    size_t from = (size_t)at, count = (size_t)size;
    if (power.dark) {
        return SQLITE_IOERR_WRITE;
    }
    struct change *change = add_change(node, false, from, count);
    change->data = malloc(count);
    assert_non_null(change->data);
    memcpy(change->data, data, count);
    memcpy(node->now + from, data, count);
    node->now_size =
        from + count > node->now_size ? from + count : node->now_size;
    return power_fails(&power.at_write) ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int
file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct node *node = ((struct power_file *)file)->node;
    if (power.dark) {
        return SQLITE_IOERR_TRUNCATE;
    }
    (void)add_change(node, true, 0, (size_t)size);
    node->now_size = (size_t)size;
    memset(node->now + size, 0, FILE_MAX - (size_t)size);
    return power_fails(&power.at_write) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int
file_sync(sqlite3_file *base, int flags)
{
    struct power_file *file = (struct power_file *)base;
    (void)flags;
    if (power_fails(&power.at_flush)) {
        return SQLITE_IOERR_FSYNC;
    }
    if (power.lie == POWER_NO_FLUSH) {
        return SQLITE_OK;
    }
    node_flush(file->node);
    if (file->made) {
        folder_flush();
        file->made = false;
    }
    return SQLITE_OK;
}

static int
file_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    *ret_size = (sqlite3_int64)((struct power_file *)file)->node->now_size;
    return power.dark ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

static int
file_lock(sqlite3_file *file, int level)
{
    (void)file;
    (void)level;
    return SQLITE_OK;
}

static int
file_reserved(sqlite3_file *file, int *ret_held)
{
    (void)file;
    *ret_held = 0;
    return SQLITE_OK;
}

static int
file_control(sqlite3_file *file, int code, void *value)
{
    (void)file;
    (void)code;
    (void)value;
    return SQLITE_NOTFOUND;
}

static int
file_sector(sqlite3_file *file)
{
    (void)file;
    return SECTOR;
}

static int
file_promises(sqlite3_file *file)
{
    (void)file;
    return 0; /* none: not even that a write leaves its neighbours alone */
}

/* Programs on this disk run one after another, so no lock is ever in the way.
 */
static int
shared_map(sqlite3_file *file, int region, int size, int extend,
           void volatile **ret_memory)
{
    (void)file;
    assert_true(region < (int)SHARED);
    if (power.shared[region] == NULL && extend != 0) {
        power.shared[region] = calloc(1, (size_t)size);
    }
    *ret_memory = power.shared[region];
    return SQLITE_OK;
}

static int
shared_lock(sqlite3_file *file, int offset, int count, int flags)
{
    (void)file;
    (void)offset;
    (void)count;
    (void)flags;
    return SQLITE_OK;
}

static void
shared_barrier(sqlite3_file *file)
{
    (void)file;
}

static int
shared_unmap(sqlite3_file *file, int remove)
{
    (void)file;
    if (remove != 0) {
        forget_shared();
    }
    return SQLITE_OK;
}

static const sqlite3_io_methods power_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_promises,
    .xShmMap = shared_map,
    .xShmLock = shared_lock,
    .xShmBarrier = shared_barrier,
    .xShmUnmap = shared_unmap,
};

static int
disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
          int *ret_flags)
{
    struct power_file *file = (struct power_file *)base;
    (void)vfs;
    base->pMethods = NULL;
    if (name == NULL || power.dark) {
        return SQLITE_CANTOPEN;
    }
    struct entry *entry = entry_of(name);
    file->made = entry->now == NULL;
    if (file->made) {
        if ((flags & SQLITE_OPEN_CREATE) == 0) {
            return SQLITE_CANTOPEN;
        }
        rename_to(entry, node_new());
        if (power_fails(&power.at_open)) {
            return SQLITE_CANTOPEN;
        }
    }
    file->node = entry->now;
    base->pMethods = &power_methods;
    if (ret_flags != NULL) {
        *ret_flags = flags;
    }
    return SQLITE_OK;
}

static int
disk_delete(sqlite3_vfs *vfs, const char *name, int flush)
{
    struct entry *entry = entry_of(name);
    (void)vfs;
    if (power.dark) {
        return SQLITE_IOERR_DELETE;
    }
    if (entry->now == NULL) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    rename_to(entry, NULL);
    if (power_fails(&power.at_delete)) {
        return SQLITE_IOERR_DELETE;
    }
    if (flush != 0 && power.lie == POWER_HONEST) {
        folder_flush();
    }
    return SQLITE_OK;
}

static int
disk_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_there)
{
    (void)vfs;
    (void)flags;
    *ret_there = entry_of(name)->now != NULL;
    return power.dark ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

static int
disk_path(sqlite3_vfs *vfs, const char *name, int size, char *ret_path)
{
    (void)vfs;
    (void)snprintf(ret_path, (size_t)size, "%s", name);
    return SQLITE_OK;
}

/* ---- Setting up --------------------------------------------------------- */

static void
power_clear(void)
{
    for (size_t i = 0; i < power.nodes; i++) {
        node_forget_changes(power.node[i]);
        free(power.node[i]->now);
        free(power.node[i]->safe);
        free(power.node[i]);
    }
    forget_shared();
    memset(power.entry, 0, sizeof power.entry);
    power.nodes = 0;
    power.renamings = 0;
}

/* A new disk with one file on it. */
static void
power_load(const char *name, const uint8_t *data, size_t size)
{
    power_clear();
    struct entry *entry = entry_of(name);
    entry->now = entry->safe = node_new();
    memcpy(entry->now->now, data, size);
    entry->now->now_size = size;
    node_flush(entry->now);
    power.dark = false;
    power.left = -1;
}

/* From now on SQLite uses this disk. */
static void
power_register(void)
{
    const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    assert_non_null(usual);
    power.vfs = *usual;
    power.vfs.iVersion = 1;
    power.vfs.szOsFile = sizeof(struct power_file);
    power.vfs.pNext = NULL;
    power.vfs.zName = "power";
    power.vfs.xOpen = disk_open;
    power.vfs.xDelete = disk_delete;
    power.vfs.xAccess = disk_access;
    power.vfs.xFullPathname = disk_path;
    assert_int_equal(sqlite3_vfs_register(&power.vfs, 1), SQLITE_OK);
}

#endif
