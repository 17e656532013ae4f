/*
 * schema_fit.c: which columns of a table a mechanism takes.
 */
#include "schema/schema_fit.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/nearest.h"
#include "host/printable.h"
#include "host/text.h"

/* ---- Names of columns ---------------------------------------------------- */

const char *
schema_fit_nearest(const struct sotto_table *table, const char *name)
{
    size_t columns = sotto_table_columns(table);
    const char **names = calloc(columns + 1, sizeof *names);
    if (names == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < columns; i++) {
        names[i] = sotto_table_name(table, i);
    }
    const char *nearest = host_nearest(name, names, columns);
    free(names);
    return nearest;
}

/* Fails for a name that is nearly a column's. */
static enum sotto_status
fail_near(const char *what, const char *shown, const char *nearest,
          struct sotto_error *err)
{
    struct host_text meant;
    host_text_init(&meant, 1024);
    host_printable_add(&meant, nearest, 60);
    (void)host_fail(err, SOTTO_STATUS_USAGE, 0,
                    "%s: there is no column \"%s\": did you mean \"%s\"?", what,
                    shown, meant.data != NULL ? meant.data : "");
    host_text_clear(&meant);
    return host_about(SOTTO_STATUS_USAGE, err, SOTTO_ABOUT_SETTING, what);
}

/* Fails for a name no column has: says which there are. */
static enum sotto_status
fail_unknown(const struct sotto_table *table, const char *what,
             const char *name, struct sotto_error *err)
{
    size_t columns = sotto_table_columns(table);
    struct host_text shown, there;
    host_text_init(&shown, 1024);
    host_text_init(&there, 1024);
    host_printable_add(&shown, name, 60);
    const char *nearest = schema_fit_nearest(table, name);
    if (nearest != NULL && shown.data != NULL) {
        enum sotto_status status = fail_near(what, shown.data, nearest, err);
        host_text_clear(&shown);
        return status;
    }
    for (size_t i = 0; i < columns && there.size < 200; i++) {
        host_text_print(&there, "%s", i > 0 ? ", " : "");
        host_printable_add(&there, sotto_table_name(table, i), 30);
        if (there.size >= 200 && i + 1 < columns) {
            host_text_print(&there, " and %zu more", columns - i - 1);
        }
    }
    (void)host_fail(err, SOTTO_STATUS_USAGE, 0,
                    "%s: there is no column \"%s\"; the columns are %s", what,
                    shown.data != NULL ? shown.data : "",
                    there.data != NULL ? there.data : "");
    host_text_clear(&shown);
    host_text_clear(&there);
    return host_about(SOTTO_STATUS_USAGE, err, SOTTO_ABOUT_SETTING, what);
}

enum sotto_status
schema_fit_find(const struct sotto_table *table, const char *what,
                const char *name, size_t *ret_column, struct sotto_error *err)
{
    size_t column = sotto_table_find(table, name);
    if (column == SIZE_MAX) {
        return fail_unknown(table, what, name, err);
    }
    *ret_column = column;
    return SOTTO_STATUS_OK;
}

/* ---- The choice ---------------------------------------------------------- */

static bool
is_kept(const struct schema_choice *choice, size_t column)
{
    for (size_t i = 0; i < choice->columns; i++) {
        if (choice->kept[i] == column) {
            return true;
        }
    }
    return false;
}

const struct sotto_schema_column *
schema_fit_as(const struct sotto_schema *schema,
              const struct sotto_table *table, size_t column)
{
    return schema != NULL
               ? sotto_schema_find(schema, sotto_table_name(table, column))
               : NULL;
}

/* Whether a schema leaves a column out: it says so, or does not name it. */
static bool
is_left_out(const struct sotto_train_options *options,
            const struct sotto_table *table, size_t column)
{
    const struct sotto_schema_column *as =
        schema_fit_as(options->schema, table, column);
    bool label = options->label != NULL &&
                 strcmp(options->label, sotto_table_name(table, column)) == 0;
    return options->schema != NULL && !label &&
           (as == NULL || as->use == SOTTO_SCHEMA_DROP);
}

