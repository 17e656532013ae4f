/*
 * demo_settings.c: the numbers behind the demo, in one place.
 */
#include <math.h>

#include "demo/demo.h"

const char *const demo_learner_name[DEMO_LEARNERS] = {"codes", "numbers",
                                                      "plain"};
const char *const demo_kind_name[2] = {"codes", "numbers"};

static const struct demo_effort efforts[] = {
    {.eps = "4,2,1",
     .epochs = 45,
     .numbers_epochs = 60,
     .fit_epochs = 30,
     .restarts = 2,
     .prior = 1500,
     .particles = 64,
     .devices = 900},
    {.eps = "4",
     .epochs = 1,
     .numbers_epochs = 2,
     .fit_epochs = 5,
     .restarts = 1,
     .prior = 300,
     .particles = 8,
     .devices = 90},
};

/* Shares, decay and entropy as the experiment on MNIST has them. */
static const struct demo_setting settings[] = {
    {.eps = 10, .lambda = 0.7, .decay = 0.3, .entropy = 0.06},
    {.eps = 8, .lambda = 0.6, .decay = 0.3, .entropy = 0.05},
    {.eps = 6, .lambda = 0.55, .decay = 0.3, .entropy = 0.03},
    {.eps = 4, .lambda = 0.45, .decay = 0.5, .entropy = 0.01},
    {.eps = 2, .lambda = 0.45, .decay = 1, .entropy = 0},
    {.eps = 1, .lambda = 0.5, .decay = 1, .entropy = 0},
};

const struct demo_effort *
demo_effort(bool quick)
{
    return &efforts[quick ? 1 : 0];
}

const struct demo_setting *
demo_setting(double eps)
{
    const struct demo_setting *nearest = &settings[0];
    for (size_t i = 1; i < sizeof settings / sizeof *settings; i++) {
        if (fabs(log(settings[i].eps / eps)) < fabs(log(nearest->eps / eps))) {
            nearest = &settings[i];
        }
    }
    return nearest;
}

const struct demo_budget *
demo_headline(const struct demo *demo)
{
    const struct demo_budget *best = &demo->budget[0];
    for (size_t i = 1; i < demo->budgets; i++) {
        if (fabs(log(demo->budget[i].eps / 2)) < fabs(log(best->eps / 2))) {
            best = &demo->budget[i];
        }
    }
    return best;
}
