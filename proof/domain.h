/*
 * domain.h: what src/report/domain.c promises, for Frama-C's WP.
 *
 * scripts/prove reads domain.c with `float` defined as uint32_t: a number is
 * its bit pattern, any of the 2^32, so that what is proven holds for every
 * float. Each run proves some functions and knows of the rest only what it
 * needs (PROVE_...): provers get lost in what they do not.
 *
 * WP 25 simplifies (x >> k) <= 0 to x <= 0, which is wrong for k > 0. Where a
 * shifted number meets a comparison, `lt` stands for <, which it cannot see
 * through. Axioms about & | ^ ~ << >> and conversions are decided on bit
 * vectors in masks.smt2; the others define sums, powers of two and quotients.
 */
#include "report/domain.h"

#define ONES_32 0xffffffff
#define ONES_64 0xffffffffffffffff

/*@ axiomatic Order {
      predicate lt(integer a, integer b);
      axiom lt_def: \forall integer a, b; lt(a, b) <==> a < b;
    }
    axiomatic Masks {
      axiom wrap_32: \forall integer x; -0x100000000 <= x < 0 ==>
        (uint32_t)x == x + 0x100000000;
      axiom wrap_64: \forall integer x; -0x10000000000000000 <= x < 0 ==>
        (uint64_t)x == x + 0x10000000000000000;
      axiom not_32: \forall integer x; 0 <= x <= ONES_32 ==>
        (uint32_t)(~x) == ONES_32 - x;
      axiom not_64: \forall integer x; 0 <= x <= ONES_64 ==>
        (uint64_t)(~x) == ONES_64 - x;
      axiom cast_ones: \forall integer m; !lt(m, ONES_64) && !lt(ONES_64, m) ==>
        (uint32_t)m == ONES_32;
      axiom sign_32: \forall integer x; 0x80000000 <= x <= ONES_32 ==>
        (int32_t)x == x - 0x100000000;
      axiom and_ones_32a: \forall integer x, m;
        !lt(m, ONES_32) && !lt(ONES_32, m) && 0 <= x <= ONES_32 ==>
        (x & m) == x;
      axiom and_ones_32b: \forall integer x, y;
        !lt(y, ONES_32) && !lt(ONES_32, y) && 0 <= x <= ONES_32 ==>
        (x & y) == x;
      axiom xor_ones_32a: \forall integer x, m;
        !lt(m, ONES_32) && !lt(ONES_32, m) && 0 <= x <= ONES_32 ==>
        (x ^ m) == ONES_32 - x;
      axiom xor_ones_32b: \forall integer x, y;
        !lt(y, ONES_32) && !lt(ONES_32, y) && 0 <= x <= ONES_32 ==>
        (x ^ y) == ONES_32 - x;
      axiom and_ones_64a: \forall integer x, m;
        !lt(m, ONES_64) && !lt(ONES_64, m) && 0 <= x <= ONES_64 ==>
        (x & m) == x;
      axiom and_ones_64b: \forall integer x, y;
        !lt(y, ONES_64) && !lt(ONES_64, y) && 0 <= x <= ONES_64 ==>
        (x & y) == x;
      axiom right_31: \forall integer x; 0 <= x <= ONES_32 ==>
        (x >> 31) * 0x80000000 <= x < (x >> 31) * 0x80000000 + 0x80000000;
      axiom right_63: \forall integer x; 0 <= x <= ONES_64 ==>
        (x >> 63) * 0x8000000000000000 <= x <
        (x >> 63) * 0x8000000000000000 + 0x8000000000000000;
      axiom right: \forall integer x, n; 0 <= x && 0 <= n ==>
        0 <= (x >> n) <= x;
      axiom and_5: \forall integer x; 0 <= x <= ONES_32 ==> 0 <= (x & 31) <= 31;
    }
*/

