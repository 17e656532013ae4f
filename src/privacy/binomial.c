/*
 * binomial.c: Clopper-Pearson bounds on a proportion.
 *
 * P(X >= k) = I_p(k, n-k+1), the regularised incomplete beta function, which
 * rises with p: the lower bound is the p where it is alpha, and the upper one
 * by symmetry is one less the lower one of the n-k others.
 */
#include "privacy/binomial.h"

#include <math.h>

#include "likelihood/beta.h"

/* Bisection keeps I(low) <= alpha; a millionth of alpha covers what lgamma's
   differences lose: below n 1e-14 of it, for n up to 10^8. */
double
binomial_lower(uint64_t k, uint64_t n, double alpha)
{
    double low = 0, high;
    if (k == 0) {
        return 0;
    }
    high = (double)k / (double)n;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (beta_below((double)k, (double)(n - k) + 1, middle) <=
            alpha * (1 - 1e-6)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

double
binomial_upper(uint64_t k, uint64_t n, double alpha)
{
    double others = binomial_lower(n - k, n, alpha);
    return others > 0 ? fmin(1, nextafter(1 - others, 2)) : 1;
}
