/*
 * store.h: where a collector keeps reports: the interface, and what every
 * back-end behind it promises: sqlite/ and postgres/.
 *
 *     put ----> incoming   id's tag and payload, this window's
 *                  | window ends
 *                  v
 *          +-------+--------+
 *          v                v
 *        seen             held        tags alone | payloads alone, no ids
 *                           | at least batch_min of them
 *                           v
 *                        released     numbered batches, shuffled
 *
 * A report is 52 bytes of header, which say nothing of a record, and a payload.
 * Of an id only a tag is kept, a keyed hash, so that a report that comes again
 * is known; behind the end of a window nothing connects a tag with a payload.
 * What is released has a new random key in place of its id.
 *
 * Promises, which tests/store/test_store_suite.c asks of every back-end:
 *
 *  - What store_commit said OK to survives a crash and a loss of power. What
 *    it did not say OK to may or may not be there, whole.
 *  - Whatever the answer to a put was before a crash, putting the id again
 *    stores nothing twice: ACCEPTED or DUPLICATE, and one report in the end.
 *  - A payload is in `incoming`, `held` or `released`, and in one of them; the
 *    moves are atomic.
 *  - After store_scrub the back-end's own files hold, of a window that has
 *    ended, no order in which its reports came, and nothing that connects ids
 *    with payloads. Where the files are a server's, whose log, replicas and
 *    archives keep what was deleted, that holds for all that it was ever sent.
 *    Of windows they may tell which are newer by far: a back-end
 *    says what, and never sets the tags of one window apart from others'.
 *  - A payload whose bytes have changed on the disk is left out where it is
 *    read, and counted; the others are given.
 *  - Readers see whole batches, while a writer writes.
 *
 * A writer is one thread with what nobody else has: SQLite's has the file, and
 * a second one is refused, from whatever program. PostgreSQL's has a folder of
 * keys, and a second one with that folder is refused; others, with folders of
 * their own, may write to the same store at the same time. Each has windows of
 * its own, ends them, moves them on and holds back what is too few, by itself;
 * batches are numbered by one at a time. A report that comes to two of them
 * within a window may be ACCEPTED by both, and is one report in the end: the
 * one that was moved on first. Readers are any number.
 */
#ifndef SOTTO_STORE_STORE_H
#define SOTTO_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

/* Reports of one window: then it ends by itself, whatever the clock says; and
   of one batch. It bounds memory and pauses. */
#define STORE_WINDOW_MOST ((size_t)131072)
/* Bytes of the smallest batch, of keys and payloads: as many are held back, in
   memory, too, when a window is moved on. */
#define STORE_BATCH_BYTES ((size_t)256 << 20)

/* Whether a store can hold back `batch_min` reports with such payloads: 2 to
   STORE_WINDOW_MOST, and STORE_BATCH_BYTES at most. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status store_check_batch(size_t batch_min,
                                                  size_t payload_size,
                                                  struct sotto_error *err);

/*
 * Looks whether store_open_with_keys would work, and writes nothing. `ret_new`:
 * there is no store yet, and it would be made. Whether another writer has it is
 * not said. Statuses: store_open_with_keys'.
 */
SOTTO_CHECKED enum sotto_status store_try(const char *url, const char *keys,
                                          bool simulation, bool *ret_new,
                                          struct sotto_error *err);

/* ---- Writing ------------------------------------------------------------- */

struct store;

/*
 * Opens the store that `url` names, sqlite:PATH say, and makes it if it is not
 * there; checks what is small of it, and store_checker the rest. One of the
 * version before is upgraded in place. One that was made for simulation takes
 * and gives nothing else, and the other way round: REFUSED. Statuses: USAGE (no
 * such kind), FORMAT (no store, damaged, of another version), REFUSED, IO
 * (also: it has a writer), MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status store_open(const char *url, bool simulation,
                                           struct store **ret_store,
                                           struct sotto_error *err);
/*
 * The same of a back-end that keeps what waits sealed, with keys in the folder
 * `keys`, made if it is not there, for its owner alone: a postgres:// url.
 * NULL: none, as sqlite wants it. Statuses: store_open's; USAGE (a folder is
 * missing, or one too many); REFUSED (others may look into it, or the server
 * writes down what it is sent).
 */
SOTTO_CHECKED enum sotto_status
store_open_with_keys(const char *url, const char *keys, bool simulation,
                     struct store **ret_store, struct sotto_error *err);
/* Rolls back what was begun, and closes. */
void store_free(struct store *store);

/* What a store was found with when it was opened: something of it, if the last
   writer did not end by itself, or too early. */
