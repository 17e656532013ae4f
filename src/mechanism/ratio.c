/*
 * ratio.c: a ratio of two means, with Fieller's interval.
 */
#include "mechanism/ratio.h"

#include <math.h>

/* What cannot be ruled out for one covariance: a theta^2 - 2 b theta + c <= 0.
   Widens [low, high] to hold it; false if it is unbounded. */
static bool
widen(const struct ratio_moments *m, double share, double uu, double uv,
      double vv, struct ratio *ratio)
{
    double a = m->below * m->below - share * vv;
    double b = m->above * m->below - share * uv;
    double c = m->above * m->above - share * uu;
    double root = sqrt(fmax(0, b * b - a * c));
    if (!(a > 0) || !(m->below > 0)) {
        return false;
    }
    ratio->low = fmin(ratio->low, (b - root) / a);
    ratio->high = fmax(ratio->high, (b + root) / a);
    return true;
}

void
ratio_estimate(const struct ratio_moments *m, double t, double z,
               struct ratio *ret)
{
    double noise = m->noise * m->noise, theta = m->above / m->below;
    double least, off;
    *ret = (struct ratio){.value = m->below > 0 ? theta : NAN,
                          .low = INFINITY,
                          .high = -INFINITY,
                          .noise_deviation = INFINITY};
    ret->bounded = widen(m, t * t / m->n, m->above_above, m->above_below,
                         m->below_below, ret) &&
                   widen(m, z * z / m->n, noise, 0, noise, ret);
    if (m->below > 0) {
        ret->noise_deviation =
            m->noise * hypot(1, theta) / (m->below * sqrt(m->n));
    }
    /* What the means may be off by moves u' - theta v' by 2 bias at most. */
    least =
        m->below - fmax(t * sqrt(m->below_below), z * m->noise) / sqrt(m->n);
    off = m->bias > 0 ? 2 * m->bias / least : 0;
    ret->low = ret->bounded ? ret->low - off : -INFINITY;
    ret->high = ret->bounded ? ret->high + off : INFINITY;
}

/* A ratio with a positive denominator is monotone in either: it is farthest in
   one of the corners. */
double
ratio_reach(double above, double below, double above_off, double below_off)
{
    double farthest = 0;
    if (!(below - below_off > 0) || !isfinite(above_off)) {
        return INFINITY;
    }
    for (int corner = 0; corner < 4; corner++) {
        double u = above + (corner % 2 == 0 ? above_off : -above_off);
        double v = below + (corner < 2 ? below_off : -below_off);
        farthest = fmax(farthest, fabs(u / v - above / below));
    }
    return farthest;
}
