/*
 * sqlite_salvage.c: rows of a damaged store's pages, into a new one.
 *
 * Which table a row is of, its shape says:
 *
 *     batch      integer x6                  closed     rowid: -
 *     campaign   integer blob text integer   run        rowid: - integer x4
 *     held       integer blob blob           total      rowid: - integer x2
 *     meta       integer integer blob        released   rowid: - blob
 *     move       integer x4                  incoming   the same, at a place
 *                                                       of released's or not
 *
 * A table and its twin have the same rows. Neither interior pages of tables nor
 * the schema are needed. What was deleted was overwritten with zeros.
 *
 * First come small tables, by which reports are known; then reports of pages
 * that are sound; then those of pages that are damaged, where there is room for
 * them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "host/error.h"
#include "store/sqlite/sqlite_repair.h"

/* ---- Shapes -------------------------------------------------------------- */

static const struct {
    bool keyed;
    const char *columns; /* a letter each: nothing, integer, text, blob */
} shape[] = {
    [INSERT_BATCH] = {false, "iiiiii"}, [INSERT_CAMPAIGN] = {false, "ibti"},
    [INSERT_CLOSED] = {true, "n"},      [INSERT_HELD] = {false, "ibb"},
    [INSERT_META] = {false, "iib"},     [INSERT_RUN] = {true, "niiii"},
    [INSERT_TOTAL] = {true, "nii"},     [INSERT_RELEASED] = {true, "nb"},
};

static bool
has_shape(const struct sql_row *row, enum repair_insert which)
{
    static const char letter[] = {[SQL_CELL_NULL] = 'n',
                                  [SQL_CELL_INTEGER] = 'i',
                                  [SQL_CELL_REAL] = 'r',
                                  [SQL_CELL_TEXT] = 't',
                                  [SQL_CELL_BLOB] = 'b'};
    const char *columns = shape[which].columns;
    bool same =
        row->keyed == shape[which].keyed && row->columns == strlen(columns);
    for (size_t i = 0; same && i < row->columns; i++) {
        same = letter[row->column[i].kind] == columns[i];
    }
    return same;
}

enum repair_insert
repair_table_of(const struct sql_row *row)
{
    for (int i = 0; i < INSERT_RELEASED; i++) {
        if (has_shape(row, (enum repair_insert)i)) {
            return (enum repair_insert)i;
        }
    }
    return !has_shape(row, INSERT_RELEASED) ? INSERTS
           : row->rowid < SQLITE_PLACES     ? INSERT_RELEASED
                                            : INSERT_INCOMING;
}

/* ---- Inserting ----------------------------------------------------------- */

static const char *const insert_text[INSERTS] = {
    [INSERT_BATCH] = "INSERT OR IGNORE INTO batch VALUES (?1, ?2, ?3, ?4, ?5, "
                     "?6)",
    [INSERT_CAMPAIGN] = "INSERT OR IGNORE INTO campaign VALUES (?1, ?2, ?3, "
                        "?4)",
    [INSERT_CLOSED] = "INSERT OR IGNORE INTO closed VALUES (?1)",
    [INSERT_HELD] = "INSERT OR IGNORE INTO held VALUES (?1, ?2, ?3)",
    [INSERT_META] = "INSERT OR IGNORE INTO meta VALUES (?1, ?2, ?3)",
    [INSERT_RUN] = "INSERT OR IGNORE INTO run VALUES (?1, ?2, ?3, ?4, ?5)",
    [INSERT_TOTAL] = "INSERT OR IGNORE INTO total VALUES (?1, ?2, ?3)",
    [INSERT_RELEASED] = "INSERT OR IGNORE INTO released VALUES (?1, ?2)",
    [INSERT_INCOMING] = "INSERT OR IGNORE INTO incoming_1 VALUES (?1, ?2)",
};

enum sotto_status
repair_insert_values(struct repair *repair, enum repair_insert which,
                     const struct sql_value *values, struct sotto_error *err)
{
    sqlite3_stmt **insert = &repair->insert[which];
    enum sotto_status status =
        *insert != NULL
            ? SOTTO_STATUS_OK
            : sql_prepare(&repair->to, insert_text[which], insert, err);
    int code =
        status == SOTTO_STATUS_OK ? sqlite_step(*insert, values) : SQLITE_DONE;
    return code == SQLITE_DONE ? status : sql_fail(&repair->to, code, err);
}

