/*
 * sqlite_upgrade.c: what a store of version 1 becomes: its payloads get their
 * sums, and its tags, which were in buckets of the table `seen`, a run.
 * sqlite_file.c has the statements; here is what they call.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "store/sqlite/sqlite_store.h"

/* A row's records, each `skip` bytes and a payload, with sums behind the
   payloads. */
static uint8_t *
add_sums(const uint8_t *from, size_t count, size_t skip, size_t payload)
{
    size_t old = skip + payload, new = old + SUM_SIZE;
    uint8_t *to = sqlite3_malloc64(count * new + 1);
    for (size_t i = 0; to != NULL && i < count; i++) {
        memcpy(to + i * new, from + i * old, old);
        sqlite_batch_sum(to + i * new + skip, payload);
    }
    return to;
}

/* with_sums(records, skip, payload's size) */
static void
with_sums(sqlite3_context *context, int count, sqlite3_value **value)
{
    const uint8_t *from = sqlite3_value_blob(value[0]);
    sqlite3_int64 size = sqlite3_value_bytes(value[0]);
    sqlite3_int64 skip = sqlite3_value_int64(value[1]);
    sqlite3_int64 payload = sqlite3_value_int64(value[2]);
    (void)count;
    if (from == NULL || skip < 0 || payload <= 0 || payload > INT32_MAX ||
        size % (skip + payload) != 0) {
        sqlite3_result_error_code(context, SQLITE_CORRUPT);
        return;
    }
    size_t records = (size_t)(size / (skip + payload));
    uint8_t *to = add_sums(from, records, (size_t)skip, (size_t)payload);
    if (to == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    sqlite3_result_blob64(context, to,
                          records * ((size_t)(skip + payload) + SUM_SIZE),
                          sqlite3_free);
}

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
    }
    (void)sqlite3_finalize(stream.row);
    free(stream.section);
    free(name);
    return status;
}

/* run_tags(): how many tags the run has */
static void
run_tags(sqlite3_context *context, int count, sqlite3_value **value)
{
    const uint64_t *tags = sqlite3_user_data(context);
    (void)count;
    (void)value;
    sqlite3_result_int64(context, (sqlite3_int64)*tags);
}

enum sotto_status
sqlite_upgrade_prepare(const struct sql *sql, const uint8_t *key,
                       struct sotto_error *err)
{
    uint64_t *tags = sqlite3_malloc64(sizeof *tags);
    if (tags == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = write_tags(sql, key, tags, err);
    if (status != SOTTO_STATUS_OK) {
        sqlite3_free(tags);
        return status;
    }
    int code =
        sqlite3_create_function_v2(sql->db, "run_tags", 0, SQLITE_UTF8, tags,
                                   run_tags, NULL, NULL, sqlite3_free);
    if (code == SQLITE_OK) {
        code = sqlite3_create_function_v2(sql->db, "with_sums", 3,
                                          SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                          NULL, with_sums, NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? SOTTO_STATUS_OK : sql_fail(sql, code, err);
}
