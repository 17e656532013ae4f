/*
 * records.c: a curator's table, and its rows as records of a mechanism.
 *
 * Names are the rule always: a table without a header has columns c1, c2, ...
 * and so had the one the mechanism was made from.
 */
#include "verb/records.h"

#include <stdlib.h>
#include <string.h>

#define EXTRA_SHOWN 5u

/* ---- Reading ------------------------------------------------------------ */

bool
records_header(const struct cli_args *args, int *ret_header)
{
    int header = -1;
    if (!cli_yes(args, "header", &header)) {
        return false;
    }
    if (cli_given(args, "no-header")) {
        if (header == 1) {
            (void)cli_bad("--header yes and --no-header exclude each other");
            return false;
        }
        header = 0;
    }
    *ret_header = header;
    return true;
}

static bool
has_separator(const char *text, size_t size)
{
    return memchr(text, ';', size) != NULL || memchr(text, '\t', size) != NULL;
}

/* A table of one column that looks like several. */
static void
hint_separator(const struct sotto_table *table, const char *path)
{
    if (sotto_table_columns(table) != 1 || sotto_table_width(table, 0) > 0) {
        return;
    }
    const char *name = sotto_table_name(table, 0);
    struct sotto_value cell = sotto_table_cell(table, 0, 0);
    if (has_separator(name, strlen(name)) ||
        (cell.data != NULL && has_separator(cell.data, cell.size))) {
        cli_note("'%.240s' has one column only, with semicolons or tabs in it: "
                 "if those separate fields, save it again with commas",
                 path);
    }
}

/* Whether it is c and a number, as columns without a header are named. */
static bool
is_made(const char *name)
{
    size_t digits = name[0] == 'c' ? strspn(name + 1, "0123456789") : 0;
    return digits > 0 && name[1 + digits] == '\0';
}

/* A header that was guessed is sure if there are numbers below it; where there
   are none at all it may be a record. Labels show it by their number. */
static void
note_header(const struct sotto_table *table, const char *path)
{
    if (is_made(sotto_table_name(table, 0))) {
        return;
    }
    for (size_t i = 0; i < sotto_table_columns(table); i++) {
        if (sotto_table_kind(table, i) != SOTTO_COLUMN_CATEGORY) {
            return;
        }
    }
    cli_note("'%.240s': took the first row as column names; use --header no "
             "if it is a record",
             path);
}

