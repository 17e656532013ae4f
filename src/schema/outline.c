/*
 * outline.c: a schema as people see it: columns, and problems in order.
 */
#include "schema/outline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/text.h"

static const char *const type_names[] = {
    [SOTTO_SCHEMA_NUMBER] = "number",
    [SOTTO_SCHEMA_INTEGER] = "integer",
    [SOTTO_SCHEMA_CATEGORY] = "category",
    [SOTTO_SCHEMA_ORDINAL] = "ordinal",
    [SOTTO_SCHEMA_BOOLEAN] = "boolean",
    [SOTTO_SCHEMA_DATE] = "date",
    [SOTTO_SCHEMA_ID] = "id",
    [SOTTO_SCHEMA_TEXT] = "text",
    [SOTTO_SCHEMA_IMAGE] = "image",
};

static const char *const trouble_names[] = {
    [SOTTO_SCHEMA_NO_LABEL] = "label-unusable",
    [SOTTO_SCHEMA_NO_FEATURE] = "no-feature",
    [SOTTO_SCHEMA_ANSWER] = "gives-answer-away",
    [SOTTO_SCHEMA_AFTERWARDS] = "known-afterwards",
    [SOTTO_SCHEMA_RARE_CLASS] = "rare-class",
    [SOTTO_SCHEMA_NUMBER_LABEL] = "number-label",
    [SOTTO_SCHEMA_HALF_MISSING] = "half-missing",
    [SOTTO_SCHEMA_OUTLIERS] = "outliers",
    [SOTTO_SCHEMA_WORDS] = "words-among-numbers",
    [SOTTO_SCHEMA_RARE_CATEGORY] = "rare-categories",
    [SOTTO_SCHEMA_MANY] = "too-many-categories",
    [SOTTO_SCHEMA_FREE_TEXT] = "free-text",
    [SOTTO_SCHEMA_ID_LIKE] = "id",
    [SOTTO_SCHEMA_DATES] = "date",
    [SOTTO_SCHEMA_CONSTANT] = "constant",
    [SOTTO_SCHEMA_EMPTY] = "empty",
    [SOTTO_SCHEMA_FEW_ROWS] = "few-rows",
};

const char *
sotto_schema_type_name(enum sotto_schema_type type)
{
    return (size_t)type < sizeof type_names / sizeof *type_names
               ? type_names[type]
               : NULL;
}

const char *
sotto_schema_trouble_name(enum sotto_schema_trouble trouble)
{
    return (size_t)trouble < sizeof trouble_names / sizeof *trouble_names
               ? trouble_names[trouble]
               : NULL;
}

bool
sotto_schema_is_number(enum sotto_schema_type type)
{
    return type == SOTTO_SCHEMA_NUMBER || type == SOTTO_SCHEMA_INTEGER;
}

bool
sotto_schema_is_category(enum sotto_schema_type type)
{
    return type == SOTTO_SCHEMA_CATEGORY || type == SOTTO_SCHEMA_ORDINAL ||
           type == SOTTO_SCHEMA_BOOLEAN;
}

/* ---- Columns ------------------------------------------------------------- */

struct sotto_schema *
outline_new(void)
{
    return calloc(1, sizeof(struct sotto_schema));
}

void
sotto_schema_free(struct sotto_schema *schema)
{
    if (schema == NULL) {
        return;
    }
    for (size_t i = 0; i < schema->columns; i++) {
        free(schema->block[i]);
    }
    free(schema->block);
    free(schema->column);
    free(schema->problem);
    free(schema);
}

/* Copies a text with its NUL; returns where the next one goes. */
static char *
put_text(char *to, const char *text)
{
    size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    return to + size;
}

/* Gives a column texts of its own, in one block: pointers, name, reason,
   values. NULL for lack of memory. */
static void *
own_texts(struct sotto_schema_column *column)
{
    size_t count = column->count;
    size_t size =
        count * sizeof(char *) + strlen(column->name) + strlen(column->why) + 2;
    for (size_t i = 0; i < count; i++) {
        size += strlen(column->values[i]) + 1;
    }
    const char **block = malloc(size);
    if (block == NULL) {
        return NULL;
    }
    char *name = (char *)(block + count), *why = put_text(name, column->name);
    char *at = put_text(why, column->why);
    for (size_t i = 0; i < count; i++) {
        block[i] = at;
        at = put_text(at, column->values[i]);
    }
    column->name = name;
    column->why = why;
    column->values = block;
    return block;
}

