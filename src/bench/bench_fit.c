/*
 * bench_fit.c: fitting by P0 Eq. 11 beside the same in PyTorch.
 *
 * Made-up representations, of the size of P0's experiments on images: ten
 * clusters in eight dimensions. Both compute the posterior weights and take the
 * same number of steps over the same batches; both must come to the same
 * likelihood. The peer gets the best of its settings for two cores. The limit
 * is the time it takes to read the stored weights once an epoch.
 */
#include "bench/bench_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "bench/peer.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/pool.h"
#include "learn/learner.h"
#include "mechanism/compose.h"
#include "mechanism/mechanism.h"
#include "mechanism/rows.h"
#include "random/draw.h"
#include "random/seeded.h"

#define D 8u
#define K 10u /* nine categories, and "other", which is the tenth cluster */
#define L 4096u
#define EPS_X 7u
#define EPS_Y 3u
#define HIDDEN 50u
#define RATE 0.005
#define DECAY 0.01
#define AGREED 0.02 /* of a report's log-likelihood */
#define ARGS 13u

const struct bench_fit_size bench_fit_full = {13500, 45000, 10, 10};

struct job {
    const struct bench_fit_size *size;
    struct sotto_mechanism *mechanism;
    struct sotto_table *aux, *records;
    struct sotto_report_reader *reader;
    struct peer_file parts;
};

/* ---- The mechanism ------------------------------------------------------ */

static const char *const names[] = {"a", "b", "c", "d",    "e",
                                    "f", "g", "h", "label"};
static const char *const classes[] = {"0", "1", "2", "3", "4",
                                      "5", "6", "7", "8"};

static enum sotto_status
make_mechanism(struct job *job, struct sotto_error *err)
{
    struct schema_column column[D + 1];
    const struct compose_part part[] = {
        {.covers = "features",
         .channel = "laplace",
         .eps = EPS_X * DECIMAL_UNIT,
         .blocks = 1,
         .d = D,
         .l = L},
        {.covers = "label",
         .channel = "flip",
         .eps = EPS_Y * DECIMAL_UNIT,
         .blocks = 1,
         .factor = {{.is_column = true, .at = D}},
         .factors = 1}};
    const struct compose_spec spec = {.name = "bench",
                                      .campaign = "bench",
                                      .auxiliary = "not used",
                                      .eps = (EPS_X + EPS_Y) * DECIMAL_UNIT,
                                      .column = column,
                                      .columns = D + 1,
                                      .part = part,
                                      .parts = 2};
    for (size_t i = 0; i < D; i++) {
        column[i] = (struct schema_column){.name = names[i],
                                           .kind = SOTTO_COLUMN_NUMBER,
                                           .count = 1,
                                           .scale = 1};
    }
    column[D] = (struct schema_column){.name = names[D],
                                       .kind = SOTTO_COLUMN_CATEGORY,
                                       .count = K,
                                       .values = classes};
    return compose_open(&spec, &job->mechanism, err);
}

/* ---- The data ----------------------------------------------------------- */

/* Entry i of a record of cluster y: a centre of +-0.06, and noise around it. */
static double
draw_entry(struct random *random, uint32_t y, uint32_t i)
{
    double centre = ((y * 37 + 11) >> (i % 6) & 1) != 0 ? 0.06 : -0.06;
    double noise = 0;
    for (int j = 0; j < 4; j++) {
        noise += (double)draw_below(random, 2001) / 1000 - 1;
    }
    return centre + 0.03 * noise;
}

