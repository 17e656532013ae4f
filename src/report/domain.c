/*
 * domain.c: from the encoder's floats into a public finite domain.
 *
 * Floats are taken apart as bit patterns and the rest is integers, so that no
 * NaN, infinity, denormal or rounding can place a point outside the domain
 * (invariant 1), and no branch depends on one (invariant 7).
 */
#include "report/domain.h"

union float_bits {
    float value;
    uint32_t bits;
};

static uint32_t
bits_of(float value)
{
    union float_bits u;
    u.value = value;
    return u.bits;
}

/* All ones if a < b, for a and b below 2^31. */
static uint32_t
below(uint32_t a, uint32_t b)
{
    return 0 - ((a - b) >> 31);
}

/* |value| = mantissa 2^(exponent - 150); a NaN is 0, an infinity 2^128. */
static void
take_apart(float value, uint32_t *ret_mantissa, uint32_t *ret_exponent)
{
    uint32_t magnitude = bits_of(value) & 0x7fffffff;
    uint32_t number = below(magnitude, 0x7f800001);
    uint32_t exponent, normal;
    magnitude &= number;
    exponent = magnitude >> 23;
    normal = below(0, exponent) & 1;
    *ret_mantissa = (magnitude & 0x7fffff) | normal << 23;
    *ret_exponent = exponent + (normal ^ 1);
}

/* The largest exponent of z, but at least 131: numbers below 32. */
static uint32_t
largest_exponent(const float *z, uint32_t d)
{
    uint32_t largest = 131;
    for (uint32_t i = 0; i < d; i++) {
        uint32_t mantissa, exponent, more;
        take_apart(z[i], &mantissa, &exponent);
        more = below(largest, exponent);
        largest = (largest & ~more) | (exponent & more);
    }
    return largest;
}

/*
 * |value| as an integer below 2^29, in units of 2^(largest - 155): 2^-24 where
 * no number reaches 32, coarser where one does.
 */
static uint64_t
fixed(float value, uint32_t largest)
{
    uint32_t mantissa, exponent, shift;
    take_apart(value, &mantissa, &exponent);
    shift = largest - exponent;
    shift = (shift & below(shift, 63)) | (63 & ~below(shift, 63));
    return ((uint64_t)mantissa << 5) >> shift;
}

/* floor(a / b) for a quotient below 2^21 and b < 2^42, in 21 steps. */
static uint64_t
divide(uint64_t a, uint64_t b)
{
    uint64_t quotient = 0;
    for (uint32_t bit = 21; bit-- > 0;) {
        uint64_t fits = ((a - (b << bit)) >> 63) ^ 1;
        a -= (b << bit) & (0 - fits);
        quotient |= fits << bit;
    }
    return quotient;
}

/*
 * The papers' Eq. 4 on integers: q = l z if |z|_1 <= 1, else l z / |z|_1.
 * With a_i = |z_i| in fixed point, S_i = a_1 + ... + a_i, and m the larger of
 * S_d and 1, let Q_i = round(l S_i / m). Then |q_i| = Q_i - Q_(i-1): each is
 * within 1 of l a_i / m, and they add up to Q_d = round(l S_d / m) <= l,
 * whatever the floats were. Bounds: S_d <= 2^12 2^29, l <= 2^20.
 */
void
domain_lattice(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    uint32_t largest = largest_exponent(z, d);
    uint32_t coarser = largest - 131;
    uint64_t m = (UINT64_C(1) << 24) >> (coarser & 31);
    uint64_t sum = 0, last = 0, more;
    m &= 0 - (uint64_t)(below(coarser, 32) & 1);
    for (uint32_t i = 0; i < d; i++) {
        sum += fixed(z[i], largest);
    }
    more = 0 - ((m - sum) >> 63);
    m = (m & ~more) | (sum & more);
    sum = 0;
    for (uint32_t i = 0; i < d; i++) {
        uint32_t minus = 0 - (bits_of(z[i]) >> 31);
        uint64_t rounded;
        uint32_t size;
        sum += fixed(z[i], largest);
        rounded = divide(2 * sum * l + m, 2 * m);
        size = (uint32_t)(rounded - last);
        last = rounded;
        ret_q[i] = (int32_t)((size ^ minus) - minus);
    }
}

