/*
 * codes_trial.c: a simulated collection of codes and labels.
 *
 * Reports are the channel's own, from seeded noise: a stream for every task of
 * people, so that threads make no difference. They are never written anywhere.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"
#include "learn/codes/codes_choose.h"
#include "random/draw.h"
#include "random/seeded.h"

#define TASK ((size_t)256) /* people */
#define CHAINS 2u          /* less than for real reports: a choice may err */
#define SWEEPS 60u
#define EMPTY 0.5 /* records of a cell without: no table has a row of 0 */
#define STREAM (UINT64_C(0x63686f) << 40) /* of the seed */

struct collection {
    const struct codes_trial *trial;
    struct channel_instance instance;
    struct likelihood_instance likelihood;
    uint64_t *own;
    uint32_t *person; /* the record of each */
    uint8_t *wire;
    const uint8_t **report;
};

static bool
is_kept(size_t row)
{
    return row % CODES_TRIAL_KEPT == 0;
}

/* ---- Reports ------------------------------------------------------------- */

static void
draw_people(const struct collection *collection)
{
    const struct codes_trial *trial = collection->trial;
    struct seeded seeded;
    seeded_init(&seeded, trial->seed, STREAM | trial->draw);
    for (size_t i = 0; i < trial->people;) {
        uint32_t row = draw_below(&seeded.random, (uint32_t)trial->n);
        if (!is_kept(row)) {
            collection->person[i++] = row;
        }
    }
}

static void
report_task(void *context, size_t index, unsigned worker)
{
    const struct collection *collection = context;
    const struct codes_trial *trial = collection->trial;
    const struct channel_instance *instance = &collection->instance;
    struct seeded seeded;
    (void)worker;
    seeded_init(&seeded, trial->seed,
                STREAM | (uint64_t)(trial->candidate + 1) << 32 |
                    (uint64_t)trial->draw << 20 | index);
    for (size_t i = index * TASK; i < trial->people && i < (index + 1) * TASK;
         i++) {
        uint32_t row = collection->person[i];
        int32_t q = trial->code[row] * (int32_t)(trial->classes + 1) +
                    (int32_t)trial->label[row];
        uint8_t *wire = collection->wire + i * instance->wire_size;
        instance->channel->sample(instance, &q, &seeded.random, wire);
        collection->report[i] = wire;
    }
}

static void
collection_clear(struct collection *collection)
{
    host_wipe_free(collection->person,
                   collection->trial->people * sizeof *collection->person);
    free(collection->wire);
    free(collection->report);
    free(collection->own);
}

static enum sotto_status
collect_reports(struct collection *collection, struct sotto_error *err)
{
    const struct codes_trial *trial = collection->trial;
    size_t size = trial->k * (trial->classes + 1);
    enum sotto_status status;
    collection->own =
        calloc(trial->channel->own_size / 8 + 1, sizeof *collection->own);
    collection->person = calloc(trial->people, sizeof *collection->person);
    collection->report = calloc(trial->people, sizeof *collection->report);
    if (collection->own == NULL || collection->person == NULL ||
        collection->report == NULL) {
        return host_fail_memory(err);
    }
    status = size <= CHANNEL_K_MAX
                 ? channel_init(&collection->instance, trial->channel,
                                (uint32_t)size, (uint32_t)trial->k, 0,
                                trial->eps, 0, collection->own)
                 : SOTTO_STATUS_LIMIT;
    status = HOST_THEN(status, likelihood_init(&collection->likelihood,
                                               &collection->instance));
    if (status != SOTTO_STATUS_OK) {
        return host_fail(err, status, size,
                         "%s cannot take %zu codes with %zu classes at this "
                         "epsilon",
                         trial->channel->name, trial->k, trial->classes);
    }
    collection->wire =
        calloc(trial->people, collection->instance.wire_size + (size_t)1);
    if (collection->wire == NULL) {
        return host_fail_memory(err);
    }
    draw_people(collection);
    host_pool_run(trial->pool, (trial->people + TASK - 1) / TASK, report_task,
                  collection);
    return SOTTO_STATUS_OK;
}

/* ---- Learning and scoring ------------------------------------------------ */

