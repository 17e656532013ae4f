/*
 * codes_cut.c: a model for private inference with another cut of the codebook
 * than the one it was learnt from.
 *
 * Collecting and asking want different numbers of codes: a collection can
 * average over many reports, and one report alone cannot. The networks stay;
 * p(y | c) of a new cell is what they say of its auxiliary records:
 *
 *     tau(c, y) = mean of p(y | z_m) over the records m of cell c
 *     pi(c)     = their share
 *
 * The number of codes is the one of which most is expected (expected.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "host/settings.h"
#include "host/wipe.h"
#include "learn/codes/codes_last.h"
#include "learn/labelled.h"

/* Codes that are tried, in tenths of the classes, where the caller names
   none. */
static const size_t tenths[] = {10, 12, 15, 20, 30, 50, 100};
#define TRIED (sizeof tenths / sizeof *tenths)

static enum sotto_status
check_codebook(const struct sotto_model *model,
               const struct sotto_codebook *codebook, struct sotto_error *err)
{
    if (model->learner != &learner_codes) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "codes are cut for the model of a codebook, and this "
                         "one has none");
    }
    if (codebook->label != SIZE_MAX || codebook->d != codes_of(model)->in ||
        model->column == SIZE_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the codebook has a label, or other representations "
                         "than the model takes");
    }
    return SOTTO_STATUS_OK;
}

/* Chooses the cut, from what the networks say of the codebook's records. */
static enum sotto_status
choose_cut(struct sotto_model *model, struct sotto_codebook *codebook,
           const size_t *count, size_t counts, double eps,
           struct expected_cells *ret_cells, struct sotto_error *err)
{
    size_t n = codebook->n, classes = model->classes, tried[TRIED];
    size_t size = (n * classes + 1) * sizeof(float);
    float *p = malloc(size);
    enum sotto_status status = model_backend(model, err);
    if (p == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < TRIED; i++) {
        tried[i] = classes * tenths[i] / 10;
    }
    if (count != NULL && counts > 0 &&
        count[0] > sotto_codebook_cells(codebook)) {
        status = HOST_THEN(
            status, settings_fail(err, "k",
                                  "%zu codes are more than the %zu cells that "
                                  "the records fill",
                                  count[0], sotto_codebook_cells(codebook)));
    }
    status = HOST_THEN(
        status, networks_forward(&codes_of(model)->classifier->networks,
                                 model->backend, codebook->z, n, p, err));
    status = HOST_THEN(
        status, expected_choose_cut(codebook, count != NULL ? count : tried,
                                    count != NULL ? counts : TRIED, classes, p,
                                    eps, ret_cells, err));
    host_wipe_free(p, size);
    return status;
}

/* The doubt about classes is the networks', whatever the cells are. */
static enum sotto_status
copy_exchanged(const struct classifier *from, struct classifier *to,
               struct sotto_error *err)
{
    size_t size = from->classes * from->classes * sizeof *from->exchanged;
    if (from->exchanged == NULL) {
        return SOTTO_STATUS_OK;
    }
    to->exchanged = malloc(size);
    if (to->exchanged == NULL) {
        return host_fail_memory(err);
    }
    memcpy(to->exchanged, from->exchanged, size);
    return SOTTO_STATUS_OK;
}

/* The network on the record has nothing to do with cells either. */
static enum sotto_status
copy_last(const struct sotto_model *from, struct sotto_model *to,
          struct sotto_error *err)
{
    struct device_net net = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (codes_of(from)->last != NULL) {
        status = codes_device(from, 0, &net, err);
        status = HOST_THEN(status, codes_last_set(to, &net, err));
        device_net_clear(&net);
    }
    return status;
}

/* Copies the networks, and sets the tables to the cells'. */
static enum sotto_status
fill_model(struct sotto_model *cut, const struct classifier *from,
           const struct expected_cells *cells, struct sotto_error *err)
{
    const struct networks *networks = &from->networks;
    struct networks_plan plan = networks->plan;
    struct codes_model *own;
    size_t pairs = cells->cells * cells->classes;
    enum sotto_status status =
        codes_model_new(cut, plan.other, plan.level, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    own = codes_of(cut);
    plan.count = networks->count;
    status = classifier_new(own->in, cells->cells, cells->classes, &plan,
                            &own->classifier, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < networks->count; i++) {
        const struct nn_arena *arena = &networks->net[i].arena;
        memcpy(own->classifier->networks.net[i].arena.value, arena->value,
               arena->size * sizeof *arena->value);
    }
    memcpy(own->classifier->pi, cells->pi, cells->cells * sizeof *cells->pi);
    memcpy(own->classifier->tau, cells->tau, pairs * sizeof *cells->tau);
    memcpy(own->classifier->tau_bar, cells->tau, pairs * sizeof *cells->tau);
    return copy_exchanged(from, own->classifier, err);
}

static enum sotto_status
make_model(const struct sotto_model *model, const struct sotto_mechanism *code,
           const struct expected_cells *cells, struct sotto_model **ret_model,
           struct sotto_error *err)
{
    struct sotto_mechanism *labelled = NULL;
    struct sotto_model *cut = NULL;
    enum sotto_status status = labelled_like(model, code, &labelled, err);
    status = HOST_THEN(status, model_new(&learner_codes, labelled, &cut, err));
    status = HOST_THEN(
        status, fill_model(cut, codes_of(model)->classifier, cells, err));
    status = HOST_THEN(status, copy_last(model, cut, err));
    sotto_mechanism_free(labelled);
    if (status == SOTTO_STATUS_OK) {
        cut->clean = model->clean;
        *ret_model = cut;
    } else {
        sotto_model_free(cut);
    }
    return status;
}

enum sotto_status
sotto_model_cut(struct sotto_model *model, struct sotto_codebook *codebook,
                const size_t *count, size_t counts, const char *eps,
                const char *path, struct sotto_mechanism **ret_mechanism,
                struct sotto_model **ret_model, struct sotto_error *err)
{
    struct sotto_codebook_choice choice = {.channel = "flip"};
    struct expected_cells cells = {0};
    struct sotto_mechanism *code = NULL;
    uint64_t units = 0;
    enum sotto_status status = check_codebook(model, codebook, err);
    status = HOST_THEN(status, decimal_read_eps(eps, strlen(eps), &units, err));
    status = HOST_THEN(status, choose_cut(model, codebook, count, counts,
                                          (double)units / (double)SOTTO_UNIT,
                                          &cells, err));
    if (status == SOTTO_STATUS_OK) {
        choice.k = cells.cells;
        status = sotto_codebook_write(codebook, &choice, eps, path, NULL, &code,
                                      err);
    }
    if (status == SOTTO_STATUS_OK && cells.pi != NULL && cells.tau != NULL) {
        status = make_model(model, code, &cells, ret_model, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_mechanism = code;
    } else {
        sotto_mechanism_free(code);
    }
    expected_cells_clear(&cells);
    return status;
}
