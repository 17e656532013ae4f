/*
 * postgres_store.c: the writer's side of the PostgreSQL back-end: opening,
 * campaigns, transactions.
 *
 * What is counted in memory is read again after a rollback, and so after a
 * connection was lost: what was not acknowledged is then there or not, whole,
 * and this says which.
 *
 * For as long as a writer lives it has a lock on its folder of keys, which
 * keeps a second one of this machine out, and for each connection a lock of the
 * server on this collector, which keeps out one that has a copy of the folder.
 * A connection that the server has not yet found to be dead still has that
 * lock: it is ended, for nobody else can have its number.
 */
#include "store/postgres/postgres_store.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "host/error.h"
#include "host/wipe.h"

#define LOCK_TRIES 100u /* for two seconds */

static const struct postgres_limits usual_limits = {
    .window_bytes = (uint64_t)256 << 20,
    .batch_bytes = (uint64_t)512 << 20,
};

enum sotto_status
postgres_check_begun(const struct postgres_store *store,
                     struct sotto_error *err)
{
    return store->begun && !store->failed
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "nothing was begun in '%s', or it has failed",
                           host_shown(store->link.url));
}

/* ---- Connecting ---------------------------------------------------------- */

/* The number of this collector's lock. */
static int64_t
lock_number(const struct postgres_store *store)
{
    uint64_t number = 0;
    memcpy(&number, window_keys_collector(store->keys), sizeof number);
    return (int64_t)(number >> 1);
}

static enum sotto_status
try_lock(struct postgres_store *store, bool *ret_locked,
         struct sotto_error *err)
{
    PGresult *result = NULL;
    uint64_t locked = 0;
    enum sotto_status status = postgres_query(
        &store->link, "SELECT pg_try_advisory_lock($1::int8)",
        POSTGRES_VALUES(POSTGRES_NUMBER(lock_number(store))), &result, err);
    if (status == SOTTO_STATUS_OK) {
        (void)postgres_number(result, 0, 0, &locked);
        *ret_locked = locked != 0;
    }
    PQclear(result);
    return status;
}

/* Ends the connection before this one, if it still has the lock. */
static enum sotto_status
end_backend(struct postgres_store *store, struct sotto_error *err)
{
    static const char text[] =
        "SELECT pg_terminate_backend(pid) FROM pg_locks "
        "WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
        "AND database = (SELECT oid FROM pg_database "
        "WHERE datname = current_database()) "
        "AND (classid::int8 << 32) + objid::int8 = $1::int8 "
        "AND pid = $2::int8";
    return store->backend == 0
               ? SOTTO_STATUS_OK
               : postgres_query(
                     &store->link, text,
                     POSTGRES_VALUES(POSTGRES_NUMBER(lock_number(store)),
                                     POSTGRES_NUMBER(store->backend)),
                     NULL, err);
}

/* The server needs a moment to find out that a program has ended. */
static enum sotto_status
lock_collector(struct postgres_store *store, struct sotto_error *err)
{
    const struct timespec pause = {0, 20000000};
    bool locked = false;
    enum sotto_status status = try_lock(store, &locked, err);
    if (status == SOTTO_STATUS_OK && !locked) {
        status = end_backend(store, err);
    }
    for (unsigned i = 0; i < LOCK_TRIES && status == SOTTO_STATUS_OK && !locked;
         i++) {
        (void)nanosleep(&pause, NULL);
        status = try_lock(store, &locked, err);
    }
    if (status == SOTTO_STATUS_OK && !locked) {
        status = host_fail(err, SOTTO_STATUS_IO, 0,
                           "'%s' has a writer already with the keys of '%s': "
                           "end it first, or give this collector a folder of "
                           "its own",
                           host_shown(store->link.url),
                           host_shown(window_keys_folder(store->keys)));
    }
    if (status == SOTTO_STATUS_OK) {
        store->backend = PQbackendPID(store->link.db);
    }
    return status;
}

/* By which a store is also known again on a later connection: one that was made
   anew has forgotten whose reports it had. */
