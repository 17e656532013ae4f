/*
 * trial.c: what a trial of an MNIST experiment has: splits of the images,
 * and trained encoders.
 *
 * The trainer is told the label's column for the list of classes alone, which
 * is public; no label of an auxiliary image is used.
 */
#include "experiment/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/encoder_cache.h"
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
trial_close(void *state)
{
    struct trial *trial = state;
    free_cells(trial);
    mnist_split_clear(&trial->split);
    mnist_data_close(&trial->data);
    free(trial);
}

enum sotto_status
trial_open(const struct experiment_run *run, mnist_split_fn *split_init,
           void **ret_state, char ret_hash[EXPERIMENT_HASH_SIZE],
           struct sotto_error *err)
{
    struct trial *trial = calloc(1, sizeof *trial);
    if (trial == NULL) {
        return host_fail_memory(err);
    }
    trial->split_init = split_init;
    enum sotto_status status =
        mnist_data_open(run->options->data, &trial->data, trial->hash, err);
    if (status != SOTTO_STATUS_OK) {
        free(trial);
        return status;
    }
    memcpy(ret_hash, trial->hash, EXPERIMENT_HASH_SIZE);
    *ret_state = trial;
    return SOTTO_STATUS_OK;
}

enum sotto_status
trial_take(struct trial *trial, const struct experiment_run *run,
           uint32_t number, struct sotto_error *err)
{
    enum sotto_status status = mnist_data_read(&trial->data, err);
    if (status != SOTTO_STATUS_OK ||
        (trial->split.aux != NULL && trial->number == number)) {
        return status;
    }
    free_cells(trial); /* of the split that goes */
    mnist_split_clear(&trial->split);
    trial->number = number;
    return trial->split_init(
        &trial->split, &trial->data, run->aux_share,
        experiment_seed("split", run->options->seed, number, 0, 0), err);
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
    (void)snprintf(name, sizeof name, "mnist-collection-%s", encoder->kind);
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

char *
trial_text(const struct trial *trial, const struct experiment_run *run,
           const char *setting)
{
    struct host_text all;
    host_text_init(&all, 4096);
    host_text_print(&all,
                    "%s\n%saux_share %.10g seed %ju trial %ju\ndata %s\n"
                    "sotto %s\n",
                    setting,
                    trial->split_init == mnist_split_novel ? "novel " : "",
                    run->aux_share, (uintmax_t)run->options->seed,
                    (uintmax_t)trial->number, trial->hash, SOTTO_VERSION);
    if (all.failed) {
        host_text_clear(&all);
        return NULL;
    }
    return all.data;
}

enum sotto_status
trial_encoder_make(const struct trial *trial, const struct experiment_run *run,
                   const struct trial_encoder *encoder,
                   struct sotto_mechanism **ret_mechanism,
                   struct sotto_analyst **ret_analyst, struct sotto_error *err)
{
    char setting[EXPERIMENT_SETTING_SIZE];
    struct encoder_files files = {0};
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status;
    char *text;
    trial_encoder_text(encoder, run->options->epochs, setting);
    text = trial_text(trial, run, setting);
    if (text == NULL) {
        return host_fail_memory(err);
    }
    status = encoder_files_init(&files, run->folder, text, err);
    if (status == SOTTO_STATUS_OK && !encoder_files_there(&files)) {
        status = train(
            trial, run, encoder, &files,
            experiment_seed("encoder", run->options->seed, trial->number, 0, 0),
            err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_mechanism_read(files.mechanism, &mechanism, err);
    }
    if (status == SOTTO_STATUS_OK && ret_analyst != NULL) {
        status = sotto_analyst_read(files.analyst, ret_analyst, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_mechanism = mechanism;
    } else {
        sotto_mechanism_free(mechanism);
    }
    encoder_files_clear(&files);
    free(text);
    return status;
}
