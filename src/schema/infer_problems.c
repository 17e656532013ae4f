/*
 * infer_problems.c: what is wrong with a table, in sentences that name the
 * column and say what to do.
 *
 * Counts are told, and widths of ranges: no field of a record is, but classes
 * and categories that enough rows hold.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "schema/giveaway.h"
#include "schema/infer.h"

#define NAME_SHOWN ((size_t)60)
#define ANSWER 0.95     /* of the label's mistakes mended: it is the answer */
#define AFTERWARDS 0.85 /* or may well have come after it */
#define WITHOUT 0.2     /* of the smaller classes' rows given away for sure */
#define NUMBER_ANSWER 0.99
#define NUMBER_AFTERWARDS 0.97
#define CLASS_FEW ((size_t)50) /* rows of a class, below which it is hard */
#define ROWS_FEW ((size_t)200)
#define ABSURD 1e6 /* widths of the range that no mistaken unit explains */

static void
show_name(const char *name, char *ret_shown, size_t room)
{
    struct host_text text;
    host_text_init(&text, 1024);
    host_printable_add(&text, name, NAME_SHOWN);
    (void)snprintf(ret_shown, room, "%s", text.data != NULL ? text.data : "");
    host_text_clear(&text);
}

/* Adds a problem: its text is `"NAME" ` and what is printed. */
__attribute__((format(printf, 6, 7))) static bool
complain(struct sotto_schema *schema, enum sotto_schema_rank rank,
         enum sotto_schema_trouble trouble, size_t column, const char *remedy,
         const char *format, ...)
{
    struct sotto_schema_problem problem = {
        .rank = rank, .trouble = trouble, .column = column};
    size_t size = 0;
    va_list values;
    if (column < schema->columns) {
        char name[NAME_SHOWN * 4 + 8];
        show_name(schema->column[column].name, name, sizeof name);
        size = (size_t)snprintf(problem.text, sizeof problem.text, "\"%s\" ",
                                name);
        size = size < sizeof problem.text ? size : sizeof problem.text - 1;
    }
    va_start(values, format);
    (void)vsnprintf(problem.text + size, sizeof problem.text - size, format,
                    values);
    va_end(values);
    (void)snprintf(problem.remedy, sizeof problem.remedy, "%s", remedy);
    return outline_complain(schema, &problem);
}

/* ---- One column ---------------------------------------------------------- */

static double
percent(size_t part, size_t all)
{
    return all > 0 ? 100 * (double)part / (double)all : 0;
}

/* What a column that is left out is, and what its owner may do. */
static bool
complain_dropped(struct sotto_schema *schema, const struct infer_column *j,
                 enum sotto_schema_trouble trouble, size_t at)
{
    const char *remedy =
        trouble == SOTTO_SCHEMA_DATES
            ? "Make it a number of days or years if it matters."
        : trouble == SOTTO_SCHEMA_MANY ? "Group its values if it matters."
        : trouble == SOTTO_SCHEMA_ID_LIKE
            ? "If it is not an id, give it a type and use = feature."
            : "";
    size_t present = j->column.rows - j->column.missing;
    return complain(schema, SOTTO_SCHEMA_NOTE, trouble, at, remedy,
                    "is left out: %s (%zu different in %zu row%s)", j->why,
                    j->column.distinct, present, present == 1 ? "" : "s");
}

/* Rows beyond the range: perhaps in another unit; or, far beyond, no quantity:
   an id among numbers, 1e400, a slip of the pen. */
static bool
complain_outliers(struct sotto_schema *schema, const struct infer_column *j,
                  size_t at)
{
    const struct sotto_schema_column *c = &j->column;
    bool absurd = j->furthest >= ABSURD;
    char times[32] = "more than a million";
    if (!absurd) {
        (void)snprintf(times, sizeof times, "%.0f", j->furthest);
    }
    return complain(
        schema, absurd ? SOTTO_SCHEMA_WARNING : SOTTO_SCHEMA_NOTE,
        SOTTO_SCHEMA_OUTLIERS, at,
        absurd ? "No unit explains that: correct those rows, or they count as "
                 "the nearer end."
               : "Check the unit of those rows; they count as the nearer end.",
        "has %zu row%s beyond its range of %g to %g, the furthest by %s times "
        "its width",
        c->beyond, c->beyond == 1 ? "" : "s", c->low, c->high, times);
}

