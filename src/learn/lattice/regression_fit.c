/*
 * regression_fit.c: a regression from reports, or from clean records.
 *
 *     reports -> group, t            what each says of the label's cells
 *     prior   -> points, phi         where records may be
 *     reports -> posterior           where each may be
 *     all of these -> theta, C       regression_solve.c
 *
 * A label report is rounded to a step of 1/128 of half the label's range, so
 * that many of them say the same. t of a cell is the mean over points in it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "host/error.h"
#include "host/wipe.h"
#include "learn/lattice/lattice_fit.h"
#include "learn/lattice/regression.h"
#include "random/draw.h"
#include "random/seeded.h"

#define LABEL_STEPS 128    /* in half of the label's range */
#define CELL_POINTS 8      /* of which t is the mean */
#define SPREAD_UNKNOWN 0.4 /* of half of the label's range */
#define LINE_STREAM 0x6c696e65u
#define WIRE_MOST 16u

/* A label report and whose it is. */
struct said {
    uint8_t wire[WIRE_MOST];
    size_t row; /* report, or row of the table */
};

struct regression_work {
    struct lattice_fit fit; /* prior and points */
    struct said *said;
    size_t rows, room;
    uint32_t *group;
    double *t, *log_t;
    size_t groups;
    float *phi;
    double centre, spread; /* what is expected of the labels */
};

static void
clear_regression(struct regression_work *work)
{
    size_t width = work->fit.shape != NULL ? work->fit.shape->width : 0;
    struct lattice_fit *fit = &work->fit;
    free(fit->report);
    posterior_free(fit->posterior);
    prior_clear(&fit->prior);
    host_wipe_free(fit->point, fit->points * width * sizeof *fit->point);
    supervision_clear(&fit->learnt);
    host_wipe_free(work->said, work->room * sizeof *work->said);
    free(work->group);
    free(work->t);
    free(work->log_t);
    free(work->phi);
}

static enum sotto_status
init_regression(struct regression_work *work, struct sotto_model *model,
                const struct learn_job *job, size_t rows,
                struct sotto_error *err)
{
    enum sotto_status status =
        regression_new(model, job->options->features, err);
    memset(work, 0, sizeof *work);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    work->fit.model = model;
    work->fit.job = job;
    work->fit.shape = &regression_of(model)->shape;
    work->fit.in = regression_of(model)->in;
    work->fit.reports = rows;
    work->rows = rows;
    work->room = rows + 1;
    work->said = calloc(rows + 1, sizeof *work->said);
    work->group = calloc(rows + 1, sizeof *work->group);
    return work->said != NULL && work->group != NULL ? SOTTO_STATUS_OK
                                                     : host_fail_memory(err);
}

/* ---- Labels -------------------------------------------------------------- */

/* A report's label, rounded where it is a number on the label's own scale. */
static void
round_label(const struct likelihood_instance *label, const uint8_t *wire,
            uint8_t *ret_wire)
{
    const struct channel_instance *instance = label->instance;
    int64_t step = (int64_t)instance->l / LABEL_STEPS, value = 0, most;
    bool line = instance->channel->domain != CHANNEL_DOMAIN_CUBE;
    memcpy(ret_wire, wire, instance->wire_size);
    if (!line) {
        return;
    }
    label->likelihood->unpack(label, wire, &value);
    most = instance->l;
    if (strcmp(instance->channel->name, "laplace") == 0) {
        /* beyond the range every point is equally much farther away */
        value = value > most ? most : value < -most ? -most : value;
    }
    if (step > 1) {
        value = (value + (value < 0 ? -step / 2 : step / 2)) / step * step;
    }
    if (!label->likelihood->pack(label, &value, ret_wire)) {
        memcpy(ret_wire, wire, instance->wire_size); /* at an end */
    }
}

static int
compare_said(const void *a, const void *b)
{
    const struct said *left = a, *right = b;
    int order = memcmp(left->wire, right->wire, sizeof left->wire);
    return order != 0 ? order
                      : (left->row > right->row) - (left->row < right->row);
}

