/*
 * vlm_peer.h: the training step of vlm_step.h in PyTorch.
 */
#ifndef SOTTO_BENCH_VLM_PEER_H
#define SOTTO_BENCH_VLM_PEER_H

#include "bench/peer.h"
#include "bench/vlm_step.h"

#define VLM_PEER_WAYS ((size_t)2 * PEER_SETTINGS)

struct vlm_peer {
    struct peer *child[PEER_SETTINGS];
    size_t settings;        /* for threads, that are tried */
    size_t ways;            /* those, times the ways to keep parameters */
    struct peer_file start; /* what they begin with */
};

/* Starts a child for each of the first `settings`, with the step's weights and
   records as they are. Stop it in any case. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status vlm_peer_start(struct vlm_peer *peer,
                                               const struct vlm_step *step,
                                               size_t settings,
                                               struct sotto_error *err);
void vlm_peer_stop(struct vlm_peer *peer);

/* Whether each way came, like vlm_step_try, to `loss`. Statuses: CHECK (one
   did not), IO. */
SOTTO_CHECKED enum sotto_status
vlm_peer_check(struct vlm_peer *peer, double loss, struct sotto_error *err);

/* `steps` steps at batches of n, or half a second of them, after one that is
   not timed: the seconds of one, and the memory. None: the loss in `value`.
   Statuses: IO. */
SOTTO_CHECKED enum sotto_status vlm_peer_run(struct vlm_peer *peer, size_t way,
                                             size_t n, size_t steps,
                                             struct peer_result *ret_result,
                                             struct sotto_error *err);

#endif
