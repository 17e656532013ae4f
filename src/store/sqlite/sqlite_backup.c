/*
 * sqlite_backup.c: a copy of a store, while a writer may be at work.
 *
 *     batches, held, campaigns, tags     copied
 *     a window that is half moved        copied, and moved on in the copy
 *     the window that is open            not copied: it has ids' tags beside
 *                                        payloads
 *
 * So a copy holds what a store at rest does, and is one. Reports of the open
 * window are lost to it, and taken anew if their devices send them again: their
 * tags are not there, either.
 *
 * It is made under another name, FILE.part and FILE.part-tags, and takes its
 * own when it is whole and flushed: its tags first, for without a file there is
 * no store. What a crash leaves of one the next backup to FILE removes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/text.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_store.h"

#define TRIES 5 /* runs may be merged while they are copied */

/* Tables that are copied as they are, in the order of their keys: first those
   of reports, which have sums of their own. */
static const char copy_reports[] =
    "INSERT INTO released SELECT * FROM live.released ORDER BY place;"
    "INSERT INTO held SELECT * FROM live.held ORDER BY campaign, key";
static const char copy_tables[] =
    "INSERT INTO batch SELECT * FROM live.batch ORDER BY campaign, number;"
    "INSERT INTO campaign SELECT * FROM live.campaign ORDER BY number;"
    "INSERT INTO closed SELECT * FROM live.closed;"
    "INSERT INTO incoming_0 SELECT * FROM live.incoming_0 WHERE "
    "(SELECT active FROM live.move) = 1 ORDER BY place;"
    "INSERT INTO incoming_1 SELECT * FROM live.incoming_1 WHERE "
    "(SELECT active FROM live.move) = 0 ORDER BY place;"
    "INSERT INTO meta SELECT * FROM live.meta;"
    "INSERT INTO move SELECT * FROM live.move;"
    "INSERT INTO run SELECT * FROM live.run;"
    "INSERT INTO total SELECT * FROM live.total";

/* ATTACH takes a name for an address, in which these have a meaning. */
static char *
address_of(const char *path)
{
    struct host_text text;
    host_text_init(&text, 1 << 16);
    host_text_print(&text, "file:");
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '%' || *at == '?' || *at == '#') {
            host_text_print(&text, "%%%02x", (unsigned)(unsigned char)*at);
        } else {
            host_text_add(&text, at, 1);
        }
    }
    host_text_print(&text, "?mode=ro&vfs=" SQL_SUMS_VFS);
    char *address = text.failed ? NULL : host_text_copy(text.data, text.size);
    host_text_clear(&text);
    return address;
}

static void
set_trust(const struct sql *to, enum sql_sums_trust trust)
{
    struct sql_sums *sums = sql_sums_of_connection(to->db, "live");
    if (sums != NULL) {
        sums->trust = trust;
    }
}

/* What is damaged there is not copied here; where a page that leads to others
   is, nothing is, for a repair brings those back. */
static enum sotto_status
copy_attached(const struct sql *to, const char *from, struct sotto_error *err)
{
    enum sotto_status status = sql_run(to, "BEGIN", err);
    set_trust(to, SQL_SUMS_LEAVES);
    status = HOST_THEN(status, sql_run(to, copy_reports, err));
    set_trust(to, SQL_SUMS_STRICT);
    status = HOST_THEN(status, sql_run(to, copy_tables, err));
    const struct sql_sums *live = sql_sums_of_connection(to->db, "live");
    return status == SOTTO_STATUS_FORMAT || (live != NULL && live->refused)
               ? host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "the store '%s' is damaged, and cannot be copied: "
                           "sotto store check says where, and sotto store "
                           "repair does what can be done",
                           host_shown(from))
               : HOST_THEN(status, sql_run(to, "COMMIT; DETACH live", err));
}

static enum sotto_status
copy_rows(const struct sql *to, const char *from, struct sotto_error *err)
{
    char *address = address_of(from);
    enum sotto_status status =
        address == NULL
            ? host_fail_memory(err)
            : sql_execute(to, "ATTACH ?1 AS live",
                          SQL_VALUES(SQL_TEXT(address, strlen(address))), err);
    free(address);
    return HOST_THEN(status, copy_attached(to, from, err));
}

