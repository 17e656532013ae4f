/*
 * trial.h: what a trial has: splits of a data set (MNIST, or one in its layout)
 * and trained encoders and codebooks, which are kept in the run's folder.
 */
#ifndef SOTTO_EXPERIMENT_TRIAL_H
#define SOTTO_EXPERIMENT_TRIAL_H

#include "experiment/tables/mnist_data.h"
#include "experiment/trial_settings.h"

struct trial {
    struct mnist_data data;
    char hash[EXPERIMENT_HASH_SIZE];
    mnist_split_fn *split_init;
    struct mnist_split split;
    uint32_t number; /* of the trial whose split that is */
    /* The cells cut last, of that split's auxiliary images: of records without
       a label and with one. */
    struct trial_cells {
        struct sotto_codebook *codebook;
        char encoder[EXPERIMENT_SETTING_SIZE];
    } cells[2];
};

/* Finds the data; `ret_state` is for trial_close. Statuses: as
   mnist_data_open. */
SOTTO_CHECKED enum sotto_status trial_open(const struct experiment_run *run,
                                           mnist_split_fn *split_init,
                                           void **ret_state,
                                           char ret_hash[EXPERIMENT_HASH_SIZE],
                                           struct sotto_error *err);
void trial_close(void *state);

/* The splits of a trial; those of the last one are kept. */
SOTTO_CHECKED enum sotto_status trial_take(struct trial *trial,
                                           const struct experiment_run *run,
                                           uint32_t number,
                                           struct sotto_error *err);

/* The trained mechanism and what the analyst has of it, trained if they are not
   in the folder; the caller frees both. `ret_analyst` may be NULL. */
SOTTO_CHECKED enum sotto_status
trial_encoder_make(const struct trial *trial, const struct experiment_run *run,
                   const struct trial_encoder *encoder,
                   struct sotto_mechanism **ret_mechanism,
                   struct sotto_analyst **ret_analyst, struct sotto_error *err);

/* What decides files of a trial: the settings' text, then all that is not in
   it. The caller frees it; NULL: no memory. */
char *trial_text(const struct trial *trial, const struct experiment_run *run,
                 const char *setting);

/*
 * trial_codebook.c: a codebook mechanism on that encoder, likewise. At a finite
 * epsilon k and channel are chosen by simulation on the auxiliary images; at
 * none there are as many codes as classes, and nobody reports them.
 */
SOTTO_CHECKED enum sotto_status
trial_codebook(struct trial *trial, const struct experiment_run *run,
               const struct trial_encoder *encoder,
               const struct trial_code *code,
               struct sotto_mechanism **ret_mechanism,
               struct sotto_analyst **ret_analyst, struct sotto_error *err);
/* The codebook itself, cut if the one at hand is another's; the trial's to
   free. With `label`, of records with a label. */
SOTTO_CHECKED enum sotto_status
trial_cells(struct trial *trial, const struct experiment_run *run,
            const struct trial_encoder *encoder, bool label,
            struct sotto_codebook **ret_codebook, struct sotto_error *err);
/* "k=50 subset" of a codebook mechanism. */
void trial_code_note(const struct sotto_mechanism *mechanism,
                     char note[EXPERIMENT_NOTE_SIZE]);

#endif
