/*
 * sotto/tuning.h: choosing settings by private answers alone: a grid of
 * candidates, successive halving, and a last estimate from people whom the
 * choice never asked.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one. docs/validation.md says what is promised.
 */
#ifndef SOTTO_TUNING_H
#define SOTTO_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/fitting.h"
#include "sotto/mechanisms.h"
#include "sotto/tables.h"
#include "sotto/work.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SOTTO_TUNE_CANDIDATES_MAX 64u
#define SOTTO_TUNE_MECHANISMS_MAX 16u
#define SOTTO_TUNE_GRIDS_MAX 8u

/* ---- A plan ---------------------------------------------------------------
 */

/*
 * A candidate is a mechanism with settings of the learner. Each person has one
 * place, by a keyed hash of what they are called, which never changes:
 *
 *     train      reports by one of the mechanisms
 *     round r    answers about one of the candidates that are left
 *     final      answers about the winner
 *
 *     sotto_tune_new(&options, &tune, &err);
 *     train, then:  sotto_tune_learnt(tune, 0, reports); ...
 *                   sotto_tune_next(tune, &err);
 *     each round:   sotto_tune_answered(tune, candidate, &right); ...
 *                   sotto_tune_next(tune, &err);
 */
struct sotto_tune;

struct sotto_tune_options {
    struct sotto_mechanism *const *mechanism; /* of one campaign */
    const char *const *path;                  /* what each is called */
    size_t mechanisms;
    const struct sotto_setting *grid; /* of the learner: "10,20,40" for each */
    size_t grids;
    const char *learner; /* NULL: the first that takes the mechanism */
    const char *eps;     /* of a question, decimal text */
    double train, final; /* shares of people; the rest chooses. More than 0,
                            below 1 together */
};

/* Makes a plan, with a key from the system. Refuses what no device could be
   asked about before anybody reports for it. Statuses: USAGE, BUDGET, INPUT
   (two campaigns; no label), ENTROPY, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_tune_new(const struct sotto_tune_options *options,
               struct sotto_tune **ret_tune, struct sotto_error *err);
/* A plan and how far it is, in a file that only its owner may read: with its
   key and a name one could tell what somebody was asked. Statuses: IO, LIMIT,
   FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status sotto_tune_write(const struct sotto_tune *tune,
                                                 const char *path,
                                                 struct sotto_error *err);
SOTTO_CHECKED enum sotto_status sotto_tune_read(const char *path,
                                                struct sotto_tune **ret_tune,
                                                struct sotto_error *err);
void sotto_tune_free(struct sotto_tune *tune);

/* ---- Where it stands ------------------------------------------------------
 */

enum sotto_tune_stage {
    SOTTO_TUNE_TRAIN = 0,
    SOTTO_TUNE_ROUND = 1,
    SOTTO_TUNE_FINAL = 2,
    SOTTO_TUNE_DONE = 3
};

/* Texts are the plan's. */
struct sotto_tune_info {
    enum sotto_tune_stage stage;
    size_t round, rounds; /* from 1; 0 before the first */
    size_t mechanisms, candidates;
    size_t questions; /* that are asked at this stage */
    size_t winner;    /* from FINAL on */
    const char *eps, *campaign, *learner;
    double train, final;
    struct sotto_right right; /* DONE: the last estimate */
};
void sotto_tune_info(const struct sotto_tune *tune,
                     struct sotto_tune_info *ret_info);

struct sotto_tune_mechanism {
    const char *path, *hash, *eps;
    size_t reports; /* learnt from */
};
void sotto_tune_mechanism(const struct sotto_tune *tune, size_t i,
                          struct sotto_tune_mechanism *ret_mechanism);

struct sotto_tune_candidate {
    size_t mechanism;
    const struct sotto_setting *set;
    size_t sets;
    bool left;                /* not dropped yet */
    struct sotto_right right; /* all its answers so far; 0 reports: none */
};
void sotto_tune_candidate(const struct sotto_tune *tune, size_t i,
                          struct sotto_tune_candidate *ret_candidate);

