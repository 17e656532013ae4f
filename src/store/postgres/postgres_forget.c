/*
 * postgres_forget.c: ending a campaign for good, in one transaction, while
 * collectors and readers may be at work.
 *
 * The lock on the campaign's row waits for those who are writing rows of it,
 * and dropping its partitions for those who are reading or writing others of
 * the same tables. Locks are waited for so briefly that nobody who waits for
 * this one finds a deadlock, and then all are given back and tried for again.
 *
 * Collectors hear of it when they write next: a put or a commit is REFUSED, and
 * what they have in memory of a window goes nowhere when the window is moved.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/error.h"
#include "store/postgres/postgres_store.h"

#define TRIES 60u /* for about half a minute */

/* ---- Finding ------------------------------------------------------------- */

static enum sotto_status
find_number(const struct postgres_link *link, const uint8_t *hash,
            uint64_t *ret_number, struct sotto_error *err)
{
    PGresult *result = NULL;
    enum sotto_status status = postgres_query(
        link, "SELECT number FROM campaign WHERE hash = $1::bytea",
        POSTGRES_VALUES(POSTGRES_BYTES(hash, SOTTO_HASH_SIZE)), &result, err);
    if (status == SOTTO_STATUS_OK &&
        (PQntuples(result) != 1 ||
         !postgres_number(result, 0, 0, ret_number))) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "the store '%s' has no reports of this mechanism",
                           host_shown(link->url));
    }
    PQclear(result);
    return status;
}

/* ---- Locks --------------------------------------------------------------- */

/* What locks; `ret_busy`: somebody else has what it needs. */
static enum sotto_status
run_locking(const struct postgres_link *link, const char *text, bool *ret_busy,
            struct sotto_error *err)
{
    PGresult *result = PQexec(link->db, text);
    ExecStatusType code = PQresultStatus(result);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    *ret_busy = state != NULL &&
                (strcmp(state, "55P03") == 0 || strcmp(state, "40P01") == 0);
    if (code != PGRES_COMMAND_OK && code != PGRES_TUPLES_OK) {
        return postgres_fail(link, result, err);
    }
    PQclear(result);
    return SOTTO_STATUS_OK;
}

/* Locks the campaign's row and drops what is its own. */
static enum sotto_status
drop_partitions(const struct postgres_link *link, uint64_t number,
                bool *ret_busy, struct sotto_error *err)
{
    char text[200];
    unsigned long long n = number;
    (void)snprintf(text, sizeof text,
                   "SET LOCAL lock_timeout = '200ms';"
                   "SELECT 1 FROM campaign WHERE number = %llu FOR UPDATE;"
                   "DROP TABLE IF EXISTS seen_%llu, part_%llu",
                   n, n, n);
    return run_locking(link, text, ret_busy, err);
}

/* Says whose locks are in the way: an export or a backup may take its time. */
static enum sotto_status
fail_busy(const struct postgres_link *link, struct sotto_error *err)
{
    static const char text[] =
        "SELECT convert_to(coalesce(string_agg(DISTINCT pid::text, ', '), "
        "'none any more'), 'UTF8') FROM pg_locks WHERE granted "
        "AND relation IN ('seen'::regclass, 'part'::regclass, "
        "'campaign'::regclass) AND pid <> pg_backend_pid()";
    PGresult *result = NULL;
    enum sotto_status status =
        postgres_query(link, text, POSTGRES_NONE, &result, err);
    if (status == SOTTO_STATUS_OK) {
        status = host_fail(
            err, SOTTO_STATUS_IO, 0,
            "'%s' is read or written without a pause, by an export or a backup "
            "perhaps, and nothing was forgotten: try again when that is over, "
            "or end it (processes of the server: %.*s)",
            host_shown(link->url), PQgetlength(result, 0, 0),
            PQgetvalue(result, 0, 0));
    }
    PQclear(result);
    return status;
}

/* ---- Deleting ------------------------------------------------------------ */

