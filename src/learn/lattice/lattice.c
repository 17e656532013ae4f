/*
 * lattice.c: the learner for reports about numbers and symbols beside a label.
 */
#include "learn/lattice/lattice.h"

#include <stdlib.h>

#include "host/error.h"

/* Takes every mechanism that no learner before it takes; of one that it cannot
   learn from, fit says why. */
static bool
takes_any(const struct sotto_mechanism *mechanism)
{
    (void)mechanism;
    return true;
}

enum sotto_status
lattice_new(struct sotto_model *model, bool other, struct sotto_error *err)
{
    struct lattice *lattice = calloc(1, sizeof *lattice);
    enum sotto_status status;
    if (lattice == NULL) {
        return host_fail_memory(err);
    }
    model->own = lattice;
    status = prior_shape_init(&lattice->shape, model->mechanism, other, err);
    if (status == SOTTO_STATUS_OK && lattice->shape.number) {
        status = host_fail(err, SOTTO_STATUS_INPUT, lattice->shape.label_part,
                           "the mechanism's label is a number: the learner "
                           "\"number\" takes it");
    }
    if (status == SOTTO_STATUS_OK) {
        model->classes = lattice->shape.classes;
        model->column = sotto_mechanism_part_column(
            model->mechanism, lattice->shape.label_part, 0);
    }
    return status;
}

size_t
lattice_inputs(const struct sotto_model *model, enum sotto_level level)
{
    return level == SOTTO_LEVEL_LATENT ? lattice_of(model)->shape.inputs
                                       : model->mechanism->shape.x;
}

static void
free_own(void *own)
{
    struct lattice *lattice = own;
    networks_clear(&lattice->networks);
    prior_shape_clear(&lattice->shape);
    free(lattice->point);
    free(lattice->p);
    free(lattice);
}

/* ---- One of several networks --------------------------------------------- */

static struct networks *
get_networks(const struct sotto_model *model)
{
    return &lattice_of(model)->networks;
}

/* Refuses where a prior was weighed whose records are not kept. */
static enum sotto_status
check_keep(const struct sotto_model *model, struct sotto_error *err)
{
    const struct lattice *lattice = lattice_of(model);
    return lattice->p == NULL ||
                   lattice->networks.plan.level != SOTTO_LEVEL_FEATURE
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "candidates are chosen at the level of "
                           "representations");
}

/* Sets what one network says of the points of the prior. */
static enum sotto_status
weigh_points(struct sotto_model *model, size_t network, struct sotto_error *err)
{
    struct lattice *lattice = lattice_of(model);
    struct networks one = lattice->networks;
    float *input = malloc((lattice->points * one.in + 1) * sizeof *input);
    enum sotto_status status = model_backend(model, err);
    one.net += network;
    one.count = 1;
    if (input == NULL) {
        return host_fail_memory(err);
    }
    for (size_t m = 0; m < lattice->points; m++) {
        prior_input(&lattice->shape, lattice->point + m * lattice->shape.width,
                    input + m * one.in);
    }
    if (status == SOTTO_STATUS_OK) { /* on failure p is as it was */
        status = networks_forward(&one, model->backend, input, lattice->points,
                                  lattice->p, err);
    }
    free(input);
    return status;
}

static enum sotto_status
keep_network(struct sotto_model *model, size_t network, struct sotto_error *err)
{
    struct lattice *lattice = lattice_of(model);
    enum sotto_status status = check_keep(model, err);
    if (status == SOTTO_STATUS_OK && lattice->p != NULL) {
        status = weigh_points(model, network, err);
    }
    if (status == SOTTO_STATUS_OK) {
        networks_swap(&lattice->networks, 0, network);
        networks_drop(&lattice->networks);
    }
    return status;
}

static const struct setting settings[] = {
    LEARN_SETTINGS,
    LEARN_SETTING("share-weight", SETTING_NUMBER, marginal, 0, 1000, NULL,
                  "ties the classes' shares to those of the label\n"
                  "reports (0)"),
    LEARN_SETTING("balanced", SETTING_FLAG, balanced, 0, 0, NULL,
                  "classes are known to be equally frequent: that is\n"
                  "their share, and share-weight is 0.1, if not given"),
    LEARN_SETTING("entropy", SETTING_NUMBER, entropy, 0, 1000, NULL,
                  "marginal: how much certainty counts, so that\n"
                  "boundaries run where few records are (0)"),
    LEARN_SETTING("smoothing", SETTING_NUMBER, smoothing, 0, 1, NULL,
                  "of what a label report says, towards nothing (0)"),
    LEARN_SETTING("bootstrap", SETTING_NUMBER, bootstrap, 0, 1, NULL,
                  "restarts weigh the reports by lot: candidates to\n"
                  "choose from (0)"),
    SETTING_END};

const struct learner learner_lattice = {
    .name = "lattice",
    .about =
        "for numbers or symbols beside a label: weighs each report over a\n"
        "prior, or classifies its estimate (docs/learning.md).",
    .settings = settings,
    .takes = takes_any,
    .check = lattice_check,
    .fit = lattice_fit,
    .fit_clean = lattice_fit_clean,
    .predict = lattice_predict,
    .predict_private = lattice_predict_private,
    .networks = get_networks,
    .check_keep = check_keep,
    .keep = keep_network,
    .device = lattice_device,
    .write = lattice_write,
    .read = lattice_read,
    .free = free_own,
};
