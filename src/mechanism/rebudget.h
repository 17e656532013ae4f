/*
 * rebudget.h: what of a mechanism does not depend on its budget.
 */
#ifndef SOTTO_MECHANISM_REBUDGET_H
#define SOTTO_MECHANISM_REBUDGET_H

#include "sotto/sotto.h"

#define REBUDGET_DIGEST_SIZE 32u

/*
 * A BLAKE2b-256 digest of columns, encoder and domains: the same for a
 * mechanism at another budget, under another name or in another campaign;
 * another for any other schema, encoder or lattice.
 */
void rebudget_digest(const struct sotto_mechanism *mechanism,
                     uint8_t ret_digest[REBUDGET_DIGEST_SIZE]);

/*
 * Shares eps out: round(lambda eps) units are the record's, the rest the
 * label's, so that they add up exactly. Statuses: BUDGET (a share below the
 * smallest epsilon).
 */
SOTTO_CHECKED enum sotto_status rebudget_split(uint64_t eps, double lambda,
                                               uint64_t *ret_eps_x,
                                               uint64_t *ret_eps_y,
                                               struct sotto_error *err);

/* Reads the setting delta, in units of 10^-12. Statuses: FORMAT, LIMIT,
   BUDGET. */
SOTTO_CHECKED enum sotto_status rebudget_read_delta(const char *text,
                                                    uint64_t *ret_delta,
                                                    struct sotto_error *err);

/* Whether a channel of that name takes symbols. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status rebudget_check_channel(const char *name,
                                                       struct sotto_error *err);

#endif
