/*
 * trial_codebook.c: the codebooks of a trial.
 *
 * Clustering and choosing k look at auxiliary images alone, and at no label: k
 * is a result, and what decides it (encoder, epsilon, people, classes) decides
 * the file.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/trial.h"
#include "host/error.h"
#include "learn/codes/codes.h"

#define ANY_EPS "1" /* of a mechanism that nobody reports with */

void
trial_code_note(const struct sotto_mechanism *mechanism,
                char note[EXPERIMENT_NOTE_SIZE])
{
    struct codes_shape shape;
    struct sotto_error err;
    note[0] = '\0';
    if (codes_shape_init(&shape, mechanism, false, &err) == SOTTO_STATUS_OK) {
        (void)snprintf(note, EXPERIMENT_NOTE_SIZE, "k=%zu %s", shape.cells,
                       shape.code->likelihood->name);
    }
}

enum sotto_status
trial_cells(struct trial *trial, const struct experiment_run *run,
            const struct trial_encoder *encoder, bool label,
            struct sotto_codebook **ret_codebook, struct sotto_error *err)
{
    struct trial_cells *cells = &trial->cells[label ? 1 : 0];
    const struct sotto_codebook_options options = {
        .label = label ? "label" : NULL,
        .name = cells->name,
        .unit = strcmp(encoder->kind, "clm") == 0,
        .seed = experiment_seed("codebook", run->options->seed, trial->number,
                                0, 0),
        .threads = run->options->threads,
        .watch = run->watch};
    char setting[EXPERIMENT_SETTING_SIZE];
    struct sotto_mechanism *mechanism = NULL;
    (void)snprintf(cells->name, sizeof cells->name, "%s-collection-codebook",
                   run->experiment->data->name);
    trial_encoder_text(encoder, run->options->epochs, setting);
    if (cells->codebook != NULL && strcmp(cells->encoder, setting) == 0) {
        *ret_codebook = cells->codebook;
        return SOTTO_STATUS_OK;
    }
    sotto_codebook_free(cells->codebook);
    cells->codebook = NULL;
    enum sotto_status status =
        trial_encoder_make(trial, run, encoder, &mechanism, NULL, err);
    status =
        HOST_THEN(status, sotto_codebook_new(trial->split.aux, mechanism,
                                             &options, &cells->codebook, err));
    sotto_mechanism_free(mechanism);
    if (status == SOTTO_STATUS_OK) {
        memcpy(cells->encoder, setting, sizeof setting);
        *ret_codebook = cells->codebook;
    }
    return status;
}

/* Chooses what to report, and writes it. */
static enum sotto_status
make(struct trial *trial, const struct experiment_run *run,
     const struct trial_encoder *encoder, const struct trial_code *code,
     const struct encoder_files *files, struct sotto_error *err)
{
    struct sotto_codebook *codebook = NULL;
    struct sotto_codebook_choice choice = {
        .k = code->k > 0 ? code->k : code->classes, .channel = "subset"};
    char eps[EXPERIMENT_EPS_SIZE] = ANY_EPS;
    enum sotto_status status =
        trial_cells(trial, run, encoder, code->label, &codebook, err);
    if (isfinite(code->eps)) {
        experiment_eps_text(code->eps, eps);
    }
    if (status == SOTTO_STATUS_OK &&
        choice.k > sotto_codebook_cells(codebook)) { /* of a few images */
        choice.k = sotto_codebook_cells(codebook);
    }
    if (status == SOTTO_STATUS_OK && isfinite(code->eps) && code->k == 0) {
        struct sotto_codebook_wanted wanted = {
            .eps = eps,
            .people = sotto_table_rows(trial->split.people),
            .classes = code->classes,
            .balanced = true,
            .books = 1};
        status = sotto_codebook_choose(codebook, &wanted, &choice, err);
    }
    status = HOST_THEN(status, sotto_codebook_write(codebook, &choice, eps,
                                                    files->mechanism,
                                                    files->analyst, NULL, err));
    return status;
}

enum sotto_status
trial_codebook(struct trial *trial, const struct experiment_run *run,
               const struct trial_encoder *encoder,
               const struct trial_code *code,
               struct sotto_mechanism **ret_mechanism,
               struct sotto_analyst **ret_analyst, struct sotto_error *err)
{
    char first[EXPERIMENT_SETTING_SIZE], second[EXPERIMENT_SETTING_SIZE];
    char eps[EXPERIMENT_EPS_SIZE];
    char all[2 * EXPERIMENT_SETTING_SIZE + EXPERIMENT_EPS_SIZE + 16];
    struct encoder_files files = {0};
    enum sotto_status status;
    trial_encoder_text(encoder, run->options->epochs, first);
    trial_code_text(code, second);
    experiment_eps_text(code->eps, eps);
    (void)snprintf(all, sizeof all, "%s\n%s; eps=%s", first, second, eps);
    status = trial_files_init(trial, run, all, &files, err);
    if (status == SOTTO_STATUS_OK && !encoder_files_there(&files)) {
        status = make(trial, run, encoder, code, &files, err);
    }
    status = HOST_THEN(
        status, trial_files_read(&files, ret_mechanism, ret_analyst, err));
    encoder_files_clear(&files);
    return status;
}
