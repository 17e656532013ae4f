/*
 * codebook_write.c: a codebook's mechanism and analyst file.
 *
 *     encoder's layers, one more for the k scores
 *     part 1   symbols   (code, label)   both       eps      with a label
 *     part 1   symbols   code            features   eps      without
 *
 * With several books there are k scores for each, and the part asks one by lot.
 *
 * One channel for the pair, at all of epsilon: nothing is shared out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "encoder/analyst.h"
#include "encoder/candidates.h"
#include "encoder/codebook.h"
#include "host/error.h"
#include "host/settings.h"
#include "host/wipe.h"
#include "mechanism/rows.h"

/* ---- The mechanism ------------------------------------------------------- */

/* Finds what is wrong before the layer of codes is trained, book by book. */
static enum sotto_status
check_choice(const struct sotto_codebook *codebook, const char *name, size_t k,
             struct sotto_error *err)
{
    const struct channel *channel =
        name != NULL ? channel_find(channel_exact, name, strlen(name)) : NULL;
    size_t symbols = codebook_symbols(codebook);
    if (channel == NULL || channel->domain != CHANNEL_DOMAIN_SYMBOLS) {
        return settings_fail(err, "channel",
                             "\"%.40s\" is no channel for codes: take subset, "
                             "flip or signs",
                             name != NULL ? name : "");
    }
    if (channel->pairs && codebook->label == SIZE_MAX) {
        return settings_fail(err, "channel",
                             "%s is for pairs of a code and a label: name a "
                             "label, or take subset",
                             channel->name);
    }
    if (k > CHANNEL_K_MAX / symbols) {
        return host_fail(err, SOTTO_STATUS_LIMIT, k,
                         "%zu codes with %zu symbols of the label are too many "
                         "pairs: at most %u",
                         k, symbols, CHANNEL_K_MAX);
    }
    return codebook_head_check(k, codebook_cells_most(codebook), err);
}

static enum sotto_status
compose(const struct sotto_codebook *codebook, const struct codebook_head *head,
        const struct sotto_codebook_choice *choice, uint64_t eps,
        struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    const struct sotto_codebook_options *options = &codebook->options;
    const char *name = options->name != NULL ? options->name : "codebook";
    bool label = codebook->label != SIZE_MAX;
    struct layer *layer = calloc(codebook->layers + (size_t)1, sizeof *layer);
    struct compose_part part = {
        .covers = label ? "both" : "features",
        .channel = choice->channel,
        .eps = eps,
        .blocks = 1,
        .factor = {{.k = (uint32_t)choice->k},
                   {.is_column = true, .at = (uint32_t)codebook->label}},
        .factors = label ? 2 : 1,
        .books = (uint32_t)choice->books};
    struct compose_spec spec = {
        .name = name,
        .campaign = options->campaign != NULL ? options->campaign : name,
        .auxiliary = "none: encoder, scales, categories and codes were learnt "
                     "from the auxiliary data",
        .eps = eps,
        .expires = options->expires,
        .column = codebook->schema.column,
        .columns = codebook->schema.columns,
        .layer = layer,
        .layers = codebook->layers + (size_t)1,
        .part = &part,
        .parts = 1};
    enum sotto_status status;
    if (layer == NULL) {
        return host_fail_memory(err);
    }
    memcpy(layer, codebook->parts.layer, codebook->layers * sizeof *layer);
    layer[codebook->layers] = (struct layer){.in = (uint32_t)head->d,
                                             .out = (uint32_t)head->k,
                                             .activation = ACTIVATION_NONE,
                                             .weight = head->weight,
                                             .bias = head->bias};
    status = compose_open(&spec, ret_mechanism, err);
    free(layer);
    return status;
}

/* ---- The analyst file ---------------------------------------------------- */

/* The mean of x in every cell, as a layer: column b k + c is that of cell c of
   book b. */
