/*
 * task_matrix.c: a task's matrix from a file or from weights.
 */
#include "encoder/task_matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/nearest.h"
#include "host/printable.h"

/* ---- Names of inputs ----------------------------------------------------- */

/* Entries of x that a name stands for, and x's part of one of its units. */
struct entry {
    const struct schema_column *column;
    size_t at, count;
    bool whole; /* all categories of a column of them */
};

static bool
is_input(const struct learnt *learnt, size_t i)
{
    return i != learnt->label && learnt->schema.column[i].inputs > 0;
}

/* A column's own name. */
static bool
find_column(const struct learnt *learnt, const char *name, size_t size,
            struct entry *ret)
{
    for (size_t i = 0; i < learnt->schema.columns; i++) {
        const struct schema_column *column = &learnt->schema.column[i];
        bool number = schema_kind(column->kind)->ranged;
        if (is_input(learnt, i) && strlen(column->name) == size &&
            memcmp(column->name, name, size) == 0) {
            *ret = (struct entry){.column = column,
                                  .at = column->at,
                                  .count = number ? 1 : column->inputs,
                                  .whole = schema_kind(column->kind)->symbols};
            return true;
        }
    }
    return false;
}

/* COL=VALUE: any of the signs may be the one between them. */
static bool
find_category(const struct learnt *learnt, const char *name, struct entry *ret)
{
    for (const char *at = strchr(name, '='); at != NULL;
         at = strchr(at + 1, '=')) {
        struct entry entry = {.count = 0};
        if (!find_column(learnt, name, (size_t)(at - name), &entry) ||
            !entry.whole) {
            continue;
        }
        for (size_t i = 0; i + 1 < entry.column->count; i++) {
            if (strcmp(entry.column->values[i], at + 1) == 0) {
                *ret = (struct entry){
                    .column = entry.column, .at = entry.at + i, .count = 1};
                return true;
            }
        }
    }
    return false;
}

static bool
find_entry(const struct learnt *learnt, const char *name, struct entry *ret)
{
    return find_column(learnt, name, strlen(name), ret) ||
           find_category(learnt, name, ret);
}

/* Adds why a name stands for no input. */
static void
explain_name(const struct learnt *learnt, const char *name,
             struct host_text *text)
{
    const char **names = calloc(learnt->schema.columns + 1, sizeof *names);
    const char *nearest = NULL;
    size_t count = 0;
    for (size_t i = 0; names != NULL && i < learnt->schema.columns; i++) {
        if (is_input(learnt, i)) {
            names[count++] = learnt->schema.column[i].name;
        }
    }
    host_text_print(text, "\"");
    host_printable_add(text, name, 60);
    if (sotto_table_find(learnt->job->table, name) != SIZE_MAX) {
        host_text_print(text, "\", which is no input: it is the label, the "
                              "target, or left out");
    } else if (names != NULL &&
               (nearest = host_nearest(name, names, count)) != NULL) {
        host_text_print(text, "\", which is no input: did you mean \"");
        host_printable_add(text, nearest, 60);
        host_text_print(text, "\"?");
    } else {
        host_text_print(text, "\", which is no input: give a column's name, "
                              "or of a column of categories COL=VALUE");
    }
    free(names);
}

/* ---- Rows of K ----------------------------------------------------------- */

