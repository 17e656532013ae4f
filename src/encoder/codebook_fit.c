/*
 * codebook_fit.c: the codebook as an encoder: all three steps.
 *
 * The representation that is cut into cells is another mechanism's, or that of
 * an encoder of kind ENCODER_BASE which is trained first: then the settings of
 * that kind are this one's, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/encoder.h"
#include "host/error.h"
#include "mechanism/mechanism.h"

#define BASE_EPS "1" /* any: no report is made with it */
#define UNIT_D 8u    /* numbers of z, from which on only directions count */

struct settings {
    const char *encoder; /* the mechanism whose encoder it takes; NULL: one is
                            trained */
    const char *channel; /* NULL: chosen */
    uint32_t k, classes, people, cells; /* 0: not given */
    bool unit;
    uint64_t seed;
};

#define AT(field) offsetof(struct settings, field)

static const struct setting settings[] = {
    SETTING("encoder", TEXT, AT(encoder), 0, 0, NULL, "M.sotto",
            "the mechanism whose columns and encoder it\n"
            "takes (one is trained first, with the settings\n"
            "below that are for training)"),
    SETTING("k", WHOLE, AT(k), 2, 65536, NULL, NULL,
            "how many codes (what reports can tell apart;\n"
            "without a label 32)"),
    SETTING("channel", TEXT, AT(channel), 0, 0, NULL, "CHANNEL",
            "subset, flip, or with a label signs (with a\n"
            "label below an epsilon of 0.7 signs, else subset)"),
    SETTING("classes", WHOLE, AT(classes), 2, 65535, NULL, NULL,
            "classes to choose for (the label's)"),
    SETTING("people", WHOLE, AT(people), 1, 1000000000, NULL, NULL,
            "how many will report, to choose k for (as many\n"
            "as there are auxiliary records)"),
    SETTING("cells", WHOLE, AT(cells), 2, 65536, NULL, NULL,
            "cells that codes are put together from (500, or\n"
            "one for every 20 records if that is fewer)"),
    SETTING("unit", FLAG, AT(unit), 0, 0, NULL, NULL,
            "with an encoder of clm: cells of directions,\n"
            "whatever the length (so where one is trained\n"
            "first with d of 8 or more, or is taken from\n"
            "such a codebook)"),
    SETTING("seed", SEED, AT(seed), 0, 0, "0", NULL,
            "the same seed, the same file"),
    SETTING_END};

/* ---- Settings ------------------------------------------------------------ */

/* Whether a setting is the base's; the seed is both's. */
static bool
is_handed_on(const char *name)
{
    return settings_find(settings, name) == NULL || strcmp(name, "seed") == 0;
}

