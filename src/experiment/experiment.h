/*
 * experiment.h: what an experiment is to the machinery that runs it.
 *
 *     options --resolve--> run --trial_open--> trial
 *     for eps, trial, draw:   the row store has it | trial_run(trial, ...)
 *     for eps:                the mean, and the result files
 *
 * An experiment is one struct experiment in its data set's file in tables/, and
 * one row in registry.c. It says what is collected from whom (its data set
 * and protocol), with which mechanisms, and what the papers reached; keys,
 * rows, caches, means, tables and plots are the machinery's. One that measures
 * a loss and no accuracy has a `study` in place of data set, protocol, classes
 * and papers (study.h).
 */
#ifndef SOTTO_EXPERIMENT_EXPERIMENT_H
#define SOTTO_EXPERIMENT_EXPERIMENT_H

#include "experiment/papers.h"
#include "sotto/sotto.h"

#define EXPERIMENT_SETTING_SIZE 384u
#define EXPERIMENT_NOTE_SIZE 96u
#define EXPERIMENT_EPS_SIZE 24u
#define EXPERIMENT_HASH_SIZE 65u /* SHA-256 as hexadecimal text */
#define EXPERIMENT_EPS_MOST 64u

/* What one row is made of: nothing else may decide its accuracy. */
struct experiment_fit {
    double eps; /* INFINITY: none */
    uint32_t trial, draw;
};

/* What it came to. */
struct experiment_outcome {
    double accuracy;
    /* What was found on the way and decides nothing: no quotes or line breaks;
       "" if there is nothing to say. */
    char note[EXPERIMENT_NOTE_SIZE];
};

/* A run with every option decided. */
struct experiment_run {
    const struct experiment *experiment;
    const struct experiment_mechanism *mechanism;
    const char *level;
    const struct sotto_experiment_options *options;
    double aux_share;
    uint32_t trials, draws;
    char *folder;
    struct sotto_watch watch; /* names the fit, too */
};

/* What a mechanism does besides what its settings say. */
enum experiment_how {
    EXPERIMENT_CODES =
        1, /* reports codes, cut from that encoder without noise */
    EXPERIMENT_FLOATS = 2, /* has noise in floating point, to compare with */
    EXPERIMENT_LABELS = 4, /* novel: everyone's label is private, too */
    EXPERIMENT_CLASS = 8,  /* private: reports the classifier's own class */
    EXPERIMENT_RAW = 16    /* a channel's: of what goes into the encoder */
};

struct experiment_mechanism {
    const char *name;
    const char *settings; /* the encoder of the data set that it is */
    unsigned how;         /* of enum experiment_how */
    const char *channel;  /* NULL; or it is that encoder's vectors as they are
                             through that channel, exact or idealised
                             (baseline.h) */
    /* What the project asks of itself, in percent, at the latent level and the
       usual auxiliary share; 0: nothing. */
    double reach[PAPERS_COLUMNS], small[PAPERS_SMALL];
    const char *beside; /* what must be said beside a comparison with the
                           papers; NULL: nothing */
};

struct study;

struct experiment {
    const char *name;
    const char *about; /* a sentence for the table: data and splits */
    const char *help;  /* what it is, and its mechanisms, in lines */
    const struct data_set *data;
    const struct protocol *protocol;
    const struct study *study; /* NULL: it is a campaign's accuracy */
    size_t classes;
    const char *novel; /* the class that no mechanism saw, against all others;
                          NULL: all were seen */
    const struct experiment_mechanism *mechanisms; /* ends without a name */
    double aux_share, aux_share_most;
    const struct papers_row *papers; /* ends without a name */
};

extern const struct experiment experiment_mnist_collection;
extern const struct experiment experiment_mnist_novel;
extern const struct experiment experiment_mnist_private;
extern const struct experiment experiment_task_theory;
extern const struct experiment experiment_task_power;
extern const struct experiment experiment_task_realestate;
extern const struct experiment experiment_task_cancer;
extern const struct experiment experiment_task_mnist;
extern const struct experiment experiment_eq13;

/* ---- registry.c -----------------------------------------------------------
 */

/* The experiment of that name; NULL: there is none. */
const struct experiment *experiment_find(const char *name);
/* The mechanism of that name; NULL: it has none. */
const struct experiment_mechanism *
experiment_mechanism_find(const struct experiment *experiment,
                          const char *name);

/* Refuses the name of an experiment, or of a mechanism of `of`, and lists what
   there is. */
enum sotto_status experiment_fail_name(const struct experiment *of,
                                       const char *name,
                                       struct sotto_error *err);

/* ---- experiment_base.c ----------------------------------------------------
 */

/* An epsilon as decimal text, "none" for INFINITY. */
void experiment_eps_text(double eps, char text[EXPERIMENT_EPS_SIZE]);

/* SHA-256 of bytes as hexadecimal text. */
void experiment_hash(const void *data, size_t size,
                     char ret_hash[EXPERIMENT_HASH_SIZE]);
/* The same of what a file holds, unpacked, so that packing it changes nothing.
   Statuses: IO, LIMIT, INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
experiment_hash_file(const char *path, char ret_hash[EXPERIMENT_HASH_SIZE],
                     struct sotto_error *err);

/*
 * A seed for one purpose of one fit: 64 bits of SHA-256 over all of it, so that
 * no two purposes, trials or draws share random numbers. For what does not
 * depend on draw or epsilon give 0.
 */
uint64_t experiment_seed(const char *purpose, uint64_t seed, uint32_t trial,
                         uint32_t draw, double eps);

/* The folder given, or the cache's experiments/ (NULL), made if it is not
   there; the caller frees its path. Statuses: IO, MEMORY. */
enum sotto_status experiment_folder(const char *given, char **ret_folder,
                                    struct sotto_error *err);
/* Takes the folder's lock; closing the descriptor gives it back, and so does
   the system, whatever ends the program. Statuses: IO (another run has it, or
   no lock can be made), MEMORY. */
enum sotto_status experiment_lock(const char *folder, int *ret_lock,
                                  struct sotto_error *err);

#endif
