/*
 * beta.h: the regularised incomplete beta function.
 */
#ifndef SOTTO_LIKELIHOOD_BETA_H
#define SOTTO_LIKELIHOOD_BETA_H

/* I_x(a, b), the share of Beta(a, b) that lies below x; a, b > 0; 0 for x <= 0
   and 1 for x >= 1. Small values keep their digits where x is below the mean,
   but for what the differences of lgamma lose. */
double beta_below(double a, double b, double x);

/* ln B(a, b). */
double beta_log(double a, double b);

#endif
