/*
 * right.h: what answers to "is this model right about you?" say, by their
 * number alone.
 */
#ifndef SOTTO_LEARN_RIGHT_H
#define SOTTO_LEARN_RIGHT_H

#include "likelihood/likelihood.h"
#include "sotto/fitting.h"

/* How the answer "yes" depends on the truth, as the sampler that ships draws
   it: with chance `right` where the model is right, `wrong` where it is not.
   right > wrong. */
struct right_flip {
    double right, wrong;
};

/* sotto_model_mechanism_right, for a question of another name: it has another
   hash, so that its answers are told apart. */
SOTTO_CHECKED enum sotto_status
right_question(const struct sotto_model *model, size_t network,
               const char *name, const char *label, const char *eps,
               const char *path, struct sotto_mechanism **ret_mechanism,
               struct sotto_error *err);

/* Whether a report of the mechanism says, through flip, whether a model is
   right. */
bool right_asked(const struct sotto_mechanism *mechanism);
/* The chances of a flip on {no, yes}. */
void right_chances(const struct likelihood_instance *at,
                   struct right_flip *ret_flip);
/*
 * Sets share, error and the exact interval from `yes` of `right->reports`, at
 * least one, and leaves the rest. z is the interval's confidence, in standard
 * errors of a normal.
 */
void right_read(const struct right_flip *flip, uint64_t yes, double z,
                struct sotto_right *right);

#endif
