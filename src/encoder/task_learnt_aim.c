/*
 * task_learnt_aim.c: what a task is: columns to be foretold, columns to be
 * told, and how much each counts.
 *
 *     target    a number has variance 1 and is one Gaussian entry of y; a
 *               category is one-hot, "other" the last
 *     weights   entries of x, in units of their deviation
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_learnt.h"
#include "encoder/task_matrix.h"
#include "host/error.h"
#include "host/wipe.h"
#include "schema/matrix.h"

#define WEIGHT_MOST 1e6

/* ---- What was given ------------------------------------------------------ */

/* COL=W, or where a weight may be left out COL: the last '=' counts, a name may
   hold others. */
static enum sotto_status
read_column(const char *setting, const char *text, size_t size, bool needed,
            struct task_column *column, struct sotto_error *err)
{
    const char *last;
    column->weight = 1;
    column->text = strndup(text, size);
    column->column = column->text != NULL ? strdup(column->text) : NULL;
    if (column->text == NULL || column->column == NULL) {
        return host_fail_memory(err);
    }
    last = strrchr(column->text, '=');
    if (last == NULL || !setting_read_number(last + 1, &column->weight)) {
        return needed ? settings_fail(err, setting,
                                      "%.80s: write COLUMN=W, for example "
                                      "age=4",
                                      column->text)
                      : SOTTO_STATUS_OK;
    }
    column->column[last - column->text] = '\0';
    return column->weight > 0 && column->weight <= WEIGHT_MOST
               ? SOTTO_STATUS_OK
               : settings_fail(err, setting,
                               "%.80s: the weight must be a number above 0, at "
                               "most %g",
                               column->text, WEIGHT_MOST);
}

/* Adds the columns of one setting. */
static enum sotto_status
read_list(const char *name, const char *text, bool lists,
          struct task_column **column, size_t *count, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && *text != '\0') {
        size_t size = lists ? task_list_piece(text) : strlen(text);
        struct task_column *more =
            realloc(*column, (*count + 1) * sizeof **column);
        if (more == NULL) {
            return host_fail_memory(err);
        }
        *column = more;
        more[*count] = (struct task_column){.weight = 1};
        status = read_column(name, text, size, lists, &more[(*count)++], err);
        text += size + (text[size] == ',');
    }
    return status;
}

static enum sotto_status
read_columns(const struct sotto_train_options *options, const char *name,
             bool lists, struct task_column **column, size_t *count,
             struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < options->sets; i++) {
        const struct sotto_setting *set = &options->set[i];
        if (strcmp(set->name, name) == 0 && set->value != NULL) {
            status = read_list(name, set->value, lists, column, count, err);
        }
    }
    return status;
}

enum sotto_status
task_aim_read(struct task_aim *aim, const struct sotto_train_options *options,
              struct sotto_error *err)
{
    enum sotto_status status = read_columns(options, "target", false,
                                            &aim->target, &aim->targets, err);
    return HOST_THEN(status,
                     read_columns(options, "weights", true, &aim->weighted,
                                  &aim->weighteds, err));
}

static void
clear_columns(struct task_column *column, size_t count)
{
    for (size_t i = 0; column != NULL && i < count; i++) {
        free(column[i].column);
        free(column[i].text);
    }
    free(column);
}

void
task_aim_clear(struct task_aim *aim)
{
    clear_columns(aim->target, aim->targets);
    clear_columns(aim->weighted, aim->weighteds);
    schema_clear(&aim->schema);
    free(aim->drop);
    host_wipe_free(aim->y, aim->rows * aim->out * sizeof *aim->y);
    free(aim->known);
    free(aim->block);
    free(aim->rebuilt);
}

/* ---- In the table -------------------------------------------------------- */

/* A column whose whole name ends in "=4" is that column. */
static enum sotto_status
find_column(const struct sotto_table *table, const char *setting,
            struct task_column *at, size_t *ret_column, struct sotto_error *err)
{
    if (sotto_table_find(table, at->text) != SIZE_MAX) {
        char *whole = strdup(at->text);
        if (whole == NULL) {
            return host_fail_memory(err);
        }
        free(at->column);
        at->column = whole;
        at->weight = strcmp(setting, "target") == 0 ? 1 : at->weight;
    }
    return schema_fit_find(table, setting, at->column, ret_column, err);
}

static enum sotto_status
check_twice(const struct task_column *column, size_t at, const char *setting,
            struct sotto_error *err)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(column[i].column, column[at].column) == 0) {
            return settings_fail(err, setting, "%.80s is given twice",
                                 column[at].column);
        }
    }
    return SOTTO_STATUS_OK;
}

