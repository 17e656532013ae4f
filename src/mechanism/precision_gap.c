/*
 * precision_gap.c: the mean of those who have a value, before anybody has
 * reported: Fieller's interval, which decode prints, at the moments to expect.
 *
 * Reports give u, an estimate of x (0 of whoever has no value), and v, one of
 * "has a value", each with noise of deviation sigma (docs/missing.md). If a
 * share p has a value, with mean theta and deviation s,
 *
 *     E u = theta p      Var u = sigma^2 + p (s^2 + theta^2) - theta^2 p^2
 *     E v = p            Var v = sigma^2 + p (1 - p)
 *                        Cov(u, v) = theta p (1 - p)
 *
 * and u'/v' has, to first order, the variance of (u - theta v)/p over n.
 */
#include <math.h>

#include "mechanism/precision.h"
#include "mechanism/ratio.h"

/* The column's units of one x. */
static double
scale_of(const struct precision_question *question)
{
    return question->unit * question->steps;
}

static double
theta_of(const struct precision_question *question)
{
    double scale = scale_of(question);
    return question->known && scale > 0
               ? (question->mean - question->centre) / scale
               : 0;
}

/* The moments to expect; a spread that nobody knows is the largest, 1. */
static struct ratio_moments
expect_moments(const struct precision_question *question, double n)
{
    double scale = scale_of(question), theta = theta_of(question);
    double s = !question->known ? 1 : scale > 0 ? question->spread / scale : 0;
    double p = 1 - question->absent, sigma = question->noise / question->steps;
    return (struct ratio_moments){
        .n = n,
        .above = theta * p,
        .below = p,
        .above_above =
            sigma * sigma + p * (s * s + theta * theta) - theta * theta * p * p,
        .above_below = theta * p * (1 - p),
        .below_below = sigma * sigma + p * (1 - p),
        .noise = sigma,
        .bias = question->pair_bias / question->steps,
    };
}

double
precision_gap_deviation(const struct precision_question *question, double n)
{
    struct ratio_moments m = expect_moments(question, n);
    double theta = theta_of(question);
    double variance = m.above_above - 2 * theta * m.above_below +
                      theta * theta * m.below_below;
    return scale_of(question) * sqrt(variance / n) / m.below;
}

double
precision_gap_half(const struct precision_question *question, double n,
                   double z)
{
    struct ratio_moments moments = expect_moments(question, n);
    struct ratio ratio;
    ratio_estimate(&moments, interval_student(z, n - 1), z, &ratio);
    return ratio.bounded ? scale_of(question) * (ratio.high - ratio.low) / 2 +
                               question->unit * question->rounding
                         : INFINITY;
}

/* Whoever has a value and names the farthest one moves the mean most. A forged
   report moves it by at most (|u| + |theta v|)/p, to first order. */
void
precision_gap_lies(const struct precision_question *question, double liars,
                   double *ret_lied, double *ret_forged)
{
    double theta = question->known ? fabs(theta_of(question)) : 1;
    double p = 1 - question->absent, most = question->most / question->steps;
    *ret_lied = scale_of(question) * fmin(1, liars / p) * (1 + theta);
    *ret_forged = scale_of(question) * liars * (most + theta * (1 + most)) / p;
}
