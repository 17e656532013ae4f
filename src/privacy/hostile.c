/*
 * hostile.c: records that try to break a mechanism.
 */
#include "privacy/hostile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random/seeded.h"
#include "schema/column.h"

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
        if (schema_kind(column.kind)->bytes) {
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

static struct schema_field
field_of(const struct hostile *hostile, size_t at)
{
    const struct schema_column *column =
        &hostile->mechanism->shape.schema.column[at];
    struct sotto_column_info info;
    sotto_mechanism_column(hostile->mechanism, at, &info);
    return (struct schema_field){.at = at,
                                 .count = column->count,
                                 .low = info.low,
                                 .high = info.high,
                                 .values = column->values,
                                 .room = hostile->bytes[at]};
}

static const struct schema_kind *
kind_of(const struct hostile *hostile, size_t at)
{
    return schema_kind(hostile->mechanism->shape.schema.column[at].kind);
}

static struct sotto_value
make_value(struct hostile *hostile, size_t at, uint32_t kind)
{
    struct schema_field field = field_of(hostile, at);
    return kind_of(hostile, at)->hostile(&field, kind);
}

/* Random from a fresh 64 bits: an end, a kind, or somewhere in the range. */
static struct sotto_value
make_random(struct hostile *hostile, size_t at, uint64_t draw)
{
    struct schema_field field = field_of(hostile, at);
    struct seeded seeded;
    uint32_t kind = (uint32_t)(draw % (HOSTILE_KINDS + 8));
    if (kind < HOSTILE_KINDS) {
        return make_value(hostile, at, kind);
    }
    seeded_init(&seeded, draw, at);
    return kind_of(hostile, at)->draw(&field, &seeded.random);
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
                                ? make_value(hostile, i, (uint32_t)number)
                                : make_random(hostile, i, draw);
    }
    hostile->changed = hostile->columns;
    return hostile->value;
}

/* Remembers a column, which is about to change. */
static void
remember_value(struct hostile *hostile, size_t at,
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
    remember_value(hostile, at, &column);
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
    remember_value(hostile, at, &column);
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
