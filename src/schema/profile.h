/*
 * profile.h: what the fields of one column look like.
 */
#ifndef SOTTO_SCHEMA_PROFILE_H
#define SOTTO_SCHEMA_PROFILE_H

#include "sotto/tables.h"

/* A text of the column, which is the table's, and how many rows hold it. */
struct profile_word {
    const char *data;
    size_t size;
    size_t rows;
};

struct profile {
    size_t rows, missing;
    size_t numbers; /* fields that are numbers */
    size_t absent;  /* that are no numbers, and in a column of numbers say that
                       there is none: none, unknown, inf, #DIV/0! */
    size_t words;   /* the other fields */
    size_t dates;   /* of all that are present */
    double *number; /* the numbers in ascending order */
    size_t distinct_numbers;
    bool whole;      /* they have no fractions */
    bool increasing; /* each is larger than that of the row before */
    bool texts;      /* fields have texts; else they are numbers alone */
    struct profile_word *word; /* the texts, in the order of their bytes */
    size_t distinct;           /* of them */
    size_t bytes, blanks;      /* in all fields that are present, together */
};

/* Looks at a column of numbers or categories. Clear the profile in any case.
   Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status profile_fill(const struct sotto_table *table,
                                             size_t column, struct profile *ret,
                                             struct sotto_error *err);
/* Wipes and frees it. */
void profile_clear(struct profile *profile);

#endif