struct store_found {
    uint64_t open;    /* reports of windows that were not moved on */
    uint64_t commits; /* in the log, which was not cut */
    uint64_t mended;  /* places in the log that were put right */
    uint64_t damaged; /* the place in it where it is damaged, from 1 */
    uint64_t lost;    /* commits from there on, which are lost; one may be what
                         a loss of power cut off, and nobody was told of it */
};
/* All 0 where a back-end knows nothing of it. */
void store_found(const struct store *store, struct store_found *ret_found);

/*
 * The store's number for the reports of a mechanism, by its hash; the first
 * time it is noted down, with a name for people, durably. Not between begin and
 * commit. Statuses: FORMAT (known with another payload size), USAGE (not even
 * 2 of them could be held back: store_check_batch), REFUSED (it was forgotten;
 * the store has as many as it takes), IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
store_campaign(struct store *store, const uint8_t hash[SOTTO_HASH_SIZE],
               const char *name, size_t payload_size, uint32_t *ret_campaign,
               struct sotto_error *err);

enum store_answer { STORE_ACCEPTED, STORE_DUPLICATE };

/* Starts what one store_commit makes durable. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status store_begin(struct store *store,
                                            struct sotto_error *err);
/*
 * Puts one report: `report` is all of it, checked before. A window that is full
 * ends first; while the last one is still being moved it takes as many again,
 * and then none. On failure all since store_begin must be rolled back.
 * Statuses: IO (a full disk, too), MEMORY, ENTROPY, FORMAT (of another
 * mechanism; simulated, or not), REFUSED (another program has the store forget
 * the campaign).
 */
SOTTO_CHECKED enum sotto_status
store_put(struct store *store, uint32_t campaign, const uint8_t *report,
          enum store_answer *ret_answer, struct sotto_error *err);
/* Puts `count` reports of one campaign, in their order, as store_put does, and
   answers for each; a server is asked once. Statuses: store_put's. */
SOTTO_CHECKED enum sotto_status
store_put_many(struct store *store, uint32_t campaign,
               const uint8_t *const *report, size_t count,
               enum store_answer *ret_answers, struct sotto_error *err);
/* Flushes: OK means on disk. On failure nothing of it counts as stored, and
   the store is as after store_rollback. Statuses: IO, MEMORY, ENTROPY, REFUSED
   (a campaign was forgotten since reports of it were put: store_put says which
   when they are put again). */
SOTTO_CHECKED enum sotto_status store_commit(struct store *store,
                                             struct sotto_error *err);
void store_rollback(struct store *store);

/*
 * Ends the window: what it took is to be moved on; new reports belong to the
 * next. Between begin and commit. Nothing happens while the last one is still
 * being moved. Statuses: IO, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status store_end_window(struct store *store,
                                                 struct sotto_error *err);
/*
 * Moves on about `rows` rows of a window that has ended, between begin and
 * commit, so that moving shares flushes with putting and nobody waits for all
 * of it. When it is done, reports of a campaign that has at least `batch_min`
 * of them (2 or more) waiting are released, shuffled with numbers of the
 * system's entropy; fewer are held. A campaign is released in one go, however
 * few `rows` are. `ret_done`: there is nothing to be moved (any more).
 *
 * On failure all since store_begin must be rolled back. What keeps one campaign
 * from being moved, MEMORY for all of its reports or USAGE, fails once: called
 * again, it holds the reports of this window back, unreleased, and goes on with
 * the next campaign. The next window tries anew.
 * Statuses: IO, MEMORY, ENTROPY, FORMAT, REFUSED (too much for the back-end),
 * USAGE (store_check_batch).
 */
SOTTO_CHECKED enum sotto_status store_advance(struct store *store, size_t rows,
                                              size_t batch_min, bool *ret_done,
                                              struct sotto_error *err);
/*
 * Takes what deleted rows and the log still hold off the back-end's files: no
 * transaction may be open. `ret_clean` false: a reader was in the way, and it
 * is to be called again. Statuses: IO, MEMORY, FORMAT (something else wrote
 * there).
 */
SOTTO_CHECKED enum sotto_status
store_scrub(struct store *store, bool *ret_clean, struct sotto_error *err);

/* How many reports of a campaign are where. */
struct store_counts {
    uint64_t waiting;  /* incoming and held */
    uint64_t released; /* in batches */
    uint64_t batches;
    uint64_t held; /* of those waiting, all of windows that have ended: of the
                      one that is open nothing may be told yet */
    bool closed;   /* it was forgotten */
};
SOTTO_CHECKED enum sotto_status store_count(struct store *store,
                                            uint32_t campaign,
                                            struct store_counts *ret_counts,
                                            struct sotto_error *err);

/* ---- Reading ------------------------------------------------------------- */

struct store_reader;

/* Opens a store for reading alone; a writer may be at work. `ret_simulation`,
   if not NULL: whether it was made for simulation. Statuses: USAGE, FORMAT, IO
   (there is none), MEMORY. */
