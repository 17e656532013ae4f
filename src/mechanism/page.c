/*
 * page.c: a page of prose, its paragraphs wrapped.
 */
#include "mechanism/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/printable.h"

#define WIDTH 80u
#define TEXT_MOST ((size_t)1 << 30)
#define NAME_MOST ((size_t)40) /* characters of a name or category */

void
page_init(struct page *page, const struct sotto_mechanism *mechanism)
{
    page->mechanism = mechanism;
    sotto_mechanism_info(mechanism, &page->info);
    host_text_init(&page->text, TEXT_MOST);
    host_text_init(&page->words, TEXT_MOST);
}

void
page_clear(struct page *page)
{
    host_text_clear(&page->text);
    host_text_clear(&page->words);
}

/* Bytes of the word at `at`, and the columns it takes. */
static size_t
measure_word(const char *at, size_t most, size_t *ret_columns)
{
    size_t size = 0, columns = 0;
    while (at[size] != '\0' && at[size] != ' ') {
        if (((unsigned char)at[size] & 0xc0) != 0x80 && ++columns > most) {
            columns--; /* a word wider than a line is cut */
            break;
        }
        size++;
    }
    *ret_columns = columns;
    return size;
}

/* The words go to the page; their own blanks before the first one indent the
   first line. */
static void
end_paragraph(struct page *page, size_t indent)
{
    struct host_text *out = &page->text;
    const char *at = page->words.data;
    size_t column = 0;
    out->failed = out->failed || page->words.failed;
    while (at != NULL && *at == ' ') {
        host_text_add(out, at++, 1);
        column++;
    }
    while (at != NULL && *at != '\0' && !out->failed) {
        size_t columns, size = measure_word(at, WIDTH - indent, &columns);
        if (column + columns > WIDTH) {
            host_text_print(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        host_text_add(out, at, size);
        column += columns;
        at += size;
        if (*at == ' ') {
            size_t next;
            (void)measure_word(++at, WIDTH - indent, &next);
            if (column + 1 + next > WIDTH) {
                column = WIDTH + 1; /* the break takes the blank's place */
            } else {
                host_text_add(out, " ", 1);
                column++;
            }
        }
    }
    host_text_add(out, "\n", 1);
    page->words.size = 0;
    if (page->words.data != NULL) {
        page->words.data[0] = '\0';
    }
}

void
page_name(struct page *page, const char *name)
{
    host_printable_add(&page->words, name, NAME_MOST);
}

void
page_say(struct page *page, size_t indent, const char *format, ...)
{
    char words[1200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    host_text_add(&page->words, words, strlen(words));
    end_paragraph(page, indent);
}

void
page_title(struct page *page, const char *text)
{
    host_text_print(&page->text, "\n%s\n\n", text);
}

void
page_gap(struct page *page)
{
    host_text_add(&page->text, "\n", 1);
}
