/*
 * tally.h: what many reports say of each entry of each part, as whole numbers.
 *
 *     symbols   count = how many reports name the symbol     a book, a block
 *     numbers   sum v, sum v^2, sum v v'                     v' is the next one
 *
 * Whole numbers add up to the same in any order, so what is found from them
 * does not depend on how reports were shuffled, or in which batches they came;
 * and memory is that of the entries, however many reports there are.
 */
#ifndef SOTTO_MECHANISM_TALLY_H
#define SOTTO_MECHANISM_TALLY_H

#include "mechanism/mechanism.h"

struct tally;

/* The mechanism must outlive it. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
tally_new(const struct sotto_mechanism *mechanism, struct tally **ret_tally,
          struct sotto_error *err);
void tally_free(struct tally *tally);

/* Adds n valid reports, one behind the other. */
void tally_add(struct tally *tally, const uint8_t *reports, size_t n);

/* Entries of a part's own that have no book of their own: blocks * size. */
size_t tally_entries(const struct report_part *part);
/* The reports about a part: of a part with books, about that book. */
uint64_t tally_reports(const struct tally *tally, size_t part, size_t book);
/* All reports. */
uint64_t tally_all(const struct tally *tally);
/* Symbols: how many reports name each; `size` numbers. */
const uint64_t *tally_count(const struct tally *tally, size_t part, size_t book,
                            size_t block);
/* Symbols: the mean of the reports' estimates of each; likewise. They are
   worked out at the first call behind tally_add: calls from one thread. */
const double *tally_means(struct tally *tally, size_t part, size_t book,
                          size_t block);

/* Of the estimates of one entry of numbers. */
struct tally_moments {
    double mean;
    double squares; /* sum of (estimate - mean)^2 */
    double cross;   /* sum of (estimate - mean) times that of the next entry */
};
void tally_moments(const struct tally *tally, size_t part, size_t entry,
                   struct tally_moments *ret_moments);

#endif
