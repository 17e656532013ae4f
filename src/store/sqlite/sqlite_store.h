/*
 * sqlite_store.h: what the files of the SQLite back-end share.
 *
 *     sqlite_schema.c   the tables, and the twins of small ones
 *     sqlite_file.c     making a file, opening it checked
 *     sqlite_upgrade.c  what a store of the version before becomes
 *     sqlite_batch.c    a batch in chunks, and which reports are damaged
 *     sqlite_load.c     what a writer keeps of the tables in memory
 *     sqlite_runs.c     the tags of windows that have ended, and
 *     sqlite_jobs.c     merging them
 *     sqlite_store.c    the writer: opening, campaigns, transactions
 *     sqlite_put.c      putting reports, in blocks
 *     sqlite_window.c   moving on a window that has ended, and
 *     sqlite_payloads.c its payloads, released or held
 *     sqlite_scrub.c    what deletions and the log leave behind
 *     sqlite_reader.c   reading batches
 *     sqlite_check.c    looking at all that is kept, and
 *     sqlite_look.c     at its pages
 *     sqlite_repair.c   a new store of what is sound of a damaged one
 *     sqlite_forget.c   ending a campaign for good
 *     sqlite_backup.c   a copy that tells no more than a store at rest
 *
 * Reports of one commit are a block of (tag, payload) pairs sorted by their
 * tags, in rows that begin at a random place: one flush then writes little more
 * than the reports themselves. The tags of the window are in memory, too, so
 * that a report that comes again is known; they are read from the rows at the
 * start.
 *
 * No row of reports is longer than fits into one page, unless a single report
 * is: so a page that is lost costs what is in it. Pages have sums
 * (sql_sums.h); a page that does not fit its own is not read, but for rows of
 * reports, whose payloads have sums themselves.
 *
 * There are two tables of rows that came. New ones go to the active generation;
 * the other is empty, or is the window that is being moved:
 *
 *     STAGE_NONE --end--> STAGE_TAGS --all tags in runs  --> STAGE_PAYLOADS
 *         ^                                                        |
 *         `------------------- all campaigns moved ----------------'
 *
 * The stage and how far it came are in the database itself and change in the
 * transaction that did the work, so a crash anywhere goes on where it was.
 *
 * Why sorted: SQLite lays the rows of a page behind one another as they are
 * inserted, in whatever order they are found again. So a table of payloads
 * that outlives the window is only ever filled in the order of its keys, which
 * are random; tags are in files of their own, sorted, that are written as a
 * whole; and of the tables that were filled as reports came nothing but zeros
 * is left.
 */
#ifndef SOTTO_STORE_SQLITE_SQLITE_STORE_H
#define SOTTO_STORE_SQLITE_SQLITE_STORE_H

#include <sys/types.h>

#include "host/checksum.h"
#include "store/sql.h"
#include "store/sql_file.h"
#include "store/sql_log.h"
#include "store/store.h"
#include "store/store_window.h"
#include "store/tag_run.h"

#define TAG_KEY_SIZE 32u /* of the key that makes tags of ids */
#define GENERATIONS 2    /* of incoming */
/* Of a payload alone, which it travels with: all that is kept of a report but
   for a tag, or a key. */
#define SUM_SIZE HOST_CHECKSUM_SIZE
/* A tag or a key, a payload, its sum. */
#define SQLITE_RECORD(payload_size)                                            \
    ((size_t)TAG_SIZE + (payload_size) + SUM_SIZE)

/*
 * Rows of reports. A page of 4,096 bytes with 4 for its sum takes 4,057 bytes
 * of one row, of which SQLite has 4 for itself: a blob of more goes on
 * elsewhere.
 */
#define SQLITE_ROW_MOST ((size_t)4053)
#define SQLITE_CHUNK_HEADER ((size_t)16) /* of a row of released */
/* A record that a row of `held` has within its page, which takes 1,001 bytes of
   one: SQLite has 5 for itself, the campaign's number 3. */
