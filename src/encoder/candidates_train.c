/*
 * candidates_train.c: a list of encoders, checked and trained.
 *
 * A candidate has the codebook's seed, the second of its kind the next one, so
 * that "clm,clm,clm" are three trainings of which the best is kept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/candidates.h"
#include "host/error.h"

#define EPS "1" /* any: no report is made with it */

/* What a candidate's training is asked for. */
struct asked {
    struct sotto_train_options options;
    struct sotto_setting *set;
    const char **drop;
    char seed[24];
    char *checkpoint;
};

static const char *
find_set(const struct sotto_setting *set, size_t sets, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < sets; i++) {
        value = strcmp(set[i].name, name) == 0 ? set[i].value : value;
    }
    return value;
}

/* Adds what the codebook's options say for a candidate of the base. */
static void
add_base(struct asked *asked, const struct candidates *candidates,
         const struct candidate *candidate,
         const struct sotto_train_options *options)
{
    for (size_t i = 0; i < options->sets; i++) {
        const struct sotto_setting *set = &options->set[i];
        if (strcmp(candidate->kind, ENCODER_BASE) == 0 &&
            settings_find(candidates->theirs, set->name) == NULL &&
            find_set(candidate->set, candidate->sets, set->name) == NULL) {
            asked->set[asked->options.sets++] = *set;
        }
    }
}

/* Adds the seed, unless the candidate has its own or its kind none. */
static void
add_seed(struct asked *asked, const struct candidates *candidates,
         const struct candidate *candidate)
{
    const struct encoder *encoder =
        encoder_find(encoder_registry, candidate->kind);
    if (settings_find(encoder->settings, "seed") != NULL &&
        find_set(candidate->set, candidate->sets, "seed") == NULL) {
        (void)snprintf(asked->seed, sizeof asked->seed, "%" PRIu64,
                       candidates->seed + candidate->again);
        asked->set[asked->options.sets++] =
            (struct sotto_setting){"seed", asked->seed};
    }
}

/* Whether a candidate's training writes a checkpoint. */
static bool
has_checkpoint(const struct candidate *candidate)
{
    return candidate->kind != NULL &&
           encoder_find(encoder_registry, candidate->kind)->kind.trains;
}

/* PATH of the first, PATH.1 of the next. */
static char *
name_checkpoint(const char *checkpoint, size_t place)
{
    size_t room = strlen(checkpoint) + 24;
    char *text = malloc(room);
    if (text != NULL) {
        (void)snprintf(text, room, place > 0 ? "%s.%zu" : "%s", checkpoint,
                       place);
    }
    return text;
}

static void
asked_clear(struct asked *asked)
{
    free(asked->set);
    free(asked->drop);
    free(asked->checkpoint);
}

