/*
 * labels.c: what label reports say of the classes, and reports in order.
 */
#include "learn/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "random/permute.h"

#define OTHER_SHARE 1e-6
#define ORDER_STREAM 0x6f72646572u /* of the seed */

/* ---- Groups ------------------------------------------------------------- */

static int
compare_wires(const void *a, const void *b, void *context)
{
    const uint8_t *const *left = a, *const *right = b;
    const struct labels_part *part = context;
    return memcmp(*left + part->offset, *right + part->offset,
                  part->likelihood->instance->wire_size);
}

static enum sotto_status
labels_allocate(struct labels *labels, size_t reports, size_t classes,
                size_t groups, struct sotto_error *err)
{
    labels->classes = classes;
    labels->reports = reports;
    labels->groups = groups;
    labels->group = calloc(reports + 1, sizeof *labels->group);
    labels->t = calloc(groups + 1, classes * sizeof *labels->t);
    labels->log_t = calloc(groups + 1, sizeof *labels->log_t);
    labels->share = calloc(classes, sizeof *labels->share);
    if (labels->group == NULL || labels->t == NULL || labels->log_t == NULL ||
        labels->share == NULL) {
        labels_clear(labels);
        return host_fail_memory(err);
    }
    return SOTTO_STATUS_OK;
}

/* Divides a group's t by its largest; `plain`: 1 for that, 0 for the rest. */
static void
finish_t(struct labels *labels, size_t group, bool plain, double smoothing)
{
    double *t = labels->t + group * labels->classes, most = -INFINITY;
    double mean = 0;
    for (size_t y = 0; y < labels->classes; y++) {
        most = t[y] > most ? t[y] : most;
    }
    for (size_t y = 0; y < labels->classes; y++) {
        bool likeliest = t[y] > most - 1e-9;
        t[y] = plain ? (likeliest ? 1 : 0) : exp(t[y] - most);
        mean += t[y] / (double)labels->classes;
    }
    for (size_t y = 0; y < labels->classes; y++) {
        t[y] += smoothing * (mean - t[y]);
    }
    labels->log_t[group] = plain ? 0 : most;
}

static void
set_t(struct labels *labels, const struct labels_part *part, size_t group,
      const uint8_t *wire)
{
    double *t = labels->t + group * labels->classes;
    for (size_t y = 0; y < labels->classes; y++) {
        int32_t q = (int32_t)y;
        t[y] = part->likelihood->likelihood->log_p(part->likelihood, wire, &q);
    }
}

/* pi: the mean of the channel's unbiased estimates, kept away from 0. */
static void
set_share(struct labels *labels)
{
    double least = LABELS_LEAST / (double)labels->classes, sum = 0;
    for (size_t y = 0; y < labels->classes; y++) {
        double share = labels->share[y] / (double)labels->reports;
        labels->share[y] = share > least ? share : least;
        sum += labels->share[y];
    }
    for (size_t y = 0; y < labels->classes; y++) {
        labels->share[y] /= sum;
    }
}

/* Keeps the first report of every group; `sorted` are all, by label wire.
   Returns how many there are. */
static size_t
keep_first(const struct labels_part *part, const uint8_t **sorted,
           size_t reports)
{
    size_t groups = 0;
    for (size_t i = 0; i < reports; i++) {
        if (groups == 0 ||
            memcmp(sorted[groups - 1] + part->offset, sorted[i] + part->offset,
                   part->likelihood->instance->wire_size) != 0) {
            sorted[groups++] = sorted[i];
        }
    }
    return groups;
}