#ifdef PROVE_FLOATS
/*@ axiomatic Fields {
      axiom and_31: \forall integer x; 0 <= x <= ONES_32 ==>
        0 <= (x & 0x7fffffff) <= 0x7fffffff;
      axiom and_23: \forall integer x; 0 <= x <= ONES_32 ==>
        0 <= (x & 0x7fffff) <= 0x7fffff;
      axiom and_23_most: \forall integer x; 0 <= x <= ONES_32 ==>
        !lt(0x7fffff, x & 0x7fffff);
      axiom or_23a: \forall integer x, m;
        !lt(m, 0x800000) && !lt(0x800000, m) && 0 <= x <= 0x7fffff ==>
        (x | m) == x + 0x800000;
      axiom or_23b: \forall integer x, y;
        !lt(y, 0x800000) && !lt(0x800000, y) && 0 <= x <= 0x7fffff ==>
        (x | y) == x + 0x800000;
      axiom left_5: \forall integer x; 0 <= x <= ONES_32 ==>
        (x << 5) == x * 32;
      axiom left_23: \forall integer x; 0 <= x <= 1 ==>
        (x << 23) == x * 0x800000;
      axiom right_4: \forall integer x; 0 <= x <= ONES_64 ==>
        (x >> 4) * 16 <= x < (x >> 4) * 16 + 16;
      axiom right_23: \forall integer x; 0 <= x <= ONES_32 ==>
        0 <= (x >> 23) * 0x800000 <= x < (x >> 23) * 0x800000 + 0x800000;
    }
    logic integer magnitude(integer p) =
      (p & 0x7fffffff) < 0x7f800001 ? (p & 0x7fffffff) : 0;
    logic integer exponent(integer p) =
      magnitude(p) >= 0x800000 ? magnitude(p) >> 23 : 1;
    logic integer mantissa(integer p) =
      (p & 0x7fffffff) >= 0x7f800001 ? 0
        : (p & 0x7fffffff) >= 0x800000 ? (p & 0x7fffff) + 0x800000
        : p & 0x7fffff;
    lemma mantissa_range: \forall integer p; 0 <= p <= ONES_32 ==>
      0 <= mantissa(p) <= 0xffffff;
    lemma mantissa_normal: \forall integer p; 0 <= p <= ONES_32 ==>
      exponent(p) > 1 ==> 0x800000 <= mantissa(p);
    logic integer shifted(integer p, integer largest) =
      largest - exponent(p) < 63 ? largest - exponent(p) : 63;
    logic integer fixed_of(integer p, integer largest) =
      (mantissa(p) * 32) >> shifted(p, largest);
    logic integer fine(integer p, integer largest) = fixed_of(p, largest) >> 4;
    lemma exponent_range: \forall integer p; 0 <= p <= ONES_32 ==>
      1 <= exponent(p) <= 255;
    lemma fixed_range: \forall integer p, g;
      0 <= p <= ONES_32 && exponent(p) <= g ==>
      0 <= fixed_of(p, g) < 0x20000000;
    lemma fixed_largest: \forall integer p, g;
      0 <= p <= ONES_32 && exponent(p) == g && 1 < g ==>
      0x10000000 <= fixed_of(p, g);
    lemma fine_range: \forall integer p, g;
      0 <= p <= ONES_32 && exponent(p) <= g ==> 0 <= fine(p, g) < 0x2000000;
    lemma fine_largest: \forall integer p, g;
      0 <= p <= ONES_32 && exponent(p) == g && 1 < g ==>
      0x1000000 <= fine(p, g);
*/
#else
/*@ axiomatic Floats {
      logic integer exponent(integer p);
      logic integer mantissa(integer p);
      logic integer fixed_of(integer p, integer largest);
      logic integer fine(integer p, integer largest);
      axiom exponent_range: \forall integer p; 0 <= p <= ONES_32 ==>
        1 <= exponent(p) <= 255;
      axiom fixed_range: \forall integer p, g;
        0 <= p <= ONES_32 && exponent(p) <= g ==>
        0 <= fixed_of(p, g) < 0x20000000;
      axiom fixed_largest: \forall integer p, g;
        0 <= p <= ONES_32 && exponent(p) == g && 1 < g ==>
        0x10000000 <= fixed_of(p, g);
      axiom fine_range: \forall integer p, g;
        0 <= p <= ONES_32 && exponent(p) <= g ==> 0 <= fine(p, g) < 0x2000000;
      axiom fine_largest: \forall integer p, g;
        0 <= p <= ONES_32 && exponent(p) == g && 1 < g ==>
        0x1000000 <= fine(p, g);
    }
*/
#endif