SOTTO_CHECKED enum sotto_status store_reader_open(const char *url,
                                                  struct store_reader **ret,
                                                  bool *ret_simulation,
                                                  struct sotto_error *err);
void store_reader_free(struct store_reader *reader);

/* A batch: `count` released reports of a campaign, whole, as
   sotto_report_reader_parse takes them: their ids are the release's keys. */
struct store_batch {
    uint64_t number; /* from 1, in the order of release */
    size_t count, size;
    uint8_t *reports; /* size bytes; the caller frees them */
    size_t damaged;   /* reports of it that were left out because they are
                         damaged; `count` is of those that are there */
};
/*
 * The first batch behind number `after` of the mechanism with that hash;
 * `ret_batch->number` 0: there is none yet. Statuses: FORMAT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
store_reader_next(struct store_reader *reader,
                  const uint8_t hash[SOTTO_HASH_SIZE], uint64_t after,
                  struct store_batch *ret_batch, struct sotto_error *err);

/* ---- Keeping ------------------------------------------------------------- */

/*
 * Ends a campaign for good: its batches, what waits of it and its tags are
 * deleted, and their space is given back; no report of it is taken any more:
 * store_campaign refuses it (REFUSED), also if it is forgotten again, and so
 * does store_put of a writer that had it before. `ret_counts`: what there was.
 * Not between begin and commit. Statuses: USAGE (the store does not know it, or
 * it is on a server), IO, MEMORY, FORMAT.
 */
SOTTO_CHECKED enum sotto_status
store_forget(struct store *store, const uint8_t hash[SOTTO_HASH_SIZE],
             struct store_counts *ret_counts, struct sotto_error *err);
/*
 * The same of the store that `url` names, whatever it was made for; on a server
 * writers may be at work, and elsewhere none. Statuses: store_forget's;
 * store_open's; IO (readers are in the way).
 */
SOTTO_CHECKED enum sotto_status
store_forget_at(const char *url, const uint8_t hash[SOTTO_HASH_SIZE],
                struct store_counts *ret_counts, struct sotto_error *err);

/*
 * Copies a store, which a writer may be writing to, to `to`, where there is
 * nothing: a store of the same kind that holds what has been released and held,
 * and all tags of it. The window that is open is not in it, neither payloads
 * nor tags, so nothing in it connects ids with payloads. Statuses: USAGE (also:
 * it is on a server, whose own tools do that), IO, MEMORY, FORMAT.
 */
SOTTO_CHECKED enum sotto_status store_backup(const char *url, const char *to,
                                             struct sotto_error *err);

/* ---- Checking ------------------------------------------------------------ */

struct store_checker;

/* What a look at all that is kept has found. */
struct store_damage {
    uint64_t reports; /* whose payload has changed on the disk */
    uint64_t places;  /* else: batches, rows, pages */
    uint64_t sealed;  /* no damage: rows that cannot be looked into here */
    uint64_t gone;    /* of these: what is lost for good, and known to be */
};

/* Opens a store for looking at all that is kept, in pieces, while a writer and
   readers go on; `tell`, if not NULL, is told of every place, in words.
   Statuses: store_reader_open's. */
SOTTO_CHECKED enum sotto_status
store_checker_open(const char *url,
                   void (*tell)(void *context, const char *text), void *context,
                   struct store_checker **ret, struct sotto_error *err);
/* The same, and opens what waits with the keys in the folder `keys`, which no
   writer may have open. NULL: none. Statuses: store_open_with_keys'. */
SOTTO_CHECKED enum sotto_status
store_checker_open_with_keys(const char *url, const char *keys,
                             void (*tell)(void *context, const char *text),
                             void *context, struct store_checker **ret,
                             struct sotto_error *err);
void store_checker_free(struct store_checker *checker);
/*
 * Looks at about `bytes` more; with SIZE_MAX at all there is, and at how pages
 * hang together, too, which takes its time. `ret_damage`: what was found since
 * the round began; `ret_done`: it is over, and the next step begins another.
 * What is damaged is no failure. Statuses: IO, MEMORY, FORMAT (so damaged that
 * nothing can be looked at).
 */
SOTTO_CHECKED enum sotto_status
store_checker_step(struct store_checker *checker, size_t bytes,
                   struct store_damage *ret_damage, bool *ret_done,
                   struct sotto_error *err);

/* ---- Repairing ----------------------------------------------------------- */

