/*
 * analyst_check.c: whether an analyst file belongs to a mechanism.
 *
 * Most decoders and priors serve an encoder at every budget, and the digest has
 * none. The decoder of a linear task is the best one at the noise of one
 * epsilon, which its file names: at another it would answer wrongly, and
 * nothing would show it.
 */
#include <string.h>

#include <sodium.h>

#include "base/decimal.h"
#include "encoder/analyst.h"
#include "host/error.h"
#include "mechanism/mechanism.h"
#include "mechanism/rebudget.h"

/* Checks the epsilon of all parts but the label's. */
static enum sotto_status
check_eps(const struct shape *shape, uint64_t eps, struct sotto_error *err)
{
    for (size_t i = 0; i < shape->parts; i++) {
        const struct shape_part *part = &shape->part[i];
        uint64_t own = part->instance->eps;
        if (strcmp(part->covers, "label") != 0 && own != eps) {
            return host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "the analyst file's decoder is for epsilon %.12g "
                             "of the record, and the mechanism has %.12g of "
                             "it: train again at that epsilon",
                             (double)eps / (double)DECIMAL_UNIT,
                             (double)own / (double)DECIMAL_UNIT);
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_analyst_check(const struct sotto_analyst *analyst,
                    const struct sotto_mechanism *mechanism,
                    struct sotto_error *err)
{
    const json_t *metadata = analyst_metadata(analyst);
    const json_t *eps = json_object_get(metadata, "eps");
    const char *known = json_string_value(json_object_get(metadata, "digest"));
    uint8_t digest[REBUDGET_DIGEST_SIZE], own[REBUDGET_DIGEST_SIZE];
    rebudget_digest(mechanism, digest);
    /* Of as many digits, or it would not have been read. */
    (void)sodium_hex2bin(own, sizeof own, known, 2 * sizeof own, NULL, NULL,
                         NULL);
    if (memcmp(digest, own, sizeof own) != 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the analyst file belongs to another mechanism: "
                         "give the one that was written with this one");
    }
    return eps == NULL ? SOTTO_STATUS_OK
                       : check_eps(&mechanism->shape,
                                   (uint64_t)json_integer_value(eps), err);
}
