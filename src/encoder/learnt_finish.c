/*
 * learnt_finish.c: from a trained encoder and decoder to the two files.
 *
 *     part 1   lattice, laplace   z[0..d)      features   eps_x
 *              ball, gaussian
 *              cube, duchi
 *     part 2   symbols, flip      the label    label      eps_y
 *
 * Of codes part 1 is another: symbols, flip, the largest of the scores.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/opened.h"
#include "encoder/learnt.h"
#include "host/error.h"
#include "host/wipe.h"
#include "mechanism/crew.h"
#include "mechanism/mechanism.h"

#define TASK_INTRO "none: learnt from the auxiliary data, for the task: "
#define TASK_CUT "..."

/* What the mechanism says of the auxiliary data and of its task, as a manifest
   can hold it: '?' for what it cannot, cut where it is too long. */
static void
describe_auxiliary(const struct learnt_result *result,
                   char ret_text[DEVICE_TEXT_MAX + 1])
{
    size_t room = DEVICE_TEXT_MAX + 1, size;
    if (result->task == NULL) {
        (void)snprintf(ret_text, room, "%s",
                       "none: encoder, scales and categories were learnt from "
                       "the auxiliary data");
        return;
    }
    size = (size_t)snprintf(ret_text, room, TASK_INTRO "%s", result->task);
    if (size >= room) {
        (void)snprintf(ret_text + room - sizeof TASK_CUT, sizeof TASK_CUT,
                       TASK_CUT);
    }
    for (char *at = ret_text; *at != '\0'; at++) {
        bool fits = *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\';
        if (!fits) {
            *at = '?';
        }
    }
}

/* The part that covers the features. */
static struct compose_part
features_part(const struct learnt *learnt, const struct learnt_result *result)
{
    struct compose_part part = {
        .covers = "features", .eps = learnt->eps_x, .blocks = 1};
    if (result->codes > 0) {
        part.channel = "flip";
        part.factor[0].k = (uint32_t)result->codes;
        part.factors = 1;
    } else {
        part.channel = learnt->channel->name;
        part.delta = learnt->delta;
        part.d = learnt->set.d;
        part.l = learnt->set.steps;
    }
    return part;
}

static enum sotto_status
compose(const struct learnt *learnt, const struct learnt_result *result,
        struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    const struct sotto_train_options *options = learnt->job->options;
    const char *name =
        options->name != NULL ? options->name : learnt->job->encoder->kind.name;
    char auxiliary[DEVICE_TEXT_MAX + 1];
    struct compose_part part[2] = {
        features_part(learnt, result),
        {.covers = "label",
         .channel = learnt->set.label_channel,
         .eps = learnt->eps_y,
         .blocks = 1,
         .factor = {{.is_column = true, .at = (uint32_t)learnt->label}},
         .factors = 1}};
    struct compose_spec spec = {
        .name = name,
        .campaign = options->campaign != NULL ? options->campaign : name,
        .auxiliary = auxiliary,
        .eps = learnt->eps,
        .column = learnt->schema.column,
        .columns = learnt->schema.columns,
        .layer = result->encoder,
        .layers = result->encoder_layers,
        .part = part,
        .parts = learnt->label == SIZE_MAX ? 1 : 2};
    describe_auxiliary(result, auxiliary);
    return compose_open(&spec, ret_mechanism, err);
}

/* ---- The prior ----------------------------------------------------------- */

struct points {
    size_t d;
    int32_t *q;
};

static void
put_point(void *context, struct rows *rows, size_t row, unsigned worker)
{
    const struct points *points = context;
    (void)worker;
    rows_q(rows, row, points->q + row * points->d);
}

/* Numbers of a point: of a code one. */
static size_t
point_width(const struct learnt *learnt, const struct learnt_result *result)
{
    return result->codes > 0 ? 1 : learnt->set.d;
}

/* q of every row, as a device computes it: n rows of `width`, for the caller
   to wipe and free. */
