/*
 * labelled.c: reports whose labels somebody knows.
 *
 *     report of M      header | parts
 *     report of M+     header with M+'s hash | parts | label, as it is
 */
#include "learn/labelled.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "host/wipe.h"
#include "learn/learner.h"
#include "mechanism/decompose.h"
#include "schema/schema_fit.h"

#define EPS_MOST ((uint64_t)32)

/* ---- The mechanism ------------------------------------------------------- */

/* Adds the column and its part to what is composed. */
static enum sotto_status
compose_labelled(const struct compose_spec *old,
                 const struct schema_column *label,
                 struct sotto_mechanism **ret_labelled, struct sotto_error *err)
{
    struct schema_column *column =
        calloc(old->columns + 1, sizeof *old->column);
    struct compose_part *part = calloc(old->parts + 1, sizeof *old->part);
    struct compose_spec spec = *old;
    uint64_t room = EPS_MOST * SOTTO_UNIT - old->eps;
    uint64_t eps = LABELLED_EPS * SOTTO_UNIT;
    enum sotto_status status;
    eps = eps < room ? eps : room;
    if (eps < DECIMAL_EPS_MIN) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the mechanism spends all of epsilon %u, the most "
                           "there can be: none is left to write labels with",
                           (unsigned)EPS_MOST);
        goto done;
    }
    if (column == NULL || part == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    memcpy(column, old->column, old->columns * sizeof *column);
    memcpy(part, old->part, old->parts * sizeof *part);
    column[old->columns] = *label;
    part[old->parts] = (struct compose_part){
        .covers = "label",
        .channel = "flip",
        .eps = eps,
        .blocks = 1,
        .factor = {{.is_column = true, .at = (uint32_t)old->columns}},
        .factors = 1};
    spec.column = column;
    spec.columns++;
    spec.part = part;
    spec.parts++;
    spec.eps += eps;
    status = compose_open(&spec, ret_labelled, err);
done:
    free(column);
    free(part);
    return status;
}

enum sotto_status
labelled_mechanism(const struct sotto_mechanism *mechanism,
                   const struct schema_column *label,
                   struct sotto_mechanism **ret_labelled,
                   struct sotto_error *err)
{
    struct decompose copy = {0};
    enum sotto_status status;
    if (mechanism->shape.label != SIZE_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism's reports have a label of their own");
    }
    status = decompose_init(&copy, mechanism, err);
    status = HOST_THEN(status,
                       compose_labelled(&copy.spec, label, ret_labelled, err));
    decompose_clear(&copy);
    return status;
}

enum sotto_status
labelled_like(const struct sotto_model *model,
              const struct sotto_mechanism *mechanism,
              struct sotto_mechanism **ret_labelled, struct sotto_error *err)
{
    struct decompose copy = {0};
    enum sotto_status status = decompose_init(&copy, model->mechanism, err);
    status = HOST_THEN(status, labelled_mechanism(mechanism,
                                                  &copy.column[model->column],
                                                  ret_labelled, err));
    decompose_clear(&copy);
    return status;
}

/* ---- Whose label it is --------------------------------------------------- */

/* A row of the labels, by the id of its report. */
struct id_row {
    uint8_t id[SOTTO_ID_SIZE];
    size_t row;
};

static int
compare_ids(const void *a, const void *b)
{
    const struct id_row *left = a, *right = b;
    return memcmp(left->id, right->id, SOTTO_ID_SIZE);
}

/* Reads the ids of all rows, sorted: each is one report's. */
static enum sotto_status
read_ids(const struct sotto_table *labels, size_t column, struct id_row *ret_id,
         struct sotto_error *err)
{
    size_t n = sotto_table_rows(labels);
    for (size_t i = 0; i < n; i++) {
        struct sotto_value cell = sotto_table_cell(labels, i, column);
        size_t size = 0;
        ret_id[i].row = i;
        if (cell.size != (size_t)2 * SOTTO_ID_SIZE ||
            sodium_hex2bin(ret_id[i].id, SOTTO_ID_SIZE, cell.data, cell.size,
                           NULL, &size, NULL) != 0 ||
            size != SOTTO_ID_SIZE) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "row %zu: the column " LABELLED_ID " has the id "
                             "of a report, %u hexadecimal digits",
                             i + 1, 2 * SOTTO_ID_SIZE);
        }
    }
    qsort(ret_id, n, sizeof *ret_id, compare_ids);
    for (size_t i = 1; i < n; i++) {
        if (compare_ids(&ret_id[i - 1], &ret_id[i]) == 0) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "rows %zu and %zu have the same id: a report has "
                             "one label",
                             ret_id[i - 1].row + 1, ret_id[i].row + 1);
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
labelled_match(const struct sotto_report_reader *reader,
               const struct sotto_table *labels, size_t column, size_t *ret_row,
               struct sotto_error *err)
{
    size_t n = sotto_table_rows(labels), matched = 0;
    struct id_row *id = calloc(n + 1, sizeof *id), key;
    enum sotto_status status =
        id != NULL ? read_ids(labels, column, id, err) : host_fail_memory(err);
    for (size_t i = 0; i < sotto_report_reader_count(reader) &&
                       status == SOTTO_STATUS_OK && id != NULL;
         i++) {
        const struct id_row *found;
        memcpy(key.id, sotto_report_id(sotto_report_reader_at(reader, i)),
               SOTTO_ID_SIZE);
        found = bsearch(&key, id, n, sizeof *id, compare_ids);
        ret_row[i] = found != NULL ? found->row : SIZE_MAX;
        matched += found != NULL ? 1 : 0;
    }
    free(id);
    if (status == SOTTO_STATUS_OK && matched == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "no report has one of the ids: a collector that "
                           "releases reports shuffled gives them others");
    }
    return status;
}

