/*
 * maths.c: the few real functions the trusted part needs, without libm.
 *
 * The activations, the exponential under them and the signed logarithm choose
 * by masks, not by branches: their instructions do not depend on x. Those of
 * maths_log do; it sees no record.
 */
#include "base/maths.h"

#include <stdint.h>

/* ln 2 = high + low; high has 17 trailing zero bits, so k high is exact. */
#define LN2_HIGH 0x1.62e42fefa0000p-1
#define LN2_LOW 0x1.cf79abc9e3b3ap-40

#define INFINITE (UINT64_C(0x7ff) << 52)       /* above it lie the NaNs */
#define EXP_MOST UINT64_C(0x40862d999999999a)  /* 709.7 */
#define EXP_LEAST UINT64_C(0x4086200000000000) /* 708, below zero */

#define FRACTION ((UINT64_C(1) << 52) - 1)
#define ROOT_TWO UINT64_C(0x6a09e667f3bcd) /* its fraction */

#define SIGN UINT32_C(0x80000000)
#define INFINITE_SINGLE UINT32_C(0x7f800000)
#define FAR UINT32_C(0x42ae0000) /* 87 */

union bits {
    double value;
    uint64_t bits;
};

union single {
    float value;
    uint32_t bits;
};

/* 2^k for -1022 <= k <= 1023. */
static double
power_of_two(int k)
{
    union bits u;
    u.bits = (uint64_t)(k + 1023) << 52;
    return u.value;
}

/* All ones if a > b, for a and b below 2^63. Volatile because clang makes a
   branch of a mask whose origin it sees, around all that is masked away. */
static uint64_t
above(uint64_t a, uint64_t b)
{
    volatile uint64_t hidden = 0 - ((b - a) >> 63);
    return hidden;
}

/* e^x = 2^k e^r, k the nearest integer to x / ln 2, e^r by Taylor, for
   -708 <= x <= 709.7. */
static double
exp_between(double x)
{
    union bits half, u;
    double r, sum = 1;
    int k;
    u.value = x;
    half.value = 0.5;
    half.bits |= u.bits >> 63 << 63;
    k = (int)(x * 0x1.71547652b82fep0 + half.value);
    r = (x - k * LN2_HIGH) - k * LN2_LOW;
    for (int i = 14; i > 0; i--) {
        sum = 1 + r * sum / i;
    }
    return sum * power_of_two(k / 2) * power_of_two(k - k / 2);
}

/* What lies outside is computed too, of 0 in its place, and then replaced: by
   0, infinity, or the NaN that it is. */
double
maths_exp(double x)
{
    union bits u, result;
    uint64_t magnitude, minus, outside, nan, end;
    u.value = x;
    magnitude = u.bits & ~(UINT64_C(1) << 63);
    minus = 0 - (u.bits >> 63);
    outside = above(magnitude, (EXP_LEAST & minus) | (EXP_MOST & ~minus));
    nan = above(magnitude, INFINITE);
    end = (u.bits & nan) | (INFINITE & ~minus & ~nan);
    u.bits &= ~outside;
    result.value = exp_between(u.value);
    result.bits = (result.bits & ~outside) | (end & outside);
    return result.value;
}

/*
 * ln(2^k m) = k ln 2 + 2 artanh(s), s = (m-1)/(m+1), with m in
 * [sqrt(1/2), sqrt(2)): s^2 < 0.03, so the series is short.
 */
static double
log_of(double m, int k)
{
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int i = 25; i >= 3; i -= 2) {
        sum = (sum + 1.0 / i) * square;
    }
    return k * LN2_HIGH + (2 * s + (2 * s * sum + k * LN2_LOW));
}

double
maths_log(double x)
{
    union bits u;
    int k = 0;
    u.value = x;
    if (u.bits < (UINT64_C(1) << 52)) { /* subnormal */
        u.value = x * 0x1p54;
        k = -54;
    }
    k += (int)(u.bits >> 52) - 1023;
    u.bits = (u.bits & FRACTION) | (UINT64_C(1023) << 52);
    if (u.value > 0x1.6a09e667f3bcdp0) {
        u.value /= 2;
        k++;
    }
    return log_of(u.value, k);
}

/* 1 + |x| is at least 1, so m - 1 is 0 or at least 2^-53, and no number on the
   way is subnormal. An infinity or NaN has an exponent like any other. */
double
maths_log_signed(double x)
{
    union bits u = {x}, sum, result;
    uint64_t sign = u.bits >> 63 << 63, high;
    u.bits ^= sign;
    sum.value = 1 + u.value;
    high = above(sum.bits & FRACTION, ROOT_TWO) & 1;
    u.bits = (sum.bits & FRACTION) | ((UINT64_C(1023) - high) << 52);
    result.value = log_of(u.value, (int)(sum.bits >> 52) - 1023 + (int)high);
    result.bits |= sign;
    return result.value;
}

/* x > 0 ? x : 0, and so 0 for a NaN. */
float
maths_relu(float x)
{
    union single u = {x};
    u.bits &= (u.bits >> 31) - 1;
    u.bits &= ((INFINITE_SINGLE - u.bits) >> 31) - 1;
    return u.value;
}

/*
 * x, or 87 of its sign if it is beyond that; a NaN stays. For such x all of
 * e^x, 1 + e^-x and their quotients is between 2^-252 and 2^252, and the
 * sigmoid above 2^-126: no number is subnormal. The terms of the series of e^r
 * are multiples of r, and r is x, 0, or a difference of numbers with at most
 * 90 bits behind the point.
 */
static float
limited(float x)
{
    union single u = {x};
    uint32_t sign = u.bits & SIGN;
    uint32_t far = (uint32_t)(above(u.bits ^ sign, FAR) &
                              ~above(u.bits ^ sign, INFINITE_SINGLE));
    u.bits ^= (u.bits ^ (sign | FAR)) & far;
    return u.value;
}

/* Below -87 it is 0. */
float
maths_sigmoid(float x)
{
    union single from = {x};
    union single u = {(float)(1 / (1 + maths_exp(-(double)limited(x))))};
    u.bits &= (uint32_t) ~(above(from.bits, SIGN | FAR) &
                           ~above(from.bits, SIGN | INFINITE_SINGLE));
    return u.value;
}

/* At 87 it is 1, to a float, and beyond. */
float
maths_tanh(float x)
{
    return (float)(1 - 2 / (maths_exp(2 * (double)limited(x)) + 1));
}
