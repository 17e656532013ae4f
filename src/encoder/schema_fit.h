/*
 * schema_fit.h: which columns of a table a mechanism takes, and what is fitted
 * to their values. What it fits is taken from the auxiliary data, and tells of
 * it.
 */
#ifndef SOTTO_ENCODER_SCHEMA_FIT_H
#define SOTTO_ENCODER_SCHEMA_FIT_H

#include "mechanism/compose.h"
#include "sotto/sotto.h"

/* Fails with a sentence about a column, whose name is made printable. */
SOTTO_CHECKED enum sotto_status
schema_fit_fail(enum sotto_status status, const char *before, const char *name,
                const char *after, struct sotto_error *err);
/* The same for a column in which every value is missing: INPUT. */
SOTTO_CHECKED enum sotto_status
schema_fit_missing(const struct sotto_table *table, size_t column,
                   struct sotto_error *err);

/* The column of that name; `what` is the option that names it. Statuses: USAGE,
   with a message that says which columns there are. */
SOTTO_CHECKED enum sotto_status
schema_fit_find(const struct sotto_table *table, const char *what,
                const char *name, size_t *ret_column, struct sotto_error *err);

/* Columns of the table, in its order, and which of the table's is the label. */
struct schema_choice {
    size_t *kept;
    size_t columns;
    size_t label; /* SIZE_MAX: none */
};

/* All but those dropped; `label` may be NULL. Statuses: USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status
schema_fit_choose(const struct sotto_table *table, const char *const *drop,
                  size_t drops, const char *label, struct schema_choice *ret,
                  struct sotto_error *err);
void schema_fit_choice_clear(struct schema_choice *choice);

/* The data's own categories, sorted bytewise, "other" the last symbol; one
   free() of ret->values suffices. Statuses: INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
schema_fit_category(const struct sotto_table *table, size_t column,
                    struct compose_column *ret, struct sotto_error *err);

/* Mean 0 and variance 1 over the values there are; a constant becomes 0.
   Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status
schema_fit_standard(const struct sotto_table *table, size_t column,
                    struct compose_column *ret, struct sotto_error *err);

#endif
