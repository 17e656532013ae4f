/*
 * rebudget.c: the same mechanism at another budget.
 *
 * Schema, encoder and domains are taken from the opened mechanism as they are;
 * only the parts' epsilons change. The device derives the noise from them
 * anew (invariant 1).
 */
#include "mechanism/rebudget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "host/error.h"
#include "host/settings.h"
#include "mechanism/compose.h"
#include "mechanism/decompose.h"
#include "mechanism/mechanism.h"

/* ---- The digest ---------------------------------------------------------- */

static void
digest_number(crypto_generichash_state *state, uint64_t number)
{
    uint8_t text[8];
    bytes_store(text, sizeof text, number);
    (void)crypto_generichash_update(state, text, sizeof text);
}

/* A field's length first, so that no two lists of fields read the same. */
static void
digest_bytes(crypto_generichash_state *state, const void *data, size_t size)
{
    digest_number(state, size);
    (void)crypto_generichash_update(state, data, size);
}

/* In front of what every layer has; a dense layer, whose digest is older, has
   nothing there. It starts with a number that is no dense layer's `in`. */
static void
digest_image_layer(crypto_generichash_state *state, const struct layer *layer)
{
    const uint32_t numbers[] = {layer->kind,         layer->image.height,
                                layer->image.width,  layer->image.channels,
                                layer->kernel,       layer->stride,
                                layer->pad,          layer->from[1],
                                layer->made.channels};
    digest_number(state, 0);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        digest_number(state, numbers[i]);
    }
}

/* Likewise in front of what only version 2 can say: with a number that is no
   kind. */
static void
digest_newer_layer(crypto_generichash_state *state, const struct layer *layer)
{
    digest_number(state, 0);
    digest_number(state, UINT32_MAX);
    digest_number(state, layer->from[0]);
    digest_number(state, layer->from[1]);
    digest_number(state, layer->bf16);
}

static void
digest_layer(crypto_generichash_state *state, const struct layer *layer)
{
    const char *activation = activation_name(layer->activation);
    size_t biases = layer_biases(layer);
    if (layer->from[0] > 1 || layer->bf16 ||
        (layer->from[1] > 0 && layer->kind == LAYER_DENSE)) {
        digest_newer_layer(state, layer);
    }
    if (layer->kind != LAYER_DENSE) {
        digest_image_layer(state, layer);
    }
    digest_number(state, layer->in);
    digest_number(state, layer->out);
    digest_bytes(state, activation, strlen(activation));
    digest_bytes(state, layer->bf16 ? (const void *)layer->half : layer->weight,
                 (layer->bf16 ? sizeof(uint16_t) : sizeof(float)) * biases *
                     layer_fan(layer));
    digest_bytes(state, layer->bias, sizeof(float) * biases);
}

static void
digest_part(crypto_generichash_state *state, const struct report_part *part)
{
    const char *domain = domain_key(part->instance.channel->domain);
    digest_bytes(state, part->covers, strlen(part->covers));
    digest_bytes(state, domain, strlen(domain));
    digest_number(state, part->blocks);
    digest_number(state, part->from);
    digest_number(state, part->instance.size);
    digest_number(state, part->instance.l);
    digest_number(state, part->factors);
    if (part->books > 0) { /* a number that is no is_column */
        digest_number(state, UINT32_MAX);
        digest_number(state, part->books);
    }
    for (uint32_t i = 0; i < part->factors; i++) {
        digest_number(state, part->factor[i].is_column);
        digest_number(state, part->factor[i].at);
        digest_number(state, part->factor[i].k);
        if (part->factor[i].equal) {
            digest_number(state, part->factor[i].column);
            digest_number(state, part->factor[i].choices);
        }
    }
}

