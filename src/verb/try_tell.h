/*
 * try_tell.h: what sotto try tells, as text, as JSON and as a page.
 */
#ifndef SOTTO_VERB_TRY_TELL_H
#define SOTTO_VERB_TRY_TELL_H

#include <stdio.h>

#include "sotto/trying.h"

struct host_text;

/* What was tried. */
struct tried {
    const struct sotto_try *result;
    const char *file, *label; /* as the command line has them */
    const char *const *drop;  /* columns that its owner left out */
    size_t drops;
    const char *const *keep; /* or took, alone */
    size_t keeps;
    const char *const *category; /* columns of numbers that hold categories */
    size_t categories;
    const char *schema; /* the owner's file; NULL: none */
    bool number;        /* the label's column holds numbers, taken as classes */
};

/* What to do about columns that were left out as they may give the answer away.
 */
#define TRY_ANSWERS                                                            \
    "If such a column is known before the label is, leave it in a schema: "    \
    "sotto schema infer, then --schema."

/* The name of a kind: "codebook". */
const char *try_kind_name(enum sotto_try_kind kind);
/* One sentence of what can be learnt at an epsilon, before and after. */
void try_say_verdict(struct host_text *to, const struct tried *tried,
                     const struct sotto_try_at *at);
/* A sentence or two for all of them. */
void try_say_advice(struct host_text *to, const struct tried *tried);
/* Commands for the real campaign, one a line. */
void try_say_commands(struct host_text *to, const struct tried *tried);

void try_tell_text(FILE *to, const struct tried *tried);
void try_tell_json(FILE *to, const struct tried *tried);

/* Whether the label is a number; its words are in try_number.c, and the
   functions above come here for them. */
bool try_is_number(const struct sotto_try *result);
void try_number_verdict(struct host_text *to, const struct tried *tried,
                        const struct sotto_try_at *at);
void try_number_advice(struct host_text *to, const struct tried *tried);
/* The table and the fits without privacy. */
void try_number_table(FILE *to, const struct sotto_try *result);
/* What the label is, in a line. */
void try_number_label(FILE *to, const struct tried *tried);
/* Lines of JSON: the table's fields, which leave the object open; the fits
   without privacy; the scores of a kind. */
void try_number_json_label(FILE *to, const struct sotto_try *result);
void try_number_json_lines(FILE *to, const struct sotto_try *result);
void try_number_json_cell(FILE *to, const struct sotto_try_cell *cell);

/* try_page.c: the page and the plot, into files of a folder. Returns the exit
   status, messages printed. */
int try_page_write(const struct tried *tried, const char *folder);

#endif