/* Drops the label, which an encoder cannot be trained beside. */
static enum sotto_status
drop_label(struct asked *asked, struct sotto_error *err)
{
    struct sotto_train_options *options = &asked->options;
    asked->drop = calloc(options->drops + 1, sizeof *asked->drop);
    if (asked->drop == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < options->drops; i++) {
        asked->drop[i] = options->drop[i];
    }
    asked->drop[options->drops++] = options->label;
    options->drop = asked->drop;
    options->label = NULL;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
asked_init(struct asked *asked, const struct candidates *candidates,
           const struct candidate *candidate,
           const struct sotto_train_options *options, struct sotto_error *err)
{
    *asked =
        (struct asked){.options = *options,
                       .set = calloc(options->sets + CANDIDATE_SETS_MAX + 1,
                                     sizeof *asked->set)};
    asked->options.eps = EPS;
    asked->options.name = asked->options.campaign = NULL;
    asked->options.set = asked->set;
    asked->options.sets = 0;
    asked->options.checkpoint = NULL;
    if (asked->set == NULL) {
        return host_fail_memory(err);
    }
    if (candidates->unlabelled && drop_label(asked, err) != SOTTO_STATUS_OK) {
        return SOTTO_STATUS_MEMORY;
    }
    add_base(asked, candidates, candidate, options);
    for (size_t i = 0; i < candidate->sets; i++) {
        asked->set[asked->options.sets++] = candidate->set[i];
    }
    add_seed(asked, candidates, candidate);
    if (options->checkpoint != NULL && has_checkpoint(candidate)) {
        asked->checkpoint =
            name_checkpoint(options->checkpoint, candidate->place);
        asked->options.checkpoint = asked->checkpoint;
        return asked->checkpoint != NULL ? SOTTO_STATUS_OK
                                         : host_fail_memory(err);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
candidates_check(const struct candidates *candidates,
                 const struct sotto_train_options *options,
                 struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < candidates->count;
         i++) {
        const struct candidate *at = &candidates->candidate[i];
        struct asked asked = {.set = NULL};
        if (at->kind != NULL) {
            status = asked_init(&asked, candidates, at, options, err);
            status = HOST_THEN(
                status, sotto_train_check(at->kind, &asked.options, err));
        }
        asked_clear(&asked);
    }
    return status;
}

/* ---- Training ------------------------------------------------------------ */

static enum sotto_status
train_candidate(const struct candidates *candidates,
                struct candidate *candidate, const struct encoder_job *job,
                struct sotto_error *err)
{
    struct sotto_train_facts *facts = calloc(1, sizeof *facts);
    struct asked asked = {.set = NULL};
    enum sotto_status status =
        facts != NULL
            ? asked_init(&asked, candidates, candidate, job->options, err)
            : host_fail_memory(err);
    status = HOST_THEN(
        status, encoder_train(
                    encoder_registry, candidate->kind,
                    (struct encoder_job){.table = job->table,
                                         .options = &asked.options,
                                         .function = job->function,
                                         .facts = facts,
                                         .ret_mechanism = &candidate->encoder},
                    err));
    if (status == SOTTO_STATUS_OK) {
        candidate->epochs = sotto_train_fact(facts, "epochs");
        candidate->loss = sotto_train_fact(facts, "loss");
        candidate->resumed = sotto_train_fact(facts, "resumed") > 0;
    }
    asked_clear(&asked);
    free(facts);
    return status;
}

/* Whether it is the data that a candidate cannot be trained from, and not what
   the user asked for: that is for the base. */
static bool
is_unsuited(const struct candidate *candidate, enum sotto_status status)
{
    if (candidate->kind == NULL || strcmp(candidate->kind, ENCODER_BASE) == 0) {
        return false;
    }
    return status == SOTTO_STATUS_USAGE || status == SOTTO_STATUS_LIMIT ||
           status == SOTTO_STATUS_INPUT;
}

enum sotto_status
candidates_train(struct candidates *candidates, const struct encoder_job *job,
                 bool lenient, struct sotto_error *err)
{
    size_t there = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < candidates->count; i++) {
        struct candidate *at = &candidates->candidate[i];
        status = at->kind == NULL
                     ? sotto_mechanism_read(at->name, &at->encoder, err)
                     : train_candidate(candidates, at, job, err);
        if (status == SOTTO_STATUS_OK) {
            candidates->kept = there++ == 0 ? i : candidates->kept;
        } else if (!lenient || !is_unsuited(at, status)) {
            return status;
        }
    }
    return there > 0 ? SOTTO_STATUS_OK : status;
}

void
candidates_forget(const struct candidates *candidates, const char *checkpoint)
{
    for (size_t i = 0; checkpoint != NULL && i < candidates->count; i++) {
        const struct candidate *at = &candidates->candidate[i];
        if (has_checkpoint(at)) {
            char *name = name_checkpoint(checkpoint, at->place);
            if (name != NULL) {
                (void)unlink(name); /* served its turn; may not exist */
            }
            free(name);
        }
    }
}
