/*
 * queue.c: reports that wait to be sent, and the tags of those that arrived.
 *
 *     tag         = BLAKE2b-256(secret, "sotto.tag",  destination, 0, id)
 *     destination = BLAKE2b-256(secret, "sotto.to",   destination)
 *     ledger      = BLAKE2b-256(secret, "sotto.of",   the ledger's check)
 *
 * Putting is one statement, or many in one transaction, and settling one
 * transaction, so a kill leaves a report waiting or not, a batch settled or
 * not.
 */
#include "store/queue.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/bytes.h"
#include "host/error.h"
#include "host/text.h"
#include "host/wipe.h"
#include "report/report.h"
#include "store/sql_file.h"

#define PERSONAL_TAG "sotto.tag\0\0\0\0\0\0\0"
#define PERSONAL_TO "sotto.to\0\0\0\0\0\0\0\0"
#define PERSONAL_OF "sotto.of\0\0\0\0\0\0\0\0"
#define KEY_TRIES 3

_Static_assert(
    sizeof PERSONAL_TAG == crypto_generichash_blake2b_PERSONALBYTES + 1 &&
        sizeof PERSONAL_TO == crypto_generichash_blake2b_PERSONALBYTES + 1 &&
        sizeof PERSONAL_OF == crypto_generichash_blake2b_PERSONALBYTES + 1,
    "as many bytes as BLAKE2b takes");

struct queue {
    struct sql sql; /* no db: a look at a queue that is not there */
    char *path;
    bool look;
    int lock; /* -1: none */
    uint8_t secret[QUEUE_SECRET_SIZE];
};

/* ---- Opening ------------------------------------------------------------ */

static enum sotto_status
open_file(struct queue *queue, struct sotto_error *err)
{
    if (queue->look && access(queue->path, F_OK) != 0) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status =
        queue->look ? SOTTO_STATUS_OK : queue_file_known(queue->path, err);
    if (status == SOTTO_STATUS_OK && !queue->look) {
        status = sql_file_lock(
            queue->path, "another program is sending from the queue",
            "; it goes on, and this one did nothing", &queue->lock, err);
    }
    if (status == SOTTO_STATUS_OK && !queue->look) {
        status = queue_file_make(queue->path, err);
    }
    status =
        HOST_THEN(status, queue_file_open(queue->path, queue->look, &queue->sql,
                                          queue->secret, err));
    return status;
}

enum sotto_status
queue_open(const char *path, bool look, struct queue **ret_queue,
           struct sotto_error *err)
{
    struct queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) {
        return host_fail_memory(err);
    }
    queue->look = look;
    queue->lock = -1;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (look) {
        queue->path = host_text_copy(path, strlen(path));
        status = queue->path == NULL ? host_fail_memory(err) : status;
    } else {
        status = sql_file_resolve(path, &queue->path, err);
    }
    if (status == SOTTO_STATUS_OK && queue->path != NULL) {
        status = open_file(queue, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_queue = queue;
    } else {
        queue_free(queue);
    }
    return host_about(status, err, SOTTO_ABOUT_FILE, path);
}

void
queue_free(struct queue *queue)
{
    if (queue == NULL) {
        return;
    }
    (void)sqlite3_close(queue->sql.db);
    if (queue->lock >= 0) {
        (void)close(queue->lock);
    }
    free(queue->path);
    host_wipe_free(queue, sizeof *queue);
}

static enum sotto_status
fail_look(const struct queue *queue, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "the queue '%s' was opened to be looked at alone",
                     host_shown(queue->path));
}

static enum sotto_status
fail_sql(const struct queue *queue, int code, struct sotto_error *err)
{
    return queue_file_fail(queue->path, sql_fail(&queue->sql, code, err), err);
}

static enum sotto_status
prepare_statement(const struct queue *queue, const char *text,
                  sqlite3_stmt **ret, struct sotto_error *err)
{
    return queue_file_fail(queue->path,
                           sql_prepare(&queue->sql, text, ret, err), err);
}

/* ---- Hashes ------------------------------------------------------------- */