/* Inserts a row as it is. */
enum sotto_status
repair_insert_row(struct repair *repair, enum repair_insert which,
                  const struct sql_row *row, struct sotto_error *err)
{
    struct sql_value value[SQL_ROW_COLUMNS + 1];
    for (size_t i = 0; i < row->columns; i++) {
        const struct sql_cell *cell = &row->column[i];
        value[i] = cell->kind == SQL_CELL_NULL      ? SQL_NUMBER(row->rowid)
                   : cell->kind == SQL_CELL_INTEGER ? SQL_NUMBER(cell->number)
                   : cell->kind == SQL_CELL_TEXT
                       ? SQL_TEXT(cell->bytes, cell->size)
                       : SQL_BLOB(cell->bytes, cell->size);
    }
    value[row->columns] = (struct sql_value){.kind = SQL_END};
    return repair_insert_values(repair, which, value, err);
}

/* ---- Small tables -------------------------------------------------------- */

static void
mark_damaged(struct repair *repair, uint32_t page)
{
    repair->damaged[page / 8] |= (uint8_t)(1u << page % 8);
}

static bool
is_marked(const struct repair *repair, uint32_t page)
{
    return (repair->damaged[page / 8] >> page % 8 & 1) != 0;
}

/* What a row says, in 16 bytes. */
static void
digest_row(const struct sql_row *row, struct repair_digest *digest)
{
    crypto_generichash_blake2b_state state;
    (void)crypto_generichash_blake2b_init(&state, NULL, 0, sizeof digest->of);
    for (size_t i = 0; i < row->columns; i++) {
        const struct sql_cell *cell = &row->column[i];
        const int64_t said[] = {cell->kind, cell->number, (int64_t)cell->size,
                                row->rowid};
        (void)crypto_generichash_blake2b_update(
            &state, (const unsigned char *)said, sizeof said);
        (void)crypto_generichash_blake2b_update(&state, cell->bytes,
                                                cell->size);
    }
    (void)crypto_generichash_blake2b_final(&state, digest->of,
                                           sizeof digest->of);
}

/* A page without a sum says nothing by itself; two rows that say the same, a
   table's and its twin's, do. */
