/*
 * postgres_check.c: looking at all that is kept, in pieces, while collectors
 * and readers go on.
 *
 *     LOOK_BATCHES --> LOOK_INCOMING, LOOK_HELD, LOOK_DROPPED --> LOOK_REST
 *     part by part     row by row                                 tables
 *
 * Every piece is a statement of its own. A row that is sealed shows its size
 * and whose it is; the rest of it is for whoever has the key: its collector,
 * which opens it when the window is moved, or a check with the folder of keys.
 * How the server's own pages and indexes hang together is for its own tools.
 */
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "store/postgres/postgres_store.h"

enum look {
    LOOK_BATCHES,
    LOOK_INCOMING,
    LOOK_HELD,
    LOOK_DROPPED,
    LOOK_REST,
    LOOKS
};

#define ROW_BYTES                                                              \
    ((size_t)64) /* that a look at any row counts for, at least                \
                  */

/* A batch that is being looked at. */
struct look_batch {
    bool open;
    uint64_t count, parts, payload;
    uint64_t part, seen; /* parts and reports so far */
    bool lacking;        /* a part that could not be counted */
};

struct postgres_checker {
    struct postgres_link link;
    struct window_keys *keys; /* NULL: none */
    void (*tell)(void *context, const char *text);
    void *context;
    struct store_damage damage; /* of this round */
    enum look look;
    uint64_t campaign, number; /* of the last batch */
    struct look_batch batch;
    uint8_t collector[COLLECTOR_ID_SIZE]; /* of the last row that waits */
    uint64_t key, row_campaign;
    uint8_t place[TAG_SIZE];
};

void
postgres_checker_close(void *own)
{
    struct postgres_checker *checker = own;
    if (checker != NULL) {
        postgres_clear(&checker->link);
        window_keys_free(checker->keys);
    }
    free(checker);
}

/* ---- Opening ------------------------------------------------------------- */

static enum sotto_status
connect_checker(struct postgres_checker *checker, struct sotto_error *err)
{
    bool simulation = false;
    enum sotto_status status = postgres_connect(&checker->link, true, err);
    return HOST_THEN(status,
                     postgres_schema_check(&checker->link, &simulation, err));
}

/* A folder that is nobody's yet opens nothing, and is not made here. */
static enum sotto_status
open_keys(struct postgres_checker *checker, const char *keys,
          struct sotto_error *err)
{
    bool there = false;
    if (keys == NULL) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = window_keys_try(keys, &there, err);
    if (status == SOTTO_STATUS_OK && !there) {
        status = host_fail(err, SOTTO_STATUS_IO, 0,
                           "'%s' is no collector's folder of keys",
                           host_shown(keys));
    }
    return HOST_THEN(status, window_keys_open(keys, &checker->keys, err));
}

