/*
 * direct_columns.c: a column of the data becomes a column of the mechanism.
 *
 *     numbers      [low, high] becomes [-1, 1]; given, or the data's own range
 *     samples      [0, 255] becomes [-1, 1]
 *     categories   the data's own, sorted; "other" the last symbol
 */
#include <string.h>

#include "encoder/direct.h"

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
direct_fit_column(struct direct *direct, size_t column, struct sotto_error *err)
{
    const struct direct_range *range = range_of(direct, column);
    struct schema_aim aim = {.range = true};
    const struct schema_kind *kind =
        schema_kind(sotto_table_kind(direct->table, column));
    if (range != NULL) {
        aim = (struct schema_aim){.range = true,
                                  .given = true,
                                  .low = range->low,
                                  .high = range->high};
    }
    direct->categories_fitted |= kind->symbols;
    direct->ranges_fitted |= kind->ranged && range == NULL;
    return schema_fit(&direct->schema, direct->table, column, &aim, err);
}