/* What a repair found and saved. */
struct store_repaired {
    bool sound;        /* there was nothing to repair, nothing was changed, and
                          nothing counted; but for `mended`, bytes of the log */
    uint64_t released; /* reports that are in batches now, */
    uint64_t waiting;  /* and that wait */
    uint64_t lost;     /* reports that are gone; of those that waited, where
                          that can be told */
    uint64_t mended;   /* pages, of the log, too, of which one byte was put
                          right, */
    uint64_t damaged;  /* others that were damaged, */
    uint64_t tags;     /* and pages of tags that are lost */
};
/*
 * Writes a store that is damaged anew, with all of it that is sound, and puts
 * the new one in its place; the old one is kept, as the back-end says. A kill
 * at any moment leaves the one or the other. Nobody else may have it open.
 * `tell`, if not NULL, is told of every place, in words. Statuses: USAGE (no
 * such kind, or one that is repaired by its own means; an old one that was kept
 * is in the way), IO (also: it has a writer or readers), FORMAT (what all hangs
 * on is gone), MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
store_repair(const char *url, void (*tell)(void *context, const char *text),
             void *context, struct store_repaired *ret_repaired,
             struct sotto_error *err);

/* ---- Back-ends ----------------------------------------------------------- */

/* What a back-end gives; store.c finds it by the url's kind and calls it. */
struct store_backend {
    const char *kind; /* "sqlite" */
    enum sotto_status (*open)(const char *place, bool simulation, void **ret,
                              struct sotto_error *err);
    void (*close)(void *own);
    enum sotto_status (*campaign)(void *own, const uint8_t *hash,
                                  const char *name, size_t payload_size,
                                  uint32_t *ret_campaign,
                                  struct sotto_error *err);
    enum sotto_status (*begin)(void *own, struct sotto_error *err);
    enum sotto_status (*put)(void *own, uint32_t campaign,
                             const uint8_t *report,
                             enum store_answer *ret_answer,
                             struct sotto_error *err);
    enum sotto_status (*commit)(void *own, struct sotto_error *err);
    void (*rollback)(void *own);
    enum sotto_status (*end_window)(void *own, struct sotto_error *err);
    enum sotto_status (*advance)(void *own, size_t rows, size_t batch_min,
                                 bool *ret_done, struct sotto_error *err);
    enum sotto_status (*scrub)(void *own, bool *ret_clean,
                               struct sotto_error *err);
    enum sotto_status (*count)(void *own, uint32_t campaign,
                               struct store_counts *ret_counts,
                               struct sotto_error *err);
    enum sotto_status (*reader_open)(const char *place, void **ret,
                                     bool *ret_simulation,
                                     struct sotto_error *err);
    void (*reader_close)(void *own);
    enum sotto_status (*reader_next)(void *own, const uint8_t *hash,
                                     uint64_t after,
                                     struct store_batch *ret_batch,
                                     struct sotto_error *err);
    /* Instead of `open`, where there are keys. */
    enum sotto_status (*open_with_keys)(const char *place, const char *keys,
                                        bool simulation, void **ret,
                                        struct sotto_error *err);
    /* NULL: one after the other. */
    enum sotto_status (*put_many)(void *own, uint32_t campaign,
                                  const uint8_t *const *report, size_t count,
                                  enum store_answer *ret_answers,
                                  struct sotto_error *err);
    enum sotto_status (*forget)(void *own, const uint8_t *hash,
                                struct store_counts *ret_counts,
                                struct sotto_error *err);
    /* Instead of `forget`, where writers may be at work. */
    enum sotto_status (*forget_at)(const char *place, const uint8_t *hash,
                                   struct store_counts *ret_counts,
                                   struct sotto_error *err);
    enum sotto_status (*backup)(const char *place, const char *to,
                                struct sotto_error *err);
    enum sotto_status (*checker_open)(
        const char *place, void (*tell)(void *context, const char *text),
        void *context, void **ret, struct sotto_error *err);
    /* Instead of `checker_open`, where there are keys; or NULL. */
    enum sotto_status (*checker_open_with_keys)(
        const char *place, const char *keys,
        void (*tell)(void *context, const char *text), void *context,
        void **ret, struct sotto_error *err);
    void (*checker_close)(void *own);
    enum sotto_status (*checker_step)(void *own, size_t bytes,
                                      struct store_damage *ret_damage,
                                      bool *ret_done, struct sotto_error *err);
    /* NULL: it is a file, as store_disk.h has it. */
    enum sotto_status (*try_open)(const char *place, const char *keys,
                                  bool simulation, bool *ret_new,
                                  struct sotto_error *err);
    void (*found)(const void *own, struct store_found *ret_found);
    enum sotto_status (*repair)(const char *place,
                                void (*tell)(void *context, const char *text),
                                void *context,
                                struct store_repaired *ret_repaired,
                                struct sotto_error *err);
};

extern const struct store_backend store_sqlite, store_postgres;

/* Whether a url names a store, as far as its kind goes. */
bool store_is_url(const char *url);

#endif
