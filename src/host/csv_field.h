/*
 * csv_field.h: fields of a CSV file (RFC 4180), in quotes where they must be.
 */
#ifndef SOTTO_HOST_CSV_FIELD_H
#define SOTTO_HOST_CSV_FIELD_H

#include <stdio.h>

#include "host/text.h"

/* Prints a field as it is, with its line breaks. */
void csv_field_print(FILE *to, const char *field);
/* Adds a field in one line: a line break becomes a blank. */
void csv_field_add(struct host_text *text, const char *field);
/* Adds a number with up to 10 digits; nothing if it is not finite. */
void csv_field_number(struct host_text *text, double number);

/* The end of the field that begins at `at`: its comma, or `end`, the line's;
   NULL if its quotes are wrong. */
const char *csv_field_end(const char *at, const char *end);
/* Makes a field, from its first byte to what ended it (a byte more that can be
   written), its text without quotes, in place, NUL-terminated. */
void csv_field_undo(char *at, char *end);

#endif
