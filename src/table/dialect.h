/*
 * dialect.h: files with other separators than commas, with decimal commas, in
 * Latin-1, as plain CSV.
 */
#ifndef SOTTO_TABLE_DIALECT_H
#define SOTTO_TABLE_DIALECT_H

#include "table/table.h"

/*
 * Says how a curator's file is written: what `reading` has is kept, what is 0
 * there is told from the first thousand records.
 *
 *     separator   the comma, if the first records all have as many of it; else
 *                 the first of semicolon, tab and pipe of which that is true;
 *                 else the comma. A semicolon wins over commas that all stand
 *                 between digits.
 *     decimal     the point, unless the separator is another than the comma,
 *                 and more fields can only be numbers with a decimal comma
 *                 (3,5 and not 3,500) than can only be numbers with a point
 *
 * This is never called for a device's file: its content decides nothing.
 */
void dialect_guess(const uint8_t *bytes, size_t size,
                   struct sotto_table_reading *reading);

/*
 * Replaces *bytes, from malloc, by the same records as UTF-8, with commas
 * between fields and points in numbers; line breaks stay where they are. What
 * is plain already stays as it is. Bytes 0x80 to 0x9f of Latin-1 are those of
 * Windows-1252. Statuses: LIMIT, MEMORY: *bytes is then as it was.
 */
SOTTO_CHECKED enum sotto_status
dialect_translate(uint8_t **bytes, size_t *size,
                  const struct sotto_table_reading *reading, const char *name,
                  struct sotto_error *err);

#endif