static enum sotto_status
count_all(const struct postgres_link *link, uint64_t number,
          struct store_counts *ret_counts, struct sotto_error *err)
{
    static const char text[] =
        "SELECT (SELECT coalesce(sum(count), 0)::int8 FROM incoming "
        "WHERE campaign = c.number) + (SELECT coalesce(sum(count), 0)::int8 "
        "FROM held WHERE campaign = c.number), c.released, c.batches "
        "FROM campaign AS c WHERE c.number = $1::int8";
    PGresult *result = NULL;
    enum sotto_status status = postgres_query(
        link, text, POSTGRES_VALUES(POSTGRES_NUMBER(number)), &result, err);
    if (status == SOTTO_STATUS_OK && PQntuples(result) == 1) {
        (void)postgres_number(result, 0, 0, &ret_counts->waiting);
        (void)postgres_number(result, 0, 1, &ret_counts->released);
        (void)postgres_number(result, 0, 2, &ret_counts->batches);
    }
    PQclear(result);
    return status;
}

static enum sotto_status
delete_all(const struct postgres_link *link, uint64_t number,
           struct sotto_error *err)
{
    static const char *const texts[] = {
        "DELETE FROM batch WHERE campaign = $1::int8",
        "DELETE FROM incoming WHERE campaign = $1::int8",
        "DELETE FROM held WHERE campaign = $1::int8",
        "DELETE FROM dropped WHERE campaign = $1::int8"};
    static const char close[] = "UPDATE campaign SET closed = true, "
                                "released = 0, batches = 0 "
                                "WHERE number = $1::int8";
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        status = HOST_THEN(
            status, postgres_query(link, texts[i],
                                   POSTGRES_VALUES(POSTGRES_NUMBER(number)),
                                   NULL, err));
    }
    return HOST_THEN(status,
                     postgres_query(link, close,
                                    POSTGRES_VALUES(POSTGRES_NUMBER(number)),
                                    NULL, err));
}

/* All of it, or nothing. */
static enum sotto_status
try_forget(struct postgres_link *link, uint64_t number, bool *ret_busy,
           struct store_counts *ret_counts, struct sotto_error *err)
{
    enum sotto_status status = postgres_begin(link, err);
    *ret_busy = false;
    status = HOST_THEN(status, drop_partitions(link, number, ret_busy, err));
    status = HOST_THEN(status, count_all(link, number, ret_counts, err));
    status = HOST_THEN(status, delete_all(link, number, err));
    status = HOST_THEN(status, postgres_commit(link, err));
    postgres_roll_back(link);
    return status;
}

static enum sotto_status
forget_number(struct postgres_link *link, uint64_t number,
              struct store_counts *ret_counts, struct sotto_error *err)
{
    const struct timespec pause = {0, 300000000};
    enum sotto_status status = SOTTO_STATUS_OK;
    bool busy = true;
    for (unsigned i = 0; i < TRIES && busy; i++) {
        status = try_forget(link, number, &busy, ret_counts, err);
        if (busy) {
            (void)nanosleep(&pause, NULL);
        }
    }
    return busy ? fail_busy(link, err) : status;
}

/* Room in the tables that are not the campaign's own; what fails of it the
   server does by itself some day. */
static void
give_back(const struct postgres_link *link)
{
    static const char text[] = "VACUUM batch, incoming, held, dropped";
    enum sotto_status status = postgres_run(link, text, NULL);
    (void)status;
}

enum sotto_status
postgres_forget(const char *place, const uint8_t *hash,
                struct store_counts *ret_counts, struct sotto_error *err)
{
    struct postgres_link link = {0};
    struct store_counts counts = {0};
    uint64_t number = 0;
    bool simulation = false;
    char *url = postgres_url(place);
    if (url == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = postgres_init(&link, url, err);
    status = HOST_THEN(status, postgres_connect(&link, false, err));
    status = HOST_THEN(status, postgres_schema_check_server(&link, err));
    status = HOST_THEN(status, postgres_schema_check(&link, &simulation, err));
    status = HOST_THEN(status, find_number(&link, hash, &number, err));
    status = HOST_THEN(status, forget_number(&link, number, &counts, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_counts = counts;
        give_back(&link);
    }
    postgres_clear(&link);
    free(url);
    return status;
}
