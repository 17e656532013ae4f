/*
 * date_text.h: whether a text is a date.
 */
#ifndef SOTTO_SCHEMA_DATE_TEXT_H
#define SOTTO_SCHEMA_DATE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a text is a day or a month of a year from 1800 to 2199, with or
 * without a time behind it: 2015-03-01, 2015/3/1, 1.3.2015, 03/01/2015,
 * 2015-03, Mar-2015, 1-Mar-2015, Mar 1, 2015. A plain number is none.
 */
bool date_text_is(const void *text, size_t size);
/* Whether a whole number is a date: 20150301. */
bool date_text_is_number(double number);

#endif
