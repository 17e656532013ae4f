/*
 * experiment.h: what an experiment is to the machinery that runs it.
 *
 *     options --resolve--> run --open--> state
 *     for eps, trial, draw:   the row store has it | fit(state, ...)
 *     for eps:                the mean, and the result files
 *
 * An experiment is one struct experiment in its own file and one row in
 * experiment.c. It knows its data, its mechanisms and its settings; keys, rows,
 * caches, means, tables and plots are the machinery's.
 */
#ifndef SOTTO_EXPERIMENT_EXPERIMENT_H
#define SOTTO_EXPERIMENT_EXPERIMENT_H

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
    const char *mechanism, *level;
    const struct sotto_experiment_options *options;
    double aux_share;
    uint32_t trials, draws;
    char *folder;
    struct sotto_watch watch; /* names the fit, too */
};

struct experiment {
    const char *name;
    const char *about; /* a sentence for the table: data and splits */
    const char *help;  /* what it is, and its mechanisms, in lines */
    const char *const *mechanisms; /* ends with NULL */
    double aux_share, aux_share_most;
    /* The settings of a mechanism at an epsilon, as text without quotes or line
       breaks: with the key's other fields it decides a row. */
    void (*setting)(const struct experiment_run *run, double eps,
                    char text[EXPERIMENT_SETTING_SIZE]);
    /* Finds the data and takes its hash; reads no more than that needs.
       Statuses: INPUT, IO, MEMORY. */
    enum sotto_status (*open)(const struct experiment_run *run,
                              void **ret_state,
                              char ret_hash[EXPERIMENT_HASH_SIZE],
                              struct sotto_error *err);
    /* One fit. `ret_outcome` is zeroed before. Statuses: INPUT, IO, MEMORY,
     * STOPPED and others. */
    enum sotto_status (*fit)(void *state, const struct experiment_run *run,
                             const struct experiment_fit *fit,
                             struct experiment_outcome *ret_outcome,
                             struct sotto_error *err);
    void (*close)(void *state);
};

extern const struct experiment experiment_mnist_collection;
extern const struct experiment experiment_mnist_novel;
extern const struct experiment experiment_mnist_private;

/* An epsilon as decimal text, "none" for INFINITY. */
void experiment_eps_text(double eps, char text[EXPERIMENT_EPS_SIZE]);

/* SHA-256 of bytes as hexadecimal text. */
void experiment_hash(const void *data, size_t size,
                     char ret_hash[EXPERIMENT_HASH_SIZE]);

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

/* Makes a folder and those above it. Statuses: IO, MEMORY. */
enum sotto_status experiment_make_folder(const char *path,
                                         struct sotto_error *err);

#endif