/* Shares of cells and of labels among those who may report. */
static void
find_shares(const struct codes_trial *trial, double *pi, double *share)
{
    size_t kept = (trial->n + CODES_TRIAL_KEPT - 1) / CODES_TRIAL_KEPT;
    double all = (double)(trial->n - kept);
    double least = 0.01 / (double)trial->classes, sum = 0;
    for (size_t i = 0; i < trial->n; i++) {
        pi[trial->code[i]] += is_kept(i) ? 0 : 1 / all;
        share[trial->label[i]] += is_kept(i) ? 0 : 1 / all;
    }
    for (size_t c = 0; c < trial->k; c++) {
        pi[c] = pi[c] > 0 ? pi[c] : EMPTY / all;
    }
    for (size_t y = 0; y < trial->classes; y++) {
        share[y] = share[y] > least ? share[y] : least;
        sum += share[y];
    }
    for (size_t y = 0; y < trial->classes; y++) {
        share[y] /= sum;
    }
}

/* With the largest entry of a cell's row as its label. */
static double
score_of(const struct codes_trial *trial, const double *table, uint32_t *label)
{
    size_t classes = trial->classes, right = 0, all = 0;
    for (size_t c = 0; c < trial->k; c++) {
        const double *row = table + c * classes;
        label[c] = 0;
        for (uint32_t y = 1; y < classes; y++) {
            label[c] = row[y] > row[label[c]] ? y : label[c];
        }
    }
    for (size_t i = 0; i < trial->n; i += CODES_TRIAL_KEPT) {
        right += label[trial->code[i]] == trial->label[i];
        all++;
    }
    return (double)right / (double)all;
}

static enum sotto_status
learn_labels(const struct collection *collection, double *room, double *ret_tau,
             struct sotto_error *err)
{
    const struct codes_trial *trial = collection->trial;
    double *pi = room, *share = room + trial->k;
    const struct codes_shape shape = {.code = &collection->likelihood,
                                      .books = 1,
                                      .cells = trial->k,
                                      .symbols = trial->classes + 1,
                                      .classes = trial->classes,
                                      .column = SIZE_MAX};
    const struct cells_options options = {.share = trial->shares ? share : NULL,
                                          .chains = CHAINS,
                                          .sweeps = SWEEPS,
                                          .seed = trial->seed + trial->draw,
                                          .watch = trial->watch};
    struct cells_info info;
    struct codes codes;
    enum sotto_status status = cells_tick(trial->watch, 0, 1, err);
    status = HOST_THEN(status, codes_init(&codes, &shape, collection->report,
                                          trial->people, trial->pool, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    find_shares(trial, pi, share);
    status = cells_fit(&codes, pi, &options, ret_tau, NULL, &info, err);
    codes_clear(&codes);
    return status;
}

enum sotto_status
codes_trial(const struct codes_trial *trial, double *ret_score,
            struct sotto_error *err)
{
    struct collection collection = {.trial = trial};
    size_t pairs = trial->k * trial->classes;
    double *tau = calloc(pairs, sizeof *tau);
    double *room = calloc(trial->k + trial->classes, sizeof *room);
    uint32_t *label = calloc(trial->k, sizeof *label);
    enum sotto_status status = tau != NULL && room != NULL && label != NULL
                                   ? collect_reports(&collection, err)
                                   : host_fail_memory(err);
    status = HOST_THEN(status, learn_labels(&collection, room, tau, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_score = score_of(trial, tau, label);
    }
    collection_clear(&collection);
    free(tau);
    free(room);
    free(label);
    return status;
}

enum sotto_status
codes_trial_most(const struct codes_trial *trial, double *ret_score,
                 struct sotto_error *err)
{
    double *count = calloc(trial->k * trial->classes, sizeof *count);
    uint32_t *label = calloc(trial->k, sizeof *label);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (count == NULL || label == NULL) {
        status = host_fail_memory(err);
    } else {
        for (size_t i = 0; i < trial->n; i += CODES_TRIAL_KEPT) {
            count[(size_t)trial->code[i] * trial->classes + trial->label[i]]++;
        }
        *ret_score = score_of(trial, count, label);
    }
    free(count);
    free(label);
    return status;
}
