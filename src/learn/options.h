/*
 * options.h: what can be said of a fit, as learners take it, the settings that
 * say it, and what is chosen where they do not.
 */
#ifndef SOTTO_LEARN_OPTIONS_H
#define SOTTO_LEARN_OPTIONS_H

#include "host/settings.h"
#include "sotto/sotto.h"

struct learner;

#define LEARN_LAST_CHOSEN UINT32_MAX /* `last` is left to be chosen */

struct learn_options {
    const char *learner; /* NULL: the first that takes the mechanism */
    enum sotto_objective objective;
    enum sotto_level level;
    const uint32_t *hidden; /* layers; NULL: one of 50 */
    size_t hiddens;
    bool linear;         /* no hidden layer */
    bool other;          /* labels may be none of the mechanism's categories:
                            "(other)" is a class, too */
    bool balanced;       /* classes are known to be equally frequent: that is
                            the share that `marginal` holds them to; if it is
                            negative, with a weight of 0.1 */
    bool shifted;        /* codebooks alone: the people's codes have other
                            shares than the auxiliary records', and those are
                            estimated as well */
    uint32_t epochs;     /* 0: chosen from the objective */
    double rate;         /* 0: likewise */
    double decay;        /* weight decay; negative: likewise */
    double validation;   /* share of the reports that only score, 0: 0.1;
                            negative: none */
    uint32_t prior_most; /* prior points to use, drawn by lot; 0: all whose
                          weights fit in 2 GB */
    uint32_t particles;  /* codebooks alone: that labels of leaves are learnt
                            with; 0: chosen */
    uint32_t batches;    /* steps an epoch, 0: chosen */
    uint32_t restarts; /* models whose probabilities are averaged, 0: chosen */
    double smoothing;  /* of what a label report says, towards saying nothing:
                          0 to 1; 0: none */
    double marginal;   /* weight of the divergence of the model's share of each
                          class from the label reports'; 0: none; negative:
                          chosen */
    double entropy;    /* MARGINAL alone: weight of the entropy of p(class |
                          point), so that boundaries run where few records
                          are; negative: chosen */
    double bootstrap;  /* all networks but the first weigh the reports by lot:
                          1 + bootstrap (e - 1), e exponential with mean 1:
                          candidates to choose from; 0 to 1, 0: all alike */
    double views;      /* record alone: strength of the images' distortions */
    uint32_t last;     /* codebooks alone: epochs of a last fit, on the
                          auxiliary records themselves; 0: none */
    uint32_t features; /* regression alone: terms that are no line */
    uint64_t seed;
    unsigned threads;
    struct sotto_watch watch;
    /* what the settings of these names fill */
    const char *objective_word, *level_word;
    struct setting_list hidden_list;
    /* what learn_options_settle sets, beside what was left to be chosen */
    uint32_t patience; /* epochs without a better validation score */
    uint32_t batch;    /* reports in a step, if `batches` is 0 */
    double floor;      /* the share of the rate that is left at the end */
};

/* What objectives and levels are called, in their order, with NULL behind. */
extern const char *const learn_objectives[], *const learn_levels[];
/* Finds a word, which may be NULL, on its list; SIZE_MAX: it is not there. */
size_t learn_word(const char *word, const char *const *list);

/* Reads the settings of a learner. `ret_options` has pointers into itself and
   into `from`: it must not move. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
learn_options_read(const struct learner *learner,
                   const struct sotto_fit_options *from,
                   struct learn_options *ret_options, struct sotto_error *err);

/* Checks the rules between settings. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
learn_options_check(const struct learn_options *options,
                    struct sotto_error *err);
/* Chooses what is left to be chosen, for an objective at a budget of eps_y for
   the label: INFINITY for clean records. */
struct learn_options learn_options_settle(const struct learn_options *options,
                                          double eps_y);

/* A row of a learner's table. */
#define LEARN_SETTING(name_, kind_, field, low_, high_, initial_, help_)       \
    {                                                                          \
        .name = (name_), .kind = (kind_),                                      \
        .offset = offsetof(struct learn_options, field), .low = (low_),        \
        .high = (high_), .initial = (initial_), .help = (help_)                \
    }
#define LEARN_WORD(name_, field, initial_, help_, words)                       \
    {                                                                          \
        .name = (name_), .kind = SETTING_WORD,                                 \
        .offset = offsetof(struct learn_options, field),                       \
        .initial = (initial_), .help = (help_), .value = (words)               \
    }

/* The rows that every learner of ours has. */
#define LEARN_SETTINGS                                                         \
    LEARN_WORD("objective", objective_word, "marginal",                        \
               "marginal: over the noise of record and label;\n"               \
               "label: over the label's alone; plain: as if there\n"           \
               "were none",                                                    \
               "marginal|label|plain"),                                        \
        LEARN_WORD("level", level_word, "latent",                              \
                   "latent: representations are classified; feature:\n"        \
                   "records",                                                  \
                   "latent|feature"),                                          \
        LEARN_SETTING("hidden", SETTING_LIST, hidden_list, 1, 65536, NULL,     \
                      "units of the hidden layers (50)"),                      \
        LEARN_SETTING("linear", SETTING_FLAG, linear, 0, 0, NULL,              \
                      "no hidden layer"),                                      \
        LEARN_SETTING("other", SETTING_FLAG, other, 0, 0, NULL,                \
                      "learn one more class, for missing or unknown labels;\n" \
                      "always so where the label has one category only"),      \
        LEARN_SETTING("epochs", SETTING_WHOLE, epochs, 1, 100000, NULL,        \
                      "at most; else chosen from the budget"),                 \
        LEARN_SETTING("rate", SETTING_NUMBER, rate, 1e-9, 10, NULL,            \
                      "Adam's; else likewise"),                                \
        LEARN_SETTING("decay", SETTING_NUMBER, decay, 0, 1000, NULL,           \
                      "weight decay; else likewise"),                          \
        LEARN_SETTING("batches", SETTING_WHOLE, batches, 1, 100000, NULL,      \
                      "steps an epoch; else likewise"),                        \
        LEARN_SETTING("restarts", SETTING_WHOLE, restarts, 1, 32, NULL,        \
                      "networks whose answers are averaged (1)"),              \
        LEARN_SETTING("validation", SETTING_NUMBER, validation, 0, 0.8, "0.1", \
                      "share of the reports that only score, 0: none"),        \
        LEARN_SETTING("prior-most", SETTING_WHOLE, prior_most, 1, 1e9, NULL,   \
                      "use at most N points of the prior (all, or what\n"      \
                      "fits in 2 GB)"),                                        \
        LEARN_SETTING("seed", SETTING_SEED, seed, 0, 0, "0",                   \
                      "the same seed, the same model")

#endif
