/*
 * clm_peer.h: the training step of clm_step.h in PyTorch.
 */
#ifndef SOTTO_BENCH_CLM_PEER_H
#define SOTTO_BENCH_CLM_PEER_H

#include "bench/clm_step.h"
#include "bench/peers.h"

/* Starts a child for each of the first `settings`, with the step's weights and
   records as they are. Stop it in any case. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status clm_peer_start(struct peers *peer,
                                               const struct clm_step *step,
                                               size_t settings,
                                               struct sotto_error *err);

#endif
