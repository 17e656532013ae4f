/*
 * hostile.c: records that try to break a mechanism.
 */
#include "privacy/hostile.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random/seeded.h"

struct hostile {
    const struct sotto_mechanism *mechanism;
    uint64_t seed;
    size_t columns;
    struct sotto_value *value;
    uint8_t **bytes; /* of each BYTES column, with one to spare; else NULL */
    size_t changed;  /* the column of the last change, and what it was */
    struct sotto_value before;
    uint8_t *bytes_before;
};

struct hostile *
hostile_new(const struct sotto_mechanism *mechanism, uint64_t seed)
{
    struct sotto_mechanism_info info;
    struct hostile *hostile = calloc(1, sizeof *hostile);
    size_t widest = 1;
    bool good = hostile != NULL;
    sotto_mechanism_info(mechanism, &info);
    if (good) {
        hostile->mechanism = mechanism;
        hostile->seed = seed;
        hostile->columns = info.columns;
        hostile->value = calloc(info.columns, sizeof *hostile->value);
        hostile->bytes = calloc(info.columns, sizeof *hostile->bytes);
        good = hostile->value != NULL && hostile->bytes != NULL;
    }
    for (size_t i = 0; good && i < info.columns; i++) {
        struct sotto_column_info column;
        sotto_mechanism_column(mechanism, i, &column);
        if (column.kind == SOTTO_COLUMN_BYTES) {
            hostile->bytes[i] = calloc(column.count + 1, 1);
            good = hostile->bytes[i] != NULL;
            widest = column.count > widest ? column.count : widest;
        }
    }
    if (good) {
        hostile->bytes_before = calloc(widest + 1, 1);
        good = hostile->bytes_before != NULL;
    }
    if (!good) {
        hostile_free(hostile);
        return NULL;
    }
    return hostile;
}

void
hostile_free(struct hostile *hostile)
{
    if (hostile == NULL) {
        return;
    }
    for (size_t i = 0; hostile->bytes != NULL && i < hostile->columns; i++) {
        free(hostile->bytes[i]);
    }
    free(hostile->bytes);
    free(hostile->bytes_before);
    free(hostile->value);
    free(hostile);
}

/* ---- One column ---------------------------------------------------------- */

/* The kinds of numbers; `at` and `kind` alternate between two ends. */
static struct sotto_value
number(const struct sotto_column_info *column, size_t at, uint32_t kind)
{
    double low = column->low, high = column->high;
    double width = high - low;
    double table[HOSTILE_KINDS] = {low,         high,      low / 2 + high / 2,
                                   INFINITY,    -INFINITY, (double)NAN,
                                   DBL_MAX,     -DBL_MAX,  DBL_TRUE_MIN,
                                   -0.0,        1e30,      -1e30,
                                   low,         high,      high + width,
                                   low - width, DBL_MIN,   low + width / 3,
                                   high,        0};
    struct sotto_value value = {.kind = SOTTO_VALUE_NUMBER};
    value.number = table[kind];
    if (kind == 12 || kind == 13) { /* alternating */
        value.number = (at + kind) % 2 == 0 ? low : high;
    }
    if (kind == 18) { /* one at an end, the others in the middle */
        value.number = at == 0 ? high : low / 2 + high / 2;
    }
    if (kind == 19) {
        value.kind = SOTTO_VALUE_MISSING;
    }
    return value;
}

static struct sotto_value
text(const struct sotto_mechanism *mechanism, size_t at, size_t count,
     uint32_t kind)
{
    struct sotto_value value = {.kind = SOTTO_VALUE_TEXT};
    size_t symbol = (kind + (kind == 12 || kind == 13 ? at : 0)) % count;
    if (kind == 19) {
        value.kind = SOTTO_VALUE_MISSING;
    } else if (kind == 5) {
        value.data = NULL;
        value.size = 7; /* a length without a text */
    } else if (symbol + 1 == count) {
        value.data = "\xff unheard of";
        value.size = 12;
    } else {
        value.data = sotto_mechanism_category(mechanism, at, symbol);
        value.size = strlen(value.data);
    }
    return value;
}

static struct sotto_value
samples(uint8_t *bytes, size_t count, uint32_t kind)
{
    struct sotto_value value = {
        .kind = SOTTO_VALUE_BYTES, .data = bytes, .size = count};
    for (size_t i = 0; i < count; i++) {
        switch (kind % 5) {
        case 0:
            bytes[i] = 0;
            break;
        case 1:
            bytes[i] = 255;
            break;
        case 2:
            bytes[i] = i % 2 == 0 ? 255 : 0;
            break;
        default:
            bytes[i] = (uint8_t)(i * kind);
            break;
        }
    }
    if (kind == 5 || kind == 6) {
        value.size = kind == 5 ? count + 1 : count - 1; /* the wrong size */
    }
    if (kind == 19) {
        value.kind = SOTTO_VALUE_MISSING;
    }
    return value;
}

