/*
 * direct_columns.c: a column of the data becomes a column of the mechanism.
 *
 *     numbers      [low, high] becomes [-1, 1]; given, the schema's, or the
 *                  data's own range
 *     samples      [0, 255] becomes [-1, 1]
 *     categories   the schema's, or the data's own, sorted; "other" the last
 *
 * What is missing has a place of its own where the column tells it
 * (direct_missing.c).
 */
#include <string.h>

#include "encoder/direct.h"
#include "schema/schema_fit.h"

static const struct direct_range *
range_of(const struct direct *direct, size_t column)
{
    for (size_t i = 0; i < direct->ranges; i++) {
        if (strcmp(direct->range[i].column, direct_name(direct, column)) == 0) {
            return &direct->range[i];
        }
    }
    return NULL;
}

enum sotto_status
direct_fit_column(struct direct *direct, size_t at, struct sotto_error *err)
{
    size_t column = direct->kept[at];
    const struct direct_range *range = range_of(direct, column);
    const struct sotto_schema *schema = direct->options->schema;
    const struct schema_kind *kind = direct_kind(direct, column);
    struct schema_aim aim = {
        .range = true, .as = schema_fit_as(schema, direct->table, column)};
    bool fitted = aim.as == NULL || !sotto_schema_public(schema);
    if (range != NULL) {
        aim.given = true;
        aim.low = range->low;
        aim.high = range->high;
    }
    aim.missing = direct->told[at];
    direct->categories_fitted |= kind->symbols && fitted;
    direct->ranges_fitted |= kind->ranged && range == NULL && fitted;
    return schema_fit(&direct->schema, direct->table, column, &aim, err);
}
