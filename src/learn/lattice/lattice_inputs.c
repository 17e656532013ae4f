/*
 * lattice_inputs.c: what a lattice's networks learn from: labels and their
 * order, and points, posteriors, estimates or records.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/settings.h"
#include "host/wipe.h"
#include "learn/lattice/lattice_fit.h"

_Static_assert(SUPERVISION_CHUNK <= POSTERIOR_CHUNK,
               "a chunk of the plan is a chunk of the posterior");

/* ---- The prior ---------------------------------------------------------- */

/* Which rows of a table the points, or the records, are. */
struct taking {
    struct lattice_fit *fit;
    const size_t *row;
    int32_t *point; /* records: shape.width numbers a thread */
};

static void
take_point(void *context, struct rows *rows, size_t m, unsigned worker)
{
    const struct taking *taking = context;
    struct lattice_fit *fit = taking->fit;
    int32_t *point = fit->point + m * fit->shape->width;
    float *x = fit->learnt.x + m * fit->in;
    (void)worker;
    rows_q(rows, taking->row[m], point);
    if (fit->job->options->level == SOTTO_LEVEL_FEATURE) {
        rows_encode(rows, taking->row[m], x, NULL);
    } else {
        prior_input(fit->shape, point, x);
    }
}

static enum sotto_status
points_from_aux(struct lattice_fit *fit, const size_t *row,
                struct sotto_error *err)
{
    struct taking taking = {.fit = fit, .row = row};
    struct crew crew;
    enum sotto_status status = crew_init(
        &crew, fit->model->mechanism, fit->job->table, fit->model->pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = crew_run_watched(&crew, fit->points, &fit->job->options->watch,
                                  "encoding", take_point, &taking, err);
        crew_clear(&crew);
    }
    return status;
}

static void
points_from_analyst(struct lattice_fit *fit, const size_t *row)
{
    const int32_t *from = sotto_analyst_prior(fit->job->analyst);
    size_t width = fit->shape->width;
    for (size_t m = 0; m < fit->points; m++) {
        memcpy(fit->point + m * width, from + row[m] * width,
               width * sizeof *from);
        prior_input(fit->shape, from + row[m] * width,
                    fit->learnt.x + m * fit->in);
    }
}

/* Says that a prior is missing (P0 Eq. 11), and how to give one. */
static enum sotto_status
fail_aux(struct sotto_error *err, const char *message)
{
    enum sotto_status status =
        host_fail(err, SOTTO_STATUS_USAGE, 0, "%s", message);
    status = host_about(status, err, SOTTO_ABOUT_PARAMETER, "mechanism");
    return host_remedy(status, err, "aux");
}

enum sotto_status
lattice_check_prior(const struct sotto_mechanism *mechanism,
                    const struct learn_job *job, struct sotto_error *err)
{
    const struct sotto_table *aux = job->table;
    (void)mechanism;
    if (aux != NULL) {
        return sotto_table_rows(aux) > 0
                   ? SOTTO_STATUS_OK
                   : host_fail(err, SOTTO_STATUS_INPUT, 0,
                               "the auxiliary table has no rows");
    }
    if (job->options->level == SOTTO_LEVEL_FEATURE) {
        return fail_aux(err, "learning on records (level feature) needs "
                             "public records of the same kind");
    }
    return job->analyst != NULL
               ? SOTTO_STATUS_OK
               : fail_aux(err, "this mechanism has no analyst file: give "
                               "public records of the same kind");
}