static enum sotto_status
make_table(size_t rows, uint64_t seed, struct sotto_table **ret_table,
           struct sotto_error *err)
{
    double *number = calloc(rows, D * sizeof *number);
    const char **label = calloc(rows, sizeof *label);
    struct sotto_table *table = NULL;
    struct seeded seeded;
    enum sotto_status status = number != NULL && label != NULL
                                   ? sotto_table_new(rows, &table, err)
                                   : host_fail_memory(err);
    seeded_init(&seeded, seed, 0);
    for (size_t n = 0; number != NULL && label != NULL && n < rows; n++) {
        uint32_t y = draw_below(&seeded.random, K);
        for (uint32_t i = 0; i < D; i++) {
            number[i * rows + n] = draw_entry(&seeded.random, y, i);
        }
        label[n] = y + 1 < K ? classes[y] : "other";
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < D; i++) {
        status =
            sotto_table_add_numbers(table, names[i], number + i * rows, err);
    }
    status =
        HOST_THEN(status, sotto_table_add_texts(table, names[D], label, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_table = table;
    } else {
        sotto_table_free(table);
    }
    free(number);
    free(label);
    return status;
}

static enum sotto_status
make_reports(struct job *job, struct sotto_error *err)
{
    size_t size = job->mechanism->shape.report_size;
    size_t n = job->size->reports;
    uint8_t *reports = malloc(n * size);
    struct rows rows;
    enum sotto_status status =
        rows_init(&rows, job->mechanism, job->records, err);
    if (status != SOTTO_STATUS_OK || reports == NULL) {
        free(reports);
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n && status == SOTTO_STATUS_OK; i++) {
        status = sotto_simulate(job->mechanism, 1, i, rows_at(&rows, i),
                                rows.count, reports + i * size, size);
    }
    rows_clear(&rows);
    status = HOST_THEN(
        status, sotto_report_reader_parse(job->mechanism, reports, n * size,
                                          "bench", &job->reader, err));
    free(reports);
    return status;
}

/* ---- For the peer -------------------------------------------------------- */

/* The points, the reports and their labels, as integers. */
static void
fill_parts(const struct job *job, struct rows *rows, int32_t *q, int32_t *y,
           int32_t *t)
{
    for (size_t m = 0; m < job->size->points; m++) {
        rows_q(rows, m, q + m * D);
    }
    for (size_t n = 0; n < job->size->reports; n++) {
        const uint8_t *report = sotto_report_reader_at(job->reader, n);
        int64_t value[D];
        sotto_report_values(job->mechanism, report, 0, 0, value);
        for (size_t i = 0; i < D; i++) {
            y[n * D + i] = (int32_t)value[i];
        }
        sotto_report_values(job->mechanism, report, 1, 0, value);
        t[n] = (int32_t)value[0];
    }
}

static enum sotto_status
write_parts(struct job *job, struct sotto_error *err)
{
    size_t n = job->size->reports, m = job->size->points;
    size_t size = (m * D + n * D + n) * sizeof(int32_t);
    int32_t *data = malloc(size);
    struct rows rows;
    enum sotto_status status;
    if (data == NULL) {
        return host_fail_memory(err);
    }
    status = rows_init(&rows, job->mechanism, job->aux, err);
    if (status == SOTTO_STATUS_OK) {
        fill_parts(job, &rows, data, data + m * D, data + m * D + n * D);
        rows_clear(&rows);
        status = peer_file_write(&job->parts, data, size, err);
    }
    free(data);
    return status;
}

/* The best of its settings. */
static enum sotto_status
run_peer(const struct job *job, struct peer_result *ret_result,
         struct sotto_error *err)
{
    const struct bench_fit_size *size = job->size;
    char text[ARGS][24];
    const char *args[ARGS + 2] = {job->parts.path};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t s = 0; s < PEER_SETTINGS && status == SOTTO_STATUS_OK; s++) {
        const double number[ARGS] = {peer_settings[s].own,
                                     (double)size->reports,
                                     (double)size->points,
                                     D,
                                     K,
                                     HIDDEN,
                                     size->epochs,
                                     size->batches,
                                     RATE,
                                     DECAY,
                                     EPS_X / (2.0 * L),
                                     EPS_Y};
        struct peer_result result;
        for (size_t i = 0; i + 1 < ARGS; i++) {
            (void)snprintf(text[i], sizeof text[i], "%.10g", number[i]);
            args[i + 1] = text[i];
        }
        status = peer_run(peer_script_text("fit.py"), args, &peer_settings[s],
                          &result, err);
        if (status == SOTTO_STATUS_OK &&
            (s == 0 || result.seconds < ret_result->seconds)) {
            *ret_result = result;
        }
    }
    return status;
}

