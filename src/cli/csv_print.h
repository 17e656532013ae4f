/*
 * csv_print.h: printing fields of a CSV file.
 */
#ifndef SOTTO_CLI_CSV_PRINT_H
#define SOTTO_CLI_CSV_PRINT_H

#include <stdio.h>

/* A field, quoted where it must be (RFC 4180). */
void csv_field(FILE *to, const char *text);

#endif
