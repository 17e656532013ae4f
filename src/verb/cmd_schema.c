/*
 * cmd_schema.c: sotto schema: what the columns of a table are, and what in a
 * table does not fit.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "cli/output_file.h"
#include "verb/records.h"
#include "verb/schema_print.h"

#define ROWS_SHOWN 20u
#define NAME_WIDTH 24

/* ---- infer -------------------------------------------------------------- */

/* The values of an option that may be given more than once; NULL, and a
   message, for lack of memory. */
static const char **
list_option(const struct cli_args *args, const char *option, size_t *ret_count)
{
    const char **list = calloc(args->given_count + 1, sizeof *list);
    size_t count = 0;
    if (list == NULL) {
        (void)cli_no_memory();
        return NULL;
    }
    while ((list[count] = cli_nth(args, option, count)) != NULL) {
        count++;
    }
    *ret_count = count;
    return list;
}

static int
tell_infer(const struct cli_args *args, const struct sotto_schema *schema,
           const char *path)
{
    FILE *to = cli_summary(path);
    struct sotto_error err = {0};
    if (path != NULL &&
        sotto_schema_write(schema, path, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (cli_given(args, "json")) {
        schema_print_json(to, schema);
        return schema_print_refused(schema) ? CLI_EXIT_BAD : CLI_EXIT_DONE;
    }
    schema_print_columns(to, schema);
    schema_print_problems(to, schema, SOTTO_SCHEMA_NOTE);
    bool refused = schema_print_refused(schema);
    if (path != NULL) {
        (void)fprintf(to,
                      "Wrote %s: edit it, then say --schema %s to train. Its "
                      "ranges and values are from\nthe data, which get no "
                      "protection by that.\n",
                      cli_shown(path), cli_shown(path));
    }
    return refused ? cli_bad("the data cannot be used as they are: see above")
                   : CLI_EXIT_DONE;
}

/* Whether the schema can be written, over none that was edited. */
static int
check_written(const struct cli_args *args, const char *data, const char *path)
{
    int status = output_file_check(path, &data, 1);
    if (status == CLI_EXIT_DONE && output_file_written(path) &&
        !cli_given(args, "force")) {
        return cli_bad("'%.240s' is there already, and may have been edited: "
                       "choose another name, or say --force to replace it",
                       path);
    }
    return status;
}

static int
run_infer(const struct cli_args *args, const char *data)
{
    const char *path = cli_value(args, "output");
    struct sotto_schema_options options = {.label = cli_value(args, "label"),
                                           .logs = true};
    struct sotto_table *table = NULL;
    struct sotto_schema *schema = NULL;
    struct sotto_error err = {0};
    uint64_t rare = 10;
    if (cli_given(args, "schema")) {
        return cli_bad("--schema is for check: leave it out, or say -o");
    }
    if (!cli_whole(args, "rare", 1, 1000000000, &rare)) {
        return CLI_EXIT_BAD;
    }
    options.rare = (size_t)rare;
    const char **category = list_option(args, "category", &options.categories);
    int status =
        category != NULL ? check_written(args, data, path) : CLI_EXIT_FAILED;
    options.category = category;
    status = CLI_THEN(status, records_read(args, data, NULL, &table));
    if (status == CLI_EXIT_DONE &&
        sotto_schema_infer(table, &options, &schema, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    status = CLI_THEN(status, tell_infer(args, schema, path));
    sotto_schema_free(schema);
    sotto_table_free(table);
    free(category);
    return status;
}

/* ---- check -------------------------------------------------------------- */

struct check {
    const struct sotto_schema *schema;
    const struct sotto_table *table;
    bool json;
    size_t shown, most;
};

static const char *const kind_names[] = {
    "fits", "missing", "beyond", "no-number", "unknown-value", "fraction"};

static const char *
say_kind(enum sotto_schema_misfit_kind kind)
{
    switch (kind) {
    case SOTTO_SCHEMA_BEYOND:
        return "lies beyond the range, and counts as the nearer end";
    case SOTTO_SCHEMA_WORD:
        return "is no number, and counts as missing";
    case SOTTO_SCHEMA_UNKNOWN:
        return "is not among the values, and counts as other";
    case SOTTO_SCHEMA_FRACTION:
        return "has a fraction, where whole numbers are expected";
    case SOTTO_SCHEMA_FITS:
    case SOTTO_SCHEMA_MISSING:
    default:
        return "is missing";
    }
}

static bool
tell_misfit(void *own, const struct sotto_schema_misfit *misfit)
{
    struct check *check = own;
    const char *name =
        sotto_schema_column_at(check->schema, misfit->column)->name;
    char text[64] = "";
    if (check->shown++ == check->most) {
        return false;
    }
    if (misfit->value.data != NULL && misfit->value.kind != SOTTO_VALUE_BYTES) {
        (void)snprintf(text, sizeof text, "%.*s",
                       (int)(misfit->value.size < 40 ? misfit->value.size : 40),
                       (const char *)misfit->value.data);
    } else {
        (void)snprintf(text, sizeof text, "%.10g", misfit->value.number);
    }
    if (check->json) {
        json_begin(stdout);
        json_size(stdout, "row", misfit->row + 1);
        json_size(stdout, "line", misfit->line);
        json_text(stdout, "column", name);
        json_text(stdout, "misfit", kind_names[misfit->kind]);
        json_text(stdout, "value", text);
        json_end(stdout);
        return true;
    }
    (void)printf("row %zu (line %zu), %.60s: \"%s\" %s\n", misfit->row + 1,
                 misfit->line, cli_shown(name), cli_shown(text),
                 say_kind(misfit->kind));
    return true;
}

static size_t
count_misfits(const struct sotto_schema_total *total)
{
    return total->of[SOTTO_SCHEMA_BEYOND] + total->of[SOTTO_SCHEMA_WORD] +
           total->of[SOTTO_SCHEMA_UNKNOWN] + total->of[SOTTO_SCHEMA_FRACTION];
}

/* The column of a table that may be meant by a name; NULL: none is near. */
static const char *
find_near(const struct sotto_table *table, const char *name)
{
    size_t columns = sotto_table_columns(table);
    const char **names = calloc(columns + 1, sizeof *names);
    if (names == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < columns; i++) {
        names[i] = sotto_table_name(table, i);
    }
    const char *nearest = cli_nearest(name, names, columns);
    free(names);
    return nearest;
}

/* Says that a column is not there, and which one may be meant. */
static void
print_absent(const struct sotto_table *table, const char *name, bool label)
{
    const char *nearest = find_near(table, name);
    (void)printf("  ");
    cli_put_padded(stdout, name, NAME_WIDTH);
    (void)printf("  there is no such column%s",
                 label ? "; it is the label" : "");
    if (nearest != NULL) {
        (void)printf(", but \"%.60s\": rename it if it is the same",
                     cli_shown(nearest));
    }
    (void)printf("\n");
}

static void
print_total(const struct check *check, const char *name,
            const struct sotto_schema_total *total, bool label)
{
    if (total->absent) {
        print_absent(check->table, name, label);
        return;
    }
    (void)printf("  ");
    cli_put_padded(stdout, name, NAME_WIDTH);
    (void)printf(" %8zu %9zu %8zu %8zu %8zu\n", total->of[SOTTO_SCHEMA_BEYOND],
                 total->of[SOTTO_SCHEMA_WORD], total->of[SOTTO_SCHEMA_UNKNOWN],
                 total->of[SOTTO_SCHEMA_FRACTION],
                 total->of[SOTTO_SCHEMA_MISSING]);
}

static void
json_total(const char *name, const struct sotto_schema_total *total)
{
    json_begin(stdout);
    json_text(stdout, "total_of", name);
    json_bool(stdout, "absent", total->absent);
    for (size_t i = 1; i < 6; i++) {
        json_size(stdout, kind_names[i], total->of[i]);
    }
    json_end(stdout);
}

/* Prints a line for every column that does not fit in all rows. Returns whether
   all do. */
static bool
tell_totals(const struct check *check, const struct sotto_schema_total *total)
{
    const struct sotto_schema_column *column;
    bool head = false, fits = true;
    for (size_t i = 0;
         (column = sotto_schema_column_at(check->schema, i)) != NULL; i++) {
        bool bad = total[i].absent || count_misfits(&total[i]) > 0;
        if (column->use == SOTTO_SCHEMA_DROP) {
            continue;
        }
        fits = fits && !bad;
        if (check->json) {
            json_total(column->name, &total[i]);
        } else if (bad) {
            if (!head) {
                (void)printf("Fields that lie beyond the range, are no "
                             "number, or none of the values, or have a\n"
                             "fraction where the schema says integer; and "
                             "those that are missing:\n"
                             "  %-*s %8s %9s %8s %8s %8s\n",
                             NAME_WIDTH, "column", "beyond", "no number",
                             "unknown", "fraction", "missing");
            }
            head = true;
            print_total(check, column->name, &total[i],
                        column->use == SOTTO_SCHEMA_LABEL);
        }
    }
    return fits;
}

static int
check_table(const struct sotto_schema *schema, const struct sotto_table *table,
            const char *data, struct check *check)
{
    struct sotto_error err = {0};
    struct sotto_schema_total *total =
        calloc(sotto_schema_columns(schema) + 1, sizeof *total);
    if (total == NULL) {
        return cli_no_memory();
    }
    int status = cli_exit(
        sotto_schema_check(schema, table, tell_misfit, check, total, &err),
        &err);
    if (status == CLI_EXIT_DONE) {
        if (check->shown > check->most && !check->json) {
            (void)printf("... (--rows N shows more)\n");
        }
        bool fits = tell_totals(check, total);
        if (!check->json && fits) {
            size_t rows = sotto_table_rows(table);
            (void)printf("%s: %zu row%s, and all of them fit.\n",
                         cli_shown(data), rows, rows == 1 ? "" : "s");
        }
        status = fits ? CLI_EXIT_DONE : CLI_EXIT_BAD;
    }
    free(total);
    return status;
}

static int
run_check(const struct cli_args *args, const char *data)
{
    static const char *const others[] = {"label", "rare", "category", "output",
                                         "force"};
    const char *path = cli_value(args, "schema");
    struct sotto_table *table = NULL;
    struct sotto_schema *schema = NULL;
    uint64_t rows = ROWS_SHOWN;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (cli_given(args, others[i])) {
            return cli_bad("--%s is for infer: leave it out", others[i]);
        }
    }
    if (path == NULL) {
        return cli_bad("--schema S is missing: make one with sotto schema "
                       "infer F -o S");
    }
    if (!cli_whole(args, "rows", 0, 1000000000, &rows)) {
        return CLI_EXIT_BAD;
    }
    int status = schema_print_read(path, &schema);
    struct check check = {.schema = schema,
                          .json = cli_given(args, "json"),
                          .most = (size_t)rows};
    status = CLI_THEN(status, records_read(args, data, NULL, &table));
    check.table = table;
    status = CLI_THEN(status, check_table(schema, table, data, &check));
    sotto_schema_free(schema);
    sotto_table_free(table);
    return status;
}

/* ---- The verb ----------------------------------------------------------- */

static int
run_schema(const struct cli_args *args)
{
    static const char *const actions[] = {"infer", "check"};
    const char *action = args->word[0];
    bool infer = strcmp(action, "infer") == 0;
    bool check = strcmp(action, "check") == 0;
    if ((infer || check) && args->words == 1) {
        return cli_bad("F (a table) is missing: usage: sotto schema %s F%s",
                       action, check ? " --schema S" : "");
    }
    if (infer || check) {
        const char *data =
            strcmp(args->word[1], "-") == 0 ? "/dev/stdin" : args->word[1];
        return infer ? run_infer(args, data) : run_check(args, data);
    }
    if (args->words == 1) {
        return cli_bad("say what to do with '%.240s': sotto schema infer "
                       "'%.240s'",
                       action, action);
    }
    const char *nearest = cli_nearest(action, actions, 2);
    return cli_bad("unknown action '%.80s': %s%s", action,
                   nearest != NULL ? "did you mean " : "say infer or check",
                   nearest != NULL ? nearest : "");
}

static const char *const wanted[] = {"infer or check", "F (a table)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "label", "COL", "infer: the column that is a label"},
    {0, false, true, "category", "COL",
     "infer: this column of numbers holds categories"},
    {0, false, false, "rare", "N",
     "infer: a category held by fewer rows is not named\n"
     "(10)"},
    {'o', false, false, "output", "S", "infer: the schema to write"},
    {0, false, false, "force", NULL, "infer: replace a schema that is there"},
    {0, false, false, "schema", "S", "check: the schema"},
    {0, false, false, "rows", "N",
     "check: how many fields that do not fit are shown (20)"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed"},
    RECORDS_READING,
    CLI_OPTION_END,
};

const struct cli_verb cmd_schema = {
    .name = "schema",
    .summary = "say what the columns of a table are, and its problems",
    .usage = "infer F [--label COL] [-o S]\n"
             "  sotto schema check F --schema S",
    .about = "'infer' says of every column what it is (a number, a category, a "
             "date, an id\n"
             "...), its range or values, whether it can be used, and lists all "
             "problems of\n"
             "the table at once, the worst first. -o writes that as a text to "
             "edit, for sotto\n"
             "train --schema. Ranges are quantiles, rounded, never one "
             "record's value; a\n"
             "category that fewer than 10 rows hold is not named. 'check' says "
             "which fields\n"
             "of a file do not fit a schema, row by row; it ends with status 2 "
             "if any does\n"
             "not. So does 'infer' if nothing can be trained. F may be -, the "
             "standard input.\n",
    .example =
        "sotto schema infer data/wdbc.csv --label diagnosis -o wdbc.schema\n"
        "sotto train direct --data data/wdbc.csv --schema wdbc.schema --eps 4 "
        "\\\n    --keep radius_mean --keep texture_mean -o wdbc.sotto\n",
    .wanted = wanted,
    .optional = 1,
    .options = options,
    .run = run_schema,
};
