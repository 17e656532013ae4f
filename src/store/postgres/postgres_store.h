/*
 * postgres_store.h: what the files of the PostgreSQL back-end share.
 *
 *     postgres_link.c      the connection; statements, results
 *     postgres_schema.c    the tables, their versions, what a server must keep
 *     postgres_load.c      what a writer keeps of the tables in memory
 *     postgres_store.c     the writer: opening, campaigns, transactions
 *     postgres_put.c       putting reports, in blocks
 *     postgres_window.c    moving on a window that has ended, its keys, and
 *     postgres_payloads.c  its payloads, released or held
 *     postgres_reader.c    reading batches
 *     postgres_forget.c    ending a campaign, beside collectors
 *     postgres_check.c     looking at all that is kept
 *
 * A server's log, replicas, archives and dead rows keep what was deleted, and
 * in which transaction each row came. So a row that says more than it may say
 * for good is sealed with a key that the server never has
 * (store/window_keys.h):
 *
 *     put ---> incoming   (tag, payload, check) triples, sealed by the window
 *                 |
 *                 v  transactions that hold tags alone, sorted
 *               seen      tags, as they are
 *                 |
 *                 v  later transactions that hold payloads alone
 *      held       |       (payload, check) pairs, sealed by that move
 *        `--------+
 *                 v
 *               part      released (key, payload, check), as they are, shuffled
 *
 * A tag and a payload are never new in one transaction, and of payloads only
 * whole batches ever stand there as they are. When a window has been moved on
 * its key is destroyed (store_scrub), and with it what anybody kept of its
 * rows.
 *
 * Several collectors share a store. Each has windows, held reports and keys of
 * its own, and a row in `collector`:
 *
 *     STAGE_NONE --end--> STAGE_TAGS --all tags in `seen`--> STAGE_PAYLOADS
 *         ^                                                        |
 *         `------------------- all campaigns moved ----------------'
 *
 * A report that two of them took in windows that were open together is one
 * report when both have been moved: the tag of the second is in `seen`, it is
 * noted down as dropped, sealed, in the same transaction, and its payload goes
 * nowhere.
 *
 * A campaign may be forgotten while collectors run. Whatever writes rows of a
 * campaign has a lock on its row in `campaign` that is shared, and has seen it
 * open; who forgets it has that lock alone. So what came before is deleted with
 * the rest, and what comes behind finds it closed.
 */
#ifndef SOTTO_STORE_POSTGRES_POSTGRES_STORE_H
#define SOTTO_STORE_POSTGRES_POSTGRES_STORE_H

#include "store/postgres/postgres_link.h"
#include "store/store.h"
#include "store/store_window.h"
#include "store/window_keys.h"

#define TAG_KEY_SIZE 32u /* of the key that makes tags of ids */
#define CHECK_SIZE 4u    /* of a payload's checksum, which travels with it */
#define GENERATIONS 2    /* of incoming */
#define BLOCK_BYTES                                                            \
    ((size_t)1 << 20) /* of a row, unless one report is more                   \
                       */

enum postgres_stage { STAGE_NONE = 0, STAGE_TAGS = 1, STAGE_PAYLOADS = 2 };
enum postgres_purpose { PURPOSE_INCOMING = 1, PURPOSE_HELD, PURPOSE_DROPPED };

/* This collector's row. */
struct postgres_move {
    unsigned active;           /* generation that takes new reports */
    int64_t key[GENERATIONS];  /* the numbers of their keys */
    enum postgres_stage stage; /* of the other one */
    uint32_t campaign;         /* done: up to this campaign ... */
    uint8_t tag[TAG_SIZE];     /* ... and, of tags, up to this one */
};

/* What bounds memory, pauses and rows. */
struct postgres_limits {
    uint64_t window_bytes; /* of payloads: then a window is full */
    uint64_t batch_bytes;  /* of one batch, unless batch_min asks for more */
};

/* A campaign, and how many reports of it this collector has where. Numbers are
   from 1. */
struct postgres_campaign {
    uint8_t hash[SOTTO_HASH_SIZE];
    size_t payload_size;
    uint64_t incoming[GENERATIONS];
    uint64_t held;
    uint8_t *block; /* triples put since the last block was written */
    size_t block_count, block_room;
};

