/*
 * analyst_write.c: writing analyst files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "encoder/analyst_file.h"
#include "host/error.h"
#include "host/safetensors.h"
#include "mechanism/rebudget.h"
#include "report/domain.h"

static const char *const likelihoods[] = {
    [ANALYST_BERNOULLI] = "bernoulli",
    [ANALYST_GAUSSIAN] = "gaussian",
    [ANALYST_CATEGORICAL] = "categorical",
};

bool
analyst_likelihood_find(const char *name, enum analyst_likelihood *ret)
{
    for (size_t i = 0; i < sizeof likelihoods / sizeof *likelihoods; i++) {
        if (strcmp(name, likelihoods[i]) == 0) {
            *ret = (enum analyst_likelihood)i;
            return true;
        }
    }
    return false;
}

bool
analyst_activation_find(const char *name, enum activation *ret)
{
    static const enum activation all[] = {ACTIVATION_NONE, ACTIVATION_RELU,
                                          ACTIVATION_SIGMOID, ACTIVATION_TANH};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(name, activation_name(all[i])) == 0) {
            *ret = all[i];
            return true;
        }
    }
    return false;
}

/* NULL for lack of memory, as are all that are made from it. */
static json_t *
pack_decoder(const struct analyst_draft *draft)
{
    json_t *array = json_array();
    for (size_t i = 0; i < draft->layers; i++) {
        const struct layer *layer = &draft->layer[i];
        if (json_array_append_new(
                array, json_pack("{s:I, s:I, s:s}", "in", (json_int_t)layer->in,
                                 "out", (json_int_t)layer->out, "activation",
                                 activation_name(layer->activation))) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *
pack_blocks(const struct analyst_draft *draft)
{
    json_t *array = json_array();
    for (size_t i = 0; i < draft->blocks; i++) {
        const struct analyst_block *block = &draft->block[i];
        if (json_array_append_new(
                array, json_pack("{s:s, s:I}", "likelihood",
                                 likelihoods[block->likelihood], "count",
                                 (json_int_t)block->count)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *
pack_metadata(const struct analyst_draft *draft)
{
    uint8_t digest[REBUDGET_DIGEST_SIZE];
    char hex[2 * REBUDGET_DIGEST_SIZE + 1];
    json_t *metadata;
    rebudget_digest(draft->mechanism, digest);
    (void)sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
    /* o consumes what it is given, also on failure; NULL makes it fail. */
    metadata = json_pack(
        "{s:s, s:i, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "format",
        ANALYST_NAME, "version", ANALYST_VERSION, "kind", draft->kind, "digest",
        hex, "auxiliary",
        "none: tells of the auxiliary people one by one; never for devices",
        "d", (json_int_t)draft->width, "l", (json_int_t)draft->l, "decoder",
        pack_decoder(draft), "x", pack_blocks(draft), "facts",
        json_deep_copy(draft->facts));
    if (draft->representation == NULL &&
        draft->domain != CHANNEL_DOMAIN_LATTICE &&
        json_object_set_new(metadata, "domain",
                            json_string(domain_key(draft->domain))) != 0) {
        json_decref(metadata);
        return NULL;
    }
    if (draft->eps > 0 &&
        json_object_set_new(metadata, "eps",
                            json_integer((json_int_t)draft->eps)) != 0) {
        json_decref(metadata);
        return NULL;
    }
    if (draft->representation != NULL &&
        json_object_set_new(metadata, "codebook",
                            json_pack("{s:I, s:I, s:I}", "codes",
                                      (json_int_t)draft->l + 1, "symbols",
                                      (json_int_t)draft->symbols, "layers",
                                      (json_int_t)draft->z_layers)) != 0) {
        json_decref(metadata);
        return NULL;
    }
    return metadata;
}

struct names {
    char weight[40], bias[40];
};

static void
fill_entries(const struct analyst_draft *draft, struct names *names,
             struct safetensors_entry *entry)
{
    for (size_t i = 0; i < draft->layers; i++) {
        const struct layer *layer = &draft->layer[i];
        (void)snprintf(names[i].weight, sizeof names[i].weight,
                       "decoder.%zu.weight", i);
        (void)snprintf(names[i].bias, sizeof names[i].bias, "decoder.%zu.bias",
                       i);
        *entry++ = (struct safetensors_entry){.name = names[i].weight,
                                              .type = SAFETENSORS_F32,
                                              .rank = 2,
                                              .shape = {layer->out, layer->in},
                                              .data = layer->weight};
        *entry++ = (struct safetensors_entry){.name = names[i].bias,
                                              .type = SAFETENSORS_F32,
                                              .rank = 1,
                                              .shape = {layer->out},
                                              .data = layer->bias};
    }
    *entry++ =
        (struct safetensors_entry){.name = "prior",
                                   .type = SAFETENSORS_I32,
                                   .rank = 2,
                                   .shape = {draft->points, draft->width},
                                   .data = draft->prior};
    *entry =
        (struct safetensors_entry){.name = "representation",
                                   .type = SAFETENSORS_F32,
                                   .rank = 2,
                                   .shape = {draft->points, draft->z_width},
                                   .data = draft->representation};
}

enum sotto_status
analyst_write(const struct analyst_draft *draft, const char *path,
              struct sotto_error *err)
{
    struct safetensors_entry entry[2 * ANALYST_LAYERS_MAX + 2];
    struct names names[ANALYST_LAYERS_MAX];
    enum sotto_status status;
    json_t *metadata = pack_metadata(draft);
    if (metadata == NULL) {
        return host_fail_memory(err);
    }
    fill_entries(draft, names, entry);
    status = safetensors_write(
        path, 0600, metadata, entry,
        2 * draft->layers + (draft->representation != NULL ? 2u : 1u), err);
    json_decref(metadata);
    return status;
}
