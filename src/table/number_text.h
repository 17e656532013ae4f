/*
 * number_text.h: a number as people write it into a table.
 */
#ifndef SOTTO_TABLE_NUMBER_TEXT_H
#define SOTTO_TABLE_NUMBER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads all of `text`: a decimal number (decimal_text.h), one too large for a
 * double as the largest; or, in at most 64 bytes, one with
 *
 *     a percent sign behind it       11.22%      is 11.22, not 0.1122
 *     a currency sign, $ EUR GBP YEN $5, -5 EUR  before or behind it (the signs
 *                                                of these, not the letters)
 *     groups of three digits         1,234.5     1 234   1'234   parted by
 *                                                commas, apostrophes or blanks,
 *                                                all the same
 *     a minus sign of its own        U+2212
 *     parentheses                    ($5)        is -5, only with groups or a
 *                                                currency: (5) may be a name
 *
 * The rule looks at the text alone, and is the same for a curator's file and a
 * device's. False, and `ret_number` untouched, for anything else.
 */
bool number_text_parse(const void *text, size_t size, double *ret_number);

#endif