/* ---- Runs ---------------------------------------------------------------- */

static bool
copy_bytes(int from, int to)
{
    static const size_t size = (size_t)1 << 16;
    uint8_t *data = malloc(size);
    ssize_t got = data != NULL ? 1 : -1;
    while (got > 0 && (got = read(from, data, size)) > 0) {
        for (ssize_t put = 0, more = 0; put < got; put += more) {
            more = write(to, data + put, (size_t)(got - put));
            if (more <= 0) {
                free(data);
                return false;
            }
        }
    }
    free(data);
    return got == 0 && fsync(to) == 0;
}

struct copying {
    const char *from, *to;
    bool gone; /* a run was merged meanwhile */
};

static enum sotto_status
copy_run(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct copying *copying = context;
    int64_t number = sqlite3_column_int64(row, 0);
    char *from = sqlite_runs_name(copying->from, number);
    char *to = sqlite_runs_name(copying->to, number);
    enum sotto_status status = SOTTO_STATUS_OK;
    int in = -1, out = -1;
    if (from == NULL || to == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    in = open(from, O_RDONLY | O_CLOEXEC);
    copying->gone = copying->gone || (in < 0 && errno == ENOENT);
    out =
        in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (out < 0 || !copy_bytes(in, out)) {
        status = host_fail(err, SOTTO_STATUS_IO, 0, "cannot copy '%s': %s",
                           host_shown(from), strerror(errno));
    }
done:
    if (in >= 0) {
        (void)close(in);
    }
    if (out >= 0 && close(out) != 0 && status == SOTTO_STATUS_OK) {
        status = host_fail(err, SOTTO_STATUS_IO, 0, "cannot write '%s': %s",
                           host_shown(to), strerror(errno));
    }
    if (out >= 0) {
        status = HOST_THEN(status, sql_file_settle(to, err));
    }
    free(from);
    free(to);
    return status;
}

/* ---- The copy ------------------------------------------------------------ */

/* An empty store without its own key and state. */
static enum sotto_status
make_empty(const char *path, struct sotto_error *err)
{
    struct sql sql = {NULL, path, "store"};
    enum sotto_status status = sqlite_file_build(&sql, err);
    status = HOST_THEN(status, sql_file_write(&sql, err));
    (void)sqlite3_close(sql.db);
    return status;
}

static enum sotto_status
copy_all(struct copying *copying, struct sotto_error *err)
{
    struct sql to = {NULL, copying->to, "store"};
    enum sotto_status status = make_empty(copying->to, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    int code =
        sqlite3_open_v2(copying->to, &to.db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, SQL_SUMS_VFS);
    if (code == SQLITE_OK) {
        code = sqlite3_db_config(to.db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
                                 NULL); /* of the store, either */
    }
    status = code == SQLITE_OK ? sqlite_runs_folder(copying->to, err)
                               : sql_fail(&to, code, err);
    status = HOST_THEN(status, copy_rows(&to, copying->from, err));
    status = HOST_THEN(status, sql_each(&to, "SELECT number FROM run", SQL_NONE,
                                        copy_run, copying, err));
    (void)sqlite3_close(to.db);
    return status;
}

/* A window that was half moved is moved on, and held. */
static enum sotto_status
finish_copy(const char *path, bool simulation, struct sotto_error *err)
{
    void *own = NULL;
    bool done = false, clean = false;
    enum sotto_status status = store_sqlite.open(path, simulation, &own, err);
    while (status == SOTTO_STATUS_OK && !done) {
        status = store_sqlite.begin(own, err);
        status = HOST_THEN(
            status,
            store_sqlite.advance(own, SIZE_MAX, SQLITE_HOLD_ALL, &done, err));
        status = HOST_THEN(status, store_sqlite.commit(own, err));
    }
    status = HOST_THEN(status, store_sqlite.scrub(own, &clean, err));
    store_sqlite.close(own);
    return status;
}

static void
remove_copy(const char *path)
{
    static const char *const suffix[] = {"", "-wal", "-shm", "-journal",
                                         ".lock"};
    char *folder = host_text_path("%s-tags", path);
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        char *name = host_text_path("%s%s", path, suffix[i]);
        if (name != NULL) {
            (void)unlink(name);
        }
        free(name);
    }
    for (int64_t i = 1;
         folder != NULL && rmdir(folder) != 0 && errno != ENOENT && i < 1 << 20;
         i++) {
        char *name = sqlite_runs_name(path, i);
        if (name != NULL) {
            (void)unlink(name);
        }
        free(name);
    }
    free(folder);
}

/* Gives a whole copy its name. */
static enum sotto_status
rename_copy(const char *part, const char *to, struct sotto_error *err)
{
    static const char *const suffix[] = {"-tags", ""};
    char *log = host_text_path("%s-wal", part);
    bool cut = log != NULL && access(log, F_OK) != 0;
    enum sotto_status status =
        log == NULL ? host_fail_memory(err)
        : cut       ? SOTTO_STATUS_OK
                    : host_fail(err, SOTTO_STATUS_IO, 0,
                                "something else has opened '%s'; try again",
                                host_shown(part));
    free(log);
    for (size_t i = 0; i < 2 && status == SOTTO_STATUS_OK; i++) {
        char *old = host_text_path("%s%s", part, suffix[i]);
        char *new = host_text_path("%s%s", to, suffix[i]);
        if (old == NULL || new == NULL) {
            status = host_fail_memory(err);
        } else if (rename(old, new) != 0) {
            status =
                host_fail(err, SOTTO_STATUS_IO, 0, "cannot name '%s' '%s': %s",
                          host_shown(old), host_shown(new), strerror(errno));
        }
        if (status == SOTTO_STATUS_OK) {
            status = sql_file_settle(new, err);
        }
        free(old);
        free(new);
    }
    return status;
}

/* Makes a copy named `part`, and then `to`. */
static enum sotto_status
make_copy(const char *place, const char *part, const char *to, bool simulation,
          struct sotto_error *err)
{
    struct copying copying = {place, part, true};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (int i = 0; status == SOTTO_STATUS_OK && copying.gone && i < TRIES;
         i++) {
        copying.gone = false;
        remove_copy(part);
        status = copy_all(&copying, err);
        if (status != SOTTO_STATUS_OK && copying.gone && i + 1 < TRIES) {
            status = SOTTO_STATUS_OK;
        }
    }
    status = HOST_THEN(status, finish_copy(part, simulation, err));
    status = HOST_THEN(status, rename_copy(part, to, err));
    remove_copy(part);
    return status;
}

/* `place`: the store's one name. */
static enum sotto_status
back_up(const char *place, const char *to, struct sotto_error *err)
{
    struct sql live = {NULL, place, "store"};
    uint8_t key[TAG_KEY_SIZE];
    bool simulation = false;
    int64_t version = 0;
    if (access(to, F_OK) == 0 || errno != ENOENT) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "'%s' is there already: a backup is a new file",
                         host_shown(to));
    }
    enum sotto_status status = sqlite_file_check_free(to, err);
    status = HOST_THEN(status,
                       sqlite_file_open(&live, false, &simulation, key, err));
    status = HOST_THEN(
        status, sql_integer(&live, "PRAGMA user_version", &version, err));
    (void)sqlite3_close(live.db);
    if (status == SOTTO_STATUS_OK && version < 2) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "'%s' is of version 1: open it once with sotto serve, "
                         "which makes it one of this version",
                         host_shown(place));
    }
    char *part = host_text_path("%s.part", to);
    if (status == SOTTO_STATUS_OK) {
        status = part == NULL ? host_fail_memory(err)
                              : make_copy(place, part, to, simulation, err);
    }
    free(part);
    return status;
}

enum sotto_status
sqlite_backup(const char *place, const char *to, struct sotto_error *err)
{
    char *from = NULL, *target = NULL;
    enum sotto_status status = sql_file_resolve(place, &from, err);
    status = HOST_THEN(status, sql_file_resolve(to, &target, err));
    status = HOST_THEN(status, back_up(from, target, err));
    free(from);
    free(target);
    return status;
}
