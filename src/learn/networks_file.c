/*
 * networks_file.c: networks in a model's file.
 *
 *     netN.L.weight      F32  layer L of network N, out rows of in
 *     netN.L.bias        F32
 *
 * and as metadata "objective", "level", "other", "nets", "hidden": [widths].
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/error.h"
#include "learn/model.h"
#include "learn/networks.h"

#define FIELDS 5u

/* ---- Writing ------------------------------------------------------------- */

static void
name_tensor(char name[MODEL_NAME_SIZE], size_t net, size_t layer,
            const char *what)
{
    (void)snprintf(name, MODEL_NAME_SIZE, "net%zu.%zu.%s", net, layer, what);
}

static void
write_plan(const struct networks *networks, struct model_tensors *to)
{
    const struct networks_plan *plan = &networks->plan;
    json_t *hidden = json_array();
    for (size_t i = 0; i < plan->hiddens; i++) {
        to->failed |=
            json_array_append_new(
                hidden, json_integer((json_int_t)plan->hidden[i])) != 0;
    }
    model_tensors_say(to, "objective",
                      json_string(learn_objectives[plan->objective]));
    model_tensors_say(to, "level", json_string(learn_levels[plan->level]));
    model_tensors_say(to, "other", json_boolean(plan->other));
    model_tensors_say(to, "nets", json_integer((json_int_t)networks->count));
    model_tensors_say(to, "hidden", hidden);
}

void
networks_write(const struct networks *networks, struct model_tensors *to)
{
    char name[MODEL_NAME_SIZE];
    write_plan(networks, to);
    for (size_t i = 0; i < networks->count; i++) {
        const struct nn_graph *stack = &networks->net[i].stack;
        for (size_t j = 0; j < stack->layers; j++) {
            const struct nn_place *place = &stack->layer[j];
            name_tensor(name, i, j, "weight");
            model_tensors_add(to, name, SAFETENSORS_F32, place->out, place->in,
                              nn_arena_value(stack->arena, place->weight));
            name_tensor(name, i, j, "bias");
            model_tensors_add(to, name, SAFETENSORS_F32, place->out, 0,
                              nn_arena_value(stack->arena, place->bias));
        }
    }
}

/* ---- Reading ------------------------------------------------------------- */

static bool
read_hidden(const json_t *list, struct networks_plan *plan)
{
    if (!json_is_array(list) || json_array_size(list) > NETWORKS_HIDDEN_MAX) {
        return false;
    }
    plan->hiddens = json_array_size(list);
    for (size_t i = 0; i < plan->hiddens; i++) {
        const json_t *width = json_array_get(list, i);
        if (!json_is_integer(width) || json_integer_value(width) < 1 ||
            json_integer_value(width) > NETWORKS_WIDTH_MAX) {
            return false;
        }
        plan->hidden[i] = (uint32_t)json_integer_value(width);
    }
    return true;
}

enum sotto_status
networks_plan_read(const json_t *metadata, struct networks_plan *ret_plan,
                   struct sotto_error *err)
{
    struct networks_plan plan = {0};
    size_t objective =
        learn_word(json_string_value(json_object_get(metadata, "objective")),
                   learn_objectives);
    size_t level = learn_word(
        json_string_value(json_object_get(metadata, "level")), learn_levels);
    const json_t *nets = json_object_get(metadata, "nets");
    const json_t *other = json_object_get(metadata, "other");
    if (objective == SIZE_MAX || level == SIZE_MAX || !json_is_integer(nets) ||
        json_integer_value(nets) < 1 ||
        json_integer_value(nets) > NETWORKS_MAX || !json_is_boolean(other) ||
        !read_hidden(json_object_get(metadata, "hidden"), &plan) ||
        json_object_size(metadata) != model_fields(metadata) + FIELDS) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "what it says of itself is not a model's");
    }
    plan.objective = (enum sotto_objective)objective;
    plan.level = (enum sotto_level)level;
    plan.other = json_is_true(other);
    plan.count = (size_t)json_integer_value(nets);
    *ret_plan = plan;
    return SOTTO_STATUS_OK;
}

enum sotto_status
networks_check(const struct safetensors *file, const struct networks_plan *plan,
               size_t in, size_t classes, size_t others,
               struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    size_t tensors = 1 + others + 2 * plan->count * (plan->hiddens + 1);
    char name[MODEL_NAME_SIZE];
    enum sotto_status status = SOTTO_STATUS_OK;
    if (safetensors_count(file) != tensors) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "it has %zu tensors, and such a model has %zu",
                         safetensors_count(file), tensors);
    }
    for (size_t i = 0; i < plan->count; i++) {
        size_t from = in;
        for (size_t j = 0; j <= plan->hiddens && status == SOTTO_STATUS_OK;
             j++) {
            size_t out = j < plan->hiddens ? plan->hidden[j] : classes;
            name_tensor(name, i, j, "weight");
            status = safetensors_want(file, name, SAFETENSORS_F32, 2, out, from,
                                      &entry, err);
            from = out;
        }
    }
    return status;
}

enum sotto_status
networks_read_floats(const struct safetensors *file, const char *name,
                     size_t rank, size_t rows, size_t columns, float *ret,
                     struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    enum sotto_status status = safetensors_want(
        file, name, SAFETENSORS_F32, rank, rows, columns, &entry, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    memcpy(ret, entry->data, entry->size);
    for (size_t i = 0; i < entry->size / sizeof *ret; i++) {
        if (!isfinite(ret[i])) {
            return host_fail(err, SOTTO_STATUS_FORMAT, i,
                             "number %zu of \"%s\" is not finite", i,
                             entry->name);
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
networks_read(const struct safetensors *file, const struct networks *networks,
              struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    char name[MODEL_NAME_SIZE];
    for (size_t i = 0; i < networks->count; i++) {
        const struct nn_graph *stack = &networks->net[i].stack;
        for (size_t j = 0; j < stack->layers && status == SOTTO_STATUS_OK;
             j++) {
            const struct nn_place *place = &stack->layer[j];
            name_tensor(name, i, j, "weight");
            status = networks_read_floats(
                file, name, 2, place->out, place->in,
                nn_arena_value(stack->arena, place->weight), err);
            if (status == SOTTO_STATUS_OK) {
                name_tensor(name, i, j, "bias");
                status = networks_read_floats(
                    file, name, 1, place->out, 0,
                    nn_arena_value(stack->arena, place->bias), err);
            }
        }
    }
    return status;
}
