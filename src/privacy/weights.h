/*
 * weights.h: reports, and the exact weight of each for every point.
 *
 * A weight is the numerator of p(report | point) over a denominator that all
 * share. A report not seen yet has weight 0 for every point.
 */
#ifndef SOTTO_PRIVACY_WEIGHTS_H
#define SOTTO_PRIVACY_WEIGHTS_H

#include <gmp.h>
#include <stdint.h>

#include "sotto/sotto.h"

/* The most weights one table holds: some gigabyte of them. */
#define WEIGHTS_MOST (UINT64_C(1) << 24)

struct weights_row {
    uint64_t hash;
    uint8_t *wire; /* the report */
    mpz_t *weight; /* for each point */
};

struct weights {
    uint32_t wire_size, points;
    uint32_t rows, room; /* room is a power of two, or 0 */
    struct weights_row *row;
    uint32_t *slot; /* hash table: row + 1, 2 room entries */
    mpz_t *sum;     /* of each point's weights */
};

/* For reports of wire_size bytes. Statuses: MEMORY, and then weights_clear is
   still right. */
SOTTO_CHECKED enum sotto_status
weights_init(struct weights *weights, uint32_t wire_size, uint32_t points);
void weights_clear(struct weights *weights);

/* Adds to the weight of a report for a point. Statuses: MEMORY, LIMIT (more
   than WEIGHTS_MOST weights). */
SOTTO_CHECKED enum sotto_status weights_add(struct weights *weights,
                                            const uint8_t *wire, uint32_t point,
                                            mpz_srcptr weight);

/* ln weight, to double precision; weight > 0. */
double weights_log(mpz_srcptr weight);

#endif