bool
outline_add(struct sotto_schema *schema,
            const struct sotto_schema_column *column)
{
    struct sotto_schema_column own = *column;
    struct sotto_schema_column *columns = host_grow(
        schema->column, sizeof *columns, schema->columns, &schema->room);
    if (columns == NULL) {
        return false;
    }
    schema->column = columns;
    void **blocks = host_grow(schema->block, sizeof *blocks, schema->columns,
                              &schema->block_room);
    if (blocks == NULL) {
        return false;
    }
    schema->block = blocks;
    blocks[schema->columns] = own_texts(&own);
    if (blocks[schema->columns] == NULL) {
        return false;
    }
    columns[schema->columns++] = own;
    return true;
}

size_t
sotto_schema_columns(const struct sotto_schema *schema)
{
    return schema->columns;
}

const struct sotto_schema_column *
sotto_schema_column_at(const struct sotto_schema *schema, size_t i)
{
    return i < schema->columns ? &schema->column[i] : NULL;
}

static struct sotto_schema_column *
find_column(const struct sotto_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->columns; i++) {
        if (strcmp(schema->column[i].name, name) == 0) {
            return &schema->column[i];
        }
    }
    return NULL;
}

const struct sotto_schema_column *
sotto_schema_find(const struct sotto_schema *schema, const char *name)
{
    return find_column(schema, name);
}

static struct sotto_schema_column *
find_label(const struct sotto_schema *schema)
{
    for (size_t i = 0; i < schema->columns; i++) {
        if (schema->column[i].use == SOTTO_SCHEMA_LABEL) {
            return &schema->column[i];
        }
    }
    return NULL;
}

const struct sotto_schema_column *
sotto_schema_label(const struct sotto_schema *schema)
{
    return find_label(schema);
}

size_t
sotto_schema_count(const struct sotto_schema *schema, enum sotto_schema_use use)
{
    size_t count = 0;
    for (size_t i = 0; i < schema->columns; i++) {
        count += schema->column[i].use == use ? 1 : 0;
    }
    return count;
}

bool
sotto_schema_public(const struct sotto_schema *schema)
{
    return schema->is_public;
}

bool
outline_usable(const struct sotto_schema_column *column)
{
    if (sotto_schema_is_number(column->type)) {
        return column->low < column->high &&
               fabs(column->low) <= OUTLINE_RANGE_MOST &&
               fabs(column->high) <= OUTLINE_RANGE_MOST;
    }
    return sotto_schema_is_category(column->type)
               ? column->count > 0 && column->count <= OUTLINE_VALUES_MOST
               : column->type == SOTTO_SCHEMA_IMAGE;
}

enum sotto_status
sotto_schema_set_use(struct sotto_schema *schema, const char *column,
                     enum sotto_schema_use use, struct sotto_error *err)
{
    struct sotto_schema_column *found = find_column(schema, column);
    struct sotto_schema_column *label = find_label(schema);
    if (found == NULL) {
        return host_about(host_fail(err, SOTTO_STATUS_USAGE, 0,
                                    "the schema has no column \"%.80s\"",
                                    column),
                          err, SOTTO_ABOUT_COLUMN, column);
    }
    if (use != SOTTO_SCHEMA_DROP && !outline_usable(found)) {
        return host_about(
            host_fail(err, SOTTO_STATUS_USAGE, 0,
                      "column \"%.80s\" cannot be used as it is: %s", column,
                      found->why[0] != '\0' ? found->why
                                            : "it has no range or values"),
            err, SOTTO_ABOUT_COLUMN, column);
    }
    if (use == SOTTO_SCHEMA_LABEL && label != NULL) {
        label->use = SOTTO_SCHEMA_FEATURE;
    }
    found->use = use;
    return SOTTO_STATUS_OK;
}

/* ---- Problems ------------------------------------------------------------ */

bool
outline_complain(struct sotto_schema *schema,
                 const struct sotto_schema_problem *problem)
{
    struct sotto_schema_problem *problems =
        host_grow(schema->problem, sizeof *problems, schema->problems,
                  &schema->problem_room);
    if (problems != NULL) {
        schema->problem = problems;
        problems[schema->problems++] = *problem;
    }
    return problems != NULL;
}

/* The worst first; of one rank by trouble, then in the table's order. */
static int
compare_problems(const void *a, const void *b)
{
    const struct sotto_schema_problem *x = a, *y = b;
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    if (x->trouble != y->trouble) {
        return x->trouble < y->trouble ? -1 : 1;
    }
    return (x->column > y->column) - (x->column < y->column);
}

void
outline_rank(struct sotto_schema *schema)
{
    if (schema->problems > 1) {
        qsort(schema->problem, schema->problems, sizeof *schema->problem,
              compare_problems);
    }
}

size_t
sotto_schema_problems(const struct sotto_schema *schema)
{
    return schema->problems;
}

const struct sotto_schema_problem *
sotto_schema_problem_at(const struct sotto_schema *schema, size_t i)
{
    return i < schema->problems ? &schema->problem[i] : NULL;
}