/*
 * The index of the largest of k floats, the first of equals; a NaN is below
 * everything. Bit patterns, with negative ones reversed, sort as integers.
 */
int32_t
domain_largest(const float *z, uint32_t k)
{
    uint64_t best = 0;
    uint32_t index = 0;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t bits = bits_of(z[i]);
        uint32_t number = below(bits & 0x7fffffff, 0x7f800001);
        uint32_t flip = (0 - (bits >> 31)) | 0x80000000;
        uint64_t key = (bits ^ flip) & number;
        uint64_t more = 0 - ((best - key) >> 63);
        best = (best & ~more) | (key & more);
        index = (index & ~(uint32_t)more) | (i & (uint32_t)more);
    }
    return (int32_t)index;
}

/* Each coordinate on a line of its own: q_i = l z_i, or the nearer end. */
void
domain_cube(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    for (uint32_t i = 0; i < d; i++) {
        domain_lattice(z + i, 1, l, ret_q + i);
    }
}

/* floor(sqrt(a)), a < 2^62, in 31 steps. */
static uint64_t
square_root(uint64_t a)
{
    uint64_t root = 0;
    for (uint32_t bit = 31; bit-- > 0;) {
        uint64_t next = root | UINT64_C(1) << bit;
        root |= ((a - next * next) >> 63 ^ 1) << bit;
    }
    return root;
}

/* |z_i| in units of 2^(largest - 151), below 2^25. */
static uint64_t
fixed_25(float value, uint32_t largest)
{
    return fixed(value, largest) >> 4;
}

/*
 * q = l z if |z|_2 <= 1, else l z / |z|_2. With a_i = |z_i| in fixed point and
 * m the larger of 1 and the root of their squares' sum, rounded up, l a_i / m
 * rounded down lies in the ball whatever the floats were: the sum of its
 * squares is at most l^2 (a_1^2 + ...) / m^2 <= l^2. Rounding to nearest is
 * better, and taken where that point lies in the ball too. Bounds: d <= 2^12,
 * so the squares' sum is below 2^62; a q_i is at most l <= 2^20, plus one.
 */
void
domain_ball(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    uint32_t largest = largest_exponent(z, d);
    uint32_t coarser = largest - 131;
    uint64_t m = (UINT64_C(1) << 20) >> (coarser & 31);
    uint64_t sum = 0, root, more, nearest = 0, outside;
    m &= 0 - (uint64_t)(below(coarser, 32) & 1);
    for (uint32_t i = 0; i < d; i++) {
        uint64_t a = fixed_25(z[i], largest);
        sum += a * a;
    }
    root = square_root(sum);
    root += (root * root - sum) >> 63; /* up, if it was not exact */
    more = 0 - ((m - root) >> 63);
    m = (m & ~more) | (root & more);
    for (uint32_t i = 0; i < d; i++) {
        uint64_t up = divide(2 * fixed_25(z[i], largest) * l + m, 2 * m);
        nearest += up * up;
    }
    outside = ((uint64_t)l * l - nearest) >> 63;
    for (uint32_t i = 0; i < d; i++) {
        uint32_t minus = 0 - (bits_of(z[i]) >> 31);
        uint64_t up = m & (outside - 1);
        uint32_t size =
            (uint32_t)divide(2 * fixed_25(z[i], largest) * l + up, 2 * m);
        ret_q[i] = (int32_t)((size ^ minus) - minus);
    }
}

static const struct {
    const char *key;
    domain_function *place;
} domains[] = {
    [CHANNEL_DOMAIN_LATTICE] = {"lattice", domain_lattice},
    [CHANNEL_DOMAIN_SYMBOLS] = {"symbols", NULL},
    [CHANNEL_DOMAIN_BALL] = {"ball", domain_ball},
    [CHANNEL_DOMAIN_CUBE] = {"cube", domain_cube},
};

const char *
domain_key(enum channel_domain domain)
{
    return domains[domain].key;
}

domain_function *
domain_place(enum channel_domain domain)
{
    return domains[domain].place;
}
