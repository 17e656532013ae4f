/*
 * sql_pages.h: the rows in an SQLite file of ours, read from its bytes: page by
 * page, believing nothing, without SQLite.
 *
 *     page 1 ... n     4,096 bytes, the last 4 a sum (store/sql_sums.h)
 *     PATH-wal         pages that were written since, as far as its own sums
 *                      fit and a transaction ended: they stand for those above
 *
 * Every row lies in a page that says itself how its cells are laid out, so all
 * rows that are whole are found wherever the tree above them is broken. Of a
 * page whose sum does not fit it is looked whether one byte explains that: then
 * the byte is put right, and the page is as it was but for a chance of 2^-12.
 * What is read of a page that is damaged is what is there: who calls must know
 * rows by other sums.
 *
 * Nothing is written. Memory is two pages, a row, and 8 bytes for each page
 * in the log.
 */
#ifndef SOTTO_STORE_SQL_PAGES_H
#define SOTTO_STORE_SQL_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

#define SQL_PAGE ((size_t)4096)
#define SQL_PAGE_USED (SQL_PAGE - 4)     /* bytes before a page's sum */
#define SQL_ROW_COLUMNS 8u               /* rows of more are left out */
#define SQL_ROW_MOST ((size_t)272 << 20) /* bytes; likewise */

struct sql_pages;

enum sql_page_state {
    SQL_PAGE_SOUND,
    SQL_PAGE_MENDED,  /* one byte was put right */
    SQL_PAGE_FOREIGN, /* another program wrote it, without a sum; or all that
                         had the sum is zeros */
    SQL_PAGE_DAMAGED, /* what is there is not what was written */
    SQL_PAGE_GONE     /* the disk does not give it */
};

/* Opens `path` and its log for reading. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status sql_pages_open(const char *path,
                                               struct sql_pages **ret_pages,
                                               struct sotto_error *err);
/* Of a file that is held in memory; `log` may be NULL. */
SOTTO_CHECKED enum sotto_status
sql_pages_open_bytes(const uint8_t *file, size_t size, const uint8_t *log,
                     size_t log_size, struct sql_pages **ret_pages,
                     struct sotto_error *err);
void sql_pages_close(struct sql_pages *pages);

/* Pages, from 1, which may not all be there if the file was cut. */
uint32_t sql_pages_count(const struct sql_pages *pages);
/* Pages that the log has. */
uint32_t sql_pages_logged(const struct sql_pages *pages);

/* Takes page `number` for what follows; says how it is. */
enum sql_page_state sql_pages_take(struct sql_pages *pages, uint32_t number);
/* Its bytes, as they should be on the disk, with a sum. */
const uint8_t *sql_pages_bytes(const struct sql_pages *pages);
/* Takes back what was put right in it; unless it is sound it is DAMAGED then.
 */
void sql_pages_doubt(struct sql_pages *pages);
/* Whether the log has page `number`. */
bool sql_pages_in_log(const struct sql_pages *pages, uint32_t number);

struct sql_cell {
    enum {
        SQL_CELL_NULL,
        SQL_CELL_INTEGER,
        SQL_CELL_REAL, /* without its value */
        SQL_CELL_TEXT,
        SQL_CELL_BLOB
    } kind;
    int64_t number;
    const uint8_t *bytes;
    size_t size;
};

struct sql_row {
    uint32_t page;
    enum sql_page_state state; /* the worst of all pages that it is in */
    bool keyed;                /* by `rowid`; else it is WITHOUT ROWID's */
    int64_t rowid;
    size_t columns;
    struct sql_cell column[SQL_ROW_COLUMNS];
};

/*
 * Hands the rows of the page that was taken to `take`, in the order of their
 * keys, until that fails: those of tables' leaves, and those of any page of
 * tables without rowids or of indexes. What a row points to is gone when `take`
 * returns. Statuses: take's; MEMORY.
 */
typedef enum sotto_status sql_pages_take_row(void *context,
                                             const struct sql_row *row,
                                             struct sotto_error *err);
SOTTO_CHECKED enum sotto_status sql_pages_rows(struct sql_pages *pages,
                                               sql_pages_take_row *take,
                                               void *context,
                                               struct sotto_error *err);

/* ---- What sql_pages.c and sql_cells.c share ------------------------------ */

/* A file's bytes: a descriptor's, or memory's. */
struct sql_bytes {
    int fd; /* -1: in memory, or none */
    const uint8_t *data;
    uint64_t size;
};

/* Where in the log a page is last, from 0. */
struct sql_frame {
    uint32_t page, frame;
};

struct sql_pages {
    struct sql_bytes file, log;
    uint32_t count, logged;
    struct sql_frame *frame; /* of the pages in the log, in their order */
    uint32_t number;         /* of the page that was taken */
    enum sql_page_state state;
    uint8_t page[SQL_PAGE];
    size_t page_mended, mended; /* the byte that was put right, in that one and
                                   in the last that was read, ... */
    uint8_t page_mend, mend;    /* ... by this */
    uint8_t next[SQL_PAGE];     /* of a row that goes on elsewhere */
    uint8_t *row;               /* all of it */
    size_t row_room;
};

/* Reads any page into `to`; bytes that are not there are zeros. */
enum sql_page_state sql_pages_read(struct sql_pages *pages, uint32_t number,
                                   uint8_t *to);

static inline uint32_t
sql_big_endian(const uint8_t *from, size_t size)
{
    uint32_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | from[i];
    }
    return value;
}

#endif
