/*
 * demo_estimate.c: what the reports of the demo say, beside the truth.
 */
#include <string.h>

#include "cli/confidence.h"
#include "cli/demo.h"

/* The people's true mean, or share of a category: nobody knows it in life. */
static double
truth_of(const struct demo_story *story, const struct sotto_estimate_row *row)
{
    size_t column = records_column(story->people, row->name);
    size_t rows = sotto_table_rows(story->people);
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        struct sotto_value cell = sotto_table_cell(story->people, i, column);
        if (row->category == NULL) {
            sum += cell.number;
        } else if (cell.size == strlen(row->category) &&
                   memcmp(cell.data, row->category, cell.size) == 0) {
            sum += 1;
        }
    }
    return sum / (double)rows;
}

static void
find_range(const struct demo_story *story, struct demo_row *row)
{
    row->range_low = 0;
    row->range_high = 1;
    for (size_t i = 0; row->category[0] == '\0' && i < story->records.count;
         i++) {
        struct sotto_column_info column;
        sotto_mechanism_column(story->mechanism, i, &column);
        if (strcmp(column.name, row->name) == 0) {
            row->range_low = column.low;
            row->range_high = column.high;
        }
    }
}

bool
demo_row_covered(const struct demo_row *row)
{
    return row->low <= row->truth && row->truth <= row->high;
}

/* All people's rows, and beside them what one report alone would say. */
static void
fill_rows(struct demo_story *story, const struct sotto_estimate *all,
          const struct sotto_estimate *one)
{
    struct demo *demo = &story->demo;
    double z = confidence_z(DEMO_CONFIDENCE);
    for (size_t i = 0; i < sotto_estimate_rows(all) && i < DEMO_ROWS_MAX; i++) {
        struct demo_row *row = &demo->row[demo->rows++];
        struct sotto_estimate_row from, alone;
        sotto_estimate_row(all, i, z, &from);
        sotto_estimate_row(one, i, z, &alone);
        (void)snprintf(row->name, sizeof row->name, "%s", from.name);
        (void)snprintf(row->category, sizeof row->category, "%s",
                       from.category != NULL ? from.category : "");
        row->truth = truth_of(story, &from);
        row->value = from.value;
        row->low = from.low;
        row->high = from.high;
        row->noise = from.noise_deviation;
        row->one = alone.value;
        find_range(story, row);
        demo->covered += demo_row_covered(row) ? 1 : 0;
    }
}

/* The first person's record, and what their report reads as. Of a category
   the report holds one answer: the one its reading is largest for. */
static void
fill_fields(struct demo_story *story)
{
    struct demo *demo = &story->demo;
    const struct sotto_value *values = records_at(&story->records, 0);
    for (size_t i = 0; i < story->records.count && i < DEMO_ROWS_MAX; i++) {
        struct demo_field *field = &demo->field[demo->fields++];
        struct sotto_column_info column;
        double best = -1e300;
        sotto_mechanism_column(story->mechanism, i, &column);
        (void)snprintf(field->name, sizeof field->name, "%s", column.name);
        (void)snprintf(field->record, sizeof field->record, "%.*s",
                       (int)values[i].size, (const char *)values[i].data);
        for (size_t j = 0; j < demo->rows; j++) {
            const struct demo_row *row = &demo->row[j];
            if (strcmp(row->name, column.name) != 0) {
                continue;
            }
            if (row->category[0] == '\0') {
                (void)snprintf(field->report, sizeof field->report, "%.4g",
                               row->one);
            } else if (row->one > best) {
                best = row->one;
                (void)snprintf(field->report, sizeof field->report, "%s",
                               row->category);
            }
        }
    }
}

int
demo_estimate(struct demo_story *story,
              const struct sotto_report_reader *reader)
{
    struct sotto_estimate *all = NULL, *one = NULL;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    if (sotto_estimate_new(story->mechanism, &all, &err) != SOTTO_STATUS_OK ||
        sotto_estimate_new(story->mechanism, &one, &err) != SOTTO_STATUS_OK ||
        sotto_report_json(story->mechanism, sotto_report_reader_at(reader, 0),
                          &story->demo.report_json, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
        goto done;
    }
    for (size_t i = 0; i < sotto_report_reader_count(reader); i++) {
        sotto_estimate_add(all, sotto_report_reader_at(reader, i));
    }
    for (size_t i = 0; i < 2; i++) { /* twice: an estimate needs two */
        sotto_estimate_add(one, sotto_report_reader_at(reader, 0));
    }
    fill_rows(story, all, one);
    fill_fields(story);
done:
    sotto_estimate_free(all);
    sotto_estimate_free(one);
    return status;
}
