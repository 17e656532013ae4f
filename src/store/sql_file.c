/*
 * sql_file.c: SQLite files of ours, made in one step and opened if they are
 * what they should be.
 */
#include "store/sql_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "store/sql_sums.h"

/* ---- Making ------------------------------------------------------------- */

/* Room in each page for its sum: before there is any. */
static int
reserve_sums(sqlite3 *db)
{
    char size[48];
    int reserve = (int)HOST_CHECKSUM_SIZE;
    (void)snprintf(size, sizeof size, "PRAGMA page_size=%zu", SQL_SUMS_PAGE);
    int code = sqlite3_exec(db, size, NULL, NULL, NULL);
    return code == SQLITE_OK
               ? sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES,
                                      &reserve)
               : code;
}

enum sotto_status
sql_file_build(struct sql *sql, const struct sql_kind *kind,
               struct sotto_error *err)
{
    char marks[96];
    int code = sqlite3_open_v2(
        ":memory:", &sql->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK && kind->summed) {
        code = reserve_sums(sql->db);
    }
    if (code != SQLITE_OK) {
        return sql_fail(sql, code, err);
    }
    (void)snprintf(marks, sizeof marks,
                   "PRAGMA application_id=%" PRId32
                   ";PRAGMA user_version=%" PRId32,
                   kind->application, kind->version);
    enum sotto_status status = sql_run(sql, marks, err);
    status = HOST_THEN(status, sql_run(sql, kind->schema, err));
    return kind->triggers == NULL
               ? status
               : HOST_THEN(status, sql_run(sql, kind->triggers, err));
}

enum sotto_status
sql_file_write(const struct sql *sql, struct sotto_error *err)
{
    sqlite3_int64 size = 0;
    unsigned char *image = sqlite3_serialize(sql->db, "main", &size, 0);
    int reserved = -1; /* asked for */
    if (sqlite3_file_control(sql->db, "main", SQLITE_FCNTL_RESERVE_BYTES,
                             &reserved) == SQLITE_OK &&
        reserved == (int)HOST_CHECKSUM_SIZE && image != NULL) {
        sql_sums_stamp(image, (size_t)size);
    }
    enum sotto_status status =
        image == NULL
            ? host_fail_memory(err)
            : host_file_write(sql->path, 0600, true, image, (size_t)size, err);
    sqlite3_free(image);
    return status;
}

/* ---- Opening ------------------------------------------------------------ */

/* The name of a file that is not there in the folder that is. */
static char *
resolve_new(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char *folder = slash != NULL
                       ? host_text_copy(path, (size_t)(slash - path) + 1)
                       : host_text_copy(".", 1);
    char *real = folder != NULL ? realpath(folder, NULL) : NULL;
    int error = folder == NULL ? ENOMEM : errno;
    char *joined =
        real == NULL ? NULL
                     : host_text_path("%s%s%s", real,
                                      strcmp(real, "/") == 0 ? "" : "/", name);
    errno = real == NULL ? error : ENOMEM;
    free(folder);
    free(real);
    return joined;
}

enum sotto_status
sql_file_resolve(const char *path, char **ret_real, struct sotto_error *err)
{
    struct stat info;
    char *real = realpath(path, NULL);
    if (real == NULL && errno == ENOENT && lstat(path, &info) != 0) {
        real = resolve_new(path);
    }
    if (real != NULL) {
        *ret_real = real;
        return SOTTO_STATUS_OK;
    }
    return errno == ENOMEM
               ? host_fail_memory(err)
               : host_fail(err, SOTTO_STATUS_IO, 0, "cannot find '%s': %s",
                           host_shown(path), strerror(errno));
}

