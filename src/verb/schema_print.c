/*
 * schema_print.c: a schema for people: a line a column, then the problems.
 */
#include "verb/schema_print.h"

#include <string.h>

#include "cli/json_print.h"

#define NAME_WIDTH 24
#define VALUES_SHOWN ((size_t)60) /* bytes of values on a line */

static const char *const rank_names[] = {"refused", "warning", "note"};

/* ---- Reading ------------------------------------------------------------- */

static void
tell_fault(void *own, const char *message)
{
    (void)own;
    cli_error("%s", message);
}

int
schema_print_read(const char *path, struct sotto_schema **ret_schema)
{
    struct sotto_error err = {0};
    enum sotto_status status =
        sotto_schema_read_told(path, tell_fault, NULL, ret_schema, &err);
    return status == SOTTO_STATUS_INPUT ? CLI_EXIT_BAD : cli_exit(status, &err);
}

/* ---- Columns ------------------------------------------------------------- */

static void
print_values(FILE *to, const struct sotto_schema_column *column)
{
    size_t shown = 0, i = 0;
    (void)fprintf(to, "%zu value%s: ", column->count,
                  column->count == 1 ? "" : "s");
    for (; i < column->count; i++) {
        const char *value = column->values[i];
        shown += strlen(value) + 2;
        if (i > 0 && shown > VALUES_SHOWN) {
            break;
        }
        (void)fprintf(to, "%s%.40s", i > 0 ? ", " : "", cli_shown(value));
    }
    (void)fprintf(to, "%s", i < column->count ? ", ..." : "");
}

static void
print_used(FILE *to, const struct sotto_schema_column *column)
{
    char what[64];
    (void)snprintf(what, sizeof what, "%s%s",
                   sotto_schema_type_name(column->type),
                   column->use == SOTTO_SCHEMA_LABEL ? ", label" : "");
    (void)fprintf(to, "  ");
    cli_put_padded(to, column->name, NAME_WIDTH);
    (void)fprintf(to, "  %-16s  ", what);
    if (column->rows > 0) {
        (void)fprintf(to, "%5.1f%%   ",
                      100 * (double)column->missing / (double)column->rows);
    } else {
        (void)fprintf(to, "%9s", "");
    }
    if (sotto_schema_is_number(column->type)) {
        (void)fprintf(to, "%.10g to %.10g%s", column->low, column->high,
                      column->log ? ", log" : "");
    } else if (column->count > 0) {
        print_values(to, column);
    }
    (void)fprintf(to, "\n");
}

void
schema_print_columns(FILE *to, const struct sotto_schema *schema)
{
    const struct sotto_schema_column *column;
    size_t dropped = sotto_schema_count(schema, SOTTO_SCHEMA_DROP);
    (void)fprintf(to, "  %-*s  %-16s  missing  range or values\n", NAME_WIDTH,
                  "column", "type");
    for (size_t i = 0; (column = sotto_schema_column_at(schema, i)) != NULL;
         i++) {
        if (column->use != SOTTO_SCHEMA_DROP) {
            print_used(to, column);
        }
    }
    if (dropped > 0) {
        (void)fprintf(to, "left out:\n");
    }
    for (size_t i = 0; (column = sotto_schema_column_at(schema, i)) != NULL;
         i++) {
        if (column->use == SOTTO_SCHEMA_DROP) {
            (void)fprintf(to, "  ");
            cli_put_padded(to, column->name, NAME_WIDTH);
            (void)fprintf(to, "  %s\n", column->why);
        }
    }
}

/* ---- Problems ------------------------------------------------------------ */

bool
schema_print_refused(const struct sotto_schema *schema)
{
    const struct sotto_schema_problem *worst =
        sotto_schema_problem_at(schema, 0);
    return worst != NULL && worst->rank == SOTTO_SCHEMA_REFUSED;
}

void
schema_print_problems(FILE *to, const struct sotto_schema *schema,
                      enum sotto_schema_rank most)
{
    const struct sotto_schema_problem *problem;
    size_t more = 0;
    for (size_t i = 0; (problem = sotto_schema_problem_at(schema, i)) != NULL;
         i++) {
        const struct sotto_schema_column *column =
            sotto_schema_column_at(schema, problem->column);
        if (column != NULL && column->use == SOTTO_SCHEMA_DROP &&
            problem->rank == SOTTO_SCHEMA_NOTE) {
            continue; /* the line of the column has the reason */
        }
        if (problem->rank > most) {
            more++;
            continue;
        }
        (void)fprintf(to, "%s: ", rank_names[problem->rank]);
        cli_put(to, problem->text, strlen(problem->text));
        (void)fprintf(to, ".%s%s\n", problem->remedy[0] != '\0' ? " " : "",
                      problem->remedy);
    }
    if (more > 0) {
        (void)fprintf(to, "%zu note%s more: see sotto schema infer.\n", more,
                      more == 1 ? "" : "s");
    }
}

/* ---- JSON ---------------------------------------------------------------- */

static void
print_column_json(FILE *to, const struct sotto_schema_column *column)
{
    static const char *const uses[] = {"feature", "label", "drop"};
    json_begin(to);
    json_text(to, "column", column->name);
    json_text(to, "type", sotto_schema_type_name(column->type));
    json_text(to, "use", uses[column->use]);
    if (column->use == SOTTO_SCHEMA_DROP) {
        json_text(to, "why", column->why);
    }
    if (sotto_schema_is_number(column->type) && column->low < column->high) {
        json_number(to, "low", column->low);
        json_number(to, "high", column->high);
        json_text(to, "scale", column->log ? "log" : "linear");
    }
    if (sotto_schema_is_category(column->type)) {
        json_size(to, "values", column->count);
    }
    json_size(to, "rows", column->rows);
    json_size(to, "missing", column->missing);
    json_size(to, "distinct", column->distinct);
    json_size(to, "beyond", column->beyond);
    json_size(to, "other", column->other);
    json_bool(to, "missing_told", column->told);
    json_end(to);
}

void
schema_print_json(FILE *to, const struct sotto_schema *schema)
{
    const struct sotto_schema_column *column;
    const struct sotto_schema_problem *problem;
    for (size_t i = 0; (column = sotto_schema_column_at(schema, i)) != NULL;
         i++) {
        print_column_json(to, column);
    }
    for (size_t i = 0; (problem = sotto_schema_problem_at(schema, i)) != NULL;
         i++) {
        column = sotto_schema_column_at(schema, problem->column);
        json_begin(to);
        json_text(to, "problem", sotto_schema_trouble_name(problem->trouble));
        json_text(to, "rank", rank_names[problem->rank]);
        json_text(to, "column", column != NULL ? column->name : NULL);
        json_text(to, "text", problem->text);
        json_text(to, "remedy", problem->remedy);
        json_end(to);
    }
}