static int
read_one(const char *path, int header, struct sotto_table **ret_table)
{
    struct sotto_table_options options = {.header = header};
    struct sotto_error err = {0};
    if (sotto_table_read(path, &options, ret_table, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    hint_separator(*ret_table, path);
    return CLI_EXIT_DONE;
}

/* ---- Labels ------------------------------------------------------------- */

/* Makes the column hold categories and have a name: as c1 it could be taken for
   a column of the data. */
static int
fit_labels(const char *path, struct sotto_table *labels, size_t column)
{
    struct sotto_error err = {0};
    if (sotto_table_width(labels, column) > 0) {
        return cli_bad("'%.240s' holds images: a file of labels has one "
                       "label a record",
                       path);
    }
    if (sotto_table_set_category(labels, column, &err) != SOTTO_STATUS_OK) {
        return cli_bad("'%.240s' holds no labels: %s", path, err.message);
    }
    if (!is_made(sotto_table_name(labels, column))) {
        return CLI_EXIT_DONE;
    }
    return cli_exit(sotto_table_rename(labels, column, "label", &err), &err);
}

static int
fail_join(const char *path, const struct sotto_table *table,
          const struct sotto_table *labels, const struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table), other = sotto_table_rows(labels);
    bool near = rows == other + 1 || other == rows + 1;
    return cli_bad("'%.240s' does not fit the data: %s%s", path, err->message,
                   near
                       ? "; if a first row was taken for column names, or not, "
                         "say --header yes or --header no"
                       : "");
}

/* Joins the labels at `path` to `table` as its last column. */
static int
join_labels(const char *path, int header, struct sotto_table *table)
{
    struct sotto_table *labels = NULL;
    struct sotto_error err = {0};
    int status = read_one(path, header, &labels);
    if (status == CLI_EXIT_DONE && sotto_table_columns(labels) != 1) {
        status = cli_bad("'%.240s' has %zu columns: a file of labels has one",
                         path, sotto_table_columns(labels));
    }
    status = CLI_THEN(status, fit_labels(path, labels, 0));
    if (status == CLI_EXIT_DONE) {
        if (sotto_table_join(table, labels, &err) == SOTTO_STATUS_OK) {
            labels = NULL;
        } else {
            status = fail_join(path, table, labels, &err);
        }
    }
    sotto_table_free(labels);
    return status;
}

int
records_read(const struct cli_args *args, const char *data, const char *labels,
             struct sotto_table **ret_table)
{
    struct sotto_table *table = NULL;
    int header = -1;
    if (!records_header(args, &header)) {
        return CLI_EXIT_BAD;
    }
    int status = read_one(data, header, &table);
    if (status == CLI_EXIT_DONE && header < 0) {
        note_header(table, data);
    }
    if (status == CLI_EXIT_DONE && labels != NULL) {
        status = join_labels(labels, header, table);
    }
    if (status == CLI_EXIT_DONE) {
        *ret_table = table;
    } else {
        sotto_table_free(table);
    }
    return status;
}

int
records_read_labels(const struct cli_args *args, const char *path,
                    struct sotto_table **ret_labels, const char **ret_column)
{
    struct sotto_table *labels = NULL;
    size_t column = 0;
    int header = -1, status;
    if (!records_header(args, &header)) {
        return CLI_EXIT_BAD;
    }
    status = read_one(path, header, &labels);
    if (status == CLI_EXIT_DONE && sotto_table_columns(labels) != 1) {
        column = sotto_table_find(labels, "id") == 0 ? 1 : 0;
        if (sotto_table_columns(labels) != 2 ||
            sotto_table_find(labels, "id") == SIZE_MAX) {
            status = cli_bad("'%.240s' has %zu columns: labels in the clear "
                             "have one, or one beside the column \"id\" "
                             "(--header yes)",
                             path, sotto_table_columns(labels));
        }
    }
    status = CLI_THEN(status, fit_labels(path, labels, column));
    if (status == CLI_EXIT_DONE) {
        *ret_labels = labels;
        *ret_column = sotto_table_name(labels, column);
    } else {
        sotto_table_free(labels);
    }
    return status;
}

const char *
records_advice(const char *name)
{
    return is_made(name) ? "if its first row is a record, say --header no"
                         : "name its columns in the first row (--header yes), "
                           "or give --labels";
}

/* ---- Matching ----------------------------------------------------------- */

/* Says which columns of the table the mechanism does not ask for. */
static void
note_extra(const struct sotto_mechanism *mechanism,
           const struct sotto_table *table, const char *path, const char *other)
{
    size_t columns = sotto_table_columns(table), extra = 0;
    char names[400] = "";
    for (size_t i = 0; i < columns; i++) {
        const char *name = sotto_table_name(table, i);
        bool used = (other != NULL && strcmp(name, other) == 0) ||
                    sotto_mechanism_find(mechanism, name) != SIZE_MAX;
        if (!used && extra++ < EXTRA_SHOWN) {
            size_t size = strlen(names);
            (void)snprintf(names + size, sizeof names - size, "%s%.60s",
                           size > 0 ? ", " : "", name);
        }
    }
    if (extra > 0) {
        cli_note("%zu column%s of '%.240s' %s not in the mechanism and ignored:"
                 " %s%s",
                 extra, extra == 1 ? "" : "s", path, extra == 1 ? "is" : "are",
                 names, extra > EXTRA_SHOWN ? ", ..." : "");
    }
}

int
records_match(struct sotto_mechanism *mechanism,
              const struct sotto_table *table, const char *path,
              const char *other, struct sotto_records **ret_records)
{
    struct sotto_mechanism_info info;
    struct sotto_error err = {0};
    sotto_mechanism_info(mechanism, &info);
    for (size_t i = 0; i < info.columns; i++) {
        struct sotto_column_info column;
        sotto_mechanism_column(mechanism, i, &column);
        if (sotto_table_find(table, column.name) == SIZE_MAX) {
            return cli_bad("'%.240s' has no column \"%.80s\", which the "
                           "mechanism asks for: %s",
                           path, column.name, records_advice(column.name));
        }
    }
    note_extra(mechanism, table, path, other);
    return cli_exit(sotto_records_new(mechanism, table, ret_records, &err),
                    &err);
}
