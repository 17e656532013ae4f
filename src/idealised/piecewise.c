/*
 * piecewise.c: the piecewise mechanism (Wang and others 2019, Algorithm 2, and
 * 4 for many attributes): benchmarks only.
 */
#include "idealised/attributes_likelihood.h"

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    attributes_init(instance, (struct attributes *)memory,
                    attributes_k(instance), 1);
    return SOTTO_STATUS_OK;
}

const struct channel idealised_piecewise = {
    .name = "piecewise",
    .domain = CHANNEL_DOMAIN_CUBE,
    .promise = "a few numbers are sent, each likely from near where it is",
    .own_size = sizeof(struct attributes),
    .init = init,
    .sample = attributes_sample,
    .valid = attributes_valid,
};

const struct likelihood idealised_piecewise_likelihood =
    ATTRIBUTES_LIKELIHOOD("piecewise");
