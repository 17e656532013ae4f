/*
 * sotto/schemas.h: what the columns of a table are, as a text that people
 * edit: types, ranges, categories, the label, what is left out and why; and the
 * problems of a table, all at once.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one. docs/schema.md has the file's grammar and every rule of inference.
 *
 *     struct sotto_schema_options options = {.label = "outcome"};
 *     sotto_schema_infer(table, &options, &schema, &err);
 *     for (size_t i = 0; i < sotto_schema_problems(schema); i++) {
 *         puts(sotto_schema_problem_at(schema, i)->text);
 *     }
 *     sotto_schema_write(schema, "table.schema", &err);
 *     struct sotto_train_options train = {.eps = "2", .schema = schema};
 */
#ifndef SOTTO_SCHEMAS_H
#define SOTTO_SCHEMAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/tables.h"
#include "sotto/work.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_schema;

/* Values are pinned; names are sotto_schema_type_name's. */
enum sotto_schema_type {
    SOTTO_SCHEMA_NUMBER = 0,
    SOTTO_SCHEMA_INTEGER = 1,  /* a number without a fraction */
    SOTTO_SCHEMA_CATEGORY = 2, /* one of `values`; anything else is "other" */
    SOTTO_SCHEMA_ORDINAL = 3,  /* a category whose values are in order */
    SOTTO_SCHEMA_BOOLEAN = 4,  /* a category with two values */
    SOTTO_SCHEMA_DATE = 5,     /* this and the next two are never used */
    SOTTO_SCHEMA_ID = 6,       /* tells people apart */
    SOTTO_SCHEMA_TEXT = 7,     /* free text */
    SOTTO_SCHEMA_IMAGE = 8     /* samples: no range, no values */
};

enum sotto_schema_use {
    SOTTO_SCHEMA_FEATURE = 0,
    SOTTO_SCHEMA_LABEL = 1, /* at most one column */
    SOTTO_SCHEMA_DROP = 2
};

/* What is known of a column. Texts live as long as the schema. */
struct sotto_schema_column {
    const char *name;
    enum sotto_schema_type type;
    enum sotto_schema_use use;
    const char *why;  /* it is dropped, in a few words; "" if not known */
    double low, high; /* of a number or integer in use, low < high: what lies
                         beyond counts as the nearer end */
    const char *const *values; /* of a category, ordinal or boolean in use */
    size_t count;              /* of them, at most 1,024 */
    bool told; /* a missing value is told from the others; else it counts as
                  the middle of the range, or as "other" */
    bool log; /* of a number: what is learnt sees sign(v) ln(1 + |v|) of a value
                 v; direct sends numbers as they are */
    /* What inference saw; all 0 in a schema that was read from a file. */
    size_t rows;     /* of the table */
    size_t missing;  /* of them, without a value */
    size_t distinct; /* values */
    size_t beyond;   /* rows outside low to high */
    size_t other;    /* rows whose category is not among `values` */
};

/* A line for a type: "number"; NULL for none. */
const char *sotto_schema_type_name(enum sotto_schema_type type);
/* Whether a type is a number's, which has a range; a category's, with values.
 */
bool sotto_schema_is_number(enum sotto_schema_type type);
bool sotto_schema_is_category(enum sotto_schema_type type);

/* ---- Inference ----------------------------------------------------------- */

struct sotto_schema_options {
    const char *label; /* its column; NULL: none */
    /* Columns that the owner named, each list NULL or as long as it says: only
       these are used, and they are even if they look useless; left out; hold
       categories; hold numbers (whose range is given elsewhere). */
    const char *const *keep, *const *drop, *const *category, *const *number;
    size_t keeps, drops, categories, numbers;
    size_t rare; /* a category held by fewer rows is not written; 0: 10 */
    bool logs;   /* numbers with a heavy tail get their logarithm: for an owner
                    who will read the schema */
};

/*
 * Says what the columns of a table are (docs/schema.md has the rules), and what
 * is wrong with them. No range end is one record's value: ranges are quantiles
 * of the rows, rounded outward to a grid of 1, 2, 2.5 or 5 times a power of
 * ten; no category that fewer than `rare` rows hold is named. The table is
 * looked at, not kept. This gives the table's people no guarantee. Statuses:
 * USAGE (a column that is named is not there), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_schema_infer(const struct sotto_table *table,
                   const struct sotto_schema_options *options,
                   struct sotto_schema **ret_schema, struct sotto_error *err);
void sotto_schema_free(struct sotto_schema *schema);

size_t sotto_schema_columns(const struct sotto_schema *schema);
/* Column i, in the table's order; NULL: there are fewer. */
const struct sotto_schema_column *
sotto_schema_column_at(const struct sotto_schema *schema, size_t i);
/* The column of that name, NULL: there is none; the label's. */
const struct sotto_schema_column *
sotto_schema_find(const struct sotto_schema *schema, const char *name);
const struct sotto_schema_column *
sotto_schema_label(const struct sotto_schema *schema);
/* How many columns have that use. */
size_t sotto_schema_count(const struct sotto_schema *schema,
                          enum sotto_schema_use use);
/* Whether its owner says that nothing in it was taken from records: then it
   costs the auxiliary people nothing. */
bool sotto_schema_public(const struct sotto_schema *schema);

/* Changes what a column is used for; a column that becomes the label takes its
   place from the one that was. Statuses: USAGE (no such column; a type, or
   a lack of range or values, that cannot be used). */
