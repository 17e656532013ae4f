/*
 * sqlite_upgrade.c: what a store of version 1 becomes: a new file, for every
 * page gets room for a sum, that is written beside the old one and takes its
 * name when it is whole and flushed:
 *
 *     PATH             looked at as a whole, and its log written back for good
 *     PATH-tags        run 1: the tags, which were in the table `seen`
 *     PATH.new         the new file
 *     PATH.new --> PATH
 *
 * Payloads get their sums, and batches and what waits go into rows of a page
 * each. A kill leaves the old store, or the new one; what is left of a try is
 * written over by the next. A window whose tags were half merged begins anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/error.h"
#include "host/text.h"
#include "host/wipe.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_store.h"

/* ---- Tags ---------------------------------------------------------------- */

/* The tags of `seen`, one after the other: buckets are in order, and so are the
   tags in one. */
struct stream {
    sqlite3_stmt *row;
    const uint8_t *at;
    size_t left;
    struct run_section *section;
    size_t sections;
};

static bool
next_tag(void *context, uint8_t tag[TAG_SIZE])
{
    struct stream *stream = context;
    while (stream->left == 0) {
        if (sqlite3_step(stream->row) != SQLITE_ROW) {
            errno = EIO; /* there were more when they were counted */
            return false;
        }
        stream->at = sqlite3_column_blob(stream->row, 0);
        stream->left = (size_t)sqlite3_column_bytes(stream->row, 0) / TAG_SIZE;
    }
    memcpy(tag, stream->at, TAG_SIZE);
    stream->at += TAG_SIZE;
    stream->left--;
    return true;
}

static enum sotto_status
take_section(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct stream *stream = context;
    struct run_section *more = realloc(
        stream->section, (stream->sections + 1) * sizeof *stream->section);
    if (more == NULL) {
        return host_fail_memory(err);
    }
    stream->section = more;
    more[stream->sections++] =
        (struct run_section){.campaign = (uint32_t)sqlite3_column_int64(row, 0),
                             .count = (uint64_t)sqlite3_column_int64(row, 1)};
    return SOTTO_STATUS_OK;
}

