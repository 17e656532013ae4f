/*
 * csv_text.h: what a stretch of text holds, in one pass over its bytes.
 */
#ifndef SOTTO_TABLE_CSV_TEXT_H
#define SOTTO_TABLE_CSV_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct csv_text {
    size_t nul;        /* offset of the first NUL; the size: there is none */
    size_t bad;        /* of the first byte that is not UTF-8; likewise */
    size_t separators; /* in quotes, too */
    size_t breaks;     /* line feeds, likewise */
};

void csv_text_look(const uint8_t *text, size_t size, uint8_t separator,
                   struct csv_text *ret_text);
/* The same, byte by byte: what tests compare it with. */
void csv_text_look_plain(const uint8_t *text, size_t size, uint8_t separator,
                         struct csv_text *ret_text);

/* The offset behind line feed `count` (at least 1); `size` if there are
   fewer. */
size_t csv_text_skip(const uint8_t *text, size_t size, size_t count);

#endif
