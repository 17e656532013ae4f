/*
 * beta.c: the regularised incomplete beta function, by its continued fraction.
 */
#include "likelihood/beta.h"

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

/* lgamma itself writes to a global. */
static double
log_gamma(double a)
{
    int sign;
    return lgamma_r(a, &sign);
}

double
beta_log(double a, double b)
{
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
}

double
beta_below(double a, double b, double x)
{
    double front;
    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    front = exp(a * log(x) + b * log1p(-x) - beta_log(a, b));
    if (x < (a + 1) / (a + b + 2)) {
        return front * fraction(a, b, x) / a;
    }
    return 1 - front * fraction(b, a, 1 - x) / b;
}