void
task_words_end(char words[TASK_WORDS_SIZE], size_t size)
{
    if (size >= TASK_WORDS_SIZE) {
        memcpy(words + TASK_WORDS_SIZE - 4, "...", 4);
    }
    for (char *at = words; *at != '\0'; at++) {
        if (*at < 0x20 || *at > 0x7e || *at == '"' || *at == '\\') {
            *at = '?';
        }
    }
}

/* Adds columns to the words, as they were given. */
static void
say_columns(const struct task_column *column, size_t count, const char *intro,
            char words[TASK_WORDS_SIZE])
{
    size_t size = strlen(words);
    for (size_t i = 0; i < count && size < TASK_WORDS_SIZE; i++) {
        int added = snprintf(words + size, TASK_WORDS_SIZE - size, "%s%s",
                             i == 0 ? intro : ",", column[i].text);
        size += added > 0 ? (size_t)added : 0;
    }
    task_words_end(words, size);
}

enum sotto_status
task_aim_find(struct task_aim *aim, const struct sotto_table *table,
              const struct sotto_train_options *options,
              struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t column;
    aim->drop = calloc(options->drops + aim->targets + 1, sizeof *aim->drop);
    if (aim->drop == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < options->drops; i++) {
        aim->drop[aim->drops++] = options->drop[i];
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < aim->targets; i++) {
        struct task_column *target = &aim->target[i];
        status = find_column(table, "target", target, &column, err);
        status = HOST_THEN(status, check_twice(aim->target, i, "target", err));
        if (status == SOTTO_STATUS_OK &&
            (options->label == NULL ||
             strcmp(options->label, target->column) != 0)) {
            aim->drop[aim->drops++] = target->column;
        }
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < aim->weighteds; i++) {
        status = find_column(table, "weights", &aim->weighted[i], &column, err);
        status =
            HOST_THEN(status, check_twice(aim->weighted, i, "weights", err));
    }
    say_columns(aim->target, aim->targets, "target ", aim->words);
    say_columns(aim->weighted, aim->weighteds,
                aim->targets > 0 ? "; weights " : "weights ", aim->words);
    return status;
}

/* ---- y ------------------------------------------------------------------- */

/* Fits a target's column, and adds its block. */
static enum sotto_status
fit_target(struct task_aim *aim, const struct learnt *learnt, size_t at,
           struct sotto_error *err)
{
    const struct sotto_table *table = learnt->job->table;
    const struct task_column *target = &aim->target[at];
    size_t column = sotto_table_find(table, target->column);
    struct schema_aim how = {
        .input = true,
        .as = schema_fit_as(learnt->job->options->schema, table, column)};
    const struct schema_kind *kind =
        schema_kind(schema_kind_of(how.as, table, column));
    enum sotto_status status;
    if (kind->bytes) {
        return settings_fail(err, "target",
                             "%.80s is an image: name a column of numbers or "
                             "of categories",
                             target->column);
    }
    status = schema_fit(&aim->schema, table, column, &how, err);
    if (status == SOTTO_STATUS_OK) {
        const struct schema_column *fitted = &aim->schema.column[at];
        aim->block[aim->blocks++] = (struct task_block){
            kind->symbols ? ANALYST_CATEGORICAL : ANALYST_GAUSSIAN, fitted->at,
            kind->symbols ? fitted->inputs : 1, target->weight};
    }
    return status;
}

static void
find_known(struct task_aim *aim, const struct sotto_table *table)
{
    for (size_t row = 0; row < aim->rows; row++) {
        aim->known[row] = true;
        for (size_t i = 0; i < aim->targets; i++) {
            const struct schema_kind *kind =
                schema_kind(aim->schema.column[i].kind);
            size_t column = sotto_table_find(table, aim->target[i].column);
            struct sotto_value value =
                kind->read(sotto_table_cell(table, row, column));
            bool there = value.kind != SOTTO_VALUE_MISSING &&
                         (!kind->ranged || (value.kind == SOTTO_VALUE_NUMBER &&
                                            isfinite(value.number)));
            aim->known[row] = aim->known[row] && there;
        }
    }
}

/* Whether an entry of y is not the same in all rows that have the targets. */
static bool
is_varied(const struct task_aim *aim, size_t entry)
{
    const float *first = NULL;
    for (size_t row = 0; row < aim->rows; row++) {
        const float *y = aim->y + row * aim->out + entry;
        if (aim->known[row] && first == NULL) {
            first = y;
        }
        if (aim->known[row] && *y != *first) {
            return true;
        }
    }
    return first == NULL; /* no row has them: that has a message of its own */
}

