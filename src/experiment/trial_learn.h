/*
 * trial_learn.h: a fit of an experiment: a mechanism at a budget, a classifier
 * from the people's reports, of either kind of mechanism, or from what they
 * would have reported without noise; and a protocol, which tests it.
 */
#ifndef SOTTO_EXPERIMENT_TRIAL_LEARN_H
#define SOTTO_EXPERIMENT_TRIAL_LEARN_H

#include "experiment/trial.h"

/* How a mechanism is used at an epsilon. */
struct trial_plan {
    struct trial_encoder encoder;
    struct trial_fit fit;   /* of a lattice */
    struct trial_code code; /* of codes */
    double total;           /* epsilon of a lattice's record and label */
    char more[64];          /* what the setting's text ends with */
};

/* A fit's pieces, freed together. */
struct trial_pieces {
    struct sotto_mechanism *mechanism; /* at the budget of the fit */
    struct sotto_analyst *analyst;
    struct sotto_report_reader *reports;
    struct sotto_table *decoded;
    struct sotto_model *model;
};

/* What is asked of people, and how the classifier is tested: one file each. */
struct protocol {
    /* Changes a plan, which says: the data set's settings, all of epsilon,
       codes together with the label. NULL: it is good as it is. */
    void (*plan)(const struct experiment_run *run, double eps,
                 struct trial_plan *plan);
    /* Tests pieces->model. Statuses: as trial_run. */
    enum sotto_status (*test)(struct trial *trial,
                              const struct experiment_run *run,
                              const struct experiment_fit *fit,
                              const struct trial_plan *plan,
                              const struct trial_pieces *pieces,
                              struct experiment_outcome *ret_outcome,
                              struct sotto_error *err);
    /* The share of epsilon behind which a test record's class is told; 0: test
       records are clean. */
    double told_share;
};

extern const struct protocol protocol_collection, protocol_novel,
    protocol_private;

/* Whether the run's mechanism has this of enum experiment_how. */
bool trial_does(const struct experiment_run *run, enum experiment_how how);

/* For a protocol's test: the accuracy on the test records, clean or
   privatised. */
SOTTO_CHECKED enum sotto_status
trial_evaluate(const struct trial *trial, const struct trial_pieces *pieces,
               bool noise, uint64_t seed,
               struct experiment_outcome *ret_outcome, struct sotto_error *err);

#endif
