/*
 * peers.c: several children that take the same training step, in ways of their
 * own: started by bench_step.c, asked and stopped here.
 */
#include "bench/peers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/error.h"

void
peers_stop(struct peers *peer)
{
    for (size_t i = 0; i < PEER_SETTINGS; i++) {
        (void)peer_stop(peer->child[i]);
    }
    peer_file_close(&peer->start);
}

/* ---- Questions ----------------------------------------------------------- */

enum sotto_status
peers_run(struct peers *peer, size_t way, size_t n, size_t steps,
          struct peer_result *ret_result, struct sotto_error *err)
{
    char line[80];
    (void)snprintf(line, sizeof line, "%zu %zu %zu", way / peer->settings, n,
                   steps);
    return peer_ask(peer->child[way % peer->settings], line, ret_result, err);
}

enum sotto_status
peers_check(struct peers *peer, double loss, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < peer->ways && status == SOTTO_STATUS_OK; i++) {
        struct peer_result result = {0, 0, 0};
        status = peers_run(peer, i, 0, 0, &result, err);
        if (status == SOTTO_STATUS_OK &&
            !(fabs(result.value - loss) <= peer->agreed * loss)) {
            status = host_fail(err, SOTTO_STATUS_CHECK, 0,
                               "the peer comes to a loss of %.6f after a "
                               "step, and sotto to %.6f",
                               result.value, loss);
        }
    }
    return status;
}

/* ---- What they begin with ------------------------------------------------ */

size_t
peer_give_graph(const struct nn_graph *graph, float *to)
{
    size_t at = 0;
    for (size_t i = 0; i < graph->layers; i++) {
        const struct nn_place *place = &graph->layer[i];
        size_t weights = place->width * place->fan;
        size_t biases = place->layer.norm ? 0 : place->width;
        if (layer_pools(place->layer.kind)) {
            continue;
        }
        if (to != NULL) {
            memcpy(to + at, nn_arena_value(graph->arena, place->weight),
                   weights * sizeof *to);
        }
        if (to != NULL && biases > 0) {
            memcpy(to + at + weights, nn_arena_value(graph->arena, place->bias),
                   biases * sizeof *to);
        }
        at += weights + biases;
    }
    return at;
}
