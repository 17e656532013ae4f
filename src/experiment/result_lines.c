/*
 * result_lines.c: lines and links of a Markdown page.
 */
#include "experiment/result_lines.h"

#include <stdbool.h>
#include <string.h>

#include "host/text.h"

#define WIDTH 100u

static size_t
columns_of(const char *at, size_t size)
{
    size_t columns = 0;
    for (size_t i = 0; i < size; i++) {
        columns += ((unsigned char)at[i] & 0xc0) != 0x80 ? 1 : 0;
    }
    return columns;
}

/* Whether a line that begins with this word would be more than prose. */
static bool
begins_block(const char *word, size_t size)
{
    return (size == 1 && strchr("-+*#>", *word) != NULL) || *word == '|' ||
           (size == 2 && memcmp(word, "1.", 2) == 0);
}

/* A line of prose, broken between words; those behind the first are as deep as
   the text of a list's item. */
static void
add_prose(struct host_text *text, const char *line, size_t size)
{
    size_t indent = size > 2 && memcmp(line, "- ", 2) == 0 ? 2 : 0, column = 0;
    for (const char *at = line, *end = line + size; at < end;) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        size_t word = (size_t)((blank != NULL ? blank : end) - at);
        size_t columns = columns_of(at, word);
        if (column > 0 && column + 1 + columns > WIDTH &&
            !begins_block(at, word)) {
            host_text_print(text, "\n%*s", (int)indent, "");
            column = indent;
        } else if (at != line) {
            host_text_add(text, " ", 1);
            column++;
        }
        host_text_add(text, at, word);
        column += columns;
        at += word + 1;
    }
    host_text_add(text, "\n", 1);
}

void
result_lines(struct host_text *text, const char *page)
{
    const char *at = page;
    while (*at != '\0') {
        size_t size = strcspn(at, "\n");
        bool whole = size == 0 || strchr("|#!<", *at) != NULL ||
                     strncmp(at, "    ", 4) == 0;
        if (whole) {
            host_text_add(text, at, size);
            host_text_add(text, "\n", 1);
        } else {
            add_prose(text, at, size);
        }
        at += size + (at[size] == '\n' ? 1 : 0);
    }
}

/* Whether ".." is one of a path's names: then no names can be left out. */
static bool
goes_up(const char *path)
{
    for (; *path != '\0'; path += strcspn(path, "/")) {
        path += strspn(path, "/");
        if (strcspn(path, "/") == 2 && memcmp(path, "..", 2) == 0) {
            return true;
        }
    }
    return false;
}

char *
result_link(const char *results, const char *path)
{
    struct host_text link;
    if (goes_up(results) || goes_up(path) ||
        (results[0] == '/') != (path[0] == '/')) {
        return host_text_copy(results, strlen(results));
    }
    for (;;) { /* names that both begin with, and "./" */
        size_t here = strcspn(path, "/"), there = strcspn(results, "/");
        if (path[here] == '/' && (here == 0 || (here == 1 && *path == '.'))) {
            path += here + 1;
        } else if (results[there] == '/' &&
                   (there == 0 || (there == 1 && *results == '.'))) {
            results += there + 1;
        } else if (path[here] == '/' && here == there &&
                   memcmp(path, results, here) == 0) {
            path += here + 1;
            results += there + (results[there] == '/' ? 1 : 0);
        } else {
            break;
        }
    }
    host_text_init(&link, 65536);
    for (; *path != '\0'; path += strspn(path, "/")) {
        path += strcspn(path, "/");
        host_text_print(&link, "%s", *path == '/' ? "../" : "");
    }
    size_t size = strlen(results);
    while (size > 0 && results[size - 1] == '/') {
        size--;
    }
    host_text_print(&link, "%.*s", (int)size, results);
    host_text_print(&link, "%s", size == 0 ? "." : ""); /* that folder itself */
    if (link.failed) {
        host_text_clear(&link);
    }
    return link.data;
}
