/*
 * liars.c: how far a share of liars can move a mean of reports.
 */
#include "mechanism/liars.h"

#include <math.h>

/* How far an answer from `low` to `high` can lie from what is true, or from
   where the mean came out if that is beyond. */
static double
find_distance(const struct liars_ends *ends, double value, double low,
              double high)
{
    return fmax(high - fmin(value, ends->mean_low),
                fmax(value, ends->mean_high) - low);
}

/* a / (1 - a): liars to each honest one. */
static double
odds_of(double share)
{
    return share < 1 ? share / (1 - share) : INFINITY;
}

void
liars_reach(const struct liars_ends *ends, double value, double share,
            double most, struct sotto_reach *ret_reach)
{
    ret_reach->forged =
        odds_of(most) * find_distance(ends, value, ends->low, ends->high);
    ret_reach->answered =
        odds_of(share) *
        find_distance(ends, value, ends->mean_low, ends->mean_high);
}