/* Of a destination and, if not NULL, of an id. */
static void
hash_destination(const struct queue *queue, const char *destination,
                 const uint8_t *id, uint8_t ret_hash[QUEUE_TAG_SIZE])
{
    crypto_generichash_blake2b_state state;
    (void)crypto_generichash_blake2b_init_salt_personal(
        &state, queue->secret, sizeof queue->secret, QUEUE_TAG_SIZE, NULL,
        (const unsigned char *)(id != NULL ? PERSONAL_TAG : PERSONAL_TO));
    (void)crypto_generichash_blake2b_update(
        &state, (const unsigned char *)destination, strlen(destination) + 1);
    if (id != NULL) {
        (void)crypto_generichash_blake2b_update(&state, id, SOTTO_ID_SIZE);
    }
    (void)crypto_generichash_blake2b_final(&state, ret_hash, QUEUE_TAG_SIZE);
    sodium_memzero(&state, sizeof state);
}

/* ---- Putting ------------------------------------------------------------ */

/* Under a key drawn at random; one that is taken is drawn again. */
static enum sotto_status
insert_report(const struct queue *queue, sqlite3_stmt *insert,
              const char *destination, const uint8_t *report, size_t size,
              uint64_t ends, struct sotto_error *err)
{
    uint8_t tag[QUEUE_TAG_SIZE], to[QUEUE_TAG_SIZE];
    int code = SQLITE_CONSTRAINT;
    hash_destination(queue, destination, sotto_report_id(report), tag);
    hash_destination(queue, destination, NULL, to);
    for (int i = 0; i < KEY_TRIES && code == SQLITE_CONSTRAINT; i++) {
        uint8_t drawn[sizeof(int64_t)];
        if (sotto_entropy(drawn, sizeof drawn) != 0) {
            return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                             "the system gave no entropy; nothing was queued");
        }
        code = sql_bind(
            insert,
            SQL_VALUES(SQL_NUMBER(bytes_load(drawn, sizeof drawn) >> 1),
                       SQL_BLOB(tag, sizeof tag), SQL_BLOB(to, sizeof to),
                       SQL_BLOB(report, size), SQL_NUMBER(ends)));
        code = code == SQLITE_OK ? sqlite3_step(insert) : code;
        if (code == SQLITE_CONSTRAINT) {
            (void)sqlite3_reset(insert);
        }
    }
    return code == SQLITE_DONE ? SOTTO_STATUS_OK : fail_sql(queue, code, err);
}

enum sotto_status
queue_put(struct queue *queue, const char *destination, const uint8_t *report,
          size_t size, uint64_t ends, struct sotto_error *err)
{
    sqlite3_stmt *insert = NULL;
    if (queue->look) {
        return fail_look(queue, err);
    }
    if (size <= REPORT_HEADER_SIZE) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0, "that is no report");
    }
    enum sotto_status status =
        prepare_statement(queue,
                          "INSERT INTO report (key, tag, destination, report, "
                          "ends) SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS "
                          "(SELECT 1 FROM acknowledged WHERE tag = ?2) "
                          "ON CONFLICT (tag) DO NOTHING",
                          &insert, err);
    status = HOST_THEN(status, insert_report(queue, insert, destination, report,
                                             size, ends, err));
    (void)sqlite3_finalize(insert);
    return status;
}

/* In the order of their keys, into a table that is empty: then neither the
   places of rows nor those of tags in their index say more than the keys. */
#define REWRITE                                                                \
    "CREATE TEMP TABLE kept AS SELECT * FROM report;"                          \
    "DELETE FROM report;"                                                      \
    "INSERT INTO report SELECT * FROM kept ORDER BY key;"                      \
    "DROP TABLE kept"

static bool
is_begun(const struct queue *queue)
{
    return queue->sql.db != NULL && sqlite3_get_autocommit(queue->sql.db) == 0;
}

enum sotto_status
queue_begin(struct queue *queue, struct sotto_error *err)
{
    if (queue->look) {
        return fail_look(queue, err);
    }
    return is_begun(queue)
               ? host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "something was begun in the queue '%s' already",
                           host_shown(queue->path))
               : queue_file_fail(queue->path,
                                 sql_run(&queue->sql, "BEGIN IMMEDIATE", err),
                                 err);
}

