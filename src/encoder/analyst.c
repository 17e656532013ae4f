/*
 * analyst.c: reading analyst files, and decoding with them.
 *
 * Strict: every key, every tensor and every number is accounted for, and what
 * a decoder computes is finite for finite weights and points.
 */
#include "encoder/analyst.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/decimal.h"
#include "channel/channel.h"
#include "client/opened.h"
#include "encoder/analyst_file.h"
#include "host/error.h"
#include "host/pool.h"
#include "host/safetensors.h"
#include "mechanism/inside.h"
#include "mechanism/mechanism.h"
#include "mechanism/rebudget.h"
#include "report/domain.h"

#define BATCH ((size_t)256) /* points decoded at a time */
#define FILE_MOST ((size_t)1 << 31)

/* An estimate of all pairs, before it is one of codes: for a thread at a
   time. */
struct room {
    pthread_mutex_t mutex;
    double pair[];
};

struct sotto_analyst {
    struct safetensors *file;
    const int32_t *prior;
    size_t points, width, l;
    enum channel_domain domain; /* of numbers */
    size_t codes, symbols;      /* of a codebook; 0: it is none */
    struct room *room;          /* for estimates of them */
    const float *representation;
    size_t z_width, z_layers;
    struct layer layer[ANALYST_LAYERS_MAX];
    size_t layers;
    struct analyst_block *block;
    size_t blocks;
    size_t x_width, widest;
};

/* ---- Reading ------------------------------------------------------------- */

static enum sotto_status
fail_metadata(const char *what, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "this is no analyst file: its metadata is malformed "
                     "(%s)",
                     what);
}

/* A whole number from 1 to `most`; 0 if it is none. */
static size_t
count_of(const json_t *number, json_int_t most)
{
    json_int_t value = json_is_integer(number) ? json_integer_value(number) : 0;
    return value >= 1 && value <= most ? (size_t)value : 0;
}

static enum sotto_status
read_block(struct sotto_analyst *analyst, json_t *json, struct sotto_error *err)
{
    struct analyst_block *block = &analyst->block[analyst->blocks];
    const char *name = NULL;
    json_t *count = NULL;
    if (json_unpack(json, "{s:s, s:o !}", "likelihood", &name, "count",
                    &count) != 0 ||
        !analyst_likelihood_find(name, &block->likelihood)) {
        return fail_metadata("a block of x", err);
    }
    block->from = analyst->x_width;
    block->count = count_of(count, DEVICE_WIDTH_MAX);
    analyst->x_width += block->count;
    analyst->blocks++;
    return block->count > 0 && analyst->x_width <= DEVICE_WIDTH_MAX
               ? SOTTO_STATUS_OK
               : fail_metadata("a block's size", err);
}

static enum sotto_status
read_blocks(struct sotto_analyst *analyst, const json_t *blocks,
            struct sotto_error *err)
{
    size_t count = json_array_size(blocks);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!json_is_array(blocks) || count > DEVICE_COLUMNS_MAX) {
        return fail_metadata("the blocks of x", err);
    }
    analyst->block = calloc(count + 1, sizeof *analyst->block);
    if (analyst->block == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < count; i++) {
        status = read_block(analyst, json_array_get(blocks, i), err);
    }
    return status;
}

static bool
all_finite(const float *value, size_t count)
{
    float worst = 0;
    for (size_t i = 0; i < count; i++) {
        worst += value[i] - value[i]; /* NaN for what is not finite */
    }
    return worst == 0;
}

