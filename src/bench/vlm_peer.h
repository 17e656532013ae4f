/*
 * vlm_peer.h: the training step of vlm_step.h in PyTorch.
 */
#ifndef SOTTO_BENCH_VLM_PEER_H
#define SOTTO_BENCH_VLM_PEER_H

#include "bench/peers.h"
#include "bench/vlm_step.h"

/* Starts a child for each of the first `settings`, with the step's weights and
   records as they are. Stop it in any case. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status vlm_peer_start(struct peers *peer,
                                               const struct vlm_step *step,
                                               size_t settings,
                                               struct sotto_error *err);

#endif
