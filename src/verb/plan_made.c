/*
 * plan_made.c: sotto plan without records: a table that has the columns which
 * were described, by options or by a schema. Its rows are nobody's.
 */
#include <stdlib.h>
#include <string.h>

#include "verb/plan.h"
#include "verb/train_kinds.h"

#define ROWS_EACH 12u /* of a made-up category: none is rare */
#define CATEGORIES_MOST 4096u

/* ---- By options ---------------------------------------------------------- */

/* COL=K: a column of so many categories; the last '=' counts. */
static int
read_made(const char *text, char *name, size_t size, size_t *ret_count)
{
    const char *at = strrchr(text, '=');
    char *end = NULL;
    unsigned long count = at != NULL ? strtoul(at + 1, &end, 10) : 0;
    if (at == NULL || at == text || (size_t)(at - text) >= size ||
        *end != '\0' || count < 2 || count > CATEGORIES_MOST) {
        return cli_bad("--categories %.80s: write COLUMN=NUMBER, for example "
                       "region=40, from 2 to %u",
                       text, CATEGORIES_MOST);
    }
    (void)snprintf(name, size, "%.*s", (int)(at - text), text);
    *ret_count = count;
    return CLI_EXIT_DONE;
}

/* Adds a column whose rows have the texts in turn. */
static int
add_texts(struct sotto_table *table, const char *name, const char *const *word,
          size_t count)
{
    size_t rows = sotto_table_rows(table);
    const char **text = calloc(rows, sizeof *text);
    struct sotto_error err = {0};
    if (text == NULL) {
        return cli_no_memory();
    }
    for (size_t i = 0; i < rows; i++) {
        text[i] = word[i % count];
    }
    int status = cli_exit(sotto_table_add_texts(table, name, text, &err), &err);
    free(text);
    return status;
}

/* Adds a column whose rows have the two numbers in turn. */
static int
add_numbers(struct sotto_table *table, const char *name, double low,
            double high)
{
    size_t rows = sotto_table_rows(table);
    double *number = calloc(rows, sizeof *number);
    struct sotto_error err = {0};
    if (number == NULL) {
        return cli_no_memory();
    }
    for (size_t i = 0; i < rows; i++) {
        number[i] = i % 2 == 0 ? low : high;
    }
    int status =
        cli_exit(sotto_table_add_numbers(table, name, number, &err), &err);
    free(number);
    return status;
}

static int
add_categories(struct sotto_table *table, const char *name, size_t count)
{
    char(*word)[32] = calloc(count, sizeof *word);
    const char **list = calloc(count, sizeof *list);
    int status = CLI_EXIT_FAILED;
    if (word == NULL || list == NULL) {
        status = cli_no_memory();
    } else {
        for (size_t i = 0; i < count; i++) {
            (void)snprintf(word[i], sizeof word[i], "category %zu", i + 1);
            list[i] = word[i];
        }
        status = add_texts(table, name, list, count);
    }
    free(word);
    free(list);
    return status;
}

/* COL=LOW:HIGH: what the range is, direct reads for itself. */
static int
add_number(struct sotto_table *table, const char *given)
{
    const char *at = strrchr(given, '=');
    char name[256];
    if (at == NULL || at == given || at - given >= (int)sizeof name ||
        strchr(at, ':') == NULL) {
        return cli_bad("--number %.80s: write COLUMN=LOW:HIGH, for example "
                       "age=0:120",
                       given);
    }
    double low = strtod(at + 1, NULL);
    (void)snprintf(name, sizeof name, "%.*s", (int)(at - given), given);
    return add_numbers(table, name, low, low + 1e-3);
}

int
plan_make_table(struct plan_job *job)
{
    const struct cli_args *args = job->args;
    struct sotto_error err = {0};
    const char *text;
    char name[256];
    size_t count, most = 2;
    int status = CLI_EXIT_DONE;
    for (size_t i = 0; status == CLI_EXIT_DONE &&
                       (text = cli_nth(args, "categories", i)) != NULL;
         i++) {
        status = read_made(text, name, sizeof name, &count);
        most = status == CLI_EXIT_DONE && count > most ? count : most;
    }
    if (status == CLI_EXIT_DONE) {
        status = cli_exit(sotto_table_new(most * ROWS_EACH, &job->table, &err),
                          &err);
    }
    for (size_t i = 0;
         status == CLI_EXIT_DONE && (text = cli_nth(args, "number", i)) != NULL;
         i++) {
        status = add_number(job->table, text);
    }
    for (size_t i = 0; status == CLI_EXIT_DONE &&
                       (text = cli_nth(args, "categories", i)) != NULL;
         i++) {
        status = read_made(text, name, sizeof name, &count);
        status = CLI_THEN(status, add_categories(job->table, name, count));
    }
    return status;
}

/* ---- By a schema --------------------------------------------------------- */

static int
add_column(struct sotto_table *table, const struct sotto_schema_column *column)
{
    if (column->use == SOTTO_SCHEMA_DROP) {
        return CLI_EXIT_DONE;
    }
    return sotto_schema_is_category(column->type)
               ? add_texts(table, column->name, column->values, column->count)
               : add_numbers(table, column->name, column->low, column->high);
}

/* Reads the schema; --label names another label than it does. */
static int
read_schema(struct plan_job *job)
{
    const char *label = cli_value(job->args, "label");
    struct sotto_error err = {0};
    enum sotto_status status =
        sotto_schema_read(cli_value(job->args, "schema"), &job->schema, &err);
    if (status == SOTTO_STATUS_OK && label != NULL) {
        status =
            sotto_schema_set_use(job->schema, label, SOTTO_SCHEMA_LABEL, &err);
    }
    if (status == SOTTO_STATUS_OK && sotto_schema_label(job->schema) != NULL) {
        job->label = sotto_schema_label(job->schema)->name;
    }
    return cli_exit(status, &err);
}

int
plan_make_schema_table(struct plan_job *job)
{
    struct sotto_error err = {0};
    size_t columns, most = 2;
    int status = read_schema(job);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    columns = sotto_schema_columns(job->schema);
    for (size_t i = 0; i < columns; i++) {
        size_t count = sotto_schema_column_at(job->schema, i)->count;
        most = count > most ? count : most;
    }
    status =
        cli_exit(sotto_table_new(most * ROWS_EACH, &job->table, &err), &err);
    for (size_t i = 0; status == CLI_EXIT_DONE && i < columns; i++) {
        status = add_column(job->table, sotto_schema_column_at(job->schema, i));
    }
    return CLI_THEN(status, train_drops(job->args, job->table, job->label,
                                        &job->drop, &job->drops));
}
