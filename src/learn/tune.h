/*
 * tune.h: a plan of tuning, as its files see it.
 */
#ifndef SOTTO_LEARN_TUNE_H
#define SOTTO_LEARN_TUNE_H

#include "learn/right.h"
#include "sotto/tuning.h"

#define TUNE_KEY_SIZE 32u
#define TUNE_EPS_SIZE 32u
#define TUNE_HASH_SIZE 65u

struct tune_mechanism {
    char *path;
    char hash[TUNE_HASH_SIZE];
    char eps[TUNE_EPS_SIZE];
    size_t reports;
};

struct tune_candidate {
    size_t mechanism;
    struct sotto_setting set[SOTTO_TUNE_GRIDS_MAX]; /* texts are its own */
    size_t sets;
    struct sotto_right right;
    size_t before; /* of its answers, those of earlier rounds */
};

struct sotto_tune {
    uint8_t key[TUNE_KEY_SIZE];
    char eps[TUNE_EPS_SIZE];
    char *campaign;
    char *learner; /* NULL: the first that takes the mechanism */
    double train, final;
    struct tune_mechanism mechanism[SOTTO_TUNE_MECHANISMS_MAX];
    size_t mechanisms;
    struct tune_candidate candidate[SOTTO_TUNE_CANDIDATES_MAX];
    size_t candidates;
    enum sotto_tune_stage stage;
    size_t round;                            /* from 1 */
    size_t order[SOTTO_TUNE_CANDIDATES_MAX]; /* those left come first */
    size_t left;
    struct sotto_right right; /* the last estimate */
};

/* A person's one place. */
struct tune_place {
    enum sotto_tune_stage stage;
    size_t round; /* of ROUND: from 1 */
    size_t question;
};
struct tune_place tune_place(const struct sotto_tune *tune, const void *person,
                             size_t size);

/* tune_grid.c: every combination of the options' mechanisms and values.
   Statuses: USAGE, INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
tune_fill_candidates(struct sotto_tune *tune,
                     const struct sotto_tune_options *options,
                     struct sotto_error *err);

/* sotto_tune_new with this key. */
SOTTO_CHECKED enum sotto_status
tune_make(const struct sotto_tune_options *options,
          const uint8_t key[TUNE_KEY_SIZE], struct sotto_tune **ret_tune,
          struct sotto_error *err);

/* Asks simulated people, after TRAIN, of which row i of candidate c, `right`
   [c * rows + i], says whether it is right: all rounds, and last. */
SOTTO_CHECKED enum sotto_status tune_ask_all(struct sotto_tune *tune,
                                             const uint8_t *right, size_t rows,
                                             size_t people, uint64_t seed,
                                             struct sotto_error *err);

#endif