static enum sotto_status
find_points(const struct learnt *learnt, struct sotto_mechanism *mechanism,
            size_t width, int32_t **ret_q, struct sotto_error *err)
{
    struct points points = {.d = width};
    struct crew crew = {0};
    enum sotto_status status;
    points.q = calloc(learnt->n, points.d * sizeof *points.q);
    status = points.q != NULL ? crew_init(&crew, mechanism, learnt->job->table,
                                          learnt->pool, err)
                              : host_fail_memory(err);
    status = HOST_THEN(
        status, crew_run_watched(&crew, learnt->n, &learnt->job->options->watch,
                                 "encoding", put_point, &points, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_q = points.q;
    } else {
        host_wipe_free(points.q, learnt->n * points.d * sizeof *points.q);
    }
    crew_clear(&crew);
    return status;
}

/* ---- Layers -------------------------------------------------------------- */

enum sotto_status
learnt_layers_init(struct learnt_layers *layers, const struct nn_graph *graph,
                   const float *gain, double scale, struct sotto_error *err)
{
    const struct nn_place *last = &graph->layer[graph->layers - 1];
    size_t total = nn_graph_floats(graph);
    layers->count = graph->layers;
    layers->memory = calloc(total + 1, sizeof *layers->memory);
    if (layers->memory == NULL) {
        return host_fail_memory(err);
    }
    nn_graph_export(graph, layers->memory, layers->layer);
    for (size_t i = total - last->width * (last->fan + 1); i < total; i++) {
        layers->memory[i] = (float)(scale * layers->memory[i]);
    }
    if (gain != NULL) {
        const struct layer *first = &layers->layer[0];
        float *weight = layers->memory + (first->weight - layers->memory);
        for (size_t i = 0; i < (size_t)first->in * first->out; i++) {
            weight[i] *= gain[i % first->in];
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- The files ----------------------------------------------------------- */

static enum sotto_status
write_analyst(const struct learnt *learnt, const struct learnt_result *result,
              const struct sotto_mechanism *mechanism, const int32_t *q,
              const char *path, struct sotto_error *err)
{
    struct analyst_draft draft = {.kind = learnt->job->encoder->kind.name,
                                  .mechanism = mechanism,
                                  .layer = result->decoder,
                                  .layers = result->decoder_layers,
                                  .block = result->block,
                                  .blocks = result->blocks,
                                  .prior = q,
                                  .points = learnt->n,
                                  .width = point_width(learnt, result),
                                  .domain = learnt->channel->domain,
                                  .l = learnt->set.steps,
                                  .eps = result->at_eps ? learnt->eps_x : 0,
                                  .facts = result->facts};
    if (result->codes > 0) {
        const struct layer *scores =
            &result->encoder[result->encoder_layers - 1];
        draft.l = (uint32_t)result->codes - 1;
        draft.representation = result->representation;
        draft.z_width = scores->in;
        draft.z_layers = result->encoder_layers - 1;
        draft.symbols = 1;
    }
    return analyst_write(&draft, path, err);
}

enum sotto_status
learnt_finish(const struct learnt *learnt, const struct learnt_result *result,
              struct sotto_error *err)
{
    const char *analyst_path = learnt->job->analyst_path;
    struct sotto_mechanism *mechanism = NULL;
    size_t width = point_width(learnt, result);
    int32_t *q = NULL;
    enum sotto_status status = compose(learnt, result, &mechanism, err);
    if (status == SOTTO_STATUS_OK && analyst_path != NULL) {
        status = find_points(learnt, mechanism, width, &q, err);
    }
    if (status == SOTTO_STATUS_OK && analyst_path != NULL) {
        status = write_analyst(learnt, result, mechanism, q, analyst_path, err);
    }
    host_wipe_free(q, learnt->n * width * sizeof *q);
    if (status == SOTTO_STATUS_OK) {
        return mechanism_publish(mechanism, learnt->job->path,
                                 learnt->job->ret_mechanism, err);
    }
    sotto_mechanism_free(mechanism);
    return status;
}
