/*
 * codes_kernel.c: the inner loops over the likelihoods of codes, 16 reports at
 * a time.
 *
 * One text for every processor: vectors that the compiler cuts to what there
 * is, compiled three times. No product is fused with a sum, so all three agree
 * to the last bit.
 *
 * A sum of logarithms is taken as logarithms of products: 32 factors from
 * CODES_LEAST to a little above 1 are far from the ends of a double.
 */
#include "learn/codes/codes_kernel.h"

#include <math.h>

#include "host/kernels.h"
#include "learn/vectors.h"

typedef double doubles __attribute__((vector_size(128)));
typedef int64_t longs __attribute__((vector_size(128)));
typedef uint8_t bytes __attribute__((vector_size(16), aligned(1), may_alias));

#define LN2 0.69314718055994530942
/* Wider by a factor of 2 at a time, for which there are instructions. */
#define FLOATS(type, from)                                                     \
    __builtin_convertvector(                                                   \
        __builtin_convertvector(                                               \
            __builtin_convertvector(LOAD(type, from), halves), ints),          \
        floats)
/* 16 numbers as they are kept in 8 or 32 bits. */
#define KEPT8(from) FLOATS(bytes, from)
#define KEPT32(from) LOAD(floats, from)

/* product *= max(s, least) */
INLINE void
multiply(doubles *product, const floats *s)
{
    ints low = *s < CODES_LEAST;
    floats least = *s * 0 + CODES_LEAST;
    floats kept = (floats)(((ints)least & low) | ((ints)*s & ~low));
    *product *= __builtin_convertvector(kept, doubles);
}

/* Exponents are added up and mantissas, from 1 to 2, multiplied: one logarithm
   for all lanes. */
INLINE double
logs_of(const doubles *product)
{
    longs bits = (longs)*product;
    longs exponent = (bits >> 52) - 1023;
    doubles mantissa =
        (doubles)((bits & INT64_C(0xfffffffffffff)) | INT64_C(1023) << 52);
    double all = 1;
    int64_t sum = 0;
    for (size_t i = 0; i < LANES; i++) {
        all *= mantissa[i];
        sum += exponent[i];
    }
    return log(all) + (double)sum * LN2;
}

INLINE double
log_sum_body(const float *s, size_t n)
{
    double sum = 0;
    for (size_t first = 0; first < n; first += CODES_GROUP) {
        doubles product = {0};
        product += 1;
        for (size_t i = 0; i < CODES_GROUP; i += LANES) {
            floats at = LOAD(floats, s + first + i);
            multiply(&product, &at);
        }
        sum += logs_of(&product);
    }
    return sum;
}

/* What differs between them is the type alone. */
#define BODIES(size, element)                                                  \
    INLINE void add##size##_body(const element *b, size_t n, float by,         \
                                 float *s)                                     \
    {                                                                          \
        for (size_t i = 0; i < n; i += LANES) {                                \
            STORE(floats, s + i,                                               \
                  LOAD(floats, s + i) + by * KEPT##size(b + i));               \
        }                                                                      \
    }                                                                          \
    INLINE double dot##size##_body(const element *b, const float *v, size_t n) \
    {                                                                          \
        floats even = {0}, odd = {0};                                          \
        for (size_t i = 0; i < n; i += (size_t)2 * LANES) {                    \
            size_t j = i + LANES;                                              \
            even += KEPT##size(b + i) * LOAD(floats, v + i);                   \
            odd += KEPT##size(b + j) * LOAD(floats, v + j);                    \
        }                                                                      \
        even += odd;                                                           \
        return sum_lanes(&even);                                               \
    }                                                                          \
    INLINE double move##size##_body(const struct codes_move *move, size_t n,   \
                                    size_t columns)                            \
    {                                                                          \
        double sum = 0;                                                        \
        for (size_t first = 0; first < n; first += CODES_GROUP) {              \
            doubles product = {0};                                             \
            product += 1;                                                      \
            for (size_t i = first; i < first + CODES_GROUP; i += LANES) {      \
                floats at = LOAD(floats, move->a + i);                         \
                for (size_t j = 0; j < columns; j++) {                         \
                    const element *b = move->column[j];                        \
                    at += move->by[j] * KEPT##size(b + i);                     \
                }                                                              \
                at = move->rest * LOAD(floats, move->u + i) + move->gap * at;  \
                multiply(&product, &at);                                       \
            }                                                                  \
            sum += logs_of(&product);                                          \
        }                                                                      \
        return sum;                                                            \
    }

BODIES(8, uint8_t)
BODIES(32, float)

#define SIZED(kind, size)                                                      \
    FOR_##kind static void add##size##_##kind(const void *b, size_t n,         \
                                              float by, float *s)              \
    {                                                                          \
        add##size##_body(b, n, by, s);                                         \
    }                                                                          \
    FOR_##kind static double dot##size##_##kind(const void *b, const float *v, \
                                                size_t n)                      \
    {                                                                          \
        return dot##size##_body(b, v, n);                                      \
    }                                                                          \
    FOR_##kind static double move##size##_##kind(                              \
        const struct codes_move *move, size_t n)                               \
    {                                                                          \
        return move##size##_body(move, n, 2);                                  \
    }                                                                          \
    FOR_##kind static double swap##size##_##kind(                              \
        const struct codes_move *move, size_t n)                               \
    {                                                                          \
        return move##size##_body(move, n, CODES_MOVED);                        \
    }

#define KERNELS(kind)                                                          \
    SIZED(kind, 8)                                                             \
    SIZED(kind, 32)                                                            \
    FOR_##kind static double log_sum_##kind(const float *s, size_t n)          \
    {                                                                          \
        return log_sum_body(s, n);                                             \
    }                                                                          \
    FOR_##kind static double stay_##kind(const struct codes_move *move,        \
                                         size_t n)                             \
    {                                                                          \
        return move8_body(move, n, 0);                                         \
    }                                                                          \
    static const struct codes_kernel codes_kernel_##kind = {                   \
        #kind,                                                                 \
        {{1, add8_##kind, dot8_##kind, move8_##kind, swap8_##kind},            \
         {4, add32_##kind, dot32_##kind, move32_##kind, swap32_##kind}},       \
        log_sum_##kind,                                                        \
        stay_##kind};

HOST_KERNELS(KERNELS)

const struct codes_kernel *
codes_kernel_best(void)
{
    return HOST_KERNEL_BEST(codes_kernel);
}

const struct codes_kernel *
codes_kernel_plain(void)
{
    return &codes_kernel_any;
}
