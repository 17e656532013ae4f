/*
 * sqlite_repair.h: what repairing a store takes:
 *
 *     sqlite_repair.c    what is there, and the new store in its place
 *     sqlite_salvage.c   rows of the old file's pages, into the new one
 *     sqlite_reports.c   reports in these rows
 *     sqlite_settle.c    batches with what is left of them; totals, the move
 *     sqlite_retag.c     files of tags
 *
 * Rows are read from pages (sql_pages.h), not from tables. Those of a page that
 * is sound, or has one byte put right and fits payloads' sums, are as good as
 * any. Of a page that is damaged come reports alone, by payloads' own sums, and
 * of a batch only what lies where the batch has it. Small tables have twins, so
 * they come from sound pages.
 */
#ifndef SOTTO_STORE_SQLITE_SQLITE_REPAIR_H
#define SOTTO_STORE_SQLITE_SQLITE_REPAIR_H

#include "store/sql_pages.h"
#include "store/sqlite/sqlite_store.h"

struct repair_campaign {
    uint8_t hash[SOTTO_HASH_SIZE];
    size_t payload_size, record;
    bool closed;
};

/* Of a row, so that two that say the same are known. */
struct repair_digest {
    uint8_t of[16];
};

/* A file of tags that a row names: `twice`, of the table and of its twin. */
struct repair_run {
    int64_t number;
    uint32_t page; /* where it was seen first */
    bool twice;
};

enum repair_insert {
    INSERT_BATCH,
    INSERT_CAMPAIGN,
    INSERT_CLOSED,
    INSERT_HELD,
    INSERT_META,
    INSERT_RUN,
    INSERT_TOTAL,
    INSERT_RELEASED,
    INSERT_INCOMING,
    INSERTS
};

struct repair {
    char *path, *fresh; /* the store, and the new one until it has its name */
    struct sql_pages *pages;
    uint8_t *damaged; /* a bit a page of which not all is taken at once */
    struct sql to;    /* the new store */
    sqlite3_stmt *insert[INSERTS];
    sqlite3_stmt *find_batch;
    struct repair_campaign *campaign; /* number 1 first */
    uint32_t campaigns;
    struct repair_digest *digest; /* of rows that have no sum */
    size_t digests;
    struct repair_run *run; /* all that were seen */
    size_t runs;
    struct window_tags tags; /* of what waits: a tag comes once */
    uint8_t *record;         /* those of a row that are sound */
    size_t record_room;
    uint8_t key[TAG_KEY_SIZE];
    struct store_repaired counts;
    void (*tell)(void *context, const char *text);
    void *context;
};

/* Tells of a place in words. */
void repair_tell(const struct repair *repair, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A campaign of which reports are kept; NULL: there is none. */
const struct repair_campaign *repair_find(const struct repair *repair,
                                          uint64_t number);

/* The table that a row is of, by its shape; INSERTS: of none that is kept. */
enum repair_insert repair_table_of(const struct sql_row *row);
/* Inserts values, or a row as it is; what is there already stays. Statuses:
   sql_fail's. */
SOTTO_CHECKED enum sotto_status
repair_insert_values(struct repair *repair, enum repair_insert which,
                     const struct sql_value *values, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status repair_insert_row(struct repair *repair,
                                                  enum repair_insert which,
                                                  const struct sql_row *row,
                                                  struct sotto_error *err);

/* ---- sqlite_reports.c ---------------------------------------------------- */

/* Inserts what is sound of a row of reports; `trusted`: of a page that is
   sound. Statuses: sql_fail's, MEMORY. */
SOTTO_CHECKED enum sotto_status repair_take_reports(struct repair *repair,
                                                    const struct sql_row *row,
                                                    bool trusted,
                                                    struct sotto_error *err);
/* Payloads of a row that do not fit their sums. */
size_t repair_count_bad(const struct repair *repair, const struct sql_row *row);
/* Names batches whose rows are gone, as far as their chunks tell: they are made
   whole later. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status repair_name_batches(struct repair *repair,
                                                    struct sotto_error *err);

/* ---- sqlite_salvage.c, sqlite_settle.c and sqlite_retag.c ---------------- */

/* Fills the new store's tables, but for what the next two do. Statuses: FORMAT
   (what all hangs on is gone), sql_fail's, MEMORY. */
SOTTO_CHECKED enum sotto_status repair_salvage(struct repair *repair,
                                               struct sotto_error *err);
/* Makes whole batches of what is there, and counts. Statuses: sql_fail's,
   MEMORY. */
SOTTO_CHECKED enum sotto_status repair_settle(struct repair *repair,
                                              struct sotto_error *err);
/* Writes anew what files of tags are damaged, and names them. Statuses:
   sql_fail's, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status repair_retag(struct repair *repair,
                                             struct sotto_error *err);

#endif
