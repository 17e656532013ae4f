/*
 * csv_parts.h: CSV text in parts, each looked at and scanned by itself, on as
 * many threads as there are.
 *
 * A part begins behind a line feed, which may stand in quotes: nobody knows
 * before the part before it has been scanned. So each is scanned as if it
 * began a row, and what came out counts if the part before ended there; else
 * the text is scanned once more, from where that one ended. The rows are those
 * of one scan from the beginning to the end, and so are the errors.
 *
 *     parts   |----- 0 -----|----- 1 -----|----- 2 -----|
 *     scanned  row row row row   "quoted ..|..." row  row
 *              ends where 1 begins: 1 counts; 1 ends in 2: scanned again
 */
#ifndef SOTTO_TABLE_CSV_PARTS_H
#define SOTTO_TABLE_CSV_PARTS_H

#include "host/pool.h"
#include "table/csv_scan.h"
#include "table/csv_text.h"

#define CSV_PART_BYTES ((size_t)1 << 20)

struct csv_part {
    size_t start, stop;
    struct csv_text text;   /* offsets from `start` */
    size_t cell_at, row_at; /* where its cells and lines have their room */
    struct csv_scan scan;
    size_t from; /* where it was scanned from */
    bool good;   /* and without an error */
};

struct csv_parts {
    struct host_pool *pool; /* NULL: one thread */
    const uint8_t *bytes;
    size_t size;
    struct csv_part *part;
    size_t count;
    uint8_t separator;
    size_t cells, rows;           /* no text has more */
    const struct csv_scan *whole; /* of csv_parts_scan */
    size_t stop;
};

/* Cuts the text into parts of about `part_bytes` and looks at each. On failure
   nothing is to be cleared. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
csv_parts_init(struct csv_parts *parts, const uint8_t *bytes, size_t size,
               uint8_t separator, size_t part_bytes, struct host_pool *pool,
               struct sotto_error *err);
void csv_parts_clear(struct csv_parts *parts);

/* The offset of the first NUL, and of the first byte that is not UTF-8; `size`
   if there is none. */
size_t csv_parts_nul(const struct csv_parts *parts);
size_t csv_parts_bad(const struct csv_parts *parts);
/* The offset behind the `count`-th (from 1) line feed from `at` on. */
size_t csv_parts_skip(const struct csv_parts *parts, size_t at, size_t count);

/*
 * Scans rows from whole->at on until one begins at `stop`, which is behind a
 * line feed or the end, or later. `whole` has room for all cells and rows of
 * the text. With whole->open: if the last record is not all there, sets
 * whole->ran_out and leaves whole->at at its beginning. Statuses: INPUT.
 */
SOTTO_CHECKED enum sotto_status
csv_parts_scan(struct csv_parts *parts, struct csv_scan *whole, size_t stop);

#endif
