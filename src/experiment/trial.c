/*
 * trial.c: what a trial of an experiment has: splits of the records, and
 * trained encoders.
 *
 * The trainer is told the label's column for the list of classes alone, which
 * is public; no label of an auxiliary record is used.
 */
#include "experiment/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/text.h"

#define TRAIN_EPS "1" /* any: every use gives it its budget anew */

/* ---- Life cycle --------------------------------------------------------- */

static void
free_cells(struct trial *trial)
{
    for (size_t i = 0; i < 2; i++) {
        sotto_codebook_free(trial->cells[i].codebook);
        trial->cells[i].codebook = NULL;
    }
}

void
trial_close(struct trial *trial)
{
    if (trial != NULL) {
        free_cells(trial);
        data_split_clear(&trial->split);
        data_records_close(&trial->data);
    }
    free(trial);
}

enum sotto_status
trial_open(const struct experiment_run *run, struct trial **ret_trial,
           char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    struct trial *trial = calloc(1, sizeof *trial);
    enum sotto_status status =
        trial != NULL
            ? data_records_open(run->experiment->data, run->options->data,
                                &trial->data, trial->hash, err)
            : host_fail_memory(err);
    if (trial == NULL || status != SOTTO_STATUS_OK) {
        free(trial);
        return status;
    }
    memcpy(ret_hash, trial->hash, EXPERIMENT_HASH_SIZE);
    *ret_trial = trial;
    return SOTTO_STATUS_OK;
}

enum sotto_status
trial_take(struct trial *trial, const struct experiment_run *run,
           uint32_t number, struct sotto_error *err)
{
    const struct experiment *experiment = run->experiment;
    uint64_t seed = experiment_seed("split", run->options->seed, number, 0, 0);
    enum sotto_status status = data_records_read(&trial->data, err);
    if (status != SOTTO_STATUS_OK ||
        (trial->split.aux != NULL && trial->number == number)) {
        return status;
    }
    free_cells(trial); /* of the split that goes */
    data_split_clear(&trial->split);
    trial->number = number;
    return experiment->novel != NULL
               ? data_split_novel(&trial->split, &trial->data, experiment,
                                  run->aux_share, seed, err)
               : data_split_init(&trial->split, &trial->data, experiment,
                                 run->aux_share, seed, err);
}

/* ---- Encoders ----------------------------------------------------------- */

/* Whether the encoder is drawn by lot. */
static bool
has_seed(const char *kind)
{
    struct sotto_setting_info setting;
    bool found = false;
    for (size_t i = 0; !found && sotto_train_setting_at(kind, i, &setting);
         i++) {
        found = strcmp(setting.name, "seed") == 0;
    }
    return found;
}

static enum sotto_status
train(const struct trial *trial, const struct experiment_run *run,
      const struct trial_encoder *encoder, const struct encoder_files *files,
      uint64_t seed, struct sotto_error *err)
{
    char name[64], lambda[32], seed_text[24];
    struct trial_sets sets;
    struct sotto_train_options options = {.eps = TRAIN_EPS,
                                          .label = "label",
                                          .name = name,
                                          .set = sets.set,
                                          .threads = run->options->threads,
                                          .checkpoint = files->checkpoint,
                                          .watch = run->watch};
    (void)snprintf(name, sizeof name, "%s-collection-%s",
                   run->experiment->data->name, encoder->kind);
    (void)snprintf(lambda, sizeof lambda, "%.17g", encoder->lambda);
    (void)snprintf(seed_text, sizeof seed_text, "%ju", (uintmax_t)seed);
    trial_encoder_sets(encoder, run->options->epochs, &sets);
    sets.set[sets.sets++] = (struct sotto_setting){"lambda", lambda};
    if (has_seed(encoder->kind)) {
        sets.set[sets.sets++] = (struct sotto_setting){"seed", seed_text};
    }
    options.sets = sets.sets;
    return sotto_train(trial->split.aux, encoder->kind, &options,
                       files->mechanism, files->analyst, NULL, NULL, err);
}

enum sotto_status
trial_files_init(const struct trial *trial, const struct experiment_run *run,
                 const char *setting, struct encoder_files *ret_files,
                 struct sotto_error *err)
{
    struct host_text all;
    enum sotto_status status;
    host_text_init(&all, 4096);
    host_text_print(&all,
                    "%s\n%saux_share %.10g seed %ju trial %ju\ndata %s\n"
                    "sotto %s\n",
                    setting, run->experiment->novel != NULL ? "novel " : "",
                    run->aux_share, (uintmax_t)run->options->seed,
                    (uintmax_t)trial->number, trial->hash, SOTTO_VERSION);
    status = all.failed
                 ? host_fail_memory(err)
                 : encoder_files_init(ret_files, run->folder, all.data, err);
    host_text_clear(&all);
    return status;
}

enum sotto_status
trial_files_read(const struct encoder_files *files,
                 struct sotto_mechanism **ret_mechanism,
                 struct sotto_analyst **ret_analyst, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status =
        sotto_mechanism_read(files->mechanism, &mechanism, err);
    if (status == SOTTO_STATUS_OK && ret_analyst != NULL) {
        status = sotto_analyst_read(files->analyst, ret_analyst, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_mechanism = mechanism;
    } else {
        sotto_mechanism_free(mechanism);
    }
    return status;
}

enum sotto_status
trial_encoder_make(const struct trial *trial, const struct experiment_run *run,
                   const struct trial_encoder *encoder,
                   struct sotto_mechanism **ret_mechanism,
                   struct sotto_analyst **ret_analyst, struct sotto_error *err)
{
    char setting[EXPERIMENT_SETTING_SIZE];
    struct encoder_files files = {0};
    enum sotto_status status;
    trial_encoder_text(encoder, run->options->epochs, setting);
    status = trial_files_init(trial, run, setting, &files, err);
    if (status == SOTTO_STATUS_OK && !encoder_files_there(&files)) {
        status = train(
            trial, run, encoder, &files,
            experiment_seed("encoder", run->options->seed, trial->number, 0, 0),
            err);
    }
    status = HOST_THEN(
        status, trial_files_read(&files, ret_mechanism, ret_analyst, err));
    encoder_files_clear(&files);
    return status;
}
