/*
 * robust.c: a range that no single record decides.
 *
 *     values in order --> quantiles --> ends on a coarse grid
 *
 * One record more or less moves a quantile by one rank, and the grid hides
 * where in its step the quantile lies. That is no guarantee (a step may still
 * tip), and schemas say so; but no end is anybody's own value.
 */
#include "schema/robust.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "schema/outline.h"

#define TAIL 100u     /* one value of so many lies below the range, and above */
#define TAIL_LEAST 5u /* values, where a hundredth is fewer */
#define TAIL_SHARE 10u       /* but no more than one of so many */
#define STEPS 10.0           /* of the grid in a range, at most about so many */
#define NEAR_ZERO 0.25       /* of the range's width */
#define HEAVY_LEAST 50u      /* values, of which a tail can be told */
#define HEAVY_SKEW 0.6       /* 4 to 1 */
#define LIGHT_SKEW (1.0 / 3) /* 2 to 1 */

static size_t
tail_of(size_t count)
{
    size_t least = count / TAIL_SHARE;
    least = least < TAIL_LEAST ? least : TAIL_LEAST;
    return count / TAIL > least ? count / TAIL : least;
}

/* Quantiles of the values that are not `spike`, which holds nearly all, and of
   that one: they are those before `first` and from `last` on. */
static bool
find_beside(const double *value, size_t count, double spike, size_t rare,
            double *ret_low, double *ret_high)
{
    size_t first = 0, last = count;
    while (first < count && value[first] < spike) {
        first++;
    }
    while (last > 0 && value[last - 1] > spike) {
        last--;
    }
    size_t others = first + count - last, tail = tail_of(others);
    if (others == 0 || others < rare) {
        return false;
    }
    size_t low = tail, high = others - 1 - tail;
    double at_low = low < first ? value[low] : value[low - first + last];
    double at_high = high < first ? value[high] : value[high - first + last];
    *ret_low = fmin(at_low, spike);
    *ret_high = fmax(at_high, spike);
    return true;
}

/* The least of 1, 2, 2.5 and 5 times a power of ten that is not below `least`;
   of whole numbers, a whole one. */
static double
round_step(double least, bool whole)
{
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double power = pow(10, floor(log10(least)));
    size_t i = 0;
    while (i < 4 && steps[i] * power < least * (1 - 1e-9)) {
        i++;
    }
    double step = steps[i] * power;
    if (whole && step < 1) {
        return 1;
    }
    return whole && step < 3 && step > 2 ? 5 : step;
}

/* The number as it stands in a file of ten digits, so that a range is the same
   before it is written and after it is read. */
static double
as_written(double number)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.10g", number);
    return strtod(text, NULL);
}

static double
limit(double number)
{
    return fmin(fmax(number, -OUTLINE_RANGE_MOST), OUTLINE_RANGE_MOST);
}

bool
robust_range(const double *value, size_t count, bool whole, size_t rare,
             double *ret_low, double *ret_high)
{
    size_t tail = tail_of(count);
    double low, high;
    if (count == 0) {
        return false;
    }
    low = value[tail];
    high = value[count - 1 - tail];
    if (low >= high && !find_beside(value, count, low, rare, &low, &high)) {
        return false;
    }
    low = limit(low);
    high = limit(high);
    if (low >= high) {
        return false;
    }
    double width = high - low, step = round_step(width / STEPS, whole);
    low = floor(low / step + 1e-9) * step;
    high = ceil(high / step - 1e-9) * step;
    bool few = whole && step <= 1; /* a scale as 1 to 5 begins where it does */
    if (low > 0 && low <= NEAR_ZERO * width && !few) {
        low = 0;
    }
    if (high < 0 && high >= -NEAR_ZERO * width && !few) {
        high = 0;
    }
    *ret_low = as_written(limit(low));
    *ret_high = as_written(limit(high));
    return *ret_low < *ret_high;
}

/* How much farther the upper quantile is from the median than the lower one,
   from -1 to 1. */
static double
skew_of(double low, double middle, double high)
{
    return high > low ? ((high - middle) - (middle - low)) / (high - low) : 0;
}

bool
robust_heavy(const double *value, size_t count)
{
    size_t first = 0;
    while (first < count && value[first] <= 0) {
        first++;
    }
    size_t above = count - first, tail = tail_of(above);
    if (above < HEAVY_LEAST || value[0] < 0) {
        return false;
    }
    double low = value[first + tail], high = value[count - 1 - tail];
    double middle = value[first + above / 2];
    return skew_of(low, middle, high) >= HEAVY_SKEW &&
           fabs(skew_of(log1p(low), log1p(middle), log1p(high))) <= LIGHT_SKEW;
}

double
robust_round(double number, double least, bool whole)
{
    double step = round_step(least, whole);
    return as_written(nearbyint(number / step) * step);
}