#if defined PROVE_DIVIDE || defined PROVE_ROOT
/*@ axiomatic Power {
      logic integer power(integer n);
      axiom power_0: power(0) == 1;
      axiom power_21: power(21) == 0x200000;
      axiom power_31: power(31) == 0x80000000;
      axiom power_positive: \forall integer n; 0 <= n ==> 1 <= power(n);
      axiom power_next: \forall integer n; 1 <= n ==>
        power(n) == 2 * power(n - 1);
      axiom left: \forall integer x, n; 0 <= x && 0 <= n ==>
        (x << n) == x * power(n);
    }
*/
#else
//@ logic integer power(integer n) = 1 << n;
#endif

/*@ axiomatic Total {
      logic integer total{L}(uint32_t *z, integer n, integer largest)
        reads z[0 .. n - 1];
      axiom total_0{L}: \forall uint32_t *z, integer n, largest; n <= 0 ==>
        total(z, n, largest) == 0;
      axiom total_next{L}: \forall uint32_t *z, integer n, largest; 0 <= n ==>
        total(z, n + 1, largest) ==
        total(z, n, largest) + fixed_of(z[n], largest);
      logic integer norm{L}(int32_t *q, integer n) reads q[0 .. n - 1];
      axiom norm_0{L}: \forall int32_t *q, integer n; n <= 0 ==>
        norm(q, n) == 0;
      axiom norm_next{L}: \forall int32_t *q, integer n; 0 <= n ==>
        norm(q, n + 1) == norm(q, n) + (q[n] < 0 ? -q[n] : q[n]);
      axiom norm_reads{A, B}: \forall int32_t *q, integer n;
        (\forall integer k; 0 <= k < n ==> \at(q[k], A) == \at(q[k], B)) ==>
        norm{A}(q, n) == norm{B}(q, n);
    }
    axiomatic Squares {
      logic integer fine_squared(integer p, integer largest);
      axiom fine_squared_def: \forall integer p, g;
        fine_squared(p, g) == fine(p, g) * fine(p, g);
      predicate within(integer e, integer s, integer l, integer m);
      axiom within_def: \forall integer e, s, l, m;
        within(e, s, l, m) <==> m * m * e <= l * l * s;
      logic integer squares{L}(uint32_t *z, integer n, integer largest)
        reads z[0 .. n - 1];
      axiom squares_0{L}: \forall uint32_t *z, integer n, largest; n <= 0 ==>
        squares(z, n, largest) == 0;
      axiom squares_next{L}: \forall uint32_t *z, integer n, largest; 0 <= n ==>
        squares(z, n + 1, largest) ==
        squares(z, n, largest) + fine_squared(z[n], largest);
      logic integer energy{L}(int32_t *q, integer n) reads q[0 .. n - 1];
      axiom energy_0{L}: \forall int32_t *q, integer n; n <= 0 ==>
        energy(q, n) == 0;
      axiom energy_next{L}: \forall int32_t *q, integer n; 0 <= n ==>
        energy(q, n + 1) == energy(q, n) + q[n] * q[n];
      axiom energy_reads{A, B}: \forall int32_t *q, integer n;
        (\forall integer k; 0 <= k < n ==> \at(q[k], A) == \at(q[k], B)) ==>
        energy{A}(q, n) == energy{B}(q, n);
    }
    axiomatic Share {
      logic integer share(integer x, integer y);
    }
    axiomatic Near {
      logic integer near{L}(uint32_t *z, integer n, integer largest, integer l,
                            integer m) reads z[0 .. n - 1];
      axiom near_0{L}: \forall uint32_t *z, integer n, largest, l, m; n <= 0 ==>
        near(z, n, largest, l, m) == 0;
      axiom near_next{L}: \forall uint32_t *z, integer n, largest, l, m;
        0 <= n ==> near(z, n + 1, largest, l, m) == near(z, n, largest, l, m) +
          share(2 * (fine(z[n], largest) * l) + m, m) *
          share(2 * (fine(z[n], largest) * l) + m, m);
    }
*/
/*@ axiomatic Hints {
      predicate scaled(integer x, integer y, integer k);
      predicate cancelled(integer x, integer y, integer k);
      predicate halved(integer r, integer l, integer m);
      predicate squared(integer x, integer y);
      predicate equalled(integer x, integer y);
      predicate itself(integer x);
      predicate distributed(integer x, integer y, integer z, integer k);
      predicate rooted(integer x, integer y);
      axiom scaled_true: \forall integer x, y, k; scaled(x, y, k);
      axiom cancelled_true: \forall integer x, y, k; cancelled(x, y, k);
      axiom halved_true: \forall integer r, l, m; halved(r, l, m);
      axiom squared_true: \forall integer x, y; squared(x, y);
      axiom equalled_true: \forall integer x, y; equalled(x, y);
      axiom itself_true: \forall integer x; itself(x);
      axiom distributed_true: \forall integer x, y, z, k;
        distributed(x, y, z, k);
      axiom rooted_true: \forall integer x, y; rooted(x, y);
    }
    lemma scaled_fact: \forall integer x, y, k; scaled(x, y, k) ==>
      x <= y && 0 <= k ==> x * k <= y * k;
    lemma cancelled_fact: \forall integer x, y, k; cancelled(x, y, k) ==>
      0 < k && x * k < y * k ==> x < y;
    lemma halved_fact: \forall integer r, l, m; halved(r, l, m) ==>
      0 < m && r * (2 * m) <= 2 * m * l + m ==> r <= l;
    lemma squared_fact: \forall integer x, y; squared(x, y) ==>
      0 <= x <= y ==> x * x <= y * y;
    lemma equalled_fact: \forall integer x, y; equalled(x, y) ==>
      x == y ==> x * x == y * y;
    lemma itself_fact: \forall integer x; itself(x) ==>
      0 <= x ==> x <= x * x;
    lemma distributed_fact: \forall integer x, y, z, k;
      distributed(x, y, z, k) ==> x == y + z ==> x * k == y * k + z * k;
    lemma rooted_fact: \forall integer x, y; rooted(x, y) ==>
      0 <= y && x * x <= y * y ==> x <= y;
*/
#ifdef PROVE_SHARE
/*@ axiomatic Quotient {
      axiom share_def: \forall integer x, y; 0 <= x && 0 < y ==>
        share(x, y) * (2 * y) <= x < (share(x, y) + 1) * (2 * y);
    }
*/
#endif

