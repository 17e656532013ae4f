/*
 * contrastive.c: the contrastive mechanism (P0 3.1.2, P1 chapter 5): what is
 * made of the trained weights.
 *
 * The device's lattice is the unit ball, so the encoder's last layer is scaled:
 * by 1 / l where training clipped to a ball of l, else so that the share
 * `inside` of the auxiliary records is not clipped at all.
 *
 * Not private towards the auxiliary data, and both files say so.
 */
#include "encoder/contrastive.h"

#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/sort.h"
#include "host/wipe.h"
#include "nn/train.h"

/* |z|_1 of every row, sorted; the caller's to wipe and free. */
static enum sotto_status
find_norms(struct contrastive_net *net, const struct learnt *learnt,
           double **ret_norm, struct sotto_error *err)
{
    size_t n = learnt->n, d = net->d;
    float *z = calloc(n, d * sizeof *z);
    double *norm = calloc(n, sizeof *norm);
    if (z == NULL || norm == NULL) {
        free(z);
        free(norm);
        return host_fail_memory(err);
    }
    contrastive_encode(net, learnt->x, n, z);
    for (size_t i = 0; i < n * d; i++) {
        norm[i / d] += fabs((double)z[i]);
    }
    host_sort_doubles(norm, n);
    host_wipe_free(z, n * d * sizeof *z);
    *ret_norm = norm;
    return SOTTO_STATUS_OK;
}

/* What z is multiplied by, and the share of records that are clipped then. */
static enum sotto_status
find_scale(struct contrastive_net *net, const struct learnt *learnt,
           double inside, struct contrastive_info *info, double *ret_scale,
           struct sotto_error *err)
{
    double *norm = NULL, at, sum = 0;
    size_t clipped = 0;
    enum sotto_status status = find_norms(net, learnt, &norm, err);
    if (norm == NULL) {
        return status;
    }
    for (size_t i = 0; i < learnt->n; i++) {
        sum += norm[i];
    }
    if (!isfinite(sum)) {
        host_wipe_free(norm, learnt->n * sizeof *norm);
        return nn_fail_diverged("training", info->epochs, err);
    }
    at = norm[(size_t)ceil(inside * (double)learnt->n) - 1];
    at = net->b > 0 ? net->l : at > 0 ? at * (1 + 1e-6) : 1;
    for (size_t i = 0; i < learnt->n; i++) {
        clipped += norm[i] > at ? 1 : 0;
    }
    *ret_scale = 1 / at;
    info->clipped = (double)clipped / (double)learnt->n;
    host_wipe_free(norm, learnt->n * sizeof *norm);
    return SOTTO_STATUS_OK;
}

static json_t *
pack_facts(const struct contrastive_settings *set,
           const struct contrastive_info *info, size_t n)
{
    return json_pack(
        "{s:I, s:I, s:f, s:f, s:s, s:s, s:f, s:f, s:f, s:f, s:I, s:I}", "rows",
        (json_int_t)n, "epochs", (json_int_t)info->epochs, "loss", info->loss,
        "clipped", info->clipped, "network", set->network, "augment",
        set->augment, "temperature", set->temperature, "l", set->l, "eps_pre",
        set->eps_pre, "inside", set->inside, "batch", (json_int_t)set->batch,
        "seed", (json_int_t)set->seed);
}

static enum sotto_status
write_files(struct contrastive_net *net, const struct learnt *learnt,
            const struct contrastive_settings *set,
            struct contrastive_info *info, struct sotto_error *err)
{
    struct learnt_layers layers = {.count = 0};
    json_t *facts = NULL;
    double scale = 1;
    enum sotto_status status =
        find_scale(net, learnt, set->inside, info, &scale, err);
    status = HOST_THEN(status, learnt_layers_init(&layers, &net->encoder,
                                                  learnt->gain, scale, err));
    if (status == SOTTO_STATUS_OK) {
        facts = pack_facts(set, info, learnt->n);
        status = facts != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        struct learnt_result result = {.encoder = layers.layer,
                                       .encoder_layers = layers.count,
                                       .facts = facts};
        status = learnt_finish(learnt, &result, err);
    }
    json_decref(facts);
    free(layers.memory);
    return status;
}

static void
tell_facts(const struct contrastive_info *info, struct sotto_train_facts *facts)
{
    fact_whole(facts, "epochs", info->epochs);
    fact_number(facts, "loss", info->loss);
    fact_number(facts, "clipped", info->clipped);
    fact_flag(facts, "resumed", info->resumed);
    fact_say(facts,
             "Trained for %llu epoch%s: contrastive loss %.4g, %.0f%% of the "
             "records\nwere clipped.\n",
             (unsigned long long)info->epochs, info->epochs == 1 ? "" : "s",
             info->loss, 100 * info->clipped);
}

static enum sotto_status
check_clm(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    (void)job;
    return contrastive_settings_check(own, err);
}

static enum sotto_status
fit_clm(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    struct contrastive_settings *set = own;
    struct learnt learnt = {0};
    struct contrastive_net net = {0};
    struct contrastive_info info = {0};
    enum sotto_status status = learnt_begin(&learnt, job, &set->common, err);
    status = HOST_THEN(status, contrastive_settings_suit(set, &learnt, err));
    status =
        HOST_THEN(status, contrastive_net_init(&net, &learnt, set, learnt.pool,
                                               learnt.backend, err));
    status =
        HOST_THEN(status, contrastive_train(&net, &learnt, set, &info, err));
    status = HOST_THEN(status, write_files(&net, &learnt, set, &info, err));
    if (status == SOTTO_STATUS_OK) {
        tell_facts(&info, job->facts);
    }
    contrastive_net_clear(&net);
    learnt_clear(&learnt);
    return status;
}

const struct encoder encoder_clm = {
    .kind =
        {.name = "clm",
         .about =
             "an encoder that brings two distorted views of a record "
             "together,\n"
             "and keeps other records apart; for images. If stopped, the same\n"
             "command resumes.",
         .analyst = "the prior",
         .trains = true,
         .example = "d=4 epochs=4"},
    .settings = contrastive_settings,
    .own_size = sizeof(struct contrastive_settings),
    .robust = true,
    .check = check_clm,
    .fit = fit_clm,
};
