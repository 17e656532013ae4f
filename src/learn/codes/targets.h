/*
 * targets.h: what a network is to say of records, from what it says now and
 * what the reports say of codes (docs/codebook.md).
 *
 *     t_my = p_my r_cy / sum_y' p_my' r_cy',    c the code of record m
 *
 * Inside a code p says which record has which label; r, of the code, is such
 * that
 *
 *     scale    the mean of t over the records of a code is its tau
 *     weigh    t is the posterior of y given the reports: r = G (codes.h) at
 *              J_cy = pi_c times the mean of p over the code, a step of EM
 */
#ifndef SOTTO_LEARN_TARGETS_H
#define SOTTO_LEARN_TARGETS_H

#include "learn/codes/classifier.h"

/* Turns p, n rows of classes, into t, by rounds of Sinkhorn's from r = tau: as
   nearly as p allows. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
targets_scale(const struct classifier *classifier, const uint32_t *code,
              size_t n, float *p, struct sotto_error *err);
/* Likewise, from the reports. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
targets_weigh(const struct classifier *classifier, struct codes *codes,
              const uint32_t *code, size_t n, float *p,
              struct sotto_error *err);

#endif
