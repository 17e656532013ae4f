/*
 * trial_settings.h: the numbers behind an experiment: a data set has them, in a
 * table of encoders and one of fits.
 */
#ifndef SOTTO_EXPERIMENT_TRIAL_SETTINGS_H
#define SOTTO_EXPERIMENT_TRIAL_SETTINGS_H

#include "experiment/data_set.h"
#include "learn/learner.h"

/* How a mechanism is trained, and used at a budget. */
struct trial_encoder {
    const char *mechanism;
    double eps;    /* INFINITY: none */
    double lambda; /* the record's share of epsilon */
    const char *label_channel;
    const char *kind;     /* of sotto_train */
    const char *settings; /* of that kind: "d=8 l=10"; a flag is its name */
};

#define TRIAL_SETS_MAX 16u

/* The settings as sotto_train takes them; they point into it. */
struct trial_sets {
    struct sotto_setting set[TRIAL_SETS_MAX + 4]; /* room for a few more */
    size_t sets;
    char text[256], epochs[16];
};

/* How a classifier learns from its reports: what learn_options say; 0, or
   a negative number where 0 means something, leaves it to the learner. */
struct trial_fit {
    const char *mechanism; /* NULL: any */
    double eps;            /* INFINITY: none */
    enum sotto_level level;
    uint32_t epochs;
    double rate;
    double decay; /* negative */
    size_t prior_most;
    uint32_t batches, restarts;
    double smoothing;
    double marginal;     /* negative */
    double entropy;      /* negative */
    uint32_t candidates; /* of which a tenth of the people choose one, and do
                            not report; 0 or 1: all report */
    double bootstrap;    /* how much they vary */
    bool eq12;           /* latent: label noise alone, as of records */
};

/* The settings for the listed epsilon nearest (in its logarithm) to `eps`;
   "none" is near to nothing else. */
const struct trial_encoder *trial_encoder_find(const struct data_set *set,
                                               const char *mechanism,
                                               double eps);
const struct trial_fit *trial_fit_find(const struct data_set *set,
                                       const char *mechanism,
                                       enum sotto_level level, double eps);

/* What a fit is asked for: the objective, too; seed, threads and watch are the
   caller's. */
struct learn_options trial_fit_options(const struct trial_fit *fit, double eps);

/*
 * Both as text: they decide a row. `epochs` replaces the encoder's if not 0. A
 * fit's numbers are those that the learner would use, its own defaults
 * included: where those change, the row is another.
 */
void trial_setting_text(const struct trial_encoder *encoder,
                        const struct trial_fit *fit, double eps,
                        uint32_t epochs, char text[EXPERIMENT_SETTING_SIZE]);

/* What decides how many codes there are, and by which channel they go: at an
   epsilon, simulated collections from all people of the split, so that their
   number is not in the text. */
struct trial_code {
    double eps; /* INFINITY: none, as many codes as classes */
    size_t classes;
    bool label;   /* the report is of code and label together */
    size_t k;     /* 0: chosen; else as many codes through subset */
    bool shifted; /* people differ from the auxiliary images */
};
void trial_code_text(const struct trial_code *code,
                     char text[EXPERIMENT_SETTING_SIZE]);

/* Of a fit from codes, all of it. */
void trial_codes_setting_text(const struct trial_encoder *encoder,
                              const struct trial_code *code, uint32_t epochs,
                              char text[EXPERIMENT_SETTING_SIZE]);
/* What a fit from codes is asked for. */
struct learn_options trial_codes_fit_options(double eps);

/* The encoder's settings; `epochs` replaces its own if not 0. */
void trial_encoder_sets(const struct trial_encoder *encoder, uint32_t epochs,
                        struct trial_sets *ret_sets);
/* The part of it that decides a trained encoder: neither the budget nor how
   it is learnt from. */
void trial_encoder_text(const struct trial_encoder *encoder, uint32_t epochs,
                        char text[EXPERIMENT_SETTING_SIZE]);

#endif
