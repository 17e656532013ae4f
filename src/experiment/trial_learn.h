/*
 * trial_learn.h: a classifier from the people's reports, of either kind of
 * mechanism, or from what they would have reported without noise.
 */
#ifndef SOTTO_EXPERIMENT_TRIAL_LEARN_H
#define SOTTO_EXPERIMENT_TRIAL_LEARN_H

#include "experiment/trial.h"

#define MNIST_FLOAT "vlm-float" /* vlm with floating-point noise */

/* The mechanism whose settings and encoders another one uses. */
const char *trial_settings_of(const char *mechanism);

/* A fit's pieces, freed together. */
struct trial_pieces {
    struct sotto_mechanism *mechanism; /* at the budget of the fit */
    struct sotto_analyst *analyst;
    struct sotto_report_reader *reports;
    struct sotto_table *decoded;
    struct sotto_model *model;
};
void trial_pieces_clear(struct trial_pieces *pieces);

/* From a representation on a lattice, and the label beside it. What is in
   `pieces` is the caller's to clear, also on failure. */
SOTTO_CHECKED enum sotto_status
trial_learn(const struct trial *trial, const struct experiment_run *run,
            const struct experiment_fit *fit,
            const struct trial_encoder *encoder, const struct trial_fit *how,
            struct trial_pieces *pieces, struct sotto_error *err);

/* From codes with labels. */
SOTTO_CHECKED enum sotto_status
trial_learn_codes(struct trial *trial, const struct experiment_run *run,
                  const struct experiment_fit *fit,
                  const struct trial_encoder *encoder,
                  const struct trial_code *code, struct trial_pieces *pieces,
                  struct sotto_error *err);

#endif
