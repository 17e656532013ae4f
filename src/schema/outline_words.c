/*
 * outline_words.c: the texts and words of a schema's line.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "schema/outline_reader.h"

enum sotto_status
outline_fail(struct outline_reader *r, size_t line, const char *format, ...)
{
    char what[300], at[40] = "";
    va_list values;
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    if (line > 0) {
        (void)snprintf(at, sizeof at, "line %zu: ", line);
    }
    return host_fail(&r->fault, SOTTO_STATUS_INPUT, line, "%s: %s%s", r->name,
                     at, what);
}

void
outline_skip_blanks(struct outline_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t')) {
        r->at++;
    }
}

bool
outline_at_end(struct outline_reader *r)
{
    outline_skip_blanks(r);
    return r->at == r->end || *r->at == '#';
}

bool
outline_take(struct outline_reader *r, char wanted)
{
    outline_skip_blanks(r);
    bool found = r->at < r->end && *r->at == wanted;
    r->at += found ? 1 : 0;
    return found;
}

static int
hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* Takes what follows a backslash; 0: it is nothing known. */
static char
take_escape(struct outline_reader *r)
{
    size_t left = (size_t)(r->end - r->at);
    if (left >= 1 && (*r->at == '"' || *r->at == '\\')) {
        return *r->at++;
    }
    if (left >= 3 && *r->at == 'x' && hex_digit(r->at[1]) >= 0 &&
        hex_digit(r->at[2]) >= 0) {
        int byte = hex_digit(r->at[1]) * 16 + hex_digit(r->at[2]);
        r->at += 3;
        return (char)(byte < 0x80 ? byte : 0);
    }
    return 0;
}

/* Fills `out`, which has room for the rest of the line; false: never closed, or
   a wrong escape. */
static bool
take_quoted(struct outline_reader *r, char *out, size_t *ret_size)
{
    size_t size = 0;
    while (r->at < r->end && *r->at != '"') {
        char c = *r->at++;
        if (c == '\\') {
            c = take_escape(r);
            if (c == '\0') {
                return false;
            }
        }
        out[size++] = c;
    }
    *ret_size = size;
    return r->at < r->end && *r->at++ == '"';
}

static size_t
take_plain(struct outline_reader *r, char *out)
{
    size_t size = 0;
    while (r->at < r->end && strchr("\"#,[]\\=", *r->at) == NULL) {
        out[size++] = *r->at++;
    }
    while (size > 0 && (out[size - 1] == ' ' || out[size - 1] == '\t')) {
        size--;
    }
    return size;
}

enum sotto_status
outline_take_text(struct outline_reader *r, const char *what, char **ret_text)
{
    outline_skip_blanks(r);
    size_t size = 0;
    char *out = malloc((size_t)(r->end - r->at) + 1);
    bool read = true;
    if (out == NULL) {
        return host_fail_memory(r->err);
    }
    if (outline_take(r, '"')) {
        read = take_quoted(r, out, &size);
    } else {
        size = take_plain(r, out);
    }
    if (!read || size == 0) {
        free(out);
        return outline_fail(
            r, r->line,
            !read ? "%s: a quote is not closed, or a backslash is "
                    "not followed by \", \\ or xHH"
                  : "%s: there is no text: write one, in quotes "
                    "if it holds any of \" # , [ ] \\ =",
            what);
    }
    out[size] = '\0';
    *ret_text = out;
    return SOTTO_STATUS_OK;
}

enum sotto_status
outline_take_word(struct outline_reader *r, const char *key,
                  const char *const *words, size_t *ret_place)
{
    char *text = NULL, there[160] = "";
    enum sotto_status status = outline_take_text(r, key, &text);
    if (status != SOTTO_STATUS_OK || text == NULL) {
        return status;
    }
    for (size_t i = 0; words[i] != NULL; i++) {
        size_t size = strlen(there);
        if (strcmp(text, words[i]) == 0) {
            *ret_place = i;
            free(text);
            return SOTTO_STATUS_OK;
        }
        (void)snprintf(there + size, sizeof there - size, "%s%s",
                       i > 0 ? ", " : "", words[i]);
    }
    status = outline_fail(r, r->line, "%s = %.60s: it is one of %s", key, text,
                          there);
    free(text);
    return status;
}