static enum sotto_status
read_weights(struct sotto_analyst *analyst, size_t at, struct sotto_error *err)
{
    struct layer *layer = &analyst->layer[at];
    const struct safetensors_entry *weight = NULL, *bias = NULL;
    char name[40];
    enum sotto_status status;
    (void)snprintf(name, sizeof name, "decoder.%zu.weight", at);
    status = safetensors_want(analyst->file, name, SAFETENSORS_F32, 2,
                              layer->out, layer->in, &weight, err);
    if (status == SOTTO_STATUS_OK) {
        (void)snprintf(name, sizeof name, "decoder.%zu.bias", at);
        status = safetensors_want(analyst->file, name, SAFETENSORS_F32, 1,
                                  layer->out, 0, &bias, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    layer->weight = weight->data;
    layer->bias = bias->data;
    return all_finite(layer->weight, (size_t)layer->in * layer->out) &&
                   all_finite(layer->bias, layer->out)
               ? SOTTO_STATUS_OK
               : fail_metadata("a weight of the decoder is not finite", err);
}

static enum sotto_status
read_layer(struct sotto_analyst *analyst, size_t at, json_t *json,
           struct sotto_error *err)
{
    struct layer *layer = &analyst->layer[at];
    const char *activation = NULL;
    json_t *in = NULL, *out = NULL;
    if (json_unpack(json, "{s:o, s:o, s:s !}", "in", &in, "out", &out,
                    "activation", &activation) != 0 ||
        !analyst_activation_find(activation, &layer->activation)) {
        return fail_metadata("a layer of the decoder", err);
    }
    layer->in = (uint32_t)count_of(in, DEVICE_WIDTH_MAX);
    layer->out = (uint32_t)count_of(out, DEVICE_WIDTH_MAX);
    if (layer->out == 0 ||
        layer->in != (at > 0 ? analyst->layer[at - 1].out
                             : sotto_analyst_z_width(analyst))) {
        return fail_metadata("the decoder's layers do not fit", err);
    }
    analyst->widest =
        layer->out > analyst->widest ? layer->out : analyst->widest;
    return read_weights(analyst, at, err);
}

static enum sotto_status
read_decoder(struct sotto_analyst *analyst, const json_t *decoder,
             struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    analyst->layers = json_array_size(decoder);
    if (!json_is_array(decoder) || analyst->layers > ANALYST_LAYERS_MAX) {
        return fail_metadata("the decoder", err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < analyst->layers; i++) {
        status = read_layer(analyst, i, json_array_get(decoder, i), err);
    }
    if (status == SOTTO_STATUS_OK &&
        analyst->x_width != (analyst->layers > 0
                                 ? analyst->layer[analyst->layers - 1].out
                                 : 0)) {
        status = fail_metadata("the decoder does not fit x", err);
    }
    return status;
}

/* Whether they are codes: one of each book. */
static bool
are_codes(const struct sotto_analyst *analyst, const int32_t *q)
{
    bool are = true;
    for (size_t j = 0; j < analyst->width; j++) {
        are = are && q[j] >= 0 && (size_t)q[j] < analyst->codes;
    }
    return are;
}

/* Reads which domain of numbers it is: without a word, the lattice. */
static enum sotto_status
read_domain(struct sotto_analyst *analyst, const json_t *json,
            struct sotto_error *err)
{
    static const enum channel_domain domains[] = {CHANNEL_DOMAIN_BALL,
                                                  CHANNEL_DOMAIN_CUBE};
    analyst->domain = CHANNEL_DOMAIN_LATTICE;
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
        if (json_is_string(json) &&
            strcmp(json_string_value(json), domain_key(domains[i])) == 0) {
            analyst->domain = domains[i];
        }
    }
    return json == NULL || analyst->domain != CHANNEL_DOMAIN_LATTICE
               ? SOTTO_STATUS_OK
               : fail_metadata("its domain", err);
}

/* Every point must lie in the domain: a learner looks nowhere else. */
static enum sotto_status
read_prior(struct sotto_analyst *analyst, struct sotto_error *err)
{
    const struct safetensors_entry *prior = NULL;
    enum sotto_status status =
        safetensors_want(analyst->file, "prior", SAFETENSORS_I32, 2, SIZE_MAX,
                         analyst->width, &prior, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    analyst->prior = prior->data;
    analyst->points = prior->shape[0];
    for (size_t i = 0; i < analyst->points; i++) {
        const int32_t *q = analyst->prior + i * analyst->width;
        if (analyst->codes > 0 ? !are_codes(analyst, q)
                               : !inside_domain(analyst->domain, analyst->width,
                                                analyst->l, q)) {
            return fail_metadata(analyst->codes > 0
                                     ? "a point of the prior is no code"
                                     : "a point of the prior is not in the "
                                       "domain",
                                 err);
        }
    }
    return SOTTO_STATUS_OK;
}

/* Of a codebook: how many codes in each of its books (d), and with how many
   symbols of a label they make pairs. l is the largest code. */
static enum sotto_status
read_codebook(struct sotto_analyst *analyst, json_t *json,
              struct sotto_error *err)
{
    json_t *codes = NULL, *symbols = NULL, *layers = NULL;
    if (json == NULL) {
        return SOTTO_STATUS_OK;
    }
    if (json_unpack(json, "{s:o, s:o, s:o !}", "codes", &codes, "symbols",
                    &symbols, "layers", &layers) != 0) {
        return fail_metadata("the codebook", err);
    }
    analyst->codes = count_of(codes, CHANNEL_K_MAX);
    analyst->symbols = count_of(symbols, CHANNEL_K_MAX);
    if (analyst->codes < 2 || analyst->symbols == 0 ||
        analyst->codes * analyst->symbols > CHANNEL_K_MAX ||
        analyst->l != analyst->codes - 1 || analyst->width > REPORT_BOOKS_MAX ||
        !json_is_integer(layers) || json_integer_value(layers) < 0 ||
        json_integer_value(layers) > (json_int_t)DEVICE_LAYERS_MAX) {
        return fail_metadata("the codebook's numbers", err);
    }
    analyst->z_layers = (size_t)json_integer_value(layers);
    analyst->room =
        calloc(1, sizeof *analyst->room +
                      analyst->codes * analyst->symbols * sizeof(double));
    if (analyst->room == NULL) {
        return host_fail_memory(err);
    }
    (void)pthread_mutex_init(&analyst->room->mutex, NULL);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_representation(struct sotto_analyst *analyst, struct sotto_error *err)
{
    const struct safetensors_entry *z =
        safetensors_find(analyst->file, "representation");
    enum sotto_status status = safetensors_want(
        analyst->file, "representation", SAFETENSORS_F32, 2, analyst->points,
        z != NULL && z->rank == 2 ? z->shape[1] : 1, &z, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    analyst->representation = z->data;
    analyst->z_width = z->shape[1];
    if (analyst->z_width == 0 || analyst->z_width > DEVICE_WIDTH_MAX ||
        !all_finite(analyst->representation,
                    analyst->points * analyst->z_width)) {
        return fail_metadata("a representation is empty or not finite", err);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_metadata(struct sotto_analyst *analyst, struct sotto_error *err)
{
    /* What jansson takes apart it does not change. */
    json_t *json = (json_t *)(uintptr_t)safetensors_metadata(analyst->file);
    json_t *decoder = NULL, *blocks = NULL, *facts = NULL, *l = NULL, *d = NULL;
    json_t *codebook = NULL, *domain = NULL, *eps = NULL;
    const char *format = NULL, *kind = NULL, *digest = NULL, *about = NULL;
    uint8_t bytes[REBUDGET_DIGEST_SIZE];
    size_t size = 0;
    int version = 0;
    enum sotto_status status;
    if (json_unpack(json,
                    "{s:s, s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, "
                    "s?o, s?o, s?o !}",
                    "format", &format, "version", &version, "kind", &kind,
                    "digest", &digest, "auxiliary", &about, "d", &d, "l", &l,
                    "decoder", &decoder, "x", &blocks, "facts", &facts,
                    "codebook", &codebook, "domain", &domain, "eps",
                    &eps) != 0 ||
        strcmp(format, ANALYST_NAME) != 0 || version != ANALYST_VERSION ||
        !json_is_object(facts)) {
        return fail_metadata("its keys", err);
    }
    if (sodium_hex2bin(bytes, sizeof bytes, digest, strlen(digest), NULL, &size,
                       NULL) != 0 ||
        size != sizeof bytes) {
        return fail_metadata("its digest", err);
    }
    if (eps != NULL && count_of(eps, DECIMAL_EPS_MAX) == 0) {
        return fail_metadata("its epsilon", err);
    }
    analyst->l = count_of(l, CHANNEL_L_MAX);
    analyst->width = count_of(d, CHANNEL_D_MAX);
    if (analyst->l == 0 || analyst->width == 0) {
        return fail_metadata("its domain", err);
    }
    status = read_domain(analyst, domain, err);
    status = HOST_THEN(status, read_codebook(analyst, codebook, err));
    status = HOST_THEN(status, read_blocks(analyst, blocks, err));
    status = HOST_THEN(status, read_decoder(analyst, decoder, err));
    status = HOST_THEN(status, read_prior(analyst, err));
    if (status == SOTTO_STATUS_OK && codebook != NULL) {
        status = read_representation(analyst, err);
    }
    if (status == SOTTO_STATUS_OK &&
        safetensors_count(analyst->file) !=
            (codebook != NULL ? 2u : 1u) + 2 * analyst->layers) {
        status = fail_metadata("there are tensors that nothing names", err);
    }
    return status;
}

/* Takes the file over; a message begins with its name. */
static enum sotto_status
adopt(struct safetensors *file, const char *name, struct sotto_analyst **ret,
      struct sotto_error *err)
{
    struct sotto_analyst *analyst = calloc(1, sizeof *analyst);
    struct sotto_error cause = {0};
    enum sotto_status status;
    if (analyst == NULL) {
        safetensors_free(file);
        return host_fail_memory(err);
    }
    analyst->file = file;
    status = read_metadata(analyst, &cause);
    if (status == SOTTO_STATUS_OK) {
        *ret = analyst;
        return status;
    }
    sotto_analyst_free(analyst);
    return status == SOTTO_STATUS_MEMORY
               ? host_fail_memory(err)
               : host_fail(err, status, 0, "'%s': %s", host_shown(name),
                           cause.message);
}

enum sotto_status
analyst_parse(const void *data, size_t size, const char *name,
              struct sotto_analyst **ret, struct sotto_error *err)
{
    struct safetensors *file = NULL;
    enum sotto_status status = safetensors_parse(data, size, name, &file, err);
    return status == SOTTO_STATUS_OK ? adopt(file, name, ret, err) : status;
}

enum sotto_status
sotto_analyst_read(const char *path, struct sotto_analyst **ret_analyst,
                   struct sotto_error *err)
{
    struct safetensors *file = NULL;
    enum sotto_status status = safetensors_read(path, FILE_MOST, &file, err);
    status = HOST_THEN(status, adopt(file, path, ret_analyst, err));
    return host_about(status, err, SOTTO_ABOUT_FILE, path);
}

void
sotto_analyst_free(struct sotto_analyst *analyst)
{
    if (analyst != NULL) {
        safetensors_free(analyst->file);
        free(analyst->block);
        if (analyst->room != NULL) {
            (void)pthread_mutex_destroy(&analyst->room->mutex);
            free(analyst->room);
        }
        free(analyst);
    }
}

/* ---- Facts --------------------------------------------------------------- */

size_t
sotto_analyst_points(const struct sotto_analyst *analyst)
{
    return analyst->points;
}

size_t
sotto_analyst_width(const struct sotto_analyst *analyst)
{
    return analyst->width;
}

const int32_t *
sotto_analyst_prior(const struct sotto_analyst *analyst)
{
    return analyst->prior;
}

size_t
sotto_analyst_z_width(const struct sotto_analyst *analyst)
{
    return (analyst->codes > 0 ? analyst->codes : 1) * analyst->width;
}

const json_t *
analyst_metadata(const struct sotto_analyst *analyst)
{
    return safetensors_metadata(analyst->file);
}

const float *
analyst_representation(const struct sotto_analyst *analyst, size_t *ret_width,
                       uint32_t *ret_layers)
{
    if (analyst->representation != NULL) {
        *ret_width = analyst->z_width;
        *ret_layers = (uint32_t)analyst->z_layers;
    }
    return analyst->representation;
}

size_t
sotto_analyst_x_width(const struct sotto_analyst *analyst)
{
    return analyst->x_width;
}

/* ---- Decoding ------------------------------------------------------------ */

/* The mean of x under each block's likelihood, in place. */
static void
apply_links(const struct sotto_analyst *analyst, struct tensor_backend *backend,
            float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < analyst->blocks; j++) {
            const struct analyst_block *block = &analyst->block[j];
            float *at = x + i * analyst->x_width + block->from;
            if (block->likelihood == ANALYST_CATEGORICAL) {
                backend->ops->softmax(backend, 1, block->count, at, at);
            }
            for (size_t k = 0;
                 block->likelihood == ANALYST_BERNOULLI && k < block->count;
                 k++) {
                at[k] = 1 / (1 + expf(-at[k]));
            }
        }
    }
}

/* Up to BATCH points through the layers, between two buffers. */
static void
decode_batch(const struct sotto_analyst *analyst,
             struct tensor_backend *backend, const double *z, size_t n,
             float *buffer[2], float *ret_x)
{
    float *from = buffer[0], *to = buffer[1];
    for (size_t i = 0; i < n * sotto_analyst_z_width(analyst); i++) {
        from[i] = (float)z[i];
    }
    for (size_t i = 0; i < analyst->layers; i++) {
        const struct layer *layer = &analyst->layer[i];
        float *spare = from;
        backend->ops->dense(backend, n, layer->in, layer->out, from,
                            layer->weight, layer->bias, layer->activation, to);
        from = to;
        to = spare;
    }
    apply_links(analyst, backend, from, n);
    memcpy(ret_x, from, n * analyst->x_width * sizeof *ret_x);
}

enum sotto_status
sotto_analyst_decode(const struct sotto_analyst *analyst, const double *z,
                     size_t n, float *ret_x, struct sotto_error *err)
{
    struct host_pool *pool = NULL;
    struct tensor_backend *backend = NULL;
    float *buffer[2] = {NULL, NULL};
    size_t width = sotto_analyst_z_width(analyst);
    size_t widest = analyst->widest > width ? analyst->widest : width;
    enum sotto_status status;
    if (analyst->layers == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the analyst file has no decoder");
    }
    status = host_pool_new(0, &pool, err);
    status = HOST_THEN(status, tensor_new("cpu", pool, &backend, err));
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    for (size_t i = 0; i < 2; i++) {
        buffer[i] = calloc(BATCH * widest, sizeof *buffer[i]);
    }
    if (buffer[0] == NULL || buffer[1] == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < n; i += BATCH) {
        decode_batch(analyst, backend, z + i * width,
                     n - i < BATCH ? n - i : BATCH, buffer,
                     ret_x + i * analyst->x_width);
    }
done:
    free(buffer[0]);
    free(buffer[1]);
    tensor_backend_free(backend);
    host_pool_free(pool);
    return status;
}

/* The indicator of a code is the sum of those of its pairs. */
static void
estimate_code(const struct sotto_analyst *analyst,
              const struct likelihood_instance *code, const uint8_t *wire,
              double *ret_z)
{
    struct room *room = analyst->room;
    (void)pthread_mutex_lock(&room->mutex);
    code->likelihood->estimate(code, wire, room->pair);
    for (size_t c = 0; c < analyst->codes; c++) {
        for (size_t y = 0; y < analyst->symbols; y++) {
            ret_z[c] += room->pair[c * analyst->symbols + y];
        }
    }
    (void)pthread_mutex_unlock(&room->mutex);
}

void
sotto_analyst_estimate(const struct sotto_analyst *analyst,
                       const struct sotto_mechanism *mechanism,
                       const uint8_t *report, double *ret_z)
{
    size_t at = 0;
    memset(ret_z, 0, sotto_analyst_z_width(analyst) * sizeof *ret_z);
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        const struct shape_part *part = &mechanism->shape.part[i];
        const struct channel_instance *instance = part->instance;
        const struct likelihood_instance *own = &mechanism->likelihood[i];
        const uint8_t *wire = report + part->offset;
        if (strcmp(part->covers, "label") == 0) {
            continue;
        }
        if (analyst->codes > 0 && !part->numbers &&
            part->books == analyst->width &&
            instance->size == analyst->codes * analyst->symbols) {
            size_t book = sotto_report_book(mechanism, report);
            estimate_code(analyst, own, wire, ret_z + book * analyst->codes);
            return;
        }
        for (size_t b = 0; part->numbers && b < part->blocks &&
                           at + instance->size <= analyst->width;
             b++, wire += instance->wire_size) {
            own->likelihood->estimate(own, wire, ret_z + at);
            for (uint32_t j = 0; j < instance->size; j++) {
                ret_z[at++] /= instance->l;
            }
        }
    }
}
