/*
 * decimal_text.c: a double from decimal text, the same in every locale.
 *
 * Nearly every number has at most 19 digits and a small power of ten. Its
 * digits are one 64-bit integer, which one exact operation scales and rounds
 * (convert_quick). Every other text is taken apart digit by digit; what is long
 * goes to strtod as "digits e power", a form without a point, which is all in a
 * number that a locale can change. That way alone reads every text
 * (decimal_text_parse_plain): tests compare the two.
 */
#include "table/decimal_text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * No point halfway between two doubles has more than 767 significant digits,
 * so of the digits after these it matters only whether any is not zero.
 */
#define DIGITS_MAX 800
/* Beyond any exponent that the digits of a text could make up for. */
#define EXPONENT_MAX ((int64_t)100000000000000000)

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

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

/* ---- Any text ---------------------------------------------------------- */

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

/* Reads all of `text`; the magnitude may be infinite. */
static bool
read_text(const void *text, size_t size, bool *ret_negative,
          double *ret_magnitude)
{
    if (size == 0) {
        return false;
    }
    struct cursor c = {text, (const char *)text + size};
    struct decimal d;
    d.more = false;
    d.count = 0;
    d.exponent = 0;
    skip_blanks(&c);
    d.negative = !take_character(&c, '+') && take_character(&c, '-');
    if (!take_mantissa(&c, &d) || !take_exponent(&c, &d)) {
        return false;
    }
    skip_blanks(&c);
    if (c.at != c.end) {
        return false;
    }
    if (!convert_short(&d, ret_magnitude)) {
        *ret_magnitude = convert_long(&d);
    }
    *ret_negative = d.negative;
    return true;
}

bool
decimal_text_parse_plain(const void *text, size_t size, double *ret_number)
{
    double magnitude;
    bool negative;
    if (!read_text(text, size, &negative, &magnitude) || !isfinite(magnitude)) {
        return false;
    }
    *ret_number = negative ? -magnitude : magnitude;
    return true;
}

/* ---- Nearly every number ----------------------------------------------- */

#define QUICK_DIGITS 19  /* of which every number is below 2^64 */
#define QUICK_POWER 27   /* 5^27 < 2^63 */
#define QUICK_EXPONENT 4 /* digits of an exponent */
#define QUICK_SIZE 4096  /* bytes of a text */

/* What a text says: digits 10^power. */
struct quick {
    uint64_t digits;
    int power;
    bool negative;
};

static const uint64_t powers_of_five[QUICK_POWER + 1] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

__extension__ typedef unsigned __int128 wide;

/* 2^exponent, which is far from the ends of a double's range. */
static double
power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* Rounds value 2^exponent, not 0, to 53 bits, ties to even; `rest`: the value
   is a little more than it says. */
static double
round_wide(wide value, bool rest, int exponent)
{
    if (value >> 64 == 0) {
        value <<= 64;
        exponent -= 64;
    }
    int drop = 128 - __builtin_clzll((uint64_t)(value >> 64)) - 54;
    uint64_t top = (uint64_t)(value >> drop); /* 53 bits, and the half */
    uint64_t more = rest || (value & (((wide)1 << drop) - 1)) != 0 ? 1 : 0;
    uint64_t half = top & 1;
    top >>= 1;
    top += half & (more | top);
    return (double)top * power_of_two(exponent + drop + 1);
}

/*
 * digits 10^p = digits 5^p 2^p. For p >= 0 the product of the first two is
 * below 2^127 and exact. For p < 0 the dividend is moved up to 2^127 at least
 * and 5^-p is below 2^63, so the quotient has more than 64 bits: the 54 that
 * decide the rounding, and whether anything is left over.
 */
static double
scale_digits(uint64_t digits, int power)
{
    if (power >= 0) {
        return round_wide((wide)digits * powers_of_five[power], false, power);
    }
    uint64_t five = powers_of_five[-power];
    int shift = 64 + __builtin_clzll(digits);
    wide dividend = (wide)digits << shift;
    wide quotient = dividend / five;
    return round_wide(quotient, quotient * five != dividend, power - shift);
}

/*
 * Both operands are exact doubles where digits are at most 2^53 and the power
 * is at most 22, so the one operation rounds once, and right (Clinger 1990).
 */
static double
convert_quick(const struct quick *q)
{
    double magnitude;
    if (q->digits == 0) {
        magnitude = 0.0;
    } else if (FLT_EVAL_METHOD != 0 || q->digits > UINT64_C(1) << 53 ||
               q->power < -22 || q->power > 22) {
        magnitude = scale_digits(q->digits, q->power);
    } else if (q->power < 0) {
        magnitude = (double)q->digits / powers[-q->power];
    } else {
        magnitude = (double)q->digits * powers[q->power];
    }
    return q->negative ? -magnitude : magnitude;
}

static inline bool
is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EACH(byte) ((uint64_t)(byte)*UINT64_C(0x0101010101010101))

/*
 * Eight digits at once, the first in the lowest byte; false, with `digits` as
 * they were, if one of the bytes is none. In each step the values of neighbours
 * are put together, 1 to 2, 2 to 4, 4 to 8 digits.
 */
