/*
 * describe.h: what describing a mechanism in prose and in JSON share.
 */
#ifndef SOTTO_MECHANISM_DESCRIBE_H
#define SOTTO_MECHANISM_DESCRIBE_H

#include "mechanism/mechanism.h"

struct page;

/* The realised epsilon of a whole report, over all blocks of all parts, as
   their tables give it, in units of 10^-12, rounded up; UINT64_MAX: none. */
uint64_t describe_realised(const struct sotto_mechanism *mechanism);

/* describe_promise.c: whether the tables keep what the file states, REFUSED if
   not; the promise itself, as a section of the page; and what that begins with,
   without a title: what a report can tell, in words. */
SOTTO_CHECKED enum sotto_status
describe_check(const struct sotto_mechanism *mechanism,
               struct sotto_error *err);
void describe_promise(struct page *page);
void describe_words(struct page *page);

/* describe_guess.c: what a guess can become after one report and after
   `reports`, and how often a class can be told, as a section of the page; and
   the classes of the label, 0 where there is none or but one. */
void describe_guesses(struct page *page, uint32_t reports);
size_t describe_classes(const struct sotto_mechanism *mechanism);

/* describe_json.c: one object on one line, with the guesses after one report
   and after `reports`, which the caller frees; NULL for lack of memory. */
char *describe_json(const struct sotto_mechanism *mechanism, uint32_t reports);

#endif
