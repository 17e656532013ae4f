/*
 * variational.c: the variational mechanism (P0 3.1.1, P1 4.2.1): settings, and
 * what is made of the trained weights.
 *
 * The device's domain has radius 1: the encoder's last layer is divided by l,
 * and the decoder's first layer multiplied by it, so that both speak of z in
 * units of the domain.
 *
 * Not private towards the auxiliary data (ERRATA 1), and both files say so.
 */
#include "encoder/variational.h"

#include <math.h>
#include <stdlib.h>

#include "host/error.h"

#define EPS_PRE_SHARE 3.3 /* of epsilon, as the papers chose it for images */
#define EPS_PRE_LEAST 7.0
#define EPS_PRE_MOST 32.0 /* of a report */
#define L_LATTICE 5
#define L_OTHER 1 /* a normal prior resists mu^2 / 2: docs/variational.md */
#define AT(field) offsetof(struct variational_settings, field)

static const struct setting settings[] = {
    LEARNT_SETTINGS(variational_settings, "8"),
    SETTING("hidden", LIST, AT(hidden), 1, 65536, NULL, NULL,
            "units of the encoder's layers; the decoder has\n"
            "them backwards (400,150,50)"),
    SETTING("linear", FLAG, AT(linear), 0, 0, NULL, NULL, "no hidden layer"),
    SETTING("l", NUMBER, AT(l), 0.001, 1000000, NULL, NULL,
            "the radius that the encoder learns in (5; with\n"
            "gaussian and duchi 1)"),
    SETTING("eps-pre", NUMBER, AT(eps_pre), 0.001, 1000000, NULL, NULL,
            "training noise is that of a report at this\n"
            "epsilon (3.3 times eps, at least 7; with gaussian\n"
            "and duchi at most 32)"),
    SETTING("learn-b", FLAG, AT(learn_b), 0, 0, NULL, NULL,
            "the training noise is learnt"),
    SETTING("autogen", NUMBER, AT(autogen), -0.999, 1000000, "0", NULL,
            "reconstruction counts 1 + V times"),
    SETTING("epochs", WHOLE, AT(epochs), 1, 1000000, "60", NULL,
            "passes over the data"),
    SETTING("batch", WHOLE, AT(batch), 1, 65536, "64", NULL,
            "records in a step"),
    SETTING("rate", NUMBER, AT(rate), 0.000000001, 10, "0.001", NULL,
            "Adam's rate"),
    SETTING("patience", WHOLE, AT(patience), 1, 1000000, NULL, NULL,
            "stop after N epochs without a better score on\n"
            "the validation rows (never)"),
    SETTING("validation", NUMBER, AT(validation), 0, 0.9, "0.1", NULL,
            "the share of rows that only score"),
    SETTING("seed", SEED, AT(seed), 0, 0, "0", NULL,
            "the same seed, the same file"),
    SETTING_END};

static enum sotto_status
check_vlm(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    static const struct setting_list hidden = {{400, 150, 50}, 3};
    struct variational_settings *set = own;
    enum sotto_status status = learnt_settings_check(&set->common, err);
    enum channel_domain domain;
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    domain = learnt_channel_of(&set->common)->domain;
    if (set->linear && set->hidden.count > 0) {
        return settings_fail(err, "linear",
                             "has no hidden layers: leave hidden out");
    }
    if (set->learn_b && set->eps_pre > 0) {
        return settings_fail(err, "learn-b",
                             "and eps-pre exclude each other: give one");
    }
    if (!set->linear && set->hidden.count == 0) {
        set->hidden = hidden;
    }
    if (!(set->l > 0)) {
        set->l = domain == CHANNEL_DOMAIN_LATTICE ? L_LATTICE : L_OTHER;
    }
    if (!set->learn_b && !(set->eps_pre > 0)) {
        set->eps_pre = fmax(EPS_PRE_SHARE * strtod(job->options->eps, NULL),
                            EPS_PRE_LEAST);
        if (domain != CHANNEL_DOMAIN_LATTICE) {
            set->eps_pre = fmin(set->eps_pre, EPS_PRE_MOST);
        }
    }
    return set->eps_pre > 0
               ? learnt_channel_check_pre(&set->common, set->eps_pre, err)
               : SOTTO_STATUS_OK;
}

/* ---- Layers -------------------------------------------------------------- */

