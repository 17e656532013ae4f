/*
 * schema.c: from a record's values to the encoder's input and the symbols.
 *
 * Total on content (invariant 4): what is missing or does not fit becomes 0
 * in x, which is the middle of a number's range, and the last symbol, which
 * every category column declares for it, or where it tells what is missing from
 * what is unknown, the one before. Whichever it is, the steps are the
 * same, and no number on the way is subnormal (flush.h).
 */
#include "encode/encode.h"

#include "base/maths.h"
#include "encode/flush.h"

static const uint8_t nothing[1] = {0};

#define INFINITE (UINT64_C(0x7ff) << 52) /* above it lie the NaNs */
#define ONE UINT32_C(0x3f800000)         /* 1.0f */
#define NANS UINT32_C(0x7f800001)        /* and above, of a float's size */

/* x of a value, or 0 where it is not `usable`, which is 1 or 0. */
static float
scaled(const struct encode_plan *plan, uint32_t column, double value,
       uint32_t usable)
{
    double x = (flush_below(value, FLUSH_COLUMN_LEAST) - plan->shift[column]) *
               plan->scale[column];
    union {
        float value;
        uint32_t bits;
    } u = {(float)flush_below(x, (double)FLUSH_LEAST)};
    u.bits &= 0 - usable;
    return u.value;
}

/* x, or 1 of its sign if it is beyond that; 0 for a NaN, whose sign is the
   processor's. */
static float
clipped(float x)
{
    union {
        float value;
        uint32_t bits;
    } u = {x};
    uint32_t size = u.bits & (UINT32_MAX >> 1);
    uint32_t beyond = 0 - ((ONE - size) >> 31);
    uint32_t number = 0 - ((size - NANS) >> 31);
    u.bits ^= (size ^ ONE) & beyond;
    u.bits &= number;
    return u.value;
}

/* 1 if the value is a finite number, which is in *ret_number then; else 0. What
   is given is volatile because clang would jump over what nobody gave. */
static uint32_t
find_number(const struct sotto_value *value, double *ret_number)
{
    volatile uint64_t hidden = value->kind == SOTTO_VALUE_NUMBER;
    uint64_t given = hidden;
    union {
        double value;
        uint64_t bits;
    } u = {value->number};
    uint64_t finite = ((u.bits & (UINT64_MAX >> 1)) - INFINITE) >> 63;
    u.bits &= 0 - given;
    *ret_number = u.value;
    return (uint32_t)(given & finite);
}

static void
apply_number(const struct encode_plan *plan, uint32_t at,
             const struct sotto_value *value, float *x)
{
    double number;
    uint32_t usable = find_number(value, &number);
    if (plan->column[at].log) {
        number = maths_log_signed(flush_below(number, FLUSH_COLUMN_LEAST));
    }
    x[0] = scaled(plan, at, number, usable);
    if (plan->column[at].clip) {
        x[0] = clipped(x[0]);
    }
    if (plan->column[at].missing) {
        x[1] = (float)(1 ^ usable);
    }
}

/* The symbol is how many edges do not lie above the number, in whatever order
   a file has them; the last one for anything else. All edges are looked at. */
static void
apply_bins(struct encode_plan *plan, uint32_t at,
           const struct sotto_value *value)
{
    const struct encode_column *column = &plan->column[at];
    double number;
    uint32_t usable = find_number(value, &number), symbol = 0;
    number = flush_below(number, FLUSH_COLUMN_LEAST);
    for (uint32_t i = 0; i + 2 < column->count; i++) {
        symbol += (uint32_t)(column->edge[i] <= number);
    }
    symbol ^= (symbol ^ (column->count - 1)) & (usable - 1);
    plan->symbol[at] = (int32_t)symbol;
}

static void
apply_bytes(const struct encode_plan *plan, uint32_t at,
            const struct sotto_value *value, float *x)
{
    uint32_t count = plan->column[at].count;
    bool fits = value->kind == SOTTO_VALUE_BYTES && value->data != NULL &&
                value->size == count;
    const uint8_t *data = fits ? (const uint8_t *)value->data : nothing;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = scaled(plan, at, data[i & (0 - (uint32_t)fits)], fits);
    }
}

static uint32_t
text_length(const uint8_t *text)
{
    uint32_t length = 0;
    while (text[length] != 0) {
        length++;
    }
    return length;
}

/* 1 if the `size` bytes at `data`, where there is at least one, are this text,
   in steps that depend on the text alone. */
static uint32_t
is_text(const uint8_t *text, uint32_t length, const uint8_t *data,
        uint64_t size)
{
    uint64_t difference = size ^ length;
    for (uint64_t i = 0; i < length; i++) {
        uint64_t inside = 0 - ((i - size) >> 63);
        difference |= (uint64_t)(text[i] ^ data[i & inside]);
    }
    return (uint32_t)((difference - 1) >> 63);
}

/*
 * The symbol of a category; the last one for anything unknown. All categories
 * are looked at, whichever it is: this may be all that stands before a
 * channel, so its steps do not depend on the record either.
 */
static uint32_t
find_symbol(const struct encode_column *column, const struct sotto_value *value)
{
    const uint8_t *text = column->text + text_length(column->text) + 1;
    bool given = value->kind == SOTTO_VALUE_TEXT && value->data != NULL;
    uint64_t size = given ? value->size : 0;
    const uint8_t *data = size > 0 ? (const uint8_t *)value->data : nothing;
    uint32_t symbol = column->count - 1 - (column->missing & !given);
    for (uint32_t i = 0; i + 1 < column->count; i++) {
        uint32_t length = text_length(text);
        uint32_t found = given & is_text(text, length, data, size);
        symbol ^= (symbol ^ i) & (0 - found);
        text += length + 1;
    }
    return symbol;
}

static void
apply_category(struct encode_plan *plan, uint32_t at,
               const struct sotto_value *value, float *x)
{
    const struct encode_column *column = &plan->column[at];
    uint32_t symbol = find_symbol(column, value);
    plan->symbol[at] = (int32_t)symbol;
    for (uint32_t i = 0; i < column->inputs; i++) {
        x[i] = i == symbol ? 1 : 0;
    }
}

void
schema_apply(struct encode_plan *plan, const struct sotto_value *values)
{
    float *x = plan->x;
    for (uint32_t i = 0; i < plan->columns; i++) {
        switch (plan->column[i].kind) {
        case ENCODE_COLUMN_BYTES:
            apply_bytes(plan, i, &values[i], x);
            break;
        case ENCODE_COLUMN_CATEGORY:
            apply_category(plan, i, &values[i], x);
            break;
        case ENCODE_COLUMN_BINS:
            apply_bins(plan, i, &values[i]);
            break;
        default:
            apply_number(plan, i, &values[i], x);
            break;
        }
        x += plan->column[i].inputs;
    }
}
