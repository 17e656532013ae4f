/*
 * enumerate.h: the true epsilon of a sampler, by taking its every branch.
 *
 * The attack runs the sampler that ships over a tape (tape.h) for a set of
 * points of its domain, adds up the exact probability of every report, and
 * compares: the ratios with e^epsilon, as integers; the probabilities with the
 * channel's own `log p`; the draws with each other (invariant 7). Nothing in
 * it is a statistic.
 */
#ifndef SOTTO_PRIVACY_ENUMERATE_H
#define SOTTO_PRIVACY_ENUMERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "likelihood/likelihood.h"
#include "sotto/sotto.h"

/* What was enumerated. */
enum enumerate_scope {
    ENUMERATE_NOTHING = 0,
    ENUMERATE_SMALLER = 1,    /* the same channel and budget, fewer points */
    ENUMERATE_COORDINATE = 2, /* one coordinate of the domain, whole */
    ENUMERATE_WHOLE = 3       /* the domain as it is */
};

struct enumerate_result {
    enum enumerate_scope scope;
    uint32_t size, rows, l; /* of the largest domain enumerated */
    uint64_t points, reports, branches;
    bool within;  /* no ratio above e^epsilon (and delta), compared exactly */
    double eps;   /* the largest ln ratio; for an approximate channel the
                     epsilon at which the stated delta is met */
    double delta; /* approximate: the exact delta at the stated epsilon */
    double log_p_error; /* the largest |ln p - log p| / max(1, |ln p|) */
    char fault[160];    /* what a sampler may not do at all; "" if nothing */
};

/* A channel, its budget and its domain (channel_init). */
struct enumerate_request {
    const struct channel *channel;
    const struct likelihood *likelihood;
    uint32_t size, rows, l;
    uint64_t eps, delta;
    uint64_t branches_most;
    void (*step)(void *context, uint64_t branches); /* may be NULL */
    void *context;
};

/*
 * Enumerates the channel on its domain, or on the largest smaller ones that
 * take at most `branches_most` branches. `step` is told the branches done now
 * and then. Statuses: MEMORY, and channel_init's.
 */
SOTTO_CHECKED enum sotto_status
enumerate_channel(const struct enumerate_request *request,
                  struct enumerate_result *ret_result, struct sotto_error *err);

#endif