/* Encoder and decoder in units of the domain. */
static enum sotto_status
take_layers(const struct variational_net *net, struct learnt_layers *encoder,
            struct learnt_layers *decoder, struct sotto_error *err)
{
    const struct nn_place *first = &net->decoder.layer[0];
    enum sotto_status status =
        learnt_layers_init(encoder, &net->encoder, NULL, 1 / net->l, err);
    status = HOST_THEN(
        status, learnt_layers_init(decoder, &net->decoder, NULL, 1, err));
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < first->in * first->out;
         i++) {
        decoder->memory[i] = (float)(net->l * decoder->memory[i]);
    }
    return status;
}

/* ---- All of it ----------------------------------------------------------- */

static json_t *
pack_facts(const struct variational_settings *set,
           const struct variational_info *info, size_t n)
{
    json_t *hidden = json_array();
    for (size_t i = 0; i < set->hidden.count; i++) {
        (void)json_array_append_new(
            hidden, json_integer((json_int_t)set->hidden.value[i]));
    }
    return json_pack(
        "{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:o}",
        "rows", (json_int_t)n, "epochs", (json_int_t)info->epochs, "loss",
        info->loss, "validation", info->validation, "kl", info->kl, "b",
        info->b, "clipped", info->clipped, "l", set->l, "eps_pre", set->eps_pre,
        "autogen", set->autogen, "batch", (json_int_t)set->batch, "seed",
        (json_int_t)set->seed, "hidden", hidden);
}

static enum sotto_status
write_files(const struct variational_net *net, const struct learnt *learnt,
            const struct variational_settings *set,
            const struct variational_info *info, struct sotto_error *err)
{
    struct learnt_layers encoder = {.count = 0}, decoder = {.count = 0};
    json_t *facts = pack_facts(set, info, learnt->n);
    enum sotto_status status = facts != NULL
                                   ? take_layers(net, &encoder, &decoder, err)
                                   : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK) {
        struct learnt_result result = {.encoder = encoder.layer,
                                       .encoder_layers = encoder.count,
                                       .decoder = decoder.layer,
                                       .decoder_layers = decoder.count,
                                       .block = learnt->block,
                                       .blocks = learnt->blocks,
                                       .facts = facts};
        status = learnt_finish(learnt, &result, err);
    }
    json_decref(facts);
    free(encoder.memory);
    free(decoder.memory);
    return status;
}

static void
tell_facts(const struct variational_info *info, struct sotto_train_facts *facts)
{
    fact_whole(facts, "epochs", info->epochs);
    fact_number(facts, "loss", info->loss);
    fact_number(facts, "validation", info->validation);
    fact_number(facts, "kl", info->kl);
    fact_number(facts, "b", info->b);
    fact_number(facts, "clipped", info->clipped);
    fact_flag(facts, "resumed", info->resumed);
    fact_say(facts,
             "Trained for %llu epoch%s: negative ELBO %.4g a record (%.4g on "
             "validation rows),\nKL %.3g, noise b %.3g, %.0f%% of the records "
             "were clipped.\n",
             (unsigned long long)info->epochs, info->epochs == 1 ? "" : "s",
             info->loss, info->validation, info->kl, info->b,
             100 * info->clipped);
}

static enum sotto_status
fit_vlm(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    const struct variational_settings *set = own;
    struct learnt learnt = {0};
    struct variational_net net = {0};
    struct variational_info info = {0};
    enum sotto_status status = learnt_begin(&learnt, job, &set->common, err);
    status = HOST_THEN(
        status, variational_net_init(&net, &learnt, set, learnt.backend, err));
    status =
        HOST_THEN(status, variational_train(&net, &learnt, set, &info, err));
    status = HOST_THEN(status, write_files(&net, &learnt, set, &info, err));
    if (status == SOTTO_STATUS_OK) {
        tell_facts(&info, job->facts);
    }
    variational_net_clear(&net);
    learnt_clear(&learnt);
    return status;
}

const struct encoder encoder_vlm = {
    .kind = {.name = "vlm",
             .about =
                 "an encoder to a few numbers, learnt together with a decoder "
                 "under\n"
                 "the noise to come; for images and wide tables. Also writes\n"
                 "M.analyst. If stopped (Ctrl-C, a crash), the same command "
                 "goes on\n"
                 "where it was.",
             .analyst = "decoder and prior",
             .trains = true,
             .example = "d=2 hidden=32 epochs=20"},
    .settings = settings,
    .own_size = sizeof(struct variational_settings),
    .check = check_vlm,
    .fit = fit_vlm,
};
