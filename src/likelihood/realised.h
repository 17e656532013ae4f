/*
 * realised.h: the epsilon of a channel's tables, as they will be drawn.
 *
 * Nothing here knows how a table was made: its 256-bit thresholds are taken as
 * exact numbers, the largest ratio of two probabilities that they give is
 * found, and its logarithm is rounded up to units of 10^-12. So a table that is
 * off by one unit of its last place to the wrong side gives more than the
 * stated epsilon. e^x comes from a series of its own, not from base/wide.h,
 * which made the tables.
 *
 * Every function returns units, and REALISED_NONE for tables that keep no
 * epsilon at all: some report is impossible for one point and possible for
 * another, or a table is not of the shape that its sampler draws from. `stated`
 * is where to look first, and changes nothing but the time.
 */
#ifndef SOTTO_LIKELIHOOD_REALISED_H
#define SOTTO_LIKELIHOOD_REALISED_H

#include <stdbool.h>

#include "channel/odds.h"
#include "random/dgauss.h"

#define REALISED_NONE UINT64_MAX

/* ln of the larger of h n / ((1-h) m) and its inverse: a report has probability
   h/m for some points and (1-h)/n for the others, but for a common factor. */
uint64_t realised_odds(const struct odds *odds, uint32_t m, uint32_t n,
                       uint64_t stated);

/*
 * ln of the largest ratio among h, 1-h and, where there are ties, c/2: two
 * tables of one threshold each, h and c (channel/duchi.c).
 */
uint64_t realised_signs(const struct draw_threshold *tables, bool ties,
                        uint64_t stated);

/*
 * 2l lambda with the least lambda for which (L) and (T) of docs/channels.md
 * hold: over every x at which noise x and x + 1 differ in probability, not only
 * some. x -> x + 1 changes one digit by one and the digits below it from 31 to
 * 0, so there are at most 31 ratios for each digit.
 */
uint64_t realised_laplace(const struct dlaplace *noise, uint32_t l,
                          uint64_t stated);

/* Tells whether the tables are those of discrete Gaussian noise with its t,
   each threshold within 2^-240, and reach to 16 sigma: what the bound in
   docs/channels.md rests on. */
bool realised_gaussian(const struct dgauss *noise);

#endif
