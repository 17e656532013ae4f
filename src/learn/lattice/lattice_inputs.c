/*
 * lattice_inputs.c: what a classifier learns from: labels and their order, and
 * points, posteriors, estimates or records.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/lattice/lattice_fit.h"
#include "random/draw.h"
#include "random/seeded.h"

#define PRIOR_STREAM 0x7072696f72u
#define BLOCK 1024u
#define OTHER_SHARE 1e-6

/* rows * in floats, zeroed. */
static enum sotto_status
allocate_x(struct fit *fit, size_t rows, struct sotto_error *err)
{
    fit->rows = rows;
    fit->x = rows < SIZE_MAX / sizeof(float) / (fit->in + 1)
                 ? calloc(rows * fit->in + 1, sizeof(float))
                 : NULL;
    return fit->x != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

enum sotto_status
fit_encode(struct crew *crew, size_t n, const struct sotto_watch *watch,
           crew_task *task, void *context, struct sotto_error *err)
{
    for (size_t first = 0; first < n; first += BLOCK) {
        if (watch->tick != NULL &&
            !watch->tick(watch->context, "encoding", first, n)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0, "stopped");
        }
        crew_run(crew, first, n - first < BLOCK ? n : first + BLOCK, task,
                 context);
    }
    return SOTTO_STATUS_OK;
}

/* ---- The prior ---------------------------------------------------------- */

void
fit_draw(uint64_t seed, size_t count, size_t used, size_t *ret_row)
{
    struct seeded seeded;
    size_t taken = 0;
    seeded_init(&seeded, seed, PRIOR_STREAM);
    /* Each with probability (still wanted) / (still there): every set of
       `used` is equally likely. */
    for (size_t i = 0; i < count && taken < used; i++) {
        if (draw_below(&seeded.random, (uint32_t)(count - i)) < used - taken) {
            ret_row[taken++] = i;
        }
    }
}

/* Which rows of a table the points, or the records, are. */
struct taking {
    struct fit *fit;
    const size_t *row;
    int32_t *point; /* records: of a thread */
    float *scores;  /* records of a codebook: of a thread */
    uint32_t *code; /* likewise: of every record */
    size_t point_width, scores_width;
};

static void
take_point(void *context, struct rows *rows, size_t m, unsigned worker)
{
    const struct taking *taking = context;
    struct fit *fit = taking->fit;
    int32_t *point = fit->point + m * fit->shape.width;
    float *x = fit->x + m * fit->in;
    (void)worker;
    rows_q(rows, taking->row[m], point);
    if (fit->options->level == SOTTO_LEVEL_FEATURE) {
        rows_encode(rows, taking->row[m], x, NULL);
    } else {
        prior_input(&fit->shape, point, x);
    }
}

static enum sotto_status
points_from_aux(struct fit *fit, const struct sotto_table *aux,
                const size_t *row, struct sotto_error *err)
{
    struct taking taking = {.fit = fit, .row = row};
    struct crew crew;
    enum sotto_status status =
        crew_init(&crew, fit->mechanism, aux, fit->pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = fit_encode(&crew, fit->points, &fit->options->watch,
                            take_point, &taking, err);
        crew_clear(&crew);
    }
    return status;
}

static void
points_from_analyst(struct fit *fit, const struct sotto_analyst *analyst,
                    const size_t *row)
{
    const int32_t *from = sotto_analyst_prior(analyst);
    size_t width = fit->shape.width;
    for (size_t m = 0; m < fit->points; m++) {
        memcpy(fit->point + m * width, from + row[m] * width,
               width * sizeof *from);
        prior_input(&fit->shape, from + row[m] * width, fit->x + m * fit->in);
    }
}

static enum sotto_status
check_prior(const struct fit *fit, const struct sotto_analyst *analyst,
            const struct sotto_table *aux, struct sotto_error *err)
{
    if (aux != NULL) {
        return sotto_table_rows(aux) > 0
                   ? SOTTO_STATUS_OK
                   : host_fail(err, SOTTO_STATUS_INPUT, 0,
                               "the auxiliary table has no rows");
    }
    if (fit->options->level == SOTTO_LEVEL_FEATURE) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "learning on records (level feature) from Eq. 11 "
                         "needs auxiliary records");
    }
    if (analyst == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "Eq. 11 needs a prior: an analyst file or auxiliary "
                         "records");
    }
    if (sotto_analyst_width(analyst) != fit->shape.width ||
        sotto_analyst_points(analyst) == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the analyst file's prior has %zu points of %zu "
                         "numbers, and a report is about %zu",
                         sotto_analyst_points(analyst),
                         sotto_analyst_width(analyst), fit->shape.width);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
