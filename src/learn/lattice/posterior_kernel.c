/*
 * posterior_kernel.c: the inner loops over posterior weights, 16 at a time.
 *
 * One text for every processor: vectors of 16 that the compiler cuts to what
 * there is. It is compiled three times, and the processor is asked once. No
 * product is fused with a sum (-ffp-contract=off), so all three agree to the
 * last bit.
 */
#include "learn/lattice/posterior_kernel.h"

#include <string.h>

#include "host/kernels.h"
#include "learn/vectors.h"

#define TILE 2048u /* entries summed in single precision before double */
#define BASE (UINT32_C(96) << 23)

typedef uint32_t words __attribute__((vector_size(64), aligned(4), may_alias));

/* What 16 codes stand for. */
#define DECODE(from)                                                           \
    ((floats)((__builtin_convertvector(LOAD(halves, from), words) << 12) +     \
              BASE))

INLINE void
distance_body(const int32_t *q, size_t n, const int32_t *y, size_t d,
              float rate, float *cost)
{
    for (size_t m = 0; m < n; m += LANES) {
        ints sum = {0};
        for (size_t i = 0; i < d; i++) {
            ints gap = LOAD(ints, q + i * n + m) - y[i];
            ints sign = gap >> 31;
            sum += (gap ^ sign) - sign;
        }
        STORE(floats, cost + m,
              LOAD(floats, cost + m) +
                  rate * __builtin_convertvector(sum, floats));
    }
}

INLINE float
least_body(const float *cost, size_t n)
{
    floats low = LOAD(floats, cost);
    float least;
    for (size_t m = LANES; m < n; m += LANES) {
        floats at = LOAD(floats, cost + m);
        ints less = at < low;
        low = (floats)(((ints)at & less) | ((ints)low & ~less));
    }
    least = low[0];
    for (size_t i = 1; i < LANES; i++) {
        least = low[i] < least ? low[i] : least;
    }
    return least;
}

/*
 * e^-x = 2^t, t = -x log2 e = n + f, |f| <= 1/2: 2^f is the series of e^(f ln2)
 * to the sixth power, off by less than 2e-7 of itself; n goes into the
 * exponent. t below -31 is -31.
 */
#define ENCODE_16(cost, least, code, sum)                                      \
    do {                                                                       \
        const floats magic = {0};                                              \
        floats t = ((least)-LOAD(floats, cost)) * 1.44269504F;                 \
        ints low = t < -31.0F;                                                 \
        floats floor_ = magic - 31.0F;                                         \
        t = (floats)(((ints)floor_ & low) | ((ints)t & ~low));                 \
        floats whole = (t + 12582912.0F) - 12582912.0F;                        \
        floats f = t - whole;                                                  \
        floats e = f * 1.54035304e-4F + 1.33335581e-3F;                        \
        e = e * f + 9.61812911e-3F;                                            \
        e = e * f + 5.55041087e-2F;                                            \
        e = e * f + 2.40226507e-1F;                                            \
        e = e * f + 6.93147181e-1F;                                            \
        e = e * f + 1.0F;                                                      \
        words bits =                                                           \
            (words)e + ((words) __builtin_convertvector(whole, ints) << 23);   \
        bits = (bits - BASE + 0x800u) >> 12;                                   \
        STORE(halves, code, __builtin_convertvector(bits, halves));            \
        (sum) += (floats)((bits << 12) + BASE);                                \
    } while (0)

INLINE double
encode_body(const float *cost, float least, size_t n, uint16_t *code)
{
    double total = 0;
    for (size_t first = 0; first < n; first += TILE) {
        size_t end = n - first < TILE ? n : first + TILE;
        floats sum = {0};
        for (size_t m = first; m < end; m += LANES) {
            ENCODE_16(cost + m, least, code + m, sum);
        }
        total += sum_lanes(&sum);
    }
    return total;
}

