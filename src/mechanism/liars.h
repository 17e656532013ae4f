/*
 * liars.h: how far a share of liars can move a mean of reports.
 *
 * Let v be the mean of n reports' estimates, of which a share a is lies: h that
 * of the honest others, f that of the lies, so that v = (1 - a) h + a f.
 *
 *     what the others say      h - v = a / (1 - a) (v - f)
 *     what all would have      v - ((1 - a) h + a t) = a (f - t), where t is
 *     said                     what the liars' own true answers come to
 *
 * A forged report's estimate is anything from `low` to `high`; true answers,
 * and false ones on an honest device, come to something from `mean_low` to
 * `mean_high` on average. Both differences are at most
 *
 *     a / (1 - a) max(high - min(v, mean_low), max(v, mean_high) - low)
 *
 * and docs/liars.md says how near to it a liar comes.
 */
#ifndef SOTTO_MECHANISM_LIARS_H
#define SOTTO_MECHANISM_LIARS_H

#include "sotto/reports.h"

struct liars_ends {
    double low, high;           /* of a forged report's estimate */
    double mean_low, mean_high; /* of honest devices' reports, on average */
};

/* How far v can be off where a share of the reports is lies. Those that are
   forged can all be about the book they want: of the reports about it they are
   `most` of 1, which is `share` where there are no books; from 1 on nothing is
   left, and the reach is infinite. */
void liars_reach(const struct liars_ends *ends, double value, double share,
                 double most, struct sotto_reach *ret_reach);

#endif
