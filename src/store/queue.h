/*
 * queue.h: reports on a device that wait to be sent, in an SQLite file, and the
 * tags of those that a collector has.
 *
 *     put ------> waiting --settle: acknowledged--> its tag alone
 *                  |  ^-----retry---------------.
 *                  `--settle: refused--> stays, marked
 *     waiting or marked --its mechanism ends--> stays, never given again
 *                                               `--drop--> gone
 *
 *     queue_file.c   the file: its schema, opening it checked
 *     queue.c        the queue itself
 *
 * A report waits for one destination. The keys that rows are ordered by are
 * drawn from the system's entropy: what queue_next gives has not the order in
 * which reports were put. Nor has the file after queue_commit, which writes all
 * that wait anew in the order of their keys: SQLite lays rows one behind the
 * other as they come. A tag is a keyed hash of destination and id. The key is
 * in the file itself: it keeps the tags of two files from being compared, and
 * no more.
 *
 * Nothing here is the only copy: the ledger has every report, and what a lost
 * queue had acknowledged is a duplicate for the collector.
 */
#ifndef SOTTO_STORE_QUEUE_H
#define SOTTO_STORE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"
#include "store/sql.h"

#define QUEUE_SECRET_SIZE 32u
#define QUEUE_TAG_SIZE 32u
#define QUEUE_BODY_MOST ((size_t)4 << 20) /* bytes of a batch of several */

/* ---- The queue ---------------------------------------------------------- */

struct queue;

/*
 * Opens the queue at `path`, having checked all of it, and makes it if it is
 * not there; one of sotto 0.1.0 is upgraded in place. Until queue_free no other
 * program can: PATH.lock is locked. With `look` it is neither made, locked nor
 * changed, and one that is not there is empty. Statuses: FORMAT (no queue,
 * damaged, of another version), IO (also: another program has it), MEMORY,
 * ENTROPY.
 */
SOTTO_CHECKED enum sotto_status queue_open(const char *path, bool look,
                                           struct queue **ret_queue,
                                           struct sotto_error *err);
void queue_free(struct queue *queue);

/*
 * From begin to commit what is put is neither flushed nor seen by others; the
 * commit flushes all of it, and nothing in the file then tells which reports
 * that wait were put before others. Committing what was not begun does nothing;
 * queue_free forgets what was not committed. Statuses: USAGE (look, or begun
 * twice), IO, FORMAT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status queue_begin(struct queue *queue,
                                            struct sotto_error *err);
SOTTO_CHECKED enum sotto_status queue_commit(struct queue *queue,
                                             struct sotto_error *err);

/* Puts a report whose mechanism ends with the second `ends` of UTC (0: never),
   flushed to the disk unless something is begun; one that is there, or was
   acknowledged, is left as it is. Statuses: USAGE (look), IO, FORMAT, MEMORY,
   ENTROPY. */
SOTTO_CHECKED enum sotto_status
queue_put(struct queue *queue, const char *destination, const uint8_t *report,
          size_t size, uint64_t ends, struct sotto_error *err);

/* Reports of one mechanism, one behind the other, each of `size` bytes. */
struct queue_batch {
    int64_t *key;
    uint8_t *reports;
    size_t count, size;
    uint64_t ends; /* from this second of UTC on none is sent; 0: never */
};
/*
 * The next reports that wait for a destination and have not ended at the second
 * `now` of UTC, up to `most` of them and QUEUE_BODY_MOST bytes, but one at
 * least, all of the mechanism of the first. None: count is 0. queue_batch_clear
 * frees. Statuses: IO, FORMAT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
queue_next(struct queue *queue, const char *destination, uint64_t now,
           size_t most, struct queue_batch *ret_batch, struct sotto_error *err);
void queue_batch_clear(struct queue_batch *batch);

/* Reports for a destination, each counted once. */
struct queue_count {
    size_t waiting;
    size_t refused; /* and not ended */
    size_t ended;   /* refused before or not */
};
/* Counts them at the second `now`. Statuses: IO, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status
queue_count(struct queue *queue, const char *destination, uint64_t now,
            struct queue_count *ret_count, struct sotto_error *err);

/*
 * What became of a batch, all of it at once, flushed: `refusal[i]` is NULL
 * where report i was acknowledged, else the code it was refused with. Statuses:
 * USAGE (look), IO, FORMAT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status queue_settle(struct queue *queue,
                                             const struct queue_batch *batch,
                                             const char *const *refusal,
                                             struct sotto_error *err);

/* Lets reports for a destination that are marked as refused wait again, as they
   are, flushed. Statuses: USAGE (look), IO, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status queue_retry(struct queue *queue,
                                            const char *destination,
                                            struct sotto_error *err);

/* Removes the reports for a destination that have ended at the second `now`,
   flushed. Statuses: USAGE (look), IO, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status queue_drop(struct queue *queue,
                                           const char *destination,
                                           uint64_t now,
                                           struct sotto_error *err);

/*
 * Makes this the queue of one ledger, known by its check value
 * (store/ledger.h), of which a hash under the queue's secret is kept: reports
 * of two ledgers could be of the same people. One that is looked at is only
 * compared. Returns the mark, 0 for one that is looked at. Statuses: REFUSED
 * (it is another ledger's), IO, FORMAT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status queue_bind(struct queue *queue,
                                           const uint8_t *check, size_t size,
                                           uint64_t *ret_mark,
                                           struct sotto_error *err);
/* Raises the mark, how many charges the ledger had at least, unless it is there
   or above already: flushed, or with what is begun. Statuses: USAGE (look), IO,
   FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status queue_mark(struct queue *queue, uint64_t mark,
                                           struct sotto_error *err);

/* ---- The file ----------------------------------------------------------- */

/* Whether `path` is a queue's or nobody's yet: asked before anything is made
   beside it. Statuses: FORMAT. */
SOTTO_CHECKED enum sotto_status queue_file_known(const char *path,
                                                 struct sotto_error *err);

/* Writes an empty queue to `path`, for the owner alone, in one step, if nothing
   is there. Statuses: IO, MEMORY, ENTROPY. */
SOTTO_CHECKED enum sotto_status queue_file_make(const char *path,
                                                struct sotto_error *err);

/*
 * Opens the queue at `path`, checked from end to end, set to flush what it
 * keeps and to overwrite what it deletes; or with `look` for reading alone.
 * `ret_sql` points to `path`; sqlite3_close frees `ret_sql->db`. Statuses:
 * FORMAT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
queue_file_open(const char *path, bool look, struct sql *ret_sql,
                uint8_t ret_secret[QUEUE_SECRET_SIZE], struct sotto_error *err);

/* A failure of SQL as one of a queue: the message says what to do, and to move
   it away only if it is one. */
enum sotto_status queue_file_fail(const char *path, enum sotto_status status,
                                  struct sotto_error *err);

#endif
