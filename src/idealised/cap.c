/*
 * cap.c: the coordinate w of a vector without direction, and the cap that makes
 * a report's second moment least.
 *
 *     sphere   density of w  (1 - w^2)^((d-3)/2) / B(1/2, a),  a = (d-1)/2
 *              h = I_{1-gamma^2}(a, 1/2) / 2 for gamma >= 0
 *              G = (1 - gamma^2)^a / ((d-1) B(1/2, a))
 *              E[w^2; w >= gamma] = I_{1-gamma^2}(a, 3/2) / 2d
 *     normal   with s = gamma sqrt(d): h = Phi(-s), G = phi(s) / sqrt(d),
 *              E[w^2; w >= gamma] = (h + s phi(s)) / d
 */
#include "idealised/cap.h"

#include <math.h>

#include "likelihood/beta.h"

#define ROOT_2PI 2.5066282746310005024157652848110
#define NORMAL_MOST 38.0 /* Phi(-38) is the last that is a normal double */
#define STEPS 120

/* ---- The coordinate ----------------------------------------------------- */

double
cap_tail(enum cap_law law, uint32_t d, double gamma)
{
    double half;
    if (law == CAP_NORMAL) {
        return erfc(gamma * sqrt(d / 2.0)) / 2;
    }
    half = beta_below((d - 1.0) / 2, 0.5, (1 - gamma) * (1 + gamma)) / 2;
    return gamma >= 0 ? half : 1 - half;
}

/* By bisection; the upper half, where the tail has its digits, and then the
   sign. */
double
cap_quantile(enum cap_law law, uint32_t d, double tail)
{
    double small = tail < 0.5 ? tail : 1 - tail;
    double low = 0, high = law == CAP_NORMAL ? NORMAL_MOST / sqrt(d) : 1;
    for (int i = 0; i < STEPS; i++) {
        double middle = (low + high) / 2;
        if (middle == low || middle == high) {
            break;
        }
        if (cap_tail(law, d, middle) > small) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return tail < 0.5 ? low : -low;
}

/* G. */
static double
lift(enum cap_law law, uint32_t d, double gamma)
{
    double a = (d - 1.0) / 2;
    if (law == CAP_NORMAL) {
        return exp(-(double)d * gamma * gamma / 2) / (ROOT_2PI * sqrt(d));
    }
    return exp(a * log1p(-gamma * gamma) - beta_log(a, 0.5)) / (d - 1.0);
}

/* E[w^2; w >= gamma], gamma >= 0. */
static double
square(enum cap_law law, uint32_t d, double gamma, double tail)
{
    if (law == CAP_NORMAL) {
        return tail / d + gamma * lift(law, d, gamma);
    }
    /* w^2 ~ Beta(1/2, a), and w^2 times its density is Beta(3/2, a)'s / d */
    return beta_below((d - 1.0) / 2, 1.5, (1 - gamma) * (1 + gamma)) /
           (2.0 * d);
}

/* ---- The cap ------------------------------------------------------------ */

void
cap_set(struct cap *cap, enum cap_law law, uint32_t d, double eps, double gamma)
{
    double tail = cap_tail(law, d, gamma), more = expm1(eps);
    double low = 1 / (1 + more * tail);
    double along = low / d + more * low * square(law, d, gamma, tail);
    *cap = (struct cap){
        .eps = eps,
        .gamma = gamma,
        .tail = tail,
        .high = exp(eps) * low,
        .low = low,
        .mean = more * low * lift(law, d, gamma),
        .along = along,
        .size = law == CAP_NORMAL ? along + (d - 1.0) / d : 1,
        .d = d,
    };
}

double
cap_second(const struct cap *cap)
{
    return cap->size / (cap->mean * cap->mean);
}

/*
 * Sphere: |V| = 1, so m is to be largest. With f the density of w,
 * dG/dgamma = -gamma f and dh/dgamma = -f, so d ln m / dgamma is
 * f (m - gamma) / G: it is 0 where gamma = m, the only such gamma.
 * Normal: E|V|^2 = 1 + gamma m, which moves the best gamma a little below.
 * Both by golden sections: one minimum, in units of 1/sqrt(d).
 */
void
cap_init(struct cap *cap, enum cap_law law, uint32_t d, double eps)
{
    const double ratio = 0.61803398874989484820458683436564;
    double low = 0, high = law == CAP_NORMAL ? NORMAL_MOST / sqrt(d) : 1;
    for (int i = 0; i < STEPS && law == CAP_SPHERE; i++) {
        double middle = (low + high) / 2;
        if (middle == low || middle == high) {
            break;
        }
        cap_set(cap, law, d, eps, middle);
        if (cap->mean > middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    for (int i = 0; i < STEPS && law == CAP_NORMAL; i++) {
        struct cap left, right;
        cap_set(&left, law, d, eps, high - ratio * (high - low));
        cap_set(&right, law, d, eps, low + ratio * (high - low));
        if (cap_second(&left) < cap_second(&right)) {
            high = right.gamma;
        } else {
            low = left.gamma;
        }
    }
    cap_set(cap, law, d, eps, low);
}
