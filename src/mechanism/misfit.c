/*
 * misfit.c: how the values of records fit the columns of a mechanism.
 *
 * A device takes whatever a field holds, and gives a report (invariant 4). A
 * curator, whose rows these are, wants to know what was taken as what: a value
 * in another unit spends epsilon like any other and tells nothing.
 */
#include <math.h>
#include <string.h>

#include "mechanism/mechanism.h"
#include "schema/column.h"
#include "sotto/records.h"

/* Where nothing cuts numbers off, those this many times further from the middle
   than the ends are: at most one in FAR^2 of the auxiliary records was. */
#define FAR 10.0
#define ROUNDING 1e-9 /* of the range: what its ends lose in a file */

static bool
is_known(const struct schema_column *column, const struct sotto_value *value)
{
    for (size_t i = 0; i + 1 < column->count; i++) {
        if (strlen(column->values[i]) == value->size &&
            memcmp(column->values[i], value->data, value->size) == 0) {
            return true;
        }
    }
    return false;
}

static void
count_number(const struct schema_column *column, double far, double number,
             struct sotto_misfit *misfit)
{
    double x = schema_column_x(column, number);
    misfit->beyond += column->scale != 0 && fabs(x) > far + ROUNDING ? 1 : 0;
}

/* Counts one value of a column whose numbers may be as far as `far` in x. */
static void
count_value(const struct schema_column *column, double far,
            const struct sotto_value *value, struct sotto_misfit *misfit)
{
    const struct schema_kind *kind = schema_kind(column->kind);
    misfit->records++;
    if (value->kind == SOTTO_VALUE_MISSING) {
        misfit->missing++;
    } else if (kind->symbols && !kind->ranged) {
        bool text = value->kind == SOTTO_VALUE_TEXT && value->data != NULL;
        misfit->unknown += text && is_known(column, value) ? 0 : 1;
    } else if (kind->bytes) {
        bool fits = value->kind == SOTTO_VALUE_BYTES && value->data != NULL &&
                    value->size == column->count;
        misfit->unread += fits ? 0 : 1;
    } else if (value->kind != SOTTO_VALUE_NUMBER || !isfinite(value->number)) {
        misfit->unread++;
    } else if (!kind->symbols) { /* the first and the last range have no end */
        count_number(column, far, value->number, misfit);
    }
}

void
sotto_mechanism_misfit(const struct sotto_mechanism *mechanism,
                       const struct sotto_value *values,
                       struct sotto_misfit *misfit)
{
    const struct shape *shape = &mechanism->shape;
    for (size_t i = 0; i < shape->schema.columns; i++) {
        const struct schema_column *column = &shape->schema.column[i];
        bool cut = column->clip || shape->layers == 0;
        misfit[i].cut = cut;
        count_value(column, cut ? 1 : FAR, &values[i], &misfit[i]);
    }
}
