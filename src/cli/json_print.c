/*
 * json_print.c: printing JSON objects, one a line.
 */
#include "cli/json_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/utf8.h"

static bool first;

static void
put_string(FILE *to, const char *text)
{
    size_t left = strlen(text), size;
    (void)fputc('"', to);
    for (; left > 0; text += size, left -= size) {
        unsigned char at = (unsigned char)*text;
        uint32_t character;
        size = host_utf8_decode((const uint8_t *)text, left, &character);
        if (size == 0) {
            (void)fputs("\\ufffd", to);
            size = 1;
        } else if (at == '"' || at == '\\') {
            (void)fprintf(to, "\\%c", at);
        } else if (at < 0x20 || at == 0x7f) {
            (void)fprintf(to, "\\u%04x", at);
        } else {
            (void)fwrite(text, 1, size, to);
        }
    }
    (void)fputc('"', to);
}

static void
put_key(FILE *to, const char *key)
{
    if (!first) {
        (void)fputs(", ", to);
    }
    first = false;
    put_string(to, key);
    (void)fputs(": ", to);
}

void
json_begin(FILE *to)
{
    first = true;
    (void)fputc('{', to);
}

void
json_end(FILE *to)
{
    (void)fputs("}\n", to);
}

void
json_text(FILE *to, const char *key, const char *text)
{
    put_key(to, key);
    if (text == NULL) {
        (void)fputs("null", to);
    } else {
        put_string(to, text);
    }
}

/* From 15 digits on: %g writes 20 as 2e+01 where it has one digit only, and
   leaves out the noughts at the end in any case. */
void
json_shortest(double number, char text[JSON_NUMBER_SIZE])
{
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, JSON_NUMBER_SIZE, "%.*g", digits, number);
        if (strtod(text, NULL) == number) {
            return;
        }
    }
}

static void
put_number(FILE *to, double number)
{
    char text[JSON_NUMBER_SIZE] = "null";
    if (isfinite(number)) {
        json_shortest(number, text);
    }
    (void)fputs(text, to);
}

void
json_number(FILE *to, const char *key, double number)
{
    put_key(to, key);
    put_number(to, number);
}

void
json_numbers(FILE *to, const char *key, const double *number, size_t count)
{
    put_key(to, key);
    for (size_t i = 0; i < count; i++) {
        (void)fputc(i > 0 ? ',' : '[', to);
        put_number(to, number[i]);
    }
    (void)fputs(count > 0 ? "]" : "[]", to);
}

void
json_texts(FILE *to, const char *key, const char *const *text, size_t count)
{
    put_key(to, key);
    for (size_t i = 0; i < count; i++) {
        (void)fputc(i > 0 ? ',' : '[', to);
        put_string(to, text[i]);
    }
    (void)fputs(count > 0 ? "]" : "[]", to);
}

void
json_sizes(FILE *to, const char *key, const size_t *number, size_t count)
{
    put_key(to, key);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(to, "%c%zu", i > 0 ? ',' : '[', number[i]);
    }
    (void)fputs(count > 0 ? "]" : "[]", to);
}

void
json_decimal(FILE *to, const char *key, const char *text)
{
    put_key(to, key);
    (void)fputs(text, to);
}

void
json_size(FILE *to, const char *key, size_t number)
{
    put_key(to, key);
    (void)fprintf(to, "%zu", number);
}

void
json_bool(FILE *to, const char *key, bool truth)
{
    put_key(to, key);
    (void)fputs(truth ? "true" : "false", to);
}