static size_t
find_group(const struct labels_part *part, const uint8_t *const *first,
           size_t groups, const uint8_t *report)
{
    size_t low = 0, high = groups;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        int order = memcmp(first[middle] + part->offset, report + part->offset,
                           part->likelihood->instance->wire_size);
        if (order <= 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void
fill_labels(struct labels *labels, const struct labels_part *part,
            const uint8_t *const *report, const uint8_t *const *first,
            double *room)
{
    for (size_t g = 0; g < labels->groups; g++) {
        set_t(labels, part, g, first[g] + part->offset);
    }
    for (size_t i = 0; i < labels->reports; i++) {
        labels->group[i] =
            (uint32_t)find_group(part, first, labels->groups, report[i]);
        part->likelihood->likelihood->estimate(part->likelihood,
                                               report[i] + part->offset, room);
        for (size_t y = 0; y < labels->classes; y++) {
            labels->share[y] += room[y];
        }
    }
    set_share(labels);
}

enum sotto_status
labels_init(struct labels *labels, const struct labels_part *part,
            const uint8_t *const *report, size_t reports, bool plain,
            double smoothing, struct sotto_error *err)
{
    const uint8_t **sorted = malloc((reports + 1) * sizeof *sorted);
    double *room = malloc(part->likelihood->instance->size * sizeof *room);
    enum sotto_status status;
    memset(labels, 0, sizeof *labels);
    if (sorted == NULL || room == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < reports; i++) {
        sorted[i] = report[i];
    }
    {
        struct labels_part context = *part;
        qsort_r(sorted, reports, sizeof *sorted, compare_wires, &context);
    }
    status = labels_allocate(labels, reports, part->classes,
                             keep_first(part, sorted, reports), err);
    if (status == SOTTO_STATUS_OK) {
        fill_labels(labels, part, report, sorted, room);
        for (size_t g = 0; g < labels->groups; g++) {
            finish_t(labels, g, plain, smoothing);
        }
    }
done:
    free(sorted);
    free(room);
    return status;
}

enum sotto_status
labels_init_clean(struct labels *labels, size_t classes, const size_t *truth,
                  size_t reports, double smoothing, struct sotto_error *err)
{
    enum sotto_status status;
    memset(labels, 0, sizeof *labels);
    status = labels_allocate(labels, reports, classes, classes + 1, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t g = 0; g <= classes; g++) {
        for (size_t y = 0; y < classes; y++) {
            labels->t[g * classes + y] = g == classes || g == y ? 0 : -1;
        }
        finish_t(labels, g, true, smoothing);
    }
    for (size_t i = 0; i < reports; i++) {
        size_t y = truth[i] < classes ? truth[i] : classes;
        labels->group[i] = (uint32_t)y;
        labels->share[y < classes ? y : 0] += y < classes ? 1 : 0;
    }
    set_share(labels);
    return SOTTO_STATUS_OK;
}

void
labels_clear(struct labels *labels)
{
    free(labels->group);
    free(labels->t);
    free(labels->log_t);
    free(labels->share);
    memset(labels, 0, sizeof *labels);
}

void
labels_balance(size_t classes, bool other, double *ret_share)
{
    bool less = classes > 2 && other;
    double least = less ? OTHER_SHARE / (double)classes : 0;
    size_t alike = classes - (less ? 1 : 0);
    for (size_t y = 0; y < classes; y++) {
        ret_share[y] = y < alike ? (1 - least) / (double)alike : least;
    }
}

/* ---- The plan ----------------------------------------------------------- */

static int
compare_keys(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Rows of a batch by (group, report). */
static void
sort_batch(struct plan *plan, const struct labels *labels, size_t first,
           size_t end, uint64_t *key)
{
    for (size_t i = first; i < end; i++) {
        uint32_t report = plan->order[i];
        key[i] = (uint64_t)labels->group[report] << 32 | report;
    }
    qsort(key + first, end - first, sizeof *key, compare_keys);
    for (size_t i = first; i < end; i++) {
        plan->order[i] = (uint32_t)key[i];
        plan->group[i] = (uint32_t)(key[i] >> 32);
    }
}

/* Cuts every batch where the group changes, or after `most` rows. */
static void
cut_chunks(struct plan *plan, size_t most)
{
    for (size_t b = 0; b <= plan->batches; b++) {
        size_t since = 0;
        plan->batch_chunk[b] = plan->chunks;
        for (size_t i = plan->batch[b]; i < plan->batch[b + 1]; i++) {
            if (i == plan->batch[b] || since == most ||
                plan->group[i] != plan->group[i - 1]) {
                plan->chunk[plan->chunks++] = i;
                since = 0;
            }
            since++;
        }
    }
    plan->chunk[plan->chunks] = plan->rows;
    plan->batch_chunk[plan->batches + 1] = plan->chunks;
}

enum sotto_status
plan_init(struct plan *plan, const struct labels *labels, size_t batches,
          double validation, size_t chunk_most, uint64_t seed,
          struct sotto_error *err)
{
    size_t rows = labels->reports, scored, trained;
    uint64_t *key = calloc(rows + 1, sizeof *key);
    enum sotto_status status = SOTTO_STATUS_OK;
    memset(plan, 0, sizeof *plan);
    scored = (size_t)(validation * (double)rows + 0.5);
    trained = rows - (scored < rows ? scored : rows);
    if (batches > trained) {
        batches = trained;
    }
    plan->rows = rows;
    plan->batches = batches;
    plan->order = calloc(rows + 1, sizeof *plan->order);
    plan->group = calloc(rows + 1, sizeof *plan->group);
    plan->batch = calloc(batches + 2, sizeof *plan->batch);
    plan->chunk = calloc(rows + 1, sizeof *plan->chunk);
    plan->batch_chunk = calloc(batches + 2, sizeof *plan->batch_chunk);
    if (key == NULL || plan->order == NULL || plan->group == NULL ||
        plan->batch == NULL || plan->chunk == NULL ||
        plan->batch_chunk == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    if (batches == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "%zu report%s too few to learn from", rows,
                           rows == 1 ? " is" : "s are");
        goto done;
    }
    for (size_t i = 0; i < rows; i++) {
        plan->order[i] = (uint32_t)i;
    }
    permute(plan->order, sizeof *plan->order, rows, PERMUTE_DOWN, seed,
            ORDER_STREAM);
    for (size_t b = 0; b <= batches; b++) {
        plan->batch[b] = trained * b / batches;
    }
    plan->batch[batches + 1] = rows;
    for (size_t b = 0; b <= batches; b++) {
        sort_batch(plan, labels, plan->batch[b], plan->batch[b + 1], key);
    }
    cut_chunks(plan, chunk_most);
done:
    free(key);
    if (status != SOTTO_STATUS_OK) {
        plan_clear(plan);
    }
    return status;
}

void
plan_clear(struct plan *plan)
{
    free(plan->order);
    free(plan->group);
    free(plan->batch);
    free(plan->chunk);
    free(plan->batch_chunk);
    memset(plan, 0, sizeof *plan);
}
