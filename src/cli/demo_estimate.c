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

static void
fill_rows(struct demo_story *story, const struct sotto_estimate *estimate)
{
    struct demo *demo = &story->demo;
    double z = confidence_z(DEMO_CONFIDENCE);
    for (size_t i = 0; i < sotto_estimate_rows(estimate) && i < DEMO_ROWS_MAX;
         i++) {
        struct demo_row *row = &demo->row[demo->rows++];
        struct sotto_estimate_row from;
        sotto_estimate_row(estimate, i, z, &from);
        (void)snprintf(row->name, sizeof row->name, "%s", from.name);
        (void)snprintf(row->category, sizeof row->category, "%s",
                       from.category != NULL ? from.category : "");
        row->truth = truth_of(story, &from);
        row->value = from.value;
        row->low = from.low;
        row->high = from.high;
        row->noise = from.noise_deviation;
        find_range(story, row);
        demo->covered += demo_row_covered(row) ? 1 : 0;
    }
}

/* What a report says of a column: the category it names, or the point of the
   lattice, -l to l and the noise beyond, on the number's range. */
static void
read_answer(const struct sotto_mechanism *mechanism, size_t column, double l,
            int64_t answer, struct demo_field *field)
{
    struct sotto_column_info info;
    sotto_mechanism_column(mechanism, column, &info);
    if (info.kind == SOTTO_COLUMN_CATEGORY) {
        (void)snprintf(
            field->report, sizeof field->report, "%s",
            sotto_mechanism_category(mechanism, column, (size_t)answer));
    } else {
        double middle = (info.low + info.high) / 2;
        double half = (info.high - info.low) / 2;
        (void)snprintf(field->report, sizeof field->report, "%.4g",
                       middle + half * (double)answer / l);
    }
}

/* The blocks that are one integer about one column alone: all there are in a
   mechanism of train direct. */
static void
read_report(struct demo_story *story, const uint8_t *report)
{
    const struct sotto_mechanism *mechanism = story->mechanism;
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    for (size_t p = 0; p < info.parts; p++) {
        struct sotto_part_info part;
        sotto_mechanism_part(mechanism, p, &part);
        for (size_t b = 0; b < part.blocks && part.values == 1; b++) {
            size_t column = sotto_mechanism_part_column(mechanism, p, b);
            int64_t answer;
            if (column < story->demo.fields) {
                sotto_report_values(mechanism, report, p, b, &answer);
                read_answer(mechanism, column, (double)part.l, answer,
                            &story->demo.field[column]);
            }
        }
    }
}

/* The first person's record, and what their report says of it. */
static void
fill_fields(struct demo_story *story, const uint8_t *report)
{
    struct demo *demo = &story->demo;
    const struct sotto_value *values = records_at(&story->records, 0);
    for (size_t i = 0; i < story->records.count && i < DEMO_ROWS_MAX; i++) {
        struct demo_field *field = &demo->field[demo->fields++];
        struct sotto_column_info column;
        sotto_mechanism_column(story->mechanism, i, &column);
        (void)snprintf(field->name, sizeof field->name, "%s", column.name);
        (void)snprintf(field->record, sizeof field->record, "%.*s",
                       (int)values[i].size, (const char *)values[i].data);
    }
    read_report(story, report);
}

int
demo_estimate(struct demo_story *story,
              const struct sotto_report_reader *reader)
{
    const uint8_t *first = sotto_report_reader_at(reader, 0);
    struct sotto_estimate *estimate = NULL;
    struct sotto_error err = {0};
    if (sotto_estimate_new(story->mechanism, &estimate, &err) !=
            SOTTO_STATUS_OK ||
        sotto_report_json(story->mechanism, first, &story->demo.report_json,
                          &err) != SOTTO_STATUS_OK) {
        sotto_estimate_free(estimate);
        return cli_fail(&err);
    }
    for (size_t i = 0; i < sotto_report_reader_count(reader); i++) {
        sotto_estimate_add(estimate, sotto_report_reader_at(reader, i));
    }
    fill_rows(story, estimate);
    fill_fields(story, first);
    sotto_estimate_free(estimate);
    return CLI_EXIT_DONE;
}
