/*
 * registry.c: the learners.
 */
#include "learn/codes/codes_model.h"
#include "learn/lattice/lattice.h"

const struct learner *const learner_table[] = {&learner_codes, &learner_lattice,
                                               NULL};
