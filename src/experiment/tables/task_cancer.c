/*
 * task_cancer.c: P2's breast cancer detection (section 5, Figures 5 right and 6
 * right): malignant or benign, from 30 measurements that are privatised.
 *
 * The columns are those of the UCI file wdbc.data, which names none: a number,
 * M or B, 30 measurements. The first 70% of rows are auxiliary. Measurements
 * are scaled from 0 to 1 over auxiliary rows, in the paper's way over all.
 */
#include <math.h>
#include <stdlib.h>

#include "experiment/task_learned.h"
#include "host/error.h"

#define MEASURED ((size_t)30)
#define CLASSES ((size_t)2)

static const size_t sizes[] = {1, 2, 3, 0};

/* The network's ReLU behind its logits is the paper's, and only there. */
static const struct task_learned_spec spec = {.likelihood = ANALYST_CATEGORICAL,
                                              .function_hidden = 45,
                                              .paper_relu = true,
                                              .function_epochs = 4000,
                                              .hidden = 30,
                                              .activation = ACTIVATION_SIGMOID,
                                              .sizes = sizes,
                                              .steps = 3000,
                                              .rate = 0.003,
                                              .paper_z = 3,
                                              .eta = 0.001,
                                              .paper_epochs = 30000,
                                              .paper_period = 15,
                                              .clear_epochs = 2000};

/* 1 at the class: benign, malignant. */
static enum sotto_status
take_classes(const struct sotto_table *table, struct task_learned_data *data,
             struct sotto_error *err)
{
    data->out = CLASSES;
    data->y = calloc(data->rows, CLASSES * sizeof *data->y);
    if (data->y == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < data->rows; i++) {
        const struct sotto_value cell = sotto_table_cell(table, i, 1);
        const char *text = cell.data;
        if (cell.kind != SOTTO_VALUE_TEXT || cell.size != 1 ||
            (*text != 'M' && *text != 'B')) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "line %zu: the second column is neither M nor B",
                             sotto_table_line(table, i));
        }
        data->y[i * CLASSES + (*text == 'M')] = 1;
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
open_cancer(const struct sotto_experiment_options *options, void **ret_state,
            char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    const struct sotto_table_options how = {.header = 0};
    struct sotto_table *table = NULL;
    struct task_learned_data data = {.rows = 0};
    struct task_learned *learned = NULL;
    enum sotto_status status =
        experiment_hash_file(options->data, ret_hash, err);
    status =
        HOST_THEN(status, sotto_table_read(options->data, &how, &table, err));
    if (status == SOTTO_STATUS_OK &&
        sotto_table_columns(table) != MEASURED + 2) {
        status =
            host_fail(err, SOTTO_STATUS_INPUT, 0,
                      "'%s' has %zu columns: a number, the diagnosis and "
                      "30 measurements are 32",
                      host_shown(options->data), sotto_table_columns(table));
    }
    status =
        HOST_THEN(status, task_learned_read(table, 2, MEASURED, &data, err));
    status = HOST_THEN(status, take_classes(table, &data, err));
    status = HOST_THEN(
        status, task_learned_new(&spec, &data, options->seed, &learned, err));
    task_learned_data_clear(&data);
    sotto_table_free(table);
    *ret_state = learned;
    return status;
}

static void
close_cancer(void *state)
{
    task_learned_free(state);
}

static enum sotto_status
measure_cancer(void *state, const struct study_point *point,
               struct study_outcome *ret_outcome, struct sotto_error *err)
{
    return task_learned_measure(state, point, ret_outcome, err);
}

static const double eps[] = {5, 7, 10, 20, 35, 50, 100, 0};
static const double size_places[] = {1, 2, 3, 4, 6, 0};

static const struct study_panel panels[] = {
    {.name = "loss",
     .title = "cross-entropy of the diagnosis on test rows, against epsilon",
     .axis = STUDY_EPS,
     .x = eps},
    {.name = "z",
     .title = "cross-entropy with Z numbers at epsilon 20",
     .axis = STUDY_SIZE,
     .x = size_places,
     .fixed = 20,
     .methods = "task-aware privacy-agnostic",
     .x_name = "Z"},
    {.x = NULL}};

static const struct study_gain gains[] = {
    {"task-aware", "task-agnostic", 73.0, 20},
    {"task-aware", "privacy-agnostic-3", 45.6, 20},
    {"task-aware", "privacy-agnostic", NAN, NAN},
    {"task-codes", "task-agnostic", NAN, NAN},
    {"task-codes", "privacy-agnostic", NAN, NAN},
    {"unsound-aware-code", "unsound-agnostic-code", 73.0, 20},
    {"unsound-aware-code", "unsound-privacy-agnostic-code", 45.6, 20},
    {"unsound-aware", "unsound-agnostic", 73.0, 20},
    {"unsound-aware", "unsound-privacy-agnostic", 45.6, 20},
    {.method = NULL}};

static const struct experiment_mechanism methods[] = {
    LEARNED_METHODS("privacy-agnostic-3"), {.name = NULL}};

static const struct study study = {
    .panels = panels,
    .gains = gains,
    .form = "the CSV file of 569 diagnoses, without a header",
    .open = open_cancer,
    .close = close_cancer,
    .measure = measure_cancer};

const struct experiment experiment_task_cancer = {
    .name = "task-cancer",
    .about =
        "Breast cancer detection (P2 section 5, Figures 5 right and 6 right): "
        "30 measurements, the task malignant or benign by a network 30-45-2 "
        "that was trained on clean auxiliary rows; encoder and decoder have a "
        "hidden layer of 30 sigmoids. The first 70% of rows are auxiliary, the "
        "last 30% test. Losses are cross-entropies of the true diagnosis, in "
        "nats. As in the paper the network has a ReLU behind its logits; else "
        "it has none.",
    .help = "P2's detection of cancer: the cross-entropy of a diagnosis from\n"
            "privatised measurements, by task-aware, task-agnostic and\n"
            "privacy-agnostic reports, codes, and the authors' unsound way.\n"
            "--data: wdbc.csv, which has no header.",
    .study = &study,
    .mechanisms = methods,
    .aux_share = 0.7,
    .aux_share_most = 0.7,
};
