/*
 * direct_missing.c: which columns tell what is missing (docs/missing.md).
 *
 * Those named, and unless it is switched off those of which the schema says so,
 * or without one those in which a row of the data has no value. The label's
 * column never does: a learner takes a label that is missing for one that says
 * nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/direct.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "schema/schema_fit.h"

#define NAMES_SAID 8u

/* Whether column `at` of those kept can tell: a number or a category. */
static bool
can_tell(const struct direct *direct, size_t at)
{
    const struct schema_kind *kind = direct_kind(direct, direct->kept[at]);
    return direct->kept[at] != direct->label && (kind->ranged || kind->symbols);
}

static size_t
count_missing(const struct direct *direct, size_t column)
{
    const struct sotto_table *table = direct->table;
    const struct schema_kind *kind = direct_kind(direct, column);
    size_t count = 0;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value value =
            kind->read(sotto_table_cell(table, row, column));
        bool there = kind->ranged ? value.kind == SOTTO_VALUE_NUMBER &&
                                        isfinite(value.number)
                                  : value.kind != SOTTO_VALUE_MISSING;
        count += there ? 0 : 1;
    }
    return count;
}

/* Whether column `at` of those kept is to tell by itself: as the schema has it;
   without one, if the data lacks a value there. */
static bool
is_missing(const struct direct *direct, size_t at)
{
    const struct sotto_schema_column *as =
        schema_fit_as(direct->options->schema, direct->table, direct->kept[at]);
    return as != NULL ? as->told : count_missing(direct, direct->kept[at]) > 0;
}

static enum sotto_status
name_column(struct direct *direct, const char *name, struct sotto_error *err)
{
    size_t column, at = 0;
    enum sotto_status status =
        schema_fit_find(direct->table, "missing", name, &column, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    while (at < direct->columns && direct->kept[at] != column) {
        at++;
    }
    if (at == direct->columns || !can_tell(direct, at)) {
        return schema_column_fail(
            SOTTO_STATUS_USAGE, "column ", name,
            column == direct->label
                ? " is the label, which does not tell what is missing: leave "
                  "it out of those that do"
                : " is dropped, or holds neither numbers nor categories: it "
                  "cannot tell what is missing",
            err);
    }
    direct->told[at] = true;
    return SOTTO_STATUS_OK;
}

enum sotto_status
direct_find_missing(struct direct *direct, struct sotto_error *err)
{
    const struct sotto_train_options *options = direct->options;
    enum sotto_status status = SOTTO_STATUS_OK;
    direct->told = calloc(direct->columns + 1, sizeof *direct->told);
    if (direct->told == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < options->sets; i++) {
        if (strcmp(options->set[i].name, "missing") == 0) {
            status = name_column(direct, options->set[i].value, err);
        }
    }
    for (size_t i = 0; !direct->set->no_missing && i < direct->columns; i++) {
        if (!direct->told[i] && can_tell(direct, i) && is_missing(direct, i)) {
            const struct sotto_schema *schema = direct->options->schema;
            direct->told[i] = true;
            direct->missing_fitted |=
                schema == NULL || !sotto_schema_public(schema);
        }
    }
    return status;
}

/* "Told apart where missing: a (48.7% of the data), b (0.3%) and 2 more." */
enum sotto_status
direct_say_missing(const struct direct *direct, struct sotto_train_facts *facts,
                   struct sotto_error *err)
{
    struct host_text names;
    enum sotto_status status = SOTTO_STATUS_OK;
    double rows = (double)sotto_table_rows(direct->table);
    size_t count = 0;
    host_text_init(&names, 4096);
    for (size_t i = 0; i < direct->columns; i++) {
        if (direct->told[i] && ++count <= NAMES_SAID) {
            size_t gone = count_missing(direct, direct->kept[i]);
            host_text_print(&names, "%s", count > 1 ? ", " : "");
            host_printable_add(&names, direct_name(direct, direct->kept[i]),
                               30);
            host_text_print(&names, " (%.3g%%%s)", 100 * (double)gone / rows,
                            count > 1 ? "" : " of the data");
        }
    }
    if (count > NAMES_SAID) {
        host_text_print(&names, " and %zu more", count - NAMES_SAID);
    }
    fact_whole(facts, "missing_columns", count);
    if (names.failed) {
        status = host_fail_memory(err);
    } else if (count > 0) {
        fact_say(facts, "A missing value is told apart in %s.\n", names.data);
    }
    host_text_clear(&names);
    return status;
}
