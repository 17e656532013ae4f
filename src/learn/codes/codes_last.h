/*
 * codes_last.h: the last fit: a network on the record itself, from the weights
 * of the encoder and of the network on z (docs/codebook.md).
 *
 *     x --the encoder's layers--> z --the network--> p(y | x)      all trained
 *
 *                    labels by leaves              labels by codes
 *     first half     tau of the record's leaf      the network, weighed
 *     second half    p(y | x), scaled              p(y | x), weighed
 *                                                  (targets.h)
 *
 * Codes stay what the mechanism's own encoder gives: reports are about those.
 */
#ifndef SOTTO_LEARN_CODES_LAST_H
#define SOTTO_LEARN_CODES_LAST_H

#include "learn/codes/codes_model.h"
#include "mechanism/decompose.h"

/* The auxiliary records that it is fitted to. */
struct codes_last {
    const size_t *row;    /* of the job's table */
    const uint32_t *code; /* the first book's */
    float *target;        /* rows of classes: tau of the leaf; overwritten */
    struct codes *codes;  /* the reports; NULL: labels were learnt by leaves */
    size_t n;
};

/* Refuses a last fit that was asked for and cannot be made. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
codes_last_check(const struct sotto_model *model, const struct learn_job *job,
                 struct sotto_error *err);
/* How many epochs it has: as asked for; else 8 for images whose reports tell
   enough, and none for others. Public facts decide: how many reports, by which
   channel. */
uint32_t codes_last_epochs(const struct sotto_model *model,
                           const struct learn_job *job);

/* Sets the model's `last`, and tau_bar by it. Statuses: MEMORY, LIMIT, STOPPED,
   INPUT. */
SOTTO_CHECKED enum sotto_status codes_last_fit(struct sotto_model *model,
                                               const struct learn_job *job,
                                               const struct codes_last *records,
                                               uint32_t epochs,
                                               struct sotto_error *err);

/* Makes the model's `last` of layers. Statuses: those of sending_write. */
SOTTO_CHECKED enum sotto_status codes_last_set(struct sotto_model *model,
                                               const struct device_net *net,
                                               struct sotto_error *err);

#endif