enum sotto_status
queue_commit(struct queue *queue, struct sotto_error *err)
{
    if (!is_begun(queue)) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = sql_run(&queue->sql, REWRITE ";COMMIT", err);
    sql_roll_back(&queue->sql);
    return queue_file_fail(queue->path, status, err);
}

/* ---- Taking ------------------------------------------------------------- */

void
queue_batch_clear(struct queue_batch *batch)
{
    free(batch->reports);
    free(batch->key);
    memset(batch, 0, sizeof *batch);
}

/* Room for as many reports of `size` bytes as a batch may have. */
static enum sotto_status
make_room(struct queue_batch *batch, size_t size, size_t most, size_t *ret_room,
          struct sotto_error *err)
{
    size_t fit = QUEUE_BODY_MOST / size, room = most < fit ? most : fit;
    room = room > 0 ? room : 1;
    batch->size = size;
    batch->key = malloc(room * sizeof *batch->key);
    batch->reports = malloc(room * size);
    if (batch->key == NULL || batch->reports == NULL) {
        return host_fail_memory(err);
    }
    *ret_room = room;
    return SOTTO_STATUS_OK;
}

/* The row that a statement stands at, into the batch; it stays out if it has
   another size than the first, which only a damaged file has. */
static enum sotto_status
take_row(const struct queue *queue, sqlite3_stmt *select, size_t most,
         struct queue_batch *batch, size_t *room, struct sotto_error *err)
{
    const void *report = sqlite3_column_blob(select, 1);
    size_t size = (size_t)sqlite3_column_bytes(select, 1);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (report == NULL || size <= REPORT_HEADER_SIZE) {
        return fail_sql(queue, report == NULL ? SQLITE_NOMEM : SQLITE_CORRUPT,
                        err);
    }
    if (batch->count == 0) {
        status = make_room(batch, size, most, room, err);
    }
    if (status == SOTTO_STATUS_OK && size == batch->size &&
        batch->count < *room) {
        batch->key[batch->count] = sqlite3_column_int64(select, 0);
        memcpy(batch->reports + batch->count * size, report, size);
        batch->count++;
        uint64_t ends = (uint64_t)sqlite3_column_int64(select, 2);
        if (batch->ends == 0 || (ends > 0 && ends < batch->ends)) {
            batch->ends = ends;
        }
    }
    return status;
}

static enum sotto_status
take_rows(const struct queue *queue, sqlite3_stmt *select, size_t most,
          struct queue_batch *batch, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    int code = SQLITE_ROW;
    size_t room = 1;
    while (status == SOTTO_STATUS_OK && batch->count < room &&
           (code = sqlite3_step(select)) == SQLITE_ROW) {
        status = take_row(queue, select, most, batch, &room, err);
    }
    if (status == SOTTO_STATUS_OK && code != SQLITE_ROW &&
        code != SQLITE_DONE) {
        status = fail_sql(queue, code, err);
    }
    return status;
}

/* substr counts from 1: a report's bytes 4 to 35 are its mechanism's hash. */
#define OPEN "(ends = 0 OR ends > ?2)"
#define WAITING "destination = ?1 AND refused IS NULL AND " OPEN
#define SELECT_NEXT                                                            \
    "SELECT key, report, ends FROM report WHERE " WAITING                      \
    " AND substr(report, 5, 32) = (SELECT substr(report, 5, 32) "              \
    "FROM report WHERE " WAITING " ORDER BY key LIMIT 1) "                     \
    "ORDER BY key LIMIT ?3"