static enum sotto_status
make_rows(struct task_matrix *matrix, size_t outputs, struct sotto_error *err)
{
    matrix->outputs = outputs;
    matrix->K = calloc(outputs, matrix->inputs * sizeof *matrix->K);
    return matrix->K != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

/* Says what the task is, in the letters that a mechanism's note takes. */
static void
say_task(struct task_matrix *matrix, const char *before, const char *name)
{
    size_t size = (size_t)snprintf(matrix->said, sizeof matrix->said, "%s%s",
                                   before, name);
    if (size >= sizeof matrix->said) {
        memcpy(matrix->said + sizeof matrix->said - 4, "...", 4);
    }
    for (char *at = matrix->said; *at != '\0'; at++) {
        if (*at < 0x20 || *at > 0x7e || *at == '"' || *at == '\\') {
            *at = '?';
        }
    }
}

/* Beyond these a loss, which has their squares, is no number. */
#define WEIGHT_LEAST 1e-100
#define WEIGHT_MOST 1e100

static bool
is_weight(double weight)
{
    double size = fabs(weight);
    return size == 0 || (size >= WEIGHT_LEAST && size <= WEIGHT_MOST);
}

/* ---- Weights ------------------------------------------------------------- */

/* The deviation of entry `at` of x. */
static double
find_deviation(const struct learnt *learnt, const double *x, size_t at)
{
    double mean = 0, squares = 0;
    for (size_t row = 0; row < learnt->n; row++) {
        double value = x[row * learnt->width + at], from = value - mean;
        mean += from / (double)(row + 1);
        squares += from * (value - mean);
    }
    return sqrt(squares / (double)learnt->n);
}

/* Takes COL=W apart: the W is behind the last sign. Ends the name in place. */
static enum sotto_status
read_weight(char *piece, double *ret_weight, struct sotto_error *err)
{
    char *sign = strrchr(piece, '=');
    if (sign == NULL || sign == piece ||
        !setting_read_number(sign + 1, ret_weight) || *ret_weight < 0) {
        return settings_fail(err, "weights",
                             "has '%.80s': write COL=W, a column and a number "
                             "that is not below 0, with commas between",
                             piece);
    }
    *sign = '\0';
    return SOTTO_STATUS_OK;
}

/* Sets the weights of one name's entries. */
static enum sotto_status
put_weight(const char *name, double weight, const struct learnt *learnt,
           const double *x, double *weights, struct sotto_error *err)
{
    struct entry entry = {.count = 0};
    if (!find_entry(learnt, name, &entry)) {
        struct host_text why;
        host_text_init(&why, 1024);
        explain_name(learnt, name, &why);
        (void)settings_fail(err, "weights", "names %s",
                            why.data != NULL ? why.data : "no input");
        host_text_clear(&why);
        return SOTTO_STATUS_USAGE;
    }
    for (size_t i = entry.at; i < entry.at + entry.count; i++) {
        double unit = 1;
        if (schema_kind(entry.column->kind)->ranged) {
            unit = find_deviation(learnt, x, i);
        }
        if (weights[i] >= 0) {
            return settings_fail(err, "weights", "names '%.80s' twice", name);
        }
        weights[i] = unit > 0 ? weight / unit : 0;
        if (!is_weight(weights[i])) {
            return settings_fail(err, "weights",
                                 "gives '%.80s' %g: a weight is 0, or from %g "
                                 "to %g",
                                 name, weight, WEIGHT_LEAST, WEIGHT_MOST);
        }
    }
    return SOTTO_STATUS_OK;
}

size_t
task_list_piece(const char *text)
{
    const char *sign = strchr(text, '=');
    const char *comma = sign != NULL ? strchr(sign, ',') : NULL;
    return comma != NULL ? (size_t)(comma - text) : strlen(text);
}

/* Reads all pieces into weights of entries of x; -1: none is given. */
static enum sotto_status
read_weights(char *text, const struct learnt *learnt, const double *x,
             double *weights, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && *text != '\0') {
        size_t size = task_list_piece(text);
        char *next = text + size + (text[size] == ',');
        double weight = 0;
        text[size] = '\0';
        status = read_weight(text, &weight, err);
        status = HOST_THEN(status,
                           put_weight(text, weight, learnt, x, weights, err));
        text = next;
    }
    return status;
}

static enum sotto_status
fill_weights(struct task_matrix *matrix, const char *given,
             const struct learnt *learnt, const double *x,
             struct sotto_error *err)
{
    char *text = strdup(given);
    double *weights = calloc(matrix->inputs, sizeof *weights);
    size_t outputs = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (text == NULL || weights == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < matrix->inputs; i++) {
        weights[i] = -1;
    }
    status = read_weights(text, learnt, x, weights, err);
    for (size_t i = 0; i < matrix->inputs; i++) {
        outputs += weights[i] > 0 ? 1 : 0;
    }
    if (status == SOTTO_STATUS_OK && outputs == 0) {
        status = settings_fail(err, "weights",
                               "asks for nothing: give a weight above 0 to a "
                               "column that varies");
    }
    status = HOST_THEN(status, make_rows(matrix, outputs, err));
    for (size_t i = matrix->inputs; status == SOTTO_STATUS_OK && i-- > 0;) {
        if (weights[i] > 0) {
            matrix->K[--outputs * matrix->inputs + i] = weights[i];
        }
    }
    say_task(matrix, "weights ", given);
done:
    free(weights);
    free(text);
    return status;
}

/* ---- A file -------------------------------------------------------------- */

/* The task's table, and which entry each of its columns is. */
struct file {
    const char *path;
    struct sotto_table *table;
    struct entry *entry;
    size_t columns;
};

static enum sotto_status
fail_header(const struct file *file, const struct learnt *learnt,
            const char *name, struct sotto_error *err)
{
    struct host_text why;
    host_text_init(&why, 1024);
    explain_name(learnt, name, &why);
    (void)host_fail(err, SOTTO_STATUS_INPUT, 0, "'%s': the header has %s",
                    host_shown(file->path),
                    why.data != NULL ? why.data : "no input");
    host_text_clear(&why);
    return SOTTO_STATUS_INPUT;
}

static enum sotto_status
read_header(struct file *file, const struct learnt *learnt,
            struct sotto_error *err)
{
    for (size_t i = 0; i < file->columns; i++) {
        const char *name = sotto_table_name(file->table, i);
        if (!find_entry(learnt, name, &file->entry[i])) {
            return fail_header(file, learnt, name, err);
        }
        if (file->entry[i].count != 1 || file->entry[i].whole) {
            return host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "'%s': the header has \"%.60s\", which holds "
                             "categories or samples: name one category, as in "
                             "COL=VALUE, or take weights",
                             host_shown(file->path), name);
        }
    }
    return SOTTO_STATUS_OK;
}

