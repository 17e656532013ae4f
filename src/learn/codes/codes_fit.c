/*
 * codes_fit.c: a classifier from reports of a codebook's mechanism, or from
 * clean records of one.
 *
 *     analyst or aux -> z, codes        of the auxiliary records
 *     reports        -> classifier      classifier_fit.c
 *     aux            -> last            codes_last.c, where it pays
 *
 * Records and codes go through the device's own encoder: the code is what a
 * report is about.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/analyst.h"
#include "host/error.h"
#include "host/settings.h"
#include "host/wipe.h"
#include "learn/codes/codes_last.h"
#include "learn/codes/smooth_leaves.h"
#include "learn/supervision.h"
#include "mechanism/decompose.h"

#define GAP_MOST 1.0    /* nats, up to which a forecast is told */
#define WIDTH_MOST 0.20 /* of its interval: a wider one tells nothing */
#define COUNTED_LEAST                                                          \
    ((size_t)1 << 18)  /* reports from which on what came several times is     \
                          a row with a weight */
#define CELL_COUNT 0.5 /* added to each cell's, as classifier_fit.c has it */

/* ---- Auxiliary records ----------------------------------------------------
 */

struct source {
    struct sotto_model *model;
    const struct learn_job *job;
    size_t *row; /* which records, of all; NULL: not drawn */
    float *z;
    uint32_t *code; /* n of each book */
    float *target;  /* for the last fit; NULL: there is none */
    size_t n;
};

static void
source_clear(struct source *source)
{
    size_t n = source->n;
    free(source->row);
    host_wipe_free(source->target,
                   (n * source->model->classes + 1) * sizeof *source->target);
    host_wipe_free(source->z,
                   (n * codes_of(source->model)->in + 1) * sizeof(float));
    host_wipe_free(source->code,
                   (n * codes_of(source->model)->shape.books + 1) *
                       sizeof *source->code);
}

/* Sets z and the device's own code of record m in each book. `scores` has room
   for the outputs. */
static void
encode_code(struct source *source, struct rows *rows, size_t row, size_t m,
            float *scores)
{
    const struct codes_model *own = codes_of(source->model);
    const struct codes_shape *shape = &own->shape;
    rows_scores(rows, row, source->z + m * own->in, scores);
    for (size_t b = 0; b < shape->books; b++) {
        source->code[b * source->n + m] = (uint32_t)domain_largest(
            scores + shape->at + b * shape->cells, (uint32_t)shape->cells);
    }
}

/* Rows of a table, and room for a thread's scores. */
struct code_taking {
    struct source *source;
    const size_t *row;
    float *scores;
    size_t width;
};

static void
take_row(void *context, struct rows *rows, size_t m, unsigned worker)
{
    const struct code_taking *taking = context;
    encode_code(taking->source, rows, taking->row[m], m,
                taking->scores + worker * taking->width);
}

static enum sotto_status
take_rows(struct source *source, struct crew *crew, const size_t *row,
          struct sotto_error *err)
{
    struct code_taking taking = {
        .source = source, .row = row, .width = rows_z_width(&crew->rows[0])};
    size_t size = crew->devices * taking.width * sizeof *taking.scores;
    enum sotto_status status;
    taking.scores = malloc(size);
    status =
        taking.scores != NULL
            ? crew_run_watched(crew, source->n, &source->job->options->watch,
                               "encoding", take_row, &taking, err)
            : host_fail_memory(err);
    host_wipe_free(taking.scores, size);
    return status;
}

static enum sotto_status
take_table(struct source *source, struct sotto_error *err)
{
    struct crew crew;
    enum sotto_status status =
        crew_init(&crew, source->model->mechanism, source->job->table,
                  source->model->pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = take_rows(source, &crew, source->row, err);
        crew_clear(&crew);
    }
    return status;
}

