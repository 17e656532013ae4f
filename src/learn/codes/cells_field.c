/*
 * cells_field.c: the posterior over labels of many cells, each in the mean of
 * the others.
 *
 *     q_cy ~ exp(h_c G_cy + h_c^2 I_cy q_cy - pi_c (P_y - f_y) / (w f_y)^2),
 *     h_c = pi_c (p0 - rest)
 *
 * at J = pi (rest + (p0 - rest) q): the first term is what label y would add to
 * the log-likelihood, the second takes back what the cell's own q has in G, and
 * the third is the prior's (docs/codebook.md). Each cell is a small part of
 * every s_i, so the others' mean is what it meets; no lot is drawn.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/codes/cells.h"

#define PURITY 0.9
#define WIDTH_LEAST 1e-2
#define STEPS 100u
#define DAMPING 0.2
#define CHANGE_LEAST 1e-3

struct field {
    struct codes *codes;
    const double *pi, *share;
    double width, rest, gap;
    double *j, *g, *information, *q; /* pairs */
    double *held;                    /* classes */
};

/* The share of the people whose cells have each label. */
static void
set_held(struct field *field)
{
    size_t classes = field->codes->classes;
    memset(field->held, 0, classes * sizeof *field->held);
    for (size_t p = 0; p < field->codes->pairs; p++) {
        field->held[p % classes] += field->pi[p / classes] * field->q[p];
    }
}

static double
field_at(const struct field *field, size_t c, size_t y)
{
    size_t p = c * field->codes->classes + y;
    double pi = field->pi[c], h = pi * field->gap;
    double w = fmax(field->width * field->share[y], WIDTH_LEAST);
    return h * field->g[p] + h * h * field->information[p] * field->q[p] -
           pi * (field->held[y] - field->share[y]) / (w * w);
}

/* Moves a cell's q towards softmax of its field; by how much, at most. */
static double
move_cell(struct field *field, size_t c)
{
    size_t classes = field->codes->classes, first = c * classes;
    double most = -INFINITY, sum = 0, change = 0;
    for (size_t p = first; p < first + classes; p++) {
        field->j[p] = field_at(field, c, p - first);
        most = field->j[p] > most ? field->j[p] : most;
    }
    for (size_t p = first; p < first + classes; p++) {
        field->j[p] = exp(field->j[p] - most);
        sum += field->j[p];
    }
    for (size_t p = first; p < first + classes; p++) {
        double by = DAMPING * (field->j[p] / sum - field->q[p]);
        field->q[p] += by;
        change = fabs(by) > change ? fabs(by) : change;
    }
    return change;
}

static enum sotto_status
run_cells_field(struct field *field, const struct sotto_watch *watch,
                struct sotto_error *err)
{
    struct codes *codes = field->codes;
    size_t classes = codes->classes;
    double change = 1;
    for (size_t step = 0; step < STEPS && change > CHANGE_LEAST; step++) {
        enum sotto_status status = cells_tick(watch, step, STEPS, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        for (size_t p = 0; p < codes->pairs; p++) {
            field->j[p] = field->pi[p / classes] *
                          (field->rest + field->gap * field->q[p]);
        }
        (void)codes_pass(codes, field->j, field->g);
        set_held(field);
        change = 0;
        for (size_t c = 0; c < codes->cells; c++) {
            double by = move_cell(field, c);
            change = by > change ? by : change;
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
cells_field(struct codes *codes, const double *pi,
            const struct cells_options *options, double *ret_tau,
            struct cells_info *ret_info, struct sotto_error *err)
{
    size_t pairs = codes->pairs, classes = codes->classes;
    double rest = (1 - PURITY) / (double)(classes - 1);
    struct field field = {.codes = codes,
                          .pi = pi,
                          .share = options->share,
                          .width = options->width,
                          .rest = rest,
                          .gap = PURITY - rest};
    field.j = calloc(4 * pairs + classes, sizeof *field.j);
    if (field.j == NULL) {
        return host_fail_memory(err);
    }
    field.g = field.j + pairs;
    field.information = field.g + pairs;
    field.q = field.information + pairs;
    field.held = field.q + pairs;
    codes_information(codes, pi, options->share, field.information);
    for (size_t p = 0; p < pairs; p++) {
        field.q[p] = options->share[p % classes];
    }
    enum sotto_status status = run_cells_field(&field, options->watch, err);
    for (size_t p = 0; p < pairs && status == SOTTO_STATUS_OK; p++) {
        ret_tau[p] = field.rest + field.gap * field.q[p];
    }
    ret_info->purity = PURITY;
    free(field.j);
    return status;
}