SOTTO_CHECKED enum sotto_status
sotto_schema_set_use(struct sotto_schema *schema, const char *column,
                     enum sotto_schema_use use, struct sotto_error *err);

/* ---- Problems ------------------------------------------------------------ */

enum sotto_schema_rank {
    SOTTO_SCHEMA_REFUSED = 0, /* nothing can be trained until it is mended */
    SOTTO_SCHEMA_WARNING = 1, /* what is trained may mislead */
    SOTTO_SCHEMA_NOTE = 2     /* what was decided, for the owner to know */
};

/* Values are pinned; names are sotto_schema_problem_name's. */
enum sotto_schema_trouble {
    SOTTO_SCHEMA_NO_LABEL = 0,  /* the label cannot be used */
    SOTTO_SCHEMA_NO_FEATURE,    /* no column is left to learn from */
    SOTTO_SCHEMA_ANSWER,        /* gives the answer away */
    SOTTO_SCHEMA_AFTERWARDS,    /* may be known only after the label is */
    SOTTO_SCHEMA_RARE_CLASS,    /* a class of the label with few rows */
    SOTTO_SCHEMA_NUMBER_LABEL,  /* the label is a number with few values */
    SOTTO_SCHEMA_HALF_MISSING,  /* at least half of the values */
    SOTTO_SCHEMA_OUTLIERS,      /* that would have set the range */
    SOTTO_SCHEMA_WORDS,         /* among numbers: they count as missing */
    SOTTO_SCHEMA_RARE_CATEGORY, /* values held by few rows: they are "other" */
    SOTTO_SCHEMA_MANY,          /* more than 1,024 categories */
    SOTTO_SCHEMA_FREE_TEXT,
    SOTTO_SCHEMA_ID_LIKE,
    SOTTO_SCHEMA_DATES,
    SOTTO_SCHEMA_CONSTANT,
    SOTTO_SCHEMA_EMPTY,
    SOTTO_SCHEMA_FEW_ROWS /* of the table */
};

struct sotto_schema_problem {
    enum sotto_schema_rank rank;
    enum sotto_schema_trouble trouble;
    size_t column;    /* SIZE_MAX: of the table */
    char text[320];   /* what it is: a sentence that names the column */
    char remedy[160]; /* what to do: a sentence, or "" */
};

/* Ranked: the worst first, then in the table's order. */
size_t sotto_schema_problems(const struct sotto_schema *schema);
const struct sotto_schema_problem *
sotto_schema_problem_at(const struct sotto_schema *schema, size_t i);
/* "gives-answer-away"; NULL for none. */
const char *sotto_schema_trouble_name(enum sotto_schema_trouble trouble);

/* ---- The file ------------------------------------------------------------ */

/* Writes a schema as a text to edit; a comment beside each column says what was
   seen, in counts alone. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_schema_write(const struct sotto_schema *schema, const char *path,
                   struct sotto_error *err);
/* The same as a NUL-terminated text, which the caller frees. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_schema_text(const struct sotto_schema *schema, char **ret_text,
                  struct sotto_error *err);
/* Reads one, strictly: a message names the line and the field of the first
   fault, and how many more there are. Statuses: IO, INPUT, LIMIT, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_schema_read(const char *path, struct sotto_schema **ret_schema,
                  struct sotto_error *err);
/* The same, and tells each fault, a hundred at most, as the message would be
   that named it alone. What is no schema at all has one. */
SOTTO_CHECKED enum sotto_status sotto_schema_read_told(
    const char *path, void (*tell)(void *own, const char *message), void *own,
    struct sotto_schema **ret_schema, struct sotto_error *err);
/* The same from memory; `name` stands in messages for the file's path. */
SOTTO_CHECKED enum sotto_status
sotto_schema_parse(const void *data, size_t size, const char *name,
                   struct sotto_schema **ret_schema, struct sotto_error *err);

/* ---- A table against a schema -------------------------------------------- */

enum sotto_schema_misfit_kind {
    SOTTO_SCHEMA_FITS = 0,
    SOTTO_SCHEMA_MISSING = 1, /* no value; of a column: no such column */
    SOTTO_SCHEMA_BEYOND = 2,  /* a number outside the range */
    SOTTO_SCHEMA_WORD = 3,    /* no number where one belongs */
    SOTTO_SCHEMA_UNKNOWN = 4, /* a category that is not among the values */
    SOTTO_SCHEMA_FRACTION = 5 /* a fraction where a whole number belongs */
};

/* One field that does not fit; `text` points into the table. */
struct sotto_schema_misfit {
    size_t row, line; /* from 0; from 1, or 0 */
    size_t column;    /* of the schema */
    enum sotto_schema_misfit_kind kind;
    struct sotto_value value;
};

/* Rows of each kind, for one column of the schema. */
struct sotto_schema_total {
    size_t of[6]; /* by sotto_schema_misfit_kind */
    bool absent;  /* the table has no such column */
};

/*
 * Looks at every field of the columns in use. `ret_total` has room for a
 * total for each of the schema's columns. `tell` (NULL: nobody is told) is
 * called for each field that does not fit, row by row, but not for missing
 * ones; false ends the telling, not the counting. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_schema_check(
    const struct sotto_schema *schema, const struct sotto_table *table,
    bool (*tell)(void *own, const struct sotto_schema_misfit *misfit),
    void *own, struct sotto_schema_total *ret_total, struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
