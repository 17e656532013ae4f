/*
 * contrastive.c: the contrastive mechanism (P0 3.1.2, P1 chapter 5): what is
 * made of the trained weights.
 *
 * The device's domain has radius 1, so the encoder's last layer is scaled: by
 * 1 / l where training clipped to radius l, else so that the share `inside` of
 * the auxiliary records is not clipped at all.
 *
 * Not private towards the auxiliary data, and both files say so.
 */
#include "encoder/contrastive.h"

#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/wipe.h"
#include "nn/train.h"

struct codes {
    size_t d;
    float *z; /* rows of d */
};

/* Number i of a row's z: a learnt_entry_fn. */
static double
find_entry(const void *context, size_t row, size_t i)
{
    const struct codes *codes = context;
    return (double)codes->z[row * codes->d + i];
}

/* Multiplies z by the scales; sets the share of records that are clipped. */
static enum sotto_status
scale_codes(struct codes *codes, const struct learnt *learnt,
            const double *scale, struct contrastive_info *info,
            struct sotto_error *err)
{
    size_t clipped = 0, d = codes->d;
    double sum = 0;
    for (size_t row = 0; row < learnt->n; row++) {
        float *z = codes->z + row * d;
        for (size_t i = 0; i < d; i++) {
            sum += fabs((double)z[i]);
            z[i] = (float)(z[i] * scale[i]);
        }
        clipped += learnt_norm(learnt->channel->domain, z, d) > 1;
    }
    info->clipped = (double)clipped / (double)learnt->n;
    return isfinite(sum) ? SOTTO_STATUS_OK
                         : nn_fail_diverged("training", info->epochs, err);
}

/* What every number of z is multiplied by, and the share of records that are
   clipped then. */
static enum sotto_status
find_scale(struct contrastive_net *net, const struct learnt *learnt,
           double inside, struct contrastive_info *info, double *ret_scale,
           struct sotto_error *err)
{
    struct codes codes = {.d = net->d};
    enum sotto_status status = SOTTO_STATUS_OK;
    codes.z = calloc(learnt->n, net->d * sizeof *codes.z);
    if (codes.z == NULL) {
        return host_fail_memory(err);
    }
    contrastive_encode(net, learnt->x, learnt->n, codes.z);
    for (size_t i = 0; i < net->d; i++) {
        ret_scale[i] = 1 / net->l;
    }
    if (!(net->b > 0)) {
        status = learnt_find_scales(learnt->channel->domain, learnt->n, net->d,
                                    inside, find_entry, &codes, ret_scale, err);
    }
    status =
        HOST_THEN(status, scale_codes(&codes, learnt, ret_scale, info, err));
    host_wipe_free(codes.z, learnt->n * net->d * sizeof *codes.z);
    return status;
}

/* Scales the numbers that the last layer gives. */
static void
scale_layers(const struct learnt_layers *layers, const double *scale)
{
    const struct layer *last = &layers->layer[layers->count - 1];
    float *weight = layers->memory + (last->weight - layers->memory);
    float *bias = layers->memory + (last->bias - layers->memory);
    size_t fan = layer_fan(last);
    for (size_t i = 0; i < last->out; i++) {
        for (size_t j = 0; j < fan; j++) {
            weight[i * fan + j] = (float)(scale[i] * weight[i * fan + j]);
        }
        bias[i] = (float)(scale[i] * bias[i]);
    }
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
    double *scale = calloc(net->d, sizeof *scale);
    enum sotto_status status;
    if (scale == NULL) {
        return host_fail_memory(err);
    }
    status = find_scale(net, learnt, set->inside, info, scale, err);
    status = HOST_THEN(status, learnt_layers_init(&layers, &net->encoder,
                                                  learnt->gain, 1, err));
    if (status == SOTTO_STATUS_OK) {
        scale_layers(&layers, scale);
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
    free(scale);
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