enum sotto_status
sql_file_lock(const char *path, const char *before, const char *behind,
              int *ret_fd, struct sotto_error *err)
{
    char *name = host_text_path("%s.lock", path);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    int error = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 ? errno : 0;
    free(name);
    if (error == 0) {
        *ret_fd = fd;
        return SOTTO_STATUS_OK;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return error == EWOULDBLOCK
               ? host_fail(err, SOTTO_STATUS_IO, 0, "%s '%s'%s", before,
                           host_shown(path), behind)
               : host_fail(err, SOTTO_STATUS_IO, 0, "cannot lock '%s.lock': %s",
                           host_shown(path), strerror(error));
}

/* Takes from others what they may do with a file: what SQLite makes beside it
   gets the same. By its name: to close a descriptor of it would drop the locks
   that this program has on it. */
static enum sotto_status
make_private(const char *path, struct sotto_error *err)
{
    static const char *const suffix[] = {"", "-wal", "-shm", "-journal"};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < 4 && status == SOTTO_STATUS_OK; i++) {
        struct stat info;
        char *name = host_text_path("%s%s", path, suffix[i]);
        if (name == NULL) {
            return host_fail_memory(err);
        }
        if (stat(name, &info) == 0 && S_ISREG(info.st_mode) &&
            (info.st_mode & (S_IRWXG | S_IRWXO)) != 0 &&
            chmod(name, info.st_mode & S_IRWXU) != 0) {
            status = host_fail(err, SOTTO_STATUS_IO, 0,
                               "others may read '%s', and that cannot be "
                               "changed (%s); its owner can: chmod 600",
                               host_shown(name), strerror(errno));
        }
        free(name);
    }
    return status;
}

static enum sotto_status
check_names(const char *path, struct sotto_error *err)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink > 1
               ? host_fail(err, SOTTO_STATUS_IO, 0,
                           "'%s' has another name, a hard link, by which "
                           "another program could write to it at the same "
                           "time; remove that name, or take a copy",
                           host_shown(path))
               : SOTTO_STATUS_OK;
}

/* A name that SQLite takes for a file's, not for memory or an address. */
static enum sotto_status
connect_file(struct sql *sql, const struct sql_kind *kind, int flags,
             struct sotto_error *err)
{
    char *name =
        host_text_path("%s%s", sql->path[0] == '/' ? "" : "./", sql->path);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    if (access(name, F_OK) != 0 && errno == ENOENT) {
        free(name);
        return host_fail(err, SOTTO_STATUS_IO, 0, "there is no %s '%s'%s",
                         sql->what, host_shown(sql->path), kind->none);
    }
    int code = kind->summed ? sql_sums_register() : SQLITE_OK;
    code =
        code == SQLITE_OK
            ? sqlite3_open_v2(name, &sql->db, flags | SQLITE_OPEN_PRIVATECACHE,
                              kind->summed ? SQL_SUMS_VFS : NULL)
            : code;
    free(name);
    if (code == SQLITE_OK && kind->summed) {
        code = sqlite3_db_config(sql->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                                 NULL);
    }
    code =
        code == SQLITE_OK ? sqlite3_busy_timeout(sql->db, SQL_BUSY_MS) : code;
    return code == SQLITE_OK ? SOTTO_STATUS_OK : sql_fail(sql, code, err);
}

/* Whether its pages have sums, if and only if its version says so. */
static enum sotto_status
check_sums(const struct sql *sql, bool wanted, struct sotto_error *err)
{
    const struct sql_sums *sums = sql_sums_of_connection(sql->db, "main");
    return sums != NULL && sums->summed == wanted
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "page 1 of '%s' is damaged: stop the collector and "
                           "run: sotto store repair sqlite:%s",
                           host_shown(sql->path), host_shown(sql->path));
}

enum sotto_status
sql_file_open(struct sql *sql, const struct sql_kind *kind, int flags,
              struct sotto_error *err)
{
    int64_t application = 0, version = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    if ((flags & SQLITE_OPEN_READWRITE) != 0) {
        status = check_names(sql->path, err);
    }
    status = HOST_THEN(status, connect_file(sql, kind, flags, err));
    status = HOST_THEN(
        status, sql_integer(sql, "PRAGMA application_id", &application, err));
    if (status == SOTTO_STATUS_OK && application != kind->application) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0, "'%s' is no %s%s",
                         host_shown(sql->path), sql->what, kind->other);
    }
    status = HOST_THEN(status,
                       sql_integer(sql, "PRAGMA user_version", &version, err));
    if (status == SOTTO_STATUS_OK && version != kind->version &&
        (kind->before == NULL || version != kind->version - 1)) {
        return host_fail(
            err, SOTTO_STATUS_FORMAT, 0,
            "'%s' is a %s of version %" PRId64
            ", and this program knows version %" PRId32
            "%s; use the program that made it",
            host_shown(sql->path), sql->what, version, kind->version,
            kind->before == NULL ? " alone" : " and the one before");
    }
    if (status == SOTTO_STATUS_OK && kind->summed) {
        status = check_sums(sql, version == kind->version, err);
    }
    if (status == SOTTO_STATUS_OK && (flags & SQLITE_OPEN_READWRITE) != 0) {
        status = make_private(sql->path, err);
    }
    return status;
}

