/*
 * dlaplace.c: the discrete Laplace distribution, exactly and in fixed work.
 *
 * X is 0 with probability (1-r)/(1+r); otherwise it has a fair sign and
 * magnitude 1 + G with P(G = g) = (1-r) r^g. The base-32 digits of a geometric
 * G are independent: digit j has P(i) proportional to (r^(32^j))^i. The
 * highest digit is kept whole, not modulo 32: value `top` means "horizon or
 * beyond", with probability exactly r^horizon. So G below the horizon is
 * drawn digit by digit, each digit one draw from a table:
 *
 *     table 0            zero, plus, minus    S_1 = 2 S_2, S_2 = r/(1+r)
 *     tables 1..n-1      digits 0..n-2        S_i = (R^i - R^32)/(1 - R^32)
 *     table n            digit n-1            S_i = R^i, i = 1..top
 *
 * where R = r^(32^j) for digit j.
 */
#include "random/dlaplace.h"

#include "base/bytes.h"
#include "base/decimal.h"
#include "random/threshold.h"

static void
power_32(struct wide *r)
{
    for (int i = 0; i < 5; i++) {
        wide_multiply(r, r, r);
    }
}

/* Digits and top such that top 32^(groups-1) is the least >= need. */
static void
choose_digits(struct dlaplace *noise, uint64_t need)
{
    uint64_t unit = 1;
    noise->groups = 1;
    while (unit * DLAPLACE_RADIX < need) {
        unit *= DLAPLACE_RADIX;
        noise->groups++;
    }
    noise->top = (uint32_t)((need + unit - 1) / unit);
    noise->horizon = noise->top * unit;
}

/* Writes p at `at` of the table that begins at the end of what is there. */
static void
put(struct dlaplace *noise, uint32_t at, const struct wide *p)
{
    threshold_from(p, &noise->threshold[noise->count + at]);
}

static void
add_sign(struct dlaplace *noise)
{
    struct draw_threshold *minus = &noise->threshold[1];
    struct wide one, sum, p;
    wide_ratio(1, 1, &one);
    wide_add(&one, &noise->r, &sum);
    wide_divide(&noise->r, &sum, &p);
    threshold_from(&p, minus);
    threshold_double(minus, &noise->threshold[0]);
    noise->count = DRAW_SMALL;
}

static void
add_digit(struct dlaplace *noise, const struct wide *digit_r)
{
    struct wide power = *digit_r, last = *digit_r, one, scale, p;
    power_32(&last);
    wide_ratio(1, 1, &one);
    wide_subtract(&one, &last, &scale);
    wide_divide(&one, &scale, &scale);
    for (uint32_t i = 0; i + 1 < DLAPLACE_RADIX; i++) {
        wide_subtract(&power, &last, &p);
        wide_multiply(&p, &scale, &p);
        put(noise, i, &p);
        wide_multiply(&power, digit_r, &power);
    }
    noise->count += DRAW_FULL;
}

static void
add_top_digit(struct dlaplace *noise, const struct wide *digit_r)
{
    struct wide power = *digit_r;
    for (uint32_t i = 0; i < noise->top; i++) {
        put(noise, i, &power);
        wide_multiply(&power, digit_r, &power);
    }
    noise->count += DRAW_FULL;
}

/*
 * 32 t + 2l rounded up, t = sensitivity/eps. Not more: a table that ran much
 * further would end in probabilities that 256 bits cannot tell from zero.
 */
static uint64_t
needed_horizon(uint32_t l, uint64_t sensitivity, uint64_t eps)
{
    uint64_t whole = sensitivity / eps, rest = sensitivity % eps;
    return 32 * whole + (32 * rest + eps - 1) / eps + 2 * (uint64_t)l;
}

void
dlaplace_init_rate(struct dlaplace *noise, const struct wide *rate,
                   uint64_t need)
{
    struct wide one, power, digit_r;
    bytes_clear((uint8_t *)noise->threshold, sizeof noise->threshold);
    choose_digits(noise, need);
    wide_exp(rate, &power);
    wide_ratio(1, 1, &one);
    wide_divide(&one, &power, &noise->r);
    add_sign(noise);
    digit_r = noise->r;
    for (uint32_t j = 0; j + 1 < noise->groups; j++) {
        add_digit(noise, &digit_r);
        power_32(&digit_r);
    }
    add_top_digit(noise, &digit_r);
}

void
dlaplace_init(struct dlaplace *noise, uint32_t l, uint64_t eps)
{
    uint64_t sensitivity = 2 * (uint64_t)l * DECIMAL_UNIT; /* < 2^61 */
    struct wide rate, margin;
    wide_ratio(eps, sensitivity, &rate);
    wide_shift(&rate, 60, &margin);
    wide_subtract(&rate, &margin, &rate);
    dlaplace_init_rate(noise, &rate, needed_horizon(l, sensitivity, eps));
}

size_t
dlaplace_draw_size(const struct dlaplace *noise)
{
    return DRAW_SYMBOL_SIZE * (1 + (size_t)noise->groups);
}

int64_t
dlaplace_draw(const struct dlaplace *noise, struct random *random,
              struct draw_tables *tables)
{
    uint32_t first = DRAW_SMALL;
    uint64_t unit = 1, magnitude = 1, mask, over;
    uint32_t sign = draw_symbol(random, tables, 0, DRAW_SMALL);
    for (uint32_t j = 0; j < noise->groups; j++) {
        magnitude += unit * draw_symbol(random, tables, first, DRAW_FULL);
        first += DRAW_FULL;
        unit *= DLAPLACE_RADIX;
    }
    over = (noise->horizon - magnitude) >> 63; /* 1: beyond the horizon */
    magnitude -= (magnitude - noise->horizon - 1) & (0 - over);
    magnitude &= 0 - (uint64_t)((sign | sign >> 1) & 1);
    mask = 0 - (uint64_t)(sign >> 1);
    return (int64_t)((magnitude ^ mask) - mask);
}
