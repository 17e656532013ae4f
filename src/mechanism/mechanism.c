/*
 * mechanism.c: an opened mechanism on a host, and the facts in it.
 */
#include "mechanism/mechanism.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

#include "base/decimal.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "likelihood/realised.h"
#include "mechanism/minisign.h"
#include "schema/column.h"

#define MECHANISM_MOST MINISIGN_DATA_MAX
#define END_ROUNDING 1e-12 /* of a range: what its scale may round */

/* Prefixes a device's message with the file it is about. */
static enum sotto_status
fail_about(const char *name, enum sotto_status status,
           const struct sotto_error *cause, struct sotto_error *err)
{
    return host_fail(err, status, cause->position,
                     "'%s' is not a usable mechanism: %s (at byte %zu)",
                     host_shown(name), cause->message, cause->position);
}

static void
copy_word(char *to, struct reader_word word)
{
    size_t size = word.size < DEVICE_TEXT_MAX ? word.size : DEVICE_TEXT_MAX;
    memcpy(to, word.text, size);
    to[size] = '\0';
}

static enum sotto_status
set_likelihoods(struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    const struct report_plan *report = mechanism->device.report;
    enum sotto_status status = SOTTO_STATUS_OK;
    mechanism->likelihood =
        calloc(report->parts, sizeof *mechanism->likelihood);
    if (mechanism->likelihood == NULL) {
        return host_fail_memory(err);
    }
    for (uint32_t i = 0; status == SOTTO_STATUS_OK && i < report->parts; i++) {
        status = likelihood_init(&mechanism->likelihood[i],
                                 &report->part[i].instance);
    }
    return status == SOTTO_STATUS_OK
               ? status
               : host_fail(err, status, 0, "%s", sotto_status_message(status));
}