static struct sotto_value
make(struct hostile *hostile, size_t at, uint32_t kind)
{
    struct sotto_column_info column;
    sotto_mechanism_column(hostile->mechanism, at, &column);
    switch (column.kind) {
    case SOTTO_COLUMN_NUMBER:
        return number(&column, at, kind);
    case SOTTO_COLUMN_CATEGORY:
        return text(hostile->mechanism, at, column.count, kind);
    default:
        return samples(hostile->bytes[at], column.count, kind);
    }
}

/* Random from a fresh 64 bits: an end, a kind, or somewhere in the range. */
static struct sotto_value
make_random(struct hostile *hostile, size_t at, uint64_t draw)
{
    struct sotto_column_info column;
    struct sotto_value value;
    struct seeded seeded;
    uint32_t kind = (uint32_t)(draw % (HOSTILE_KINDS + 8));
    sotto_mechanism_column(hostile->mechanism, at, &column);
    value = make(hostile, at, kind % HOSTILE_KINDS);
    seeded_init(&seeded, draw, at);
    if (kind >= HOSTILE_KINDS && column.kind == SOTTO_COLUMN_NUMBER) {
        double share = (double)random_u32(&seeded.random) / 4294967296.0;
        value.kind = SOTTO_VALUE_NUMBER;
        value.number = column.low + share * (column.high - column.low);
    } else if (kind >= HOSTILE_KINDS && column.kind == SOTTO_COLUMN_CATEGORY) {
        uint32_t symbol = random_u32(&seeded.random) % (uint32_t)column.count;
        value = text(hostile->mechanism, at, column.count, symbol);
    } else if (kind >= HOSTILE_KINDS) {
        for (size_t i = 0; i < column.count; i++) {
            hostile->bytes[at][i] = (uint8_t)random_u32(&seeded.random);
        }
        value = (struct sotto_value){SOTTO_VALUE_BYTES, 0, hostile->bytes[at],
                                     column.count};
    }
    return value;
}

/* ---- Records ------------------------------------------------------------- */

const struct sotto_value *
hostile_record(struct hostile *hostile, uint64_t number)
{
    struct seeded seeded;
    seeded_init(&seeded, hostile->seed, number);
    for (size_t i = 0; i < hostile->columns; i++) {
        uint64_t draw = (uint64_t)random_u32(&seeded.random) << 32 |
                        random_u32(&seeded.random);
        hostile->value[i] = number < HOSTILE_KINDS
                                ? make(hostile, i, (uint32_t)number)
                                : make_random(hostile, i, draw);
    }
    hostile->changed = hostile->columns;
    return hostile->value;
}

/* Remembers a column, which is about to change. */
static void
remember(struct hostile *hostile, size_t at,
         const struct sotto_column_info *column)
{
    hostile->changed = at;
    hostile->before = hostile->value[at];
    if (hostile->bytes[at] != NULL) {
        memcpy(hostile->bytes_before, hostile->bytes[at], column->count + 1);
    }
}

const struct sotto_value *
hostile_mutate(struct hostile *hostile, uint64_t draw)
{
    size_t at = (size_t)(draw % hostile->columns);
    struct sotto_column_info column;
    sotto_mechanism_column(hostile->mechanism, at, &column);
    remember(hostile, at, &column);
    hostile->value[at] = make_random(hostile, at, draw / hostile->columns);
    return hostile->value;
}

/* By 2^-1 to 2^-8 of the range; a sample by 1 to 128. */
const struct sotto_value *
hostile_nudge(struct hostile *hostile, uint64_t draw, bool up)
{
    size_t at = (size_t)(draw % hostile->columns);
    uint64_t rest = draw / hostile->columns;
    int power = (int)(rest % 8);
    struct sotto_value *value = &hostile->value[at];
    struct sotto_column_info column;
    sotto_mechanism_column(hostile->mechanism, at, &column);
    remember(hostile, at, &column);
    if (value->kind == SOTTO_VALUE_NUMBER && isfinite(value->number)) {
        double step = ldexp(column.high / 2 - column.low / 2, -power);
        value->number += up ? step : -step;
    } else if (value->kind == SOTTO_VALUE_BYTES) {
        uint8_t *sample = &hostile->bytes[at][rest / 8 % column.count];
        int moved = *sample + (up ? 1 : -1) * (1 << power);
        *sample = (uint8_t)(moved < 0 ? 0 : moved > 255 ? 255 : moved);
    }
    return hostile->value;
}

void
hostile_undo(struct hostile *hostile)
{
    size_t at = hostile->changed;
    struct sotto_column_info column;
    if (at == hostile->columns) {
        return;
    }
    sotto_mechanism_column(hostile->mechanism, at, &column);
    hostile->value[at] = hostile->before;
    if (hostile->bytes[at] != NULL) {
        memcpy(hostile->bytes[at], hostile->bytes_before, column.count + 1);
    }
    hostile->changed = hostile->columns;
}