static enum sotto_status
read_tag_key(struct postgres_store *store, struct sotto_error *err)
{
    PGresult *result = NULL;
    uint8_t key[TAG_KEY_SIZE] = {0};
    enum sotto_status status =
        postgres_query(&store->link, "SELECT tag_key FROM secret",
                       POSTGRES_NONE, &result, err);
    if (status == SOTTO_STATUS_OK &&
        (PQntuples(result) != 1 ||
         !postgres_bytes(result, 0, 0, key, TAG_KEY_SIZE))) {
        status =
            postgres_fail_damaged(store, "the key of its tags is gone", err);
    } else if (status == SOTTO_STATUS_OK && store->known &&
               memcmp(store->tag_key, key, TAG_KEY_SIZE) != 0) {
        status = postgres_fail_damaged(
            store, "another store has taken its place", err);
    }
    if (status == SOTTO_STATUS_OK) {
        memcpy(store->tag_key, key, TAG_KEY_SIZE);
        store->known = true;
    }
    sodium_memzero(key, sizeof key);
    PQclear(result);
    return status;
}

/* A connection with all that a writer needs of it. */
static enum sotto_status
connect_writer(struct postgres_store *store, bool simulation,
               struct sotto_error *err)
{
    enum sotto_status status = postgres_connect(&store->link, false, err);
    store->stale = true;
    status = HOST_THEN(status, postgres_schema_check_server(&store->link, err));
    if (status == SOTTO_STATUS_OK && !store->known) {
        status = postgres_schema_prepare(&store->link, simulation, err);
    }
    status = HOST_THEN(
        status, postgres_schema_check(&store->link, &store->simulation, err));
    status = HOST_THEN(status, postgres_schema_check_purpose(&store->link,
                                                             store->simulation,
                                                             simulation, err));
    status = HOST_THEN(status, read_tag_key(store, err));
    status = HOST_THEN(status, lock_collector(store, err));
    if (status != SOTTO_STATUS_OK) { /* without it nothing may be written */
        PQfinish(store->link.db);
        store->link.db = NULL;
    }
    return status;
}

enum sotto_status
postgres_make_ready(struct postgres_store *store, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!postgres_is_up(&store->link)) {
        status = connect_writer(store, store->simulation, err);
    }
    return HOST_THEN(status, postgres_load(store, err));
}

static void
close_store(void *own)
{
    struct postgres_store *store = own;
    if (store == NULL) {
        return;
    }
    postgres_roll_back(&store->link);
    if (postgres_is_up(&store->link)) { /* for whoever opens it next */
        PQclear(PQexec(store->link.db, "SELECT pg_advisory_unlock_all()"));
    }
    postgres_clear(&store->link);
    postgres_unload(store);
    window_keys_free(store->keys);
    host_wipe_free(store, sizeof *store);
}

