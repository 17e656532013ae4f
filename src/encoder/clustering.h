/*
 * clustering.h: many small cells of representations, and the tree that merges
 * them (docs/codebook.md).
 *
 *     z, n rows of d --k-means--> cells --Ward's tree--> any number of parts
 *
 * One training serves every number of codes: a cut of the tree gives it.
 */
#ifndef SOTTO_ENCODER_CLUSTERING_H
#define SOTTO_ENCODER_CLUSTERING_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"
#include "tensor/tensor.h"

#define CLUSTERING_LEAST 0.25

struct clustering {
    size_t cells, d;
    size_t asked;   /* cells that there is room for */
    float *centre;  /* cells rows of d */
    double *weight; /* rows of z in each: at least one */
    double spread;  /* mean squared distance to the centre */
    double least;   /* of an even part's rows, what each part of a cut has at
                       least, if the tree allows it: CLUSTERING_LEAST at first,
                       and the owner's to change */
    float *site;    /* cells rows of site_d: where cells that a cut leaves over
                       look for the nearest part; NULL: by their centres */
    size_t site_d;
    uint32_t *merged; /* cells - 1 pairs, cheapest first: the two cells whose
                         groups become one */
};

/*
 * k-means++ and Lloyd's steps for up to `cells` cells (fewer if z has fewer
 * different rows), then the tree. Decided by z, the numbers and the seed, not
 * by the threads. Statuses: MEMORY, USAGE (no rows, or no cells).
 */
SOTTO_CHECKED enum sotto_status
clustering_init(struct clustering *clustering, struct host_pool *pool,
                struct tensor_backend *backend, const float *z, size_t n,
                size_t d, size_t cells, uint64_t seed,
                const struct sotto_watch *watch, struct sotto_error *err);
void clustering_clear(struct clustering *clustering);

/* Sets `site` to the means of the cells' rows in another description of them:
   `from` is n rows of `width`, z the n rows that the cells are of. Statuses:
   MEMORY. */
SOTTO_CHECKED enum sotto_status
clustering_place(struct clustering *clustering, struct host_pool *pool,
                 struct tensor_backend *backend, const float *z, size_t n,
                 const float *from, size_t width, struct sotto_error *err);

/* The part, below `parts`, of every cell, once the tree is cut there: none with
   less than `least` of an even part's rows, unless the tree has no other
   (clustering_cut.c). Parts are numbered by their first cell. 1 <= parts <=
   cells. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
clustering_cut(const struct clustering *clustering, size_t parts,
               uint32_t *ret_part, struct sotto_error *err);

/* The nearest cell of every row: of the nearest, the first. */
SOTTO_CHECKED enum sotto_status
clustering_assign(const struct clustering *clustering, struct host_pool *pool,
                  struct tensor_backend *backend, const float *z, size_t n,
                  uint32_t *ret_cell, struct sotto_error *err);

#endif
