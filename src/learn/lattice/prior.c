/*
 * prior.c: the feature blocks of a mechanism, and the points of the prior.
 */
#include "learn/lattice/prior.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "mechanism/inside.h"

#define UNITS 1e12 /* of epsilon, in 1 */
#define DISTANCE_MOST ((uint64_t)1 << 30)

/* ---- The shape ---------------------------------------------------------- */

/*
 * Beyond the domain every point is equally much farther away, so a report can
 * be moved to [-l, l] first, and a distance is at most d l + l.
 */
static void
set_distance(struct prior_block *block)
{
    const struct channel_instance *instance = block->likelihood->instance;
    uint64_t most = ((uint64_t)instance->size + 1) * instance->l;
    block->distance =
        strcmp(instance->channel->name, "laplace") == 0 && most < DISTANCE_MOST;
    if (block->distance) {
        block->rate =
            (float)((double)instance->eps / UNITS / (2 * (double)instance->l));
    }
}

static void
add_blocks(struct prior_shape *shape, const struct sotto_mechanism *mechanism,
           size_t part)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    for (size_t i = 0; i < own->blocks; i++) {
        struct prior_block *block = &shape->block[shape->blocks++];
        block->likelihood = &mechanism->likelihood[part];
        block->offset = shape_offset(&mechanism->shape, part, i);
        block->at = shape->width;
        block->input = shape->inputs;
        block->width = own->width;
        set_distance(block);
        shape->width += block->width;
        shape->inputs += own->instance->size;
    }
}

bool
prior_label_number(const struct shape_part *own)
{
    return strcmp(own->covers, "label") == 0 && own->role == SHAPE_OTHER &&
           own->numbers && own->blocks == 1 && own->instance->size == 1;
}

static enum sotto_status
add_label(struct prior_shape *shape, const struct sotto_mechanism *mechanism,
          size_t part, struct sotto_error *err)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    if (own->role != SHAPE_LABEL && !prior_label_number(own)) {
        return host_fail(err, SOTTO_STATUS_INPUT, part,
                         "the mechanism's label (part %zu) is neither one of "
                         "several classes nor one number",
                         part + 1);
    }
    if (shape->label != NULL) {
        return host_fail(err, SOTTO_STATUS_INPUT, part,
                         "the mechanism has more than one label (part %zu)",
                         part + 1);
    }
    shape->label = &mechanism->likelihood[part];
    shape->number = prior_label_number(own);
    shape->label_part = part;
    shape->label_offset = own->offset;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
add_part(struct prior_shape *shape, const struct sotto_mechanism *mechanism,
         size_t part, struct sotto_error *err)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    if (strcmp(own->covers, "both") == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, part,
                         "part %zu of the mechanism covers features and label "
                         "together: that cannot be learnt from",
                         part + 1);
    }
    if (strcmp(own->covers, "label") == 0) {
        return add_label(shape, mechanism, part, err);
    }
    add_blocks(shape, mechanism, part);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
add_parts(struct prior_shape *shape, const struct sotto_mechanism *mechanism,
          struct sotto_error *err)
{
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        enum sotto_status status = add_part(shape, mechanism, i, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
    }
    if (shape->label == NULL) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism has no label: nothing to learn to "
                         "tell from its reports");
    }
    if (shape->blocks == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism has no features to learn from");
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
prior_shape_init(struct prior_shape *shape,
                 const struct sotto_mechanism *mechanism, bool other,
                 struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    size_t blocks = 0;
    enum sotto_status status;
    memset(shape, 0, sizeof *shape);
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        blocks += mechanism->shape.part[i].blocks;
    }
    shape->block = calloc(blocks + 1, sizeof *shape->block);
    if (shape->block == NULL) {
        return host_fail_memory(err);
    }
    status = add_parts(shape, mechanism, err);
    if (status != SOTTO_STATUS_OK) {
        prior_shape_clear(shape);
        return status;
    }
    shape->classes = shape->number ? 0 : shape->label->instance->size;
    if (!other && shape->classes > 2 &&
        sotto_mechanism_part_column(mechanism, shape->label_part, 0) !=
            SIZE_MAX) {
        shape->classes--;
    }
    sotto_mechanism_info(mechanism, &info);
    shape->eps_features = info.eps_features;
    shape->eps_label = info.eps_label;
    return SOTTO_STATUS_OK;
}

void
prior_shape_clear(struct prior_shape *shape)
{
    free(shape->block);
    memset(shape, 0, sizeof *shape);
}

/* ---- Inputs ------------------------------------------------------------- */

