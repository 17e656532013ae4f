/*
 * registry.c: the learners.
 */
#include "learn/codes/codes_model.h"
#include "learn/lattice/lattice.h"
#include "learn/lattice/regression.h"
#include "learn/record/record.h"

const struct learner *const learner_table[] = {&learner_codes, &learner_record,
                                               &learner_regression,
                                               &learner_lattice, NULL};
