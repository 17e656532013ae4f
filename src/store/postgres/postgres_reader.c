/*
 * postgres_reader.c: reading batches, while collectors may be at work.
 *
 * A batch and its parts never change once they are there, so two statements see
 * the same. A payload that does not fit its check is left out and counted.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/text.h"
#include "report/report.h"
#include "store/postgres/postgres_store.h"

struct postgres_reader {
    struct postgres_link link;
    bool simulation;
};

_Static_assert(TAG_SIZE == SOTTO_ID_SIZE, "a release's key stands for an id");

char *
postgres_url(const char *place)
{
    return host_text_path("postgresql:%s", place);
}

void
postgres_reader_close(void *own)
{
    struct postgres_reader *reader = own;
    if (reader != NULL) {
        postgres_clear(&reader->link);
    }
    free(reader);
}

static enum sotto_status
connect_reader(struct postgres_reader *reader, struct sotto_error *err)
{
    enum sotto_status status = postgres_connect(&reader->link, true, err);
    return HOST_THEN(
        status, postgres_schema_check(&reader->link, &reader->simulation, err));
}

enum sotto_status
postgres_reader_open(const char *place, void **ret, bool *ret_simulation,
                     struct sotto_error *err)
{
    struct postgres_reader *reader = calloc(1, sizeof *reader);
    char *url = postgres_url(place);
    if (reader == NULL || url == NULL) {
        free(reader);
        free(url);
        return host_fail_memory(err);
    }
    enum sotto_status status = postgres_init(&reader->link, url, err);
    status = HOST_THEN(status, connect_reader(reader, err));
    free(url);
    if (status == SOTTO_STATUS_OK) {
        *ret_simulation = reader->simulation;
        *ret = reader;
    } else {
        postgres_reader_close(reader);
    }
    return status;
}

/* ---- Parts --------------------------------------------------------------- */

/* A batch on its way from its parts. */
struct assembly {
    const struct postgres_reader *reader;
    const uint8_t *hash;
    uint64_t campaign, number, count, parts, payload;
    uint64_t part, seen; /* parts and reports so far */
    struct store_batch batch;
    uint8_t *to;
};

static enum sotto_status
fail_damaged(const struct assembly *a, const char *what,
             struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "the store '%s' is damaged: batch %llu of campaign %llu "
                     "%s",
                     host_shown(a->reader->link.url),
                     (unsigned long long)a->number,
                     (unsigned long long)a->campaign, what);
}

/* A whole report of a (key, payload, check) triple. */
static void
write_report(struct assembly *a, const uint8_t *triple)
{
    const char *magic =
        a->reader->simulation ? REPORT_MAGIC_SIMULATED : REPORT_MAGIC;
    size_t pair = TAG_SIZE + (size_t)a->payload;
    memcpy(a->to, magic, REPORT_MAGIC_SIZE);
    memcpy(a->to + REPORT_MAGIC_SIZE, a->hash, SOTTO_HASH_SIZE);
    memcpy(a->to + REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE, triple, pair);
    a->to += REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE + pair;
    a->batch.count++;
}

static enum sotto_status
take_part(void *context, const PGresult *row, struct sotto_error *err)
{
    struct assembly *a = context;
    size_t record = TAG_SIZE + (size_t)a->payload + CHECK_SIZE;
    const uint8_t *triple = (const uint8_t *)PQgetvalue(row, 0, 1);
    size_t size = (size_t)PQgetlength(row, 0, 1);
    uint64_t part = 0;
    if (!postgres_number(row, 0, 0, &part) || part != a->part++ ||
        size % record != 0 || size / record > a->count - a->seen) {
        return fail_damaged(a, "has a part of the wrong size, or lacks one",
                            err);
    }
    for (size_t i = 0; i < size / record; i++, triple += record) {
        a->seen++;
        if (postgres_check_fits(triple + TAG_SIZE, (size_t)a->payload)) {
            write_report(a, triple);
        } else {
            a->batch.damaged++;
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_parts(struct assembly *a, struct sotto_error *err)
{
    uint64_t report = REPORT_HEADER_SIZE + a->payload;
    if (a->count > SIZE_MAX / report) {
        return fail_damaged(a, "is of the wrong size", err);
    }
    a->to = malloc((size_t)(a->count * report));
    if (a->to == NULL) {
        return host_fail_memory(err);
    }
    a->batch.reports = a->to;
    a->batch.number = a->number;
    enum sotto_status status = postgres_each(
        &a->reader->link,
        "SELECT part, reports FROM part WHERE campaign = $1::int8::int4 "
        "AND number = $2::int8 ORDER BY part",
        POSTGRES_VALUES(POSTGRES_NUMBER(a->campaign),
                        POSTGRES_NUMBER(a->number)),
        take_part, a, err);
    if (status == SOTTO_STATUS_OK &&
        (a->part != a->parts || a->seen != a->count)) {
        status = fail_damaged(a, "lacks a part", err);
    }
    a->batch.size = a->batch.count * (size_t)report;
    return status;
}

/* ---- Batches ------------------------------------------------------------- */

/* The numbers of the first batch behind `after`; `a->number` 0: none. */
static enum sotto_status
find_batch(struct assembly *a, uint64_t after, struct sotto_error *err)
{
    uint64_t behind = after < INT64_MAX ? after : INT64_MAX;
    PGresult *result = NULL;
    enum sotto_status status = postgres_query(
        &a->reader->link,
        "SELECT c.number, b.number, b.count, b.parts, c.payload_size "
        "FROM campaign AS c JOIN batch AS b ON b.campaign = c.number "
        "WHERE c.hash = $1::bytea AND b.number > $2::int8 "
        "ORDER BY b.number LIMIT 1",
        POSTGRES_VALUES(POSTGRES_BYTES(a->hash, SOTTO_HASH_SIZE),
                        POSTGRES_NUMBER(behind)),
        &result, err);
    if (status == SOTTO_STATUS_OK && PQntuples(result) > 0 &&
        (!postgres_number(result, 0, 0, &a->campaign) ||
         !postgres_number(result, 0, 1, &a->number) ||
         !postgres_number(result, 0, 2, &a->count) || a->count == 0 ||
         !postgres_number(result, 0, 3, &a->parts) ||
         !postgres_number(result, 0, 4, &a->payload) || a->payload == 0)) {
        status = fail_damaged(a, "is wrong", err);
    }
    PQclear(result);
    return status;
}

/* Whether a batch that lacks parts went with its campaign meanwhile. */
static bool
is_forgotten(const struct assembly *a)
{
    struct assembly again = {.reader = a->reader, .hash = a->hash};
    return a->number != 0 &&
           find_batch(&again, a->number - 1, NULL) == SOTTO_STATUS_OK &&
           again.number == 0;
}

enum sotto_status
postgres_reader_next(void *own, const uint8_t *hash, uint64_t after,
                     struct store_batch *ret_batch, struct sotto_error *err)
{
    struct postgres_reader *reader = own;
    struct assembly a = {.reader = reader, .hash = hash};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!postgres_is_up(&reader->link)) {
        status = connect_reader(reader, err);
    }
    status = HOST_THEN(status, find_batch(&a, after, err));
    if (status == SOTTO_STATUS_OK && a.number != 0) {
        status = read_parts(&a, err);
    }
    if (status == SOTTO_STATUS_FORMAT && is_forgotten(&a)) {
        free(a.batch.reports);
        *ret_batch = (struct store_batch){0};
        return SOTTO_STATUS_OK;
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_batch = a.batch;
    } else {
        free(a.batch.reports);
    }
    return status;
}
