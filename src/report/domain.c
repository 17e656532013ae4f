/*
 * domain.c: from the encoder's floats into a public finite domain.
 *
 * Floats are taken apart as bit patterns and the rest is integers, so that no
 * NaN, infinity, denormal or rounding can place a point outside the domain
 * (invariant 1), and no branch depends on one (invariant 7). That holds for
 * every bit pattern: the comments that begin with @ are what a machine proves,
 * by proof/domain.h (docs/proofs.md).
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
    /*@ loop invariant 0 <= i <= d && 131 <= largest <= 255;
        loop invariant \forall integer k; 0 <= k < i ==>
            exponent(z[k]) <= largest;
        loop invariant largest > 131 ==>
            !(\forall integer k; 0 <= k < i ==> exponent(z[k]) < largest);
        loop assigns i, largest;
        loop variant d - i; */
    for (uint32_t i = 0; i < d; i++) {
        uint32_t mantissa, exponent, more;
        take_apart(z[i], &mantissa, &exponent);
        more = below(largest, exponent);
        largest = (largest & ~more) | (exponent & more);
        /*@ assert largest == (\at(largest, LoopCurrent) < exponent
                ? exponent : \at(largest, LoopCurrent)); */
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

/* 1 if a >= b, else 0, for a and b below 2^63. */
static uint64_t
reaches(uint64_t a, uint64_t b)
{
    return ((a - b) >> 63) ^ 1;
}

static uint64_t
choose(uint64_t which, uint64_t zero, uint64_t one)
{
    return (zero & (which - 1)) | (one & (0 - which));
}

/* 1 in the units of fixed(): `one` where no number reaches 32. */
static uint64_t
scale_one(uint64_t one, uint32_t largest)
{
    uint32_t coarser = largest - 131;
    uint32_t shift = coarser & 31;
    return choose(below(coarser, 32) & 1, 0, one >> shift);
}

/* The size with the sign of a float. */
static int32_t
with_sign(uint64_t size, float value)
{
    uint32_t minus = 0 - (bits_of(value) >> 31);
    return (int32_t)(((uint32_t)size ^ minus) - minus);
}

/* floor(a / 2b) for a quotient below 2^21 and b < 2^41, in 21 steps. */
static uint64_t
divide(uint64_t a, uint64_t b)
{
    uint64_t quotient = 0;
    /*@ loop invariant bit <= 21 && quotient + power(bit) <= 0x200000;
        loop invariant quotient * (2 * b) + a == \at(a, Pre);
        loop invariant a < 2 * b * power(bit);
        loop assigns bit, a, quotient;
        loop variant bit; */
    for (uint32_t bit = 21; bit-- > 0;) {
        uint64_t part = b << (bit + 1);
        //@ assert part == 2 * b * power(bit) < 0x4000000000000000;
        uint64_t fits = reaches(a, part);
        a -= choose(fits, 0, part);
        quotient += fits << bit;
        /*@ assert quotient == \at(quotient, LoopCurrent) +
                (fits == 0 ? 0 : power(bit)); */
        //@ assert distributed(quotient, \at(quotient, LoopCurrent), 0, b);
        /*@ assert distributed(quotient, \at(quotient, LoopCurrent),
                power(bit), b); */
    }
    /*@ assert cancelled(quotient, share(\at(a, Pre), b) + 1, 2 * b) &&
            cancelled(share(\at(a, Pre), b), quotient + 1, 2 * b); */
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
    uint64_t m = scale_one(UINT64_C(1) << 24, largest);
    uint64_t sum = 0, last = 0;
    /*@ loop invariant 0 <= i <= d && sum == total(z, i, largest);
        loop invariant sum <= i * 0x1fffffff;
        loop invariant \forall integer k; 0 <= k < i ==>
            fixed_of(z[k], largest) <= sum;
        loop invariant \forall integer k; 0 <= k <= i ==>
            total(z, k, largest) <= sum;
        loop assigns i, sum;
        loop variant d - i; */
    for (uint32_t i = 0; i < d; i++) {
        sum += fixed(z[i], largest);
    }
    //@ assert m == 0 ==> 0 < sum;
    m = choose(reaches(m, sum), sum, m);
    //@ assert 0 < m <= 0x1ffffffffff && total(z, d, largest) <= m;
    sum = 0;
    /*@ loop invariant 0 <= i <= d && sum == total(z, i, largest);
        loop invariant last <= l && last * (2 * m) <= 2 * sum * l + m;
        loop invariant norm(ret_q, i) == last;
        loop invariant \forall integer k; 0 <= k < i ==>
            -l <= ret_q[k] <= l;
        loop assigns i, sum, last, ret_q[0 .. d - 1];
        loop variant d - i; */
    for (uint32_t i = 0; i < d; i++) {
        uint64_t share, rounded;
        sum += fixed(z[i], largest);
        share = 2 * (sum * l) + m;
        //@ assert sum <= m && scaled(sum, m, l) && scaled(l, 0x100000, m);
        //@ assert sum * l <= m * l <= m * 0x100000 && scaled(0, sum, l);
        //@ assert 0 <= sum * l <= 0x1ffffffffff00000;
        //@ assert share == 2 * (sum * l) + m;
        //@ assert share < m * 0x400000;
        rounded = divide(share, m);
        //@ assert rounded * (2 * m) <= 2 * m * l + m && halved(rounded, l, m);
        //@ assert scaled(\at(sum, LoopCurrent), sum, l);
        //@ assert last * (2 * m) < (rounded + 1) * (2 * m);
        //@ assert cancelled(last, rounded + 1, 2 * m);
        //@ assert last <= rounded <= l;
        ret_q[i] = with_sign(rounded - last, z[i]);
        //@ assert norm(ret_q, i) == last;
        last = rounded;
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
    /*@ loop invariant 0 <= i <= k && index < k && best <= 0xffffffff;
        loop assigns i, best, index;
        loop variant k - i; */
    for (uint32_t i = 0; i < k; i++) {
        uint32_t bits = bits_of(z[i]);
        uint32_t number = below(bits & 0x7fffffff, 0x7f800001);
        uint32_t flip = (0 - (bits >> 31)) | 0x80000000;
        uint64_t key = (bits ^ flip) & number;
        uint64_t more = 1 - reaches(best, key);
        best = choose(more, best, key);
        index = (uint32_t)choose(more, index, i);
    }
    return (int32_t)index;
}

/* Each coordinate on a line of its own: q_i = l z_i, or the nearer end. */
void
domain_cube(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    /*@ loop invariant 0 <= i <= d;
        loop invariant \forall integer k; 0 <= k < i ==>
            -l <= ret_q[k] <= l;
        loop assigns i, ret_q[0 .. d - 1];
        loop variant d - i; */
    for (uint32_t i = 0; i < d; i++) {
        domain_lattice(z + i, 1, l, ret_q + i);
    }
}

/* floor(sqrt(a)), a < 2^62, in 31 steps. */
static uint64_t
square_root(uint64_t a)
{
    uint64_t root = 0;
    /*@ loop invariant bit <= 31 && root + power(bit) <= 0x80000000;
        loop invariant root * root <= a &&
            a < (root + power(bit)) * (root + power(bit));
        loop assigns bit, root;
        loop variant bit; */
    for (uint32_t bit = 31; bit-- > 0;) {
        uint64_t next = root + (UINT64_C(1) << bit);
        uint64_t square = next * next;
        //@ assert next == root + power(bit) <= 0x80000000;
        //@ assert square == next * next <= 0x4000000000000000;
        //@ assert a < (next + power(bit)) * (next + power(bit));
        root = choose(reaches(a, square), root, next);
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
    uint64_t m = scale_one(UINT64_C(1) << 20, largest);
    uint64_t sum = 0, low, root, nearest = 0, outside;
    /*@ loop invariant 0 <= i <= d && sum == squares(z, i, largest);
        loop invariant sum <= i * 0x3fffffc000001;
        loop invariant \forall integer k; 0 <= k < i ==>
            fine(z[k], largest) <= sum;
        loop invariant \forall integer k; 0 <= k < i ==>
            fine_squared(z[k], largest) <= sum;
        loop assigns i, sum;
        loop variant d - i; */
    for (uint32_t i = 0; i < d; i++) {
        uint64_t a = fixed_25(z[i], largest);
        //@ assert squared(0, a) && squared(a, 0x1ffffff) && itself(a);
        sum += a * a;
        //@ assert sum == \at(sum, LoopCurrent) + a * a;
    }
    //@ assert m == 0 ==> 0 < sum;
    low = square_root(sum);
    root = low + 1 - reaches(low * low, sum); /* up, if it is not exact */
    //@ assert equalled(root, low) && equalled(root, low + 1);
    //@ assert sum <= root * root && root <= 0x80000000;
    m = choose(reaches(m, root), root, m);
    //@ assert squared(root, m) && squared(1, m) && equalled(m, root);
    //@ assert 0 < m <= 0x80000000 && sum <= m * m && 1 <= m * m;
    /*@ loop invariant 0 <= i <= d && nearest <= i * 0x10000000000;
        loop invariant nearest == near(z, i, largest, l, m);
        loop assigns i, nearest;
        loop variant d - i; */
    for (uint32_t i = 0; i < d; i++) {
        uint64_t a = fixed_25(z[i], largest);
        //@ assert rooted(a, m) && a <= m;
        //@ assert scaled(a, m, l) && scaled(l, 0x100000, m) && scaled(0, a, l);
        //@ assert 0 <= a * l <= m * l <= m * 0x100000;
        uint64_t up = divide(2 * (a * l) + m, m);
        //@ assert halved(up, l, m) && squared(0, up) && squared(up, 0x100000);
        //@ assert up == share(2 * (a * l) + m, m);
        //@ assert equalled(up, share(2 * (a * l) + m, m));
        nearest += up * up;
        //@ assert nearest == \at(nearest, LoopCurrent) + up * up;
    }
    //@ assert squared(0, l) && squared(l, 0x100000);
    outside = 1 - reaches((uint64_t)l * l, nearest);
    //@ assert outside == (l * l < nearest ? 1 : 0);
    //@ assert distributed(energy(ret_q, 0), 0, 0, m * m);
    //@ assert distributed(squares(z, 0, largest), 0, 0, l * l);
    /*@ loop invariant 0 <= i <= d;
        loop invariant outside == 0 ==>
            energy(ret_q, i) == near(z, i, largest, l, m);
        loop invariant outside == 1 ==>
            within(energy(ret_q, i), squares(z, i, largest), l, m);
        loop assigns i, ret_q[0 .. d - 1];
        loop variant d - i; */
    for (uint32_t i = 0; i < d; i++) {
        uint64_t a = fixed_25(z[i], largest);
        //@ assert rooted(a, m) && a <= m;
        //@ assert scaled(a, m, l) && scaled(l, 0x100000, m) && scaled(0, a, l);
        //@ assert 0 <= a * l <= m * l <= m * 0x100000;
        uint64_t size = divide(2 * (a * l) + choose(outside, m, 0), m);
        //@ assert halved(size, l, m) && size <= l;
        //@ assert outside == 0 ==> size == share(2 * (a * l) + m, m);
        //@ assert equalled(size, share(2 * (a * l) + m, m));
        //@ assert outside == 1 ==> size * m <= a * l;
        //@ assert scaled(0, size, m) && squared(size * m, a * l);
        //@ assert outside == 1 ==> m * m * size * size <= l * l * a * a;
        ret_q[i] = with_sign(size, z[i]);
        //@ assert equalled(ret_q[i], size) && equalled(-ret_q[i], size);
        //@ assert energy(ret_q, i) == \at(energy(ret_q, i), LoopCurrent);
        //@ assert energy(ret_q, i + 1) == energy(ret_q, i) + size * size;
        /*@ assert distributed(energy(ret_q, i + 1), energy(ret_q, i),
                size * size, m * m); */
        /*@ assert distributed(squares(z, i + 1, largest),
                squares(z, i, largest), a * a, l * l); */
        /*@ assert m * m * energy(ret_q, i + 1) ==
                m * m * energy(ret_q, i) + m * m * size * size; */
        /*@ assert l * l * squares(z, i + 1, largest) ==
                l * l * squares(z, i, largest) + l * l * a * a; */
        /*@ assert distributed(energy(ret_q, i),
                \at(energy(ret_q, i), LoopCurrent), 0, m * m); */
        /*@ assert outside == 1 ==>
                m * m * energy(ret_q, i) <= l * l * squares(z, i, largest); */
        /*@ assert outside == 1 ==> within(energy(ret_q, i + 1),
                squares(z, i + 1, largest), l, m); */
        //@ assert (uint32_t)(i + 1) == i + 1;
        /*@ assert outside == 1 ==> within(energy(ret_q, (uint32_t)(i + 1)),
                squares(z, (uint32_t)(i + 1), largest), l, m); */
    }
    //@ assert scaled(sum, m * m, l * l) && l * l * sum <= l * l * m * m;
    //@ assert outside == 1 ==> within(energy(ret_q, d), sum, l, m);
    //@ assert outside == 1 ==> m * m * energy(ret_q, d) <= l * l * m * m;
    //@ assert cancelled(energy(ret_q, d), l * l + 1, m * m);
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
