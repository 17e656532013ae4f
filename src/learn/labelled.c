/*
 * labelled.c: reports whose labels somebody knows.
 *
 *     report of M      header | parts
 *     report of M+     header with M+'s hash | parts | label, as it is
 */
#include "learn/labelled.h"

#include <stdlib.h>
#include <string.h>

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
    if (status == SOTTO_STATUS_OK) {
        status = compose_labelled(&copy.spec, label, ret_labelled, err);
    }
    decompose_clear(&copy);
    return status;
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

/* Copies every report, with the hash of `labelled` in its header and its label
   behind it. */
static enum sotto_status
append_labels(const struct sotto_report_reader *reader, size_t size,
              const struct sotto_mechanism *labelled,
              const struct sotto_table *labels, size_t column,
              const struct schema_column *label,
              struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    const struct shape *shape = &labelled->shape;
    const struct likelihood_instance *flip =
        &labelled->likelihood[shape->label_part];
    size_t n = sotto_report_reader_count(reader), all = shape->report_size;
    size_t hash = shape->part[0].offset - SOTTO_ID_SIZE - SOTTO_HASH_SIZE;
    uint8_t *data = calloc(n + 1, all);
    enum sotto_status status;
    if (data == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t *to = data + i * all;
        int64_t symbol =
            find_symbol(sotto_table_cell(labels, i, column), label);
        memcpy(to, sotto_report_reader_at(reader, i), size);
        memcpy(to + hash, shape->hash, SOTTO_HASH_SIZE);
        (void)flip->likelihood->pack(flip, &symbol, to + size);
    }
    status = sotto_report_reader_parse(labelled, data, n * all, "reports",
                                       ret_reader, err);
    host_wipe_free(data, (n + 1) * all);
    return status;
}

/* ---- Learning ------------------------------------------------------------ */

static enum sotto_status
check_labels(const struct sotto_report_reader *reader,
             const struct sotto_table *labels, struct sotto_error *err)
{
    size_t n = sotto_report_reader_count(reader);
    return sotto_table_rows(labels) == n
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "there are %zu labels of %zu reports: as many are "
                           "needed, in their order",
                           sotto_table_rows(labels), n);
}

enum sotto_status
learn_fit_labelled(struct sotto_mechanism *mechanism,
                   const struct sotto_report_reader *reader,
                   const struct sotto_table *labels, const char *column,
                   const struct sotto_analyst *analyst,
                   const struct sotto_table *aux,
                   const struct learn_options *options,
                   struct sotto_model **ret_model,
                   struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    struct schema_column label = {0};
    struct sotto_mechanism *labelled = NULL;
    struct sotto_report_reader *known = NULL;
    struct learn_job job = {
        .analyst = analyst, .table = aux, .options = options};
    size_t at = 0;
    enum sotto_status status = check_labels(reader, labels, err);
    if (status == SOTTO_STATUS_OK && analyst != NULL) {
        status = sotto_analyst_check(analyst, mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = schema_fit_find(labels, "label", column, &at, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = schema_fit_label(labels, at, &label, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = labelled_mechanism(mechanism, &label, &labelled, err);
    }
    if (status == SOTTO_STATUS_OK && labelled != NULL) {
        status = append_labels(reader, mechanism->shape.report_size, labelled,
                               labels, at, &label, &known, err);
    }
    if (status == SOTTO_STATUS_OK) {
        job.reader = known;
        status = fit_job(labelled, &job, ret_model, ret_info, err);
    }
    sotto_report_reader_free(known);
    sotto_mechanism_free(labelled);
    schema_column_clear(&label);
    return status;
}