static inline bool
add_eight(uint64_t word, uint64_t *digits)
{
    if (((word & EACH(0xf0)) | (((word + EACH(6)) & EACH(0xf0)) >> 4)) !=
        EACH(0x33)) {
        return false;
    }
    word -= EACH('0');
    word = word * 10 + (word >> 8);
    word =
        ((word & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
         ((word >> 16) & UINT64_C(0x000000ff000000ff)) *
             UINT64_C(0x0000271000000001)) >>
        32;
    *digits = *digits * 100000000 + word;
    return true;
}

static inline bool
take_eight(const char *at, uint64_t *digits)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return add_eight(word, digits);
}

/* The `size` (1 to 8) bytes at `text` as one word, without reading others. */
static inline uint64_t
load_word(const char *text, size_t size)
{
    uint32_t first, last;
    if (size < sizeof first) {
        const uint8_t *byte = (const uint8_t *)text;
        return (uint64_t)byte[0] | (uint64_t)byte[size / 2] << 8 * (size / 2) |
               (uint64_t)byte[size - 1] << 8 * (size - 1);
    }
    memcpy(&first, text, sizeof first);
    memcpy(&last, text + size - sizeof last, sizeof last);
    return first | (uint64_t)last << 8 * (size - sizeof last);
}

/* Takes apart up to eight bytes, of which one may be a point and all others are
   digits, with hardly a branch: lengths of numbers cannot be predicted. */
static inline bool
take_short(const char *text, size_t size, struct quick *q)
{
    uint64_t word = load_word(text, size), same = word ^ EACH('.');
    uint64_t points = (same - EACH(1)) & ~same & EACH(0x80);
    if (points != 0) {
        unsigned at = (unsigned)__builtin_ctzll(points) / 8 * 8;
        uint64_t before = (UINT64_C(1) << at) - 1;
        word = (word & before) | (word >> 8 & ~before);
        size--;
        q->power = -(int)(size - at / 8);
    }
    if (size == 0) {
        return false;
    }
    word <<= 64 - 8 * size; /* and digits 0 before the first */
    word |= size < 8 ? EACH('0') >> 8 * size : 0;
    return add_eight(word, &q->digits);
}
#else
static inline bool
take_eight(const char *at, uint64_t *digits)
{
    (void)at;
    (void)digits;
    return false;
}

static inline bool
take_short(const char *text, size_t size, struct quick *q)
{
    (void)text;
    (void)size;
    (void)q;
    return false;
}
#endif

/* Takes digits into `digits`, which wraps around if they are too many. */
static inline const char *
take_run(const char *at, const char *end, uint64_t *digits)
{
    while (end - at >= 8 && take_eight(at, digits)) {
        at += 8;
    }
    for (; at < end && is_digit(*at); at++) {
        *digits = *digits * 10 + (uint64_t)(*at - '0');
    }
    return at;
}

/* How many of the digits in [at, end), perhaps with a point among them, count:
   those from the first that is not 0 on. */
static size_t
count_digits(const char *at, const char *end, bool point)
{
    for (; at < end && (*at == '0' || *at == '.'); at++) {
        point = point && *at != '.';
    }
    return (size_t)(end - at) - (point ? 1 : 0);
}

/* The power that "e5" or "E-12" says, all that is left of the text. */
static bool
take_power(const char *at, const char *end, int *power)
{
    int said = 0;
    if (*at != 'e' && *at != 'E') {
        return false;
    }
    at++;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+') ? 1 : 0;
    if (at == end || end - at > QUICK_EXPONENT) {
        return false;
    }
    for (; at < end && is_digit(*at); at++) {
        said = said * 10 + (*at - '0');
    }
    *power += negative ? -said : said;
    return at == end;
}

/* Takes apart a number without blanks around it; false: too long for this, or
   not a number. */
static inline bool
take_quick(const char *at, const char *end, struct quick *q)
{
    q->digits = 0;
    q->power = 0;
    q->negative = *at == '-';
    at += *at == '-' || *at == '+' ? 1 : 0;
    if (end - at <= 8 && at < end && take_short(at, (size_t)(end - at), q)) {
        return true;
    }
    q->digits = 0;
    q->power = 0;

    const char *first = at;
    at = take_run(at, end, &q->digits);
    size_t count = (size_t)(at - first);
    bool point = at < end && *at == '.';
    if (point) {
        const char *behind = at + 1;
        at = take_run(behind, end, &q->digits);
        q->power = -(int)(at - behind);
        count += (size_t)(at - behind);
    }
    if (count == 0 || (count > QUICK_DIGITS &&
                       count_digits(first, at, point) > QUICK_DIGITS)) {
        return false;
    }
    return (at == end || take_power(at, end, &q->power)) &&
           q->power >= -QUICK_POWER && q->power <= QUICK_POWER;
}

static inline bool
read_quick(const void *text, size_t size, double *ret_number)
{
    const char *at = text;
    struct quick q;
    if (size == 0 || size > QUICK_SIZE || !take_quick(at, at + size, &q)) {
        return false;
    }
    *ret_number = convert_quick(&q);
    return true;
}

bool
decimal_text_parse(const void *text, size_t size, double *ret_number)
{
    return read_quick(text, size, ret_number) ||
           decimal_text_parse_plain(text, size, ret_number);
}

bool
decimal_text_clamp(const void *text, size_t size, double *ret_number)
{
    double magnitude;
    bool negative;
    if (read_quick(text, size, ret_number)) {
        return true;
    }
    if (!read_text(text, size, &negative, &magnitude)) {
        return false;
    }
    magnitude = fmin(magnitude, DBL_MAX);
    *ret_number = negative ? -magnitude : magnitude;
    return true;
}
