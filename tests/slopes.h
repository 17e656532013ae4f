/*
 * slopes.h: a derivative against finite differences, kinks or not.
 *
 * Where a function is smooth, the differences to both sides agree, up to the
 * step times its second derivative. With a kink (of a ReLU, of clipping) less
 * than a step away to one side, the other side still has the slope at the
 * point, so the slope lies between the two, whatever the start of a network's
 * weights makes of it.
 */
#ifndef SOTTO_TESTS_SLOPES_H
#define SOTTO_TESTS_SLOPES_H

#include <math.h>

/* How far `slope` lies outside the two differences at a point, from the
   function's values a step before it, at it and a step behind it. */
static inline double
slope_off(double before, double at, double behind, double step, double slope)
{
    double left = (at - before) / step, right = (behind - at) / step;
    double low = fmin(left, right), high = fmax(left, right);
    if (slope >= low && slope <= high) {
        return 0;
    }
    return slope < low ? low - slope : slope - high; /* NaN stays NaN */
}

#endif