/* Names all columns that a schema uses and the table does not have. */
static enum sotto_status
check_schema(const struct sotto_table *table, const struct sotto_schema *schema,
             struct sotto_error *err)
{
    const struct sotto_schema_column *column;
    struct host_text lacking;
    enum sotto_status status = SOTTO_STATUS_OK;
    host_text_init(&lacking, 4096);
    for (size_t i = 0;
         schema != NULL && (column = sotto_schema_column_at(schema, i)) != NULL;
         i++) {
        if (column->use != SOTTO_SCHEMA_DROP &&
            sotto_table_find(table, column->name) == SIZE_MAX) {
            host_text_print(&lacking, "%s\"", lacking.size > 0 ? ", " : "");
            const char *nearest = schema_fit_nearest(table, column->name);
            host_printable_add(&lacking, column->name, 40);
            host_text_print(&lacking, "\"");
            if (nearest != NULL) {
                host_text_print(&lacking, " (did you mean \"");
                host_printable_add(&lacking, nearest, 40);
                host_text_print(&lacking, "\"?)");
            }
        }
    }
    if (lacking.size > 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the table lacks columns that the schema uses: "
                           "%.300s; add them, or say use = drop",
                           lacking.data);
    }
    host_text_clear(&lacking);
    return status;
}

static enum sotto_status
choose_columns(const struct sotto_table *table,
               const struct sotto_train_options *options,
               struct schema_choice *choice, struct sotto_error *err)
{
    const char *const *drop = options->drop;
    size_t columns = sotto_table_columns(table), drops = options->drops;
    enum sotto_status status = check_schema(table, options->schema, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    bool *dropped = calloc(columns, sizeof *dropped);
    choice->kept = calloc(columns, sizeof *choice->kept);
    if (dropped == NULL || choice->kept == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < drops; i++) {
        size_t column;
        status = schema_fit_find(table, "drop", drop[i], &column, err);
        if (status != SOTTO_STATUS_OK) {
            goto done;
        }
        dropped[column] = true;
    }
    for (size_t i = 0; i < columns; i++) {
        if (!dropped[i] && !is_left_out(options, table, i)) {
            choice->kept[choice->columns++] = i;
        }
    }
    if (choice->columns == 0) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "every column is dropped: keep at least one");
    }
done:
    free(dropped);
    return status;
}

static enum sotto_status
choose_label(const struct sotto_table *table, const char *label,
             struct schema_choice *choice, struct sotto_error *err)
{
    enum sotto_status status;
    if (label == NULL) {
        return SOTTO_STATUS_OK;
    }
    status = schema_fit_find(table, "label", label, &choice->label, err);
    if (status == SOTTO_STATUS_OK && !is_kept(choice, choice->label)) {
        status =
            schema_column_fail(SOTTO_STATUS_USAGE, "column ", label,
                               " cannot be both the label and dropped", err);
    }
    return status;
}

enum sotto_status
schema_fit_choose(const struct sotto_table *table,
                  const struct sotto_train_options *options,
                  struct schema_choice *ret, struct sotto_error *err)
{
    struct schema_choice choice = {.label = SIZE_MAX};
    enum sotto_status status = choose_columns(table, options, &choice, err);
    if (status == SOTTO_STATUS_OK) {
        status = choose_label(table, options->label, &choice, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret = choice;
    } else {
        schema_fit_choice_clear(&choice);
    }
    return status;
}

void
schema_fit_choice_clear(struct schema_choice *choice)
{
    free(choice->kept);
    choice->kept = NULL;
}

enum sotto_status
schema_fit_label(struct schema *schema, const struct sotto_table *table,
                 size_t column, const struct sotto_schema_column *as,
                 size_t bins, struct sotto_error *err)
{
    const struct schema_kind *kind =
        schema_kind(schema_kind_of(as, table, column));
    const struct schema_aim aim = {.as = as, .bins = kind->ranged ? bins : 0};
    if (!kind->symbols && aim.bins == 0) {
        return host_remedy(
            schema_column_fail(SOTTO_STATUS_INPUT, "the label ",
                               sotto_table_name(table, column),
                               " does not hold categories: if its numbers are "
                               "names of classes, say so; to foretell a "
                               "number, train direct, or a codebook with bins",
                               err),
            err, "category");
    }
    return schema_fit(schema, table, column, &aim, err);
}
