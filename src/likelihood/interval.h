/*
 * interval.h: half the width of the intervals that go with an estimate, as
 * functions of what is known of it. Before a campaign they say what to expect
 * (docs/plan.md), after it what was found (mechanism/estimate.c).
 */
#ifndef SOTTO_LIKELIHOOD_INTERVAL_H
#define SOTTO_LIKELIHOOD_INTERVAL_H

/* One report's variance where a share f has the symbol: V_other + slope f -
   f^2, slope = V_true - V_other + 1. */
struct interval_share {
    double other; /* V_other */
    double slope;
};

/* V(f). */
double interval_share_variance(const struct interval_share *share, double f);
/* The share in [0, 1] whose V is largest. */
double interval_share_worst(const struct interval_share *share);
/*
 * Wilson's score interval (1927) about `value` from n reports, the farther end,
 * and no less than the noise makes it: with c = z^2/n the ends solve
 *
 *     (1 + c) f^2 - (2 value + c slope) f + value^2 - c V_other = 0.
 */
double interval_share_half(const struct interval_share *share, double value,
                           double n, double z);

/* Student's quantile for `freedom` degrees of freedom where the normal one is
   z. */
double interval_student(double z, double freedom);
/* Student's interval of a mean from n >= 2 reports of that spread, or the
   normal one from the noise's deviation alone, if that is wider. */
double interval_mean_half(double spread, double noise, double n, double z);

#endif
