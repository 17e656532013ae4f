/*
 * learnt_finish.c: from a trained encoder and decoder to the two files.
 *
 *     part 1   lattice, laplace   z[0..d)      features   eps_x
 *     part 2   symbols, flip      the label    label      eps_y
 */
#include <stdlib.h>
#include <string.h>

#include "encoder/learnt.h"
#include "host/error.h"
#include "host/file.h"
#include "host/pool.h"
#include "host/wipe.h"
#include "mechanism/rows.h"

#define TASK_ROWS ((size_t)64) /* rows of one task */
#define RUN_TASKS ((size_t)32) /* tasks between two looks at the watch */

static enum sotto_status
compose(const struct learnt *learnt, const struct learnt_result *result,
        uint8_t **ret_data, size_t *ret_size, struct sotto_error *err)
{
    const struct learnt_options *options = &learnt->options;
    const char *name = options->name != NULL ? options->name : options->kind;
    struct compose_part part[2] = {
        {.covers = "features",
         .channel = "laplace",
         .eps = learnt->eps_x,
         .blocks = 1,
         .d = (uint32_t)options->d,
         .l = options->steps},
        {.covers = "label",
         .channel = options->label_channel,
         .eps = learnt->eps_y,
         .blocks = 1,
         .factor = {{.is_column = true, .at = (uint32_t)learnt->label}},
         .factors = 1}};
    struct compose_spec spec = {
        .name = name,
        .campaign = options->campaign != NULL ? options->campaign : name,
        .auxiliary = "none: encoder, scales and categories were learnt from "
                     "the auxiliary data",
        .eps = learnt->eps,
        .column = learnt->column,
        .columns = learnt->choice.columns,
        .layer = result->encoder,
        .layers = result->encoder_layers,
        .part = part,
        .parts = learnt->label == SIZE_MAX ? 1 : 2};
    return compose_mechanism(&spec, ret_data, ret_size, err);
}

/* ---- The prior ----------------------------------------------------------- */

/* One thread's own device. */
struct device {
    struct sotto_mechanism *mechanism;
    struct rows rows;
};

struct points {
    const struct learnt *learnt;
    struct device *device;
    size_t first; /* row of the first task of a run */
    int32_t *q;
};

static void
encode_task(void *context, size_t index, unsigned worker)
{
    const struct points *points = context;
    size_t d = points->learnt->options.d, n = points->learnt->n;
    size_t from = points->first + index * TASK_ROWS;
    for (size_t i = from; i < n && i < from + TASK_ROWS; i++) {
        rows_q(&points->device[worker].rows, i, points->q + i * d);
    }
}

static bool
tick(const struct sotto_watch *watch, size_t done, size_t total)
{
    return watch->tick == NULL ||
           watch->tick(watch->context, "encoding", done, total);
}

static enum sotto_status
encode_all(struct points *points, struct host_pool *pool,
           struct sotto_error *err)
{
    const struct learnt *learnt = points->learnt;
    for (size_t row = 0; row < learnt->n; row += RUN_TASKS * TASK_ROWS) {
        if (!tick(&learnt->options.watch, row, learnt->n)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0,
                             "stopped while encoding the auxiliary records");
        }
        points->first = row;
        host_pool_run(pool, RUN_TASKS, encode_task, points);
    }
    return SOTTO_STATUS_OK;
}

/* q of every row, as a device computes it: n rows of d, for the caller to
   wipe and free. */
static enum sotto_status
find_points(const struct learnt *learnt, const uint8_t *data, size_t size,
            int32_t **ret_q, struct sotto_error *err)
{
    struct points points = {.learnt = learnt};
    struct host_pool *pool = NULL;
    size_t devices = 0;
    enum sotto_status status =
        host_pool_new(learnt->options.threads, &pool, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    points.device = calloc(host_pool_threads(pool), sizeof *points.device);
    points.q = calloc(learnt->n, learnt->options.d * sizeof *points.q);
    if (points.device == NULL || points.q == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (; status == SOTTO_STATUS_OK && devices < host_pool_threads(pool);
         devices++) {
        struct device *device = &points.device[devices];
        status = sotto_mechanism_parse(data, size, "the new mechanism",
                                       &device->mechanism, err);
        if (status == SOTTO_STATUS_OK) {
            status =
                rows_init(&device->rows, device->mechanism, learnt->table, err);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        status = encode_all(&points, pool, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_q = points.q;
        points.q = NULL;
    }
done:
    for (size_t i = 0; i < devices; i++) {
        rows_clear(&points.device[i].rows);
        sotto_mechanism_free(points.device[i].mechanism);
    }
    free(points.device);
    host_wipe_free(points.q, learnt->n * learnt->options.d * sizeof *points.q);
    host_pool_free(pool);
    return status;
}

/* ---- The files ----------------------------------------------------------- */

static enum sotto_status
write_analyst(const struct learnt *learnt, const struct learnt_result *result,
              const struct sotto_mechanism *mechanism, const int32_t *q,
              const char *path, struct sotto_error *err)
{
    struct analyst_draft draft = {.kind = learnt->options.kind,
                                  .mechanism = mechanism,
                                  .layer = result->decoder,
                                  .layers = result->decoder_layers,
                                  .block = result->block,
                                  .blocks = result->blocks,
                                  .prior = q,
                                  .points = learnt->n,
                                  .width = learnt->options.d,
                                  .l = learnt->options.steps,
                                  .facts = result->facts};
    return analyst_write(&draft, path, err);
}

enum sotto_status
learnt_finish(const struct learnt *learnt, const struct learnt_result *result,
              const char *path, const char *analyst_path,
              struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    uint8_t *data = NULL;
    int32_t *q = NULL;
    size_t size = 0;
    enum sotto_status status = compose(learnt, result, &data, &size, err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_mechanism_parse(
            data, size, path != NULL ? path : "encoder", &mechanism, err);
    }
    if (status == SOTTO_STATUS_OK && analyst_path != NULL) {
        status = find_points(learnt, data, size, &q, err);
    }
    if (status == SOTTO_STATUS_OK && analyst_path != NULL) {
        status = write_analyst(learnt, result, mechanism, q, analyst_path, err);
    }
    if (status == SOTTO_STATUS_OK && path != NULL) {
        status = host_file_write(path, 0644, false, data, size, err);
    }
    if (status == SOTTO_STATUS_OK && ret_mechanism != NULL) {
        *ret_mechanism = mechanism;
        mechanism = NULL;
    }
    sotto_mechanism_free(mechanism);
    host_wipe_free(q, learnt->n * learnt->options.d * sizeof *q);
    free(data);
    return status;
}