#define SQLITE_HELD_MOST ((size_t)(1001 - 5 - 3))
#define SQLITE_PLACE_BITS 43
#define SQLITE_PLACES (INT64_C(1) << SQLITE_PLACE_BITS)
/* A row's place in incoming_0 or incoming_1 is its campaign and a random
   number; so there are fewer campaigns than this. */
#define SQLITE_CAMPAIGNS (UINT32_C(1) << (63 - SQLITE_PLACE_BITS))
#define SQLITE_PLACE_FIRST(campaign) ((int64_t)(campaign)*SQLITE_PLACES)
#define SQLITE_PLACE_LAST(campaign)                                            \
    (SQLITE_PLACE_FIRST(campaign) + (SQLITE_PLACES - 1))

enum sqlite_stage { STAGE_NONE = 0, STAGE_TAGS = 1, STAGE_PAYLOADS = 2 };

/* The table `move`. */
struct sqlite_move {
    unsigned active;         /* generation that takes new reports */
    enum sqlite_stage stage; /* of the other one */
    uint32_t campaign;       /* whose payloads are moved, as all before it */
};

/* Reports of all campaigns, and the bytes of their payloads. */
struct sqlite_total {
    uint64_t reports, bytes;
};

/* What bounds memory, pauses and files. */
struct sqlite_limits {
    uint64_t window_bytes; /* of payloads: then a window is full */
    uint64_t batch_bytes;  /* of one batch, unless batch_min asks for more */
    size_t aside_bytes;    /* of what is shuffled at once without memory */
    int log_frames;        /* of a page each: then the log is written back */
};

/* A campaign and how many reports of it are where. Numbers are from 1. */
struct sqlite_campaign {
    uint8_t hash[SOTTO_HASH_SIZE];
    size_t payload_size;
    size_t record; /* a tag or a key, a payload, its sum */
    uint64_t incoming[GENERATIONS];
    uint64_t held, released, batches;
    bool closed;    /* forgotten: nothing is taken any more */
    uint8_t *block; /* pairs put since the last block was written */
    size_t block_count, block_room;
};

#define SQLITE_HOLD_ALL SIZE_MAX /* batch_min: release nothing */
#define LEVELS 5u                /* of runs */

/* A run that is named in the table `run`; file NULL: there is none. */
struct sqlite_run {
    int64_t number;
    uint64_t tags, lost;
    struct tag_run *file;
};

/*
 * The tags of windows that have ended, in levels of runs:
 *
 *     a window --> settled[0] --coin: about half--> descending[1]
 *     descending[l] + settled[l] --> settled[l]
 *     settled[l], too large      --> descending[l + 1]
 */
struct sqlite_runs {
    struct sqlite_run settled[LEVELS], descending[LEVELS];
    int64_t next;                 /* number of the next run that is written */
    uint64_t most[LEVELS - 1];    /* tags of a level; more descend */
    struct sqlite_loader *loader; /* reads filters beside the writer, or NULL */
    double load_at;               /* not before */
};

struct sqlite_job; /* something that is merged beside the writer */

/* Runs whose files are to be removed. */
struct sqlite_doomed {
    int64_t number[4 * LEVELS];
    size_t count;
};

enum sqlite_statement {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_VERSION,
    STATEMENT_ROW_0,
    STATEMENT_ROW_1,
    STATEMENTS
};

#define SQLITE_NAMES 3u

