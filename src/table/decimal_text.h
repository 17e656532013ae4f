/*
 * decimal_text.h: a double from decimal text, the same in every locale.
 */
#ifndef SOTTO_TABLE_DECIMAL_TEXT_H
#define SOTTO_TABLE_DECIMAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads all of `text` as blanks (spaces, tabs), an optional sign, digits with
 * an optional point, an optional exponent, blanks; the nearest double, ties to
 * even. No hexadecimal, infinity or NaN. False, and `ret_number` untouched, if
 * the text is anything else or the number too large for a finite double.
 */
bool decimal_text_parse(const void *text, size_t size, double *ret_number);
/* The same, but a number too large for a double is the largest of its sign: so
   it lies beyond any range, as it would if a double could hold it. */
bool decimal_text_clamp(const void *text, size_t size, double *ret_number);

/* The same, bit for bit, several times slower: what tests compare it with. */
bool decimal_text_parse_plain(const void *text, size_t size,
                              double *ret_number);

#endif