static enum sotto_status
open_store(const char *place, const char *keys, bool simulation, void **ret,
           struct sotto_error *err)
{
    struct postgres_store *store = calloc(1, sizeof *store);
    char *url = postgres_url(place);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (store == NULL || url == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    store->limits = usual_limits;
    store->stale = true;
    status = postgres_init(&store->link, url, err);
    status = HOST_THEN(status, window_keys_open(keys, &store->keys, err));
    status = HOST_THEN(status, connect_writer(store, simulation, err));
    status = HOST_THEN(status, postgres_load(store, err));
done:
    free(url);
    if (status == SOTTO_STATUS_OK) {
        *ret = store;
    } else {
        close_store(store);
    }
    return status;
}

static enum sotto_status
try_store(const char *place, const char *keys, bool simulation, bool *ret_new,
          struct sotto_error *err)
{
    struct postgres_link link = {0};
    bool there = false;
    char *url = postgres_url(place);
    if (url == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = postgres_init(&link, url, err);
    status = HOST_THEN(status, window_keys_try(keys, &there, err));
    status = HOST_THEN(status, postgres_connect(&link, true, err));
    status = HOST_THEN(status, postgres_schema_check_server(&link, err));
    status =
        HOST_THEN(status, postgres_schema_try(&link, simulation, ret_new, err));
    postgres_clear(&link);
    free(url);
    return status;
}

/* A copy that is of one moment is the server's to make; what it may not have is
   ours to say. */
static enum sotto_status
refuse_backup(const char *place, const char *to, struct sotto_error *err)
{
    (void)place;
    (void)to;
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "a store on a server is backed up by the server's own "
                     "tools: all of it by pg_basebackup and an archive of the "
                     "log, or what was released by pg_dump, without what is in "
                     "the tables collector, incoming, held and dropped; never "
                     "copy a folder of window keys (docs/postgres.md)");
}

/* ---- Campaigns ----------------------------------------------------------- */

/* The campaign with that hash; NULL: it is not known here. */
static const struct postgres_campaign *
find_campaign(const struct postgres_store *store, const uint8_t *hash)
{
    for (uint32_t i = 0; i < store->campaigns; i++) {
        if (memcmp(store->campaign[i].hash, hash, SOTTO_HASH_SIZE) == 0) {
            return &store->campaign[i];
        }
    }
    return NULL;
}

/* In a transaction, with the lock, behind all that others have noted. */
static enum sotto_status
insert_campaign(struct postgres_store *store, const uint8_t *hash,
                const char *name, size_t payload_size, struct sotto_error *err)
{
    uint32_t number = store->campaigns + 1;
    enum sotto_status status = postgres_query(
        &store->link,
        "INSERT INTO campaign VALUES ($1::int8, $2::bytea, "
        "convert_from($3::bytea, 'UTF8'), $4::int8, 0, 0, false)",
        POSTGRES_VALUES(
            POSTGRES_NUMBER(number), POSTGRES_BYTES(hash, SOTTO_HASH_SIZE),
            POSTGRES_BYTES(name, strlen(name)), POSTGRES_NUMBER(payload_size)),
        NULL, err);
    return HOST_THEN(status,
                     postgres_schema_partition(&store->link, number, err));
}

static enum sotto_status
add_campaign(struct postgres_store *store, const uint8_t *hash,
             const char *name, size_t payload_size, struct sotto_error *err)
{
    enum sotto_status status = postgres_begin(&store->link, err);
    status = HOST_THEN(status, postgres_schema_lock(&store->link, err));
    status = HOST_THEN(status, postgres_load_campaigns(store, err));
    if (status == SOTTO_STATUS_OK && find_campaign(store, hash) == NULL) {
        status = insert_campaign(store, hash, name, payload_size, err);
    }
    status = HOST_THEN(status, postgres_commit(&store->link, err));
    if (status != SOTTO_STATUS_OK) {
        postgres_roll_back(&store->link);
        return status;
    }
    return postgres_load_campaigns(store, err);
}

static enum sotto_status
check_open(struct postgres_store *store, uint32_t number,
           struct sotto_error *err)
{
    PGresult *result = NULL;
    uint64_t closed = 0;
    enum sotto_status status = postgres_query(
        &store->link, "SELECT closed FROM campaign WHERE number = $1::int8",
        POSTGRES_VALUES(POSTGRES_NUMBER(number)), &result, err);
    if (status == SOTTO_STATUS_OK && PQntuples(result) == 1) {
        (void)postgres_number(result, 0, 0, &closed);
    }
    PQclear(result);
    return closed == 0 ? status : postgres_fail_closed(store, number, err);
}

static enum sotto_status
note_campaign(void *own, const uint8_t *hash, const char *name,
              size_t payload_size, uint32_t *ret_campaign,
              struct sotto_error *err)
{
    struct postgres_store *store = own;
    if (store->begun) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a campaign is noted before something is begun");
    }
    enum sotto_status status = postgres_make_ready(store, err);
    if (status == SOTTO_STATUS_OK && find_campaign(store, hash) == NULL) {
        status = add_campaign(store, hash, name, payload_size, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    const struct postgres_campaign *campaign = find_campaign(store, hash);
    if (campaign == NULL) {
        return postgres_fail_damaged(store, "a campaign is gone", err);
    }
    uint32_t number = (uint32_t)(campaign - store->campaign) + 1;
    if (campaign->payload_size != payload_size) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "the store '%s' knows this mechanism with reports of "
                         "%zu bytes, not %zu",
                         host_shown(store->link.url), campaign->payload_size,
                         payload_size);
    }
    status = check_open(store, number, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_campaign = number;
    }
    return status;
}

/* ---- Transactions -------------------------------------------------------- */

static void
roll_back(void *own)
{
    struct postgres_store *store = own;
    postgres_roll_back(&store->link);
    store->stale = store->stale || store->begun;
    store->begun = false;
    store->failed = false;
}

