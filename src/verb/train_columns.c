/*
 * train_columns.c: columns of the data that options of train name.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "verb/records.h"
#include "verb/train_kinds.h"

#define LABEL_NAME "label" /* as of a nameless file of labels */
#define BLANKS " \t"
#define CLASSES_MOST 50u /* of what looks like a label */

/* Whether the first of several names with commas between them is a column. */
static bool
lists_column(const struct sotto_table *table, const char *names)
{
    char *first = strndup(names, strcspn(names, ","));
    bool found = first != NULL && sotto_table_find(table, first) != SIZE_MAX;
    free(first);
    return found;
}

/* Says that there is no such column, and which there are. */
static int
fail_column(const struct sotto_table *table, const char *option,
            const char *name, const char *const *names)
{
    size_t columns = sotto_table_columns(table);
    const char *nearest = cli_nearest(name, names, columns);
    if (strchr(name, ',') != NULL &&
        (nearest == NULL || lists_column(table, name))) {
        return cli_bad("--%s: the data has no column \"%.80s\": name one "
                       "column at a time, --%s A --%s B",
                       option, name, option, option);
    }
    nearest = nearest != NULL ? nearest : cli_begun(name, names, columns);
    return cli_bad("--%s: the data has no column \"%.80s\"; its %zu column%s "
                   "\"%.80s\"%s%.80s%s%s%s",
                   option, name, columns, columns == 1 ? " is" : "s include",
                   nearest != NULL ? nearest : names[0],
                   nearest == NULL && columns > 1 ? " and \"" : "",
                   nearest == NULL && columns > 1 ? names[columns - 1] : "",
                   nearest == NULL && columns > 1 ? "\"" : "",
                   nearest != NULL ? "" : ": ",
                   nearest != NULL ? "" : records_advice(name));
}

/* Finds a named column, or says what there is: the exit status. */
static int
find_column(const struct sotto_table *table, const char *option,
            const char *name, size_t *ret_column)
{
    size_t columns = sotto_table_columns(table);
    *ret_column = sotto_table_find(table, name);
    if (*ret_column != SIZE_MAX) {
        return CLI_EXIT_DONE;
    }
    const char **names = calloc(columns + 1, sizeof *names);
    if (names == NULL) {
        return cli_no_memory();
    }
    for (size_t i = 0; i < columns; i++) {
        names[i] = sotto_table_name(table, i);
    }
    int status = fail_column(table, option, name, names);
    free(names);
    return status;
}

int
train_categories(const struct cli_args *args, struct sotto_table *table)
{
    const char *name;
    for (size_t i = 0; (name = cli_nth(args, "category", i)) != NULL; i++) {
        size_t column;
        struct sotto_error err = {0};
        int status = find_column(table, "category", name, &column);
        if (status != CLI_EXIT_DONE) {
            return status;
        }
        if (sotto_table_set_category(table, column, &err) != SOTTO_STATUS_OK) {
            return cli_fail(&err);
        }
    }
    return CLI_EXIT_DONE;
}

/* Cuts `text` at its commas, in place, and blanks around the values off: those
   around a field of a CSV file are none of it either. */
static size_t
cut_values(char *text, const char **ret_values)
{
    size_t count = 0;
    for (char *at = text; at != NULL;) {
        char *comma = strchr(at, ','), *end;
        if (comma != NULL) {
            *comma++ = '\0';
        }
        at += strspn(at, BLANKS);
        end = at + strlen(at);
        while (end > at && strchr(BLANKS, end[-1]) != NULL) {
            *--end = '\0';
        }
        ret_values[count++] = at;
        at = comma;
    }
    return count;
}

int
train_declare(const struct cli_args *args, struct sotto_table *table)
{
    const char *text = cli_value(args, "label-values");
    const char *label = cli_value(args, "label");
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    if (text == NULL) {
        return CLI_EXIT_DONE;
    }
    char *copy = strdup(text);
    const char **values = calloc(strlen(text) + 1, sizeof *values);
    if (copy == NULL || values == NULL) {
        status = cli_no_memory();
    } else if (sotto_table_declare_label(
                   table, label != NULL ? label : LABEL_NAME, values,
                   cut_values(copy, values), &err) != SOTTO_STATUS_OK) {
        status = cli_bad("--label-values: %s", err.message);
    }
    free(copy);
    free(values);
    return status;
}

