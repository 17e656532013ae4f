/*
 * misfits.h: what in a curator's file does not fit a mechanism, column by
 * column. Never of a device's records, but to their owner.
 */
#ifndef SOTTO_VERB_MISFITS_H
#define SOTTO_VERB_MISFITS_H

#include "cli/cli.h"

struct misfits {
    const struct sotto_mechanism *mechanism;
    struct sotto_misfit *column; /* one a column of the mechanism */
    size_t columns;
};

/* Counts all rows, in addition to those counted before; at first `misfits` is
   all 0. The exit status, the message printed; misfits_clear frees, also on
   failure. */
int misfits_count(const struct sotto_mechanism *mechanism,
                  struct sotto_records *records, size_t rows,
                  struct misfits *misfits);
void misfits_clear(struct misfits *misfits);

/* Prints a line for each column that holds something that does not fit. */
void misfits_print(FILE *to, const struct misfits *misfits);
/* Adds those columns and their counts to an open object. */
void misfits_json(FILE *to, const struct misfits *misfits);
/* Notes on standard error each column of which nothing fits. */
void misfits_shout(const struct misfits *misfits);

#endif