static enum sotto_status
find_means(const struct sotto_codebook *codebook,
           const struct codebook_cut *cut, size_t books, size_t width,
           float *ret_weight, struct sotto_error *err)
{
    size_t k = cut->head.k;
    struct rows rows = {0};
    double *sum = calloc(k * width + k, sizeof *sum);
    float *x = calloc(width + 1, sizeof *x);
    enum sotto_status status;
    if (sum == NULL || x == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = rows_init(&rows, codebook->encoder, codebook->table, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < codebook->n; i++) {
        rows_encode(&rows, i, x, NULL);
        for (size_t b = 0; b < books; b++) {
            size_t c = b * (k / books) + (size_t)cut->code[i * books + b];
            for (size_t j = 0; j < width; j++) {
                sum[c * width + j] += (double)x[j];
            }
            sum[k * width + c]++;
        }
    }
    for (size_t c = 0; status == SOTTO_STATUS_OK && c < k; c++) {
        double count = sum[k * width + c];
        for (size_t j = 0; j < width; j++) {
            ret_weight[j * k + c] =
                count > 0 ? (float)(sum[c * width + j] / count) : 0;
        }
    }
    rows_clear(&rows);
done:
    host_wipe_free(sum, (k * width + k) * sizeof *sum);
    host_wipe_free(x, (width + 1) * sizeof *x);
    return status;
}

/* NULL for lack of memory. */
static json_t *
pack_facts(const struct sotto_codebook *codebook,
           const struct sotto_codebook_choice *choice)
{
    const struct candidates *candidates = codebook->candidates;
    json_t *facts = json_pack(
        "{s:I, s:I, s:s, s:f, s:I, s:s, s:I}", "rows", (json_int_t)codebook->n,
        "cells", (json_int_t)sotto_codebook_cells(codebook), "tree",
        codebook_tree(codebook), "spread", codebook->clustering.spread, "k",
        (json_int_t)choice->k, "channel", choice->channel, "seed",
        (json_int_t)(codebook->options.seed & INT64_MAX));
    if (facts != NULL && candidates != NULL &&
        (json_object_set_new(facts, "candidates",
                             candidates_json(candidates)) != 0 ||
         json_object_set_new(
             facts, "kept", json_integer((json_int_t)candidates->kept)) != 0)) {
        json_decref(facts);
        return NULL;
    }
    return facts;
}

static enum sotto_status
write_analyst(const struct sotto_codebook *codebook,
              const struct codebook_cut *cut,
              const struct sotto_codebook_choice *choice,
              const struct sotto_mechanism *mechanism, const char *path,
              struct sotto_error *err)
{
    size_t width = codebook->encoder->shape.x, k = cut->head.k;
    float *weight = calloc(width + 1, (k + 1) * sizeof *weight);
    json_t *facts = pack_facts(codebook, choice);
    struct layer decoder = {.in = (uint32_t)k,
                            .out = (uint32_t)width,
                            .activation = ACTIVATION_NONE,
                            .weight = weight};
    struct analyst_block block = {ANALYST_GAUSSIAN, 0, width};
    struct analyst_draft draft = {.kind = "codebook",
                                  .mechanism = mechanism,
                                  .layer = &decoder,
                                  .layers = 1,
                                  .block = &block,
                                  .blocks = 1,
                                  .prior = cut->code,
                                  .points = codebook->n,
                                  .width = choice->books,
                                  .l = (uint32_t)choice->k - 1,
                                  .facts = facts,
                                  .representation = codebook->z,
                                  .z_width = codebook->d,
                                  .z_layers = codebook->layers,
                                  .symbols = codebook_symbols(codebook)};
    enum sotto_status status =
        weight != NULL && facts != NULL
            ? find_means(codebook, cut, choice->books, width, weight, err)
            : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK) {
        decoder.bias = weight + width * k;
        status = analyst_write(&draft, path, err);
    }
    json_decref(facts);
    free(weight);
    return status;
}

/* ---- Both ---------------------------------------------------------------- */

enum sotto_status
sotto_codebook_write(struct sotto_codebook *codebook,
                     const struct sotto_codebook_choice *choice,
                     const char *eps, const char *path,
                     const char *analyst_path,
                     struct sotto_mechanism **ret_mechanism,
                     struct sotto_error *err)
{
    struct codebook_cut all = {.n = 0};
    struct sotto_codebook_choice own = *choice;
    struct sotto_mechanism *mechanism = NULL;
    uint64_t units = 0;
    enum sotto_status status = decimal_read_eps(eps, strlen(eps), &units, err);
    own.books = codebook->columns > 0 ? codebook->columns
                : own.books > 0       ? own.books
                                      : 1;
    status = HOST_THEN(status, check_choice(codebook, own.channel, own.k, err));
    status =
        HOST_THEN(status, codebook_prepare(codebook, own.books, own.k, err));
    status = HOST_THEN(status, codebook_head_check(
                                   own.k, sotto_codebook_cells(codebook), err));
    status = HOST_THEN(
        status, codebook_books_join(codebook, own.books, own.k, &all, err));
    status = HOST_THEN(
        status, compose(codebook, &all.head, &own, units, &mechanism, err));
    if (status == SOTTO_STATUS_OK && analyst_path != NULL) {
        status =
            write_analyst(codebook, &all, &own, mechanism, analyst_path, err);
    }
    codebook_head_clear(&all.head);
    host_wipe_free(all.code, all.n * sizeof *all.code);
    if (status == SOTTO_STATUS_OK) {
        return mechanism_publish(mechanism, path, ret_mechanism, err);
    }
    sotto_mechanism_free(mechanism);
    return status;
}
