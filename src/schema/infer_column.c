/*
 * infer_column.c: a column's type, range, values and use.
 *
 *     nothing there -> drop     numbers -> boolean, id, date, constant: drop;
 *                                          else a range
 *     words -> date, id, free text, too many: drop; else values
 *
 * What a column is used for follows from its own fields and its owner's words
 * alone, not from other columns. docs/schema.md has the rules.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/error.h"
#include "host/text.h"
#include "schema/date_text.h"
#include "schema/infer.h"
#include "schema/robust.h"
#include "table/table.h"

#define MOSTLY 0.95 /* of the fields, that make a column what it is */
#define UNIQUE_ROWS ((size_t)20)  /* fewer call none unique, or constant */
#define CLASSES_MOST ((size_t)20) /* a number with so few values is a class */
#define CLASS_ROWS ((size_t)10)   /* rows to a value, of such a number */
#define ORDINAL_MOST ((size_t)50)
#define LOG_VALUES ((size_t)20) /* different ones, of which a log is taken */
#define WORDY 2.0               /* blanks in a field of free text, on average */
#define FAR 2.0 /* widths of a range beyond it, where outliers begin */

/* ---- Leaving out --------------------------------------------------------- */

static void
leave_out(struct infer_column *j, enum sotto_schema_type type,
          enum sotto_schema_trouble trouble, const char *why)
{
    j->column.type = type;
    j->column.use = SOTTO_SCHEMA_DROP;
    j->trouble[trouble] = true;
    (void)snprintf(j->why, sizeof j->why, "%s", why);
}

static size_t
count_present(const struct infer_column *j)
{
    return j->seen->rows - j->seen->missing;
}

/* Whether `part` is nearly all of `all`. */
static bool
mostly(size_t part, size_t all)
{
    return all > 0 && (double)part >= MOSTLY * (double)all;
}

/* ---- Numbers ------------------------------------------------------------- */

static bool
ends_in(const char *name, const char *ending)
{
    size_t size = strlen(name), tail = strlen(ending);
    return size >= tail && strcasecmp(name + size - tail, ending) == 0;
}

/* Whether a name says that a column tells people apart: id, or a word of its
   own at the end of it. */
static bool
names_id(const char *name)
{
    static const char *const endings[] = {"_id",  " id",    "-id",   ".id",
                                          "_key", "uuid",   "guid",  "_no",
                                          "_nr",  "number", "_index"};
    size_t size = strlen(name);
    if (strcasecmp(name, "id") == 0 || strcasecmp(name, "index") == 0 ||
        (size > 2 && strcmp(name + size - 2, "Id") == 0) ||
        (size > 2 && strcmp(name + size - 2, "ID") == 0)) {
        return true;
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (ends_in(name, endings[i])) {
            return true;
        }
    }
    return false;
}

/* Whether nearly every row has a whole number of its own, and its name, its
   order or the gaps between them say that it counts people. */
static bool
is_id(const struct infer_column *j)
{
    const struct profile *p = j->seen;
    if (p->numbers < UNIQUE_ROWS || !p->whole ||
        !mostly(p->distinct_numbers, p->numbers)) {
        return false;
    }
    double span = p->number[p->numbers - 1] - p->number[0];
    return names_id(sotto_table_name(j->table, j->at)) || p->increasing ||
           span <= 1.5 * (double)p->numbers ||
           (p->distinct_numbers == p->numbers && p->number[0] >= 100000);
}

static bool
is_date_number(const struct profile *p)
{
    return p->whole && p->numbers >= UNIQUE_ROWS && p->distinct_numbers > 2 &&
           date_text_is_number(p->number[0]) &&
           date_text_is_number(p->number[p->numbers / 2]) &&
           date_text_is_number(p->number[p->numbers - 1]);
}

/* Counts rows beyond the range, and how far the furthest is. */
static void
count_beyond(struct infer_column *j)
{
    const struct profile *p = j->seen;
    double width = j->column.high - j->column.low;
    double below = j->column.low - p->number[0];
    double above = p->number[p->numbers - 1] - j->column.high;
    for (size_t i = 0; i < p->numbers; i++) {
        j->column.beyond +=
            p->number[i] < j->column.low || p->number[i] > j->column.high;
    }
    j->furthest = fmax(below, above) / width;
    j->trouble[SOTTO_SCHEMA_OUTLIERS] = j->furthest > FAR;
}

/* A range for a column that has none of its own, and is wanted all the same:
   around its one value, on a coarse grid. */