static bool
complain_used(struct sotto_schema *schema, const struct infer_column *j,
              enum sotto_schema_trouble trouble, size_t at)
{
    const struct sotto_schema_column *c = &j->column;
    switch (trouble) {
    case SOTTO_SCHEMA_NUMBER_LABEL:
        return complain(schema, SOTTO_SCHEMA_NOTE, trouble, at,
                        "For a regression, give it type = number and a range.",
                        "is a number with %zu values: taken as classes",
                        c->distinct);
    case SOTTO_SCHEMA_HALF_MISSING:
        return complain(schema, SOTTO_SCHEMA_WARNING, trouble, at,
                        c->told ? "That is told, with noise (missing = told); "
                                  "drop it if that does not help."
                                : "Let it be told (missing = told), or drop "
                                  "it.",
                        "is missing in %.1f%% of the rows",
                        percent(c->missing, c->rows));
    case SOTTO_SCHEMA_OUTLIERS:
        return complain_outliers(schema, j, at);
    case SOTTO_SCHEMA_WORDS:
        return complain(schema, SOTTO_SCHEMA_WARNING, trouble, at,
                        "Look at those rows, or give it type = category.",
                        "has %zu field%s that %s no number: they count as "
                        "missing",
                        j->seen->words + j->seen->absent,
                        j->seen->words + j->seen->absent == 1 ? "" : "s",
                        j->seen->words + j->seen->absent == 1 ? "is" : "are");
    case SOTTO_SCHEMA_RARE_CATEGORY:
        return complain(schema, SOTTO_SCHEMA_NOTE, trouble, at,
                        "Group them, or add those that are public words.",
                        "has %zu value%s held by fewer than %zu rows each "
                        "(%.1f%% of the rows): they are not named, and count "
                        "as other",
                        c->distinct - c->count,
                        c->distinct - c->count == 1 ? "" : "s", j->rare,
                        percent(c->other, c->rows));
    default:
        return complain(schema, SOTTO_SCHEMA_WARNING, trouble, at,
                        "Drop it: it takes a share of epsilon for nothing.",
                        "has the same value in nearly every row");
    }
}

bool
infer_complain(struct sotto_schema *schema, const struct infer_column *judged)
{
    size_t at = schema->columns - 1;
    bool dropped = judged->column.use == SOTTO_SCHEMA_DROP;
    bool told = true;
    for (int i = 0; i <= SOTTO_SCHEMA_FEW_ROWS && told; i++) {
        enum sotto_schema_trouble trouble = (enum sotto_schema_trouble)i;
        if (!judged->trouble[i]) {
            continue;
        }
        told = dropped ? complain_dropped(schema, judged, trouble, at)
                       : complain_used(schema, judged, trouble, at);
        if (dropped) {
            break; /* the reason it is left out */
        }
    }
    return told;
}

/* ---- The label ----------------------------------------------------------- */

static size_t
label_at(const struct sotto_schema *schema)
{
    size_t i = 0;
    while (i < schema->columns && schema->column[i].use != SOTTO_SCHEMA_LABEL) {
        i++;
    }
    return i;
}

/* A label that cannot be one. */
static bool
complain_label(struct sotto_schema *schema, const char *name)
{
    size_t at = 0;
    while (at < schema->columns && strcmp(schema->column[at].name, name) != 0) {
        at++;
    }
    if (at == schema->columns) {
        return true;
    }
    const struct sotto_schema_column *label = &schema->column[at];
    bool used = label->use == SOTTO_SCHEMA_LABEL;
    if (used && outline_usable(label)) {
        return true;
    }
    return complain(schema, SOTTO_SCHEMA_REFUSED, SOTTO_SCHEMA_NO_LABEL, at,
                    "Take another label, more rows, or name the classes "
                    "(--label-values, or values = ... in the schema).",
                    "cannot be the label: %s",
                    !used ? label->why : "no class is held by enough rows");
}

static size_t
rows_of(const struct sotto_table *table, size_t column, const char *value)
{
    size_t rows = 0, size = strlen(value);
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value cell = sotto_table_cell(table, row, column);
        rows += cell.data != NULL && cell.size == size &&
                        memcmp(cell.data, value, size) == 0
                    ? 1
                    : 0;
    }
    return rows;
}

/* Classes that few rows have, and those that are not named at all. */
static bool
complain_classes(struct sotto_schema *schema, const struct sotto_table *table,
                 size_t at, size_t rare)
{
    struct sotto_schema_column *label = &schema->column[at];
    size_t column = sotto_table_find(table, label->name);
    bool told = true;
    if (!sotto_schema_is_category(label->type) || label->rows == 0 ||
        label->missing == label->rows) {
        return true;
    }
    if (label->other > 0) {
        told = complain(schema, SOTTO_SCHEMA_WARNING, SOTTO_SCHEMA_RARE_CLASS,
                        at, "Group them, or name them if they are public.",
                        "has %zu class%s held by fewer than %zu rows each (%zu "
                        "row%s): they are not named, and count as other",
                        label->distinct - label->count,
                        label->distinct - label->count == 1 ? "" : "es", rare,
                        label->other, label->other == 1 ? "" : "s");
    }
    for (size_t i = 0; i < label->count && told && label->count <= 64; i++) {
        size_t rows = rows_of(table, column, label->values[i]);
        char name[NAME_SHOWN * 4 + 8];
        if (rows >= CLASS_FEW) {
            continue;
        }
        show_name(label->values[i], name, sizeof name);
        told = complain(schema, SOTTO_SCHEMA_WARNING, SOTTO_SCHEMA_RARE_CLASS,
                        at, "Group it with another, or expect it to be missed.",
                        "has %zu row%s of class \"%s\": few to learn from",
                        rows, rows == 1 ? "" : "s", name);
    }
    if (told && label->count == 1 && label->other == 0) {
        told = complain(schema, SOTTO_SCHEMA_WARNING, SOTTO_SCHEMA_RARE_CLASS,
                        at, "Take a label with two classes or more.",
                        "has one class only: there is nothing to learn");
    }
    return told;
}

