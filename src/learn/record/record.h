/*
 * record.h: learning where the collector holds the records: reports are about
 * the label alone, and a network on the record itself is fitted to them.
 *
 *     records --columns--> x --network--> p(y | x)
 *     reports ------------------------> t_i(y)      sum_i log sum_y t_i(y)
 *                                                   p(y | x_i): Eq. 12
 *
 * The network is the encoder of the model's own mechanism, whose outputs are
 * the logits; a model is that mechanism and nothing else. It never goes to a
 * device: it is what a model says of itself.
 */
#ifndef SOTTO_LEARN_RECORD_RECORD_H
#define SOTTO_LEARN_RECORD_RECORD_H

#include "learn/labels.h"
#include "learn/learner.h"
#include "learn/record_net.h"
#include "mechanism/decompose.h"

extern const struct learner learner_record;

/* ---- record_match.c: whose report it is ---------------------------------- */

/*
 * Finds the row of `records` that each report is about. `keys` has the columns
 * "id", of reports, and one more, whose name and values are those of a column
 * of the records; NULL: row i is report i's. Statuses: INPUT about "records" or
 * "keys", MEMORY.
 */
SOTTO_CHECKED enum sotto_status
record_match(const struct sotto_report_reader *reader,
             const struct sotto_table *records, const struct sotto_table *keys,
             size_t *ret_row, struct sotto_error *err);
/* Finds the column of `keys` that is not "id". Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status record_match_key(const struct sotto_table *keys,
                                                 size_t *ret_column,
                                                 struct sotto_error *err);

/* ---- record_layers.c: the layers of a network on x ----------------------- */

#define RECORD_HEAD 128u /* units between a representation and the classes */

/* Adds the layers that x begins with: convolutions for images of at least 8x8
   pixels, to a representation; or hidden ones. Then those of the classes.
   Their weights are not set. Statuses: LIMIT. */
SOTTO_CHECKED enum sotto_status
record_layers_plan(struct record_net *net, const struct record_data *data,
                   const struct learn_options *options,
                   struct sotto_error *err);
/* Adds the hidden layer between a representation and the classes, and theirs.
   Statuses: LIMIT. */
SOTTO_CHECKED enum sotto_status record_layers_add_head(struct record_net *net,
                                                       size_t classes,
                                                       struct sotto_error *err);

/* ---- record_fit.c -------------------------------------------------------- */

enum sotto_status record_fit(struct sotto_model *model,
                             const struct learn_job *job,
                             struct sotto_fit_info *ret_info,
                             struct sotto_error *err);
/* How many classes a label's column has. */
size_t record_classes(const struct sotto_mechanism *mechanism, bool other);

#endif
