/*
 * right.c: asking devices whether a model is right about them.
 *
 *     class of the record, by the model   \
 *                                          equal? -- flip at eps --> a report
 *     label of the record                 /
 *
 * One bit through randomised response depends on record and label together, so
 * eps holds for any two records and labels at once. "Yes" comes with chance h
 * where the model is right and g where it is wrong (h = 1 - g = e^eps / (1 +
 * e^eps), but for what the sampler's thresholds round, which is taken into
 * account). Of n people drawn from many of whom it is right about a share a,
 * the number s who say yes is binomial with
 *
 *     P(yes) = g + (h - g) a,       so       share = (s / n - g) / (h - g)
 *
 * is unbiased for a. Its variance is a (1 - a) / n, of who was asked, and
 * h (1 - h) / (h - g)^2 / n, of the noise. P(yes) rises with a, so an interval
 * of Clopper and Pearson for P(yes) becomes one for a by the same map, and
 * covers it with at least the same probability, for every n, eps and a; what
 * lies beyond 0 and 1 is cut off, since a does not (docs/validation.md).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "learn/learner.h"
#include "learn/right.h"
#include "mechanism/mechanism.h"
#include "mechanism/rows.h"
#include "privacy/binomial.h"
#include "random/draw.h"
#include "random/seeded.h"

/* ---- The question -------------------------------------------------------- */

static enum sotto_status
check_right(const struct sotto_model *model, size_t network,
            struct sotto_error *err)
{
    if (model->column == SIZE_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the model's classes are not the categories of one "
                         "column: there is nothing to compare them with");
    }
    if (network >= sotto_model_networks(model)) {
        return host_fail(err, SOTTO_STATUS_USAGE, network,
                         "the model has %zu network%s",
                         sotto_model_networks(model),
                         sotto_model_networks(model) == 1 ? "" : "s");
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
right_question(const struct sotto_model *model, size_t network,
               const char *name, const char *label, const char *eps,
               const char *path, struct sotto_mechanism **ret_mechanism,
               struct sotto_error *err)
{
    struct compose_part part = {
        .covers = "both",
        .channel = "flip",
        .blocks = 1,
        .factor = {{.k = (uint32_t)model->classes, .equal = true}},
        .factors = 1};
    struct device_net net = {0};
    enum sotto_status status = check_right(model, network, err);
    status =
        HOST_THEN(status, decimal_read_eps(eps, strlen(eps), &part.eps, err));
    status =
        HOST_THEN(status, model->learner->device(model, network, &net, err));
    if (status == SOTTO_STATUS_OK) {
        status = sending_write(model,
                               &(struct sending_plan){.name = name,
                                                      .net = &net,
                                                      .part = &part,
                                                      .compares = true,
                                                      .label = label,
                                                      .path = path},
                               ret_mechanism, err);
    }
    device_net_clear(&net);
    return status;
}

enum sotto_status
sotto_model_mechanism_right(const struct sotto_model *model, size_t network,
                            const char *label, const char *eps,
                            const char *path,
                            struct sotto_mechanism **ret_mechanism,
                            struct sotto_error *err)
{
    return right_question(model, network, "right", label, eps, path,
                          ret_mechanism, err);
}

/* ---- The answers --------------------------------------------------------- */

bool
right_asked(const struct sotto_mechanism *mechanism)
{
    const struct shape_part *part = &mechanism->shape.part[0];
    return mechanism->shape.parts == 1 && part->role == SHAPE_RIGHT &&
           part->blocks == 1 &&
           strcmp(part->instance->channel->name, "flip") == 0;
}

void
right_chances(const struct likelihood_instance *at, struct right_flip *ret_flip)
{
    static const int64_t yes = 1;
    const int32_t right = 1, wrong = 0;
    uint8_t wire[16];
    (void)at->likelihood->pack(at, &yes, wire); /* one of two symbols */
    ret_flip->right = exp(at->likelihood->log_p(at, wire, &right));
    ret_flip->wrong = exp(at->likelihood->log_p(at, wire, &wrong));
}

static double
clip_share(double share)
{
    return fmin(1, fmax(0, share));
}

void
right_read(const struct right_flip *flip, uint64_t yes, double z,
           struct sotto_right *right)
{
    double n = (double)right->reports, gap = flip->right - flip->wrong;
    double alpha = erfc(z / sqrt(2.0)) / 2; /* on each side */
    double a = ((double)yes / n - flip->wrong) / gap;
    double clipped = clip_share(a);
    double p = flip->wrong + gap * clipped;
    right->yes = (size_t)yes;
    right->share = a;
    right->error = sqrt(p * (1 - p) / n) / gap;
    right->low = clip_share(
        (binomial_lower(yes, right->reports, alpha) - flip->wrong) / gap);
    right->high = clip_share(
        (binomial_upper(yes, right->reports, alpha) - flip->wrong) / gap);
}

static enum sotto_status
check_asked(const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    return right_asked(mechanism)
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the mechanism does not ask whether a model is "
                           "right: sotto train right makes one that does");
}