void
rebudget_digest(const struct sotto_mechanism *mechanism,
                uint8_t ret_digest[REBUDGET_DIGEST_SIZE])
{
    const struct device_view *device = &mechanism->device;
    const struct encode_plan *encoder = device->encoder;
    size_t columns = encoder->columns;
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, REBUDGET_DIGEST_SIZE);
    digest_number(&state, columns);
    for (size_t i = 0; i < columns; i++) {
        digest_number(&state, encoder->column[i].kind);
        digest_number(&state, encoder->column[i].count);
        digest_number(&state, encoder->column[i].inputs);
        if (encoder->column[i].missing || encoder->column[i].clip) {
            digest_number(&state, UINT32_MAX);
            digest_number(&state, encoder->column[i].missing);
            digest_number(&state, encoder->column[i].clip);
        }
        if (encoder->column[i].log) {
            digest_number(&state, UINT32_MAX - 1);
        }
        if (encoder->column[i].edge != NULL) {
            digest_bytes(&state, encoder->column[i].edge,
                         (encoder->column[i].count - 2) * sizeof(double));
        }
    }
    digest_bytes(&state, encoder->shift, columns * sizeof *encoder->shift);
    digest_bytes(&state, encoder->scale, columns * sizeof *encoder->scale);
    digest_bytes(&state, device->terms->text, device->terms->text_size);
    digest_number(&state, encoder->layers);
    for (uint32_t i = 0; i < encoder->layers; i++) {
        struct layer layer = decompose_layer(mechanism, i);
        digest_layer(&state, &layer);
    }
    digest_number(&state, device->report->parts);
    for (uint32_t i = 0; i < device->report->parts; i++) {
        digest_part(&state, &device->report->part[i]);
    }
    (void)crypto_generichash_final(&state, ret_digest, REBUDGET_DIGEST_SIZE);
}

/* ---- The budget ---------------------------------------------------------- */

enum sotto_status
rebudget_split(uint64_t eps, double lambda, uint64_t *ret_eps_x,
               uint64_t *ret_eps_y, struct sotto_error *err)
{
    double share = nearbyint((double)eps * lambda);
    uint64_t eps_x = share < (double)eps ? (uint64_t)share : eps;
    if (eps_x < DECIMAL_EPS_MIN || eps - eps_x < DECIMAL_EPS_MIN) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_BUDGET, 0,
                      "a share of %g leaves the %s less than epsilon "
                      "0.000001: choose another share, or raise epsilon",
                      lambda, eps_x < DECIMAL_EPS_MIN ? "record" : "label"),
            err, "lambda eps");
    }
    *ret_eps_x = eps_x;
    *ret_eps_y = eps - eps_x;
    return SOTTO_STATUS_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static bool
covers(const struct compose_part *part, const char *what)
{
    return strcmp(part->covers, what) == 0;
}

/* One part takes all; of two, one is the record's and one the label's. */
static enum sotto_status
share_out(struct decompose *copy, uint64_t eps, double lambda,
          struct sotto_error *err)
{
    struct compose_part *part = copy->part, *label = &part[1];
    bool one = copy->spec.parts == 1 && part[0].blocks == 1;
    bool two = copy->spec.parts == 2 && part[0].blocks == 1 &&
               part[1].blocks == 1 &&
               covers(&part[0], "features") != covers(&part[1], "features") &&
               covers(&part[0], "label") != covers(&part[1], "label");
    if (!one && !two) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "only a mechanism of one part for the record, and at "
                         "most one for the label, can be given another budget: "
                         "train this one anew");
    }
    if (one && lambda > 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "lambda shares epsilon between record and label, and "
                         "this mechanism has no label: leave it out");
    }
    copy->spec.eps = eps;
    if (one) {
        part[0].eps = eps;
        return SOTTO_STATUS_OK;
    }
    if (covers(&part[0], "label")) {
        part = &part[1];
        label = &copy->part[0];
    }
    if (lambda <= 0) {
        lambda = (double)part->eps / (double)(part->eps + label->eps);
    }
    return rebudget_split(eps, lambda, &part->eps, &label->eps, err);
}

enum sotto_status
rebudget_check_channel(const char *name, struct sotto_error *err)
{
    const struct channel *channel =
        channel_find(channel_exact, name, strlen(name));
    if (channel == NULL || channel->domain != CHANNEL_DOMAIN_SYMBOLS ||
        channel->pairs) {
        return settings_fail(err, "label-channel",
                             "\"%.40s\" is no channel for a label: take flip "
                             "or subset",
                             name);
    }
    return SOTTO_STATUS_OK;
}

