/*
 * supervision.h: inputs, what is known of their classes, and training networks
 * on both. Learners fill it from reports or from clean records.
 *
 *     supervision_init      the settings
 *     labels, x             the learner's, or supervision_take_labels'
 *     supervision_plan      the order of the labels, and their shares
 *     supervision_train     networks
 */
#ifndef SOTTO_LEARN_SUPERVISION_H
#define SOTTO_LEARN_SUPERVISION_H

#include "learn/learner.h"
#include "learn/trainer.h"
#include "mechanism/crew.h"

#define SUPERVISION_CHUNK 64u /* rows of a group taken together, at most */

struct supervision {
    struct learn_options options; /* settled */
    struct tensor_backend *backend;
    struct labels labels;
    struct plan plan;
    float *x; /* rows of in, in the order of the plan */
    size_t rows, in;
};

/* Settles how to train at a budget of the label, INFINITY for clean
   records. */
void supervision_init(struct supervision *supervision,
                      const struct sotto_model *model,
                      const struct learn_options *options, double eps_y);
void supervision_clear(struct supervision *supervision);

/* Orders what the labels are of. `other` says that the last class is a column's
   "(other)": balanced classes leave hardly any share to it. Statuses: MEMORY,
   INPUT. */
SOTTO_CHECKED enum sotto_status
supervision_plan(struct supervision *supervision, bool other,
                 struct sotto_error *err);
/* Makes room for inputs, zeroed. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
supervision_reserve(struct supervision *supervision, size_t rows, size_t in,
                    struct sotto_error *err);

/* Trains every network on x, and by the pass of a prior unless it is NULL;
   tells of reports, epochs, log_p and validation. Statuses: MEMORY, LIMIT,
   STOPPED, INPUT. */
SOTTO_CHECKED enum sotto_status
supervision_train(struct supervision *supervision, trainer_pass *pass,
                  void *context, const struct networks *networks,
                  struct sotto_fit_info *info, struct sotto_error *err);

/* Rows of a table with a known class, in the order of the plan. */
struct supervision_records {
    size_t *row, *truth;
    size_t count;
    size_t room; /* of each */
};
/* Takes labels and plan from the rows of a crew. The caller clears the records,
   also on failure. Statuses: MEMORY, INPUT. */
SOTTO_CHECKED enum sotto_status supervision_take_labels(
    struct supervision *supervision, struct crew *crew, size_t classes,
    bool other, struct supervision_records *records, struct sotto_error *err);
void supervision_records_clear(struct supervision_records *records);

/* Draws `used` of `count` numbers by lot, ascending. */
void supervision_draw(uint64_t seed, size_t count, size_t used,
                      size_t *ret_row);

#endif
