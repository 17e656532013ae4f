/*
 * records.c: a curator's table, and its rows as records of a mechanism.
 *
 * Names are the rule always: a table without a header has columns c1, c2, ...
 * and so had the one the mechanism was made from.
 */
#include "verb/records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* A word of an option, and what it stands for. */
struct word {
    const char *name;
    char value;
};

static bool
read_word(const struct cli_args *args, const char *option,
          const struct word *words, char *ret_value)
{
    const char *text = cli_value(args, option);
    char there[80] = "";
    if (text == NULL) {
        return true;
    }
    for (const struct word *w = words; w->name != NULL; w++) {
        size_t size = strlen(there);
        if (strcmp(text, w->name) == 0) {
            *ret_value = w->value;
            return true;
        }
        (void)snprintf(there + size, sizeof there - size, "%s%s",
                       size > 0 ? ", " : "", w->name);
    }
    (void)cli_bad("--%s %.80s: say one of %s", option, text, there);
    return false;
}

static const struct word separators[] = {{"comma", ','},
                                         {"semicolon", ';'},
                                         {"tab", '\t'},
                                         {"pipe", '|'},
                                         {NULL, 0}};

bool
records_reading(const struct cli_args *args,
                struct sotto_table_reading *ret_reading)
{
    static const struct word decimals[] = {
        {"point", '.'}, {"comma", ','}, {NULL, 0}};
    static const struct word encodings[] = {
        {"utf8", 0}, {"latin1", 1}, {NULL, 0}};
    struct sotto_table_reading reading = {0};
    char latin1 = 0;
    if (!read_word(args, "separator", separators, &reading.separator) ||
        !read_word(args, "decimal", decimals, &reading.decimal) ||
        !read_word(args, "encoding", encodings, &latin1)) {
        return false;
    }
    reading.latin1 = latin1 != 0;
    *ret_reading = reading;
    return true;
}

/* Says what was guessed about a file that is not plain CSV. */
static void
note_reading(const struct sotto_table *table, const char *path,
             const struct sotto_table_reading *asked)
{
    struct sotto_table_reading reading = sotto_table_reading(table);
    const char *name = "";
    for (const struct word *w = separators; w->name != NULL; w++) {
        name = w->value == reading.separator ? w->name : name;
    }
    if (reading.separator != 0 && reading.separator != ',' &&
        asked->separator == 0) {
        cli_note("'%.240s': read with %ss between fields and decimal %ss", path,
                 name, reading.decimal == ',' ? "comma" : "point");
    }
    if (reading.indexed) {
        cli_note("'%.240s': the first column has no name: taken as an index "
                 "and left out",
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

/* Whether a column holds numbers, and nothing else. */
static bool
holds_numbers(const struct sotto_table *table, size_t column)
{
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value cell = sotto_table_cell(table, row, column);
        if (cell.kind == SOTTO_VALUE_TEXT && isnan(cell.number)) {
            return false;
        }
    }
    return true;
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
        if (sotto_table_kind(table, i) != SOTTO_COLUMN_CATEGORY ||
            holds_numbers(table, i)) {
            return;
        }
    }
    cli_note("'%.240s': took the first row as column names; use --header no "
             "if it is a record",
             path);
}

static int
read_one(const struct cli_args *args, const char *path, int header,
         struct sotto_table **ret_table)
{
    struct sotto_table_options options = {.header = header};
    struct sotto_error err = {0};
    if (!records_reading(args, &options.reading)) {
        return CLI_EXIT_BAD;
    }
    if (sotto_table_read(path, &options, ret_table, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    note_reading(*ret_table, path, &options.reading);
    return CLI_EXIT_DONE;
}

int
records_open(const struct cli_args *args, const char *data,
             struct sotto_table_stream **ret_stream,
             struct sotto_table **ret_table)
{
    struct sotto_table_options options = {.header = -1};
    struct sotto_table_stream *stream = NULL;
    struct sotto_error err = {0};
    if (!records_header(args, &options.header) ||
        !records_reading(args, &options.reading)) {
        return CLI_EXIT_BAD;
    }
    if (sotto_table_stream_open(data, &options, RECORDS_ROWS, &stream, &err) !=
            SOTTO_STATUS_OK ||
        sotto_table_stream_next(stream, ret_table, &err) != SOTTO_STATUS_OK) {
        sotto_table_stream_close(stream);
        return cli_fail(&err);
    }
    note_reading(*ret_table, data, &options.reading);
    if (options.header < 0) {
        note_header(*ret_table, data);
    }
    *ret_stream = stream;
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
join_labels(const struct cli_args *args, const char *path, int header,
            struct sotto_table *table)
{
    struct sotto_table *labels = NULL;
    struct sotto_error err = {0};
    int status = read_one(args, path, header, &labels);
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
    int status = read_one(args, data, header, &table);
    if (status == CLI_EXIT_DONE && header < 0) {
        note_header(table, data);
    }
    if (status == CLI_EXIT_DONE && labels != NULL) {
        status = join_labels(args, labels, header, table);
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
    status = read_one(args, path, header, &labels);
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

/* Finds the column whose name is nearest, case aside; NULL: none is near. */
static const char *
find_near(const struct sotto_table *table, const char *name)
{
    size_t columns = sotto_table_columns(table);
    const char **names = calloc(columns + 1, sizeof *names);
    const char *near = NULL;
    for (size_t i = 0; names != NULL && i < columns; i++) {
        names[i] = sotto_table_name(table, i);
        near = strcasecmp(names[i], name) == 0 ? names[i] : near;
    }
    if (names != NULL && near == NULL) {
        near = cli_nearest(name, names, columns);
    }
    free(names);
    return near;
}

static int
fail_match(const struct sotto_table *table, const char *path, const char *name)
{
    const char *near = find_near(table, name);
    return near != NULL
               ? cli_bad("'%.240s' has no column \"%.80s\", which the "
                         "mechanism asks for, but \"%.80s\": rename it if it "
                         "is the same",
                         path, name, near)
               : cli_bad("'%.240s' has no column \"%.80s\", which the "
                         "mechanism asks for: %s",
                         path, name, records_advice(name));
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
            return fail_match(table, path, column.name);
        }
    }
    note_extra(mechanism, table, path, other);
    return cli_exit(sotto_records_new(mechanism, table, ret_records, &err),
                    &err);
}
