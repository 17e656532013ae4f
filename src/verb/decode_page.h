/*
 * decode_page.h: decode --html: what reports say, as a page to look at.
 */
#ifndef SOTTO_VERB_DECODE_PAGE_H
#define SOTTO_VERB_DECODE_PAGE_H

#include "verb/decode_rows.h"

/* Whether --html and --plan can be used: asked before long work. Returns the
   exit status, the message printed. */
int decode_page_check(const struct cli_args *args);
/* Writes the page, if one was asked for. Returns the exit status, messages
   printed. */
int decode_page_write(const struct cli_args *args,
                      const struct decode_job *job);

#endif