static enum sotto_status
take_analyst(struct source *source, struct sotto_error *err)
{
    const size_t *row = source->row;
    const struct sotto_analyst *analyst = source->job->analyst;
    size_t in = codes_of(source->model)->in, width = 0;
    size_t books = codes_of(source->model)->shape.books;
    uint32_t layers = 0;
    const int32_t *code = sotto_analyst_prior(analyst);
    const float *z = analyst_representation(analyst, &width, &layers);
    if (z == NULL || width != in || layers != codes_of(source->model)->layers ||
        sotto_analyst_width(analyst) != books) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the analyst file is not a codebook's, or its "
                         "representations are not the mechanism's");
    }
    for (size_t m = 0; m < source->n; m++) {
        memcpy(source->z + m * in, z + row[m] * in, in * sizeof *z);
        for (size_t b = 0; b < books; b++) {
            source->code[b * source->n + m] =
                (uint32_t)code[row[m] * books + b];
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_source(const struct learn_job *job, struct sotto_error *err)
{
    const struct sotto_analyst *analyst = job->analyst;
    const struct sotto_table *aux = job->table;
    if (aux == NULL && analyst == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "learning from codes needs an analyst file or "
                         "auxiliary records");
    }
    if (aux != NULL && sotto_table_rows(aux) == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the auxiliary table has no rows");
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
take_source(struct source *source, struct sotto_error *err)
{
    const struct sotto_analyst *analyst = source->job->analyst;
    const struct sotto_table *aux = source->job->table;
    size_t count, most = source->job->options->prior_most;
    enum sotto_status status = check_source(source->job, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    count = aux != NULL ? sotto_table_rows(aux) : sotto_analyst_points(analyst);
    source->n = most > 0 && most < count ? most : count;
    if (source->model->mechanism->shape.columns) {
        const struct codes_shape *shape = &codes_of(source->model)->shape;
        source->n =
            smooth_leaves_records(shape->books, shape->cells, source->n);
    }
    source->row = malloc((source->n + 1) * sizeof *source->row);
    source->z =
        source->n < SIZE_MAX / sizeof(float) / (codes_of(source->model)->in + 1)
            ? calloc(source->n * codes_of(source->model)->in + 1, sizeof(float))
            : NULL;
    source->code = calloc(source->n * codes_of(source->model)->shape.books + 1,
                          sizeof *source->code);
    if (source->row == NULL || source->z == NULL || source->code == NULL) {
        return host_fail_memory(err);
    }
    supervision_draw(source->job->options->seed, count, source->n, source->row);
    return aux != NULL ? take_table(source, err) : take_analyst(source, err);
}

/* Makes room for what a last fit is fitted to, if there is to be one. */
static enum sotto_status
reserve_target(struct source *source, struct sotto_error *err)
{
    if (codes_last_epochs(source->model, source->job) == 0) {
        return SOTTO_STATUS_OK;
    }
    source->target =
        calloc(source->n * source->model->classes + 1, sizeof *source->target);
    return source->target != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

/* ---- From reports ---------------------------------------------------------
 */

static enum sotto_status
check_options(const struct learn_options *options, struct sotto_error *err)
{
    if (options->objective != SOTTO_OBJECTIVE_MARGINAL) {
        return settings_fail(err, "objective",
                             "is not for codebooks: reports about codes are "
                             "learnt from by their likelihood, not as label "
                             "and plain do; leave it out");
    }
    if (options->restarts > 1) {
        return settings_fail(err, "restarts",
                             "is not for codebooks: their classifier is one "
                             "network; leave it out");
    }
    return SOTTO_STATUS_OK;
}

bool
codes_tallies(const struct sotto_mechanism *mechanism)
{
    struct codes_shape shape;
    return codes_shape_init(&shape, mechanism, false, NULL) ==
               SOTTO_STATUS_OK &&
           codes_countable(&shape);
}

enum sotto_status
codes_check(const struct sotto_mechanism *mechanism,
            const struct learn_job *job, struct sotto_error *err)
{
    enum sotto_status status = check_options(job->options, err);
    (void)mechanism;
    return HOST_THEN(status, check_source(job, err));
}

/* The reports of a job, as they are or without their headers; list_clear. */
struct list {
    struct codes_reports reports;
    const uint8_t **report;
    uint32_t *times;
    struct codes_shape shape; /* theirs */
};

static void
list_clear(struct list *list)
{
    free(list->report);
    free(list->times);
}

static enum sotto_status
list_init(struct list *list, size_t rows, bool counted, struct sotto_error *err)
{
    list->report = malloc((rows + 1) * sizeof *list->report);
    list->times = counted ? malloc((rows + 1) * sizeof *list->times) : NULL;
    if (list->report == NULL || (counted && list->times == NULL)) {
        return host_fail_memory(err);
    }
    list->reports = (struct codes_reports){list->report, list->times, rows};
    return SOTTO_STATUS_OK;
}

/* Points at what the payloads are: at each once where that halves them, else as
   often as it came. */
static enum sotto_status
list_payloads(const struct payloads *payloads, struct list *list,
              struct sotto_error *err)
{
    size_t rows = payloads_distinct(payloads), at = 0;
    size_t all = (size_t)payloads_all(payloads);
    bool counted = all >= COUNTED_LEAST && rows <= all / 2;
    enum sotto_status status =
        list_init(list, counted ? rows : all, counted, err);
    list->shape = codes_shape_headless(&list->shape);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < rows; i++) {
        uint32_t times;
        const uint8_t *payload = payloads_at(payloads, i, &times);
        if (counted) {
            list->times[i] = times;
            list->report[i] = payload;
        }
        for (uint32_t j = 0; !counted && j < times; j++) {
            list->report[at++] = payload;
        }
    }
    return status;
}

/* How many reports name each pair, and how many do not, book by book. */
static enum sotto_status
list_counts(const struct tally *tally, size_t part, struct list *list,
            struct sotto_error *err)
{
    const struct codes_shape *shape = &list->shape;
    size_t pairs = shape->cells * shape->classes, at = 0;
    if (tally_all(tally) > UINT32_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "more than 2^32 reports cannot be learnt from at a "
                         "time");
    }
    list->times = calloc(2 * pairs * shape->books, sizeof *list->times);
    if (list->times == NULL) {
        return host_fail_memory(err);
    }
    for (size_t b = 0; b < shape->books; b++) {
        const uint64_t *count = tally_count(tally, part, b, 0);
        uint64_t n = tally_reports(tally, part, b);
        for (size_t p = 0; p < pairs; p++) {
            size_t symbol =
                p / shape->classes * shape->symbols + p % shape->classes;
            list->times[at++] = (uint32_t)count[symbol];
            list->times[at++] = (uint32_t)(n - count[symbol]);
        }
    }
    list->reports = (struct codes_reports){NULL, list->times, at};
    return SOTTO_STATUS_OK;
}

static enum sotto_status
list_reports(const struct learn_job *job, const struct sotto_model *model,
             struct list *list, struct sotto_error *err)
{
    size_t n = learn_job_reports(job);
    enum sotto_status status;
    list->shape = codes_of(model)->shape;
    if (job->tally != NULL) {
        return list_counts(job->tally, model->mechanism->shape.code, list, err);
    }
    if (job->payloads != NULL) {
        return list_payloads(job->payloads, list, err);
    }
    status = list_init(list, n, false, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < n; i++) {
        list->report[i] = sotto_report_reader_at(job->reader, i);
    }
    return status;
}

/* Whether it is told how often the model is right. Where the likelihood is far
   from its expansion, or reports are too few to be asked, it is not to be
   trusted. */
static bool
is_forecast(const struct smooth_info *smooth)
{
    return smooth->particles > 0 && smooth->gap <= GAP_MOST &&
           (smooth->plain || isfinite(smooth->check.error)) &&
           smooth->right.high - smooth->right.low <= WIDTH_MOST;
}

static void
tell_info(struct sotto_fit_info *info, const struct classifier_info *found,
          size_t reports, size_t points)
{
    *info = (struct sotto_fit_info){.reports = reports,
                                    .points = points,
                                    .kept = 1,
                                    .log_p = found->log_p,
                                    .validation = found->validation,
                                    .epochs = found->epochs,
                                    .memory = found->memory,
                                    .gap = found->smooth.gap};
    if (is_forecast(&found->smooth)) {
        info->right = found->smooth.right.median;
        info->right_low = found->smooth.right.low;
        info->right_high = found->smooth.right.high;
    }
}

/* Whether the layer of the codes has no bias: then the code is that of z's
   direction. */
static bool
is_by_direction(const struct sotto_mechanism *mechanism, size_t layers)
{
    struct layer layer;
    bool none = layers < mechanism->shape.layers;
    if (none) {
        layer = decompose_layer(mechanism, layers);
        for (uint32_t i = 0; i < layer_biases(&layer); i++) {
            none = none && !(fabsf(layer.bias[i]) > 0);
        }
    }
    return none;
}

static enum sotto_status
fit_classifier(struct source *source, const struct list *list,
               struct classifier_info *found, struct sotto_error *err)
{
    struct sotto_model *model = source->model;
    struct codes_model *own = codes_of(model);
    const struct classifier_aux known = {
        .z = source->z,
        .code = source->code,
        .n = source->n,
        .d = own->in,
        .unit = is_by_direction(model->mechanism, own->layers),
        .plain = model->mechanism->shape.columns};
    return classifier_fit(&list->shape, &list->reports, &known,
                          source->job->options, model->pool, model->backend,
                          &own->classifier, source->target, found, err);
}

/* Fits the network on the record, where it pays; to the reports themselves
   where labels were learnt by codes. */
static enum sotto_status
fit_last(struct source *source, const struct list *list,
         const struct classifier_info *found, struct sotto_fit_info *info,
         struct sotto_error *err)
{
    struct sotto_model *model = source->model;
    struct codes codes = {0};
    struct codes_last records = {.row = source->row,
                                 .code = source->code,
                                 .target = source->target,
                                 .n = source->n};
    uint32_t epochs = codes_last_epochs(model, source->job);
    enum sotto_status status = SOTTO_STATUS_OK;
    info->last = epochs;
    if (epochs > 0 && found->smooth.particles == 0) {
        records.codes = &codes;
        status = codes_init_times(&codes, &list->shape, &list->reports,
                                  model->pool, err);
    }
    if (epochs > 0) {
        status = HOST_THEN(
            status, codes_last_fit(model, source->job, &records, epochs, err));
    }
    codes_clear(&codes);
    if (status == SOTTO_STATUS_MEMORY &&
        source->job->options->last == LEARN_LAST_CHOSEN) {
        info->last = 0; /* nobody asked for it, and the model is whole */
        status = SOTTO_STATUS_OK;
    }
    return status;
}

enum sotto_status
codes_fit(struct sotto_model *model, const struct learn_job *job,
          struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    struct source source = {.model = model, .job = job};
    struct classifier_info found;
    struct list list = {.report = NULL};
    enum sotto_status status =
        codes_model_new(model, job->options->other, job->options->level, err);
    status = HOST_THEN(status, check_options(job->options, err));
    status = HOST_THEN(status, codes_last_check(model, job, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = take_source(&source, err);
    status = HOST_THEN(status, reserve_target(&source, err));
    status = HOST_THEN(status, list_reports(job, model, &list, err));
    status = HOST_THEN(status, fit_classifier(&source, &list, &found, err));
    if (status == SOTTO_STATUS_OK) {
        tell_info(ret_info, &found, learn_job_reports(job), source.n);
        status = fit_last(&source, &list, &found, ret_info, err);
    }
    list_clear(&list);
    source_clear(&source);
    return status;
}

/* ---- From clean records ---------------------------------------------------
 */

/* Sets the tables from counts of cells with labels, and a pseudo-count a cell
   that is spread like all labels. */
static void
set_tables(struct classifier *classifier, const double *count,
           const double *label, double people)
{
    size_t cells = classifier->cells, classes = classifier->classes;
    for (size_t c = 0; c < cells; c++) {
        double in = 0;
        for (size_t y = 0; y < classes; y++) {
            in += count[c * classes + y];
        }
        classifier->pi[c] =
            (in + CELL_COUNT) / (people + CELL_COUNT * (double)cells);
        for (size_t y = 0; y < classes; y++) {
            classifier->tau[c * classes + y] =
                (count[c * classes + y] + label[y] / people) / (in + 1);
        }
    }
    memcpy(classifier->tau_bar, classifier->tau,
           cells * classes * sizeof *classifier->tau);
}

static enum sotto_status
count_codes(struct classifier *classifier, const uint32_t *code,
            const size_t *truth, size_t n, struct sotto_error *err)
{
    size_t classes = classifier->classes, pairs = classifier->cells * classes;
    double *count = calloc(pairs + classes, sizeof *count);
    if (count == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        count[code[i] * classes + truth[i]]++;
        count[pairs + truth[i]]++;
    }
    set_tables(classifier, count, count + pairs, (double)n);
    host_wipe_free(count, (pairs + classes) * sizeof *count);
    return SOTTO_STATUS_OK;
}

/* Encodes each record once, for the network and for the tables. */
static enum sotto_status
take_records(struct supervision *learnt, struct source *source,
             struct crew *crew, struct sotto_error *err)
{
    const struct codes_model *own = codes_of(source->model);
    bool other = own->shape.classes == own->shape.symbols;
    struct supervision_records records = {0};
    uint32_t *code = NULL;
    enum sotto_status status = supervision_take_labels(
        learnt, crew, own->shape.classes, other, &records, err);
    status = HOST_THEN(
        status, supervision_reserve(learnt, records.count, own->in, err));
    if (status == SOTTO_STATUS_OK) {
        source->n = records.count;
        source->z = learnt->x;
        source->code = code =
            calloc(records.count * own->shape.books + 1, sizeof *code);
        status = code != NULL ? take_rows(source, crew, records.row, err)
                              : host_fail_memory(err);
        source->z = NULL; /* it is not the source's to clear */
    }
    if (status == SOTTO_STATUS_OK && code != NULL) {
        status = count_codes(own->classifier, code, records.truth,
                             records.count, err);
    }
    supervision_records_clear(&records);
    return status;
}

static enum sotto_status
fit_table(struct supervision *learnt, struct source *source,
          struct sotto_fit_info *info, struct sotto_error *err)
{
    const struct learn_job *job = source->job;
    struct crew crew;
    enum sotto_status status = crew_init(&crew, source->model->mechanism,
                                         job->table, source->model->pool, err);
    if (status == SOTTO_STATUS_OK) {
        status = take_records(learnt, source, &crew, err);
        crew_clear(&crew);
    }
    status = HOST_THEN(
        status, supervision_train(
                    learnt, NULL, NULL,
                    &codes_of(source->model)->classifier->networks, info, err));
    return status;
}

enum sotto_status
codes_fit_clean(struct sotto_model *model, const struct learn_job *job,
                struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    const struct learn_options *options = job->options;
    struct source source = {.model = model, .job = job};
    struct networks_plan plan;
    struct supervision learnt;
    enum sotto_status status =
        codes_model_new(model, options->other, options->level, err);
    supervision_init(&learnt, model, options, INFINITY);
    status =
        HOST_THEN(status, networks_plan_init(&plan, options,
                                             learnt.options.restarts, err));
    if (status == SOTTO_STATUS_OK) {
        struct codes_model *own = codes_of(model);
        status = classifier_new(own->in, own->shape.cells, model->classes,
                                &plan, &own->classifier, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = fit_table(&learnt, &source, ret_info, err);
        source_clear(&source);
    }
    supervision_clear(&learnt);
    return status;
}
