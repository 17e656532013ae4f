/*
 * codebook.h: auxiliary records as representations, cells and codes, for
 * mechanisms that report a code (docs/codebook.md).
 *
 *     table --encoder of a mechanism--> z --k-means, Ward--> cells, a tree
 *                              or: z / |z|, or a walk among neighbours of it
 *     the tree, cut into k --one dense layer--> the code of every record
 *
 * Several books are as many clusterings of the same records, by other seeds,
 * with a run of k scores each; a device asks one of them, by lot.
 *
 * The representations and codes are the device's own, bit for bit.
 */
#ifndef SOTTO_ENCODER_CODEBOOK_H
#define SOTTO_ENCODER_CODEBOOK_H

#include "encoder/clustering.h"
#include "encoder/codebook_head.h"
#include "mechanism/decompose.h"
#include "sotto/sotto.h"

/* The tree cut into k parts. */
struct codebook_cut {
    struct codebook_cut *next;
    struct codebook_head head;
    int32_t *code; /* of every record, as a device finds it */
    size_t n;      /* records */
};

struct candidates;

/* Another book: other cells of the same places, and cuts of their tree. */
struct codebook_book {
    struct clustering clustering;
    struct codebook_cut *cut; /* those asked for so far */
    uint64_t seed;
};

struct sotto_codebook {
    const struct sotto_table *table;
    struct sotto_codebook_options options;
    struct sotto_mechanism *encoder; /* a copy */
    struct decompose parts;          /* of it */
    struct schema schema;            /* of the codebook's mechanisms */
    size_t label; /* of its columns, the encoder's or fitted; SIZE_MAX: none */
    struct host_pool *pool;
    struct tensor_backend *backend;
    float *z;        /* n rows of d, as a device has them */
    bool unit;       /* whether cells are of z / |z| */
    float *place;    /* z, or its rows at length 1 */
    uint32_t layers; /* of the encoder, that give it */
    uint32_t *row;   /* of the table, of each of the n; NULL: all, in order */
    float *walked;   /* n rows of diffusion_width(n): the places by where walks
                        among neighbours end; NULL: not made */
    bool walks;      /* whether cells are of it, in place of `place` */
    bool unwalkable; /* walks gave fewer cells than codes: they are not tried
                        again */
    size_t n, d;
    size_t records;   /* of the table: more than n where only some are looked
                         at */
    size_t asked;     /* cells, of every book; 0: there are none */
    size_t different; /* cells of `place`, if it has no more: 0: not known */
    struct clustering clustering;
    struct codebook_cut *cut;            /* those asked for so far */
    const struct candidates *candidates; /* that the encoder was chosen from;
                                            NULL: it was not */
    size_t *column; /* of the schema, those that have a book each; NULL: codes
                       are of cells */
    size_t columns; /* of these */
    struct codebook_book *more; /* books but the first, whose cells and cuts are
                                   those above */
    size_t books;               /* made so far, 1 at least */
};

/* sotto_codebook_new from `most` of the records, by lot, if there are more: for
   a look, not to be written. */
SOTTO_CHECKED enum sotto_status codebook_new_some(
    const struct sotto_table *table, const struct sotto_mechanism *encoder,
    const struct sotto_codebook_options *options, size_t most,
    struct sotto_codebook **ret_codebook, struct sotto_error *err);

/* Finds how many ranges the label's numbers are cut into: those `given`, or
   what so many people's reports tell apart (0 people: one a record); 0 if it
   holds words, or so few numbers that they may be names. Statuses: USAGE (they
   are given, and there is no number to cut), INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
codebook_bins(const struct sotto_table *table,
              const struct sotto_train_options *options, size_t people,
              size_t given, size_t *ret_bins, struct sotto_error *err);

/* The most codes that cells may be made for. */
size_t codebook_cells_most(const struct sotto_codebook *codebook);