struct postgres_store {
    struct postgres_link link;
    struct window_keys *keys;
    uint8_t tag_key[TAG_KEY_SIZE];
    bool known; /* the key of tags */
    bool simulation;
    bool begun, failed; /* as a caller has it */
    bool stale;         /* what follows must be read again */
    bool tags_moved;    /* in this transaction: payloads have to wait for its
                           end */
    bool deferred;      /* the payloads, until then, with this: */
    size_t batch_min;
    uint32_t aside; /* a campaign that could not be moved; 0: none */
    int backend;    /* the server's process of the connection before */
    struct postgres_limits limits;
    struct postgres_move move;
    struct postgres_campaign *campaign;
    uint32_t campaigns;
    uint64_t bytes[GENERATIONS]; /* of payloads */
    struct window_tags tags[GENERATIONS];
    struct window_tags dropped; /* of the window that is being moved */
    struct window_tag *sorted;  /* those that are being merged; or NULL */
    int64_t held_key;           /* of this move, once something is held */
};

/* Bytes of a triple in `incoming`, of a pair in `held`, of a triple in `part`.
 */
static inline size_t
postgres_triple(const struct postgres_campaign *campaign)
{
    return TAG_SIZE + campaign->payload_size + CHECK_SIZE;
}

/* ---- postgres_schema.c --------------------------------------------------- */

/* Makes the tables if there are none, brings older ones to this version, and
   reads what they are for. Statuses: FORMAT (of a later version), IO, MEMORY,
   ENTROPY. */
SOTTO_CHECKED enum sotto_status
postgres_schema_prepare(const struct postgres_link *link, bool simulation,
                        struct sotto_error *err);
/* Whose tables they are: FORMAT if they are of another version; IO if there are
   none. */
SOTTO_CHECKED enum sotto_status
postgres_schema_check(const struct postgres_link *link, bool *ret_simulation,
                      struct sotto_error *err);
/* Whether tables for `simulation` or not are those wanted: else REFUSED. */
SOTTO_CHECKED enum sotto_status
postgres_schema_check_purpose(const struct postgres_link *link, bool simulation,
                              bool wanted, struct sotto_error *err);
/* Whether postgres_schema_prepare and partitions would work; `ret_new`: there
   are no tables. Statuses: FORMAT, REFUSED, IO (also: no right to), MEMORY. */
SOTTO_CHECKED enum sotto_status
postgres_schema_try(const struct postgres_link *link, bool simulation,
                    bool *ret_new, struct sotto_error *err);
/* Whether the server flushes what it says it has, and writes none of what it is
   sent into a log for people. Statuses: REFUSED, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
postgres_schema_check_server(const struct postgres_link *link,
                             struct sotto_error *err);
/* The tables' partitions for a campaign; in a transaction. Statuses: IO,
   MEMORY. */
SOTTO_CHECKED enum sotto_status
postgres_schema_partition(const struct postgres_link *link, uint32_t number,
                          struct sotto_error *err);
/* Waits until no other collector makes tables, notes campaigns or numbers
   batches, till the transaction ends. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
postgres_schema_lock(const struct postgres_link *link, struct sotto_error *err);

/* ---- postgres_load.c ----------------------------------------------------- */

/* Reads campaigns, counts and the move's state again, if they are stale.
   Statuses: FORMAT, IO, MEMORY, ENTROPY. */
SOTTO_CHECKED enum sotto_status postgres_load(struct postgres_store *store,
                                              struct sotto_error *err);
/* Takes campaigns that others noted since. Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
postgres_load_campaigns(struct postgres_store *store, struct sotto_error *err);
/* Whether a campaign is open, in a transaction, which is begun: nobody closes
   it before that ends. Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status postgres_load_open(struct postgres_store *store,
                                                   uint32_t number,
                                                   bool *ret_open,
                                                   struct sotto_error *err);
/* REFUSED: a campaign was forgotten. */
enum sotto_status postgres_fail_closed(const struct postgres_store *store,
                                       uint32_t number,
                                       struct sotto_error *err);
/* Frees what was read. */
void postgres_unload(struct postgres_store *store);
/* FORMAT: what is wrong with the store. */
enum sotto_status postgres_fail_damaged(const struct postgres_store *store,
                                        const char *what,
                                        struct sotto_error *err);
/* Opens a column's sealed bytes, which the caller frees wiped; `size` is
   theirs. Statuses: FORMAT, IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
postgres_unseal(struct postgres_store *store, const struct window_seal *seal,
                const struct pg_result *row, int column, uint8_t **ret_plain,
                size_t *ret_size, struct sotto_error *err);
/* Seals `size` bytes, into memory that the caller frees, with
   WINDOW_SEAL_EXTRA more. Statuses: window_keys_seal's. */
SOTTO_CHECKED enum sotto_status postgres_seal(struct postgres_store *store,
                                              const struct window_seal *seal,
                                              const uint8_t *plain, size_t size,
                                              uint8_t **ret_sealed,
                                              struct sotto_error *err);

/* ---- postgres_store.c ---------------------------------------------------- */