enum sotto_status
sql_file_tables(const struct sql *sql, const struct sql_kind *kind,
                struct sotto_error *err)
{
    char otherwise[64];
    int64_t version = kind->version;
    enum sotto_status status =
        kind->before != NULL
            ? sql_integer(sql, "PRAGMA user_version", &version, err)
            : SOTTO_STATUS_OK;
    (void)snprintf(otherwise, sizeof otherwise,
                   "its tables are not those of a %s", sql->what);
    bool old = version != kind->version;
    status = HOST_THEN(
        status,
        sql_expect(sql,
                   "SELECT group_concat(sql, ';') FROM (SELECT sql FROM "
                   "sqlite_schema WHERE sql IS NOT NULL AND type != 'trigger' "
                   "ORDER BY name)",
                   old ? kind->before : kind->schema, otherwise, err));
    return HOST_THEN(
        status,
        sql_expect(sql,
                   "SELECT coalesce(group_concat(sql, ';'), '') FROM (SELECT "
                   "sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY "
                   "name)",
                   old || kind->triggers == NULL ? "" : kind->triggers,
                   otherwise, err));
}

enum sotto_status
sql_file_check(const struct sql *sql, const struct sql_kind *kind,
               struct sotto_error *err)
{
    enum sotto_status status = sql_file_tables(sql, kind, err);
    return HOST_THEN(status,
                     sql_expect(sql, "PRAGMA integrity_check(1)", "ok",
                                "its parts contradict each other", err));
}

enum sotto_status
sql_file_prepare(const struct sql *sql, const struct sql_kind *kind,
                 struct sotto_error *err)
{
    enum sotto_status status = sql_run(sql, kind->options, err);
    status = HOST_THEN(status, sql_set(sql, kind->settings, err));
    return HOST_THEN(status, sql_file_settle(sql->path, err));
}

/* ---- Upgrading ---------------------------------------------------------- */

static enum sotto_status
upgrade_tables(const struct sql *sql, const struct sql_kind *kind,
               struct sotto_error *err)
{
    char mark[64];
    (void)snprintf(mark, sizeof mark, "PRAGMA user_version=%" PRId32,
                   kind->version);
    enum sotto_status status = sql_file_tables(sql, kind, err);
    status = HOST_THEN(status, sql_run(sql, kind->upgrade, err));
    status = HOST_THEN(status, sql_run(sql, mark, err));
    return HOST_THEN(status, sql_file_tables(sql, kind, err));
}

enum sotto_status
sql_file_upgrade(const struct sql *sql, const struct sql_kind *kind,
                 struct sotto_error *err)
{
    int64_t version = 0;
    enum sotto_status status =
        sql_integer(sql, "PRAGMA user_version", &version, err);
    if (status != SOTTO_STATUS_OK || version == kind->version) {
        return status;
    }
    status = sql_run(sql, "BEGIN IMMEDIATE", err);
    status = HOST_THEN(status,
                       sql_integer(sql, "PRAGMA user_version", &version, err));
    if (status == SOTTO_STATUS_OK && version != kind->version) {
        status = upgrade_tables(sql, kind, err);
    }
    status = HOST_THEN(status, sql_run(sql, "COMMIT", err));
    sql_roll_back(sql);
    return status;
}

/* ---- The folder --------------------------------------------------------- */

enum sotto_status
sql_file_settle(const char *path, struct sotto_error *err)
{
    char *real = realpath(path, NULL);
    int fd = -1, error = real == NULL ? errno : 0;
    if (real != NULL) {
        char *slash = strrchr(real, '/');
        slash[slash == real ? 1 : 0] = '\0';
        fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        /* EINVAL: this file system has folders that need no flushing. */
        error = fd < 0 || (fsync(fd) != 0 && errno != EINVAL) ? errno : 0;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(real);
    return error == 0 ? SOTTO_STATUS_OK
                      : host_fail(err, SOTTO_STATUS_IO, 0,
                                  "cannot flush the folder of '%s': %s",
                                  host_shown(path), strerror(error));
}
