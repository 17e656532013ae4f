/*
 * page.h: a page of prose about a mechanism, its paragraphs wrapped.
 *
 * Words gather in `words` until a paragraph ends. A lack of memory shows in
 * `text.failed`.
 */
#ifndef SOTTO_MECHANISM_PAGE_H
#define SOTTO_MECHANISM_PAGE_H

#include "host/text.h"
#include "sotto/sotto.h"

/* The page so far, and the paragraph being put together. */
struct page {
    const struct sotto_mechanism *mechanism;
    struct sotto_mechanism_info info;
    struct host_text text;
    struct host_text words;
};

void page_init(struct page *page, const struct sotto_mechanism *mechanism);
void page_clear(struct page *page);

/* A title with its empty lines; an empty line. */
void page_title(struct page *page, const char *text);
void page_gap(struct page *page);

/* Adds a name or category to the paragraph: printable, and not for ever. */
void page_name(struct page *page, const char *name);

/* Adds our own words and ends the paragraph: lines after the first are
   indented by `indent` blanks, the first as its words begin. */
__attribute__((format(printf, 3, 4))) void
page_say(struct page *page, size_t indent, const char *format, ...);

#endif
