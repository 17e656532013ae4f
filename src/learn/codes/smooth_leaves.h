/*
 * smooth_leaves.h: leaves of the auxiliary records, and how their labels are
 * learnt from reports about codes (smooth.h).
 */
#ifndef SOTTO_LEARN_SMOOTH_LEAVES_H
#define SOTTO_LEARN_SMOOTH_LEAVES_H

#include "learn/codes/smooth.h"

#define SMOOTH_LEAVES_LEAST 60u
#define SMOOTH_LEAVES_MOST 400u
#define SMOOTH_LEAVES_PLAIN 2000u  /* of books of columns */
#define SMOOTH_EXCHANGED_MOST 200u /* classes: an exchange takes their cube */

struct smooth_leaves {
    size_t count, classes;
    uint32_t *leaf; /* of every auxiliary record */
    struct smooth_features features;
    double *tau; /* count rows of classes: set by a fit */
};

/* How many leaves reports are worth that tell an entry of tau of one of `cells`
   codes with this error (codes_error): more of them, the more they say. */
size_t smooth_leaves_wanted(size_t cells, double error, size_t records);
/* Whether labels by so many leaves, with features of so many codes, are worth
   their time and memory: with many classes they are not. */
bool smooth_leaves_are_cheap(size_t leaves, size_t codes, size_t classes);

/* Cuts z, n rows of d, into `wanted` leaves at most; with `unit` the directions
   of its rows. Statuses: MEMORY, STOPPED, INPUT. */
SOTTO_CHECKED enum sotto_status
smooth_leaves_init(struct smooth_leaves *leaves, const float *z, size_t n,
                   size_t d, bool unit, size_t wanted, size_t classes,
                   uint64_t seed, struct host_pool *pool,
                   struct tensor_backend *backend,
                   const struct sotto_watch *watch, struct sotto_error *err);
/* Makes records that have the same codes a leaf, whose label hangs on nothing
   but these: for books of columns. `code` has runs of n of each book. Statuses:
   MEMORY. */
SOTTO_CHECKED enum sotto_status
smooth_leaves_plain(struct smooth_leaves *leaves, const uint32_t *code,
                    size_t n, size_t books, size_t classes,
                    struct sotto_error *err);
/* Whether labels by so many records, with so many codes in all books, are worth
   their time. */
bool smooth_leaves_plain_cheap(size_t records, size_t codes, size_t classes);
/* How many records to take, of so many, so that leaves are not too many where
   every book has so many codes. */
size_t smooth_leaves_records(size_t books, size_t cells, size_t records);
/* Says what code the records have, runs of n of each book: leaves of a code may
   have their label in common. To be called once. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
smooth_leaves_add_codes(struct smooth_leaves *leaves, const uint32_t *code,
                        size_t n, size_t books, size_t cells,
                        struct sotto_error *err);
void smooth_leaves_clear(struct smooth_leaves *leaves);

/*
 * The share of the people in each leaf with each code: counted among the
 * records, with the codes' shares brought to `pi` (NULL: as counted). Returns
 * count rows of cells, to free; NULL: no memory.
 */
double *smooth_leaves_joint(const struct smooth_leaves *leaves,
                            const uint32_t *code, size_t n, size_t cells,
                            const double *pi);

/* The labels of codes: rows of ret_tau are means of leaves' by `joint`; of a
   code without a record, the classes' shares, which ret_share gets. */
void smooth_leaves_codes(const struct smooth_leaves *leaves,
                         const double *joint, size_t cells, double *ret_tau,
                         double *ret_share);

#endif