/* Takes row i for report i, as many as there are. */
static enum sotto_status
match_order(const struct sotto_report_reader *reader,
            const struct sotto_table *labels, size_t *ret_row,
            struct sotto_error *err)
{
    size_t n = sotto_report_reader_count(reader);
    if (sotto_table_rows(labels) != n) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "there are %zu labels of %zu reports: as many are "
                         "needed, in their order, or a column " LABELLED_ID,
                         sotto_table_rows(labels), n);
    }
    if (sotto_report_reader_repeated(reader) > 0) {
        return host_fail(
            err, SOTTO_STATUS_INPUT, 0,
            "some reports came twice, so that their order does "
            "not tell whose a label is: give a column " LABELLED_ID);
    }
    for (size_t i = 0; i < n; i++) {
        ret_row[i] = i;
    }
    return SOTTO_STATUS_OK;
}

/* ---- The reports --------------------------------------------------------- */

/* Finds a cell's category; the last symbol, "(other)", if it is none. */
static int64_t
find_symbol(struct sotto_value cell, const struct schema_column *label)
{
    size_t i = 0;
    while (i + 1 < label->count &&
           (cell.kind == SOTTO_VALUE_MISSING ||
            cell.size != strlen(label->values[i]) ||
            memcmp(cell.data, label->values[i], cell.size) != 0)) {
        i++;
    }
    return (int64_t)i;
}

/* Copies a report, with the hash of `labelled` in its header and its label
   behind it. */
static void
append_label(const uint8_t *report, size_t size,
             const struct sotto_mechanism *labelled, int64_t symbol,
             uint8_t *ret_report)
{
    const struct shape *shape = &labelled->shape;
    const struct likelihood_instance *flip =
        &labelled->likelihood[shape->label_part];
    size_t hash = shape->part[0].offset - SOTTO_ID_SIZE - SOTTO_HASH_SIZE;
    memcpy(ret_report, report, size);
    memcpy(ret_report + hash, shape->hash, SOTTO_HASH_SIZE);
    (void)flip->likelihood->pack(flip, &symbol, ret_report + size);
}

void
labelled_reports(const struct sotto_mechanism *mechanism,
                 const struct sotto_mechanism *labelled, const uint8_t *reports,
                 size_t n, uint8_t *ret_reports)
{
    size_t size = mechanism->shape.report_size;
    for (size_t i = 0; i < n; i++) {
        append_label(reports + i * size, size, labelled, 0,
                     ret_reports + i * labelled->shape.report_size);
    }
}

/* Makes the reports of `labelled`: those that have a row, with its label. */
static enum sotto_status
append_labels(const struct learn_job *job, size_t size,
              const struct sotto_mechanism *labelled, const size_t *row,
              size_t column, const struct schema_column *label,
              struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    size_t n = sotto_report_reader_count(job->reader), known = 0;
    size_t all = labelled->shape.report_size;
    uint8_t *data = calloc(n + 1, all);
    enum sotto_status status;
    if (data == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        if (row[i] != SIZE_MAX) {
            append_label(
                sotto_report_reader_at(job->reader, i), size, labelled,
                find_symbol(sotto_table_cell(job->labels, row[i], column),
                            label),
                data + known++ * all);
        }
    }
    status = sotto_report_reader_parse(labelled, data, known * all, "reports",
                                       ret_reader, err);
    host_wipe_free(data, (n + 1) * all);
    return status;
}

/* ---- Both ------------------------------------------------------------ */

/* Fits the label's column, and finds the row of each report; `ret_row` has room
   for all reports. Failures are about "labels". */
static enum sotto_status
read_labels(const struct learn_job *job, struct schema *schema, size_t *ret_at,
            size_t *ret_row, struct sotto_error *err)
{
    const struct sotto_report_reader *reader = job->reader;
    const struct sotto_table *labels = job->labels;
    size_t id = sotto_table_find(labels, LABELLED_ID);
    enum sotto_status status =
        id != SIZE_MAX ? labelled_match(reader, labels, id, ret_row, err)
                       : match_order(reader, labels, ret_row, err);
    status = HOST_THEN(
        status, schema_fit_find(labels, "label", job->column, ret_at, err));
    status = HOST_THEN(status,
                       schema_fit_label(schema, labels, *ret_at, NULL, 0, err));
    return host_about(status, err, SOTTO_ABOUT_PARAMETER, "labels");
}

enum sotto_status
labelled_new(const struct sotto_mechanism *mechanism,
             const struct learn_job *job, struct sotto_mechanism **ret_labelled,
             struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    struct schema schema;
    struct sotto_mechanism *labelled = NULL;
    size_t at = 0;
    size_t *row =
        calloc(sotto_report_reader_count(job->reader) + 1, sizeof *row);
    enum sotto_status status;
    if (row == NULL) {
        return host_fail_memory(err);
    }
    status = schema_init(&schema, 1, err);
    status = HOST_THEN(status, read_labels(job, &schema, &at, row, err));
    status = HOST_THEN(
        status, labelled_mechanism(mechanism, schema.column, &labelled, err));
    if (status == SOTTO_STATUS_OK && labelled != NULL) {
        status = append_labels(job, mechanism->shape.report_size, labelled, row,
                               at, schema.column, ret_reader, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_labelled = labelled;
    } else {
        sotto_mechanism_free(labelled);
    }
    free(row);
    schema_clear(&schema);
    return status;
}
