/*
 * right.c: asking devices whether a model is right about them.
 *
 *     class of the record, by the model   \
 *                                          equal? -- flip at eps --> a report
 *     label of the record                 /
 *
 * One bit through randomised response depends on record and label together, so
 * eps holds for any two records and labels at once. Of n reports, s of them
 * yes, with p = 1 / (1 + e^eps) the chance of a flip,
 *
 *     share = (s / n - p) / (1 - 2 p)
 *
 * is unbiased. Its variance is share (1 - share) / n, of who was asked, and
 * p (1 - p) / (1 - 2 p)^2 / n, of the noise.
 */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "learn/learner.h"
#include "mechanism/mechanism.h"

#define EQUAL 1u /* the row of the estimate: 0 is "different" */

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
sotto_model_mechanism_right(const struct sotto_model *model, size_t network,
                            const char *label, const char *eps,
                            const char *path,
                            struct sotto_mechanism **ret_mechanism,
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
                               &(struct sending_plan){.name = "right",
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

/* ---- The answers --------------------------------------------------------- */

/* Whether a report of it says, through flip, whether the class is the label. */
static bool
asks_right(const struct sotto_mechanism *mechanism)
{
    const struct shape_part *part = &mechanism->shape.part[0];
    return mechanism->shape.parts == 1 && part->role == SHAPE_RIGHT &&
           part->blocks == 1 &&
           strcmp(part->instance->channel->name, "flip") == 0;
}

static void
read_share(const struct sotto_estimate *estimate, double z,
           struct sotto_right *right)
{
    struct sotto_estimate_row row;
    double n = (double)right->reports, spread;
    sotto_estimate_row(estimate, EQUAL, z, &row);
    spread = row.value * (1 - row.value) / n;
    right->share = row.value;
    right->error =
        sqrt(fmax(0, spread) + row.noise_deviation * row.noise_deviation);
    right->low = row.low;
    right->high = row.high;
}

enum sotto_status
sotto_right_estimate(const struct sotto_mechanism *mechanism,
                     const struct sotto_report_reader *reader, double z,
                     struct sotto_right *ret_right, struct sotto_error *err)
{
    struct sotto_right right = {.reports = sotto_report_reader_count(reader)};
    struct sotto_estimate *estimate = NULL;
    enum sotto_status status;
    if (!asks_right(mechanism)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism does not ask whether a model is right: "
                         "sotto train right makes one that does");
    }
    status = sotto_estimate_new(mechanism, &estimate, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < right.reports; i++) {
        const uint8_t *report = sotto_report_reader_at(reader, i);
        right.simulated += sotto_report_simulated(report) ? 1 : 0;
        sotto_estimate_add(estimate, report);
    }
    if (status == SOTTO_STATUS_OK && right.simulated > 0 &&
        right.simulated < right.reports) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "%zu reports are simulated and %zu are not: no "
                           "estimate from both means anything",
                           right.simulated, right.reports - right.simulated);
    }
    if (status == SOTTO_STATUS_OK) {
        read_share(estimate, z, &right);
        *ret_right = right;
    }
    sotto_estimate_free(estimate);
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
    for (size_t i = 0; asks_right(mechanism) && i < nets && !same &&
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