enum sotto_status
postgres_checker_open(const char *place, const char *keys,
                      void (*tell)(void *context, const char *text),
                      void *context, void **ret, struct sotto_error *err)
{
    struct postgres_checker *checker = calloc(1, sizeof *checker);
    char *url = postgres_url(place);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (checker == NULL || url == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    checker->tell = tell;
    checker->context = context;
    status = postgres_init(&checker->link, url, err);
    status = HOST_THEN(status, open_keys(checker, keys, err));
    status = HOST_THEN(status, connect_checker(checker, err));
done:
    free(url);
    if (status == SOTTO_STATUS_OK) {
        *ret = checker;
    } else {
        postgres_checker_close(checker);
    }
    return status;
}

/* ---- What was found ------------------------------------------------------ */

static void
note_place(struct postgres_checker *checker, const char *text)
{
    checker->damage.places++;
    if (checker->tell != NULL) {
        checker->tell(checker->context, text);
    }
}

/* Something of the batch that is being looked at. */
static void
note_batch(struct postgres_checker *checker, const char *what)
{
    char text[200];
    (void)snprintf(text, sizeof text,
                   "campaign %" PRIu64 ", batch %" PRIu64 " %s",
                   checker->campaign, checker->number, what);
    note_place(checker, text);
}

/* How many payloads of `size` bytes do not fit their checks: each is behind
   `skip` bytes; and says so. */
static void
check_payloads(struct postgres_checker *checker, const char *where,
               const uint8_t *data, size_t count, size_t skip, size_t size)
{
    size_t record = skip + size + CHECK_SIZE, damaged = 0;
    char text[200];
    for (size_t i = 0; i < count; i++) {
        damaged += !postgres_check_fits(data + i * record + skip, size);
    }
    checker->damage.reports += damaged;
    (void)snprintf(text, sizeof text,
                   "%s: %zu of %zu report%s %s damaged and will be left out",
                   where, damaged, count, count == 1 ? "" : "s",
                   damaged == 1 ? "is" : "are");
    if (damaged > 0 && checker->tell != NULL) {
        checker->tell(checker->context, text);
    }
}

static void
begin_next(struct postgres_checker *checker)
{
    checker->look++;
    checker->campaign = checker->number = 0;
    checker->batch = (struct look_batch){0};
    memset(checker->collector, 0, sizeof checker->collector);
    memset(checker->place, 0, sizeof checker->place);
    checker->key = checker->row_campaign = 0;
}

/* ---- Batches ------------------------------------------------------------- */

/* Whether batches are missing before `number`. */
static void
check_numbers(struct postgres_checker *checker, uint64_t campaign,
              uint64_t number)
{
    uint64_t wanted = campaign == checker->campaign ? checker->number + 1 : 1;
    char text[160];
    if (number != wanted) {
        (void)snprintf(text, sizeof text,
                       "campaign %" PRIu64 ": batches from %" PRIu64
                       " to %" PRIu64 " are missing",
                       campaign, wanted, number - 1);
        note_place(checker, text);
    }
}

static void
begin_batch(struct postgres_checker *checker, const PGresult *row)
{
    struct look_batch *batch = &checker->batch;
    uint64_t campaign = 0, number = 0;
    *batch = (struct look_batch){0};
    (void)postgres_number(row, 0, 0, &campaign);
    (void)postgres_number(row, 0, 1, &number);
    check_numbers(checker, campaign, number);
    checker->campaign = campaign;
    checker->number = number;
    batch->open = postgres_number(row, 0, 2, &batch->count) &&
                  postgres_number(row, 0, 3, &batch->parts) &&
                  postgres_number(row, 0, 4, &batch->payload) &&
                  batch->payload > 0;
    if (!batch->open) {
        note_batch(checker, "is of no campaign");
    }
}

static enum sotto_status
find_batch(struct postgres_checker *checker, struct sotto_error *err)
{
    static const char text[] =
        "SELECT b.campaign, b.number, b.count, b.parts, c.payload_size "
        "FROM batch AS b LEFT JOIN campaign AS c ON c.number = b.campaign "
        "WHERE (b.campaign, b.number) > ($1::int8, $2::int8) "
        "ORDER BY b.campaign, b.number LIMIT 1";
    PGresult *row = NULL;
    enum sotto_status status =
        postgres_query(&checker->link, text,
                       POSTGRES_VALUES(POSTGRES_NUMBER(checker->campaign),
                                       POSTGRES_NUMBER(checker->number)),
                       &row, err);
    if (status == SOTTO_STATUS_FORMAT ||
        (status == SOTTO_STATUS_OK && PQntuples(row) == 0)) {
        begin_next(checker); /* what cannot be read hides what is behind it */
    } else if (status == SOTTO_STATUS_OK) {
        begin_batch(checker, row);
    }
    PQclear(row);
    return status;
}

static void
end_batch(struct postgres_checker *checker)
{
    struct look_batch *batch = &checker->batch;
    if (!batch->lacking && batch->seen != batch->count) {
        note_batch(checker, "does not have as many reports as were counted");
    }
    batch->open = false;
}

static void
check_part(struct postgres_checker *checker, const uint8_t *data, size_t size)
{
    struct look_batch *batch = &checker->batch;
    size_t record = TAG_SIZE + (size_t)batch->payload + CHECK_SIZE;
    char where[100];
    (void)snprintf(where, sizeof where, "campaign %" PRIu64 ", batch %" PRIu64,
                   checker->campaign, checker->number);
    if (size == 0 || size % record != 0) {
        batch->lacking = true;
        note_batch(checker, "has a part of the wrong size, and cannot be read");
        return;
    }
    check_payloads(checker, where, data, size / record, TAG_SIZE,
                   (size_t)batch->payload);
    batch->seen += size / record;
}

/* Looks at the next part; a batch that is gone was forgotten meanwhile. */
static enum sotto_status
look_part(struct postgres_checker *checker, size_t *ret_bytes,
          struct sotto_error *err)
{
    static const char text[] =
        "SELECT p.reports FROM batch AS b LEFT JOIN part AS p "
        "ON p.campaign = b.campaign AND p.number = b.number "
        "AND p.part = $3::int8 "
        "WHERE b.campaign = $1::int8 AND b.number = $2::int8";
    struct look_batch *batch = &checker->batch;
    PGresult *row = NULL;
    enum sotto_status status =
        postgres_query(&checker->link, text,
                       POSTGRES_VALUES(POSTGRES_NUMBER(checker->campaign),
                                       POSTGRES_NUMBER(checker->number),
                                       POSTGRES_NUMBER(batch->part)),
                       &row, err);
    if (status == SOTTO_STATUS_FORMAT) { /* the server cannot read it */
        batch->lacking = true;
        batch->part++;
    } else if (status == SOTTO_STATUS_OK && PQntuples(row) == 0) {
        batch->open = false;
    } else if (status == SOTTO_STATUS_OK && PQgetisnull(row, 0, 0) != 0) {
        batch->lacking = true;
        batch->part++;
        note_batch(checker, "lacks a part, and cannot be read");
    } else if (status == SOTTO_STATUS_OK) {
        *ret_bytes = (size_t)PQgetlength(row, 0, 0);
        check_part(checker, (const uint8_t *)PQgetvalue(row, 0, 0), *ret_bytes);
        batch->part++;
    }
    PQclear(row);
    return status;
}

static enum sotto_status
look_batches(struct postgres_checker *checker, size_t *ret_bytes,
             struct sotto_error *err)
{
    if (!checker->batch.open) {
        return find_batch(checker, err);
    }
    if (checker->batch.part == checker->batch.parts) {
        end_batch(checker);
        return SOTTO_STATUS_OK;
    }
    return look_part(checker, ret_bytes, err);
}

/* ---- What waits ---------------------------------------------------------- */

/* Of each table: its first row behind the last one; and where a payload is in
   a record. */
static const struct waiting {
    const char *text;
    enum postgres_purpose purpose;
    size_t skip;
    bool payload;
} waiting[] = {
    {"SELECT t.collector, t.key, t.campaign, t.place, t.sealed, "
     "c.payload_size, t.count, c.closed, t.key IN (k.key_0, k.key_1) "
     "FROM incoming AS t JOIN collector AS k ON k.id = t.collector "
     "LEFT JOIN campaign AS c ON c.number = t.campaign "
     "WHERE (t.collector, t.key, t.campaign, t.place) > "
     "($1::uuid, $2::int8, $3::int8, $4::uuid) "
     "ORDER BY t.collector, t.key, t.campaign, t.place LIMIT 1",
     PURPOSE_INCOMING, TAG_SIZE, true},
    {"SELECT t.collector, t.key, t.campaign, t.place, t.sealed, "
     "c.payload_size, t.count, c.closed, true "
     "FROM held AS t LEFT JOIN campaign AS c ON c.number = t.campaign "
     "WHERE (t.collector, t.campaign, t.place) > "
     "($1::uuid, $3::int8, $4::uuid) AND $2::int8 IS NOT NULL "
     "ORDER BY t.collector, t.campaign, t.place LIMIT 1",
     PURPOSE_HELD, 0, true},
    {"SELECT t.collector, t.key, t.campaign, t.place, t.sealed, "
     "c.payload_size, NULL, c.closed, t.key IN (k.key_0, k.key_1) "
     "FROM dropped AS t JOIN collector AS k ON k.id = t.collector "
     "LEFT JOIN campaign AS c ON c.number = t.campaign "
     "WHERE (t.collector, t.key, t.campaign, t.place) > "
     "($1::uuid, $2::int8, $3::int8, $4::uuid) "
     "ORDER BY t.collector, t.key, t.campaign, t.place LIMIT 1",
     PURPOSE_DROPPED, TAG_SIZE, false},
};

/* Opens a row of the collector whose keys are here. */
static enum sotto_status
check_sealed(struct postgres_checker *checker, const struct waiting *table,
             const PGresult *row, size_t payload, struct sotto_error *err)
{
    const struct window_seal seal = {(int64_t)checker->key,
                                     (uint32_t)checker->row_campaign,
                                     (uint8_t)table->purpose};
    size_t sealed = (size_t)PQgetlength(row, 0, 4);
    size_t size = sealed - WINDOW_SEAL_EXTRA;
    uint8_t *plain = malloc(size);
    if (plain == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = window_keys_unseal(
        checker->keys, &seal, (const uint8_t *)PQgetvalue(row, 0, 4), sealed,
        plain, err);
    if (status == SOTTO_STATUS_OK && table->payload) {
        check_payloads(checker, "reports that wait", plain,
                       size / (table->skip + payload + CHECK_SIZE), table->skip,
                       payload);
    }
    host_wipe_free(plain, size);
    return status;
}

/* What a row shows without its key; NULL: it is as it should be. */
static const char *
find_wrong(const struct waiting *table, const PGresult *row, uint64_t payload)
{
    uint64_t count = 0, closed = 1, known = 0;
    size_t size = (size_t)PQgetlength(row, 0, 4);
    size_t record =
        table->skip + (table->payload ? (size_t)payload + CHECK_SIZE : 0);
    bool counted = postgres_number(row, 0, 6, &count);
    if (payload == 0) {
        return "a row that waits is of no campaign";
    }
    if (!postgres_number(row, 0, 7, &closed) || closed != 0) {
        return "a row that waits is of a campaign that is closed: forget it "
               "again";
    }
    if (!postgres_number(row, 0, 8, &known) || known == 0) {
        return "a row that waits is of no window";
    }
    if (size <= WINDOW_SEAL_EXTRA || (size - WINDOW_SEAL_EXTRA) % record != 0 ||
        (counted && (size - WINDOW_SEAL_EXTRA) / record != count)) {
        return "a row that waits is of the wrong size, and cannot be read";
    }
    return NULL;
}

static enum sotto_status
check_row(struct postgres_checker *checker, const struct waiting *table,
          const PGresult *row, struct sotto_error *err)
{
    uint64_t payload = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    (void)postgres_bytes(row, 0, 0, checker->collector, COLLECTOR_ID_SIZE);
    (void)postgres_number(row, 0, 1, &checker->key);
    (void)postgres_number(row, 0, 2, &checker->row_campaign);
    (void)postgres_bytes(row, 0, 3, checker->place, TAG_SIZE);
    (void)postgres_number(row, 0, 5, &payload);
    const char *wrong = find_wrong(table, row, payload);
    if (wrong != NULL) {
        note_place(checker, wrong);
    } else if (checker->keys != NULL &&
               memcmp(window_keys_collector(checker->keys), checker->collector,
                      COLLECTOR_ID_SIZE) == 0) {
        status = check_sealed(checker, table, row, (size_t)payload, err);
    } else {
        checker->damage.sealed++;
    }
    return status;
}

static enum sotto_status
look_waiting(struct postgres_checker *checker, size_t *ret_bytes,
             struct sotto_error *err)
{
    const struct waiting *table = &waiting[checker->look - LOOK_INCOMING];
    PGresult *row = NULL;
    enum sotto_status status = postgres_query(
        &checker->link, table->text,
        POSTGRES_VALUES(POSTGRES_BYTES(checker->collector, COLLECTOR_ID_SIZE),
                        POSTGRES_NUMBER(checker->key),
                        POSTGRES_NUMBER(checker->row_campaign),
                        POSTGRES_BYTES(checker->place, TAG_SIZE)),
        &row, err);
    if (status == SOTTO_STATUS_FORMAT ||
        (status == SOTTO_STATUS_OK && PQntuples(row) == 0)) {
        begin_next(checker); /* what cannot be read hides what is behind it */
    } else if (status == SOTTO_STATUS_OK) {
        *ret_bytes = (size_t)PQgetlength(row, 0, 4);
        status = check_row(checker, table, row, err);
    }
    PQclear(row);
    return status;
}

/* ---- The rest ------------------------------------------------------------ */

/* Statements that give a row if something is wrong; each sees one moment. */
static const struct {
    const char *text, *wrong;
} rest[] = {
    {"SELECT 1 FROM campaign AS c WHERE (c.batches, c.released) <> "
     "(SELECT count(*), coalesce(sum(b.count), 0) FROM batch AS b "
     "WHERE b.campaign = c.number) LIMIT 1",
     "what was released of a campaign is not what was counted"},
    {"SELECT 1 FROM part AS p LEFT JOIN batch AS b "
     "ON b.campaign = p.campaign AND b.number = p.number "
     "WHERE b.parts IS NULL OR p.part >= b.parts LIMIT 1",
     "a part is of no batch"},
    {"SELECT 1 FROM campaign AS c WHERE NOT c.closed "
     "AND (to_regclass('part_' || c.number) IS NULL "
     "OR to_regclass('seen_' || c.number) IS NULL) LIMIT 1",
     "partitions of a campaign are missing"},
    {"SELECT 1 WHERE (SELECT count(*) FROM meta) <> 1",
     "the version of the store is gone"},
    /* reads all tags: the last one, and not in the background */
    {"SELECT 1 FROM campaign AS c WHERE NOT c.closed AND "
     "(SELECT count(*) FROM seen AS s WHERE s.campaign = c.number) < "
     "c.released + (SELECT coalesce(sum(h.count), 0) FROM held AS h "
     "WHERE h.campaign = c.number) LIMIT 1",
     "tags of a campaign are missing: some reports would be taken twice"},
};

static enum sotto_status
look_rest(struct postgres_checker *checker, bool all, struct sotto_error *err)
{
    size_t count = sizeof rest / sizeof *rest - (all ? 0 : 1);
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        PGresult *row = NULL;
        status = postgres_query(&checker->link, rest[i].text, POSTGRES_NONE,
                                &row, err);
        if (status == SOTTO_STATUS_OK && PQntuples(row) > 0) {
            note_place(checker, rest[i].wrong);
        } else if (status == SOTTO_STATUS_FORMAT) {
            note_place(checker, err->message);
            status = SOTTO_STATUS_OK;
        }
        PQclear(row);
    }
    return status;
}

/* ---- Steps --------------------------------------------------------------- */

/* One piece; what cannot be read or opened is damage, too. */
static enum sotto_status
look_on(struct postgres_checker *checker, size_t *left, struct sotto_error *err)
{
    size_t bytes = 0;
    enum sotto_status status = checker->look == LOOK_BATCHES
                                   ? look_batches(checker, &bytes, err)
                                   : look_waiting(checker, &bytes, err);
    if (status == SOTTO_STATUS_FORMAT) {
        note_place(checker, err->message);
        status = SOTTO_STATUS_OK;
    }
    bytes += ROW_BYTES;
    *left -= bytes < *left ? bytes : *left;
    return status;
}

enum sotto_status
postgres_checker_step(void *own, size_t bytes, struct store_damage *ret_damage,
                      bool *ret_done, struct sotto_error *err)
{
    struct postgres_checker *checker = own;
    struct sotto_error ours = {0};
    struct sotto_error *why = err != NULL ? err : &ours;
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t left = bytes > 0 ? bytes : 1;
    if (checker->look == LOOKS) {
        checker->look = LOOK_BATCHES;
        checker->damage = (struct store_damage){0};
    }
    if (!postgres_is_up(&checker->link)) { /* it goes on where it was */
        status = connect_checker(checker, why);
    }
    while (status == SOTTO_STATUS_OK && left > 0 && checker->look < LOOK_REST) {
        status = look_on(checker, &left, why);
    }
    if (status == SOTTO_STATUS_OK && left > 0) {
        status = look_rest(checker, bytes == SIZE_MAX, why);
        checker->look = status == SOTTO_STATUS_OK ? LOOKS : checker->look;
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_damage = checker->damage;
        *ret_done = checker->look == LOOKS;
    }
    return status;
}