INLINE size_t
count_body(const uint16_t *code, size_t n, uint16_t from)
{
    words sum = {0};
    size_t count = 0;
    for (size_t m = 0; m < n; m += LANES) {
        words at = __builtin_convertvector(LOAD(halves, code + m), words);
        sum -= (words)(at >= from);
    }
    for (size_t i = 0; i < LANES; i++) {
        count += sum[i];
    }
    return count;
}

INLINE void
dots_body(const uint16_t *const row[POSTERIOR_ROWS], const float *v, size_t n,
          double ret[POSTERIOR_ROWS])
{
    const uint16_t *a = row[0], *b = row[1], *c = row[2], *d = row[3];
    ret[0] = ret[1] = ret[2] = ret[3] = 0;
    for (size_t first = 0; first < n; first += TILE) {
        size_t end = n - first < TILE ? n : first + TILE;
        floats sa = {0}, sb = {0}, sc = {0}, sd = {0};
        for (size_t m = first; m < end; m += LANES) {
            floats at = LOAD(floats, v + m);
            sa += DECODE(a + m) * at;
            sb += DECODE(b + m) * at;
            sc += DECODE(c + m) * at;
            sd += DECODE(d + m) * at;
        }
        ret[0] += sum_lanes(&sa);
        ret[1] += sum_lanes(&sb);
        ret[2] += sum_lanes(&sc);
        ret[3] += sum_lanes(&sd);
    }
}

INLINE void
add_body(const uint16_t *const row[POSTERIOR_ROWS],
         const float by[POSTERIOR_ROWS], size_t n, float *to)
{
    const uint16_t *a = row[0], *b = row[1], *c = row[2], *d = row[3];
    for (size_t m = 0; m < n; m += LANES) {
        floats sum = DECODE(a + m) * by[0] + DECODE(b + m) * by[1];
        sum += DECODE(c + m) * by[2] + DECODE(d + m) * by[3];
        STORE(floats, to + m, LOAD(floats, to + m) + sum);
    }
}

/* The same six, for one kind of processor. */
#define KERNELS(kind)                                                          \
    FOR_##kind static void distance_##kind(const int32_t *q, size_t n,         \
                                           const int32_t *y, size_t d,         \
                                           float rate, float *cost)            \
    {                                                                          \
        distance_body(q, n, y, d, rate, cost);                                 \
    }                                                                          \
    FOR_##kind static float least_##kind(const float *cost, size_t n)          \
    {                                                                          \
        return least_body(cost, n);                                            \
    }                                                                          \
    FOR_##kind static double encode_##kind(const float *cost, float least,     \
                                           size_t n, uint16_t *code)           \
    {                                                                          \
        return encode_body(cost, least, n, code);                              \
    }                                                                          \
    FOR_##kind static size_t count_##kind(const uint16_t *code, size_t n,      \
                                          uint16_t from)                       \
    {                                                                          \
        return count_body(code, n, from);                                      \
    }                                                                          \
    FOR_##kind static void dots_##kind(                                        \
        const uint16_t *const row[POSTERIOR_ROWS], const float *v, size_t n,   \
        double ret[POSTERIOR_ROWS])                                            \
    {                                                                          \
        dots_body(row, v, n, ret);                                             \
    }                                                                          \
    FOR_##kind static void add_##kind(                                         \
        const uint16_t *const row[POSTERIOR_ROWS],                             \
        const float c[POSTERIOR_ROWS], size_t n, float *a)                     \
    {                                                                          \
        add_body(row, c, n, a);                                                \
    }                                                                          \
    static const struct posterior_kernel kernel_##kind = {                     \
        #kind,        distance_##kind, least_##kind, encode_##kind,            \
        count_##kind, dots_##kind,     add_##kind};

HOST_KERNELS(KERNELS)

const struct posterior_kernel *
posterior_kernel_best(void)
{
    return HOST_KERNEL_BEST(kernel);
}

const struct posterior_kernel *
posterior_kernel_plain(void)
{
    return &kernel_any;
}

float
posterior_kernel_decode(uint16_t code)
{
    uint32_t bits = ((uint32_t)code << 12) + BASE;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