fit_take_prior(struct fit *fit, const struct sotto_analyst *analyst,
               const struct sotto_table *aux, struct sotto_error *err)
{
    size_t count, *row = NULL;
    enum sotto_status status = check_prior(fit, analyst, aux, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    count = aux != NULL ? sotto_table_rows(aux) : sotto_analyst_points(analyst);
    status = prior_affordable(count, fit->options->prior_most, fit->reports,
                              &fit->points, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    row = malloc(fit->points * sizeof *row);
    fit->point = calloc(fit->points * fit->shape.width, sizeof *fit->point);
    if (row == NULL || fit->point == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    fit_draw(fit->options->seed, count, fit->points, row);
    status = allocate_x(fit, fit->points, err);
    if (status == SOTTO_STATUS_OK && aux != NULL) {
        status = points_from_aux(fit, aux, row, err);
    } else if (status == SOTTO_STATUS_OK) {
        points_from_analyst(fit, analyst, row);
    }
    if (status == SOTTO_STATUS_OK) {
        status =
            prior_init(&fit->prior, &fit->shape, fit->point, fit->points, err);
    }
done:
    free(row);
    return status;
}

enum sotto_status
fit_weigh_reports(struct fit *fit, struct sotto_error *err)
{
    struct posterior_options options = {.watch = &fit->options->watch};
    enum sotto_status status = posterior_new(
        &fit->prior, fit->report, fit->reports, fit->plan.chunk,
        fit->plan.chunks, fit->pool, &options, &fit->posterior, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    fit->info.points = fit->points;
    fit->info.kept = fit->posterior->kept;
    fit->info.truncated = fit->posterior->truncated;
    fit->info.memory = fit->posterior->bytes;
    return marginal_init(&fit->marginal, fit->posterior, &fit->labels,
                         &fit->plan, fit->pool, err);
}

/* ---- Reports as they are ------------------------------------------------ */

static enum sotto_status
check_decoder(const struct fit *fit, const struct sotto_analyst *analyst,
              struct sotto_error *err)
{
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

/* z~ / l of every report, decoded for the feature level. */
enum sotto_status
fit_take_estimates(struct fit *fit, const struct sotto_analyst *analyst,
                   struct sotto_error *err)
{
    bool feature = fit->options->level == SOTTO_LEVEL_FEATURE;
    size_t inputs = fit->shape.inputs;
    double *z = NULL, *room = NULL;
    enum sotto_status status =
        feature ? check_decoder(fit, analyst, err) : SOTTO_STATUS_OK;
    if (status == SOTTO_STATUS_OK) {
        status = allocate_x(fit, fit->reports, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    z = malloc(fit->reports * inputs * sizeof *z);
    room = malloc(prior_room(&fit->shape) * sizeof *room);
    if (fit->x == NULL || z == NULL || room == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t n = 0; n < fit->reports; n++) {
        prior_estimate(&fit->shape, fit->report[n], room, z + n * inputs);
        for (size_t i = 0; !feature && i < inputs; i++) {
            fit->x[n * inputs + i] = (float)z[n * inputs + i];
        }
    }
    if (feature) {
        status = sotto_analyst_decode(analyst, z, fit->reports, fit->x, err);
    }
done:
    free(z);
    free(room);
    return status;
}

/* ---- Labels and order ---------------------------------------------------- */

/* Whether the last class is a column's "other". */
static bool
has_other(const struct fit *fit)
{
    size_t classes = fit->labels.classes;
    return fit->model->codes.cells > 0
               ? classes == fit->model->codes.symbols
               : classes == fit->shape.label->instance->size &&
                     sotto_mechanism_part_column(
                         fit->mechanism, fit->shape.label_part, 0) != SIZE_MAX;
}

/* The same share for every class; hardly any for a column's "other", where that
   is a class at all, and not one of two. */
static void
balance(struct fit *fit)
{
    size_t classes = fit->labels.classes;
    bool other = classes > 2 && has_other(fit);
    double least = other ? OTHER_SHARE / (double)classes : 0;
    size_t alike = classes - (other ? 1 : 0);
    for (size_t y = 0; y < classes; y++) {
        fit->labels.share[y] = y < alike ? (1 - least) / (double)alike : least;
    }
}

static size_t
batches_of(const struct fit *fit)
{
    const struct learn_setting *setting = &fit->setting;
    double trained = (double)fit->labels.reports * (1 - setting->validation);
    if (setting->batches > 0) {
        return setting->batches;
    }
    return (size_t)(trained / setting->batch) + 1;
}

/* The order of what there is to learn from, once its labels are known. */
static enum sotto_status
make_plan(struct fit *fit, struct sotto_error *err)
{
    enum sotto_status status = plan_init(
        &fit->plan, &fit->labels, batches_of(fit), fit->setting.validation,
        POSTERIOR_CHUNK, fit->options->seed, err);
    if (status == SOTTO_STATUS_OK && fit->options->balanced) {
        balance(fit);
    }
    return status;
}

/* Reports in the order of the plan. */
enum sotto_status
fit_take_reports(struct fit *fit, const struct sotto_report_reader *reader,
                 struct sotto_error *err)
{
    size_t n = sotto_report_reader_count(reader);
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
        fit->report[i] = sotto_report_reader_at(reader, i);
    }
    status = labels_init(&fit->labels, &fit->shape, fit->report, n,
                         fit->options->objective == SOTTO_OBJECTIVE_PLAIN,
                         fit->setting.smoothing, err);
    if (status == SOTTO_STATUS_OK) {
        status = make_plan(fit, err);
    }
    if (status == SOTTO_STATUS_OK) {
        for (size_t i = 0; i < n; i++) {
            sorted[i] = fit->report[fit->plan.order[i]];
        }
        memcpy(fit->report, sorted, n * sizeof *sorted);
    }
done:
    free(sorted);
    return status;
}

/* ---- Clean records ------------------------------------------------------ */

/* The rows with a known class, and their classes. */
static size_t
find_labelled(struct rows *rows, size_t classes, size_t *ret_row,
              size_t *ret_truth)
{
    size_t count = 0;
    for (size_t i = 0; i < sotto_table_rows(rows->table); i++) {
        size_t truth = rows_class(rows, i);
        if (truth < classes) {
            ret_row[count] = i;
            ret_truth[count++] = truth;
        }
    }
    return count;
}

static void
take_record(void *context, struct rows *rows, size_t i, unsigned worker)
{
    const struct taking *taking = context;
    const struct fit *fit = taking->fit;
    size_t row = taking->row[fit->plan.order[i]];
    float *x = fit->x + i * fit->in;
    if (taking->code != NULL) {
        taking->code[i] =
            fit_encode_code(fit->model, rows, row,
                            taking->scores + worker * taking->scores_width, x);
    } else {
        model_input(fit->model, rows, row,
                    taking->point + worker * taking->point_width, x);
    }
}

/* In the order of the plan, as are the codes of a codebook's. */
static enum sotto_status
take_records(struct fit *fit, struct crew *crew, const size_t *row,
             uint32_t *code, struct sotto_error *err)
{
    struct taking taking = {.fit = fit,
                            .row = row,
                            .point_width = model_point_width(fit->model),
                            .scores_width = rows_z_width(&crew->rows[0])};
    size_t points = crew->devices * taking.point_width * sizeof(int32_t);
    size_t scores = crew->devices * taking.scores_width * sizeof(float);
    enum sotto_status status = allocate_x(fit, fit->labels.reports, err);
    taking.code = code;
    taking.point = malloc(points);
    taking.scores = malloc(scores);
    if (taking.point == NULL || taking.scores == NULL) {
        status = host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = fit_encode(crew, fit->labels.reports, &fit->options->watch,
                            take_record, &taking, err);
    }
    host_wipe_free(taking.point, points);
    host_wipe_free(taking.scores, scores);
    return status;
}

/* Encodes each record once, for the network and for the tables. */
static enum sotto_status
take_codes(struct fit *fit, struct crew *crew, const size_t *row,
           const size_t *truth, struct sotto_error *err)
{
    size_t n = fit->labels.reports;
    uint32_t *code = calloc(n + 1, sizeof *code);
    size_t *sorted = calloc(n + 1, sizeof *sorted);
    enum sotto_status status;
    if (code == NULL || sorted == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = take_records(fit, crew, row, code, err);
    if (status == SOTTO_STATUS_OK) {
        for (size_t i = 0; i < n; i++) {
            sorted[i] = truth[fit->plan.order[i]];
        }
        status = fit_count_codes(fit->model, code, sorted, n, err);
    }
done:
    host_wipe_free(code, (n + 1) * sizeof *code);
    host_wipe_free(sorted, (n + 1) * sizeof *sorted);
    return status;
}

enum sotto_status
fit_take_table(struct fit *fit, struct crew *crew, struct sotto_error *err)
{
    struct rows *rows = &crew->rows[0];
    size_t n = sotto_table_rows(rows->table), count;
    size_t *row = malloc((n + 1) * sizeof *row);
    size_t *truth = malloc((n + 1) * sizeof *truth);
    enum sotto_status status;
    if (row == NULL || truth == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    count = find_labelled(rows, fit->model->classes, row, truth);
    status = labels_init_clean(&fit->labels, fit->model->classes, truth, count,
                               fit->setting.smoothing, err);
    if (status == SOTTO_STATUS_OK) {
        status = make_plan(fit, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = fit->model->codes.cells > 0
                     ? take_codes(fit, crew, row, truth, err)
                     : take_records(fit, crew, row, NULL, err);
    }
done:
    host_wipe_free(row, (n + 1) * sizeof *row);
    host_wipe_free(truth, (n + 1) * sizeof *truth);
    return status;
}
