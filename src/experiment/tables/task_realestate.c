/*
 * task_realestate.c: P2's real estate valuation (section 5, Figures 5 left, 6
 * left and 7): a price foretold from six facts that are privatised.
 *
 * The columns are the UCI file's: No, six facts, the price. The first 70% of
 * rows are auxiliary. Facts and price are scaled from 0 to 1 over auxiliary
 * rows, in the paper's way over all rows (of the price it is the same).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/task_learned.h"
#include "host/error.h"

#define FACTS ((size_t)6)

static const size_t sizes[] = {1, 2, 3, 6, 0};

static const struct task_learned_spec spec = {.likelihood = ANALYST_GAUSSIAN,
                                              .function_hidden = 9,
                                              .paper_relu = true,
                                              .function_epochs = 5000,
                                              .sizes = sizes,
                                              .steps = 4000,
                                              .rate = 0.003,
                                              .paper_z = 3,
                                              .eta = 0.2,
                                              .paper_epochs = 30000,
                                              .paper_period = 15,
                                              .clear_epochs = 2000};

#define HIDDEN_PANEL "hidden"
#define HIDDEN_ETA 0.001

struct estate {
    struct task_learned *learned;
    struct task_learned_spec hidden; /* of Figure 7 (A.10) */
};

/* The price, scaled as a fact is, is y. */
static enum sotto_status
take_price(const struct sotto_table *table, struct task_learned_data *data,
           struct sotto_error *err)
{
    struct task_learned_data price = {.rows = 0};
    enum sotto_status status =
        task_learned_read(table, 1 + FACTS, 1, &price, err);
    if (status == SOTTO_STATUS_OK) {
        data->y = price.x;
        data->out = 1;
        price.x = NULL;
    }
    task_learned_data_clear(&price);
    return status;
}

static enum sotto_status
check_columns(const struct sotto_table *table, const char *path,
              struct sotto_error *err)
{
    return sotto_table_columns(table) == FACTS + 2
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "'%s' has %zu columns: the number, six facts and "
                           "the price are 8",
                           host_shown(path), sotto_table_columns(table));
}

/* Encoder and decoder with a hidden layer as wide as the record. */
static struct task_learned_spec
make_hidden(void)
{
    struct task_learned_spec hidden = spec;
    hidden.hidden = FACTS;
    hidden.activation = ACTIVATION_RELU;
    hidden.eta = HIDDEN_ETA;
    return hidden;
}

static void
close_estate(void *state)
{
    struct estate *estate = state;
    task_learned_free(estate->learned);
    free(estate);
}

static enum sotto_status
open_estate(const struct sotto_experiment_options *options, void **ret_state,
            char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    struct estate *estate = calloc(1, sizeof *estate);
    struct sotto_table *table = NULL;
    struct task_learned_data data = {.rows = 0};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (estate == NULL) {
        return host_fail_memory(err);
    }
    estate->hidden = make_hidden();
    status = experiment_hash_file(options->data, ret_hash, err);
    status =
        HOST_THEN(status, sotto_table_read(options->data, NULL, &table, err));
    status = HOST_THEN(status, check_columns(table, options->data, err));
    status = HOST_THEN(status, task_learned_read(table, 1, FACTS, &data, err));
    status = HOST_THEN(status, take_price(table, &data, err));
    status = HOST_THEN(status, task_learned_new(&spec, &data, options->seed,
                                                &estate->learned, err));
    task_learned_data_clear(&data);
    sotto_table_free(table);
    if (status == SOTTO_STATUS_OK) {
        *ret_state = estate;
    } else {
        close_estate(estate);
    }
    return status;
}

static enum sotto_status
measure_estate(void *state, const struct study_point *point,
               struct study_outcome *ret_outcome, struct sotto_error *err)
{
    struct estate *estate = state;
    bool hidden = strcmp(point->panel->name, HIDDEN_PANEL) == 0;
    task_learned_set_nets(estate->learned, hidden ? &estate->hidden : &spec);
    return task_learned_measure(estate->learned, point, ret_outcome, err);
}

static const double eps[] = {1, 1.5, 3, 5, 10, 30, 0};
static const double size_places[] = {1, 2, 3, 4, 5, 6, 0};

static const struct study_panel panels[] = {
    {.name = "loss",
     .title = "squared error of the price on test rows, against epsilon",
     .axis = STUDY_EPS,
     .x = eps},
    {.name = "z",
     .title = "squared error with Z numbers at epsilon 5",
     .axis = STUDY_SIZE,
     .x = size_places,
     .fixed = 5,
     .methods = "task-aware privacy-agnostic",
     .x_name = "Z"},
    {.name = HIDDEN_PANEL,
     .title = "squared error of the price where encoder and decoder have a "
              "hidden layer of 6 ReLUs",
     .axis = STUDY_EPS,
     .x = eps,
     .methods = "task-aware task-agnostic privacy-agnostic privacy-agnostic-3 "
                "unsound-aware unsound-agnostic unsound-privacy-agnostic "
                "unsound-aware-code unsound-agnostic-code "
                "unsound-privacy-agnostic-code"},
    {.x = NULL}};

static const struct study_gain gains[] = {
    {"task-aware", "task-agnostic", 21.9, 5},
    {"task-aware", "privacy-agnostic-3", 13.5, 5},
    {"task-aware", "privacy-agnostic", NAN, NAN},
    {"task-codes", "task-agnostic", NAN, NAN},
    {"task-codes", "privacy-agnostic", NAN, NAN},
    {"unsound-aware-code", "unsound-agnostic-code", 21.9, 5},
    {"unsound-aware-code", "unsound-privacy-agnostic-code", 13.5, 5},
    {"unsound-aware", "unsound-agnostic", 21.9, 5},
    {"unsound-aware", "unsound-privacy-agnostic", 13.5, 5},
    {.method = NULL}};

static const struct experiment_mechanism methods[] = {
    LEARNED_METHODS("privacy-agnostic-3"), {.name = NULL}};

static const struct study study = {.panels = panels,
                                   .gains = gains,
                                   .form = "the CSV file of 414 houses",
                                   .open = open_estate,
                                   .close = close_estate,
                                   .measure = measure_estate};

const struct experiment experiment_task_realestate = {
    .name = "task-realestate",
    .about =
        "Real estate valuation (P2 section 5, Figures 5 left, 6 left and "
        "7): six facts of a house, the task its price by a network 6-9-1 that "
        "was trained on clean auxiliary rows. The first 70% of rows are "
        "auxiliary, the last 30% test. Losses are squared errors against "
        "the true price, both from 0 to 1 over auxiliary rows.",
    .help = "P2's valuation of houses: the error of a price foretold from\n"
            "privatised facts, by task-aware, task-agnostic and\n"
            "privacy-agnostic reports, codes, and the authors' unsound way.\n"
            "--data: real_estate_valuation.csv.",
    .study = &study,
    .mechanisms = methods,
    .aux_share = 0.7,
    .aux_share_most = 0.7,
};