/* Sorts what was said, and numbers the groups. */
static enum sotto_status
group_labels(struct regression_work *work, struct sotto_error *err)
{
    size_t cells = work->fit.model->classes;
    qsort(work->said, work->rows, sizeof *work->said, compare_said);
    for (size_t n = 0; n < work->rows; n++) {
        bool next = n > 0 && memcmp(work->said[n - 1].wire, work->said[n].wire,
                                    WIRE_MOST) != 0;
        work->groups += n == 0 || next ? 1 : 0;
        work->group[n] = (uint32_t)(work->groups - 1);
    }
    work->t = calloc(work->groups + 1, cells * sizeof *work->t);
    work->log_t = calloc(work->groups + 1, sizeof *work->log_t);
    return work->t != NULL && work->log_t != NULL ? SOTTO_STATUS_OK
                                                  : host_fail_memory(err);
}

/* The mean of p(report | q) over points of a cell. */
static double
cell_chance(const struct likelihood_instance *label, const uint8_t *wire,
            double centre, double width)
{
    double sum = 0, l = label->instance->l;
    for (unsigned i = 0; i < CELL_POINTS; i++) {
        double at = centre + width * ((i + 0.5) / CELL_POINTS - 0.5);
        int32_t q = (int32_t)lround(at * l);
        sum += exp(label->likelihood->log_p(label, wire, &q)) / CELL_POINTS;
    }
    return sum;
}

/* Sets t of every group, divided by its largest. */
static void
weigh_labels(struct regression_work *work)
{
    const struct regression *own = regression_of(work->fit.model);
    size_t cells = work->fit.model->classes;
    for (size_t n = 0; n < work->rows; n++) {
        double *t = work->t + work->group[n] * cells, most = 0;
        if (n > 0 && work->group[n] == work->group[n - 1]) {
            continue;
        }
        for (size_t g = 0; g < cells; g++) {
            t[g] = cell_chance(own->shape.label, work->said[n].wire,
                               own->cell[g], 2 / (double)cells);
            most = t[g] > most ? t[g] : most;
        }
        for (size_t g = 0; g < cells && most > 0; g++) {
            t[g] /= most;
        }
        work->log_t[work->group[n]] = most > 0 ? log(most) : 0;
    }
}

static enum sotto_status
take_reports(struct regression_work *work, struct sotto_error *err)
{
    struct lattice_fit *fit = &work->fit;
    const struct sotto_report_reader *reader = fit->job->reader;
    enum sotto_status status;
    fit->report = malloc((work->rows + 1) * sizeof *fit->report);
    if (fit->report == NULL) {
        return host_fail_memory(err);
    }
    for (size_t n = 0; n < work->rows; n++) {
        work->said[n].row = n;
        round_label(fit->shape->label,
                    sotto_report_reader_at(reader, n) +
                        fit->shape->label_offset,
                    work->said[n].wire);
    }
    status = group_labels(work, err);
    if (status == SOTTO_STATUS_OK) {
        weigh_labels(work);
    }
    for (size_t n = 0; n < work->rows; n++) {
        fit->report[n] = sotto_report_reader_at(reader, work->said[n].row);
    }
    return status;
}

/* Takes what to expect of the labels from those of the auxiliary records, where
   they have any: of the range they lie in, without. */
static enum sotto_status
take_expected(struct regression_work *work, struct sotto_error *err)
{
    struct sotto_model *model = work->fit.model;
    const struct sotto_table *table = work->fit.job->table;
    double low = model->edge[0], high = model->edge[model->classes];
    double mean = 0, squares = 0, half = (high - low) / 2;
    size_t count = 0;
    struct rows rows;
    enum sotto_status status = SOTTO_STATUS_OK;
    work->centre = 0;
    work->spread = SPREAD_UNKNOWN;
    if (table == NULL || !(half > 0)) {
        return status;
    }
    status = rows_init(&rows, model->mechanism, table, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < sotto_table_rows(table); i++) {
        double y = (model_number_truth(model, &rows, i) - low) / half - 1;
        if (isfinite(y)) {
            double at = y > 1 ? 1 : y < -1 ? -1 : y, off = at - mean;
            mean += off / (double)++count;
            squares += off * (at - mean);
        }
    }
    if (count > 1 && squares > 0) {
        work->centre = mean;
        work->spread = sqrt(squares / (double)count);
    }
    rows_clear(&rows);
    return status;
}

/* ---- Terms --------------------------------------------------------------- */