static bool
is_kept(const struct cli_args *args, const char *name, const char *label)
{
    const char *kept;
    bool found = label != NULL && strcmp(label, name) == 0;
    for (size_t i = 0; !found && (kept = cli_nth(args, "keep", i)) != NULL;
         i++) {
        found = strcmp(kept, name) == 0;
    }
    return found;
}

int
train_label(const struct cli_args *args, const struct sotto_table *table,
            const char **ret_label)
{
    size_t column;
    const char *label = cli_value(args, "label");
    if (cli_given(args, "labels") || cli_given(args, "label-values")) {
        label = sotto_table_name(table, sotto_table_columns(table) - 1);
    }
    *ret_label = label;
    return label == NULL ? CLI_EXIT_DONE
                         : find_column(table, "label", label, &column);
}

/* Whether people call a label so. */
static bool
is_label_name(const char *name)
{
    static const char *const names[] = {"label", "class",     "target",
                                        "y",     "outcome",   "category",
                                        "type",  "diagnosis", "status"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a column has 2 to CLASSES_MOST different values. */
static bool
has_classes(const struct sotto_table *table, size_t column)
{
    struct sotto_value seen[CLASSES_MOST];
    size_t count = 0;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value cell = sotto_table_cell(table, row, column);
        size_t i = 0;
        if (cell.kind == SOTTO_VALUE_MISSING || cell.data == NULL) {
            continue;
        }
        while (i < count && (seen[i].size != cell.size ||
                             memcmp(seen[i].data, cell.data, cell.size) != 0)) {
            i++;
        }
        if (i == CLASSES_MOST) {
            return false;
        }
        if (i == count) {
            seen[count++] = cell;
        }
    }
    return count >= 2;
}

void
train_note_label(const struct sotto_table *table, const char *const *drop,
                 size_t drops)
{
    size_t columns = sotto_table_columns(table);
    for (size_t i = 0; i < columns; i++) {
        const char *name = sotto_table_name(table, i);
        bool ends = i == 0 || i + 1 == columns;
        bool dropped = false;
        for (size_t j = 0; j < drops; j++) {
            dropped = dropped || strcmp(drop[j], name) == 0;
        }
        if (!dropped && sotto_table_width(table, i) == 0 &&
            (is_label_name(name) ||
             (ends && sotto_table_kind(table, i) == SOTTO_COLUMN_CATEGORY)) &&
            has_classes(table, i)) {
            cli_note("no label was named, so \"%.80s\" is one of the features: "
                     "if it is what you want to learn, say --label '%.80s'",
                     name, name);
            return;
        }
    }
}

int
train_drops(const struct cli_args *args, const struct sotto_table *table,
            const char *label, const char ***ret_drop, size_t *ret_drops)
{
    const char *name;
    size_t column, columns = sotto_table_columns(table), drops = 0;
    bool keep = cli_given(args, "keep");
    const char *option = keep ? "keep" : "drop";
    if (keep && cli_given(args, "drop")) {
        return cli_bad("--keep and --drop exclude each other: give one kind");
    }
    for (size_t i = 0; (name = cli_nth(args, option, i)) != NULL; i++) {
        int status = find_column(table, option, name, &column);
        if (status != CLI_EXIT_DONE) {
            return status;
        }
    }
    const char **drop = calloc(columns + args->given_count + 1, sizeof *drop);
    if (drop == NULL) {
        return cli_no_memory();
    }
    for (size_t i = 0; !keep && (name = cli_nth(args, "drop", i)) != NULL;
         i++) {
        drop[drops++] = name;
    }
    for (size_t i = 0; keep && i < columns; i++) {
        name = sotto_table_name(table, i);
        if (!is_kept(args, name, label)) {
            drop[drops++] = name;
        }
    }
    *ret_drop = drop;
    *ret_drops = drops;
    return CLI_EXIT_DONE;
}