/* ---- The answer ---------------------------------------------------------- */

static bool
complain_found(struct sotto_schema *schema, const struct giveaway_found *found,
               size_t at, const struct sotto_schema_column *label)
{
    static const char remedy[] =
        "Drop it unless it is known before the label is.";
    bool number = sotto_schema_is_number(label->type);
    double answer = number ? NUMBER_ANSWER : ANSWER;
    double afterwards = number ? NUMBER_AFTERWARDS : AFTERWARDS;
    char name[NAME_SHOWN * 4 + 8] = "";
    if (found->missing >= afterwards) {
        return complain(schema, SOTTO_SCHEMA_WARNING, SOTTO_SCHEMA_AFTERWARDS,
                        at, remedy,
                        "tells the label by whether it is missing: it may be "
                        "known only afterwards");
    }
    if (found->share >= answer) {
        return complain(
            schema, SOTTO_SCHEMA_WARNING, SOTTO_SCHEMA_ANSWER, at, remedy,
            "gives the answer away: alone it mends %.1f%% of what "
            "%s gets wrong",
            100 * found->share, number ? "the mean" : "the largest class");
    }
    if (found->share >= afterwards) {
        return complain(
            schema, SOTTO_SCHEMA_WARNING, SOTTO_SCHEMA_AFTERWARDS, at, remedy,
            "alone mends %.1f%% of what %s gets wrong: it may be "
            "known only afterwards",
            100 * found->share, number ? "the mean" : "the largest class");
    }
    if (found->without >= WITHOUT) {
        show_name(label->values[found->main_class], name, sizeof name);
        return complain(schema, SOTTO_SCHEMA_WARNING, SOTTO_SCHEMA_AFTERWARDS,
                        at, remedy,
                        "has values that \"%s\" hardly ever has, in %.0f%% of "
                        "the other rows: it may be known only afterwards",
                        name, 100 * found->without);
    }
    return true;
}

static enum sotto_status
complain_answers(struct sotto_schema *schema, const struct sotto_table *table,
                 size_t label, struct sotto_error *err)
{
    struct giveaway giveaway;
    enum sotto_status status =
        giveaway_init(&giveaway, table, &schema->column[label], err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < schema->columns; i++) {
        struct giveaway_found found;
        if (schema->column[i].use != SOTTO_SCHEMA_FEATURE) {
            continue;
        }
        status = giveaway_look(&giveaway, &schema->column[i], &found, err);
        if (status == SOTTO_STATUS_OK &&
            !complain_found(schema, &found, i, &schema->column[label])) {
            status = host_fail_memory(err);
        }
    }
    giveaway_clear(&giveaway);
    return status;
}

/* ---- All of it ------------------------------------------------------------
 */

enum sotto_status
infer_complain_all(struct sotto_schema *schema, const struct sotto_table *table,
                   const struct sotto_schema_options *options,
                   struct sotto_error *err)
{
    size_t rows = sotto_table_rows(table), label = label_at(schema);
    size_t rare = options->rare > 0 ? options->rare : INFER_RARE;
    bool told = true;
    if (options->label != NULL) {
        told = complain_label(schema, options->label);
    }
    if (told && label < schema->columns) {
        told = complain_classes(schema, table, label, rare);
    }
    if (told && sotto_schema_count(schema, SOTTO_SCHEMA_FEATURE) == 0 &&
        schema->columns > (options->label != NULL ? 1 : 0)) {
        told = complain(schema, SOTTO_SCHEMA_REFUSED, SOTTO_SCHEMA_NO_FEATURE,
                        SIZE_MAX,
                        "Give those that can be used a type and use = feature.",
                        "no column but the label can be used");
    }
    if (told && rows < ROWS_FEW) {
        told =
            complain(schema, SOTTO_SCHEMA_WARNING, SOTTO_SCHEMA_FEW_ROWS,
                     SIZE_MAX, "Check every range and category by hand.",
                     "the table has %zu row%s: ranges and categories are "
                     "rough%s",
                     rows, rows == 1 ? "" : "s",
                     rare < INFER_RARE ? ", and may be single records'" : "");
    }
    enum sotto_status status = told ? SOTTO_STATUS_OK : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK && label < schema->columns &&
        outline_usable(&schema->column[label])) {
        status = complain_answers(schema, table, label, err);
    }
    return status;
}
