/*
 * sql_log.h: SQLite's write-ahead log, frame by frame, as far as its own sums
 * tell what of it is sound. Only sql_log_mend writes.
 *
 *     header (32)   magic, version, page size, round, salts (8), sum (8)
 *     frame         page's number, pages after a commit or 0, salts (8),
 *                   sum (8), page                                n times
 *
 * A frame's sum is of the page, the frame's first 8 bytes and the sum before
 * it. SQLite takes frames up to the first whose sum does not fit, and cannot
 * tell damage there from the log's end; what lies behind tells.
 */
#ifndef SOTTO_STORE_SQL_LOG_H
#define SOTTO_STORE_SQL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

#define SQL_LOG_HEADER ((size_t)32)
#define SQL_FRAME_HEADER ((size_t)24)
#define SQL_LOG_PAGE ((size_t)4096) /* of our files; others are not read */
#define SQL_FRAME (SQL_FRAME_HEADER + SQL_LOG_PAGE)
#define SQL_LOG_SALTS ((size_t)16)   /* where in the log's header */
#define SQL_LOG_SUM ((size_t)24)     /* likewise */
#define SQL_FRAME_COMMIT ((size_t)4) /* and in a frame's */
#define SQL_FRAME_SALTS ((size_t)8)
#define SQL_FRAME_SUM ((size_t)16)

/* Whether the sum behind a log's first 24 bytes is theirs, and the log is one
   of pages of SQL_LOG_PAGE. */
bool sql_log_header_sound(const uint8_t header[SQL_LOG_HEADER]);
/*
 * Whether a frame's sum fits: `before` are the 8 bytes of the sum before it,
 * the header's for the first frame. `magic`: the log's first 4 bytes, which
 * say how numbers are read.
 */
bool sql_log_frame_sound(const uint8_t magic[4], const uint8_t before[8],
                         const uint8_t frame[SQL_FRAME]);

/* What a look at a whole log finds. */
struct sql_log_look {
    uint64_t frames;  /* that are sound, one behind the other */
    uint64_t commits; /* that they end */
    /* Behind them: */
    uint64_t damaged; /* the frame that is damaged, from 1; 0: there is none */
    uint64_t lost;    /* commits from there on. The last one may be what a loss
                         of power cut off: then nobody was told of it. */
};

/*
 * Looks at the log `path`; all 0 where there is none, or an empty one. What a
 * writer writes meanwhile may look damaged: look again. Statuses: IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sql_log_look(const char *path,
                                             struct sql_log_look *ret_look,
                                             struct sotto_error *err);

/*
 * Puts right, in a damaged log that nobody writes to, each frame of which one
 * byte is wrong, of three in four: its sum says which, and what it was, with
 * one chance in 2^44 to be mistaken. What a loss of power leaves is no such
 * frame. Says how many. Statuses: IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sql_log_mend(const char *path, uint64_t *ret_mended, struct sotto_error *err);

/* Whether the log `path` has page `number` in a transaction that ended; false
   also where it cannot be read. */
bool sql_log_has(const char *path, uint32_t number);

#endif