void
prior_input(const struct prior_shape *shape, const int32_t *point,
            float *ret_input)
{
    for (size_t i = 0; i < shape->blocks; i++) {
        const struct prior_block *block = &shape->block[i];
        const int32_t *q = point + block->at;
        float *to = ret_input + block->input;
        const struct channel_instance *instance = block->likelihood->instance;
        bool symbols = instance->channel->domain == CHANNEL_DOMAIN_SYMBOLS;
        for (uint32_t j = 0; j < instance->size; j++) {
            to[j] = symbols ? (float)((uint32_t)q[0] == j)
                            : (float)((double)q[j] / instance->l);
        }
    }
}

void
prior_estimate(const struct prior_shape *shape, const uint8_t *report,
               double *room, double *ret_input)
{
    for (size_t i = 0; i < shape->blocks; i++) {
        const struct prior_block *block = &shape->block[i];
        const struct likelihood_instance *at = block->likelihood;
        const struct channel_instance *instance = at->instance;
        double unit = instance->l > 0 ? 1 / (double)instance->l : 1;
        at->likelihood->estimate(at, report + block->offset, room);
        for (uint32_t j = 0; j < instance->size; j++) {
            ret_input[block->input + j] = room[j] * unit;
        }
    }
}

size_t
prior_room(const struct prior_shape *shape)
{
    size_t most = shape->label->instance->size;
    for (size_t i = 0; i < shape->blocks; i++) {
        const struct likelihood_instance *at = shape->block[i].likelihood;
        most = at->instance->size > most ? at->instance->size : most;
        most = at->values > most ? at->values : most;
    }
    return most;
}

/* ---- Points ------------------------------------------------------------- */

/* Whether q is in the block's domain. */
static bool
is_inside(const struct prior_block *block, const int32_t *q)
{
    const struct channel_instance *instance = block->likelihood->instance;
    if (instance->channel->domain == CHANNEL_DOMAIN_SYMBOLS) {
        return q[0] >= 0 && (uint32_t)q[0] < instance->size;
    }
    return inside_domain(instance->channel->domain, instance->size, instance->l,
                         q);
}

static enum sotto_status
copy_points(struct prior *prior, const int32_t *point, struct sotto_error *err)
{
    const struct prior_shape *shape = prior->shape;
    size_t n = prior->points;
    for (size_t i = 0; i < shape->blocks; i++) {
        const struct prior_block *block = &shape->block[i];
        int32_t *to = prior->by_block + block->at * n;
        for (size_t m = 0; m < n; m++) {
            const int32_t *q = point + m * shape->width + block->at;
            if (!is_inside(block, q)) {
                return host_fail(err, SOTTO_STATUS_INPUT, m,
                                 "point %zu of the prior is not one that the "
                                 "mechanism can report",
                                 m);
            }
            for (size_t j = 0; j < block->width; j++) {
                to[m * block->width + j] = q[j];
                prior->by_entry[(block->at + j) * prior->padded + m] = q[j];
            }
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
prior_affordable(size_t points, size_t most, size_t reports, size_t *ret_points,
                 struct sotto_error *err)
{
    /* Rows are padded, and there is one more than reports (posterior.c). */
    size_t room = PRIOR_BYTES / sizeof(uint16_t) / (reports + 1);
    room -= room % PRIOR_PAD;
    if (room == 0) {
        return host_fail(err, SOTTO_STATUS_LIMIT, reports,
                         "%zu reports are too many to weigh at once: at most "
                         "%zu; learn from some of them",
                         reports,
                         PRIOR_BYTES / sizeof(uint16_t) / PRIOR_PAD - 1);
    }
    points = most > 0 && most < points ? most : points;
    *ret_points = points < room ? points : room;
    return SOTTO_STATUS_OK;
}

enum sotto_status
prior_init(struct prior *prior, const struct prior_shape *shape,
           const int32_t *point, size_t points, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    memset(prior, 0, sizeof *prior);
    if (points == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0, "the prior is empty");
    }
    prior->shape = shape;
    prior->points = points;
    prior->padded = (points + PRIOR_PAD - 1) / PRIOR_PAD * PRIOR_PAD;
    prior->by_block = calloc(points * shape->width, sizeof(int32_t));
    prior->by_entry = calloc(prior->padded * shape->width, sizeof(int32_t));
    if (prior->by_block == NULL || prior->by_entry == NULL) {
        status = host_fail_memory(err);
    } else {
        status = copy_points(prior, point, err);
    }
    if (status != SOTTO_STATUS_OK) {
        prior_clear(prior);
    }
    return status;
}

void
prior_clear(struct prior *prior)
{
    free(prior->by_block);
    free(prior->by_entry);
    memset(prior, 0, sizeof *prior);
}
