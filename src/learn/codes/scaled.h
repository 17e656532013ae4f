/*
 * scaled.h: targets of records, scaled to what codes have of labels.
 *
 *     t_my = p_my r_cy / sum_y' p_my' r_cy',    c the code of record m,
 *     mean of t_my over the records of code c = tau_cy
 *
 * Inside a code p says which record has which label, and the code keeps its
 * mixture of labels (docs/codebook.md).
 */
#ifndef SOTTO_LEARN_SCALED_H
#define SOTTO_LEARN_SCALED_H

#include "sotto/sotto.h"

/* Turns p, n rows of classes, into t, by rounds of Sinkhorn's from r = tau: as
   nearly as p allows. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status scaled_targets(const double *tau, size_t cells,
                                               size_t classes,
                                               const uint32_t *code, size_t n,
                                               float *p,
                                               struct sotto_error *err);

#endif
