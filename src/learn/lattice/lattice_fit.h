/*
 * lattice_fit.h: what a lattice's fit has at hand, and how its inputs are made.
 *
 *     reports -> labels, plan        lattice_take_reports
 *     prior   -> points, x           lattice_take_prior       MARGINAL
 *     reports -> posterior           lattice_weigh_reports    MARGINAL
 *     reports -> x                   lattice_take_estimates   otherwise
 *     records -> labels, plan, x     lattice_take_table       clean ones
 *
 * Each leaves what it made in the struct also where it fails; lattice_fit.c
 * clears it.
 */
#ifndef SOTTO_LEARN_LATTICE_FIT_H
#define SOTTO_LEARN_LATTICE_FIT_H

#include "learn/lattice/lattice.h"
#include "learn/lattice/marginal.h"
#include "learn/supervision.h"

struct lattice_fit {
    struct sotto_model *model;
    const struct learn_job *job;
    const struct prior_shape *shape; /* the model's */
    size_t in;                       /* entries of an input */
    struct supervision learnt;
    const uint8_t **report; /* in the order of the plan */
    size_t reports;
    struct prior prior;
    int32_t *point;
    size_t points;
    struct posterior *posterior;
    struct marginal marginal;
    struct sotto_fit_info info;
};

/* Takes what each report says of its class, and their order. Statuses: MEMORY
   and those of labels_init and plan_init. */
SOTTO_CHECKED enum sotto_status lattice_take_reports(struct lattice_fit *fit,
                                                     struct sotto_error *err);

/* Checks that there are some, without a report. Statuses: USAGE, INPUT. */
SOTTO_CHECKED enum sotto_status
lattice_check_prior(const struct sotto_mechanism *mechanism,
                    const struct learn_job *job, struct sotto_error *err);

/* Takes where records may be: points from the job's table if it is not NULL,
   else from its analyst file. After lattice_take_reports. Statuses: USAGE,
   INPUT, MEMORY, STOPPED. */
SOTTO_CHECKED enum sotto_status lattice_take_prior(struct lattice_fit *fit,
                                                   struct sotto_error *err);

/* Weighs where each report's record may be. After lattice_take_prior.
   Statuses: MEMORY, STOPPED and those of posterior_new. */
SOTTO_CHECKED enum sotto_status lattice_weigh_reports(struct lattice_fit *fit,
                                                      struct sotto_error *err);

/* Takes z~ / l of every report, decoded for the feature level. After
   lattice_take_reports. Statuses: USAGE, INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status lattice_take_estimates(struct lattice_fit *fit,
                                                       struct sotto_error *err);

/* Takes the job's records with a known class, as they are. Statuses: MEMORY,
   INPUT, STOPPED. */
SOTTO_CHECKED enum sotto_status lattice_take_table(struct lattice_fit *fit,
                                                   struct sotto_error *err);

#endif