struct sqlite_store {
    struct sql sql;
    char *path;
    int lock; /* descriptor of PATH.lock; -1: not held */
    struct sqlite_name {
        dev_t device;
        ino_t number;
    } name[SQLITE_NAMES]; /* what PATH, its log and its lock were when opened */
    bool simulation;
    bool failed;     /* since it was begun: nothing of it may be committed */
    bool others;     /* somebody else wrote: it is of no use any more */
    bool cut_short;  /* its log is damaged: what is stored now would be lost */
    bool spills;     /* rows of reports may go on in pages of their own */
    bool stale;      /* what follows must be read again */
    int64_t version; /* data_version that all this goes with; 0: unknown */
    struct sqlite_limits limits;
    struct sqlite_move move;
    uint32_t aside; /* a campaign that could not be moved; 0: none */
    struct sqlite_campaign *campaign;
    uint32_t campaigns;
    struct sqlite_total incoming[GENERATIONS];
    uint64_t held;
    int64_t place;            /* of the next row of released */
    struct store_found found; /* when it was opened */
    struct window_tags tags[GENERATIONS];
    struct sqlite_runs runs;          /* the tags of windows that have ended */
    struct sqlite_job *job[LEVELS];   /* what is merged into them, or NULL */
    struct sqlite_doomed superfluous; /* when this transaction is durable */
    struct sqlite_doomed unnamed;     /* when it is not */
    struct sqlite_doomed uncertain;   /* a commit that failed has named them */
    bool committing;
    double resting[LEVELS]; /* until when a level's merge is not tried again */
    uint64_t damaged_lookups; /* in pages of runs that are damaged */
    int frames;               /* in the log after the last commit */
    int frames_tried;         /* when it was last to be written back in vain */
    double scrub_at;          /* not before: a reader was in the way */
    uint8_t key[TAG_KEY_SIZE];
    sqlite3_stmt *statement[STATEMENTS];
};

/* ---- sqlite_file.c ------------------------------------------------------- */

/* An empty one in memory. Statuses: sql_file_build's. */
SOTTO_CHECKED enum sotto_status sqlite_file_build(struct sql *sql,
                                                  struct sotto_error *err);
/* Whether no log and no tags of another store are beside a name: SQLite would
   put them into a new file there. Statuses: FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status sqlite_file_check_free(const char *path,
                                                       struct sotto_error *err);
/* Makes a store at `path`, if there is nothing, for the owner alone, in one
   step. Statuses: IO, MEMORY, ENTROPY, FORMAT (another's log is there). */
SOTTO_CHECKED enum sotto_status
sqlite_file_make(const char *path, bool simulation, struct sotto_error *err);
/*
 * Connects to the store at `sql->path`, and reads whose it is; nothing in it is
 * changed. sqlite3_close frees `sql->db`, after a failure, too. `ret_key` may
 * be NULL. Statuses: FORMAT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sqlite_file_open(struct sql *sql, bool writer,
                                                 bool *ret_simulation,
                                                 uint8_t *ret_key,
                                                 struct sotto_error *err);
/* Makes it durable: with a log, all that is kept flushed and all that is
   deleted overwritten; makes one of version 1 one of this version; and looks
   whether small tables are as their twins. Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sqlite_file_prepare(struct sql *sql,
                                                    const uint8_t *key,
                                                    struct sotto_error *err);

/* Makes a file that is new that one's owner's who has the store, whoever writes
   it; whether that could be done, who opens it will see. */
void sqlite_file_give(const char *path, const char *made);
/* Removes what a repair that was killed wrote beside a store: with what waits,
   it has ids' tags beside payloads. The caller has the store's lock. */
void sqlite_file_remove_repaired(const char *path);

/* ---- sqlite_schema.c ----------------------------------------------------- */

extern const struct sql_kind sqlite_kind;
/* Tables that have twins, spare_NAME; NULL ends them. */
extern const char *const sqlite_twins[];
/* Whether a table and its twin are not the same. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status sqlite_twins_differ(const struct sql *sql,
                                                    const char *table,
                                                    bool *ret_differ,
                                                    struct sotto_error *err);
/* Whether all are the same. Statuses: FORMAT, sql_fail's. */
SOTTO_CHECKED enum sotto_status sqlite_twins_check(const struct sql *sql,
                                                   struct sotto_error *err);

/* ---- sqlite_batch.c ------------------------------------------------------ */

/*
 * A batch: a row of `batch`, and rows of `released` from place `first` on, of
 * which each but the last has as many records as fit:
 *
 *     campaign (4), batch's number (8), number of the first record (4)
 *     key (16), payload, sum of the payload (4)      the more often the better
 *
 * all lowest byte first. The batch's sum is of the mechanism's hash, the
 * number and all records in order.
 */
struct sqlite_batch {
    const uint8_t *hash; /* of the mechanism */
    size_t payload_size;
    uint32_t campaign;
    uint64_t number, count;
    int64_t first;
    uint64_t chunks;
    uint32_t sum;
};