/* A word somewhere makes a column text; its numbers are numbers still. */
static bool
holds_number(const struct sotto_value *value)
{
    return (value->kind == SOTTO_VALUE_NUMBER ||
            value->kind == SOTTO_VALUE_TEXT) &&
           isfinite(value->number);
}

static enum sotto_status
fail_field(const struct file *file, size_t row, size_t column,
           const struct sotto_value *value, struct sotto_error *err)
{
    struct host_text shown;
    host_text_init(&shown, 1024);
    if (holds_number(value)) {
        host_text_print(&shown,
                        "%g is too large or too small: by a column's own "
                        "scale a weight is 0, or from %g to %g",
                        value->number, WEIGHT_LEAST, WEIGHT_MOST);
    } else if (value->kind == SOTTO_VALUE_TEXT && value->data != NULL) {
        char *text = host_text_copy(value->data, value->size);
        host_text_print(&shown, "\"");
        host_printable_add(&shown, text != NULL ? text : "", 40);
        host_text_print(&shown, "\" is no number");
        free(text);
    } else {
        host_text_print(&shown, "nothing is there: write 0 for no weight");
    }
    (void)host_fail(err, SOTTO_STATUS_INPUT, 0,
                    "'%s': row %zu (line %zu), field \"%.60s\": %s",
                    host_shown(file->path), row + 1,
                    sotto_table_line(file->table, row),
                    sotto_table_name(file->table, column),
                    shown.data != NULL ? shown.data : "no number");
    host_text_clear(&shown);
    return SOTTO_STATUS_INPUT;
}

/* x = (value - shift) scale, so a weight for a unit of the value is 1 / scale
   of that for one of x; a constant, of scale 0, has none. */
static double
weight_of(const struct entry *entry, double weight)
{
    if (!schema_kind(entry->column->kind)->ranged) {
        return weight;
    }
    return entry->column->scale != 0 ? weight / entry->column->scale : 0;
}

static enum sotto_status
read_fields(struct task_matrix *matrix, const struct file *file,
            struct sotto_error *err)
{
    double most = 0;
    for (size_t row = 0; row < matrix->outputs; row++) {
        for (size_t i = 0; i < file->columns; i++) {
            struct sotto_value value = sotto_table_cell(file->table, row, i);
            double *at = &matrix->K[row * matrix->inputs + file->entry[i].at];
            if (!holds_number(&value)) {
                return fail_field(file, row, i, &value, err);
            }
            *at = weight_of(&file->entry[i], value.number);
            if (!is_weight(*at)) {
                return fail_field(file, row, i, &value, err);
            }
            most = fmax(most, fabs(*at));
        }
    }
    return most > 0 ? SOTTO_STATUS_OK
                    : host_fail(err, SOTTO_STATUS_INPUT, 0,
                                "'%s': every weight is 0, or that of a column "
                                "that does not vary: the task asks for nothing",
                                host_shown(file->path));
}

static enum sotto_status
fill_file(struct task_matrix *matrix, const char *path,
          const struct learnt *learnt, struct sotto_error *err)
{
    struct sotto_table_options options = {.header = 1};
    struct file file = {.path = path};
    const char *slash = strrchr(path, '/');
    enum sotto_status status =
        sotto_table_read(path, &options, &file.table, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    file.columns = sotto_table_columns(file.table);
    file.entry = calloc(file.columns, sizeof *file.entry);
    if (file.entry == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = make_rows(matrix, sotto_table_rows(file.table), err);
    status = HOST_THEN(status, read_header(&file, learnt, err));
    status = HOST_THEN(status, read_fields(matrix, &file, err));
    say_task(matrix, "the matrix ", slash != NULL ? slash + 1 : path);
done:
    free(file.entry);
    sotto_table_free(file.table);
    return host_about(status, err, SOTTO_ABOUT_FILE, path);
}

/* ---- All of it ----------------------------------------------------------- */

enum sotto_status
task_given_check(const struct task_given *given, struct sotto_error *err)
{
    int count = (given->matrix != NULL) + (given->weights != NULL) +
                (given->target != NULL);
    if (count == 0) {
        return settings_fail(err, "task",
                             "is missing: give a matrix, or weights, or a "
                             "target");
    }
    return count == 1 ? SOTTO_STATUS_OK
                      : settings_fail(err, "task",
                                      "is given more than once: of task, "
                                      "weights and target give one");
}

enum sotto_status
task_matrix_init(struct task_matrix *matrix, const struct task_given *given,
                 const struct learnt *learnt, const double *x,
                 struct sotto_error *err)
{
    *matrix = (struct task_matrix){.inputs = learnt->width, .told = NAN};
    if (given->matrix != NULL) {
        return fill_file(matrix, given->matrix, learnt, err);
    }
    if (given->weights != NULL) {
        return fill_weights(matrix, given->weights, learnt, x, err);
    }
    say_task(matrix, "the target ", given->target);
    return task_target_fill(matrix, given->target, learnt, x, err);
}

void
task_matrix_clear(struct task_matrix *matrix)
{
    free(matrix->K);
    *matrix = (struct task_matrix){.told = NAN};
}
