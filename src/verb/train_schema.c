/*
 * train_schema.c: the schema of sotto train: --schema, or what is inferred from
 * the data and told.
 */
#include <stdlib.h>
#include <string.h>

#include "verb/schema_print.h"
#include "verb/train_kinds.h"

#define ROWS_SMALL 100u

/* ---- What is inferred ---------------------------------------------------- */

/* Names of columns that options hold; the texts of ranges are copies. */
struct lists {
    const char **keep, **drop, **category, **number;
    size_t keeps, drops, categories, numbers;
};

static void
lists_clear(struct lists *lists)
{
    for (size_t i = 0; i < lists->numbers; i++) {
        free((void *)(uintptr_t)lists->number[i]); /* its const is ours */
    }
    free(lists->keep);
    free(lists->drop);
    free(lists->category);
    free(lists->number);
}

static size_t
fill_list(const struct cli_args *args, const char *option, const char **list)
{
    size_t count = 0;
    while ((list[count] = cli_nth(args, option, count)) != NULL) {
        count++;
    }
    return count;
}

/* The column of COL=LOW:HIGH, for the caller to free; what is wrong with the
   range is told where it is read. */
static char *
range_column(const char *range)
{
    const char *end = strrchr(range, '=');
    return end != NULL ? strndup(range, (size_t)(end - range)) : strdup(range);
}

static int
lists_fill(const struct cli_args *args, const struct sotto_table *table,
           const char *label, struct lists *lists)
{
    size_t room = args->given_count + 2;
    const char *range;
    lists->keep = calloc(room, sizeof *lists->keep);
    lists->drop = calloc(room, sizeof *lists->drop);
    lists->category = calloc(room, sizeof *lists->category);
    lists->number = calloc(room, sizeof *lists->number);
    if (lists->keep == NULL || lists->drop == NULL || lists->category == NULL ||
        lists->number == NULL) {
        return cli_no_memory();
    }
    lists->keeps = fill_list(args, "keep", lists->keep);
    lists->drops = fill_list(args, "drop", lists->drop);
    lists->categories = fill_list(args, "category", lists->category);
    if (label != NULL && cli_given(args, "labels")) {
        lists->category[lists->categories++] = label; /* of a file of its own */
    }
    for (size_t i = 0; (range = cli_nth(args, "range", i)) != NULL; i++) {
        char *column = range_column(range);
        if (column == NULL) {
            return cli_no_memory();
        }
        if (sotto_table_find(table, column) == SIZE_MAX) {
            free(column);
            continue;
        }
        lists->number[lists->numbers++] = column;
    }
    return CLI_EXIT_DONE;
}

/* Images are samples, and have no schema. */
static bool
has_images(const struct sotto_table *table)
{
    for (size_t i = 0; i < sotto_table_columns(table); i++) {
        if (sotto_table_kind(table, i) == SOTTO_COLUMN_BYTES) {
            return true;
        }
    }
    return false;
}

static void
tell_assumed(const struct cli_args *args, const struct sotto_schema *schema)
{
    FILE *to = cli_summary(cli_value(args, "output"));
    if (cli_given(args, "json")) {
        schema_print_problems(stderr, schema, SOTTO_SCHEMA_WARNING);
        return;
    }
    (void)fprintf(to, "Taken from the data (sotto schema infer writes it as a "
                      "text to edit):\n");
    schema_print_columns(to, schema);
    schema_print_problems(to, schema, SOTTO_SCHEMA_WARNING);
    (void)fprintf(to, "\n");
}

static int
refuse(const struct sotto_schema *schema)
{
    schema_print_problems(stderr, schema, SOTTO_SCHEMA_NOTE);
    return cli_bad("the data cannot be used as they are: see above");
}

/* With so few rows no category is held by enough of them: all are named then,
   and a warning says what that means. */
static size_t
rare_of(const struct sotto_table *table, uint64_t given)
{
    return given > 0                              ? (size_t)given
           : sotto_table_rows(table) < ROWS_SMALL ? 1
                                                  : 0;
}