#define SQLITE_BATCH_COUNT UINT32_MAX /* records of one, at most */
/* The columns that sqlite_batch_take reads, from 0 on. */
#define SQLITE_BATCH_COLUMNS                                                   \
    "b.campaign, b.number, b.count, b.first, b.chunks, b.sum"
/* What sqlite_batch_read steps. */
extern const char sqlite_batch_chunk_text[];

/* Records of a row with so many bytes before them: 1 or more. */
size_t sqlite_rows_most(size_t record, size_t header);
/* Writes the sum behind a payload; and whether it is the right one. */
void sqlite_record_sum(uint8_t *payload, size_t payload_size);
bool sqlite_record_sound(const uint8_t *payload, size_t payload_size);

/* Writes a batch's chunks, and into `batch` their number and the sum; the
   caller has set all else. Statuses: sql_fail's, MEMORY. */
SOTTO_CHECKED enum sotto_status
sqlite_batch_write_chunks(const struct sql *sql, struct sqlite_batch *batch,
                          const uint8_t *records, struct sotto_error *err);
/* And then its row of `batch`. Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status
sqlite_batch_write(const struct sql *sql, const struct sqlite_batch *batch,
                   struct sotto_error *err);
/* Reads a row of SQLITE_BATCH_COLUMNS; false: it is not right. The caller has
   set hash and payload_size. */
bool sqlite_batch_take(sqlite3_stmt *row, struct sqlite_batch *batch);
bool sqlite_batch_valid(const struct sqlite_batch *batch);
/* Records that a chunk, from 0, must have. */
size_t sqlite_batch_chunk_count(const struct sqlite_batch *batch,
                                uint64_t chunk);
/* Reads a chunk's records, which stay until the statement is reset; NULL: it is
   gone, or another one's. Statuses: sql_fail's, but for a damaged page. */
SOTTO_CHECKED enum sotto_status
sqlite_batch_read(const struct sql *sql, sqlite3_stmt *select,
                  const struct sqlite_batch *batch, uint64_t chunk,
                  const uint8_t **ret_records, struct sotto_error *err);
/* What the sum of a batch's records goes on from (host_checksum). */
uint32_t sqlite_batch_sum(const struct sqlite_batch *batch);

/* ---- sqlite_upgrade.c ---------------------------------------------------- */

/* Makes one of this version of the store of 0.1.0 that `sql` is connected to,
   in a file beside it that takes its name: a kill leaves the one or the other.
   `sql->db` is closed, and is NULL. Statuses: FORMAT, MEMORY, IO. */
SOTTO_CHECKED enum sotto_status
sqlite_upgrade(struct sql *sql, const uint8_t *key, struct sotto_error *err);

/* ---- sqlite_runs.c ------------------------------------------------------- */

/* Makes the folder of runs if it is not there. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sqlite_runs_folder(const char *path,
                                                   struct sotto_error *err);
/* The name of a run, which the caller frees; NULL: no memory. */
char *sqlite_runs_name(const char *path, int64_t number);
/* The number that a file's name in the folder says; 0: it is no run. */
int64_t sqlite_runs_number(const char *name);
/* What marks the runs of a store: not its key, but made of it. */
void sqlite_runs_owner(const uint8_t *key, uint8_t owner[RUN_OWNER_SIZE]);

/* Opens the runs that the table names, but for those that are open, and begins
   to read their filters. Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sqlite_runs_load(struct sqlite_store *store,
                                                 struct sotto_error *err);
/* Closes them; nothing is merged any more. */
void sqlite_runs_unload(struct sqlite_store *store);
/* Removes files that the table does not name: those of an earlier life. */
void sqlite_runs_remove_others(const struct sqlite_store *store);

/* SQLITE_ROW: the tag is of a window that has ended; SQLITE_DONE: it is not;
   or what went wrong. */
int sqlite_runs_find(struct sqlite_store *store, uint32_t campaign,
                     const uint8_t tag[TAG_SIZE]);
/* Says that a tag will be looked for soon. */
void sqlite_runs_prefetch(const struct sqlite_store *store, uint32_t campaign,
                          const uint8_t tag[TAG_SIZE]);

