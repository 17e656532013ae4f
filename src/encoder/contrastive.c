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
#include <unistd.h>

#include "host/error.h"
#include "host/pool.h"
#include "host/sort.h"
#include "host/wipe.h"

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
           double inside, double *ret_scale, double *ret_clipped,
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
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "training diverged with its last step: lower --rate");
    }
    at = norm[(size_t)ceil(inside * (double)learnt->n) - 1];
    at = net->b > 0 ? net->l : at > 0 ? at * (1 + 1e-6) : 1;
    for (size_t i = 0; i < learnt->n; i++) {
        clipped += norm[i] > at ? 1 : 0;
    }
    *ret_scale = 1 / at;
    *ret_clipped = (double)clipped / (double)learnt->n;
    host_wipe_free(norm, learnt->n * sizeof *norm);
    return SOTTO_STATUS_OK;
}

static json_t *
pack_facts(const struct sotto_clm_options *options,
           const struct sotto_clm_info *info, size_t n)
{
    return json_pack(
        "{s:I, s:I, s:f, s:f, s:s, s:s, s:f, s:f, s:f, s:f, s:I, s:I}", "rows",
        (json_int_t)n, "epochs", (json_int_t)info->epochs, "loss", info->loss,
        "clipped", info->clipped, "network", options->network, "augment",
        options->augment, "temperature", options->temperature, "l", options->l,
        "eps_pre", options->eps_pre, "inside", options->inside, "batch",
        (json_int_t)options->batch, "seed", (json_int_t)options->seed);
}

static enum sotto_status
write_files(struct contrastive_net *net, const struct learnt *learnt,
            const struct sotto_clm_options *options,
            struct sotto_clm_info *info, const char *path,
            const char *analyst_path, struct sotto_mechanism **ret_mechanism,
            struct sotto_error *err)
{
    struct contrastive_layers layers = {.count = 0};
    json_t *facts = NULL;
    double scale = 1;
    enum sotto_status status =
        find_scale(net, learnt, options->inside, &scale, &info->clipped, err);
    if (status == SOTTO_STATUS_OK) {
        status = contrastive_layers_init(&layers, net, scale, err);
    }
    if (status == SOTTO_STATUS_OK) {
        facts = pack_facts(options, info, learnt->n);
        status = facts != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        struct learnt_result result = {.encoder = layers.layer,
                                       .encoder_layers = layers.count,
                                       .facts = facts};
        status = learnt_finish(learnt, &result, path, analyst_path,
                               ret_mechanism, err);
    }
    json_decref(facts);
    contrastive_layers_clear(&layers);
    return status;
}

static enum sotto_status
train_and_write(const struct learnt *learnt,
                const struct sotto_clm_options *options, const char *path,
                const char *analyst_path, struct sotto_clm_info *ret_info,
                struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct host_pool *pool = NULL;
    struct tensor_backend *backend = NULL;
    struct contrastive_net net = {0};
    struct sotto_clm_info info = {0};
    enum sotto_status status = host_pool_new(options->threads, &pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = tensor_new("cpu", pool, &backend, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status =
            contrastive_net_init(&net, learnt, options, pool, backend, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = contrastive_train(&net, learnt, options, &info, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = write_files(&net, learnt, options, &info, path, analyst_path,
                             ret_mechanism, err);
    }
    if (status == SOTTO_STATUS_OK && options->checkpoint != NULL &&
        path != NULL) {
        (void)unlink(options->checkpoint); /* served its turn; may not exist */
    }
    if (status == SOTTO_STATUS_OK && ret_info != NULL) {
        *ret_info = info;
    }
    contrastive_net_clear(&net);
    tensor_backend_free(backend);
    host_pool_free(pool);
    return status;
}

enum sotto_status
sotto_train_clm(const struct sotto_table *table,
                const struct sotto_clm_options *options, const char *path,
                const char *analyst_path, struct sotto_clm_info *ret_info,
                struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct sotto_clm_options filled = *options;
    struct learnt learnt = {0};
    enum sotto_status status = contrastive_options_fill(&filled, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    struct learnt_options common = LEARNT_OPTIONS("clm", &filled);
    common.watch = options->watch;
    status = learnt_begin(&learnt, table, &common, err);
    if (status == SOTTO_STATUS_OK) {
        status = contrastive_options_suit(&filled, &learnt, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = train_and_write(&learnt, &filled, path, analyst_path, ret_info,
                                 ret_mechanism, err);
    }
    learnt_clear(&learnt);
    return status;
}