/* Whether a report says yes. */
static bool
says_yes(const struct sotto_mechanism *mechanism, const uint8_t *report)
{
    int64_t answer;
    sotto_report_values(mechanism, report, 0, 0, &answer);
    return answer == 1;
}

enum sotto_status
sotto_right_estimate(const struct sotto_mechanism *mechanism,
                     const struct sotto_report_reader *reader, double z,
                     struct sotto_right *ret_right, struct sotto_error *err)
{
    struct sotto_right right = {.reports = sotto_report_reader_count(reader)};
    struct right_flip flip;
    uint64_t yes = 0;
    enum sotto_status status = check_asked(mechanism, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < right.reports; i++) {
        const uint8_t *report = sotto_report_reader_at(reader, i);
        right.simulated += sotto_report_simulated(report) ? 1 : 0;
        yes += says_yes(mechanism, report) ? 1 : 0;
    }
    if (right.reports == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "nobody has answered: there is nothing to estimate");
    }
    if (right.simulated > 0 && right.simulated < right.reports) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu reports are simulated and %zu are not: no "
                         "estimate from both means anything",
                         right.simulated, right.reports - right.simulated);
    }
    right_chances(&mechanism->likelihood[0], &flip);
    right_read(&flip, yes, z, &right);
    *ret_right = right;
    return SOTTO_STATUS_OK;
}

/* ---- Simulated answers ----------------------------------------------------
 */

/* The answers of `people` rows: each once if there are as many, else drawn by
   lot, with replacement. `wire` has room for a report. */
static enum sotto_status
count_simulated(struct rows *rows, size_t people, uint64_t seed, uint8_t *wire,
                uint64_t *ret_yes, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = rows->mechanism;
    size_t n = sotto_table_rows(rows->table);
    size_t size = mechanism->shape.report_size;
    struct seeded lot;
    uint64_t yes = 0;
    seeded_init(&lot, seed, UINT64_MAX); /* no person's stream */
    for (size_t i = 0; i < people; i++) {
        size_t row = people == n ? i : draw_below(&lot.random, (uint32_t)n);
        enum sotto_status status = sotto_simulate(
            mechanism, seed, i, rows_at(rows, row), rows->count, wire, size);
        if (status != SOTTO_STATUS_OK) {
            return host_fail(err, status, 0, "%s",
                             sotto_status_message(status));
        }
        yes += says_yes(mechanism, wire) ? 1 : 0;
    }
    *ret_yes = yes;
    return SOTTO_STATUS_OK;
}

/* Refuses a table that lacks a column: what is missing is no answer, and would
   look like "no". */
static enum sotto_status
check_columns(const struct rows *rows, struct sotto_error *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->column[i] == SIZE_MAX) {
            struct sotto_column_info column;
            sotto_mechanism_column(rows->mechanism, i, &column);
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "the table has no column \"%.80s\"", column.name);
        }
    }
    return SOTTO_STATUS_OK;
}

