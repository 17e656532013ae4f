/*
 * networks.c: networks of one shape, whose probabilities are averaged.
 */
#include "learn/networks.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"

#define BLOCK 1024u /* inputs that go through the networks at a time */
#define HIDDEN 50u

/* ---- Their layers -------------------------------------------------------- */

static enum sotto_status
check_hidden(const uint32_t *hidden, size_t hiddens, struct sotto_error *err)
{
    if (hiddens > NETWORKS_HIDDEN_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, hiddens,
                         "%zu hidden layers are too many: at most %u are "
                         "possible",
                         hiddens, NETWORKS_HIDDEN_MAX);
    }
    for (size_t i = 0; i < hiddens; i++) {
        if (hidden[i] == 0 || hidden[i] > NETWORKS_WIDTH_MAX) {
            return host_fail(err, SOTTO_STATUS_LIMIT, i,
                             "a hidden layer has 1 to %u units, not %u",
                             NETWORKS_WIDTH_MAX, hidden[i]);
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
networks_plan_init(struct networks_plan *plan,
                   const struct learn_options *options, size_t count,
                   struct sotto_error *err)
{
    static const uint32_t usual[] = {HIDDEN};
    const uint32_t *hidden = options->hidden;
    size_t hiddens = hidden != NULL ? options->hiddens : 0;
    enum sotto_status status;
    if (hidden == NULL && !options->linear) {
        hidden = usual;
        hiddens = 1;
    }
    status = check_hidden(hidden, hiddens, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    *plan = (struct networks_plan){.objective = options->objective,
                                   .level = options->level,
                                   .other = options->other,
                                   .hiddens = hiddens,
                                   .count = count};
    for (size_t i = 0; i < hiddens; i++) {
        plan->hidden[i] = hidden[i];
    }
    return SOTTO_STATUS_OK;
}

/* ---- Making and freeing -------------------------------------------------- */

static enum sotto_status
plan_net(const struct networks *networks, struct network *net,
         struct sotto_error *err)
{
    const struct networks_plan *plan = &networks->plan;
    struct layer layer[NETWORKS_HIDDEN_MAX + 1];
    enum sotto_status status;
    memset(layer, 0, sizeof layer);
    for (size_t i = 0; i < plan->hiddens; i++) {
        layer[i].out = plan->hidden[i];
        layer[i].activation = ACTIVATION_RELU;
    }
    layer[plan->hiddens].out = (uint32_t)networks->classes;
    nn_arena_init(&net->arena);
    status = nn_graph_plan(&net->stack, &net->arena, "net", networks->in, layer,
                           plan->hiddens + 1, err);
    return HOST_THEN(status, nn_arena_allocate(&net->arena, err));
}

enum sotto_status
networks_init(struct networks *networks, const struct networks_plan *plan,
              size_t in, size_t classes, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    *networks = (struct networks){.plan = *plan, .in = in, .classes = classes};
    if (in == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism has no features to learn from");
    }
    networks->net = calloc(plan->count, sizeof *networks->net);
    if (networks->net == NULL) {
        return host_fail_memory(err);
    }
    networks->count = plan->count;
    for (size_t i = 0; i < plan->count && status == SOTTO_STATUS_OK; i++) {
        status = plan_net(networks, &networks->net[i], err);
    }
    if (status != SOTTO_STATUS_OK) {
        networks_clear(networks);
    }
    return status;
}

static void
clear_net(struct network *net)
{
    nn_graph_clear(&net->stack);
    nn_arena_clear(&net->arena);
}

void
networks_clear(struct networks *networks)
{
    for (size_t i = 0; i < networks->count; i++) {
        clear_net(&networks->net[i]);
    }
    free(networks->net);
    memset(networks, 0, sizeof *networks);
}

void
networks_swap(struct networks *networks, size_t i, size_t j)
{
    struct network *a = &networks->net[i], *b = &networks->net[j], held = *a;
    *a = *b;
    *b = held;
    a->stack.arena = &a->arena; /* each points to its own */
    b->stack.arena = &b->arena;
}

void
networks_drop(struct networks *networks)
{
    while (networks->count > 1) {
        clear_net(&networks->net[--networks->count]);
    }
}

/* ---- What they say ------------------------------------------------------- */

/* Adds the probabilities of one network to the block's. */
static void
forward_block(const struct networks *networks, struct tensor_backend *backend,
              struct network *net, const float *input, size_t n, float *room,
              float *p)
{
    const float *logits =
        nn_graph_forward(&net->stack, backend, input, n, false);
    float share = 1 / (float)networks->count;
    backend->ops->softmax(backend, n, networks->classes, logits, room);
    for (size_t i = 0; i < n * networks->classes; i++) {
        p[i] += share * room[i];
    }
}

enum sotto_status
networks_forward(const struct networks *networks,
                 struct tensor_backend *backend, const float *input, size_t n,
                 float *ret_p, struct sotto_error *err)
{
    size_t classes = networks->classes;
    float *room = NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < networks->count && status == SOTTO_STATUS_OK; i++) {
        struct nn_graph *stack = &networks->net[i].stack;
        if (stack->reserved < BLOCK) {
            status = nn_graph_reserve(stack, BLOCK, err);
        }
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    room = malloc(BLOCK * classes * sizeof *room);
    if (room == NULL) {
        return host_fail_memory(err);
    }
    memset(ret_p, 0, n * classes * sizeof *ret_p);
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t rows = n - first < BLOCK ? n - first : BLOCK;
        for (size_t i = 0; i < networks->count; i++) {
            forward_block(networks, backend, &networks->net[i],
                          input + first * networks->in, rows, room,
                          ret_p + first * classes);
        }
    }
    host_wipe_free(room, BLOCK * classes * sizeof *room);
    return SOTTO_STATUS_OK;
}
