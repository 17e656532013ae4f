/*
 * supervision.c: inputs, what is known of their classes, and training networks
 * on both.
 */
#include "learn/supervision.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "random/draw.h"
#include "random/seeded.h"

#define PRIOR_STREAM 0x7072696f72u

void
supervision_init(struct supervision *supervision,
                 const struct sotto_model *model,
                 const struct learn_options *options, double eps_y)
{
    *supervision =
        (struct supervision){.options = learn_options_settle(options, eps_y),
                             .backend = model->backend};
}

void
supervision_clear(struct supervision *supervision)
{
    labels_clear(&supervision->labels);
    plan_clear(&supervision->plan);
    host_wipe_free(supervision->x, (supervision->rows * supervision->in + 1) *
                                       sizeof *supervision->x);
}

enum sotto_status
supervision_reserve(struct supervision *supervision, size_t rows, size_t in,
                    struct sotto_error *err)
{
    supervision->rows = rows;
    supervision->in = in;
    supervision->x = rows < SIZE_MAX / sizeof(float) / (in + 1)
                         ? calloc(rows * in + 1, sizeof(float))
                         : NULL;
    return supervision->x != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

/* ---- Labels and order ---------------------------------------------------- */

static size_t
count_batches(const struct supervision *supervision)
{
    const struct learn_options *options = &supervision->options;
    double trained =
        (double)supervision->labels.reports * (1 - options->validation);
    return options->batches > 0 ? options->batches
                                : (size_t)(trained / options->batch) + 1;
}

enum sotto_status
supervision_plan(struct supervision *supervision, bool other,
                 struct sotto_error *err)
{
    enum sotto_status status =
        plan_init(&supervision->plan, &supervision->labels,
                  count_batches(supervision), supervision->options.validation,
                  SUPERVISION_CHUNK, supervision->options.seed, err);
    if (status == SOTTO_STATUS_OK && supervision->options.balanced) {
        labels_balance(supervision->labels.classes, other,
                       supervision->labels.share);
    }
    return status;
}

/* ---- Clean records ------------------------------------------------------- */

/* Finds the rows with a known class, and their classes. */
static size_t
find_labelled(struct rows *rows, size_t classes, size_t *ret_row,
              size_t *ret_truth)
{
    size_t count = 0;
    for (size_t i = 0; i < sotto_table_rows(rows->table); i++) {
        size_t truth = rows_class(rows, i);
        if (truth < classes) {
            ret_row[count] = i;
            ret_truth[count++] = truth;
        }
    }
    return count;
}

/* Puts numbers in the order of the plan. */
static enum sotto_status
sort_numbers(const struct plan *plan, size_t *number, struct sotto_error *err)
{
    size_t *sorted = malloc((plan->rows + 1) * sizeof *sorted);
    if (sorted == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < plan->rows; i++) {
        sorted[i] = number[plan->order[i]];
    }
    memcpy(number, sorted, plan->rows * sizeof *sorted);
    host_wipe_free(sorted, (plan->rows + 1) * sizeof *sorted);
    return SOTTO_STATUS_OK;
}

enum sotto_status
supervision_take_labels(struct supervision *supervision, struct crew *crew,
                        size_t classes, bool other,
                        struct supervision_records *records,
                        struct sotto_error *err)
{
    struct rows *rows = &crew->rows[0];
    size_t room = sotto_table_rows(rows->table) + 1;
    enum sotto_status status;
    *records = (struct supervision_records){
        .row = malloc(room * sizeof *records->row),
        .truth = malloc(room * sizeof *records->truth),
        .room = room};
    if (records->row == NULL || records->truth == NULL) {
        return host_fail_memory(err);
    }
    records->count = find_labelled(rows, classes, records->row, records->truth);
    status =
        labels_init_clean(&supervision->labels, classes, records->truth,
                          records->count, supervision->options.smoothing, err);
    status = HOST_THEN(status, supervision_plan(supervision, other, err));
    status =
        HOST_THEN(status, sort_numbers(&supervision->plan, records->row, err));
    status = HOST_THEN(status,
                       sort_numbers(&supervision->plan, records->truth, err));
    return status;
}

void
supervision_records_clear(struct supervision_records *records)
{
    host_wipe_free(records->row, records->room * sizeof *records->row);
    host_wipe_free(records->truth, records->room * sizeof *records->truth);
}

void
supervision_draw(uint64_t seed, size_t count, size_t used, size_t *ret_row)
{
    struct seeded seeded;
    size_t taken = 0;
    seeded_init(&seeded, seed, PRIOR_STREAM);
    /* Each with probability (still wanted) / (still there): every set of
       `used` is equally likely. */
    for (size_t i = 0; i < count && taken < used; i++) {
        if (draw_below(&seeded.random, (uint32_t)(count - i)) < used - taken) {
            ret_row[taken++] = i;
        }
    }
}

/* ---- Networks ------------------------------------------------------------ */

static enum sotto_status
train_nets(struct trainer *trainer, const struct networks *networks,
           const float *shift, const float *scale, struct sotto_fit_info *info,
           struct sotto_error *err)
{
    size_t nets = networks->count;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < nets && status == SOTTO_STATUS_OK; i++) {
        struct trainer_result result = {0};
        status = trainer_run(trainer, &networks->net[i], i, nets, &result, err);
        inputs_fold(&networks->net[i].stack, shift, scale);
        info->epochs += result.epochs;
        info->log_p += result.log_p / (double)nets;
        info->validation += result.validation / (double)nets;
    }
    return status;
}

enum sotto_status
supervision_train(struct supervision *supervision, trainer_pass *pass,
                  void *context, const struct networks *networks,
                  struct sotto_fit_info *info, struct sotto_error *err)
{
    size_t rows = supervision->rows, in = supervision->in;
    struct trainer trainer = {.backend = supervision->backend,
                              .labels = &supervision->labels,
                              .plan = &supervision->plan,
                              .options = &supervision->options,
                              .pass = pass,
                              .context = context,
                              .rows = rows,
                              .in = in,
                              .x = supervision->x};
    float *shift = malloc(2 * in * sizeof *shift), *scale;
    enum sotto_status status = trainer_init(&trainer, err);
    if (shift == NULL || status != SOTTO_STATUS_OK) {
        status = host_fail_memory(err);
        goto done;
    }
    scale = shift + in;
    inputs_moments(supervision->x, rows, in, shift, scale);
    inputs_apply(supervision->x, rows, in, shift, scale);
    status = train_nets(&trainer, networks, shift, scale, info, err);
    for (size_t i = 0; i < in; i++) { /* x as it was */
        shift[i] = -shift[i] * scale[i];
        scale[i] = 1 / scale[i];
    }
    inputs_apply(supervision->x, rows, in, shift, scale);
    info->reports = supervision->labels.reports;
done:
    trainer_clear(&trainer);
    free(shift);
    return status;
}
