/*
 * laplace.c: discrete Laplace noise on the L1-ball lattice.
 *
 * For |q|_1 <= l and |q'|_1 <= l, |q - q'|_1 <= 2l, and noise of scale
 * t = 2l/epsilon on every coordinate gives e^epsilon (the papers' Eq. 3 and 4,
 * on integers). The sum q + X is clamped to [-c, c], c = horizon - l, which
 * is post-processing; the noise never is.
 * Theorem and proof: docs/proofs.md#laplace.
 */
#include "channel/laplace.h"

static const struct laplace *
own_of(const struct channel_instance *instance)
{
    return (const struct laplace *)instance->own;
}

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    struct laplace *own = (struct laplace *)memory;
    uint32_t batches = (instance->size + DRAW_BATCH - 1) / DRAW_BATCH;
    dlaplace_init(&own->noise, instance->l, instance->eps);
    integers_init(&own->integers, (int64_t)own->noise.horizon - instance->l,
                  instance);
    instance->entropy_size =
        batches * DRAW_TABLES_SIZE +
        instance->size * (uint32_t)dlaplace_draw_size(&own->noise);
    return SOTTO_STATUS_OK;
}

static void
sample(const struct channel_instance *instance, const int32_t *q,
       struct random *random, uint8_t *ret_wire)
{
    const struct laplace *own = own_of(instance);
    struct draw_tables tables;
    for (uint32_t i = 0; i < instance->size; i++) {
        if (i % DRAW_BATCH == 0) {
            draw_tables(random, own->noise.threshold, own->noise.count,
                        &tables);
        }
        integers_put(&own->integers, ret_wire, i,
                     q[i] + dlaplace_draw(&own->noise, random, &tables));
    }
}

const struct channel channel_laplace = {
    .name = "laplace",
    .domain = CHANNEL_DOMAIN_LATTICE,
    .promise = "whole-number noise is added to every number before it is sent",
    .own_size = sizeof(struct laplace),
    .init = init,
    .sample = sample,
    .valid = integers_valid,
};
