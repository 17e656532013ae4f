/*
 * registry.c: the encoders there are, and how one of them is asked to train.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"
#include "encoder/encoder.h"
#include "host/error.h"

const struct encoder *const encoder_registry[] = {
    &encoder_direct,     &encoder_vlm,
    &encoder_pca,        &encoder_clm,
    &encoder_identity,   &encoder_task_linear,
    &encoder_task_codes, &encoder_codebook,
    &encoder_task,       NULL};

const struct encoder *
encoder_find(const struct encoder *const *registry, const char *name)
{
    for (; *registry != NULL; registry++) {
        if (strcmp((*registry)->kind.name, name) == 0) {
            return *registry;
        }
    }
    return NULL;
}

/* Whether an encoder takes this row of its base. */
static bool
is_taken(const struct encoder *encoder, const struct setting *setting)
{
    return !setting->late && !setting->unshared &&
           settings_find(encoder->settings, setting->name) == NULL;
}

const struct setting *
encoder_setting_at(const struct encoder *const *registry,
                   const struct encoder *encoder, size_t i)
{
    const struct encoder *base =
        encoder->base != NULL ? encoder_find(registry, encoder->base) : NULL;
    for (const struct setting *at = encoder->settings; at->name != NULL; at++) {
        if (i-- == 0) {
            return at;
        }
    }
    for (const struct setting *at = base != NULL ? base->settings : NULL;
         at != NULL && at->name != NULL; at++) {
        if (is_taken(encoder, at) && i-- == 0) {
            return at;
        }
    }
    return NULL;
}

/* ---- Training ------------------------------------------------------------ */

static void
fail_kind(const struct encoder *const *registry, const char *kind,
          struct sotto_error *err)
{
    struct host_text there;
    host_text_init(&there, 400);
    for (; *registry != NULL; registry++) {
        host_text_print(&there, "%s%s", there.size > 0 ? ", " : "",
                        (*registry)->kind.name);
    }
    (void)host_fail(err, SOTTO_STATUS_USAGE, 0,
                    "there is no kind '%s': this version has %s",
                    host_shown(kind),
                    there.data != NULL ? there.data : "others");
    host_text_clear(&there);
}

/* Reads the options' settings into a new block, for the caller to free. What is
   its base's is not read here, only known. */
static enum sotto_status
read_settings(const struct encoder *const *registry,
              const struct encoder_job *job, void **ret_own,
              struct sotto_error *err)
{
    const struct encoder *encoder = job->encoder;
    const struct encoder *base =
        encoder->base != NULL ? encoder_find(registry, encoder->base) : NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    void *own = calloc(1, encoder->own_size);
    if (own == NULL) {
        return host_fail_memory(err);
    }
    settings_init(encoder->settings, own);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < job->options->sets;
         i++) {
        const struct sotto_setting *set = &job->options->set[i];
        const struct setting *theirs =
            base != NULL ? settings_find(base->settings, set->name) : NULL;
        if (theirs != NULL && is_taken(encoder, theirs)) {
            continue;
        }
        status = settings_find(encoder->settings, set->name) != NULL
                     ? settings_put(encoder->settings, own, set->name,
                                    set->value, err)
                     : settings_fail(err, set->name, "is not for %s",
                                     encoder->kind.name);
    }
    if (status == SOTTO_STATUS_OK && encoder->check != NULL) {
        status = encoder->check(job, own, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_own = own;
    } else {
        free(own);
    }
    return status;
}

static enum sotto_status
begin_encoder(const struct encoder *const *registry, const char *kind,
              struct encoder_job *job, void **ret_own, struct sotto_error *err)
{
    uint64_t units = 0;
    enum sotto_status status;
    job->encoder = encoder_find(registry, kind);
    if (job->encoder == NULL) {
        fail_kind(registry, kind, err);
        return SOTTO_STATUS_USAGE;
    }
    if (job->options->eps == NULL) {
        return settings_fail(err, "eps",
                             "is missing: give the budget of a report");
    }
    status = decimal_read_eps(job->options->eps, strlen(job->options->eps),
                              &units, err);
    return HOST_THEN(status, read_settings(registry, job, ret_own, err));
}

/* Notes the settings as they were used: `fit` may have set some. */
static void
note_settings(const struct encoder_job *job, const void *own)
{
    struct host_text text;
    host_text_init(&text, sizeof job->facts->settings);
    settings_text(job->encoder->settings, own, true, &text);
    (void)snprintf(job->facts->settings, sizeof job->facts->settings, "%s",
                   text.failed || text.data == NULL ? "" : text.data);
    host_text_clear(&text);
}

enum sotto_status
encoder_train(const struct encoder *const *registry, const char *kind,
              struct encoder_job job, struct sotto_error *err)
{
    struct sotto_train_facts *facts = calloc(1, sizeof *facts),
                             *ret_facts = job.facts;
    const char *checkpoint = job.options->checkpoint;
    void *own = NULL;
    enum sotto_status status;
    if (facts == NULL) {
        return host_fail_memory(err);
    }
    job.facts = facts;
    status = begin_encoder(registry, kind, &job, &own, err);
    if (status == SOTTO_STATUS_OK && job.encoder != NULL) {
        status = job.encoder->fit(&job, own, err);
    }
    if (status == SOTTO_STATUS_OK && checkpoint != NULL && job.path != NULL) {
        (void)unlink(checkpoint); /* served its turn; may not exist */
    }
    if (status == SOTTO_STATUS_OK && ret_facts != NULL && job.encoder != NULL) {
        note_settings(&job, own);
        *ret_facts = *facts;
    }
    free(own);
    free(facts);
    return status;
}

enum sotto_status
sotto_train_check(const char *kind, const struct sotto_train_options *options,
                  struct sotto_error *err)
{
    struct encoder_job job = {.options = options};
    void *own = NULL;
    enum sotto_status status =
        begin_encoder(encoder_registry, kind, &job, &own, err);
    free(own);
    return status;
}

/* ---- What there is ------------------------------------------------------- */

bool
sotto_train_kind_at(size_t i, struct sotto_train_kind *ret_kind)
{
    for (size_t j = 0; encoder_registry[j] != NULL; j++) {
        if (j == i) {
            *ret_kind = encoder_registry[j]->kind;
            return true;
        }
    }
    return false;
}

bool
sotto_train_setting_at(const char *kind, size_t i,
                       struct sotto_setting_info *ret_setting)
{
    const struct encoder *encoder = encoder_find(encoder_registry, kind);
    const struct setting *setting =
        encoder != NULL ? encoder_setting_at(encoder_registry, encoder, i)
                        : NULL;
    return setting_tell(setting, ret_setting);
}
