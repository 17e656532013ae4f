/*
 * variational.c: the variational mechanism (P0 3.1.1, P1 4.2.1): options, and
 * what is made of the trained weights.
 *
 * The device's lattice is the unit ball: the encoder's last layer is divided by
 * l, and the decoder's first layer multiplied by it, so that both speak of z in
 * units of the domain.
 *
 * Not private towards the auxiliary data (ERRATA 1), and both files say so.
 */
#include "encoder/variational.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/error.h"
#include "host/pool.h"

#define HIDDEN_MAX 65536u
#define EPOCHS_MAX 1000000u
#define BATCH_MAX 65536u

static const uint32_t hidden_default[] = {400, 150, 50};

/* ---- Options ------------------------------------------------------------- */

static void
fill_defaults(struct sotto_vlm_options *options)
{
    if (options->linear) {
        options->hiddens = 0;
    } else if (options->hidden == NULL) {
        options->hidden = hidden_default;
        options->hiddens = sizeof hidden_default / sizeof *hidden_default;
    }
    options->l = options->l != 0 ? options->l : 5;
    options->epochs = options->epochs > 0 ? options->epochs : 60;
    options->batch = options->batch > 0 ? options->batch : 64;
    options->rate = options->rate != 0 ? options->rate : 0.001;
    options->validation = options->validation != 0 ? options->validation : 0.1;
}

static enum sotto_status
fail_option(const char *what, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_USAGE, 0, "%s", what);
}

static bool
is_within(double value, double low, double high)
{
    return value >= low && value <= high; /* not for a NaN */
}

static enum sotto_status
check_options(const struct sotto_vlm_options *options, struct sotto_error *err)
{
    bool fits = options->hiddens < LEARNT_LAYERS_MAX;
    for (size_t i = 0; fits && i < options->hiddens; i++) {
        fits = options->hidden[i] >= 1 && options->hidden[i] <= HIDDEN_MAX;
    }
    if (!fits) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the hidden layers are at most %u, of 1 to %u units "
                         "each",
                         LEARNT_LAYERS_MAX - 1, HIDDEN_MAX);
    }
    if (!is_within(options->l, 1e-3, 1e6)) {
        return fail_option("l, the ball's radius, is from 0.001 to 1000000",
                           err);
    }
    if (options->eps_pre != 0 && !is_within(options->eps_pre, 1e-3, 1e6)) {
        return fail_option("the training noise's epsilon is from 0.001 to "
                           "1000000",
                           err);
    }
    if (!is_within(options->autogen, -0.999, 1e6)) {
        return fail_option("autogen's m is from 0, or from -0.999 to count "
                           "reconstruction less, to 1000000",
                           err);
    }
    if (!is_within(options->rate, 1e-9, 10)) {
        return fail_option("the rate is from 0.000000001 to 10", err);
    }
    if (!is_within(options->validation, 0, 0.9)) {
        return fail_option("the validation rows are a share up to 0.9", err);
    }
    if (options->epochs > EPOCHS_MAX || options->batch > BATCH_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there are at most %u epochs and batches of at most "
                         "%u",
                         EPOCHS_MAX, BATCH_MAX);
    }
    return SOTTO_STATUS_OK;
}

/* ---- Layers -------------------------------------------------------------- */

/* Copies of a graph's layers in one block: weights, then biases, of each. */
struct layers {
    struct layer layer[LEARNT_LAYERS_MAX];
    size_t count;
    float *memory;
    float *last; /* weights and biases of the last layer */
    size_t last_size;
};

static enum sotto_status
copy_layers(const struct nn_graph *graph, struct layers *ret,
            struct sotto_error *err)
{
    const struct nn_place *last = &graph->layer[graph->layers - 1];
    size_t total = nn_graph_floats(graph);
    ret->memory = calloc(total + 1, sizeof *ret->memory);
    if (ret->memory == NULL) {
        return host_fail_memory(err);
    }
    nn_graph_export(graph, ret->memory, ret->layer);
    ret->last_size = last->out * (last->in + 1);
    ret->last = ret->memory + total - ret->last_size;
    ret->count = graph->layers;
    return SOTTO_STATUS_OK;
}

