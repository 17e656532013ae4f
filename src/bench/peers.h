/*
 * peers.h: several children that take the same training step: one for each
 * setting of threads, each in two ways.
 */
#ifndef SOTTO_BENCH_PEERS_H
#define SOTTO_BENCH_PEERS_H

#include "bench/peer.h"
#include "nn/graph.h"

#define PEERS_WAYS ((size_t)2 * PEER_SETTINGS)

struct peers {
    struct peer *child[PEER_SETTINGS];
    size_t settings;        /* for threads, that are tried */
    size_t ways;            /* those, times two */
    double agreed;          /* how far off a loss may be, as a share */
    struct peer_file start; /* what they begin with */
};

void peers_stop(struct peers *peer);

/* Whether each way came to `loss` in its first step. Statuses: CHECK (one did
   not), IO. */
SOTTO_CHECKED enum sotto_status peers_check(struct peers *peer, double loss,
                                            struct sotto_error *err);

/* `steps` steps at batches of n, or half a second of them, after one that is
   not timed: the seconds of one, and the memory. None: the loss in `value`.
   Statuses: IO. */
SOTTO_CHECKED enum sotto_status peers_run(struct peers *peer, size_t way,
                                          size_t n, size_t steps,
                                          struct peer_result *ret_result,
                                          struct sotto_error *err);

/* Copies a graph's weights, layer by layer, and the biases of layers without a
   norm, to `to` (NULL: copies nothing); how many floats these are. */
size_t peer_give_graph(const struct nn_graph *graph, float *to);

#endif
