/*
 * agreement.h: how much two ways to put the same records into parts say of
 * each other, beyond what chance would (docs/codebook.md, "Which encoder").
 */
#ifndef SOTTO_ENCODER_AGREEMENT_H
#define SOTTO_ENCODER_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

/* In nats. */
struct agreement {
    double shared; /* the mutual information of a and b */
    double chance; /* its mean if b's records were put in another order */
    double a, b;   /* the entropies */
};

/*
 * Measures parts a, each below `as`, against parts b, each below `bs`, of the
 * same n records. Statuses: USAGE (no records), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
agreement_measure(const uint32_t *a, size_t as, const uint32_t *b, size_t bs,
                  size_t n, struct agreement *ret_agreement,
                  struct sotto_error *err);

/* Adjusted for chance: 1 if a and b are the same parts, 0 on average if
   neither says anything of the other. 0 where chance alone says all. */
double agreement_mutual(const struct agreement *agreement);
/* The share of what b says that a says, too: 1 if parts of b are unions of
   parts of a. */
double agreement_known(const struct agreement *agreement);

#endif
