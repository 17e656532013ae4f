/*
 * decimal_text.c: a double from decimal text, the same in every locale.
 *
 * The text is first taken apart into significant digits, as one integer, and
 * a power of ten. Short numbers, nearly all there are, need one exact
 * multiplication or division. The others go to strtod as "digits e power",
 * a form without a point, which is all in a number that a locale can change.
 */
#include "table/decimal_text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * No point halfway between two doubles has more than 767 significant digits,
 * so of the digits after these it matters only whether any is not zero.
 */
#define DIGITS_MAX 800
/* Beyond any exponent that the digits of a text could make up for. */
#define EXPONENT_MAX ((int64_t)100000000000000000)

struct decimal {
    bool negative;
    bool more; /* a digit that is not zero was left out */
    size_t count;
    int64_t exponent;
    char digits[DIGITS_MAX + 32]; /* room for one more, and the exponent */
};

struct cursor {
    const char *at;
    const char *end;
};

static void
skip_blanks(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t')) {
        c->at++;
    }
}

static bool
take_character(struct cursor *c, char wanted)
{
    bool found = c->at < c->end && *c->at == wanted;
    c->at += found ? 1 : 0;
    return found;
}

static bool
at_digit(const struct cursor *c)
{
    return c->at < c->end && *c->at >= '0' && *c->at <= '9';
}

/* Takes digits, each of which moves the exponent by `step`: 0, or -1 behind the
   point. False: there is none. */
static bool
take_digits(struct cursor *c, struct decimal *d, int step)
{
    bool any = at_digit(c);
    for (; at_digit(c); c->at++) {
        d->exponent += step;
        if (d->count == DIGITS_MAX) {
            d->more |= *c->at != '0';
            d->exponent++;
        } else if (d->count > 0 || *c->at != '0') {
            d->digits[d->count++] = *c->at;
        }
    }
    return any;
}

static bool
take_mantissa(struct cursor *c, struct decimal *d)
{
    bool whole = take_digits(c, d, 0);
    return (take_character(c, '.') && take_digits(c, d, -1)) || whole;
}

static bool
take_exponent(struct cursor *c, struct decimal *d)
{
    if (!take_character(c, 'e') && !take_character(c, 'E')) {
        return true;
    }
    bool negative = !take_character(c, '+') && take_character(c, '-');
    bool any = at_digit(c);
    int64_t exponent = 0;
    for (; at_digit(c); c->at++) {
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (*c->at - '0')
                                           : EXPONENT_MAX;
    }
    d->exponent += negative ? -exponent : exponent;
    return any;
}

/*
 * Both operands are exact doubles, so the one operation rounds once, and right
 * (Clinger 1990): digits below 10^15 < 2^53, 10^22 = 5^22 2^22, 5^22 < 2^53.
 */
static bool
convert_short(const struct decimal *d, double *ret_magnitude)
{
    static const double powers[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int64_t digits = 0;
    if (FLT_EVAL_METHOD != 0 || d->count > 15 || d->exponent < -22 ||
        d->exponent > 22) {
        return false;
    }
    for (size_t i = 0; i < d->count; i++) {
        digits = digits * 10 + (d->digits[i] - '0');
    }
    *ret_magnitude = d->exponent < 0 ? (double)digits / powers[-d->exponent]
                                     : (double)digits * powers[d->exponent];
    return true;
}

static double
convert_long(struct decimal *d)
{
    if (d->count == 0) {
        return 0.0;
    }
    if (d->more) {
        d->digits[d->count++] = '1';
        d->exponent--;
    }
    (void)snprintf(d->digits + d->count, sizeof d->digits - d->count,
                   "e%" PRId64, d->exponent);
    return strtod(d->digits, NULL);
}

bool
decimal_text_parse(const void *text, size_t size, double *ret_number)
{
    if (size == 0) {
        return false;
    }
    struct cursor c = {text, (const char *)text + size};
    struct decimal d;
    double magnitude;
    d.more = false;
    d.count = 0;
    d.exponent = 0;
    skip_blanks(&c);
    d.negative = !take_character(&c, '+') && take_character(&c, '-');
    if (!take_mantissa(&c, &d) || !take_exponent(&c, &d)) {
        return false;
    }
    skip_blanks(&c);
    if (!convert_short(&d, &magnitude)) {
        magnitude = convert_long(&d);
    }
    if (c.at != c.end || !isfinite(magnitude)) {
        return false;
    }
    *ret_number = d.negative ? -magnitude : magnitude;
    return true;
}
