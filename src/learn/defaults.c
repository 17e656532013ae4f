/*
 * defaults.c: how to train, where the caller does not say. One table.
 *
 * The less a label report says, the more a network learns of its noise: at
 * small epsilon the weights decay faster and training ends sooner.
 */
#include "learn/defaults.h"

#include <math.h>

#include "host/error.h"

#define EPOCHS_MOST 100000u
#define BATCHES_MOST 100000u
#define RESTARTS_MOST 32u
#define BALANCED 0.1 /* weight of a share that is known */

/* Up to which eps_y a row holds; the first that does is taken. */
struct row {
    enum sotto_objective objective;
    double eps_y;
    struct learn_setting setting;
};

static const struct row table[] = {
    {SOTTO_OBJECTIVE_MARGINAL,
     0.5,
     {.rate = 5e-3,
      .floor = 0.1,
      .decay = 3e-1,
      .epochs = 40,
      .patience = 10,
      .batches = 10,
      .restarts = 1}},
    {SOTTO_OBJECTIVE_MARGINAL,
     1.5,
     {.rate = 5e-3,
      .floor = 0.1,
      .decay = 1e-1,
      .epochs = 60,
      .patience = 10,
      .batches = 10,
      .restarts = 1}},
    {SOTTO_OBJECTIVE_MARGINAL,
     INFINITY,
     {.rate = 5e-3,
      .floor = 0.1,
      .decay = 1e-2,
      .epochs = 80,
      .patience = 10,
      .batches = 10,
      .restarts = 1}},
    {SOTTO_OBJECTIVE_LABEL,
     1.5,
     {.rate = 1e-3,
      .floor = 0.1,
      .decay = 1e-1,
      .epochs = 30,
      .patience = 5,
      .batch = 256,
      .restarts = 1}},
    {SOTTO_OBJECTIVE_LABEL,
     INFINITY,
     {.rate = 2e-3,
      .floor = 0.1,
      .decay = 1e-2,
      .epochs = 40,
      .patience = 8,
      .batch = 128,
      .restarts = 1}},
    {SOTTO_OBJECTIVE_PLAIN,
     INFINITY,
     {.rate = 2e-3,
      .floor = 0.1,
      .decay = 1e-3,
      .epochs = 60,
      .patience = 8,
      .batch = 128,
      .restarts = 1}},
};

struct learn_setting
learn_defaults(enum sotto_objective objective, double eps_x, double eps_y)
{
    struct learn_setting setting = table[0].setting;
    (void)eps_x;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].objective == objective && eps_y <= table[i].eps_y) {
            setting = table[i].setting;
            break;
        }
    }
    setting.validation = 0.1;
    return setting;
}

/* Whether a number can be used at all. */
static bool
fits(double number, double low, double high)
{
    return number >= low && number <= high;
}

enum sotto_status
learn_settle(const struct learn_options *options, double eps_x, double eps_y,
             struct learn_setting *ret_setting, struct sotto_error *err)
{
    struct learn_setting setting =
        learn_defaults(options->objective, eps_x, eps_y);
    if (options->epochs > EPOCHS_MOST || options->batches > BATCHES_MOST ||
        options->restarts > RESTARTS_MOST) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "at most %u epochs, %u batches and %u restarts are "
                         "possible",
                         EPOCHS_MOST, BATCHES_MOST, RESTARTS_MOST);
    }
    if (!fits(options->rate, 0, 10) || !fits(options->smoothing, 0, 1) ||
        !(options->decay < 1e6) || !(options->marginal < 1e6) ||
        !(options->entropy < 1e6) || !fits(options->bootstrap, 0, 1) ||
        !(options->validation < 0.9)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a rate, a decay, a smoothing, a weight or a share "
                         "for validation is out of range");
    }
    if (options->entropy > 0 &&
        options->objective != SOTTO_OBJECTIVE_MARGINAL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a weight for the entropy belongs to the objective "
                         "marginal");
    }
    setting.epochs = options->epochs > 0 ? options->epochs : setting.epochs;
    setting.rate = options->rate > 0 ? options->rate : setting.rate;
    setting.decay = options->decay >= 0 ? options->decay : setting.decay;
    setting.marginal = options->balanced ? BALANCED : setting.marginal;
    setting.marginal =
        options->marginal >= 0 ? options->marginal : setting.marginal;
    setting.entropy =
        options->entropy >= 0 ? options->entropy : setting.entropy;
    setting.batches = options->batches > 0 ? options->batches : setting.batches;
    setting.restarts =
        options->restarts > 0 ? options->restarts : setting.restarts;
    setting.smoothing =
        options->smoothing > 0 ? options->smoothing : setting.smoothing;
    if (options->validation != 0) {
        setting.validation = options->validation > 0 ? options->validation : 0;
    }
    *ret_setting = setting;
    return SOTTO_STATUS_OK;
}