/* The share of rows of which the answer, before noise, is yes. */
static double
share_clean(struct rows *rows)
{
    size_t n = sotto_table_rows(rows->table), yes = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t q;
        rows_q(rows, i, &q);
        yes += q == 1 ? 1 : 0;
    }
    return (double)yes / (double)n;
}

enum sotto_status
sotto_right_simulate(struct sotto_mechanism *mechanism,
                     const struct sotto_table *table, size_t people,
                     uint64_t seed, double z, struct sotto_right *ret_right,
                     double *ret_clean, struct sotto_error *err)
{
    size_t n = sotto_table_rows(table);
    struct sotto_right right = {.reports = people > 0 ? people : n};
    struct right_flip flip;
    struct rows rows = {0};
    uint8_t *wire = NULL;
    uint64_t yes = 0;
    enum sotto_status status = check_asked(mechanism, err);
    if (status == SOTTO_STATUS_OK && (n == 0 || n > UINT32_MAX)) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "a table of %zu rows: 1 to %u can be asked", n,
                           UINT32_MAX);
    }
    status = HOST_THEN(status, rows_init(&rows, mechanism, table, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = check_columns(&rows, err);
    wire = malloc(mechanism->shape.report_size);
    if (status == SOTTO_STATUS_OK && wire == NULL) {
        status = host_fail_memory(err);
    }
    status = HOST_THEN(
        status, count_simulated(&rows, right.reports, seed, wire, &yes, err));
    if (status == SOTTO_STATUS_OK) {
        right.simulated = right.reports;
        right_chances(&mechanism->likelihood[0], &flip);
        right_read(&flip, yes, z, &right);
        *ret_right = right;
        if (ret_clean != NULL) {
            *ret_clean = share_clean(&rows);
        }
    }
    free(wire);
    rows_clear(&rows);
    return status;
}

size_t
sotto_right_best(const struct sotto_right *right, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++) {
        best = right[i].share > right[best].share ? i : best;
    }
    return best;
}

/* ---- The network that a mechanism asks about ----------------------------- */

/* Asks anew about a network, as the mechanism does and until it ends: its bytes
   must be those. */
static enum sotto_status
asks_about(const struct sotto_model *model, size_t network,
           const struct sotto_mechanism *mechanism, bool *ret_same,
           struct sotto_error *err)
{
    const struct shape *shape = &mechanism->shape;
    struct sotto_mechanism_info info;
    struct sotto_mechanism *own = NULL, *ended = NULL;
    enum sotto_status status;
    sotto_mechanism_info(mechanism, &info);
    status = sotto_model_mechanism_right(
        model, network, shape->schema.column[shape->part[0].column].name,
        info.eps_text, NULL, &own, err);
    status = HOST_THEN(
        status, sotto_mechanism_expire(own, info.expires, NULL, &ended, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_same = ended->size == mechanism->size &&
                    memcmp(ended->data, mechanism->data, ended->size) == 0;
    }
    sotto_mechanism_free(own);
    sotto_mechanism_free(ended);
    return status;
}

enum sotto_status
sotto_model_keep_right(struct sotto_model *model,
                       const struct sotto_mechanism *mechanism,
                       size_t *ret_network, struct sotto_error *err)
{
    const struct learner *learner = model->learner;
    size_t nets = sotto_model_networks(model), at = 0;
    bool same = false;
    enum sotto_status status = learner->check_keep != NULL
                                   ? learner->check_keep(model, err)
                                   : SOTTO_STATUS_OK;
    for (size_t i = 0; right_asked(mechanism) && i < nets && !same &&
                       status == SOTTO_STATUS_OK;
         i++) {
        status = asks_about(model, i, mechanism, &same, err);
        at = i;
    }
    if (status == SOTTO_STATUS_OK && !same) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the mechanism does not ask about a network of the "
                           "model");
    }
    status = HOST_THEN(status, learner->keep(model, at, err));
    if (status == SOTTO_STATUS_OK && ret_network != NULL) {
        *ret_network = at;
    }
    return status;
}
