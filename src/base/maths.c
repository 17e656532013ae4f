/*
 * maths.c: the few real functions the trusted part needs, without libm.
 */
#include "base/maths.h"

#include <stdint.h>

/* ln 2 = high + low; high has 17 trailing zero bits, so k high is exact. */
#define LN2_HIGH 0x1.62e42fefa0000p-1
#define LN2_LOW 0x1.cf79abc9e3b3ap-40

union bits {
    double value;
    uint64_t bits;
};

/* 2^k for -1022 <= k <= 1023. */
static double
power_of_two(int k)
{
    union bits u;
    u.bits = (uint64_t)(k + 1023) << 52;
    return u.value;
}

/* e^x = 2^k e^r, k the nearest integer to x / ln 2, e^r by Taylor. */
double
maths_exp(double x)
{
    double r, sum = 1;
    int k;
    if (x != x) {
        return x;
    }
    if (x > 709.7) {
        return (double)__builtin_inff();
    }
    if (x < -708) {
        return 0;
    }
    k = (int)(x * 0x1.71547652b82fep0 + (x < 0 ? -0.5 : 0.5));
    r = (x - k * LN2_HIGH) - k * LN2_LOW;
    for (int i = 14; i > 0; i--) {
        sum = 1 + r * sum / i;
    }
    return sum * power_of_two(k / 2) * power_of_two(k - k / 2);
}

/*
 * ln(2^k m) = k ln 2 + 2 artanh(s), s = (m-1)/(m+1), with m in
 * [sqrt(1/2), sqrt(2)): s^2 < 0.03, so the series is short.
 */
double
maths_log(double x)
{
    union bits u;
    double s, square, sum = 0;
    int k = 0;
    u.value = x;
    if (u.bits < (UINT64_C(1) << 52)) { /* subnormal */
        u.value = x * 0x1p54;
        k = -54;
    }
    k += (int)(u.bits >> 52) - 1023;
    u.bits = (u.bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1023) << 52);
    if (u.value > 0x1.6a09e667f3bcdp0) {
        u.value /= 2;
        k++;
    }
    s = (u.value - 1) / (u.value + 1);
    square = s * s;
    for (int i = 25; i >= 3; i -= 2) {
        sum = (sum + 1.0 / i) * square;
    }
    return k * LN2_HIGH + (2 * s + (2 * s * sum + k * LN2_LOW));
}

float
maths_relu(float x)
{
    return x > 0 ? x : 0;
}

float
maths_sigmoid(float x)
{
    return (float)(1 / (1 + maths_exp(-(double)x)));
}

float
maths_tanh(float x)
{
    return (float)(1 - 2 / (maths_exp(2 * (double)x) + 1));
}
