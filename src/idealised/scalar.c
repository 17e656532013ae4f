/*
 * scalar.c: a number in [0, 1] by ScalarDP.
 */
#include "idealised/scalar.h"

#include <math.h>

#include "idealised/doubles.h"

void
scalar_init(struct scalar *scalar, double eps, uint32_t k)
{
    double levels = k, sum = exp(eps) + levels;
    *scalar = (struct scalar){
        .eps = eps,
        .same = exp(eps) / sum,
        .other = 1 / sum,
        .a = sum / (levels * expm1(eps)),
        .b = levels * (levels + 1) / (2 * sum),
        .k = k,
    };
}

double
scalar_estimate(const struct scalar *scalar, uint32_t j)
{
    return scalar->a * (j - scalar->b);
}

/* E[estimate^2 | J], for any J: with S1 and S2 the sums of j and j^2 to k,
   E[j | J] = (same - other) J + other S1, and likewise of j^2. */
static double
second_of(const struct scalar *scalar, double J, double J2)
{
    double k = scalar->k, gap = scalar->same - scalar->other;
    double s1 = k * (k + 1) / 2, s2 = s1 * (2 * k + 1) / 3;
    double first = gap * J + scalar->other * s1;
    double second = gap * J2 + scalar->other * s2;
    return scalar->a * scalar->a *
           (second - 2 * scalar->b * first + scalar->b * scalar->b);
}

/* E[J] = k r, and E[J^2] is linear from one level to the next. */
double
scalar_second(const struct scalar *scalar, double r)
{
    double J = scalar->k * r, low = floor(J), f = J - low;
    return second_of(scalar, J, low * low + f * (2 * low + 1));
}

/* Over r: the mean of k r is k/2, that of E[J^2] is the trapezoids' under j^2,
   S2/k - k/2. */
double
scalar_spread(const struct scalar *scalar)
{
    double k = scalar->k, s2 = k * (k + 1) * (2 * k + 1) / 6;
    return second_of(scalar, k / 2, s2 / k - k / 2);
}

uint32_t
scalar_draw(const struct scalar *scalar, double r, struct random *random)
{
    double J = floor(scalar->k * r), u;
    uint32_t j = (uint32_t)J + (doubles_uniform(random) < scalar->k * r - J);
    u = doubles_uniform(random) - (scalar->same - scalar->other);
    if (u < 0) {
        return j;
    }
    j = (uint32_t)(u / scalar->other); /* every level alike, J's among them */
    return j < scalar->k ? j : scalar->k;
}

double
scalar_log_p(const struct scalar *scalar, uint32_t j, double r)
{
    double J = scalar->k * r, low = floor(J), f = J - low;
    double share = j == low ? 1 - f : j == low + 1 ? f : 0;
    return log(scalar->other + share * (scalar->same - scalar->other));
}
