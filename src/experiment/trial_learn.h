/*
 * trial_learn.h: a classifier from the people's reports, of either kind of
 * mechanism, or from what they would have reported without noise.
 */
#ifndef SOTTO_EXPERIMENT_TRIAL_LEARN_H
#define SOTTO_EXPERIMENT_TRIAL_LEARN_H

#include "experiment/trial.h"

#define MNIST_FLOAT "vlm-float" /* vlm with floating-point noise */

/* The mechanism whose settings and encoders another one uses. */
const char *mnist_settings_of(const char *mechanism);

/* A fit's pieces, freed together. */
struct mnist_pieces {
    struct sotto_mechanism *mechanism; /* at the budget of the fit */
    struct sotto_analyst *analyst;
    struct sotto_report_reader *reports;
    struct sotto_table *decoded;
    struct sotto_model *model;
};
void mnist_pieces_clear(struct mnist_pieces *pieces);

/* From a representation on a lattice, and the label beside it. What is in
   `pieces` is the caller's to clear, also on failure. */
SOTTO_CHECKED enum sotto_status
mnist_learn(const struct mnist_trial *trial, const struct experiment_run *run,
            const struct experiment_fit *fit,
            const struct mnist_encoder *encoder, const struct mnist_fit *how,
            struct mnist_pieces *pieces, struct sotto_error *err);

/* From codes with labels. */
SOTTO_CHECKED enum sotto_status
mnist_learn_codes(struct mnist_trial *trial, const struct experiment_run *run,
                  const struct experiment_fit *fit,
                  const struct mnist_encoder *encoder,
                  const struct mnist_code *code, struct mnist_pieces *pieces,
                  struct sotto_error *err);

#endif
