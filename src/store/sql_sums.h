/*
 * sql_sums.h: sums of SQLite's pages: a VFS that stands between SQLite and the
 * system, for the connections that ask for it by name.
 *
 *     page   4,092 bytes of SQLite's, 4 of the sum: CRC-32C of the page's
 *            number (4, lowest first) and those bytes; never 0, which stands
 *            for 1
 *
 * A database has sums if its header reserves 4 bytes of each page. SQLite gets
 * zeros in their place, and so they are in its log: a sum is written with the
 * page when the log is written back, and looked at whenever a page is read from
 * the file. One that is 0 was written by another program. What is read from the
 * log is looked at by the log's own sums. Files without sums, journals and
 * whatever else are passed through.
 *
 * A page that does not fit its sum is SQLITE_IOERR_DATA to a strict connection,
 * as it is at first, and sql_fail says which page it was. A lenient one gets it
 * as it is, and counts it. Who writes may be so with leaves alone, and only
 * where their rows end in them: a page that leads to others, as a leaf does
 * whose row goes on elsewhere, or one that says which are free, could lead to
 * what must not be written over. Who reads may be so with leaves where a page
 * that leads to others would hide what a repair brings back.
 */
#ifndef SOTTO_STORE_SQL_SUMS_H
#define SOTTO_STORE_SQL_SUMS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/checksum.h"

#define SQL_SUMS_VFS "sotto-sums"
#define SQL_SUMS_PAGE ((size_t)4096)
#define SQL_SUMS_USED (SQL_SUMS_PAGE - HOST_CHECKSUM_SIZE)
/* SQLite keeps locks here, and nothing in the page that has it. */
#define SQL_SUMS_LOCKS (UINT32_C(0x40000000) / 4096 + 1)

/* The sum of page `number`, from 1; and whether the one it has is that. */
uint32_t sql_sums_of(uint32_t number, const uint8_t *page);
bool sql_sums_fit(uint32_t number, const uint8_t *page);
/* Writes the sums of all pages of a whole database. */
void sql_sums_stamp(uint8_t *image, size_t size);

/* Makes the VFS known, once. SQLite's result code. */
int sql_sums_register(void);

enum sql_sums_trust {
    SQL_SUMS_STRICT,
    SQL_SUMS_LEAVES, /* but for page 1 */
    SQL_SUMS_LENIENT
};

/* What a connection has read. */
struct sql_sums {
    bool summed; /* its database has sums */
    enum sql_sums_trust trust;
    uint64_t bad;  /* pages that did not fit, each time one was read */
    uint32_t page; /* the last of them; 0: not known */
    bool foreign;  /* another program had written it */
    bool log;      /* it was in the log */
    bool refused;  /* one was not given; sql_fail takes this back */
    uint8_t kind;  /* its first byte: what SQLite takes it for */
    /* NULL, or told of each. */
    void (*tell)(void *context, const struct sql_sums *sums);
    void *context;
};
#define SQL_SUMS_INTERIOR 5 /* a kind: a table's page without rows */

/* Of a connection's database: "main", or what was attached; NULL: it does not
   go through the VFS. Stays until the connection is closed, or detaches it. */
struct sql_sums *sql_sums_of_connection(sqlite3 *db, const char *name);
/* Pages that did not fit so far; and how the main database takes them from now
   on: nothing where there are no sums. */
uint64_t sql_sums_bad(sqlite3 *db);
void sql_sums_trust(sqlite3 *db, enum sql_sums_trust trust);
/* Reads a page of the main database from the disk, not from the log; `to` has
   SQL_SUMS_PAGE bytes. SQLite's result code: SQLITE_IOERR_DATA: it does not
   fit; SQLITE_IOERR_SHORT_READ: it is not there. */
int sql_sums_read(sqlite3 *db, uint32_t number, uint8_t *to);

#endif
