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

#include "base/decimal.h"
#include "encoder/direct.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "schema/schema_fit.h"

#define FAINT 0.5 /* epsilon, below which a column of a few says little */
#define NAMES_SIZE ((size_t)4096)
#define NAMES_ENOUGH ((size_t)200) /* bytes of names on a line */

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

/* ---- What is told ---------------------------------------------------------
 */

/* Says so where a schema asks for a logarithm: the mean of logarithms is not
   the logarithm of the mean, and means are what is asked of direct. */
static enum sotto_status
say_logarithms(const struct direct *direct, struct sotto_train_facts *facts,
               struct sotto_error *err)
{
    struct host_text names;
    enum sotto_status status = SOTTO_STATUS_OK;
    host_text_init(&names, NAMES_SIZE);
    for (size_t i = 0; i < direct->columns; i++) {
        const struct sotto_schema_column *as = schema_fit_as(
            direct->options->schema, direct->table, direct->kept[i]);
        if (as == NULL || !as->log || names.size >= NAMES_ENOUGH) {
            continue;
        }
        host_text_print(&names, "%s", names.size > 0 ? ", " : "");
        host_printable_add(&names, as->name, 30);
    }
    if (names.failed) {
        status = host_fail_memory(err);
    } else if (names.size > 0) {
        fact_say(facts,
                 "direct sends numbers as they are, for their means: scale = "
                 "log is not used (%s%s).\n",
                 names.data, names.size >= NAMES_ENOUGH ? ", ..." : "");
    }
    host_text_clear(&names);
    return status;
}

/* Says so where the budget is spread thin: the columns of one record can be
   sent together, by a code. */
static void
say_shares(const struct direct *direct, struct sotto_train_facts *facts)
{
    size_t features = direct->columns - (direct->label != SIZE_MAX ? 1 : 0);
    double each = (double)direct->each / (double)DECIMAL_UNIT;
    if (features > 1 && each < FAINT) {
        fact_say(facts,
                 "Each of %zu columns has epsilon %.2g: keep fewer, or take "
                 "codebook.\n",
                 features, each);
    }
}

enum sotto_status
direct_say_columns(const struct direct *direct, struct sotto_train_facts *facts,
                   struct sotto_error *err)
{
    say_shares(direct, facts);
    return say_logarithms(direct, facts, err);
}