enum sotto_status
queue_next(struct queue *queue, const char *destination, uint64_t now,
           size_t most, struct queue_batch *ret_batch, struct sotto_error *err)
{
    struct queue_batch batch = {0};
    uint8_t to[QUEUE_TAG_SIZE];
    sqlite3_stmt *select = NULL;
    if (queue->sql.db == NULL) {
        *ret_batch = batch;
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status =
        prepare_statement(queue, SELECT_NEXT, &select, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    hash_destination(queue, destination, NULL, to);
    int code = sql_bind(select, SQL_VALUES(SQL_BLOB(to, sizeof to),
                                           SQL_NUMBER(now), SQL_NUMBER(most)));
    status = code == SQLITE_OK ? take_rows(queue, select, most, &batch, err)
                               : fail_sql(queue, code, err);
    (void)sqlite3_finalize(select);
    if (status == SOTTO_STATUS_OK) {
        *ret_batch = batch;
    } else {
        queue_batch_clear(&batch);
    }
    return status;
}

/* Reads the one number that a statement gives for one hash. */
static enum sotto_status
read_number(const struct queue *queue, const char *text,
            const uint8_t of[QUEUE_TAG_SIZE], int64_t *ret_number,
            struct sotto_error *err)
{
    enum sotto_status status =
        sql_read(&queue->sql, text, SQL_VALUES(SQL_BLOB(of, QUEUE_TAG_SIZE)),
                 SQL_TARGETS(SQL_INTO(ret_number)), err);
    return queue_file_fail(queue->path, status, err);
}

enum sotto_status
queue_count(struct queue *queue, const char *destination, uint64_t now,
            struct queue_count *ret_count, struct sotto_error *err)
{
    uint8_t to[QUEUE_TAG_SIZE];
    int64_t waiting = 0, refused = 0, ended = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    hash_destination(queue, destination, NULL, to);
    if (queue->sql.db != NULL) {
        status = sql_read(
            &queue->sql,
            "SELECT count(*) FILTER (WHERE refused IS NULL AND " OPEN "), "
            "count(*) FILTER (WHERE refused IS NOT NULL AND " OPEN "), "
            "count(*) FILTER (WHERE NOT " OPEN ") "
            "FROM report WHERE destination = ?1",
            SQL_VALUES(SQL_BLOB(to, sizeof to), SQL_NUMBER(now)),
            SQL_TARGETS(SQL_INTO(&waiting), SQL_INTO(&refused),
                        SQL_INTO(&ended)),
            err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_count = (struct queue_count){(size_t)waiting, (size_t)refused,
                                          (size_t)ended};
    }
    return queue_file_fail(queue->path, status, err);
}

/* ---- Settling ----------------------------------------------------------- */

/* Runs a statement for one row: ?1 its key, ?2 a code if there is one. */
static enum sotto_status
settle_row(const struct queue *queue, sqlite3_stmt *statement, int64_t key,
           const char *text, struct sotto_error *err)
{
    struct sql_value refusal = {.kind = SQL_END};
    if (text != NULL) {
        refusal = SQL_TEXT(text, strlen(text));
    }
    int code = sql_bind(statement, SQL_VALUES(SQL_NUMBER(key), refusal));
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    enum sotto_status status =
        code == SQLITE_DONE ? SOTTO_STATUS_OK : fail_sql(queue, code, err);
    (void)sqlite3_reset(statement);
    return status;
}

/* The statements of a settlement. */
enum { SETTLE_NOTE, SETTLE_REMOVE, SETTLE_MARK, SETTLE_COUNT };

static const char *const settle_text[SETTLE_COUNT] = {
    [SETTLE_NOTE] = ("INSERT OR IGNORE INTO acknowledged "
                     "SELECT tag FROM report WHERE key = ?1"),
    [SETTLE_REMOVE] = "DELETE FROM report WHERE key = ?1",
    [SETTLE_MARK] = "UPDATE report SET refused = ?2 WHERE key = ?1"};

static enum sotto_status
settle_rows(const struct queue *queue, sqlite3_stmt *const with[SETTLE_COUNT],
            const struct queue_batch *batch, const char *const *refusal,
            struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < batch->count && status == SOTTO_STATUS_OK; i++) {
        if (refusal[i] != NULL) {
            status = settle_row(queue, with[SETTLE_MARK], batch->key[i],
                                refusal[i], err);
            continue;
        }
        status = settle_row(queue, with[SETTLE_NOTE], batch->key[i], NULL, err);
        status = HOST_THEN(status, settle_row(queue, with[SETTLE_REMOVE],
                                              batch->key[i], NULL, err));
    }
    return status;
}

enum sotto_status
queue_settle(struct queue *queue, const struct queue_batch *batch,
             const char *const *refusal, struct sotto_error *err)
{
    sqlite3_stmt *with[SETTLE_COUNT] = {NULL};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (queue->look) {
        return fail_look(queue, err);
    }
    for (int i = 0; i < SETTLE_COUNT && status == SOTTO_STATUS_OK; i++) {
        status = prepare_statement(queue, settle_text[i], &with[i], err);
    }
    status = HOST_THEN(
        status,
        queue_file_fail(queue->path,
                        sql_run(&queue->sql, "BEGIN IMMEDIATE", err), err));
    status = HOST_THEN(status, settle_rows(queue, with, batch, refusal, err));
    status = HOST_THEN(
        status,
        queue_file_fail(queue->path, sql_run(&queue->sql, "COMMIT", err), err));
    for (int i = 0; i < SETTLE_COUNT; i++) {
        (void)sqlite3_finalize(with[i]);
    }
    sql_roll_back(&queue->sql);
    return status;
}

/* ---- Refused, and ended -------------------------------------------------- */

/* Runs a statement with one hash. */
static enum sotto_status
run_with(const struct queue *queue, const char *text,
         const uint8_t of[QUEUE_TAG_SIZE], struct sotto_error *err)
{
    return queue_file_fail(queue->path,
                           sql_execute(&queue->sql, text,
                                       SQL_VALUES(SQL_BLOB(of, QUEUE_TAG_SIZE)),
                                       err),
                           err);
}

enum sotto_status
queue_retry(struct queue *queue, const char *destination,
            struct sotto_error *err)
{
    uint8_t to[QUEUE_TAG_SIZE];
    if (queue->look) {
        return fail_look(queue, err);
    }
    hash_destination(queue, destination, NULL, to);
    return run_with(queue,
                    "UPDATE report SET refused = NULL "
                    "WHERE destination = ?1 AND refused IS NOT NULL",
                    to, err);
}

enum sotto_status
queue_drop(struct queue *queue, const char *destination, uint64_t now,
           struct sotto_error *err)
{
    uint8_t to[QUEUE_TAG_SIZE];
    if (queue->look) {
        return fail_look(queue, err);
    }
    hash_destination(queue, destination, NULL, to);
    return queue_file_fail(
        queue->path,
        sql_execute(&queue->sql,
                    "DELETE FROM report WHERE destination = ?1 AND NOT " OPEN,
                    SQL_VALUES(SQL_BLOB(to, sizeof to), SQL_NUMBER(now)), err),
        err);
}

/* ---- The ledger --------------------------------------------------------- */

enum sotto_status
queue_bind(struct queue *queue, const uint8_t *check, size_t size,
           uint64_t *ret_mark, struct sotto_error *err)
{
    uint8_t of[QUEUE_TAG_SIZE];
    int64_t other = 0, mark = 0;
    if (queue->sql.db == NULL) {
        *ret_mark = 0;
        return SOTTO_STATUS_OK;
    }
    (void)crypto_generichash_blake2b_salt_personal(
        of, sizeof of, check, size, queue->secret, sizeof queue->secret, NULL,
        (const unsigned char *)PERSONAL_OF);
    enum sotto_status status =
        queue->look
            ? SOTTO_STATUS_OK
            : run_with(queue,
                       "UPDATE queue SET ledger = ?1 WHERE ledger IS NULL", of,
                       err);
    status = HOST_THEN(
        status,
        read_number(queue, "SELECT coalesce(ledger, ?1) <> ?1 FROM queue", of,
                    &other, err));
    if (status == SOTTO_STATUS_OK && other != 0) {
        status = host_fail(
            err, SOTTO_STATUS_REFUSED, 0,
            "the queue '%s' is of another ledger: the two could ask the same "
            "people, and somebody's record would be told twice; put the ledger "
            "it was made with back, or name another queue",
            host_shown(queue->path));
    }
    if (status == SOTTO_STATUS_OK && !queue->look) {
        status = queue_file_fail(
            queue->path,
            sql_integer(&queue->sql, "SELECT mark FROM queue", &mark, err),
            err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_mark = (uint64_t)mark;
    }
    return status;
}

enum sotto_status
queue_mark(struct queue *queue, uint64_t mark, struct sotto_error *err)
{
    return queue->look
               ? fail_look(queue, err)
               : queue_file_fail(
                     queue->path,
                     sql_execute(&queue->sql,
                                 "UPDATE queue SET mark = ?1 WHERE mark < ?1",
                                 SQL_VALUES(SQL_NUMBER(mark)), err),
                     err);
}
