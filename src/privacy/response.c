/*
 * response.c: what n k-ary randomised responses cost together, exactly.
 *
 * P_a(S = s) is the coefficient of x^s in (p x + r + q/x)^n. With F(x) =
 * (p x^2 + r x + q)^n, whose coefficient of x^(n+s) it is,
 *
 *     (p x^2 + r x + q) F' = n (2 p x + r) F,
 *
 * and comparing coefficients from the top, s = n - u, gives
 *
 *     (u+1) p f_(u+1) = (2n-u+1) q f_(u-1) + (n-u) r f_u,   f_0 = p^n.
 *
 * For u < n every term is positive: nothing cancels, and rounding each
 * operation up (down) gives an upper (lower) bound of every f. Divided by p,
 * with f_u = a_u, and for P_b, in which p and q are exchanged, f_u = b_u:
 *
 *     (u+1) a_(u+1) = [(2n-u+1) a_(u-1) + (n-u) (k-2) a_u] / e,   a_0 = p^n
 *     (u+1) b_(u+1) = (2n-u+1) e b_(u-1) + (n-u) (k-2) b_u,       b_0 = q^n
 *
 * The first is rounded up and the second down, so that the differences and
 * quotients of their sums are upper bounds. Only s >= 1 matters: events with
 * S <= 0 are no likelier under a than under b.
 */
#include "privacy/response.h"

#include <stdbool.h>

#include "base/decimal.h"
#include "privacy/real.h"

/* The walk down from s = n: after step u, the tails at s = n - u. */
struct walk {
    uint32_t n, k, u;
    struct real exp;            /* e, rounded down */
    struct real a, a_last;      /* a_u and a_(u-1), upper bounds */
    struct real b, b_last;      /* b_u and b_(u-1), lower bounds */
    struct real a_tail, b_tail; /* P_a(S >= s), P_b(S >= s), likewise */
};

static void
walk_init(struct walk *walk, uint64_t eps, uint32_t n, uint32_t k)
{
    struct real high;
    walk->n = n;
    walk->k = k;
    walk->u = 0;
    REAL_INIT(&walk->exp, &walk->a, &walk->a_last, &walk->b, &walk->b_last,
              &walk->a_tail, &walk->b_tail, &high);
    real_exp_down(walk->exp.value, eps);
    real_exp_up(high.value, eps);

    /* p = 1 / (1 + (k-1)/e) up, q = 1 / (e + k-1) down */
    (void)mpfr_ui_div(walk->a.value, k - 1, high.value, MPFR_RNDD);
    (void)mpfr_add_ui(walk->a.value, walk->a.value, 1, MPFR_RNDD);
    (void)mpfr_ui_div(walk->a.value, 1, walk->a.value, MPFR_RNDU);
    (void)mpfr_add_ui(walk->b.value, high.value, k - 1, MPFR_RNDU);
    (void)mpfr_ui_div(walk->b.value, 1, walk->b.value, MPFR_RNDD);
    real_power(walk->a_tail.value, walk->a.value, n, MPFR_RNDU);
    real_power(walk->b_tail.value, walk->b.value, n, MPFR_RNDD);
    (void)mpfr_set(walk->a.value, walk->a_tail.value, MPFR_RNDU);
    (void)mpfr_set(walk->b.value, walk->b_tail.value, MPFR_RNDD);
}

/* last := (2n-u+1) last, here := (n-u) (k-2) here, and then the sum in `last`:
   what both recurrences have in common. */
static void
combine_terms(const struct walk *walk, mpfr_ptr last, mpfr_srcptr here,
              mpfr_rnd_t side)
{
    struct real zero_step;
    REAL_INIT(&zero_step);
    (void)mpfr_mul_ui(zero_step.value, here, walk->k - 2, side);
    (void)mpfr_mul_ui(zero_step.value, zero_step.value, walk->n - walk->u,
                      side);
    (void)mpfr_mul_ui(last, last, 2UL * walk->n - walk->u + 1, side);
    (void)mpfr_add(last, last, zero_step.value, side);
}

/* From s to s - 1; false when s is 1 already. */
static bool
walk_step(struct walk *walk)
{
    mpfr_ptr a = walk->a_last.value, b = walk->b_last.value;
    if (walk->u + 1 >= walk->n) {
        return false;
    }
    combine_terms(walk, a, walk->a.value, MPFR_RNDU);
    (void)mpfr_div(a, a, walk->exp.value, MPFR_RNDU);
    (void)mpfr_div_ui(a, a, walk->u + 1UL, MPFR_RNDU);

    (void)mpfr_mul(b, b, walk->exp.value, MPFR_RNDD);
    combine_terms(walk, b, walk->b.value, MPFR_RNDD);
    (void)mpfr_div_ui(b, b, walk->u + 1UL, MPFR_RNDD);

    mpfr_swap(walk->a.value, walk->a_last.value);
    mpfr_swap(walk->b.value, walk->b_last.value);
    (void)mpfr_add(walk->a_tail.value, walk->a_tail.value, walk->a.value,
                   MPFR_RNDU);
    (void)mpfr_add(walk->b_tail.value, walk->b_tail.value, walk->b.value,
                   MPFR_RNDD);
    walk->u++;
    return true;
}

uint64_t
response_eps(uint64_t eps, uint32_t n, uint32_t k, uint64_t delta)
{
    struct walk walk;
    struct real slack, ratio, most;
    if (delta == 0) {
        return n * eps;
    }
    REAL_INIT(&slack, &ratio, &most);
    real_set_units(slack.value, delta, MPFR_RNDD);
    walk_init(&walk, eps, n, k);
    do {
        (void)mpfr_sub(ratio.value, walk.a_tail.value, slack.value, MPFR_RNDU);
        (void)mpfr_div(ratio.value, ratio.value, walk.b_tail.value, MPFR_RNDU);
        if (mpfr_cmp(ratio.value, most.value) > 0) {
            (void)mpfr_set(most.value, ratio.value, MPFR_RNDU);
        }
    } while (walk_step(&walk));
    return real_log_up(most.value, n * eps);
}

uint64_t
response_delta(uint64_t eps, uint32_t n, uint32_t k, uint64_t total)
{
    struct walk walk;
    struct real factor, gap, most;
    if (total >= n * eps) {
        return 0;
    }
    REAL_INIT(&factor, &gap, &most);
    real_exp_down(factor.value, total);
    walk_init(&walk, eps, n, k);
    do {
        (void)mpfr_mul(gap.value, walk.b_tail.value, factor.value, MPFR_RNDD);
        (void)mpfr_sub(gap.value, walk.a_tail.value, gap.value, MPFR_RNDU);
        if (mpfr_cmp(gap.value, most.value) > 0) {
            (void)mpfr_set(most.value, gap.value, MPFR_RNDU);
        }
    } while (walk_step(&walk));
    uint64_t delta = real_units_up(most.value);
    return delta < DECIMAL_UNIT ? delta : DECIMAL_UNIT; /* rounded up past 1 */
}
