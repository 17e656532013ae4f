/*
 * defaults.h: how to train, where the caller does not say.
 */
#ifndef SOTTO_LEARN_DEFAULTS_H
#define SOTTO_LEARN_DEFAULTS_H

#include "learn/options.h"
#include "sotto/sotto.h"

struct learn_setting {
    double rate;       /* Adam's, at first */
    double floor;      /* the share of it that is left at the end */
    double decay;      /* decoupled weight decay */
    uint32_t epochs;   /* at most */
    uint32_t patience; /* epochs without a better validation score */
    uint32_t batches;  /* an epoch; 0: batches of `batch` reports */
    uint32_t batch;
    uint32_t restarts;
    double smoothing;
    double marginal;
    double entropy;
    double validation;
};

/* What suits an objective at budgets of eps_x for the features and eps_y for
   the label; both INFINITY for clean records. */
struct learn_setting learn_defaults(enum sotto_objective objective,
                                    double eps_x, double eps_y);
/* The same with what the options say instead. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
learn_settle(const struct learn_options *options, double eps_x, double eps_y,
             struct learn_setting *ret_setting, struct sotto_error *err);

#endif