static void
make_range(struct infer_column *j)
{
    size_t numbers = j->seen->numbers;
    double value = numbers > 0 ? j->seen->number[numbers / 2] : 0;
    double around[2] = {value - fmax(1, fabs(value)),
                        value + fmax(1, fabs(value))};
    if (!robust_range(around, 2, false, 0, &j->column.low, &j->column.high)) {
        j->column.low = -1;
        j->column.high = 1;
    }
}

static void
judge_numbers(struct infer_column *j)
{
    const struct profile *p = j->seen;
    bool wanted = j->kept || j->as_number || j->label;
    j->column.type = p->whole ? SOTTO_SCHEMA_INTEGER : SOTTO_SCHEMA_NUMBER;
    j->column.distinct = p->distinct_numbers;
    j->column.missing = p->rows - p->numbers;
    j->trouble[SOTTO_SCHEMA_WORDS] = p->words + p->absent > 0;
    if (!wanted && is_date_number(p)) {
        leave_out(j, SOTTO_SCHEMA_DATE, SOTTO_SCHEMA_DATES, "a date");
        return;
    }
    if (!wanted && is_id(j)) {
        leave_out(j, SOTTO_SCHEMA_ID, SOTTO_SCHEMA_ID_LIKE,
                  "a number of its own for nearly every row");
        return;
    }
    size_t rare = j->rare > INFER_RARE ? j->rare : INFER_RARE;
    bool ranged = robust_range(p->number, p->numbers, p->whole, rare,
                               &j->column.low, &j->column.high);
    if (!ranged) {
        make_range(j);
        j->trouble[SOTTO_SCHEMA_CONSTANT] = true;
    }
    if (!ranged && !j->kept && !j->as_number && p->rows >= UNIQUE_ROWS) {
        leave_out(j, j->column.type, SOTTO_SCHEMA_CONSTANT,
                  p->distinct_numbers == 1
                      ? "every row that has a value has the same one"
                      : "hardly any row has another value than the others");
    }
    count_beyond(j);
    j->column.log = j->logs && ranged && !j->label &&
                    p->distinct_numbers >= LOG_VALUES &&
                    robust_heavy(p->number, p->numbers);
}

/* ---- Categories ---------------------------------------------------------- */

/* More rows first, then by bytes. */
static int
compare_rows(const void *a, const void *b)
{
    const struct profile_word *x = *(const struct profile_word *const *)a;
    const struct profile_word *y = *(const struct profile_word *const *)b;
    if (x->rows != y->rows) {
        return x->rows > y->rows ? -1 : 1;
    }
    return (x > y) - (x < y);
}

static int
compare_places(const void *a, const void *b)
{
    const struct profile_word *x = *(const struct profile_word *const *)a;
    const struct profile_word *y = *(const struct profile_word *const *)b;
    return (x > y) - (x < y);
}

/* Takes the values that enough rows hold, at most 1,024 of them, in the order
   of their bytes. */
static enum sotto_status
take_values(struct infer_column *j, struct sotto_error *err)
{
    struct profile *p = j->seen;
    size_t count = 0;
    struct profile_word **often = calloc(p->distinct + 1, sizeof(void *));
    j->value = calloc(OUTLINE_VALUES_MOST + 1, sizeof *j->value);
    if (often == NULL || j->value == NULL) {
        free(often);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < p->distinct; i++) {
        if (p->word[i].rows >= j->rare && p->word[i].size > 0) {
            often[count++] = &p->word[i];
        }
    }
    qsort(often, count, sizeof *often, compare_rows);
    count = count < OUTLINE_VALUES_MOST ? count : OUTLINE_VALUES_MOST;
    qsort(often, count, sizeof *often, compare_places);
    j->column.other = count_present(j);
    for (size_t i = 0; i < count; i++) {
        j->value[i] = host_text_copy(often[i]->data, often[i]->size);
        if (j->value[i] == NULL) {
            free(often);
            return host_fail_memory(err);
        }
        j->column.count++;
        j->column.other -= often[i]->rows;
    }
    free(often);
    j->column.values = (const char *const *)j->value;
    return SOTTO_STATUS_OK;
}

/* Whether letters of a value belong to what it counts: not signs that compare,
   nor the s of a plural. */
static size_t
unit_of(const char *value, char *ret_unit, size_t room)
{
    size_t size = 0;
    for (; value != NULL && *value != '\0' && size + 1 < room; value++) {
        if (strchr("0123456789<>=+-., ", *value) == NULL) {
            ret_unit[size++] = *value;
        }
    }
    size -= size > 1 && ret_unit[size - 1] == 's' ? 1 : 0;
    ret_unit[size] = '\0';
    return size;
}

/* Where a value stands in an order by the first number in it: one that is below
   it or above comes just before or after. */
