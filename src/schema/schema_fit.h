/*
 * schema_fit.h: which columns of a table a mechanism takes.
 */
#ifndef SOTTO_SCHEMA_SCHEMA_FIT_H
#define SOTTO_SCHEMA_SCHEMA_FIT_H

#include "schema/column.h"
#include "sotto/sotto.h"

/* The column of that name; `what` is the option that names it. Statuses: USAGE,
   with a message that says which columns there are. */
SOTTO_CHECKED enum sotto_status
schema_fit_find(const struct sotto_table *table, const char *what,
                const char *name, size_t *ret_column, struct sotto_error *err);

/* The name of a column that may have been meant by one that the table lacks;
   NULL: none is near, or memory is short. */
const char *schema_fit_nearest(const struct sotto_table *table,
                               const char *name);

/* Columns of the table, in its order, and which of the table's is the label. */
struct schema_choice {
    size_t *kept;
    size_t columns;
    size_t label; /* SIZE_MAX: none */
};

/* What a schema says of a column of the table; NULL: nothing, or there is no
   schema. */
const struct sotto_schema_column *
schema_fit_as(const struct sotto_schema *schema,
              const struct sotto_table *table, size_t column);

/* All but those that the options or their schema drop. Statuses: USAGE (also: a
   column that the schema uses is not there), MEMORY. */
SOTTO_CHECKED enum sotto_status
schema_fit_choose(const struct sotto_table *table,
                  const struct sotto_train_options *options,
                  struct schema_choice *ret, struct sotto_error *err);
void schema_fit_choice_clear(struct schema_choice *choice);

/* Adds the label's column, which must hold categories: those of `as`, unless it
   is NULL. A number becomes one of `bins` ranges, unless that is 0. Statuses:
   INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
schema_fit_label(struct schema *schema, const struct sotto_table *table,
                 size_t column, const struct sotto_schema_column *as,
                 size_t bins, struct sotto_error *err);

#endif