/* Mean 0 and deviation 1 over the points; an entry that does not vary is 0. */
static void
scale_inputs(struct regression *own, const float *x, size_t rows)
{
    for (size_t i = 0; i < own->in; i++) {
        double mean = 0, squares = 0;
        for (size_t m = 0; m < rows; m++) {
            mean += (double)x[m * own->in + i] / (double)rows;
        }
        for (size_t m = 0; m < rows; m++) {
            double off = (double)x[m * own->in + i] - mean;
            squares += off * off / (double)rows;
        }
        own->shift[i] = (float)mean;
        own->scale[i] = squares > 1e-12 ? (float)(1 / sqrt(squares)) : 0;
    }
}

/* Draws the random lines: each has a slope of about 1 over the points. */
static void
draw_lines(struct regression *own, uint64_t seed)
{
    struct seeded seeded;
    size_t count = own->hidden * (own->in + 1);
    double size = 1 / sqrt((double)own->in + 1);
    seeded_init(&seeded, seed, LINE_STREAM);
    for (size_t i = 0; i < count; i++) {
        double sum = -6; /* of 12 uniform numbers: near enough to normal */
        for (unsigned j = 0; j < 12; j++) {
            sum += (double)random_u32(&seeded.random) / 4294967296.0;
        }
        own->line[i] = (float)(i % (own->in + 1) == 0 ? sum : 2 * size * sum);
    }
}

static enum sotto_status
make_terms(struct regression_work *work, struct sotto_error *err)
{
    struct regression *own = regression_of(work->fit.model);
    const struct supervision *learnt = &work->fit.learnt;
    scale_inputs(own, learnt->x, learnt->rows);
    draw_lines(own, work->fit.job->options->seed);
    work->phi = calloc(learnt->rows + 1, own->terms * sizeof *work->phi);
    for (size_t m = 0; work->phi != NULL && m < learnt->rows; m++) {
        regression_terms(own, learnt->x + m * own->in,
                         work->phi + m * own->terms);
    }
    return work->phi != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

/* ---- Solving ------------------------------------------------------------- */

/* The share of the label's variance over the prior that the line makes. */
static double
find_explained(const struct regression_work *work)
{
    const struct regression *own = regression_of(work->fit.model);
    size_t rows = work->fit.learnt.rows;
    double mean = 0, squares = 0, noise = exp(2 * own->theta[own->terms]);
    for (size_t m = 0; m < rows; m++) {
        double mu = 0, off;
        for (size_t i = 0; i < own->terms; i++) {
            mu += own->theta[i] * (double)work->phi[m * own->terms + i];
        }
        off = mu - mean;
        mean += off / (double)(m + 1);
        squares += off * (mu - mean);
    }
    squares /= rows > 0 ? (double)rows : 1;
    return squares / (squares + noise);
}

static enum sotto_status
solve(struct regression_work *work, struct sotto_fit_info *ret_info,
      struct sotto_error *err)
{
    struct regression *own = regression_of(work->fit.model);
    struct regression_problem problem = {.posterior = work->fit.posterior,
                                         .rows = work->rows,
                                         .points = work->fit.learnt.rows,
                                         .cells = work->fit.model->classes,
                                         .terms = own->terms,
                                         .linear = 1 + own->in,
                                         .group = work->group,
                                         .t = work->t,
                                         .log_t = work->log_t,
                                         .cell = own->cell,
                                         .phi = work->phi,
                                         .centre = work->centre,
                                         .spread = work->spread,
                                         .pool = work->fit.model->pool,
                                         .watch =
                                             &work->fit.job->options->watch};
    struct regression_answer answer = {.theta = own->theta,
                                       .covariance = own->covariance};
    enum sotto_status status = regression_solve(&problem, &answer, err);
    *ret_info = work->fit.info;
    ret_info->reports = work->rows;
    ret_info->epochs = answer.passes;
    ret_info->log_p = answer.log_p;
    ret_info->known = answer.known;
    ret_info->explained = status == SOTTO_STATUS_OK ? find_explained(work) : 0;
    return status;
}

/* Where each report may be. */
static enum sotto_status
weigh_reports(struct regression_work *work, struct sotto_error *err)
{
    struct lattice_fit *fit = &work->fit;
    struct posterior_options options = {.watch = &fit->job->options->watch};
    size_t chunks = 0;
    size_t *first = malloc((work->rows / POSTERIOR_CHUNK + 1) * sizeof *first);
    enum sotto_status status;
    if (first == NULL) {
        return host_fail_memory(err);
    }
    for (size_t n = 0; n < work->rows; n += POSTERIOR_CHUNK) {
        first[chunks++] = n;
    }
    status = posterior_new(&fit->prior, fit->report, work->rows, first, chunks,
                           fit->model->pool, &options, &fit->posterior, err);
    free(first);
    if (status == SOTTO_STATUS_OK) {
        fit->info.points = fit->points;
        fit->info.kept = fit->posterior->kept;
        fit->info.truncated = fit->posterior->truncated;
        fit->info.memory = fit->posterior->bytes;
    }
    return status;
}

enum sotto_status
regression_fit(struct sotto_model *model, const struct learn_job *job,
               struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    struct regression_work work;
    size_t rows = sotto_report_reader_count(job->reader);
    enum sotto_status status = init_regression(&work, model, job, rows, err);
    if (status == SOTTO_STATUS_OK && rows == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "there are no reports to learn from");
    }
    status = HOST_THEN(status, take_expected(&work, err));
    status = HOST_THEN(status, take_reports(&work, err));
    status = HOST_THEN(status, lattice_take_prior(&work.fit, err));
    status = HOST_THEN(status, make_terms(&work, err));
    status = HOST_THEN(status, weigh_reports(&work, err));
    status = HOST_THEN(status, solve(&work, ret_info, err));
    if (status == SOTTO_STATUS_OK) {
        struct regression *own = regression_of(model);
        own->point = work.fit.point;
        own->points = work.fit.points;
        work.fit.point = NULL;
    }
    clear_regression(&work);
    return status;
}

