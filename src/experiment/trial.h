/*
 * trial.h: what a trial has: splits of a data set, trained encoders and
 * codebooks, which are kept in the run's folder; and how a fit is done.
 */
#ifndef SOTTO_EXPERIMENT_TRIAL_H
#define SOTTO_EXPERIMENT_TRIAL_H

#include "experiment/encoder_cache.h"
#include "experiment/trial_settings.h"

struct trial {
    struct data_records data;
    char hash[EXPERIMENT_HASH_SIZE];
    struct data_split split;
    uint32_t number; /* of the trial whose split that is */
    /* The cells cut last, of that split's auxiliary records: of records without
       a label and with one. */
    struct trial_cells {
        struct sotto_codebook *codebook;
        char encoder[EXPERIMENT_SETTING_SIZE], name[64]; /* it points to that */
    } cells[2];
};

/* Finds the data and takes its hash; reads no more than that needs. Statuses:
   as data_records_open. */
SOTTO_CHECKED enum sotto_status trial_open(const struct experiment_run *run,
                                           struct trial **ret_trial,
                                           char ret_hash[EXPERIMENT_HASH_SIZE],
                                           struct sotto_error *err);
void trial_close(struct trial *trial);

/* The splits of a trial; those of the last one are kept. */
SOTTO_CHECKED enum sotto_status trial_take(struct trial *trial,
                                           const struct experiment_run *run,
                                           uint32_t number,
                                           struct sotto_error *err);

/* trial_learn.c: the settings of the run's mechanism at an epsilon, as text
   without quotes or line breaks: with the key's other fields it decides a
   row. */
void trial_setting(const struct experiment_run *run, double eps,
                   char text[EXPERIMENT_SETTING_SIZE]);
/* One fit. `ret_outcome` is zeroed before. Statuses: USAGE (codes have no
   feature level), INPUT, IO, MEMORY, STOPPED and others. */
SOTTO_CHECKED enum sotto_status
trial_run(struct trial *trial, const struct experiment_run *run,
          const struct experiment_fit *fit,
          struct experiment_outcome *ret_outcome, struct sotto_error *err);

/* The trained mechanism and what the analyst has of it, trained if they are not
   in the folder; the caller frees both. `ret_analyst` may be NULL. */
SOTTO_CHECKED enum sotto_status
trial_encoder_make(const struct trial *trial, const struct experiment_run *run,
                   const struct trial_encoder *encoder,
                   struct sotto_mechanism **ret_mechanism,
                   struct sotto_analyst **ret_analyst, struct sotto_error *err);

/* Finds the files of what a setting's text decides, with all that is not in the
   text; and reads them. `ret_analyst` may be NULL. */
SOTTO_CHECKED enum sotto_status
trial_files_init(const struct trial *trial, const struct experiment_run *run,
                 const char *setting, struct encoder_files *ret_files,
                 struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
trial_files_read(const struct encoder_files *files,
                 struct sotto_mechanism **ret_mechanism,
                 struct sotto_analyst **ret_analyst, struct sotto_error *err);

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
