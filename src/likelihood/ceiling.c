/*
 * ceiling.c: how often a class can be told from one private report.
 *
 * Any channel. Of K classes that are equally frequent the report names class k
 * where it is in R_k. For j and k the promise is P[R_k | k] <= e^epsilon
 * P[R_k | j] + delta. Summed over all j that are not k, and over all k, with
 * S = sum_k P[R_k | k] and sum_k P[R_k | j] = 1 for every j:
 *
 *     (K - 1) S <= e^epsilon (K - S) + K (K - 1) delta,
 *     S / K     <= (e^epsilon + (K - 1) delta) / (e^epsilon + K - 1).
 *
 * With delta 0, k-ary response on a class that is known for sure meets it.
 *
 * The Laplace channel (P0 Eq. 13). The L1 ball of radius 1 has a class at each
 * of K of its vertices: n = K / 2 axes have one at both ends, and for an odd K
 * one more axis has one. Noise of scale b = 2 / epsilon is added to each
 * coordinate. Beside noise z around 0, class k at +-e_i makes z more likely by
 * the factor exp((|z_i| - |z_i -+ 1|) / b), and the likeliest class is right
 * with probability
 *
 *     A = 1/K E max_k exp((|z_i| - |z_i -+ 1|) / b) = 1/K E exp(g(T) / b),
 *
 * where g(t) = min(2 t - 1, 1), and T is the largest of |z_i| over the n axes
 * and of max(z_i, 0) of the single one:
 *
 *     F(t) = P[T <= t] = (1 - u)^n (1 - u / 2)^(K - 2 n), u = e^(-t / b).
 *
 * Integrated by parts,
 *
 *     A = e^(-epsilon / 2) / K (1 + epsilon int_0^1 e^(epsilon t) (1 - F(t))
 * dt),
 *
 * a sum of positive terms. Eq. 13 is the same for an even K, written as an
 * alternating sum, whose digits are lost where K is large. F is smaller with
 * (1 - u) than with (1 - u / 2)^2 = 1 - u + u^2 / 4, and A larger the smaller F
 * is: so of all choices of K vertices, opposite ones are best, as the paper
 * supposes. That vertices are the best points of the ball is a conjecture, for
 * d >= K / 2 (experiment eq13 looks for better ones). In fewer dimensions
 * nobody does better than in more, as further coordinates may all be 0: there
 * A is what cannot be passed, if the conjecture holds.
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "sotto/sotto.h"

#define NODES ((size_t)8)
#define PIECES ((size_t)32) /* of [0, 1], and one more for each epsilon */
#define EPS_MOST 200.0      /* from here on it is 1, in doubles */

/* Gauss and Legendre's nodes and weights on [-1, 1], the positive half. */
static const double node[NODES / 2] = {
    0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
    0.96028985649753623168};
static const double weight[NODES / 2] = {
    0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054,
    0.10122853629037625915};

double
sotto_accuracy_most(size_t classes, double eps, double delta)
{
    double others = (double)classes - 1;
    assert(classes >= 2 && eps >= 0 && delta >= 0);
    double most = (1 + others * delta * exp(-eps)) / (1 + others * exp(-eps));
    return most < 1 ? most : 1;
}

/* e^(epsilon (t - 1)) (1 - F(t)): the integrand without its largest factor. */
static double
weigh_above(double t, double n, double single, double eps)
{
    double u = exp(-eps * t / 2);
    double below = n * log1p(-u) + single * log1p(-u / 2);
    return exp(eps * (t - 1)) * -expm1(below);
}

double
sotto_accuracy_vertices(size_t classes, double eps)
{
    size_t couples = classes / 2, pieces;
    double n = (double)couples, single = (double)(classes % 2);
    double sum = 0, wide;
    assert(classes >= 2 && eps >= 0);
    eps = eps < EPS_MOST ? eps : EPS_MOST;
    pieces = PIECES + (size_t)ceil(eps);
    wide = 1 / (double)pieces;
    for (size_t i = 0; i < pieces; i++) {
        for (size_t j = 0; j < NODES / 2; j++) {
            double low = ((double)i + (1 - node[j]) / 2) * wide;
            double high = ((double)i + (1 + node[j]) / 2) * wide;
            sum += weight[j] / 2 * wide *
                   (weigh_above(low, n, single, eps) +
                    weigh_above(high, n, single, eps));
        }
    }
    return (exp(-eps / 2) + eps * exp(eps / 2) * sum) / (double)classes;
}