/* What is asked at this stage. */
struct sotto_tune_question {
    char name[32];    /* "train-1", "round1-03", "final" */
    size_t mechanism; /* TRAIN: which reports */
    size_t candidate; /* else: which is asked about */
};
void sotto_tune_question(const struct sotto_tune *tune, size_t i,
                         struct sotto_tune_question *ret_question);

/* Which of the stage's questions a person is asked, SIZE_MAX: none, now. A
   name is compared byte by byte. */
size_t sotto_tune_place(const struct sotto_tune *tune, const void *person,
                        size_t size);

/* ---- Going on -------------------------------------------------------------
 */

/* Makes the question about a candidate's model: for the rounds, or in FINAL
   another, whose answers are told apart. The campaign is the models', so that a
   ledger lets nobody answer twice, nor who has reported. Statuses: USAGE (a
   model with several networks) and those of sotto_model_mechanism_right. */
SOTTO_CHECKED enum sotto_status
sotto_tune_ask(const struct sotto_tune *tune, size_t candidate,
               const struct sotto_model *model, const char *path,
               struct sotto_mechanism **ret_mechanism, struct sotto_error *err);
/* INPUT, with what differs, unless this is the plan's question about a
   candidate at this stage: its epsilon, its campaign, its name. What is told of
   a plan, the plan says; so other answers than to its questions do not count.
 */
SOTTO_CHECKED enum sotto_status
sotto_tune_check(const struct sotto_tune *tune, size_t candidate,
                 const struct sotto_mechanism *mechanism,
                 struct sotto_error *err);
/* Notes what was learnt from, and what a candidate's answers say, of all rounds
   so far together; in FINAL the winner's last ones alone. */
void sotto_tune_learnt(struct sotto_tune *tune, size_t mechanism,
                       size_t reports);
void sotto_tune_answered(struct sotto_tune *tune, size_t candidate,
                         const struct sotto_right *right);
/* Ends the stage: behind a round the worse half is dropped. Statuses: INPUT
   (nobody reported, or nobody new answered), USAGE (all is done). */
SOTTO_CHECKED enum sotto_status sotto_tune_next(struct sotto_tune *tune,
                                                struct sotto_error *err);

/* ---- Simulated ------------------------------------------------------------
 */

/*
 * All of it on a curator's table, for planning: half of the rows, by lot, play
 * those who report, the others those who answer; people are drawn from them
 * with replacement, by the plan's places.
 */
struct sotto_tune_simulation;

struct sotto_tune_people {
    const struct sotto_table *table;      /* records with labels */
    const struct sotto_table *aux;        /* the prior; or NULL */
    struct sotto_analyst *const *analyst; /* of each mechanism, NULL: none */
    size_t people;                        /* in all; at least one */
    uint64_t seed;
    unsigned threads;
    struct sotto_watch watch;
};

/* Lets people report and trains every candidate. Statuses: those of
   sotto_tune_new and sotto_fit; INPUT (too few rows or people). */
SOTTO_CHECKED enum sotto_status
sotto_tune_simulation_new(const struct sotto_tune_options *options,
                          const struct sotto_tune_people *people,
                          struct sotto_tune_simulation **ret_simulation,
                          struct sotto_error *err);
void sotto_tune_simulation_free(struct sotto_tune_simulation *simulation);
/* The share of the answering rows about which a candidate is right: what an
   oracle sees. */
double
sotto_tune_simulation_clean(const struct sotto_tune_simulation *simulation,
                            size_t candidate);

struct sotto_tune_outcome {
    size_t winner;
    double clean;             /* the winner's */
    double best;              /* the oracle's */
    struct sotto_right won;   /* what the winner's rounds say; too good. 0
                                 reports: there was nothing to choose */
    struct sotto_right final; /* what others say */
    size_t choosing;          /* people who chose */
    size_t reports;           /* people who reported */
};
/* Asks: rounds and final, with new people and noise for each seed. `ret_tune`,
   unless NULL, is the plan behind it, which the caller frees. Statuses: INPUT
   (too few people), MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_tune_simulation_run(const struct sotto_tune_simulation *simulation,
                          uint64_t seed, struct sotto_tune_outcome *ret_outcome,
                          struct sotto_tune **ret_tune,
                          struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