static void
scale(float *value, size_t count, double factor)
{
    for (size_t i = 0; i < count; i++) {
        value[i] = (float)(value[i] * factor);
    }
}

/* Encoder and decoder in units of the domain. */
static enum sotto_status
take_layers(const struct variational_net *net, struct layers *encoder,
            struct layers *decoder, struct sotto_error *err)
{
    const struct nn_place *first = &net->decoder.layer[0];
    enum sotto_status status = copy_layers(&net->encoder, encoder, err);
    if (status == SOTTO_STATUS_OK) {
        status = copy_layers(&net->decoder, decoder, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    scale(encoder->last, encoder->last_size, 1 / net->l);
    scale(decoder->memory, first->in * first->out, net->l);
    return SOTTO_STATUS_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static json_t *
pack_facts(const struct sotto_vlm_options *options,
           const struct sotto_train_info *info, size_t n)
{
    json_t *hidden = json_array();
    for (size_t i = 0; i < options->hiddens; i++) {
        (void)json_array_append_new(
            hidden, json_integer((json_int_t)options->hidden[i]));
    }
    return json_pack(
        "{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:o}",
        "rows", (json_int_t)n, "epochs", (json_int_t)info->epochs, "loss",
        info->loss, "validation", info->validation, "kl", info->kl, "b",
        info->b, "clipped", info->clipped, "l", options->l, "eps_pre",
        options->eps_pre, "autogen", options->autogen, "batch",
        (json_int_t)options->batch, "seed", (json_int_t)options->seed, "hidden",
        hidden);
}

static enum sotto_status
write_files(const struct variational_net *net, const struct learnt *learnt,
            const struct sotto_vlm_options *options,
            const struct sotto_train_info *info, const char *path,
            const char *analyst_path, struct sotto_mechanism **ret_mechanism,
            struct sotto_error *err)
{
    struct layers encoder = {.count = 0}, decoder = {.count = 0};
    json_t *facts = pack_facts(options, info, learnt->n);
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
        status = learnt_finish(learnt, &result, path, analyst_path,
                               ret_mechanism, err);
    }
    json_decref(facts);
    free(encoder.memory);
    free(decoder.memory);
    return status;
}

static enum sotto_status
train_and_write(const struct learnt *learnt,
                const struct sotto_vlm_options *options, const char *path,
                const char *analyst_path, struct sotto_train_info *ret_info,
                struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct host_pool *pool = NULL;
    struct tensor_backend *backend = NULL;
    struct variational_net net = {0};
    struct sotto_train_info info = {0};
    enum sotto_status status = host_pool_new(options->threads, &pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = tensor_new("cpu", pool, &backend, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = variational_net_init(&net, learnt, options, backend, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = variational_train(&net, learnt, options, &info, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = write_files(&net, learnt, options, &info, path, analyst_path,
                             ret_mechanism, err);
    }
    if (status == SOTTO_STATUS_OK && options->checkpoint != NULL) {
        (void)unlink(options->checkpoint); /* served its turn; may not exist */
    }
    if (status == SOTTO_STATUS_OK && ret_info != NULL) {
        *ret_info = info;
    }
    variational_net_clear(&net);
    tensor_backend_free(backend);
    host_pool_free(pool);
    return status;
}

enum sotto_status
sotto_train_vlm(const struct sotto_table *table,
                const struct sotto_vlm_options *options, const char *path,
                const char *analyst_path, struct sotto_train_info *ret_info,
                struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct sotto_vlm_options filled = *options;
    struct learnt_options common = LEARNT_OPTIONS("vlm", options);
    struct learnt learnt = {0};
    enum sotto_status status;
    common.watch = options->watch;
    fill_defaults(&filled);
    status = check_options(&filled, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = learnt_begin(&learnt, table, &common, err);
    if (status == SOTTO_STATUS_OK) {
        status = train_and_write(&learnt, &filled, path, analyst_path, ret_info,
                                 ret_mechanism, err);
    }
    learnt_clear(&learnt);
    return status;
}
