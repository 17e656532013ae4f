/*
 * csv_print.c: printing fields of a CSV file.
 */
#include "cli/csv_print.h"

#include <string.h>

void
csv_field(FILE *to, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, to);
        return;
    }
    (void)fputc('"', to);
    for (; *text != '\0'; text++) {
        (void)fprintf(to, *text == '"' ? "\"\"" : "%c", *text);
    }
    (void)fputc('"', to);
}