/* Writes run 1. What a crash leaves of it the next try writes over. */
static enum sotto_status
write_tags(const struct sql *sql, const uint8_t *key, uint64_t *ret_tags,
           struct sotto_error *err)
{
    uint8_t owner[RUN_OWNER_SIZE];
    struct stream stream = {0};
    char *name = sqlite_runs_name(sql->path, 1);
    sqlite_runs_owner(key, owner);
    struct tag_merge merge = {.owner = owner,
                              .path = {name, NULL},
                              .next = next_tag,
                              .context = &stream};
    enum sotto_status status =
        name == NULL
            ? host_fail_memory(err)
            : sql_each(sql,
                       "SELECT place >> 32, sum(length(tags)) / 16 FROM seen "
                       "WHERE length(tags) > 0 GROUP BY 1 ORDER BY 1",
                       SQL_NONE, take_section, &stream, err);
    status = HOST_THEN(status,
                       sql_prepare(sql, "SELECT tags FROM seen ORDER BY place",
                                   &stream.row, err));
    merge.streamed = stream.section;
    merge.streams = stream.sections;
    status = HOST_THEN(status, tag_merge(&merge, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_tags = merge.count[0];
        sqlite_file_give(sql->path, name);
    }
    tag_merge_clear(&merge);
    (void)sqlite3_finalize(stream.row);
    free(stream.section);
    free(name);
    return status;
}

/* ---- Reports ------------------------------------------------------------- */

/* The old store and the new one. */
struct upgrade {
    const struct sql *from, *to;
    sqlite3_stmt *insert; /* a row of what is copied */
    int64_t place;        /* of the next row of released */
};

/* A blob of pairs as records with sums, which the caller frees. The payload's
   size is column `size` of the row, the blob column `blob`. */
static enum sotto_status
take_records(const struct upgrade *upgrade, sqlite3_stmt *row, int size,
             int blob, size_t skip, size_t *ret_payload, size_t *ret_count,
             uint8_t **ret_records, struct sotto_error *err)
{
    sqlite3_int64 payload = sqlite3_column_int64(row, size);
    const uint8_t *from = sqlite3_column_blob(row, blob);
    size_t bytes = (size_t)sqlite3_column_bytes(row, blob);
    if (payload <= 0 || payload > INT32_MAX || from == NULL ||
        bytes % (skip + (size_t)payload) != 0) {
        return sql_fail(upgrade->from, SQLITE_CORRUPT, err);
    }
    size_t old = skip + (size_t)payload, new = old + SUM_SIZE;
    size_t count = bytes / old;
    uint8_t *records = malloc(count * new + 1);
    if (records == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(records + i * new, from + i * old, old);
        sqlite_record_sum(records + i * new + skip, (size_t)payload);
    }
    *ret_payload = (size_t)payload;
    *ret_count = count;
    *ret_records = records;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
take_batch(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct upgrade *upgrade = context;
    uint8_t *records = NULL;
    size_t count = 0;
    struct sqlite_batch batch = {
        .hash = sqlite3_column_blob(row, 4),
        .campaign = (uint32_t)sqlite3_column_int64(row, 0),
        .number = (uint64_t)sqlite3_column_int64(row, 1),
        .count = (uint64_t)sqlite3_column_int64(row, 2),
        .first = upgrade->place};
    enum sotto_status status =
        take_records(upgrade, row, 3, 5, TAG_SIZE, &batch.payload_size, &count,
                     &records, err);
    if (status == SOTTO_STATUS_OK &&
        (batch.hash == NULL || count != batch.count || count == 0)) {
        status = sql_fail(upgrade->from, SQLITE_CORRUPT, err);
    }
    status = HOST_THEN(
        status, sqlite_batch_write_chunks(upgrade->to, &batch, records, err));
    status = HOST_THEN(status, sqlite_batch_write(upgrade->to, &batch, err));
    upgrade->place += (int64_t)batch.chunks;
    free(records);
    return status;
}

static enum sotto_status
take_incoming(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    const struct upgrade *upgrade = context;
    uint8_t *records = NULL;
    size_t payload = 0, count = 0;
    enum sotto_status status = take_records(upgrade, row, 1, 2, TAG_SIZE,
                                            &payload, &count, &records, err);
    status = HOST_THEN(
        status, sqlite_put_rows(upgrade->to, upgrade->insert,
                                (uint32_t)sqlite3_column_int64(row, 0), records,
                                count, SQLITE_RECORD(payload), err));
    free(records);
    return status;
}

static enum sotto_status
take_held(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    const struct upgrade *upgrade = context;
    uint8_t *record = NULL;
    size_t payload = 0, count = 0;
    enum sotto_status status =
        take_records(upgrade, row, 2, 3, 0, &payload, &count, &record, err);
    if (status == SOTTO_STATUS_OK && count != 1) {
        status = sql_fail(upgrade->from, SQLITE_CORRUPT, err);
    }
    if (status == SOTTO_STATUS_OK) {
        int code = sqlite_step(
            upgrade->insert,
            SQL_VALUES(SQL_NUMBER(sqlite3_column_int64(row, 0)),
                       SQL_BLOB(sqlite3_column_blob(row, 1), TAG_SIZE),
                       SQL_BLOB(record, payload + SUM_SIZE)));
        status = code == SQLITE_DONE ? SOTTO_STATUS_OK
                                     : sql_fail(upgrade->to, code, err);
    }
    free(record);
    return status;
}

/* Copies a table of reports, in the order of its keys. */
static enum sotto_status
copy_reports(struct upgrade *upgrade, const char *insert, const char *select,
             sql_take *take, struct sotto_error *err)
{
    enum sotto_status status =
        insert == NULL
            ? SOTTO_STATUS_OK
            : sql_prepare(upgrade->to, insert, &upgrade->insert, err);
    status = HOST_THEN(
        status, sql_each(upgrade->from, select, SQL_NONE, take, upgrade, err));
    (void)sqlite3_finalize(upgrade->insert);
    upgrade->insert = NULL;
    return status;
}

#define SELECT_INCOMING(generation)                                            \
    "SELECT i.campaign, c.payload_size, i.reports FROM incoming_" generation   \
    " AS i JOIN campaign AS c ON c.number = i.campaign ORDER BY i.campaign, "  \
    "i.key"

static enum sotto_status
copy_all_reports(struct upgrade *upgrade, struct sotto_error *err)
{
    enum sotto_status status = copy_reports(
        upgrade, NULL,
        "SELECT b.campaign, b.number, b.count, c.payload_size, c.hash, "
        "b.reports FROM batch AS b JOIN campaign AS c ON c.number = "
        "b.campaign ORDER BY b.campaign, b.number",
        take_batch, err);
    status = HOST_THEN(
        status, copy_reports(upgrade, "INSERT INTO incoming_0 VALUES (?1, ?2)",
                             SELECT_INCOMING("0"), take_incoming, err));
    status = HOST_THEN(
        status, copy_reports(upgrade, "INSERT INTO incoming_1 VALUES (?1, ?2)",
                             SELECT_INCOMING("1"), take_incoming, err));
    return HOST_THEN(
        status,
        copy_reports(upgrade, "INSERT INTO held VALUES (?1, ?2, ?3)",
                     "SELECT h.campaign, h.key, c.payload_size, h.payload FROM "
                     "held AS h JOIN campaign AS c ON c.number = h.campaign "
                     "ORDER BY h.campaign, h.key",
                     take_held, err));
}

/* ---- The new file -------------------------------------------------------- */

/* Statements about the old one, as `old`. */
static const char small_tables[] =
    "INSERT INTO campaign SELECT * FROM old.campaign ORDER BY number;"
    "INSERT INTO meta SELECT * FROM old.meta;"
    "INSERT INTO move SELECT one, active, stage, iif(stage = 1, 0, campaign) "
    "FROM old.move;"
    "INSERT INTO total SELECT c.number, count(b.number), "
    "coalesce(sum(b.count), 0) FROM old.campaign AS c LEFT JOIN old.batch AS b "
    "ON b.campaign = c.number GROUP BY c.number";

static enum sotto_status
copy_small(const struct upgrade *upgrade, uint64_t tags,
           struct sotto_error *err)
{
    enum sotto_status status = sql_run(upgrade->to, small_tables, err);
    return tags == 0
               ? status
               : HOST_THEN(status,
                           sql_execute(upgrade->to,
                                       "INSERT INTO run VALUES "
                                       "(1, 0, 0, ?1, 0)",
                                       SQL_VALUES(SQL_NUMBER(tags)), err));
}

/* Copies all of it, in one transaction. */
static enum sotto_status
copy_store(const struct sql *from, const struct sql *to, uint64_t tags,
           struct sotto_error *err)
{
    struct upgrade upgrade = {from, to, NULL, 1};
    enum sotto_status status =
        sql_execute(to, "ATTACH ?1 AS old",
                    SQL_VALUES(SQL_TEXT(from->path, strlen(from->path))), err);
    status = HOST_THEN(status, sql_run(to, "BEGIN", err));
    status = HOST_THEN(status, copy_small(&upgrade, tags, err));
    status = HOST_THEN(status, copy_all_reports(&upgrade, err));
    return HOST_THEN(status, sql_run(to, "COMMIT; DETACH old", err));
}

/* Makes the new file, whole and flushed. */
static enum sotto_status
write_new(const struct sql *from, const char *path, uint64_t tags,
          struct sotto_error *err)
{
    struct sql to = {NULL, path, "store"};
    enum sotto_status status = sqlite_file_build(&to, err);
    status = HOST_THEN(status, sql_file_write(&to, err));
    (void)sqlite3_close(to.db);
    to.db = NULL;
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    int code =
        sqlite3_open_v2(path, &to.db, SQLITE_OPEN_READWRITE, SQL_SUMS_VFS);
    status = code == SQLITE_OK ? SOTTO_STATUS_OK : sql_fail(&to, code, err);
    status = HOST_THEN(
        status,
        sql_run(&to, "PRAGMA synchronous=FULL; PRAGMA fullfsync=ON", err));
    status = HOST_THEN(status, copy_store(from, &to, tags, err));
    (void)sqlite3_close(to.db);
    return status;
}

static void
remove_new(const char *path)
{
    char *journal = host_text_path("%s-journal", path);
    (void)unlink(path);
    if (journal != NULL) {
        (void)unlink(journal);
    }
    free(journal);
}

/* The new file takes the old one's name; it is its owner's, whoever upgrades.
 */
static enum sotto_status
rename_new(const char *new, const char *path, struct sotto_error *err)
{
    sqlite_file_give(path, new);
    if (rename(new, path) != 0) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "cannot put '%s' in place of '%s': %s",
                         host_shown(new), host_shown(path), strerror(errno));
    }
    return sql_file_settle(path, err);
}