/* Makes the options of the base's training; the caller frees their settings. */
static enum sotto_status
make_options(const struct sotto_train_options *options,
             struct sotto_train_options *ret_options,
             struct sotto_setting **ret_set, struct sotto_error *err)
{
    size_t sets = 0;
    struct sotto_setting *set = calloc(options->sets + 1, sizeof *set);
    if (set == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < options->sets; i++) {
        if (is_handed_on(options->set[i].name)) {
            set[sets++] = options->set[i];
        }
    }
    *ret_options = *options;
    ret_options->eps = BASE_EPS;
    ret_options->name = ret_options->campaign = NULL;
    ret_options->set = *ret_set = set;
    ret_options->sets = sets;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_base(const struct sotto_train_options *options, struct sotto_error *err)
{
    struct sotto_train_options base;
    struct sotto_setting *set = NULL;
    enum sotto_status status = make_options(options, &base, &set, err);
    status = HOST_THEN(status, sotto_train_check(ENCODER_BASE, &base, err));
    free(set);
    return status;
}

static enum sotto_status
check_no_base(const struct sotto_train_options *options,
              struct sotto_error *err)
{
    const char *name = options->drops > 0 ? "drop" : NULL;
    for (size_t i = 0; name == NULL && i < options->sets; i++) {
        if (settings_find(settings, options->set[i].name) == NULL) {
            name = options->set[i].name;
        }
    }
    return name == NULL ? SOTTO_STATUS_OK
                        : settings_fail(err, name,
                                        "is for training an encoder, and "
                                        "encoder names one: leave one of them "
                                        "out");
}

/* Finds what is wrong before an encoder is trained for it. */
static enum sotto_status
check_codebook(const struct encoder_job *job, void *own,
               struct sotto_error *err)
{
    const struct settings *set = own;
    const char *channel = set->channel;
    bool label = job->options->label != NULL;
    if (channel != NULL && strcmp(channel, "subset") != 0 &&
        strcmp(channel, "flip") != 0 && strcmp(channel, "signs") != 0) {
        return settings_fail(err, "channel",
                             "\"%.40s\" is no channel for codes: take subset, "
                             "flip or signs",
                             channel);
    }
    if (channel != NULL && strcmp(channel, "signs") == 0 && !label) {
        return settings_fail(err, "channel",
                             "signs is about a code and a label together: name "
                             "a label, or take subset or flip");
    }
    if (!label && (set->classes > 0 || set->people > 0)) {
        return settings_fail(err, set->classes > 0 ? "classes" : "people",
                             "is for choosing the number of codes, which needs "
                             "a label: name it, or leave this out");
    }
    return set->encoder != NULL ? check_no_base(job->options, err)
                                : check_base(job->options, err);
}

/* ---- Facts --------------------------------------------------------------- */

/* Says what decided the number of codes. */
static void
say_choice(const struct sotto_codebook *codebook,
           const struct sotto_codebook_choice *choice,
           struct sotto_train_facts *facts)
{
    switch (choice->bound) {
    case SOTTO_CODEBOOK_INFORMATION:
        fact_say(facts,
                 "As many as reports of %zu people can tell apart at this "
                 "epsilon.\n",
                 choice->people);
        break;
    case SOTTO_CODEBOOK_CLASSES:
        fact_say(facts,
                 "As few as the classes allow: reports of %zu people can tell "
                 "only %zu\napart at this epsilon, so expect little, or ask "
                 "more people.\n",
                 choice->people, choice->informed);
        break;
    case SOTTO_CODEBOOK_RECORDS:
        fact_say(facts,
                 "As many as %zu auxiliary records allow: reports of %zu "
                 "people\ncan tell %zu apart at this epsilon",
                 sotto_codebook_records(codebook), choice->people,
                 choice->informed);
        fact_say(facts,
                 choice->k < choice->least ? ", and the classes need %zu.\n"
                                             "Take more auxiliary records.\n"
                                           : ".\n",
                 choice->least);
        break;
    case SOTTO_CODEBOOK_GIVEN:
    default:
        break;
    }
}

static void
tell_codes(const struct sotto_codebook *codebook,
           const struct sotto_codebook_choice *choice,
           struct sotto_train_facts *facts)
{
    fact_whole(facts, "cells", sotto_codebook_cells(codebook));
    fact_whole(facts, "k", choice->k);
    fact_text(facts, "channel", choice->channel);
    fact_say(facts, "%zu codes, from %zu cells of %zu records, by %s.\n",
             choice->k, sotto_codebook_cells(codebook),
             sotto_codebook_records(codebook), choice->channel);
    if (choice->bound != SOTTO_CODEBOOK_GIVEN) {
        fact_whole(facts, "people", choice->people);
        fact_whole(facts, "k_information", choice->informed);
        fact_whole(facts, "k_classes", choice->least);
        say_choice(codebook, choice, facts);
    }
}

/* ---- Fitting ------------------------------------------------------------- */

/* Its budget is never used, so the same encoder serves any eps; its checkpoint
   stays until the codebook is written. */
static enum sotto_status
train_base(const struct encoder_job *job, struct sotto_mechanism **ret_encoder,
           struct sotto_error *err)
{
    struct sotto_train_options base;
    struct sotto_setting *set = NULL;
    struct sotto_train_facts *facts = calloc(1, sizeof *facts);
    enum sotto_status status =
        facts != NULL ? make_options(job->options, &base, &set, err)
                      : host_fail_memory(err);
    status = HOST_THEN(status, encoder_train(encoder_registry, ENCODER_BASE,
                                             (struct encoder_job){
                                                 .table = job->table,
                                                 .options = &base,
                                                 .facts = facts,
                                                 .ret_mechanism = ret_encoder},
                                             err));
    if (status == SOTTO_STATUS_OK) {
        double epochs = sotto_train_fact(facts, "epochs");
        double loss = sotto_train_fact(facts, "loss");
        fact_whole(job->facts, "epochs", (uint64_t)epochs);
        fact_number(job->facts, "loss", loss);
        fact_flag(job->facts, "resumed",
                  sotto_train_fact(facts, "resumed") > 0);
        fact_say(job->facts,
                 "Trained an encoder for %.0f epoch%s: loss %.4g.\n", epochs,
                 epochs > 1 ? "s" : "", loss);
    }
    free(set);
    free(facts);
    return status;
}

/* Whether an encoder was trained here with so many numbers that a record is
   told by their direction alone. */
static bool
is_wide(const struct settings *set, const struct sotto_mechanism *encoder)
{
    return set->encoder == NULL && encoder->shape.z >= UNIT_D;
}

/* Cells, choice, files. */
static enum sotto_status
make_codes(const struct encoder_job *job, const struct settings *set,
           const struct sotto_mechanism *encoder, struct sotto_error *err)
{
    const struct sotto_train_options *options = job->options;
    struct sotto_codebook_options with = {.label = options->label,
                                          .name = options->name,
                                          .campaign = options->campaign,
                                          .cells = set->cells,
                                          .unit = set->unit ||
                                                  is_wide(set, encoder),
                                          .seed = set->seed,
                                          .threads = options->threads,
                                          .watch = options->watch};
    struct sotto_codebook_wanted wanted = {.eps = options->eps,
                                           .people = set->people,
                                           .classes = set->classes,
                                           .k = set->k,
                                           .channel = set->channel};
    struct sotto_codebook_choice choice = {0};
    struct sotto_codebook *codebook = NULL;
    enum sotto_status status =
        sotto_codebook_new(job->table, encoder, &with, &codebook, err);
    status = HOST_THEN(status, job->choose(codebook, &wanted, &choice, err));
    status = HOST_THEN(status, sotto_codebook_write(
                                   codebook, &choice, options->eps, job->path,
                                   job->analyst_path, job->ret_mechanism, err));
    if (status == SOTTO_STATUS_OK) {
        tell_codes(codebook, &choice, job->facts);
    }
    sotto_codebook_free(codebook);
    return status;
}

static enum sotto_status
fit_codebook(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    const struct settings *set = own;
    struct sotto_mechanism *encoder = NULL;
    enum sotto_status status =
        set->encoder != NULL ? sotto_mechanism_read(set->encoder, &encoder, err)
                             : train_base(job, &encoder, err);
    status = HOST_THEN(status, make_codes(job, set, encoder, err));
    sotto_mechanism_free(encoder);
    return status;
}

const struct encoder encoder_codebook = {
    .kind =
        {.name = "codebook",
         .about =
             "which of k codes a record has, reported as one with the "
             "label:\n"
             "for learning at a small epsilon. Tells little of a record "
             "but its\n"
             "class. Without an encoder one is trained first, as " ENCODER_BASE
             " does it.\n"
             "If stopped, the same command resumes.",
         .analyst = "codes and representations",
         .trains = true},
    .settings = settings,
    .own_size = sizeof(struct settings),
    .base = ENCODER_BASE,
    .check = check_codebook,
    .fit = fit_codebook,
};
