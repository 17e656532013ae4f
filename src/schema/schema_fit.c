/*
 * schema_fit.c: which columns of a table a mechanism takes.
 */
#include "schema/schema_fit.h"

#include <stdlib.h>

#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"

/* ---- Names of columns ---------------------------------------------------- */

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

static enum sotto_status
choose_columns(const struct sotto_table *table, const char *const *drop,
               size_t drops, struct schema_choice *choice,
               struct sotto_error *err)
{
    size_t columns = sotto_table_columns(table);
    enum sotto_status status = SOTTO_STATUS_OK;
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
        if (!dropped[i]) {
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
schema_fit_choose(const struct sotto_table *table, const char *const *drop,
                  size_t drops, const char *label, struct schema_choice *ret,
                  struct sotto_error *err)
{
    struct schema_choice choice = {.label = SIZE_MAX};
    enum sotto_status status = choose_columns(table, drop, drops, &choice, err);
    if (status == SOTTO_STATUS_OK) {
        status = choose_label(table, label, &choice, err);
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
                 size_t column, struct sotto_error *err)
{
    static const struct schema_aim aim = {0};
    if (!schema_kind(sotto_table_kind(table, column))->symbols) {
        return host_remedy(
            schema_column_fail(SOTTO_STATUS_INPUT, "the label ",
                               sotto_table_name(table, column),
                               " does not hold categories: if its numbers are "
                               "names of classes, say so",
                               err),
            err, "category");
    }
    return schema_fit(schema, table, column, &aim, err);
}