/* The transaction is durable, or gone: so are files that it made superfluous,
   or those that it named. */
void sqlite_runs_committed(struct sqlite_store *store);
void sqlite_runs_rolled_back(struct sqlite_store *store);
/* Ends all that is done beside the writer. */
void sqlite_runs_close(struct sqlite_store *store);

/* ---- sqlite_jobs.c ------------------------------------------------------- */

/* Begins to merge what descends, and to read filters that are not in memory,
   if nothing is begun: between transactions. */
void sqlite_runs_begin(struct sqlite_store *store);
/* In a transaction: takes over what was merged meanwhile. */
SOTTO_CHECKED enum sotto_status sqlite_runs_tend(struct sqlite_store *store,
                                                 struct sotto_error *err);
/*
 * In a transaction: merges the tags of the window that has ended, beside the
 * writer unless they and what they are merged with are `rows` at most; waits
 * for it when all slices together were as many rows as there are tags.
 * `ret_done`: the table has them.
 */
SOTTO_CHECKED enum sotto_status sqlite_runs_move(struct sqlite_store *store,
                                                 size_t rows, bool *ret_done,
                                                 struct sotto_error *err);
/* In a transaction: writes all runs anew without the tags of a campaign, and
   deals what is left to levels by lot. Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sqlite_runs_forget(struct sqlite_store *store,
                                                   uint32_t campaign,
                                                   struct sotto_error *err);

/* ---- sqlite_load.c ------------------------------------------------------- */

/* Reads campaigns, counts and the move's state again, if they are stale.
   Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sqlite_load(struct sqlite_store *store,
                                            struct sotto_error *err);
/* FORMAT: what is wrong with the store. */
enum sotto_status sqlite_fail_damaged(const struct sqlite_store *store,
                                      const char *what,
                                      struct sotto_error *err);
/*
 * Where pages have not fitted their sums since there were `bad` of them:
 * whether that is explained by payloads of held reports, of which all must be
 * there. Statuses: FORMAT, sql_fail's.
 */
SOTTO_CHECKED enum sotto_status sqlite_check_held(struct sqlite_store *store,
                                                  uint64_t bad,
                                                  struct sotto_error *err);
/* Frees what was read. */
void sqlite_unload(struct sqlite_store *store);

/* ---- sqlite_store.c ------------------------------------------------------ */

/* Binds and steps a statement that gives one row or none, and resets it:
   SQLITE_ROW, SQLITE_DONE or what went wrong. */
int sqlite_step(sqlite3_stmt *statement, const struct sql_value *values);

/* Whether something was begun and has not failed: else USAGE. */
SOTTO_CHECKED enum sotto_status
sqlite_check_begun(const struct sqlite_store *store, struct sotto_error *err);

/* ---- sqlite_put.c -------------------------------------------------------- */

/* Writes sorted records of a campaign into rows, with a statement that inserts
   a place and records. Statuses: sql_fail's, ENTROPY. */
SOTTO_CHECKED enum sotto_status
sqlite_put_rows(const struct sql *sql, sqlite3_stmt *insert, uint32_t campaign,
                const uint8_t *records, size_t count, size_t record,
                struct sotto_error *err);
/* Writes the blocks that were begun, as commit and the end of a window want.
   Statuses: IO, MEMORY, ENTROPY. */
SOTTO_CHECKED enum sotto_status sqlite_put_blocks(struct sqlite_store *store,
                                                  struct sotto_error *err);
/* What is kept of a report's id. */
void sqlite_put_tag(const struct sqlite_store *store, const uint8_t *report,
                    uint8_t tag[TAG_SIZE]);
enum sotto_status sqlite_put(void *own, uint32_t campaign,
                             const uint8_t *report,
                             enum store_answer *ret_answer,
                             struct sotto_error *err);
enum sotto_status sqlite_put_many(void *own, uint32_t campaign,
                                  const uint8_t *const *report, size_t count,
                                  enum store_answer *ret_answers,
                                  struct sotto_error *err);

/* ---- sqlite_payloads.c --------------------------------------------------- */

/* Releases what waits of a campaign, if it is `batch_min` or more, and holds
   the rest. Statuses: IO, FORMAT, ENTROPY; of this campaign's own: MEMORY,
   REFUSED, USAGE. */