static bool
rank_of(const char *value, double *ret_rank)
{
    const char *digit = value != NULL ? strpbrk(value, "0123456789") : NULL;
    if (digit == NULL) {
        return false;
    }
    *ret_rank = strtod(digit, NULL) - (strchr(value, '<') != NULL ? 0.5 : 0) +
                (strpbrk(digit, ">+") != NULL ? 0.5 : 0);
    return true;
}

static int
compare_ranks(const void *a, const void *b)
{
    double x = 0, y = 0;
    (void)rank_of(*(char *const *)a, &x);
    (void)rank_of(*(char *const *)b, &y);
    return (x > y) - (x < y);
}

/* Whether all values count the same thing, as "< 1 year", "10+ years"; then
   puts them in order. */
static bool
put_in_order(struct infer_column *j)
{
    char first[64], unit[64];
    double rank, before = -INFINITY;
    size_t count = j->column.count;
    if (count < 2 || count > ORDINAL_MOST ||
        unit_of(j->value[0], first, sizeof first) == 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        (void)unit_of(j->value[i], unit, sizeof unit);
        if (strcasecmp(unit, first) != 0 || !rank_of(j->value[i], &rank)) {
            return false;
        }
    }
    qsort(j->value, count, sizeof *j->value, compare_ranks);
    for (size_t i = 0; i < count; i++) {
        if (!rank_of(j->value[i], &rank) || rank <= before) {
            return false;
        }
        before = rank;
    }
    return true;
}

/* Why words cannot be used as they are; NULL: they can. */
static const char *
judge_words(const struct infer_column *j, enum sotto_schema_type *ret_type,
            enum sotto_schema_trouble *ret_trouble)
{
    const struct profile *p = j->seen;
    size_t present = count_present(j);
    double blanks = (double)p->blanks / (double)present;
    bool unique = present >= UNIQUE_ROWS && p->distinct * 10 >= present * 9;
    if (mostly(p->dates, present) && !j->kept) {
        *ret_type = SOTTO_SCHEMA_DATE;
        *ret_trouble = SOTTO_SCHEMA_DATES;
        return "a date";
    }
    if (unique || p->distinct > OUTLINE_VALUES_MOST) {
        bool wordy = blanks >= WORDY;
        *ret_type = wordy    ? SOTTO_SCHEMA_TEXT
                    : unique ? SOTTO_SCHEMA_ID
                             : SOTTO_SCHEMA_CATEGORY;
        *ret_trouble = wordy    ? SOTTO_SCHEMA_FREE_TEXT
                       : unique ? SOTTO_SCHEMA_ID_LIKE
                                : SOTTO_SCHEMA_MANY;
        return wordy    ? "free text"
               : unique ? "a text of its own for nearly every row"
                        : "more than 1024 different values";
    }
    return NULL;
}