/* Refuses a target that is the same for everybody. */
static enum sotto_status
check_varied(const struct task_aim *aim, struct sotto_error *err)
{
    for (size_t i = 0; i < aim->targets; i++) {
        const struct task_block *block = &aim->block[i];
        bool varied = false;
        for (size_t j = 0; j < block->count; j++) {
            varied = varied || is_varied(aim, block->from + j);
        }
        if (!varied) {
            return settings_fail(err, "target",
                                 "%.80s is the same in all rows: there is "
                                 "nothing to foretell",
                                 aim->target[i].column);
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fill_targets(struct task_aim *aim, const struct learnt *learnt,
             struct sotto_error *err)
{
    enum sotto_status status = schema_init(&aim->schema, aim->targets, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < aim->targets; i++) {
        status = fit_target(aim, learnt, i, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    aim->out = matrix_width(aim->schema.column, aim->schema.columns);
    aim->y = calloc(aim->rows + 1, aim->out * sizeof *aim->y);
    if (aim->y == NULL) {
        return host_fail_memory(err);
    }
    find_known(aim, learnt->job->table);
    status = matrix_fill(&aim->schema, learnt->job->table, aim->y, err);
    return HOST_THEN(status, check_varied(aim, err));
}

/* ---- x ------------------------------------------------------------------- */

/* The mean and the variance of an entry; `row` NULL: of the first rows. */
static double
find_variance(const float *all, size_t width, size_t at, const uint32_t *row,
              size_t rows, double *ret_mean)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < rows; i++) {
        size_t which = row != NULL ? row[i] : i;
        double value = (double)all[which * width + at], from = value - mean;
        mean += from / (double)(i + 1);
        squares += from * (value - mean);
    }
    *ret_mean = mean;
    return squares / (double)rows;
}

static enum sotto_status
fill_weighted(struct task_aim *aim, const struct learnt *learnt, size_t at,
              struct sotto_error *err)
{
    const struct task_column *weighted = &aim->weighted[at];
    double squared = weighted->weight * weighted->weight;
    for (size_t i = 0; i < learnt->schema.columns; i++) {
        const struct schema_column *column = &learnt->schema.column[i];
        bool number = schema_kind(column->kind)->ranged;
        double variance, mean;
        if (i == learnt->label || strcmp(column->name, weighted->column) != 0) {
            continue;
        }
        variance = number ? find_variance(learnt->x, learnt->width, column->at,
                                          NULL, learnt->n, &mean)
                          : 1;
        aim->rebuilt[aim->rebuilts++] = (struct task_block){
            ANALYST_GAUSSIAN, column->at, number ? 1 : column->inputs,
            squared / (variance > 0 ? variance : 1)};
        return SOTTO_STATUS_OK;
    }
    return settings_fail(err, "weights",
                         "%.80s is not among the columns that the record is "
                         "told by",
                         weighted->column);
}

enum sotto_status
task_aim_fill(struct task_aim *aim, const struct learnt *learnt, size_t classes,
              struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    aim->rows = learnt->n;
    aim->known = calloc(learnt->n + 1, sizeof *aim->known);
    aim->block = calloc(aim->targets + 1, sizeof *aim->block);
    aim->rebuilt = calloc(aim->weighteds + 1, sizeof *aim->rebuilt);
    if (aim->known == NULL || aim->block == NULL || aim->rebuilt == NULL) {
        return host_fail_memory(err);
    }
    memset(aim->known, 1, learnt->n * sizeof *aim->known);
    if (aim->targets > 0) {
        status = fill_targets(aim, learnt, err);
    } else if (classes > 0) {
        aim->out = classes;
        aim->block[aim->blocks++] =
            (struct task_block){ANALYST_CATEGORICAL, 0, classes, 1};
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < aim->weighteds; i++) {
        status = fill_weighted(aim, learnt, i, err);
    }
    return status;
}

/* ---- Without a report ---------------------------------------------------- */

/* The variance of numbers, the entropy of categories. */
static double
lose_constant(const struct task_block *block, size_t blocks, const float *y,
              size_t width, const uint32_t *row, size_t rows)
{
    double loss = 0;
    for (size_t i = 0; i < blocks; i++) {
        for (size_t j = 0; j < block[i].count; j++) {
            double mean, variance = find_variance(y, width, block[i].from + j,
                                                  row, rows, &mean);
            loss += block[i].weight * (block[i].likelihood == ANALYST_GAUSSIAN
                                           ? variance
                                       : mean > 0 ? -mean * log(mean)
                                                  : 0);
        }
    }
    return loss;
}

double
task_aim_constant(const struct task_aim *aim, const struct learnt *learnt,
                  const float *y, const uint32_t *row, size_t rows)
{
    return lose_constant(aim->block, aim->blocks, y, aim->out, row, rows) +
           lose_constant(aim->rebuilt, aim->rebuilts, learnt->x, learnt->width,
                         row, rows);
}