/* ---- Clean records ------------------------------------------------------- */

/* Takes rows with a number for the label, each as a report that is certain of
   its cell. */
static enum sotto_status
take_labels(struct regression_work *work, struct rows *rows,
            struct sotto_error *err)
{
    const struct sotto_model *model = work->fit.model;
    size_t all = work->rows, cells = model->classes;
    enum sotto_status status;
    work->rows = 0;
    for (size_t i = 0; i < all; i++) {
        double y = model_number_truth(model, rows, i);
        if (isfinite(y)) {
            struct said *said = &work->said[work->rows++];
            size_t g = model_number_class(model, y);
            said->wire[0] = (uint8_t)g;
            said->row = i;
        }
    }
    if (work->rows == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "no row has a number for the label");
    }
    status = group_labels(work, err);
    for (size_t n = 0; status == SOTTO_STATUS_OK && n < work->rows; n++) {
        work->t[work->group[n] * cells + work->said[n].wire[0]] = 1;
    }
    return status;
}

struct taking_rows {
    struct regression_work *work;
    int32_t *room;
};

static void
take_row(void *context, struct rows *rows, size_t n, unsigned worker)
{
    const struct taking_rows *taking = context;
    const struct lattice_fit *fit = &taking->work->fit;
    int32_t *point = taking->room + worker * fit->shape->width;
    rows_q(rows, taking->work->said[n].row, point);
    prior_input(fit->shape, point, fit->learnt.x + n * fit->in);
}

static enum sotto_status
take_records(struct regression_work *work, struct crew *crew,
             struct sotto_error *err)
{
    struct lattice_fit *fit = &work->fit;
    struct taking_rows taking = {.work = work};
    size_t size = crew->devices * fit->shape->width * sizeof *taking.room;
    enum sotto_status status = take_labels(work, &crew->rows[0], err);
    status = HOST_THEN(
        status, supervision_reserve(&fit->learnt, work->rows, fit->in, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    taking.room = malloc(size + 1);
    if (taking.room == NULL) {
        return host_fail_memory(err);
    }
    crew_run(crew, 0, work->rows, take_row, &taking);
    host_wipe_free(taking.room, size + 1);
    return SOTTO_STATUS_OK;
}

enum sotto_status
regression_fit_clean(struct sotto_model *model, const struct learn_job *job,
                     struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    struct regression_work work;
    struct crew crew;
    enum sotto_status status =
        init_regression(&work, model, job, sotto_table_rows(job->table), err);
    bool crewed = false;
    status = HOST_THEN(status, crew_init(&crew, model->mechanism, job->table,
                                         model->pool, err));
    crewed = status == SOTTO_STATUS_OK;
    status = HOST_THEN(status, take_records(&work, &crew, err));
    if (crewed) {
        crew_clear(&crew);
    }
    status = HOST_THEN(status, take_expected(&work, err));
    status = HOST_THEN(status, make_terms(&work, err));
    status = HOST_THEN(status, solve(&work, ret_info, err));
    clear_regression(&work);
    return status;
}
