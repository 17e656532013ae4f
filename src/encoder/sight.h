/*
 * sight.h: what an encoder sees of auxiliary records, and a score by which
 * encoders are told apart without labels (docs/codebook.md, "Which encoder").
 *
 *     z --the codebook's tree--> small cells, parts           sight_init
 *     z of two halves --a tree each--> do their parts agree?
 *     sights of several encoders --> a score each             sight_score
 */
#ifndef SOTTO_ENCODER_SIGHT_H
#define SOTTO_ENCODER_SIGHT_H

#include "encoder/clustering.h"

#define SIGHT_RECORDS ((size_t)6000) /* at most: what is looked at */
#define SIGHT_RECORDS_LEAST ((size_t)4)

/* The records looked at are the same for every encoder of as many. */
struct sight {
    size_t n, cells, parts;
    uint32_t *cell; /* of every record looked at */
    uint32_t *part;
    double halves; /* agreement of two halves' trees, 1 at most */
};

/*
 * Looks at n rows of z, of `d` numbers each, with their clustering cut into k
 * (or into as many parts as there are cells). The same whatever the threads.
 * Statuses: USAGE (fewer than SIGHT_RECORDS_LEAST rows), MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
sight_init(struct sight *sight, const struct clustering *clustering,
           struct host_pool *pool, struct tensor_backend *backend,
           const float *z, size_t n, size_t d, size_t k, uint64_t seed,
           const struct sotto_watch *watch, struct sotto_error *err);
void sight_clear(struct sight *sight);

/* What is told of an encoder; each is adjusted for chance, and at least 0. */
struct sight_marks {
    double halves; /* agreement of two halves' trees */
    double sees;   /* share of the others' parts that its cells tell */
    double parts;  /* agreement of its parts with the others' */
    double score;  /* the geometric mean of the three */
};

/*
 * Scores encoders by the sights of the same records. `sees` and `parts` are
 * means over the other encoders; of one alone all are `halves`. Statuses: USAGE
 * (other records), MEMORY.
 */
SOTTO_CHECKED enum sotto_status sight_score(const struct sight *sight,
                                            size_t count,
                                            struct sight_marks *ret_marks,
                                            struct sotto_error *err);

#endif