/* Opens the bytes the mechanism holds. */
static enum sotto_status
open_client(struct sotto_mechanism *mechanism, const char *name,
            struct sotto_error *err)
{
    const struct device_terms *terms;
    struct sotto_error cause = {0};
    size_t need = 0;
    enum sotto_status status =
        sotto_client_size(mechanism->data, mechanism->size, &need, &cause);
    if (status != SOTTO_STATUS_OK) {
        return fail_about(name, status, &cause, err);
    }
    mechanism->workspace = malloc(need);
    if (mechanism->workspace == NULL) {
        return host_fail_memory(err);
    }
    status = device_open(mechanism->data, mechanism->size, channel_exact, NULL,
                         mechanism->workspace, need, UINT64_MAX, true,
                         &mechanism->client, &cause);
    if (status != SOTTO_STATUS_OK) {
        return fail_about(name, status, &cause, err);
    }
    mechanism->device = device_view(mechanism->client);
    terms = mechanism->device.terms;
    status = set_likelihoods(mechanism, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    copy_word(mechanism->name, terms->name);
    copy_word(mechanism->campaign, terms->campaign);
    copy_word(mechanism->auxiliary, terms->auxiliary);
    copy_word(mechanism->eps_text, terms->eps_text);
    copy_word(mechanism->delta_text, terms->delta_text);
    copy_word(mechanism->central_eps, terms->central_eps);
    copy_word(mechanism->central_delta, terms->central_delta);
    return shape_init(&mechanism->shape, &mechanism->device, err);
}

enum sotto_status
mechanism_adopt(uint8_t *data, size_t size, const char *name,
                struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = calloc(1, sizeof *mechanism);
    enum sotto_status status;
    if (mechanism == NULL) {
        free(data);
        return host_fail_memory(err);
    }
    mechanism->data = data;
    mechanism->size = size;
    status = open_client(mechanism, name, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_mechanism = mechanism;
    } else {
        sotto_mechanism_free(mechanism);
    }
    return status;
}

enum sotto_status
sotto_mechanism_read(const char *path, struct sotto_mechanism **ret_mechanism,
                     struct sotto_error *err)
{
    uint8_t *data = NULL;
    size_t size = 0;
    enum sotto_status status =
        host_file_read(path, MECHANISM_MOST, &data, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return host_about(mechanism_adopt(data, size, path, ret_mechanism, err),
                      err, SOTTO_ABOUT_FILE, path);
}

enum sotto_status
sotto_mechanism_parse(const void *data, size_t size, const char *name,
                      struct sotto_mechanism **ret_mechanism,
                      struct sotto_error *err)
{
    uint8_t *copy = host_text_copy(data, size);
    if (copy == NULL) {
        return host_fail_memory(err);
    }
    return mechanism_adopt(copy, size, name, ret_mechanism, err);
}

enum sotto_status
sotto_mechanism_read_verified(const char *path, const char *pub_path,
                              char **ret_comment,
                              struct sotto_mechanism **ret_mechanism,
                              struct sotto_error *err)
{
    char *comment = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    enum sotto_status status =
        host_file_read(path, MECHANISM_MOST, &data, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = minisign_verify_bytes(path, data, size, pub_path, &comment, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    status = host_about(mechanism_adopt(data, size, path, ret_mechanism, err),
                        err, SOTTO_ABOUT_FILE, path);
    data = NULL;
    if (status != SOTTO_STATUS_OK && status != SOTTO_STATUS_MEMORY) {
        status = SOTTO_STATUS_REFUSED;
        if (err != NULL) {
            err->status = status;
        }
    }
    if (status == SOTTO_STATUS_OK && ret_comment != NULL) {
        *ret_comment = comment;
        comment = NULL;
    }
done:
    free(data);
    free(comment);
    return status;
}

enum sotto_status
sotto_mechanism_sign(const struct sotto_mechanism *mechanism, const char *path,
                     const char *key_path, const char *password,
                     struct sotto_error *err)
{
    return minisign_sign_bytes(path, mechanism->data, mechanism->size, key_path,
                               password, err);
}

enum sotto_status
mechanism_copy(const struct sotto_mechanism *mechanism,
               struct sotto_mechanism **ret_copy, struct sotto_error *err)
{
    return sotto_mechanism_parse(mechanism->data, mechanism->size,
                                 mechanism->name, ret_copy, err);
}

enum sotto_status
mechanism_publish(struct sotto_mechanism *mechanism, const char *path,
                  struct sotto_mechanism **ret_mechanism,
                  struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (path != NULL) {
        status = host_file_write(path, 0644, false, mechanism->data,
                                 mechanism->size, err);
    }
    if (status == SOTTO_STATUS_OK && ret_mechanism != NULL) {
        *ret_mechanism = mechanism;
    } else {
        sotto_mechanism_free(mechanism);
    }
    return status;
}

const uint8_t *
sotto_mechanism_bytes(const struct sotto_mechanism *mechanism, size_t *ret_size)
{
    *ret_size = mechanism->size;
    return mechanism->data;
}

void
sotto_mechanism_free(struct sotto_mechanism *mechanism)
{
    if (mechanism != NULL) {
        shape_clear(&mechanism->shape);
        sotto_client_close(mechanism->client);
        free(mechanism->likelihood);
        free(mechanism->workspace);
        free(mechanism->data);
        free(mechanism);
    }
}

struct sotto_client *
sotto_mechanism_client(struct sotto_mechanism *mechanism)
{
    return mechanism->client;
}

static double
units_double(uint64_t units)
{
    return (double)units / (double)DECIMAL_UNIT;
}

/* What the parts that cover `what`, or both, spend together. */
static double
eps_about(const struct shape *shape, const char *what)
{
    uint64_t units = 0;
    for (size_t i = 0; i < shape->parts; i++) {
        const struct shape_part *part = &shape->part[i];
        if (strcmp(part->covers, what) == 0 ||
            strcmp(part->covers, "both") == 0) {
            units += part->blocks * part->instance->eps;
        }
    }
    return units_double(units);
}

void
sotto_mechanism_info(const struct sotto_mechanism *mechanism,
                     struct sotto_mechanism_info *ret_info)
{
    const struct device_view *device = &mechanism->device;
    const struct shape *shape = &mechanism->shape;
    memset(ret_info, 0, sizeof *ret_info);
    ret_info->name = mechanism->name;
    ret_info->campaign = mechanism->campaign;
    ret_info->auxiliary = mechanism->auxiliary;
    ret_info->eps_text = mechanism->eps_text;
    ret_info->eps = units_double(shape->eps);
    ret_info->delta_text = mechanism->delta_text;
    ret_info->delta = units_double(shape->delta);
    ret_info->eps_features = eps_about(shape, "features");
    ret_info->eps_label = eps_about(shape, "label");
    ret_info->columns = shape->schema.columns;
    ret_info->layers = shape->layers;
    ret_info->work = shape->work;
    ret_info->uneven = device->terms->uneven;
    ret_info->central_eps = mechanism->central_eps;
    ret_info->central_delta = mechanism->central_delta;
    ret_info->expires = device->terms->expires;
    ret_info->label_only = device->terms->label_only;
    ret_info->parts = shape->parts;
    ret_info->books = shape->books;
    ret_info->report_size = shape->report_size;
    for (size_t i = 0; i < shape->layers; i++) {
        const struct layer *layer = &device->encoder->layer[i];
        ret_info->weights +=
            layer_biases(layer) * (layer_fan(layer) + (size_t)1);
    }
    (void)sodium_bin2hex(ret_info->hash, sizeof ret_info->hash, shape->hash,
                         SOTTO_HASH_SIZE);
}

enum sotto_status
sotto_mechanism_check(const struct sotto_mechanism *mechanism,
                      struct sotto_error *err)
{
    uint64_t expires = mechanism->device.terms->expires;
    if (mechanism->device.terms->uneven) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "devices refuse the mechanism \"%s\": a weight or a "
                         "scale is so small, and not 0, that the encoder's "
                         "time could depend on the record; make it again",
                         host_shown(mechanism->name));
    }
    if (expires > 0 && (uint64_t)time(NULL) >= expires) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "the mechanism \"%s\" has expired: no report is made "
                         "with it any more",
                         host_shown(mechanism->name));
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_mechanism_check_sent(const struct sotto_mechanism *mechanism,
                           struct sotto_error *err)
{
    return mechanism->device.terms->label_only
               ? host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "the mechanism \"%s\" is for the label only: the "
                           "record is not protected, its reports go from "
                           "curator to curator, made by privatise, and are "
                           "neither sent nor collected",
                           host_shown(mechanism->name))
               : SOTTO_STATUS_OK;
}

/*
 * The size of x up to which a column is never clipped, whatever the others
 * hold: 1, but 1/sqrt(d) where it goes straight into a ball with d - 1 others.
 */
static double
reach_of(const struct shape *shape, size_t column)
{
    size_t entry = shape->schema.column[column].at;
    for (size_t i = 0; i < shape->parts && shape->layers == 0; i++) {
        const struct shape_part *part = &shape->part[i];
        if (part->instance->channel->domain == CHANNEL_DOMAIN_BALL &&
            entry >= part->from &&
            (entry - part->from) / part->instance->size < part->blocks &&
            !shape->schema.column[column].missing) {
            return 1 / sqrt(part->instance->size);
        }
    }
    return 1;
}

/* An end of a range, 0 where only rounding keeps it from that; a NaN stays. */
static double
end_of(double end, double half)
{
    return fabs(end) < half * END_ROUNDING ? 0 : end;
}

void
sotto_mechanism_column(const struct sotto_mechanism *mechanism, size_t column,
                       struct sotto_column_info *ret_info)
{
    const struct shape *shape = &mechanism->shape;
    const struct schema_column *own = &shape->schema.column[column];
    double reach = reach_of(shape, column);
    double low = schema_column_value(own, -reach);
    double high = schema_column_value(own, reach);
    double half = fabs(high / 2 - low / 2);
    ret_info->name = own->name;
    ret_info->kind = own->kind;
    ret_info->count = own->count;
    ret_info->symbols = schema_kind(own->kind)->symbols ? own->count : 0;
    ret_info->samples = schema_kind(own->kind)->bytes ? own->count : 0;
    ret_info->inputs = own->inputs;
    ret_info->missing = own->missing;
    ret_info->log = own->log;
    ret_info->low = end_of(low, half);
    ret_info->high = end_of(high, half);
}

size_t
sotto_mechanism_find(const struct sotto_mechanism *mechanism, const char *name)
{
    const struct shape *shape = &mechanism->shape;
    size_t i = 0;
    while (i < shape->schema.columns &&
           strcmp(shape->schema.column[i].name, name) != 0) {
        i++;
    }
    return i < shape->schema.columns ? i : SIZE_MAX;
}

const char *
sotto_mechanism_category(const struct sotto_mechanism *mechanism, size_t column,
                         size_t symbol)
{
    const struct schema_column *own = &mechanism->shape.schema.column[column];
    return own->values != NULL && symbol + 1 < own->count ? own->values[symbol]
                                                          : "(other)";
}

void
sotto_mechanism_part(const struct sotto_mechanism *mechanism, size_t part,
                     struct sotto_part_info *ret_info)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    const struct channel_instance *instance = own->instance;
    const struct likelihood_instance *likelihood = &mechanism->likelihood[part];
    ret_info->covers = own->covers;
    ret_info->channel = instance->channel->name;
    ret_info->promise = instance->channel->promise;
    ret_info->eps = units_double(instance->eps);
    ret_info->eps_exact = likelihood->realised == REALISED_NONE
                              ? (double)INFINITY
                              : units_double(likelihood->realised);
    ret_info->delta = units_double(instance->delta);
    ret_info->domain = domain_key(instance->channel->domain);
    ret_info->blocks = own->blocks;
    ret_info->size = instance->size;
    ret_info->l = instance->l;
    ret_info->books = own->books;
    ret_info->wire_size = instance->wire_size;
    ret_info->values = likelihood->values;
    ret_info->deviation = sqrt(likelihood->variance_other);
    ret_info->bias = likelihood->bias;
}

