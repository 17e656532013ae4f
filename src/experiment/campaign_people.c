/*
 * campaign_people.c: who answers a simulated campaign, and what they say.
 *
 * Who is asked, and in what order, is by lot; of those asked the first answer,
 * and of those who answer the first lie: so a larger share of either adds
 * people to the smaller one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/campaign.h"
#include "host/error.h"
#include "random/draw.h"
#include "random/permute.h"
#include "random/seeded.h"

/* Whose record and whose label each answer has. */
struct answers {
    size_t *record, *label;
    size_t count;
};

size_t
campaign_people_asked(const struct sotto_table *people,
                      const struct sotto_campaign_run *run)
{
    return run->people > 0 ? run->people : sotto_table_rows(people);
}

/* ---- By lot -------------------------------------------------------------- */

/* Any of `count` rows. */
static size_t
draw_row(struct seeded *seeded, size_t count)
{
    return draw_below(&seeded->random, (uint32_t)count);
}

/* Asks n of `rows` people, each once as long as there are enough. */
static void
ask(size_t *row, size_t n, size_t rows, size_t *order, uint64_t seed)
{
    struct seeded seeded;
    seeded_init(&seeded, seed, CAMPAIGN_STREAM_RECORDS);
    for (size_t i = 0; i < rows; i++) {
        order[i] = i;
    }
    permute(order, sizeof *order, rows, PERMUTE_UP, seed,
            CAMPAIGN_STREAM_ASKED);
    for (size_t i = 0; i < n; i++) {
        row[i] = n <= rows ? order[i] : draw_row(&seeded, rows);
    }
}

/* ---- Lies ---------------------------------------------------------------- */

static int
compare_cells(struct sotto_value a, struct sotto_value b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* A row that has the class after that of `row`, by the order of their texts;
   the first class comes after the last. The row itself if there is no other. */
static size_t
find_next_class(const struct sotto_table *table, size_t column, size_t row)
{
    size_t rows = sotto_table_rows(table), next = SIZE_MAX, first = row;
    struct sotto_value own = sotto_table_cell(table, row, column);
    for (size_t i = 0; i < rows; i++) {
        struct sotto_value cell = sotto_table_cell(table, i, column);
        if (cell.size == 0) {
            continue;
        }
        if (compare_cells(cell, own) > 0 &&
            (next == SIZE_MAX ||
             compare_cells(cell, sotto_table_cell(table, next, column)) < 0)) {
            next = i;
        }
        if (compare_cells(cell, sotto_table_cell(table, first, column)) < 0) {
            first = i;
        }
    }
    return next != SIZE_MAX ? next : first;
}

/* The next class's row for each row: found once for a class. */
static enum sotto_status
swap_labels(const struct sotto_table *people, size_t column,
            struct answers *answers, size_t liars, struct sotto_error *err)
{
    size_t *known = calloc(liars + 1, 2 * sizeof *known), count = 0;
    if (known == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < liars; i++) {
        struct sotto_value own =
            sotto_table_cell(people, answers->record[i], column);
        size_t j = 0;
        while (j < count &&
               compare_cells(
                   own, sotto_table_cell(people, known[2 * j], column)) != 0) {
            j++;
        }
        if (j == count) {
            known[2 * j] = answers->record[i];
            known[2 * j + 1] =
                find_next_class(people, column, answers->record[i]);
            count++;
        }
        answers->label[i] = known[2 * j + 1];
    }
    free(known);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
lie(const struct sotto_table *people, size_t column,
    const struct sotto_campaign_run *run, size_t liars, struct answers *answers,
    struct sotto_error *err)
{
    struct seeded records, labels;
    size_t rows = sotto_table_rows(people);
    if (run->lie == SOTTO_CAMPAIGN_LIE_SWAP) {
        return swap_labels(people, column, answers, liars, err);
    }
    seeded_init(&records, run->seed, CAMPAIGN_STREAM_RECORDS + (1u << 16));
    seeded_init(&labels, run->seed, CAMPAIGN_STREAM_LABELS);
    for (size_t i = 0; i < liars; i++) {
        answers->record[i] = draw_row(&records, rows);
        answers->label[i] = draw_row(&labels, rows);
    }
    return SOTTO_STATUS_OK;
}

/* ---- The table ----------------------------------------------------------- */

/* Puts the records of some rows beside the labels of others. */
static enum sotto_status
join_labels(const struct sotto_table *people, size_t column,
            const struct answers *answers, struct sotto_table **ret_table,
            struct sotto_error *err)
{
    struct sotto_table *table = NULL, *label = NULL;
    enum sotto_status status = sotto_table_select(people, answers->record,
                                                  answers->count, &table, err);
    status = HOST_THEN(status, sotto_table_drop(table, column, err));
    status = HOST_THEN(status, sotto_table_select(people, answers->label,
                                                  answers->count, &label, err));
    for (size_t i = sotto_table_columns(people);
         i-- > 0 && status == SOTTO_STATUS_OK;) {
        status = i != column ? sotto_table_drop(label, i, err) : status;
    }
    status = HOST_THEN(status, sotto_table_join(table, label, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_table = table;
    } else {
        sotto_table_free(label);
        sotto_table_free(table);
    }
    return status;
}

static enum sotto_status
check_run(const struct sotto_table *people,
          const struct sotto_campaign_run *run, struct sotto_error *err)
{
    size_t rows = sotto_table_rows(people);
    if (rows == 0 || rows > UINT32_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a table of %zu people cannot be asked", rows);
    }
    if (!(run->silent >= 0 && run->silent < 1) ||
        !(run->lying >= 0 && run->lying <= 1)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the shares of silent and lying people are from 0 to "
                         "1, and somebody answers");
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
campaign_people_take(const struct sotto_table *people, const char *label,
                     const struct sotto_campaign_run *run,
                     struct sotto_table **ret_table, size_t *ret_asked,
                     struct sotto_error *err)
{
    size_t rows = sotto_table_rows(people), column = 0, liars = 0;
    size_t asked = campaign_people_asked(people, run);
    size_t *order = calloc(rows + 1, sizeof *order);
    struct answers answers = {.record = calloc(asked + 1, sizeof(size_t)),
                              .label = calloc(asked + 1, sizeof(size_t))};
    bool whole =
        order != NULL && answers.record != NULL && answers.label != NULL;
    enum sotto_status status = check_run(people, run, err);
    status = HOST_THEN(status, campaign_label(people, label, &column, err));
    if (status == SOTTO_STATUS_OK && !whole) {
        status = host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK && whole) {
        ask(answers.record, asked, rows, order, run->seed);
        for (size_t i = 0; i < asked; i++) {
            answers.label[i] = answers.record[i];
        }
        answers.count = (size_t)llround((double)asked * (1 - run->silent));
        liars = (size_t)llround((double)answers.count * run->lying);
    }
    if (status == SOTTO_STATUS_OK && answers.count == 0) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0, "nobody answers");
    }
    if (status == SOTTO_STATUS_OK && liars > 0 &&
        run->lie == SOTTO_CAMPAIGN_LIE_SWAP &&
        sotto_table_kind(people, column) == SOTTO_COLUMN_NUMBER) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "the label is a number: there is no next class that "
                           "liars could agree on");
    }
    if (status == SOTTO_STATUS_OK && liars > 0) {
        status = lie(people, column, run, liars, &answers, err);
    }
    status = HOST_THEN(status,
                       join_labels(people, column, &answers, ret_table, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_asked = asked;
    }
    free(order);
    free(answers.record);
    free(answers.label);
    return status;
}