static enum sotto_status
check_prior(const struct lattice_fit *fit, struct sotto_error *err)
{
    const struct sotto_analyst *analyst = fit->job->analyst;
    enum sotto_status status =
        lattice_check_prior(fit->model->mechanism, fit->job, err);
    if (status != SOTTO_STATUS_OK || fit->job->table != NULL) {
        return status;
    }
    if (sotto_analyst_width(analyst) != fit->shape->width ||
        sotto_analyst_points(analyst) == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the analyst file's prior has %zu points of %zu "
                         "numbers, and a report is about %zu",
                         sotto_analyst_points(analyst),
                         sotto_analyst_width(analyst), fit->shape->width);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
lattice_take_prior(struct lattice_fit *fit, struct sotto_error *err)
{
    const struct sotto_analyst *analyst = fit->job->analyst;
    const struct sotto_table *aux = fit->job->table;
    size_t count, *row = NULL;
    enum sotto_status status = check_prior(fit, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    count = aux != NULL ? sotto_table_rows(aux) : sotto_analyst_points(analyst);
    status = prior_affordable(count, fit->job->options->prior_most,
                              fit->reports, &fit->points, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    row = malloc(fit->points * sizeof *row);
    fit->point = calloc(fit->points * fit->shape->width, sizeof *fit->point);
    if (row == NULL || fit->point == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    supervision_draw(fit->job->options->seed, count, fit->points, row);
    status = supervision_reserve(&fit->learnt, fit->points, fit->in, err);
    if (status == SOTTO_STATUS_OK && aux != NULL) {
        status = points_from_aux(fit, row, err);
    } else if (status == SOTTO_STATUS_OK) {
        points_from_analyst(fit, row);
    }
    status = HOST_THEN(status, prior_init(&fit->prior, fit->shape, fit->point,
                                          fit->points, err));
done:
    free(row);
    return status;
}

enum sotto_status
lattice_weigh_reports(struct lattice_fit *fit, struct sotto_error *err)
{
    struct posterior_options options = {.watch = &fit->job->options->watch};
    enum sotto_status status =
        posterior_new(&fit->prior, fit->report, fit->reports,
                      fit->learnt.plan.chunk, fit->learnt.plan.chunks,
                      fit->model->pool, &options, &fit->posterior, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    fit->info.points = fit->points;
    fit->info.kept = fit->posterior->kept;
    fit->info.truncated = fit->posterior->truncated;
    fit->info.memory = fit->posterior->bytes;
    return marginal_init(&fit->marginal, fit->posterior, &fit->learnt.labels,
                         &fit->learnt.plan, fit->model->pool, err);
}

/* ---- Reports as they are ------------------------------------------------ */

static enum sotto_status
check_decoder(const struct lattice_fit *fit, struct sotto_error *err)
{
    const struct sotto_analyst *analyst = fit->job->analyst;
    if (analyst == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "learning on records (level feature) from reports "
                         "as they are needs an analyst file");
    }
    if (sotto_analyst_x_width(analyst) != fit->in) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the analyst file decodes to %zu numbers, and a "
                         "record of the mechanism has %zu",
                         sotto_analyst_x_width(analyst), fit->in);
    }
    return SOTTO_STATUS_OK;
}

/* Takes z~ / l of every report, decoded for the feature level. */
enum sotto_status
lattice_take_estimates(struct lattice_fit *fit, struct sotto_error *err)
{
    bool feature = fit->job->options->level == SOTTO_LEVEL_FEATURE;
    size_t inputs = fit->shape->inputs;
    double *z = NULL, *room = NULL;
    enum sotto_status status =
        feature ? check_decoder(fit, err) : SOTTO_STATUS_OK;
    status = HOST_THEN(
        status, supervision_reserve(&fit->learnt, fit->reports, fit->in, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    z = malloc(fit->reports * inputs * sizeof *z);
    room = malloc(prior_room(fit->shape) * sizeof *room);
    if (fit->learnt.x == NULL || z == NULL || room == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t n = 0; n < fit->reports; n++) {
        prior_estimate(fit->shape, fit->report[n], room, z + n * inputs);
        for (size_t i = 0; !feature && i < inputs; i++) {
            fit->learnt.x[n * inputs + i] = (float)z[n * inputs + i];
        }
    }
    if (feature) {
        status = sotto_analyst_decode(fit->job->analyst, z, fit->reports,
                                      fit->learnt.x, err);
    }
done:
    free(z);
    free(room);
    return status;
}

/* ---- Labels and order ---------------------------------------------------- */

/* Whether the last class is a column's "(other)". */
static bool
has_other(const struct lattice_fit *fit)
{
    return fit->shape->classes == fit->shape->label->instance->size &&
           fit->model->column != SIZE_MAX;
}

/* Puts the reports in the order of the plan. */
enum sotto_status
lattice_take_reports(struct lattice_fit *fit, struct sotto_error *err)
{
    const struct labels_part part = {.likelihood = fit->shape->label,
                                     .offset = fit->shape->label_offset,
                                     .classes = fit->shape->classes};
    size_t n = sotto_report_reader_count(fit->job->reader);
    const uint8_t **sorted = NULL;
    enum sotto_status status;
    fit->reports = n;
    fit->report = malloc((n + 1) * sizeof *fit->report);
    sorted = malloc((n + 1) * sizeof *sorted);
    if (fit->report == NULL || sorted == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        fit->report[i] = sotto_report_reader_at(fit->job->reader, i);
    }
    status = labels_init(&fit->learnt.labels, &part, fit->report, n,
                         fit->job->options->objective == SOTTO_OBJECTIVE_PLAIN,
                         fit->learnt.options.smoothing, err);
    status =
        HOST_THEN(status, supervision_plan(&fit->learnt, has_other(fit), err));
    if (status == SOTTO_STATUS_OK) {
        for (size_t i = 0; i < n; i++) {
            sorted[i] = fit->report[fit->learnt.plan.order[i]];
        }
        memcpy(fit->report, sorted, n * sizeof *sorted);
    }
done:
    free(sorted);
    return status;
}

/* ---- Clean records ------------------------------------------------------ */

static void
take_record(void *context, struct rows *rows, size_t i, unsigned worker)
{
    const struct taking *taking = context;
    struct lattice_fit *fit = taking->fit;
    lattice_input(fit->model, rows, taking->row[i],
                  taking->point + worker * fit->shape->width,
                  fit->learnt.x + i * fit->in);
}

static enum sotto_status
take_rows(struct lattice_fit *fit, struct crew *crew, struct sotto_error *err)
{
    struct supervision_records records = {0};
    struct taking taking = {.fit = fit};
    size_t size = crew->devices * fit->shape->width * sizeof *taking.point;
    enum sotto_status status = supervision_take_labels(
        &fit->learnt, crew, fit->shape->classes, has_other(fit), &records, err);
    status = HOST_THEN(
        status, supervision_reserve(&fit->learnt, records.count, fit->in, err));
    if (status == SOTTO_STATUS_OK) {
        taking.row = records.row;
        taking.point = malloc(size);
        status = taking.point != NULL
                     ? crew_run_watched(crew, records.count,
                                        &fit->job->options->watch, "encoding",
                                        take_record, &taking, err)
                     : host_fail_memory(err);
    }
    host_wipe_free(taking.point, size);
    supervision_records_clear(&records);
    return status;
}

enum sotto_status
lattice_take_table(struct lattice_fit *fit, struct sotto_error *err)
{
    struct crew crew;
    enum sotto_status status = crew_init(
        &crew, fit->model->mechanism, fit->job->table, fit->model->pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = take_rows(fit, &crew, err);
        crew_clear(&crew);
    }
    return status;
}