/* Whether something was begun and has not failed: else USAGE. */
SOTTO_CHECKED enum sotto_status
postgres_check_begun(const struct postgres_store *store,
                     struct sotto_error *err);

/* Connects again if that is needed, and reads what is stale. Statuses: as
   opening has them. */
SOTTO_CHECKED enum sotto_status
postgres_make_ready(struct postgres_store *store, struct sotto_error *err);

/* ---- postgres_put.c ------------------------------------------------------ */

/* Writes the blocks that were begun, as commit and the end of a window want.
   Statuses: IO, MEMORY, ENTROPY, FORMAT. */
SOTTO_CHECKED enum sotto_status
postgres_put_blocks(struct postgres_store *store, struct sotto_error *err);
/* Writes them and commits. Statuses: the same. */
SOTTO_CHECKED enum sotto_status
postgres_put_commit(struct postgres_store *store, struct sotto_error *err);
enum sotto_status postgres_put(void *own, uint32_t campaign,
                               const uint8_t *report,
                               enum store_answer *ret_answer,
                               struct sotto_error *err);
enum sotto_status postgres_put_many(void *own, uint32_t campaign,
                                    const uint8_t *const *report, size_t count,
                                    enum store_answer *ret_answers,
                                    struct sotto_error *err);

/* ---- postgres_payloads.c ------------------------------------------------- */

/* Releases what waits of a campaign, if it is `batch_min` or more, and holds
   the rest. Statuses: IO, FORMAT, ENTROPY; of this campaign's own: MEMORY,
   REFUSED, USAGE. */
SOTTO_CHECKED enum sotto_status
postgres_payloads_move(struct postgres_store *store, uint32_t number,
                       size_t batch_min, struct sotto_error *err);
/* Deletes what waits of a campaign that was forgotten. Statuses: IO, FORMAT. */
SOTTO_CHECKED enum sotto_status
postgres_payloads_drop(struct postgres_store *store, uint32_t number,
                       struct sotto_error *err);
/* Holds what came of it in the window, and no more, with little memory.
   Statuses: IO, FORMAT, ENTROPY, MEMORY. */
SOTTO_CHECKED enum sotto_status
postgres_payloads_set_aside(struct postgres_store *store, uint32_t number,
                            struct sotto_error *err);

/* ---- postgres_window.c --------------------------------------------------- */

enum sotto_status postgres_window_end(void *own, struct sotto_error *err);
enum sotto_status postgres_window_advance(void *own, size_t rows,
                                          size_t batch_min, bool *ret_done,
                                          struct sotto_error *err);
/* Ends the window if it has taken all that one takes. Statuses: IO (the last
   one was not moved on in time), MEMORY, ENTROPY. */
SOTTO_CHECKED enum sotto_status
postgres_window_make_room(struct postgres_store *store,
                          struct sotto_error *err);
/* Moves the payloads that were deferred, each campaign in a transaction.
   Statuses: postgres_payloads_move's. */
SOTTO_CHECKED enum sotto_status
postgres_window_finish(struct postgres_store *store, struct sotto_error *err);
/* Destroys the keys that no row needs any more. */
enum sotto_status postgres_scrub(void *own, bool *ret_clean,
                                 struct sotto_error *err);

/* ---- postgres_reader.c --------------------------------------------------- */

enum sotto_status postgres_reader_open(const char *place, void **ret,
                                       bool *ret_simulation,
                                       struct sotto_error *err);
void postgres_reader_close(void *own);
enum sotto_status postgres_reader_next(void *own, const uint8_t *hash,
                                       uint64_t after,
                                       struct store_batch *ret_batch,
                                       struct sotto_error *err);

/* ---- postgres_forget.c --------------------------------------------------- */

enum sotto_status postgres_forget(const char *place, const uint8_t *hash,
                                  struct store_counts *ret_counts,
                                  struct sotto_error *err);

/* ---- postgres_check.c ---------------------------------------------------- */

enum sotto_status
postgres_checker_open(const char *place, const char *keys,
                      void (*tell)(void *context, const char *text),
                      void *context, void **ret, struct sotto_error *err);
void postgres_checker_close(void *own);
enum sotto_status postgres_checker_step(void *own, size_t bytes,
                                        struct store_damage *ret_damage,
                                        bool *ret_done,
                                        struct sotto_error *err);

/* ---- Several ------------------------------------------------------------- */

/* The checksum of a payload, which stands behind it. */
uint32_t postgres_check_of(const uint8_t *payload, size_t size);
/* Whether a payload is what its check, little-endian behind it, says. */
bool postgres_check_fits(const uint8_t *payload, size_t size);
/* postgresql: and the place behind the kind, which the caller frees; NULL: no
   memory. */
char *postgres_url(const char *place);

#endif