int
train_schema_infer(const struct cli_args *args, const struct sotto_table *table,
                   const char *label, struct sotto_schema **ret_schema)
{
    struct lists lists = {0};
    struct sotto_error err = {0};
    struct sotto_schema *schema = NULL;
    uint64_t rare = 0;
    if (has_images(table)) {
        return CLI_EXIT_DONE;
    }
    if (!cli_whole(args, "rare", 1, 1000000000, &rare)) {
        return CLI_EXIT_BAD;
    }
    int status = lists_fill(args, table, label, &lists);
    const struct sotto_schema_options options = {.label = label,
                                                 .keep = lists.keep,
                                                 .keeps = lists.keeps,
                                                 .drop = lists.drop,
                                                 .drops = lists.drops,
                                                 .category = lists.category,
                                                 .categories = lists.categories,
                                                 .number = lists.number,
                                                 .numbers = lists.numbers,
                                                 .rare = rare_of(table, rare)};
    if (status == CLI_EXIT_DONE) {
        status =
            cli_exit(sotto_schema_infer(table, &options, &schema, &err), &err);
    }
    if (status == CLI_EXIT_DONE && schema_print_refused(schema)) {
        status = refuse(schema);
    }
    lists_clear(&lists);
    if (status == CLI_EXIT_DONE) {
        *ret_schema = schema;
    } else {
        sotto_schema_free(schema);
    }
    return status;
}

/* ---- What is given ------------------------------------------------------- */

/* Options overrule: columns that are kept are used, the label is the label. */
static int
overrule(const struct cli_args *args, const char *label,
         struct sotto_schema *schema)
{
    struct sotto_error err = {0};
    const char *name;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0;
         status == SOTTO_STATUS_OK && (name = cli_nth(args, "keep", i)) != NULL;
         i++) {
        status = sotto_schema_set_use(schema, name, SOTTO_SCHEMA_FEATURE, &err);
    }
    if (status == SOTTO_STATUS_OK && label != NULL &&
        sotto_schema_find(schema, label) == NULL) {
        return cli_bad("the schema does not say what the label \"%.80s\" is: "
                       "add it, with its values or its range",
                       label);
    }
    if (status == SOTTO_STATUS_OK && label != NULL) {
        status = sotto_schema_set_use(schema, label, SOTTO_SCHEMA_LABEL, &err);
    }
    return cli_exit(status, &err);
}

static int
read_schema(const struct cli_args *args, const char *path, const char *label,
            struct sotto_schema **ret_schema)
{
    struct sotto_schema *schema = NULL;
    if (cli_given(args, "category")) {
        return cli_bad("--category is for data without a schema: say type = "
                       "category and its values in '%.240s'",
                       path);
    }
    if (cli_given(args, "rare")) {
        return cli_bad("--rare is for data without a schema: leave it out");
    }
    int status = schema_print_read(path, &schema);
    status = CLI_THEN(status, overrule(args, label, schema));
    if (status == CLI_EXIT_DONE) {
        *ret_schema = schema;
    } else {
        sotto_schema_free(schema);
    }
    return status;
}

bool
train_schema_labels(const char *path)
{
    struct sotto_schema *schema = NULL;
    struct sotto_error err = {0};
    bool names = sotto_schema_read(path, &schema, &err) == SOTTO_STATUS_OK &&
                 sotto_schema_label(schema) != NULL;
    sotto_schema_free(schema);
    return names;
}

int
train_schema(const struct cli_args *args, const struct sotto_table *table,
             const char **label, struct sotto_schema **ret_schema)
{
    const char *path = cli_value(args, "schema");
    const struct sotto_schema_column *given;
    int status;
    if (path == NULL && cli_given(args, "encoder")) {
        return CLI_EXIT_DONE;
    }
    if (path == NULL) {
        status = train_schema_infer(args, table, *label, ret_schema);
        if (status == CLI_EXIT_DONE && *ret_schema != NULL) {
            tell_assumed(args, *ret_schema);
        }
        return status;
    }
    status = read_schema(args, path, *label, ret_schema);
    given = status == CLI_EXIT_DONE ? sotto_schema_label(*ret_schema) : NULL;
    if (*label == NULL && given != NULL) {
        *label = given->name;
    }
    return status;
}

int
train_schema_categories(const struct sotto_schema *schema,
                        struct sotto_table *table)
{
    const struct sotto_schema_column *as;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    for (size_t i = 0; status == CLI_EXIT_DONE &&
                       (as = sotto_schema_column_at(schema, i)) != NULL;
         i++) {
        size_t column = sotto_table_find(table, as->name);
        if (as->use != SOTTO_SCHEMA_DROP &&
            sotto_schema_is_category(as->type) && column != SIZE_MAX &&
            sotto_table_kind(table, column) == SOTTO_COLUMN_NUMBER) {
            status =
                cli_exit(sotto_table_set_category(table, column, &err), &err);
        }
    }
    return status;
}