/* The rows that are cut into cells, n of d. */
struct codebook_ground {
    const float *x;
    size_t d;
};
struct codebook_ground codebook_ground(const struct sotto_codebook *codebook);
/* Names what holds the cells of a code together, as the options do. */
const char *codebook_tree(const struct sotto_codebook *codebook);
/* Cuts the ground into cells, and grows their tree, for one book; to clear.
   Statuses: MEMORY, STOPPED. */
SOTTO_CHECKED enum sotto_status
codebook_cluster(const struct sotto_codebook *codebook, size_t cells,
                 uint64_t seed, struct clustering *ret,
                 struct sotto_error *err);

/* Finds what no encoder changes, before one is trained: whether so many records
   allow k codes (0: not given) from so many cells (0: not given) and by that
   tree (NULL: not given). Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status codebook_check(size_t rows, size_t cells,
                                               const char *tree, size_t k,
                                               struct sotto_error *err);

/* Makes so many books, with cells of what serves k codes best, and fine enough
   for them, if the options do not say how many: where these are not there yet,
   and the cuts made so far are gone then. Statuses: MEMORY, STOPPED, INPUT,
   USAGE (neighbours were asked for, and cannot be had). */
SOTTO_CHECKED enum sotto_status
codebook_prepare(struct sotto_codebook *codebook, size_t books, size_t k,
                 struct sotto_error *err);

/* The cut into k, made once and kept; the codebook's to free. Statuses: USAGE
   (k below 2 or above the cells), LIMIT, MEMORY, STOPPED. */
SOTTO_CHECKED enum sotto_status codebook_cut(struct sotto_codebook *codebook,
                                             size_t k,
                                             const struct codebook_cut **ret,
                                             struct sotto_error *err);
/* The same of one of the books; 0 is the first. */
SOTTO_CHECKED enum sotto_status
codebook_cut_book(struct sotto_codebook *codebook, size_t book, size_t k,
                  const struct codebook_cut **ret, struct sotto_error *err);
void codebook_cuts_free(struct codebook_cut *cut);

/* codebook_books.c: makes the cells of so many books in all. Statuses: MEMORY,
   STOPPED. */
SOTTO_CHECKED enum sotto_status
codebook_books_make(struct sotto_codebook *codebook, size_t books,
                    struct sotto_error *err);
void codebook_books_clear(struct sotto_codebook *codebook);
/* How many books serve reports of a code and one of so many classes best; 0
   classes: no label. */
size_t codebook_books_for(uint64_t eps, size_t classes);
/* The layer of the scores of the first so many books, and each book's codes of
   all records, the book fastest; to clear. Statuses: codebook_cut's. */
SOTTO_CHECKED enum sotto_status
codebook_books_join(struct sotto_codebook *codebook, size_t books, size_t k,
                    struct codebook_cut *ret_all, struct sotto_error *err);

/* codebook_columns.c: finds the columns that have a book each, where the
   encoder is the identity and no column holds images. Statuses: MEMORY, INPUT
   (none of them varies). */
SOTTO_CHECKED enum sotto_status
codebook_columns_find(struct sotto_codebook *codebook, struct sotto_error *err);
/* The most codes that one of these columns has: its categories; of numbers
   there is no bound. */
size_t codebook_columns_most(const struct sotto_codebook *codebook);
/* codebook_books_join of these columns, k codes each. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
codebook_columns_join(const struct sotto_codebook *codebook, size_t k,
                      struct codebook_cut *ret_all, struct sotto_error *err);

/* codebook_cut.c: finds the codes that a device gives every record, of books
   whose scores lie one behind the other in the cut's head; n of the cut is what
   the codes are in all. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
codebook_find_codes(const struct sotto_codebook *codebook, size_t books,
                    struct codebook_cut *cut, struct sotto_error *err);

/* Symbols of the label, "other" included; 1 without a label. */
size_t codebook_symbols(const struct sotto_codebook *codebook);

#endif
