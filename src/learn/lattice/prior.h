/*
 * prior.h: what reports of a mechanism may be about: its feature blocks, and
 * the points of the prior, laid out for the channels.
 *
 *     point m    | block 0 | block 1 | ...          as rows_q gives it
 *     by block   block 0 of every point, then block 1 ..., as log_p_many
 *                takes it
 *     by entry   entry 0 of every point, then entry 1 ..., for the fast path
 *
 * An input is a point as a classifier sees it: q / l for numbers, an indicator
 * of every symbol for symbols. It has the entries of the channels' estimates,
 * so a report's estimate, too, is one.
 */
#ifndef SOTTO_LEARN_PRIOR_H
#define SOTTO_LEARN_PRIOR_H

#include "mechanism/mechanism.h"
#include "sotto/sotto.h"

/* One block of a part that covers features. */
struct prior_block {
    const struct likelihood_instance *likelihood;
    size_t offset; /* in a report */
    size_t at;     /* first entry of a point */
    size_t input;  /* first entry of an input */
    size_t width;  /* entries of a point */
    bool distance; /* its log p is -rate times an L1 distance, and a constant */
    float rate;
};

/* The blocks of a mechanism, and its label part. */
struct prior_shape {
    struct prior_block *block;
    size_t blocks;
    size_t width;  /* entries of a point */
    size_t inputs; /* entries of an input */
    const struct likelihood_instance *label;
    size_t label_offset; /* in a report */
    size_t label_part;
    bool number;    /* the label is one number; else it is one of classes */
    size_t classes; /* of the label that are told apart; 0 of a number */
    double eps_features, eps_label;
};

/*
 * Reads the shape off. The last symbol of a label's column stands for all that
 * is none of its categories, or missing; without `other` no record is taken to
 * have it, and it is no class. Of a label with one category it always is one:
 * there would be nothing to tell apart. A label that is one number has no
 * classes. Statuses: INPUT (no label; a label of several numbers; a part that
 * covers both; no features), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
prior_shape_init(struct prior_shape *shape,
                 const struct sotto_mechanism *mechanism, bool other,
                 struct sotto_error *err);
void prior_shape_clear(struct prior_shape *shape);

/* Whether a part is the label as one number. */
bool prior_label_number(const struct shape_part *own);

/* A point, or a report's estimate of it, as an input. `room` of the estimate
   is for the largest block's size. */
void prior_input(const struct prior_shape *shape, const int32_t *point,
                 float *ret_input);
void prior_estimate(const struct prior_shape *shape, const uint8_t *report,
                    double *room, double *ret_input);
/* Entries of the largest block's estimate or report. */
size_t prior_room(const struct prior_shape *shape);

/* The points, which it copies. */
struct prior {
    const struct prior_shape *shape;
    size_t points;
    size_t padded;     /* points, up to a multiple of PRIOR_PAD */
    int32_t *by_block; /* points * width */
    int32_t *by_entry; /* width rows of padded; 0 beyond the points */
};

#define PRIOR_PAD 32u
#define PRIOR_BYTES ((size_t)2000000000) /* of posterior weights, the most */

/*
 * How many of `points` are used: at most `most`, unless it is 0, and no more
 * than that the weights of `reports` reports, with their padding, take
 * PRIOR_BYTES. Statuses: LIMIT (too many reports for any prior).
 */
SOTTO_CHECKED enum sotto_status prior_affordable(size_t points, size_t most,
                                                 size_t reports,
                                                 size_t *ret_points,
                                                 struct sotto_error *err);

/* `point` holds `points` of shape->width. Statuses: MEMORY, INPUT (a point
   that is not in its domain, or none at all). */
SOTTO_CHECKED enum sotto_status prior_init(struct prior *prior,
                                           const struct prior_shape *shape,
                                           const int32_t *point, size_t points,
                                           struct sotto_error *err);
void prior_clear(struct prior *prior);

#endif