SOTTO_CHECKED enum sotto_status sqlite_payloads_move(struct sqlite_store *store,
                                                     uint32_t number,
                                                     size_t batch_min,
                                                     struct sotto_error *err);
/* Holds what came of it in the window, and no more, with little memory.
   Statuses: IO, FORMAT, ENTROPY, MEMORY. */
SOTTO_CHECKED enum sotto_status
sqlite_payloads_set_aside(struct sqlite_store *store, uint32_t number,
                          struct sotto_error *err);

/* ---- sqlite_window.c and sqlite_scrub.c ---------------------------------- */

enum sotto_status sqlite_window_end(void *own, struct sotto_error *err);
enum sotto_status sqlite_window_advance(void *own, size_t rows,
                                        size_t batch_min, bool *ret_done,
                                        struct sotto_error *err);
/* Ends the window if it has taken all that one takes. Statuses: IO (the last
   one was not moved on in time), MEMORY, ENTROPY. */
SOTTO_CHECKED enum sotto_status
sqlite_window_make_room(struct sqlite_store *store, struct sotto_error *err);

enum sotto_status sqlite_scrub(void *own, bool *ret_clean,
                               struct sotto_error *err);
/* Takes back what was begun, or failed, and reads the store anew. */
void sqlite_roll_back(void *own);
/* Writes the log back into the file if it has grown long, and begins it anew;
   readers and writers go on. That it fails harms nothing. */
void sqlite_scrub_log(struct sqlite_store *store);
/*
 * Whether the log can be written back. SQLite does that in the order of pages,
 * and comes upon a damaged frame when the file is half new: so all frames are
 * looked at before. Statuses: FORMAT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sqlite_scrub_check(const struct sql *sql,
                                                   struct sotto_error *err);

/* ---- sqlite_reader.c ----------------------------------------------------- */

enum sotto_status sqlite_reader_open(const char *place, void **ret,
                                     bool *ret_simulation,
                                     struct sotto_error *err);
void sqlite_reader_close(void *own);
enum sotto_status sqlite_reader_next(void *own, const uint8_t *hash,
                                     uint64_t after,
                                     struct store_batch *ret_batch,
                                     struct sotto_error *err);

/* ---- sqlite_forget.c and sqlite_backup.c --------------------------------- */

enum sotto_status sqlite_forget(void *own, const uint8_t *hash,
                                struct store_counts *ret_counts,
                                struct sotto_error *err);
enum sotto_status sqlite_backup(const char *place, const char *to,
                                struct sotto_error *err);

/* ---- sqlite_look.c ------------------------------------------------------- */

enum sqlite_page {
    SQLITE_PAGE_SOUND, /* or the log has another in its place */
    SQLITE_PAGE_DAMAGED,
    SQLITE_PAGE_FOREIGN, /* another program has written it */
    SQLITE_PAGE_GONE     /* the disk does not give it */
};

/* Looks at page `number` of the file, from 1. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status sqlite_look_at_page(const struct sql *sql,
                                                    uint32_t number,
                                                    enum sqlite_page *ret_page,
                                                    struct sotto_error *err);
/* Looks at the log, which a writer may be writing to. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sqlite_look_at_log(const struct sql *sql,
                                                   struct sql_log_look *ret,
                                                   struct sotto_error *err);

/* ---- sqlite_repair.c (sqlite_repair.h has what it shares) ---------------- */

enum sotto_status sqlite_repair(const char *place,
                                void (*tell)(void *context, const char *text),
                                void *context,
                                struct store_repaired *ret_repaired,
                                struct sotto_error *err);

/* ---- sqlite_check.c ------------------------------------------------------ */

enum sotto_status
sqlite_checker_open(const char *place,
                    void (*tell)(void *context, const char *text),
                    void *context, void **ret, struct sotto_error *err);
void sqlite_checker_close(void *own);
enum sotto_status sqlite_checker_step(void *own, size_t bytes,
                                      struct store_damage *ret_damage,
                                      bool *ret_done, struct sotto_error *err);

#endif