/* ---- Ours ---------------------------------------------------------------- */

static enum sotto_status
run_ours(const struct job *job, double *ret_seconds,
         struct sotto_fit_info *ret_info, struct sotto_error *err)
{
    static const uint32_t hidden[] = {HIDDEN};
    const struct learn_options options = {.objective = SOTTO_OBJECTIVE_MARGINAL,
                                          .hidden = hidden,
                                          .hiddens = 1,
                                          .other = true,
                                          .epochs = job->size->epochs,
                                          .rate = RATE,
                                          .decay = DECAY,
                                          .validation = -1,
                                          .batches = job->size->batches,
                                          .restarts = 1};
    struct sotto_model *model = NULL;
    double start = host_seconds();
    enum sotto_status status = learn_fit(
        job->mechanism,
        &(struct learn_job){
            .reader = job->reader, .table = job->aux, .options = &options},
        &model, ret_info, err);
    *ret_seconds = host_seconds() - start;
    sotto_model_free(model);
    return status;
}

static enum sotto_status
measure_fit(struct job *job, struct sotto_bench_row *row,
            struct sotto_error *err)
{
    struct sotto_fit_info info;
    struct peer_result peer = {0, 0, 0};
    struct host_pool *pool = NULL;
    enum sotto_status status = run_ours(job, &row->ours, &info, err);
    if (status == SOTTO_STATUS_OK) {
        row->memory_ours = peer_own_memory();
        status = host_pool_new(0, &pool, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    row->limit = job->size->epochs * info.memory /
                 peer_bandwidth(pool, PEER_STREAM_BYTES);
    host_pool_free(pool);
    row->missing = peer_missing(PEER_PYTHON, "torch");
    if (row->missing == NULL) {
        status = write_parts(job, err);
        status = HOST_THEN(status, run_peer(job, &peer, err));
        if (status == SOTTO_STATUS_OK &&
            !(fabs(peer.value - info.log_p) <= AGREED)) {
            status = host_fail(err, SOTTO_STATUS_CHECK, 0,
                               "the peer comes to a log-likelihood of %.4f, "
                               "and sotto to %.4f",
                               peer.value, info.log_p);
        }
        row->peer = peer.seconds;
        row->memory_peer = peer.memory;
    }
    return status;
}

enum sotto_status
bench_fit_run(const struct bench_fit_size *size,
              void (*row)(void *context, const struct sotto_bench_row *),
              void *context, struct sotto_error *err)
{
    struct job job = {.size = size};
    char setting[96];
    struct sotto_bench_row result = {.name = "fit",
                                     .setting = setting,
                                     .batch = size->reports / size->batches,
                                     .against = "PyTorch"};
    enum sotto_status status;
    (void)snprintf(setting, sizeof setting, "%zu x %zu, d %u, k %u, %u epochs",
                   size->reports, size->points, D, K, size->epochs);
    status = make_mechanism(&job, err);
    status = HOST_THEN(status, make_table(size->points, 1, &job.aux, err));
    status = HOST_THEN(status, make_table(size->reports, 2, &job.records, err));
    status = HOST_THEN(status, make_reports(&job, err));
    status = HOST_THEN(status, measure_fit(&job, &result, err));
    if (status == SOTTO_STATUS_OK) {
        result.microseconds = 1e6 * result.ours;
        result.rate = 1 / result.ours;
        result.ratio_peer = result.peer / result.ours;
        result.ratio_limit = result.limit / result.ours;
        result.ratio = result.ratio_peer;
        row(context, &result);
    }
    peer_file_close(&job.parts);
    sotto_report_reader_free(job.reader);
    sotto_table_free(job.aux);
    sotto_table_free(job.records);
    sotto_mechanism_free(job.mechanism);
    return status;
}
