/*
 * csv_field.c: fields of a CSV file.
 */
#include "host/csv_field.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool
needs_quotes(const char *field)
{
    return strpbrk(field, ",\"\r\n") != NULL;
}

void
csv_field_print(FILE *to, const char *field)
{
    bool quoted = needs_quotes(field);
    (void)fputs(quoted ? "\"" : "", to);
    for (; *field != '\0'; field++) {
        (void)fprintf(to, *field == '"' ? "\"\"" : "%c", *field);
    }
    (void)fputs(quoted ? "\"" : "", to);
}

void
csv_field_add(struct host_text *text, const char *field)
{
    bool quoted = needs_quotes(field);
    host_text_print(text, "%s", quoted ? "\"" : "");
    for (; *field != '\0'; field++) {
        char at = *field;
        if (at == '\r' || at == '\n') {
            at = ' ';
        }
        host_text_add(text, &at, 1);
        host_text_add(text, &at, at == '"' ? 1 : 0);
    }
    host_text_print(text, "%s", quoted ? "\"" : "");
}

void
csv_field_number(struct host_text *text, double number)
{
    if (isfinite(number)) {
        host_text_print(text, "%.10g", number);
    }
}

const char *
csv_field_end(const char *at, const char *end)
{
    if (at == end || *at != '"') {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        return comma != NULL ? comma : end;
    }
    for (at++; at < end; at++) {
        if (*at == '"' && (at + 1 == end || at[1] != '"')) {
            at++;
            return at == end || *at == ',' ? at : NULL;
        }
        at += *at == '"' ? 1 : 0;
    }
    return NULL;
}

void
csv_field_undo(char *at, char *end)
{
    char *to = at;
    if (at == end || *at != '"') {
        *end = '\0';
        return;
    }
    for (at++, end--; at < end; at++) {
        *to++ = *at;
        at += *at == '"' ? 1 : 0;
    }
    *to = '\0';
}
