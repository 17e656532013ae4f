/*
 * binomial.c: Clopper-Pearson bounds on a proportion.
 *
 * P(X >= k) = I_p(k, n-k+1), the regularised incomplete beta function, which
 * rises with p: the lower bound is the p where it is alpha, and the upper one
 * by symmetry is one less the lower one of the n-k others.
 */
#include "privacy/binomial.h"

#include <math.h>

#define STEPS_MOST 100000
#define TINY 1e-300

/* The continued fraction of I_x(a, b), by Lentz's method; for x below the
   mean it converges in about sqrt(a + b) steps. */
static double
fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;
    d = 1 / (fabs(d) < TINY ? TINY : d);
    f = d;
    for (int i = 1; i < STEPS_MOST; i++) {
        double m = i, even, odd, step;
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < TINY ? TINY : d);
        c = fabs(c) < TINY ? TINY : c;
        f *= c * d;
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < TINY ? TINY : d);
        c = fabs(c) < TINY ? TINY : c;
        step = c * d;
        f *= step;
        if (fabs(step - 1) < 1e-15) {
            break;
        }
    }
    return f;
}

static double
incomplete_beta(double a, double b, double x)
{
    double front;
    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    front =
        exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) {
        return front * fraction(a, b, x) / a;
    }
    return 1 - front * fraction(b, a, 1 - x) / b;
}

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
        if (incomplete_beta((double)k, (double)(n - k) + 1, middle) <=
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