/* Names the setting, which a message about epsilon and delta does not; one
   about a delta out of its range does. */
enum sotto_status
rebudget_read_delta(const char *text, uint64_t *ret_delta,
                    struct sotto_error *err)
{
    enum sotto_status status =
        decimal_read_delta(text, strlen(text), ret_delta, err);
    if (status == SOTTO_STATUS_FORMAT || status == SOTTO_STATUS_LIMIT) {
        (void)host_fail(err, status, 0,
                        "delta %.80s: delta must be a plain decimal number "
                        "from 0.000000000001 to 0.01, such as 0.000001, with "
                        "at most 7 digits before the point and 12 after it",
                        text);
    }
    return host_about(status, err, SOTTO_ABOUT_SETTING, "delta");
}

static enum sotto_status
set_label_channel(struct decompose *copy, const char *name,
                  struct sotto_error *err)
{
    enum sotto_status status = rebudget_check_channel(name, err);
    bool found = false;
    for (size_t i = 0; i < copy->spec.parts; i++) {
        if (covers(&copy->part[i], "label")) {
            copy->part[i].channel = name;
            found = true;
        }
    }
    if (status == SOTTO_STATUS_OK && !found) {
        return settings_fail(err, "label-channel",
                             "is for the label, and this mechanism has none: "
                             "leave it out");
    }
    return status;
}

/* What to do about a channel that has no noise for so small an epsilon;
   `status` is what putting the parts together failed with. */
static enum sotto_status
explain_noise(const struct decompose *copy, enum sotto_status status,
              struct sotto_error *err)
{
    for (size_t i = 0; i < copy->spec.parts; i++) {
        const struct compose_part *part = &copy->part[i];
        const struct channel *channel =
            channel_find(channel_exact, part->channel, strlen(part->channel));
        struct channel_instance instance;
        void *own = channel != NULL && channel->approximate
                        ? malloc(channel->own_size)
                        : NULL;
        if (own != NULL &&
            channel_init(&instance, channel, part->d, 0, part->l, part->eps,
                         part->delta, own) == SOTTO_STATUS_LIMIT) {
            status = host_fail(err, SOTTO_STATUS_LIMIT, 0,
                               "'%s' cannot make the noise for %u steps at so "
                               "small an epsilon: raise it, or train with "
                               "fewer steps",
                               channel->name, (unsigned)part->l);
        }
        free(own);
    }
    return status;
}

enum sotto_status
sotto_mechanism_rebudget(const struct sotto_mechanism *mechanism,
                         const char *eps, double lambda,
                         const char *label_channel, const char *path,
                         struct sotto_mechanism **ret_mechanism,
                         struct sotto_error *err)
{
    struct decompose copy = {0};
    struct sotto_mechanism *made = NULL;
    uint64_t units;
    enum sotto_status status;
    if (!(lambda >= 0 && lambda < 1)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "lambda is the record's share of epsilon: a number "
                         "above 0 and below 1");
    }
    status = decimal_read_eps(eps, strlen(eps), &units, err);
    if (status == SOTTO_STATUS_OK) {
        status = decompose_init(&copy, mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = share_out(&copy, units, lambda, err);
    }
    if (status == SOTTO_STATUS_OK && label_channel != NULL) {
        status = set_label_channel(&copy, label_channel, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = compose_open(&copy.spec, &made, err);
        if (status != SOTTO_STATUS_OK) {
            status = explain_noise(&copy, status, err);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        status = mechanism_publish(made, path, ret_mechanism, err);
    }
    decompose_clear(&copy);
    return status;
}

enum sotto_status
sotto_mechanism_expire(const struct sotto_mechanism *mechanism,
                       uint64_t expires, const char *path,
                       struct sotto_mechanism **ret_mechanism,
                       struct sotto_error *err)
{
    struct decompose copy = {0};
    struct sotto_mechanism *made = NULL;
    enum sotto_status status = decompose_init(&copy, mechanism, err);
    copy.spec.expires = expires;
    status = HOST_THEN(status, compose_open(&copy.spec, &made, err));
    status =
        HOST_THEN(status, mechanism_publish(made, path, ret_mechanism, err));
    decompose_clear(&copy);
    return status;
}