/*@ assigns \nothing;
    ensures \result == value; */
static uint32_t bits_of(float value);

/*@ requires a < 0x80000000 && b < 0x80000000;
    assigns \nothing;
    ensures lt(a, b) ==> \result == ONES_32;
    ensures !lt(a, b) ==> \result == 0; */
static uint32_t below(uint32_t a, uint32_t b);

/*@ requires \valid(ret_mantissa) && \valid(ret_exponent);
    requires \separated(ret_mantissa, ret_exponent);
    assigns *ret_mantissa, *ret_exponent;
    ensures *ret_mantissa == mantissa(value);
    ensures *ret_exponent == exponent(value); */
static void take_apart(float value, uint32_t *ret_mantissa,
                       uint32_t *ret_exponent);

/*@ requires \valid_read(z + (0 .. d - 1));
    assigns \nothing;
    ensures 131 <= \result <= 255;
    ensures \forall integer k; 0 <= k < d ==> exponent(z[k]) <= \result;
    ensures \result > 131 ==>
      !(\forall integer k; 0 <= k < d ==> exponent(z[k]) < \result); */
static uint32_t largest_exponent(const float *z, uint32_t d);

/*@ requires exponent(value) <= largest <= 255;
    assigns \nothing;
    ensures \result == fixed_of(value, largest); */
