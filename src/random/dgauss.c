/*
 * dgauss.c: the discrete Gaussian distribution, in fixed work.
 *
 * Y is drawn from the discrete Laplace with P(Y = y) proportional to
 * e^(-|y|/sigma), and accepted with probability
 *
 *     e^(-(|Y|/sigma - 1)^2 / 2) = e^(-W / 2t^2),   W = (256 |Y| - t)^2.
 *
 * Together that is proportional to e^(-Y^2 / 2 sigma^2). W is an integer, and
 * e^(-W/2t^2) is a product over its base-32 digits: digit j of value i passes
 * a coin of probability R^i, R = e^(-32^j / 2t^2). So one coin a digit, each
 * with a threshold from a table of 32, all of them flipped whatever the others
 * show, and Y is accepted if all pass:
 *
 *     table j     S_i = R^i, i = 1..31
 */
#include "random/dgauss.h"

#include "base/bytes.h"
#include "base/maths.h"
#include "base/wide.h"
#include "random/threshold.h"

#define LN_2_82 56.84 /* > 82 ln 2 */
#define ROOT_2_PI 2.5066282746310002
#define E_MINUS_HALF 0.60653065971263342

/* 256 (h+1), the largest root of a W, has fewer than 32 bits. */
static uint32_t
digits_of(uint64_t horizon)
{
    uint64_t largest = DGAUSS_UNIT * (horizon + 1);
    uint32_t digits = 0;
    for (uint64_t rest = largest * largest; rest > 0; rest /= DRAW_FULL) {
        digits++;
    }
    return digits;
}

/*
 * The table of one digit, R = *power; leaves R^32 there. 1/R was a lower bound
 * at the start, and each product rounds down: every S is within 2^-249 of its
 * real value. Those below 2^-256 come out as zero.
 */
static void
add_digit(struct draw_threshold *table, struct wide *power)
{
    struct wide r = *power;
    for (uint32_t i = 0; i + 1 < DRAW_FULL; i++) {
        threshold_from(power, &table[i]);
        wide_multiply(power, &r, power);
    }
}

static void
add_acceptance(struct dgauss *noise)
{
    uint64_t square = (uint64_t)noise->t * noise->t;
    struct wide x, one, power;
    wide_ratio(1, 2 * square, &x);
    wide_exp(&x, &power);
    wide_ratio(1, 1, &one);
    wide_divide(&one, &power, &power);
    for (uint32_t j = 0; j < noise->digits; j++) {
        add_digit(noise->threshold + (size_t)j * DRAW_FULL, &power);
    }
}

/*
 * An attempt is accepted with probability (1-r)/(1+r) e^(-1/2) Z, where
 * r = e^(-1/sigma) and Z, the sum of e^(-x^2 / 2 sigma^2) over all integers,
 * is above both its terms at -1, 0 and 1 and (Poisson's formula) the integral,
 * sigma sqrt(2 pi). 0.557 to 0.761; 2^-20 is left for what doubles drop.
 */
static double
least_accepted(const struct dgauss *noise)
{
    double sigma = (double)noise->t / DGAUSS_UNIT;
    double r = wide_double(&noise->noise.r);
    double terms = 1 + 2 * maths_exp(-1 / (2 * sigma * sigma));
    double integral = sigma * ROOT_2_PI;
    return (1 - r) / (1 + r) * E_MINUS_HALF * (1 - 0x1p-20) *
           (terms > integral ? terms : integral);
}

void
dgauss_init(struct dgauss *noise, uint32_t t, uint64_t need)
{
    struct wide rate;
    bytes_clear((uint8_t *)noise->threshold, sizeof noise->threshold);
    noise->t = t;
    wide_ratio(DGAUSS_UNIT, t, &rate);
    dlaplace_init_rate(&noise->noise, &rate, need);
    noise->digits = digits_of(noise->noise.horizon);
    noise->accepted = least_accepted(noise);
    add_acceptance(noise);
}

/*
 * Chernoff: of n attempts, fewer than `count` <= np are accepted with
 * probability at most e^(-n D), D = a ln(a/p) + (1-a) ln((1-a)/(1-p)) with
 * a = (count-1)/n.
 */
uint32_t
dgauss_tries(const struct dgauss *noise, uint32_t count)
{
    double p = noise->accepted, few = count - 1, n = 0, exponent = 0;
    uint32_t tries = count;
    while (exponent < LN_2_82) {
        n = (double)++tries;
        if (few < n * p) {
            exponent = (n - few) * maths_log((n - few) / (n * (1 - p)));
            exponent += few > 0 ? few * maths_log(few / (n * p)) : 0;
        }
    }
    return tries;
}

uint32_t
dgauss_draw_size(const struct dgauss *noise, uint32_t tries)
{
    uint32_t batches = (tries + DRAW_BATCH - 1) / DRAW_BATCH;
    uint32_t each = (uint32_t)dlaplace_draw_size(&noise->noise) +
                    noise->digits * DRAW_SYMBOL_SIZE;
    return 2 * batches * DRAW_TABLES_SIZE + tries * each;
}

/* Attempts of one run, on their way. */
struct run {
    const struct dgauss *noise;
    uint32_t made;
    int64_t *x;
    struct draw_tables proposal, acceptance;
};

static uint32_t
accept(struct run *run, struct random *random, int64_t y)
{
    const struct dgauss *noise = run->noise;
    uint64_t sign = 0 - ((uint64_t)y >> 63);
    uint64_t magnitude = ((uint64_t)y ^ sign) - sign;
    uint64_t root = DGAUSS_UNIT * magnitude - noise->t; /* or minus it */
    uint64_t rest = root * root;
    uint32_t kept = 1 ^ (uint32_t)((noise->noise.horizon - magnitude) >> 63);
    for (uint32_t j = 0; j < noise->digits; j++) {
        kept &= draw_under(random, &run->acceptance, j * DRAW_FULL,
                           (uint32_t)(rest % DRAW_FULL));
        rest /= DRAW_FULL;
    }
    return kept;
}

static uint32_t
attempt(struct random *random, void *context, uint32_t place)
{
    struct run *run = (struct run *)context;
    const struct dgauss *noise = run->noise;
    if (run->made++ % DRAW_BATCH == 0) {
        draw_tables(random, noise->noise.threshold, noise->noise.count,
                    &run->proposal);
        draw_tables(random, noise->threshold, noise->digits * DRAW_FULL,
                    &run->acceptance);
    }
    run->x[place] = dlaplace_draw(&noise->noise, random, &run->proposal);
    return accept(run, random, run->x[place]);
}

void
dgauss_draw(const struct dgauss *noise, struct random *random, uint32_t count,
            uint32_t tries, int64_t *ret_x)
{
    struct run run;
    for (uint32_t i = 0; i <= count; i++) {
        ret_x[i] = 0; /* if attempts fail, nothing from the stack gets out */
    }
    run.noise = noise;
    run.made = 0;
    run.x = ret_x;
    draw_accepted(random, attempt, &run, count, tries);
}
