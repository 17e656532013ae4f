/*
 * clm_peer.h: the training step of clm_step.h in PyTorch.
 */
#ifndef SOTTO_BENCH_CLM_PEER_H
#define SOTTO_BENCH_CLM_PEER_H

#include "bench/clm_step.h"
#include "bench/peer.h"

#define CLM_PEER_WAYS ((size_t)2 * PEER_SETTINGS)

struct clm_peer {
    struct peer *child[PEER_SETTINGS];
    size_t settings;        /* for threads, that are tried */
    size_t ways;            /* those, times the layouts of images */
    struct peer_file start; /* what they begin with */
};

/* Starts a child for each of the first `settings`, with the step's weights and
   records as they are. Stop it in any case. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status clm_peer_start(struct clm_peer *peer,
                                               const struct clm_step *step,
                                               size_t settings,
                                               struct sotto_error *err);
void clm_peer_stop(struct clm_peer *peer);

/* Whether each way came, like clm_step_try with CLM_TRIED records, to `loss`.
   Statuses: CHECK (one did not), IO. */
SOTTO_CHECKED enum sotto_status
clm_peer_check(struct clm_peer *peer, double loss, struct sotto_error *err);

/* As vlm_peer_run. Statuses: IO. */
SOTTO_CHECKED enum sotto_status clm_peer_run(struct clm_peer *peer, size_t way,
                                             size_t n, size_t steps,
                                             struct peer_result *ret_result,
                                             struct sotto_error *err);

#endif
