/*
 * privunit2.c: PrivUnit2 and ScalarDP (Bhowmick and others 2019, Algorithms 2
 * and 4), with the cap and its probability that have the least variance at
 * epsilon (Asi, Feldman and Talwar 2022): benchmarks only.
 */
#include "idealised/privunit_likelihood.h"

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    return privunit_init(instance, (struct privunit *)memory, CAP_SPHERE);
}

const struct channel idealised_privunit2 = {
    .name = "privunit2",
    .domain = CHANNEL_DOMAIN_BALL,
    .promise =
        "a random direction, likely one near the vector, and a rough length",
    .own_size = sizeof(struct privunit),
    .init = init,
    .sample = privunit_sample,
    .valid = privunit_valid,
};

const struct likelihood idealised_privunit2_likelihood =
    PRIVUNIT_LIKELIHOOD("privunit2");
