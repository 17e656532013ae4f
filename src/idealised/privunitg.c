/*
 * privunitg.c: PrivUnitG (Asi, Feldman and Talwar 2022, Algorithm 2), which
 * draws the direction from a normal law, with ScalarDP for the length:
 * benchmarks only.
 */
#include "idealised/privunit_likelihood.h"

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    return privunit_init(instance, (struct privunit *)memory, CAP_NORMAL);
}

const struct channel idealised_privunitg = {
    .name = "privunitg",
    .domain = CHANNEL_DOMAIN_BALL,
    .promise = "a random normal vector, likely one near the vector, and a "
               "rough length",
    .own_size = sizeof(struct privunit),
    .init = init,
    .sample = privunit_sample,
    .valid = privunit_valid,
};

const struct likelihood idealised_privunitg_likelihood =
    PRIVUNIT_LIKELIHOOD("privunitg");
