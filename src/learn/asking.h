/*
 * asking.h: a simulated person's private answer to "is this model right about
 * you?".
 */
#ifndef SOTTO_LEARN_ASKING_H
#define SOTTO_LEARN_ASKING_H

#include "learn/right.h"
#include "likelihood/likelihood.h"

struct asking {
    struct channel_instance channel; /* flip on {no, yes} */
    struct likelihood_instance flip;
    void *own;
};

/* Makes the channel at `eps`, decimal text. Clear it in any case. Statuses:
   BUDGET, MEMORY. */
SOTTO_CHECKED enum sotto_status
asking_init(struct asking *asking, const char *eps, struct sotto_error *err);
void asking_clear(struct asking *asking);
/* The answer of a person, whose truth it is; (seed, person) decide the noise.
 */
bool asking_draw(const struct asking *asking, uint64_t seed, uint64_t person,
                 bool truth);
/* The chances of its "yes". */
void asking_chances(const struct asking *asking, struct right_flip *ret_flip);

#endif
