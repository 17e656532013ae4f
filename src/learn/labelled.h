/*
 * labelled.h: reports whose labels somebody knows.
 *
 * A mechanism without a label gets one: another column, and a part about it by
 * k-ary response at LABELLED_EPS, which is false once in 10^8. To its reports
 * the known labels are appended as that part's. So whatever learns from reports
 * with labels learns from these. A label's row is the one with the report's id
 * in the column LABELLED_ID; without that column the rows have the reports'
 * order.
 *
 * Such a mechanism never goes to a device: it is what a model says of itself.
 */
#ifndef SOTTO_LEARN_LABELLED_H
#define SOTTO_LEARN_LABELLED_H

#include "mechanism/compose.h"
#include "sotto/sotto.h"

struct learn_job;

#define LABELLED_ID "id"
#define LABELLED_EPS                                                           \
    ((uint64_t)20) /* less, if the total would be above the                    \
                      most that a mechanism can have */

/* Finds the row of a table that has each report's id in a column, SIZE_MAX
   where there is none. Statuses: INPUT (ids that are none, or twice; no report
   has one), MEMORY. */
SOTTO_CHECKED enum sotto_status
labelled_match(const struct sotto_report_reader *reader,
               const struct sotto_table *table, size_t column, size_t *ret_row,
               struct sotto_error *err);

/* Gives a mechanism a label. Statuses: INPUT (it has one), MEMORY and those of
   compose_open. */
SOTTO_CHECKED enum sotto_status labelled_mechanism(
    const struct sotto_mechanism *mechanism, const struct schema_column *label,
    struct sotto_mechanism **ret_labelled, struct sotto_error *err);
/* Gives a mechanism the label of a model's, whose classes are then its own.
   Statuses: the same. */
SOTTO_CHECKED enum sotto_status
labelled_like(const struct sotto_model *model,
              const struct sotto_mechanism *mechanism,
              struct sotto_mechanism **ret_labelled, struct sotto_error *err);
/* Makes n reports of `labelled` from those of the mechanism that it is made
   from, to be classified: their label is the first, which nobody looks at. */
void labelled_reports(const struct sotto_mechanism *mechanism,
                      const struct sotto_mechanism *labelled,
                      const uint8_t *reports, size_t n, uint8_t *ret_reports);
/* Makes both from a job with labels in the clear: the mechanism with a label,
   and its reports. Statuses: INPUT, USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status
labelled_new(const struct sotto_mechanism *mechanism,
             const struct learn_job *job, struct sotto_mechanism **ret_labelled,
             struct sotto_report_reader **ret_reader, struct sotto_error *err);

#endif
