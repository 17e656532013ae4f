/*
 * infer.c: what the columns of a table are.
 */
#include "schema/infer.h"

#include <string.h>

#include "host/error.h"
#include "schema/schema_fit.h"

static bool
is_listed(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static enum sotto_status
check_list(const struct sotto_table *table, const char *what,
           const char *const *list, size_t count, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t column;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < count; i++) {
        status = schema_fit_find(table, what, list[i], &column, err);
    }
    return status;
}

static enum sotto_status
check_options(const struct sotto_table *table,
              const struct sotto_schema_options *options,
              struct sotto_error *err)
{
    enum sotto_status status = check_list(table, "label", &options->label,
                                          options->label != NULL ? 1 : 0, err);
    status = HOST_THEN(
        status, check_list(table, "keep", options->keep, options->keeps, err));
    status = HOST_THEN(
        status, check_list(table, "drop", options->drop, options->drops, err));
    status = HOST_THEN(status, check_list(table, "category", options->category,
                                          options->categories, err));
    return HOST_THEN(status, check_list(table, "range", options->number,
                                        options->numbers, err));
}

/* A column that nobody looks at: an image, or one that its owner left out. */
static struct sotto_schema_column
unseen(const struct sotto_table *table, size_t at, const char *why)
{
    enum sotto_column_kind kind = sotto_table_kind(table, at);
    return (struct sotto_schema_column){
        .name = sotto_table_name(table, at),
        .type = kind == SOTTO_COLUMN_BYTES      ? SOTTO_SCHEMA_IMAGE
                : kind == SOTTO_COLUMN_CATEGORY ? SOTTO_SCHEMA_CATEGORY
                                                : SOTTO_SCHEMA_NUMBER,
        .use = why != NULL ? SOTTO_SCHEMA_DROP : SOTTO_SCHEMA_FEATURE,
        .why = why != NULL ? why : "",
        .rows = sotto_table_rows(table)};
}

static enum sotto_status
add_seen(struct sotto_schema *schema, struct infer_column *judged,
         struct sotto_error *err)
{
    struct profile profile;
    enum sotto_status status =
        profile_fill(judged->table, judged->at, &profile, err);
    judged->seen = &profile;
    status = HOST_THEN(status, infer_column(judged, err));
    if (status == SOTTO_STATUS_OK && (!outline_add(schema, &judged->column) ||
                                      !infer_complain(schema, judged))) {
        status = host_fail_memory(err);
    }
    infer_column_clear(judged);
    profile_clear(&profile);
    return status;
}

static enum sotto_status
add_column(struct sotto_schema *schema, const struct sotto_table *table,
           size_t at, const struct sotto_schema_options *o,
           struct sotto_error *err)
{
    const char *name = sotto_table_name(table, at);
    bool label = o->label != NULL && strcmp(o->label, name) == 0;
    struct infer_column judged = {
        .options = o,
        .table = table,
        .at = at,
        .rare = o->rare > 0 ? o->rare : INFER_RARE,
        .logs = o->logs,
        .label = label,
        .kept = is_listed(o->keep, o->keeps, name),
        .as_category = is_listed(o->category, o->categories, name),
        .as_number = is_listed(o->number, o->numbers, name)};
    const char *why = NULL;
    if (!label && is_listed(o->drop, o->drops, name)) {
        why = "its owner left it out";
    } else if (!label && o->keeps > 0 && !judged.kept) {
        why = "its owner keeps others";
    }
    if (why != NULL || sotto_table_kind(table, at) == SOTTO_COLUMN_BYTES) {
        struct sotto_schema_column column = unseen(table, at, why);
        return outline_add(schema, &column) ? SOTTO_STATUS_OK
                                            : host_fail_memory(err);
    }
    return add_seen(schema, &judged, err);
}

enum sotto_status
sotto_schema_infer(const struct sotto_table *table,
                   const struct sotto_schema_options *options,
                   struct sotto_schema **ret_schema, struct sotto_error *err)
{
    static const struct sotto_schema_options none = {0};
    options = options != NULL ? options : &none;
    enum sotto_status status = check_options(table, options, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    struct sotto_schema *schema = outline_new();
    if (schema == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0;
         status == SOTTO_STATUS_OK && i < sotto_table_columns(table); i++) {
        status = add_column(schema, table, i, options, err);
    }
    status = HOST_THEN(status, infer_complain_all(schema, table, options, err));
    if (status == SOTTO_STATUS_OK) {
        outline_rank(schema);
        *ret_schema = schema;
    } else {
        sotto_schema_free(schema);
    }
    return status;
}