/* The server hears of it with the first row. */
static enum sotto_status
begin_commit(void *own, struct sotto_error *err)
{
    struct postgres_store *store = own;
    if (store->begun || store->failed) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "something was begun in '%s' already",
                         host_shown(store->link.url));
    }
    enum sotto_status status = postgres_make_ready(store, err);
    store->begun = status == SOTTO_STATUS_OK;
    return status;
}

/* Nobody is told that something is on disk while the server would still roll it
   back. */
static enum sotto_status
check_idle(const struct postgres_store *store, struct sotto_error *err)
{
    return PQtransactionStatus(store->link.db) == PQTRANS_IDLE
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_IO, 0,
                           "the server of '%s' has not ended a transaction",
                           host_shown(store->link.url));
}

/* What fails behind the first commit leaves what was put stored, unsaid: it is
   a duplicate when it is put again. */
static enum sotto_status
end_commit(void *own, struct sotto_error *err)
{
    struct postgres_store *store = own;
    enum sotto_status status = postgres_check_begun(store, err);
    status = HOST_THEN(status, postgres_put_commit(store, err));
    status = HOST_THEN(status, postgres_window_finish(store, err));
    status = HOST_THEN(status, check_idle(store, err));
    if (status == SOTTO_STATUS_OK) {
        store->begun = false;
    } else {
        roll_back(store);
    }
    return status;
}

/* ---- The back-end -------------------------------------------------------- */

/* Of all collectors. */
static enum sotto_status
count_reports(void *own, uint32_t number, struct store_counts *ret_counts,
              struct sotto_error *err)
{
    static const char text[] =
        "SELECT (SELECT coalesce(sum(count), 0)::int8 FROM incoming "
        "WHERE campaign = c.number) + (SELECT coalesce(sum(count), 0)::int8 "
        "FROM held WHERE campaign = c.number), c.released, c.batches, "
        /* held: of windows that have ended, moved or not */
        "(SELECT coalesce(sum(count), 0)::int8 FROM held "
        "WHERE campaign = c.number) + (SELECT coalesce(sum(i.count), 0)::int8 "
        "FROM incoming AS i JOIN collector AS k ON k.id = i.collector "
        "WHERE i.campaign = c.number AND i.key <> "
        "CASE k.active WHEN 0 THEN k.key_0 ELSE k.key_1 END), c.closed "
        "FROM campaign AS c WHERE c.number = $1::int8";
    struct postgres_store *store = own;
    PGresult *result = NULL;
    enum sotto_status status =
        store->begun ? SOTTO_STATUS_OK : postgres_make_ready(store, err);
    status = HOST_THEN(status,
                       postgres_query(&store->link, text,
                                      POSTGRES_VALUES(POSTGRES_NUMBER(number)),
                                      &result, err));
    if (status == SOTTO_STATUS_OK && PQntuples(result) != 1) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "no campaign has number %u", number);
    }
    if (status == SOTTO_STATUS_OK) {
        struct store_counts counts = {0};
        uint64_t closed = 0;
        (void)postgres_number(result, 0, 0, &counts.waiting);
        (void)postgres_number(result, 0, 1, &counts.released);
        (void)postgres_number(result, 0, 2, &counts.batches);
        (void)postgres_number(result, 0, 3, &counts.held);
        counts.closed = postgres_number(result, 0, 4, &closed) && closed != 0;
        *ret_counts = counts;
    }
    PQclear(result);
    return status;
}

const struct store_backend store_postgres = {
    .kind = "postgres",
    .close = close_store,
    .campaign = note_campaign,
    .begin = begin_commit,
    .put = postgres_put,
    .commit = end_commit,
    .rollback = roll_back,
    .end_window = postgres_window_end,
    .advance = postgres_window_advance,
    .scrub = postgres_scrub,
    .count = count_reports,
    .reader_open = postgres_reader_open,
    .reader_close = postgres_reader_close,
    .reader_next = postgres_reader_next,
    .open_with_keys = open_store,
    .put_many = postgres_put_many,
    .forget_at = postgres_forget,
    .backup = refuse_backup,
    .checker_open_with_keys = postgres_checker_open,
    .checker_close = postgres_checker_close,
    .checker_step = postgres_checker_step,
    .try_open = try_store,
};
