/*
 * asking.c: a simulated person's private answer.
 */
#include "learn/asking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "random/seeded.h"

#define ANSWERS 2u
#define WIRE_SIZE 16u

enum sotto_status
asking_init(struct asking *asking, const char *eps, struct sotto_error *err)
{
    const struct channel *flip = channel_find(channel_exact, "flip", 4);
    uint64_t units;
    enum sotto_status status = decimal_read_eps(eps, strlen(eps), &units, err);
    *asking = (struct asking){0};
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    asking->own = malloc(flip->own_size);
    if (asking->own == NULL) {
        return host_fail_memory(err);
    }
    status = channel_init(&asking->channel, flip, ANSWERS, 0, 0, units, 0,
                          asking->own);
    status =
        HOST_THEN(status, likelihood_init(&asking->flip, &asking->channel));
    return status == SOTTO_STATUS_OK
               ? status
               : host_fail(err, status, 0, "%s", sotto_status_message(status));
}

void
asking_clear(struct asking *asking)
{
    free(asking->own);
    asking->own = NULL;
}

bool
asking_draw(const struct asking *asking, uint64_t seed, uint64_t person,
            bool truth)
{
    int32_t q = truth ? 1 : 0;
    uint8_t wire[WIRE_SIZE];
    int64_t value;
    struct seeded seeded;
    seeded_init(&seeded, seed, person);
    asking->channel.channel->sample(&asking->channel, &q, &seeded.random, wire);
    asking->flip.likelihood->unpack(&asking->flip, wire, &value);
    return value == 1;
}

void
asking_chances(const struct asking *asking, struct right_flip *ret_flip)
{
    right_chances(&asking->flip, ret_flip);
}