/* No log may be left: it would be taken for the new file's. */
static enum sotto_status
settle_old(const struct sql *sql, struct sotto_error *err)
{
    enum sotto_status status =
        sql_expect(sql, "PRAGMA quick_check(1)", "ok",
                   "its parts contradict each other", err);
    status = HOST_THEN(status, sqlite_scrub_check(sql, err));
    return HOST_THEN(status,
                     sql_expect(sql, "PRAGMA journal_mode=DELETE", "delete",
                                "its log cannot be written back while another "
                                "program reads it",
                                err));
}

enum sotto_status
sqlite_upgrade(struct sql *sql, const uint8_t *key, struct sotto_error *err)
{
    uint64_t tags = 0;
    char *new = host_text_path("%s.new", sql->path);
    if (new == NULL) {
        return host_fail_memory(err);
    }
    remove_new(new);
    enum sotto_status status = settle_old(sql, err);
    status = HOST_THEN(status, write_tags(sql, key, &tags, err));
    status = HOST_THEN(status, write_new(sql, new, tags, err));
    (void)sqlite3_close(sql->db);
    sql->db = NULL;
    status = HOST_THEN(status, rename_new(new, sql->path, err));
    if (status != SOTTO_STATUS_OK) {
        remove_new(new);
    }
    free(new);
    return status;
}