static enum sotto_status
judge_categories(struct infer_column *j, struct sotto_error *err)
{
    struct profile *p = j->seen;
    enum sotto_schema_type type = SOTTO_SCHEMA_CATEGORY;
    enum sotto_schema_trouble trouble = SOTTO_SCHEMA_MANY;
    j->column.type = SOTTO_SCHEMA_CATEGORY;
    j->column.distinct = p->distinct;
    const char *why =
        j->label || j->as_category ? NULL : judge_words(j, &type, &trouble);
    if (why != NULL) {
        leave_out(j, type, trouble, why);
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = take_values(j, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (j->column.count == 2 && j->column.other == 0) {
        j->column.type = SOTTO_SCHEMA_BOOLEAN;
    } else if (!j->label && put_in_order(j)) {
        j->column.type = SOTTO_SCHEMA_ORDINAL;
    }
    j->trouble[SOTTO_SCHEMA_RARE_CATEGORY] = j->column.other > 0 && !j->label;
    if (j->column.count == 0 && !j->label) {
        (void)snprintf(j->why, sizeof j->why, "no value is held by %zu rows",
                       j->rare);
        j->column.use = SOTTO_SCHEMA_DROP;
    } else if (j->column.count == 1 && j->column.other < j->rare && !j->label &&
               !j->kept && !j->as_category && p->rows >= UNIQUE_ROWS) {
        leave_out(j, SOTTO_SCHEMA_CATEGORY, SOTTO_SCHEMA_CONSTANT,
                  j->column.other == 0
                      ? "every row that has a value has the same one"
                      : "hardly any row has another value than the others");
        j->trouble[SOTTO_SCHEMA_RARE_CATEGORY] = false;
    }
    return SOTTO_STATUS_OK;
}

/* ---- All of it ------------------------------------------------------------
 */

static int
compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The values of a label that was declared, in the order of their bytes: they
   are public words. */
static enum sotto_status
take_declared(struct infer_column *j, const struct table_cell *words,
              size_t count, const uint8_t *bytes, struct sotto_error *err)
{
    j->value = calloc(count + 1, sizeof *j->value);
    for (size_t i = 0; j->value != NULL && i < count; i++) {
        j->value[i] = host_text_copy(bytes + words[i].start, words[i].size);
        if (j->value[i] == NULL) {
            return host_fail_memory(err);
        }
        j->column.count++;
    }
    if (j->value != NULL) {
        qsort(j->value, count, sizeof *j->value, compare_texts);
    }
    j->column.type = count == 2 ? SOTTO_SCHEMA_BOOLEAN : SOTTO_SCHEMA_CATEGORY;
    j->column.values = (const char *const *)j->value;
    return j->value != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

/* Whether two numbers are all there are: 0 and 1, or enough rows of others. */
static bool
is_pair(const struct profile *p)
{
    return p->distinct_numbers == 2 &&
           (p->rows >= UNIQUE_ROWS ||
            (p->number[0] == 0 && p->number[p->numbers - 1] == 1));
}

/* Whether numbers name classes: the label's, of which there are few. */
static bool
are_classes(const struct infer_column *j)
{
    const struct profile *p = j->seen;
    return j->label && p->texts &&
           (is_pair(p) || (p->whole && p->distinct_numbers <= CLASSES_MOST &&
                           p->numbers >= CLASS_ROWS * p->distinct_numbers));
}

static enum sotto_status
judge_present(struct infer_column *j, struct sotto_error *err)
{
    const struct profile *p = j->seen;
    bool numbers = p->numbers > 0 && mostly(p->numbers, p->numbers + p->words);
    if (j->as_category || (!numbers && !j->as_number)) {
        return judge_categories(j, err);
    }
    if (!j->as_number && numbers && are_classes(j)) {
        j->trouble[SOTTO_SCHEMA_NUMBER_LABEL] = true;
        return judge_categories(j, err);
    }
    if (!j->as_number && !j->label && p->texts && p->distinct == 2 &&
        is_pair(p) && p->words + p->absent == 0) {
        enum sotto_status status = judge_categories(j, err);
        if (status != SOTTO_STATUS_OK ||
            j->column.type == SOTTO_SCHEMA_BOOLEAN ||
            j->column.use == SOTTO_SCHEMA_DROP) {
            return status;
        }
        j->trouble[SOTTO_SCHEMA_RARE_CATEGORY] = false;
        infer_column_clear(j);
        j->column.values = NULL;
        j->column.count = 0;
        j->column.other = 0;
    }
    judge_numbers(j);
    return SOTTO_STATUS_OK;
}

enum sotto_status
infer_column(struct infer_column *judged, struct sotto_error *err)
{
    struct infer_column *j = judged;
    size_t declared = 0;
    const uint8_t *bytes = NULL;
    const struct table_cell *words =
        table_words(j->table, j->at, &declared, &bytes);
    enum sotto_status status = SOTTO_STATUS_OK;
    j->column.name = sotto_table_name(j->table, j->at);
    j->column.rows = j->seen->rows;
    j->column.missing = j->seen->missing;
    j->column.use = j->label ? SOTTO_SCHEMA_LABEL : SOTTO_SCHEMA_FEATURE;
    if (words != NULL) {
        status = take_declared(j, words, declared, bytes, err);
    } else if (count_present(j) == 0) {
        leave_out(j, SOTTO_SCHEMA_TEXT, SOTTO_SCHEMA_EMPTY,
                  "no row has a value");
    } else if (count_present(j) < j->rare && !j->kept && !j->as_number) {
        leave_out(j,
                  j->seen->words > 0 ? SOTTO_SCHEMA_TEXT : SOTTO_SCHEMA_NUMBER,
                  SOTTO_SCHEMA_EMPTY,
                  j->seen->rows < j->rare ? "the table has too few rows"
                                          : "hardly any row has a value");
    } else {
        status = judge_present(j, err);
    }
    bool used = j->column.use != SOTTO_SCHEMA_DROP;
    j->column.told = used && !j->label && j->column.missing >= j->rare;
    j->trouble[SOTTO_SCHEMA_HALF_MISSING] =
        used && words == NULL && j->column.missing * 2 >= j->column.rows;
    j->column.why = j->why;
    return status;
}

void
infer_column_clear(struct infer_column *judged)
{
    for (size_t i = 0; judged->value != NULL && i < judged->column.count; i++) {
        free(judged->value[i]);
    }
    free(judged->value);
    judged->value = NULL;
}
