/*
 * task_mnist.c: P2's handwritten digits (appendix A.11, Figure 8): a linear
 * classifier of images that are privatised.
 *
 * The first 6,000 training images are auxiliary, the first 1,000 test images
 * test, pixels from 0 to 1, as in the authors' code. The paper has a linear
 * classifier and Z = 10, which is what this is; their public code has a
 * convolutional one and Z = 3.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/data_set.h"
#include "experiment/task_learned.h"
#include "host/error.h"

#define AUX ((size_t)6000)
#define TEST ((size_t)1000)
#define CLASSES ((size_t)10)

static const size_t sizes[] = {5, 10, 0};

/* Distances between all auxiliary codes are measured every ten passes of 94
   steps; their code measures those of the batch at hand. */
static const struct task_learned_spec spec = {.likelihood = ANALYST_CATEGORICAL,
                                              .function_epochs = 30,
                                              .function_batch = 64,
                                              .sizes = sizes,
                                              .steps = 3000,
                                              .rate = 0.003,
                                              .paper_z = 10,
                                              .eta = 0.2,
                                              .paper_batch = 64,
                                              .paper_epochs = 60,
                                              .paper_period = 940,
                                              .clear_epochs = 60};

/* The first `rows` images and labels, to row `at` on. */
static enum sotto_status
take_images(const struct sotto_table *table, size_t rows, size_t at,
            struct task_learned_data *data, struct sotto_error *err)
{
    size_t label = sotto_table_find(table, "label");
    if (sotto_table_rows(table) < rows || sotto_table_width(table, 0) == 0 ||
        sotto_table_width(table, 0) != data->width || label == SIZE_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu images of %zu pixels and their labels are not "
                         "there",
                         rows, data->width);
    }
    for (size_t i = 0; i < rows; i++) {
        const struct sotto_value image = sotto_table_cell(table, i, 0);
        const struct sotto_value digit = sotto_table_cell(table, i, label);
        const uint8_t *pixel = image.data;
        size_t of = (size_t)digit.number;
        if (!(digit.number >= 0) || of >= CLASSES) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "label %zu is none of the ten digits", i);
        }
        for (size_t j = 0; j < data->width; j++) {
            data->x[(at + i) * data->width + j] = (float)pixel[j] / 255;
        }
        data->y[(at + i) * CLASSES + of] = 1;
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fill_data(const struct data_records *records, struct task_learned_data *data,
          struct sotto_error *err)
{
    size_t rows = AUX + TEST, width = sotto_table_width(records->train, 0);
    *data = (struct task_learned_data){
        .rows = rows, .aux = AUX, .width = width, .out = CLASSES};
    data->x = calloc(rows, (width + 1) * sizeof *data->x);
    data->all = calloc(rows, (width + 1) * sizeof *data->all);
    data->y = calloc(rows, CLASSES * sizeof *data->y);
    if (data->x == NULL || data->all == NULL || data->y == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = take_images(records->train, AUX, 0, data, err);
    status =
        HOST_THEN(status, take_images(records->test, TEST, AUX, data, err));
    memcpy(data->all, data->x, rows * width * sizeof *data->x);
    return status;
}

static enum sotto_status
open_mnist(const struct sotto_experiment_options *options, void **ret_state,
           char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    struct data_records records = {.set = NULL};
    struct task_learned_data data = {.rows = 0};
    struct task_learned *learned = NULL;
    enum sotto_status status = data_records_open(&data_set_mnist, options->data,
                                                 &records, ret_hash, err);
    status = HOST_THEN(status, data_records_read(&records, err));
    status = HOST_THEN(status, fill_data(&records, &data, err));
    status = HOST_THEN(
        status, task_learned_new(&spec, &data, options->seed, &learned, err));
    task_learned_data_clear(&data);
    data_records_close(&records);
    *ret_state = learned;
    return status;
}

static void
close_mnist(void *state)
{
    task_learned_free(state);
}

static enum sotto_status
measure_mnist(void *state, const struct study_point *point,
              struct study_outcome *ret_outcome, struct sotto_error *err)
{
    return task_learned_measure(state, point, ret_outcome, err);
}

static const double eps[] = {5, 7, 10, 20, 35, 50, 0};

static const struct study_panel panels[] = {
    {.name = "loss",
     .title = "cross-entropy of the digit on test images, against epsilon",
     .axis = STUDY_EPS,
     .x = eps},
    {.x = NULL}};

static const struct study_gain gains[] = {
    {"task-aware", "privacy-agnostic-10", 23.8, 20},
    {"task-aware", "privacy-agnostic", NAN, NAN},
    {"task-aware", "task-agnostic", NAN, NAN},
    {"task-codes", "privacy-agnostic", NAN, NAN},
    {"unsound-aware-code", "unsound-privacy-agnostic-code", 23.8, 20},
    {"unsound-aware", "unsound-privacy-agnostic", 23.8, 20},
    {.method = NULL}};

static const struct experiment_mechanism methods[] = {
    LEARNED_METHODS("privacy-agnostic-10"), {.name = NULL}};

static const struct study study = {.panels = panels,
                                   .gains = gains,
                                   .open = open_mnist,
                                   .close = close_mnist,
                                   .measure = measure_mnist};

const struct experiment experiment_task_mnist = {
    .name = "task-mnist",
    .about =
        "Handwritten digits (P2 A.11, Figure 8): images of 784 pixels, the "
        "task the digit by a linear classifier that was trained on clean "
        "auxiliary images; encoder and decoder are linear. The first 6,000 "
        "training images are auxiliary, the first 1,000 test images test. "
        "Losses are cross-entropies of the true digit, in nats. Z of the paper "
        "is 10 (privacy-agnostic-10). Algorithm 1 has 60 passes of 94 "
        "steps, and measures distances every tenth pass.",
    .help = "P2's digits: the cross-entropy of a linear classifier on\n"
            "privatised images, by task-aware, task-agnostic and\n"
            "privacy-agnostic reports, codes, and the authors' unsound way.\n"
            "--data: the folder of the four IDX files, as in mnist-collection.",
    .study = &study,
    .mechanisms = methods,
    .aux_share = 0.1,
    .aux_share_most = 0.1,
};
