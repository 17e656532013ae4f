/*
 * hybrid.c: the hybrid mechanism (Wang and others 2019, section III-C, and
 * Algorithm 4 for many attributes): benchmarks only.
 *
 * alpha = 1 - e^(-eps/2) where eps of one attribute is above eps*, else 0
 * (Lemma 3): the weight that makes the worst variance least.
 */
#include <math.h>

#include "base/decimal.h"
#include "idealised/attributes_likelihood.h"

/* eps*, about 0.61: where alpha > 0 begins to be better. */
static double
threshold(void)
{
    double root = 405 * sqrt(241);
    return log((-5 + 2 * cbrt(6353 - root) + 2 * cbrt(6353 + root)) / 27);
}

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    uint32_t k = attributes_k(instance);
    double eps = (double)instance->eps / (double)DECIMAL_UNIT / k;
    attributes_init(instance, (struct attributes *)memory, k,
                    eps > threshold() ? -expm1(-eps / 2) : 0);
    return SOTTO_STATUS_OK;
}

const struct channel idealised_hybrid = {
    .name = "hybrid",
    .domain = CHANNEL_DOMAIN_CUBE,
    .promise = "a few numbers are sent, each from near where it is or as one "
               "of two numbers",
    .own_size = sizeof(struct attributes),
    .init = init,
    .sample = attributes_sample,
    .valid = attributes_valid,
};

const struct likelihood idealised_hybrid_likelihood =
    ATTRIBUTES_LIKELIHOOD("hybrid");
