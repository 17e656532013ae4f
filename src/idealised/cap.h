/*
 * cap.h: a direction told by whether a random vector lies within a cap about
 * it: what privunit2 and privunitg share.
 *
 * V is a random vector whose law P no direction is special to: uniform on the
 * unit sphere, or normal with covariance I/d. w = <V, u> is its coordinate
 * along a unit vector u. The cap of u is {w >= gamma}, h = P(cap), and a report
 * V has the density, with respect to P,
 *
 *     high   in the cap of u      high = e^eps low,
 *     low    elsewhere            low = 1 / (1 + (e^eps - 1) h)
 *
 * so the ratio of two directions' densities is e^eps, 1 or e^-eps, and no more
 * budget is left over: for this gamma p = P(V in the cap | u) = high h is the
 * largest that epsilon allows. By symmetry
 *
 *     E[V | u] = m u,   m = (high - low) G,   G = E[w; w >= gamma]
 *
 * and V / m is unbiased.
 */
#ifndef SOTTO_IDEALISED_CAP_H
#define SOTTO_IDEALISED_CAP_H

#include <stdint.h>

struct cap {
    double eps;
    double gamma, tail; /* h */
    double high, low;
    double mean;  /* m */
    double along; /* E[w^2 | u] */
    double size;  /* E[|V|^2 | u] */
    uint32_t d;
    uint32_t unused;
};

/* A law of V. Both choose gamma so that E|V/m|^2 is least. */
enum cap_law { CAP_SPHERE = 0, CAP_NORMAL = 1 };

/* Sets up the cap with the best gamma; d >= 2, eps > 0. */
void cap_init(struct cap *cap, enum cap_law law, uint32_t d, double eps);
/* Or with that gamma. */
void cap_set(struct cap *cap, enum cap_law law, uint32_t d, double eps,
             double gamma);
/* E|V/m|^2. */
double cap_second(const struct cap *cap);

/* P(w >= gamma), and the gamma at which it is `tail`, in (0, 1). */
double cap_tail(enum cap_law law, uint32_t d, double gamma);
double cap_quantile(enum cap_law law, uint32_t d, double tail);

#endif