size_t
mechanism_source(const struct sotto_mechanism *mechanism, size_t at)
{
    const struct shape *shape = &mechanism->shape;
    for (size_t i = 0; i < shape->schema.columns && shape->layers == 0; i++) {
        if (shape->schema.column[i].at == at &&
            shape->schema.column[i].inputs > 0 &&
            schema_kind(shape->schema.column[i].kind)->ranged) {
            return i;
        }
    }
    return SIZE_MAX;
}

size_t
mechanism_missing_source(const struct sotto_mechanism *mechanism, size_t at)
{
    size_t column = at > 0 ? mechanism_source(mechanism, at - 1) : SIZE_MAX;
    return column != SIZE_MAX && mechanism->shape.schema.column[column].missing
               ? column
               : SIZE_MAX;
}

bool
mechanism_keeps_pair(const struct sotto_mechanism *mechanism, size_t part,
                     size_t at)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    return own->instance->channel->domain == CHANNEL_DOMAIN_CUBE ||
           own->instance->size == 1 ||
           (own->instance->size == 2 && (at - own->from) % 2 == 0 &&
            mechanism_missing_source(mechanism, at + 1) != SIZE_MAX);
}

/*
 * domain.c: to the nearest step on a line, and so in a cube; within one step
 * where a sum is to be kept; in a ball, whose numbers are first cut to 2^-20,
 * that much more.
 */
double
mechanism_rounding(const struct channel_instance *instance)
{
    switch (instance->channel->domain) {
    case CHANNEL_DOMAIN_CUBE:
        return 0.5;
    case CHANNEL_DOMAIN_BALL:
        return 1 + instance->l * 0x1p-20;
    default:
        return instance->size == 1 ? 0.5 : 1;
    }
}

size_t
sotto_mechanism_part_column(const struct sotto_mechanism *mechanism,
                            size_t part, size_t block)
{
    const struct shape *shape = &mechanism->shape;
    if (part >= shape->parts || block >= shape->part[part].blocks) {
        return SIZE_MAX;
    }
    const struct shape_part *own = &shape->part[part];
    if (!own->numbers) {
        return own->role == SHAPE_PAIR || own->role == SHAPE_RIGHT
                   ? SIZE_MAX
                   : own->column;
    }
    size_t at = own->from + block * own->instance->size;
    bool pair = own->instance->size == 2 &&
                mechanism_missing_source(mechanism, at + 1) != SIZE_MAX;
    return own->instance->size == 1 || pair ? mechanism_source(mechanism, at)
                                            : SIZE_MAX;
}
