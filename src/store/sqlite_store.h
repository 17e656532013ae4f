/*
 * sqlite_store.h: what the files of the SQLite back-end share.
 *
 *     sqlite_file.c     the schema; making a file, opening it checked, counting
 *     sqlite_store.c    the writer: campaigns, putting, committing
 *     sqlite_window.c   moving on a window that has ended
 *     sqlite_scrub.c    what deletions and the log leave behind
 *     sqlite_reader.c   reading batches
 *
 * There are two tables of incoming reports. New ones go to the active one; the
 * other is empty, or is the window that is being moved:
 *
 *     STAGE_NONE --end--> STAGE_TAGS --all tags in `seen`--> STAGE_PAYLOADS
 *         ^                                                        |
 *         `------------------- all campaigns moved ----------------'
 *
 * The stage and how far it came are in the database itself and change in the
 * transaction that did the work, so a crash anywhere goes on where it was.
 *
 * Why sorted: SQLite lays the rows of a page behind one another as they are
 * inserted, in whatever order they are found again. So a table of payloads or
 * tags that outlives the window is only ever filled in the order of its keys,
 * which are random, and of the tables that were filled as reports came nothing
 * but zeros is left.
 */
#ifndef SOTTO_STORE_SQLITE_STORE_H
#define SOTTO_STORE_SQLITE_STORE_H

#include "client/device.h"
#include "store/sql.h"
#include "store/store.h"

#define TAG_SIZE 16u     /* of an id's tag, and of a release's key */
#define TAG_KEY_SIZE 32u /* of the key that makes tags of ids */
#define GENERATIONS 2    /* of incoming */
#define BUSY_MS 10000    /* that a lock is waited for */

enum sqlite_stage { STAGE_NONE = 0, STAGE_TAGS = 1, STAGE_PAYLOADS = 2 };

/* The table `move`. */
struct sqlite_move {
    unsigned active;         /* generation that takes new reports */
    enum sqlite_stage stage; /* of the other one */
    uint32_t campaign;       /* done: up to this campaign ... */
    uint8_t tag[TAG_SIZE];   /* ... and, of tags, up to this one */
};

/* A campaign and how many reports of it are where. Numbers are from 1. */
struct sqlite_campaign {
    uint8_t hash[SOTTO_HASH_SIZE];
    size_t payload_size;
    uint64_t incoming[GENERATIONS];
    uint64_t held, released, batches;
};

enum sqlite_statement {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_SEEN,
    STATEMENT_FIND_0,
    STATEMENT_FIND_1,
    STATEMENT_PUT_0,
    STATEMENT_PUT_1,
    STATEMENTS
};

struct sqlite_store {
    struct sql sql;
    char *path;
    int lock; /* descriptor of PATH.lock; -1: not held */
    bool simulation;
    bool failed; /* since it was begun: nothing of it may be committed */
    bool stale;  /* what follows must be read again */
    struct sqlite_move move;
    struct sqlite_campaign *campaign;
    uint32_t campaigns;
    int frames; /* in the log after the last commit */
    uint8_t key[TAG_KEY_SIZE];
    sqlite3_stmt *statement[STATEMENTS];
};

/* ---- sqlite_file.c ------------------------------------------------------- */

/* Makes a store at `path`, if there is nothing, for the owner alone, in one
   step. Statuses: IO, MEMORY, ENTROPY, FORMAT (another's log is there). */
SOTTO_CHECKED enum sotto_status
sqlite_file_make(const char *path, bool simulation, struct sotto_error *err);
/*
 * Connects to the store at `sql->path`, and reads whose it is; `writer`: with
 * all that makes it durable. sqlite3_close frees `sql->db`, after a failure,
 * too. `ret_key` may be NULL. Statuses: FORMAT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sqlite_file_open(struct sql *sql, bool writer,
                                                 bool *ret_simulation,
                                                 uint8_t *ret_key,
                                                 struct sotto_error *err);
/* Checks all of a store that was loaded. Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
sqlite_file_check(const struct sqlite_store *store, struct sotto_error *err);

/* ---- sqlite_load.c ------------------------------------------------------- */

/* Reads campaigns, counts and the move's state again, if they are stale.
   Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sqlite_load(struct sqlite_store *store,
                                            struct sotto_error *err);

/* ---- sqlite_store.c ------------------------------------------------------ */

/* Steps a statement that gives one row or none, and resets it: SQLITE_ROW,
   SQLITE_DONE or what went wrong. */
int sqlite_step(sqlite3_stmt *statement);

/* Runs a statement with up to two integers (0: not bound) and no result.
   Statuses: sql_fail's. */
SOTTO_CHECKED enum sotto_status sqlite_run(struct sqlite_store *store,
                                           const char *text, int64_t first,
                                           int64_t second,
                                           struct sotto_error *err);

/* ---- sqlite_window.c and sqlite_scrub.c ---------------------------------- */

enum sotto_status sqlite_window_end(void *own, struct sotto_error *err);
enum sotto_status sqlite_window_advance(void *own, size_t rows,
                                        size_t batch_min, bool *ret_done,
                                        struct sotto_error *err);
/* Whether the active generation has taken all that a window takes. */
bool sqlite_window_full(const struct sqlite_store *store);

enum sotto_status sqlite_scrub(void *own, bool *ret_clean,
                               struct sotto_error *err);
/* Writes the log back into the file if it has grown long; readers and writers
   go on. That it fails harms nothing. */
void sqlite_scrub_log(struct sqlite_store *store);

/* ---- sqlite_reader.c ----------------------------------------------------- */

enum sotto_status sqlite_reader_open(const char *place, void **ret,
                                     bool *ret_simulation,
                                     struct sotto_error *err);
void sqlite_reader_close(void *own);
enum sotto_status sqlite_reader_next(void *own, const uint8_t *hash,
                                     uint64_t after,
                                     struct store_batch *ret_batch,
                                     struct sotto_error *err);

#endif