static uint64_t fixed(float value, uint32_t largest);

/*@ requires exponent(value) <= largest <= 255;
    assigns \nothing;
    ensures \result == fine(value, largest); */
static uint64_t fixed_25(float value, uint32_t largest);

/*@ requires a < 0x8000000000000000 && b < 0x8000000000000000;
    assigns \nothing;
    ensures a < b ==> \result == 0;
    ensures a >= b ==> \result == 1; */
static uint64_t reaches(uint64_t a, uint64_t b);

/*@ requires which <= 1;
    assigns \nothing;
    ensures which == 0 ==> \result == zero;
    ensures which == 1 ==> \result == one; */
static uint64_t choose(uint64_t which, uint64_t zero, uint64_t one);

/*@ requires 131 <= largest <= 255;
    assigns \nothing;
    ensures \result <= one;
    ensures largest == 131 ==> \result == one; */
static uint64_t scale_one(uint64_t one, uint32_t largest);

/*@ requires size < 0x80000000;
    assigns \nothing;
    ensures \result == size || \result == -size; */
static int32_t with_sign(uint64_t size, float value);

/*@ requires 0 < b < 0x20000000000;
    requires a < b * 0x400000;
    assigns \nothing;
    ensures floor: \result * (2 * b) <= a < (\result + 1) * (2 * b);
    ensures share: \result == share(a, b); */
static uint64_t divide(uint64_t a, uint64_t b);

/*@ requires a < 0x4000000000000000;
    assigns \nothing;
    ensures \result * \result <= a < (\result + 1) * (\result + 1);
    ensures \result < 0x80000000; */
static uint64_t square_root(uint64_t a);

/*@ requires \valid_read(z + (0 .. d - 1)) && \valid(ret_q + (0 .. d - 1));
    requires \separated(z + (0 .. d - 1), ret_q + (0 .. d - 1));
    requires d <= 4096 && 1 <= l <= 0x100000;
    assigns ret_q[0 .. d - 1];
    ensures domain: norm(ret_q, d) <= l;
    ensures \forall integer k; 0 <= k < d ==> -l <= ret_q[k] <= l; */
void domain_lattice(const float *z, uint32_t d, uint32_t l, int32_t *ret_q);

/*@ requires \valid_read(z + (0 .. d - 1)) && \valid(ret_q + (0 .. d - 1));
    requires \separated(z + (0 .. d - 1), ret_q + (0 .. d - 1));
    requires d <= 4096 && 1 <= l <= 0x100000;
    assigns ret_q[0 .. d - 1];
    ensures domain: \forall integer k; 0 <= k < d ==> -l <= ret_q[k] <= l; */
void domain_cube(const float *z, uint32_t d, uint32_t l, int32_t *ret_q);

/*@ requires \valid_read(z + (0 .. d - 1)) && \valid(ret_q + (0 .. d - 1));
    requires \separated(z + (0 .. d - 1), ret_q + (0 .. d - 1));
    requires d <= 4096 && 1 <= l <= 0x100000;
    assigns ret_q[0 .. d - 1];
    ensures domain: energy(ret_q, d) <= l * l; */
void domain_ball(const float *z, uint32_t d, uint32_t l, int32_t *ret_q);

/*@ requires 1 <= k <= 0x7fffffff && \valid_read(z + (0 .. k - 1));
    assigns \nothing;
    ensures domain: 0 <= \result < k; */
int32_t domain_largest(const float *z, uint32_t k);