static enum sotto_status
take_foreign(struct repair *repair, enum repair_insert which,
             const struct sql_row *row, struct sotto_error *err)
{
    struct repair_digest digest;
    digest_row(row, &digest);
    for (size_t i = 0; i < repair->digests; i++) {
        if (memcmp(&repair->digest[i], &digest, sizeof digest) == 0) {
            return repair_insert_row(repair, which, row, err);
        }
    }
    struct repair_digest *more =
        realloc(repair->digest, (repair->digests + 1) * sizeof *more);
    if (more == NULL) {
        return host_fail_memory(err);
    }
    repair->digest = more;
    more[repair->digests++] = digest;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
note_run(struct repair *repair, const struct sql_row *row,
         struct sotto_error *err)
{
    for (size_t i = 0; i < repair->runs; i++) {
        if (repair->run[i].number == row->rowid) {
            repair->run[i].twice =
                repair->run[i].twice || repair->run[i].page != row->page;
            return SOTTO_STATUS_OK;
        }
    }
    struct repair_run *more =
        realloc(repair->run, (repair->runs + 1) * sizeof *more);
    if (more == NULL) {
        return host_fail_memory(err);
    }
    repair->run = more;
    more[repair->runs++] = (struct repair_run){row->rowid, row->page, false};
    return SOTTO_STATUS_OK;
}

static enum sotto_status
take_small(void *context, const struct sql_row *row, struct sotto_error *err)
{
    enum repair_insert which = repair_table_of(row);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (which >= INSERT_RELEASED || which == INSERT_HELD ||
        row->state > SQL_PAGE_FOREIGN) {
        return SOTTO_STATUS_OK;
    }
    if (which == INSERT_RUN) {
        status = note_run(context, row, err);
    }
    if (status != SOTTO_STATUS_OK || row->state == SQL_PAGE_SOUND) {
        return HOST_THEN(status, repair_insert_row(context, which, row, err));
    }
    return which == INSERT_BATCH ? SOTTO_STATUS_OK
                                 : take_foreign(context, which, row, err);
}

/* Tells of pages `first` to `last`, which are all as bad. */
static void
tell_pages(struct repair *repair, uint32_t first, uint32_t last,
           enum sql_page_state state)
{
    const char *what = state == SQL_PAGE_MENDED
                           ? "one byte was wrong and is put right"
                       : state == SQL_PAGE_FOREIGN
                           ? "written by another program, without a checksum"
                           : (state == SQL_PAGE_GONE ? "not there" : "damaged");
    if (first == last) {
        repair_tell(repair, "page %" PRIu32 ": %s", first, what);
    } else {
        repair_tell(repair, "pages %" PRIu32 " to %" PRIu32 ": %s", first, last,
                    what);
    }
}

static enum sotto_status
take_small_tables(struct repair *repair, struct sotto_error *err)
{
    uint32_t count = sql_pages_count(repair->pages), first = 1;
    enum sql_page_state before = SQL_PAGE_SOUND;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (uint32_t i = 1; status == SOTTO_STATUS_OK && i <= count; i++) {
        enum sql_page_state state = sql_pages_take(repair->pages, i);
        repair->counts.mended += state == SQL_PAGE_MENDED;
        repair->counts.damaged += state > SQL_PAGE_MENDED;
        if (state != before && before != SQL_PAGE_SOUND) {
            tell_pages(repair, first, i - 1, before);
        }
        first = state != before ? i : first;
        before = state;
        status = state <= SQL_PAGE_FOREIGN
                     ? sql_pages_rows(repair->pages, take_small, repair, err)
                     : status;
    }
    if (status == SOTTO_STATUS_OK && before != SQL_PAGE_SOUND) {
        tell_pages(repair, first, count, before);
    }
    return status;
}

/* ---- What all hangs on --------------------------------------------------- */

/* Campaigns have numbers without gaps: one that is gone is closed, under a hash
   that no mechanism has. */
#define LAST_CAMPAIGN                                                          \
    "(SELECT max(n) FROM (SELECT max(number) AS n FROM campaign UNION ALL "    \
    "SELECT max(campaign) FROM total UNION ALL SELECT max(campaign) FROM "     \
    "batch))"

static const char fill_gaps[] =
    "WITH RECURSIVE n(i) AS (SELECT 1 WHERE " LAST_CAMPAIGN
    " > 0 UNION ALL SELECT i + 1 FROM n WHERE i < " LAST_CAMPAIGN ") "
    "INSERT OR IGNORE INTO closed SELECT i FROM n WHERE i NOT IN "
    "(SELECT number FROM campaign);"
    "INSERT INTO campaign SELECT campaign, randomblob(32), 'lost', 1 FROM "
    "closed WHERE campaign NOT IN (SELECT number FROM campaign);";

static enum sotto_status
take_campaign(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct repair *repair = context;
    struct repair_campaign *campaign = &repair->campaign[repair->campaigns++];
    (void)err;
    (void)sql_column(row, 0, campaign->hash, SOTTO_HASH_SIZE);
    campaign->payload_size = (size_t)sqlite3_column_int64(row, 1);
    campaign->record = SQLITE_RECORD(campaign->payload_size);
    campaign->closed =
        sqlite3_column_int(row, 2) != 0 || campaign->payload_size > INT32_MAX;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fail_gone(const struct repair *repair, const char *what,
          struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "'%s' cannot be repaired: %s gone, with the copy of that; "
                     "go back to a backup (docs/operate.md)",
                     host_shown(repair->path), what);
}

static enum sotto_status
load_campaigns(struct repair *repair, struct sotto_error *err)
{
    int64_t known = 0, count = 0, simulation = 0, gone = 0;
    enum sotto_status status =
        sql_integer(&repair->to, "SELECT count(*) FROM meta", &known, err);
    if (status == SOTTO_STATUS_OK && known != 1) {
        return fail_gone(repair, "the key of its tags is", err);
    }
    status = HOST_THEN(
        status,
        sql_read(&repair->to, "SELECT simulation, tag_key FROM meta", SQL_NONE,
                 SQL_TARGETS(SQL_INTO(&simulation),
                             SQL_INTO_BLOB(repair->key, TAG_KEY_SIZE)),
                 err));
    status = HOST_THEN(status, sql_integer(&repair->to,
                                           "SELECT coalesce(" LAST_CAMPAIGN
                                           ", 0) > 0 AND NOT "
                                           "EXISTS (SELECT 1 FROM campaign)",
                                           &gone, err));
    if (status == SOTTO_STATUS_OK && gone != 0) {
        return fail_gone(repair, "what its campaigns are is", err);
    }
    status = HOST_THEN(status, sql_run(&repair->to, fill_gaps, err));
    status = HOST_THEN(
        status,
        sql_integer(&repair->to, "SELECT count(*) FROM campaign", &count, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    repair->campaign = calloc((size_t)count + 1, sizeof *repair->campaign);
    return repair->campaign == NULL
               ? host_fail_memory(err)
               : sql_each(&repair->to,
                          "SELECT hash, payload_size, number IN (SELECT "
                          "campaign FROM closed) FROM campaign ORDER BY number",
                          SQL_NONE, take_campaign, repair, err);
}

const struct repair_campaign *
repair_find(const struct repair *repair, uint64_t number)
{
    return number > 0 && number <= repair->campaigns &&
                   !repair->campaign[number - 1].closed
               ? &repair->campaign[number - 1]
               : NULL;
}

/* ---- Pages --------------------------------------------------------------- */

static enum sotto_status
take_trusted(void *context, const struct sql_row *row, struct sotto_error *err)
{
    if (row->state > SQL_PAGE_FOREIGN) {
        mark_damaged(context, row->page);
        return SOTTO_STATUS_OK;
    }
    return repair_take_reports(context, row, true, err);
}

static enum sotto_status
take_damaged(void *context, const struct sql_row *row, struct sotto_error *err)
{
    return repair_take_reports(context, row, row->state <= SQL_PAGE_FOREIGN,
                               err);
}

/* Whether the payloads of a page that was mended fit their sums: where one does
   not, the byte that explains the page's may not have been the wrong one. */
struct doubt {
    const struct repair *repair;
    size_t bad;
};

static enum sotto_status
doubt_row(void *context, const struct sql_row *row, struct sotto_error *err)
{
    struct doubt *doubt = context;
    (void)err;
    doubt->bad += repair_count_bad(doubt->repair, row);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
take_page(struct repair *repair, uint32_t number, struct sotto_error *err)
{
    struct doubt doubt = {repair, 0};
    enum sql_page_state state = sql_pages_take(repair->pages, number);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (state == SQL_PAGE_MENDED || state == SQL_PAGE_FOREIGN) {
        status = sql_pages_rows(repair->pages, doubt_row, &doubt, err);
    }
    if (state > SQL_PAGE_FOREIGN || doubt.bad > 0) {
        mark_damaged(repair, number);
        return status;
    }
    return HOST_THEN(status,
                     sql_pages_rows(repair->pages, take_trusted, repair, err));
}

enum sotto_status
repair_salvage(struct repair *repair, struct sotto_error *err)
{
    uint32_t count = sql_pages_count(repair->pages);
    repair->damaged = calloc((size_t)count / 8 + 1, 1);
    if (repair->damaged == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = take_small_tables(repair, err);
    status = HOST_THEN(status, load_campaigns(repair, err));
    for (uint32_t i = 1; status == SOTTO_STATUS_OK && i <= count; i++) {
        status = take_page(repair, i, err);
    }
    status = HOST_THEN(status, repair_name_batches(repair, err));
    for (uint32_t i = 1; status == SOTTO_STATUS_OK && i <= count; i++) {
        if (is_marked(repair, i)) {
            (void)sql_pages_take(repair->pages, i);
            sql_pages_doubt(repair->pages);
            status = sql_pages_rows(repair->pages, take_damaged, repair, err);
        }
    }
    return status;
}
