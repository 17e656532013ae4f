/*
 * curves.h: exponentials and what is made of them, for loops that the compiler
 * turns into vector instructions: no calls, no branches, no tables.
 *
 * Good to a few units in the last place (tests/tensor/test_curves.c has the
 * bounds). No fused multiply-add, so that they give the same floats with and
 * without vectors. Comparisons are written so that NaN stays NaN.
 */
#ifndef SOTTO_TENSOR_CPU_CURVES_H
#define SOTTO_TENSOR_CPU_CURVES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * e^x = 2^n e^r with n = round(x / ln 2) and |r| <= ln 2 / 2, where
 * e^r = 1 + r + r^2 q(r), q a minimax polynomial. Adding 1.5 * 2^23 rounds, and
 * leaves n in the low bits. From e^-87 (which is also what lies below) to e^88
 * (likewise).
 */
static inline float
curve_exp(float x)
{
    const float shift = 12582912.0F;
    float a = -87.0F > x ? -87.0F : x;
    a = 88.0F < a ? 88.0F : a;
    float shifted = a * 1.44269504F + shift;
    float n = shifted - shift;
    float r = a - n * 0.693359375F; /* ln 2 in two parts, n times */
    r = r - n * -2.12194440e-4F;    /* the first without rounding */
    float q = 0.00139507259F;
    q = q * r + 0.00836902486F;
    q = q * r + 0.0416662023F;
    q = q * r + 0.166665177F;
    q = q * r + 0.5F;
    float e = 1.0F + (r + r * r * q);
    uint32_t bits;
    float power;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + UINT32_C(0x3f800000);
    memcpy(&power, &bits, sizeof power);
    return e * power;
}

/*
 * ln x for x of normal size: x = 2^n m with m in [sqrt(1/2), sqrt(2)), and
 * ln m = 2 atanh(s) with s = (m - 1) / (m + 1). Subtracting the bits of
 * sqrt(1/2) leaves n in the exponent.
 */
static inline float
curve_log(float x)
{
    uint32_t bits;
    float m;
    memcpy(&bits, &x, sizeof bits);
    int32_t n = (int32_t)(bits - UINT32_C(0x3f3504f3)) >> 23;
    bits -= (uint32_t)n << 23;
    memcpy(&m, &bits, sizeof m);
    float s = (m - 1.0F) / (m + 1.0F);
    float z = s * s;
    float p = 0.117716581F;
    p = p * z + 0.142771662F;
    p = p * z + 0.200000677F;
    p = p * z + 0.333333333F;
    return (float)n * 0.693147181F + 2.0F * (s + s * z * p);
}

/* 1 / (1 + e^-a), exact in the tails too. */
static inline float
curve_sigmoid(float a)
{
    float e = curve_exp(-fabsf(a));
    return (a < 0.0F ? e : 1.0F) / (1.0F + e);
}

/* (1 - e) / (1 + e) with e = e^(-2|a|); near 0, where that cancels,
   a + a^3 q(a^2). */
static inline float
curve_tanh(float a)
{
    float size = fabsf(a);
    float e = curve_exp(-2.0F * size);
    float far = copysignf((1.0F - e) / (1.0F + e), a);
    float z = a * a;
    float q = -0.00570498677F;
    q = q * z + 0.020639087F;
    q = q * z - 0.053739715F;
    q = q * z + 0.133314422F;
    q = q * z - 0.333332819F;
    float near = a + a * z * q;
    return size < 0.625F ? near : far;
}

/* log(1 + e) for e in [0, 1]: 2 atanh(s) with s = e / (2 + e). */
static inline float
curve_log1p(float e)
{
    float s = e / (2.0F + e);
    float z = s * s;
    float p = 0.121504667F;
    p = p * z + 0.107138292F;
    p = p * z + 0.143084424F;
    p = p * z + 0.199994389F;
    p = p * z + 0.333333378F;
    return 2.0F * (s + s * z * p);
}

#endif
