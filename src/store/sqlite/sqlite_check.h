/*
 * sqlite_check.h: a look at all that a store keeps: what its files share.
 *
 *     sqlite_check.c       opening, steps, and what was found
 *     sqlite_check_rows.c  batches and what waits, by payloads
 *     sqlite_check_rest.c  tags, pages, tables that must agree, the log
 */
#ifndef SOTTO_STORE_SQLITE_SQLITE_CHECK_H
#define SOTTO_STORE_SQLITE_SQLITE_CHECK_H

#include "store/sqlite/sqlite_store.h"

enum look {
    LOOK_BATCHES,
    LOOK_HELD,
    LOOK_INCOMING,
    LOOK_RUNS,
    LOOK_PAGES,
    LOOK_REST,
    LOOKS
};

#define KNOWN_MOST 256u /* pages; any more are places */

/* Pages of which something is known already. */
struct known_pages {
    uint32_t page[KNOWN_MOST];
    size_t count;
};

/* A batch that is being looked at, in pieces. */
struct looking {
    uint64_t chunk; /* the next one */
    uint32_t sum;   /* of those before */
    uint64_t damaged, gone;
};

struct sqlite_checker {
    struct sql sql;
    char *path;
    void (*tell)(void *context, const char *text);
    void *context;
    struct store_damage damage; /* of this round */
    enum look look;
    int64_t campaign; /* the last row that was looked at: its campaign ... */
    int64_t number;   /* ... and its number, or ... */
    int64_t place;    /* ... its place, or ... */
    uint8_t key[TAG_SIZE]; /* ... its key */
    unsigned generation;   /* of incoming */
    uint64_t page;         /* of that run, or of the file: the next one */
    struct looking batch;
    bool explaining;              /* what is read has a damaged payload */
    struct known_pages explained; /* by such */
    struct known_pages in_log;    /* damaged ones that were told of */
    uint8_t owner[RUN_OWNER_SIZE];
    int64_t version; /* of the store */
};

/* ---- sqlite_check.c ------------------------------------------------------ */

/* Tells of something; or of a place that is damaged. */
void sqlite_check_tell(const struct sqlite_checker *checker, const char *text);
void sqlite_check_place(struct sqlite_checker *checker, const char *text);
/* The next table, or kind of thing. */
void sqlite_check_next(struct sqlite_checker *checker);
bool sqlite_check_known(const struct known_pages *known, uint32_t page);
/* Reads the row of a statement's place, and key if it is not NULL, again from
   the disk: it has a damaged payload, and the pages with rows that do not fit
   are those it is in. */
void sqlite_check_explain(struct sqlite_checker *checker, const char *text,
                          int64_t place, const uint8_t *key);

/* ---- sqlite_check_rows.c and sqlite_check_rest.c --------------------------
 */

/* Look from where they are, until there is no more or about `left` bytes are
   over. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
sqlite_check_batches(struct sqlite_checker *checker, size_t *left,
                     struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sqlite_check_rows(struct sqlite_checker *checker, size_t *left,
                  struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sqlite_check_runs(struct sqlite_checker *checker, size_t *left,
                  struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sqlite_check_pages(struct sqlite_checker *checker, size_t *left,
                   struct sotto_error *err);
/* Looks at what is small; `all`: also at what takes its time. */
SOTTO_CHECKED enum sotto_status
sqlite_check_rest(struct sqlite_checker *checker, bool all,
                  struct sotto_error *err);

#endif
