/*
 * bench_analyst.c: an analyst's side at any size.
 *
 * People have the code c with the same chance each, and the label c % 3 but for
 * one in ten. The store is made by the collector's own functions; memory is
 * that of the whole process, the most so far, so that the order of the rows
 * matters: what needs least comes first.
 */
#include "bench/bench_analyst.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "bench/collector_place.h"
#include "bench/peer.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "mechanism/compose.h"
#include "mechanism/mechanism.h"
#include "random/draw.h"
#include "random/seeded.h"
#include "store/store.h"

#define CODES ((size_t)10)
#define CLASSES ((size_t)3)
#define SYMBOLS (CODES * (CLASSES + 1)) /* "(other)" is a label, too */
#define COMMIT ((size_t)65536)
#define AUX 2000u
#define MIXED 10u /* one of so many has another label */
#define SIGMAS 6.0

static const char *const labels[CLASSES] = {"a", "b", "c"};
static const char *const names[CODES] = {"x0", "x1", "x2", "x3", "x4",
                                         "x5", "x6", "x7", "x8", "x9"};

struct analyst_job {
    size_t reports;
    const char *channel;
    void (*row)(void *context, const struct sotto_bench_row *);
    void *context;
    struct collector_place place;
    struct sotto_mechanism *mechanism;
    char *url, *file; /* the store, and what is exported */
    uint64_t truth[SYMBOLS];
};

/* ---- What is simulated ----------------------------------------------------
 */

/* Ten numbers, of which the largest is the code; and the label. */
static enum sotto_status
make_mechanism(struct analyst_job *job, struct sotto_error *err)
{
    struct schema_column column[CODES + 1] = {{0}};
    float weight[CODES * CODES] = {0}, bias[CODES] = {0};
    for (size_t i = 0; i < CODES; i++) {
        column[i] = (struct schema_column){.name = names[i],
                                           .kind = SOTTO_COLUMN_NUMBER,
                                           .count = 1,
                                           .scale = 1};
        weight[i * CODES + i] = 1;
    }
    column[CODES] = (struct schema_column){.name = "label",
                                           .kind = SOTTO_COLUMN_CATEGORY,
                                           .count = CLASSES + 1,
                                           .values = labels};
    const struct layer layer = {.in = (uint32_t)CODES,
                                .out = (uint32_t)CODES,
                                .activation = ACTIVATION_NONE,
                                .weight = weight,
                                .bias = bias};
    const struct compose_part part = {
        .covers = "both",
        .channel = job->channel,
        .eps = DECIMAL_UNIT,
        .blocks = 1,
        .factor = {{.at = 0, .k = (uint32_t)CODES},
                   {.is_column = true, .at = (uint32_t)CODES}},
        .factors = 2};
    const struct compose_spec spec = {.name = "analyst",
                                      .campaign = "analyst",
                                      .auxiliary = "not used",
                                      .eps = DECIMAL_UNIT,
                                      .column = column,
                                      .columns = CODES + 1,
                                      .layer = &layer,
                                      .layers = 1,
                                      .part = &part,
                                      .parts = 1};
    return compose_open(&spec, &job->mechanism, err);
}

static int32_t
draw_person(struct random *random)
{
    uint32_t code = draw_below(random, (uint32_t)CODES),
             label = code % (uint32_t)CLASSES;
    if (draw_below(random, MIXED) == 0) {
        label += 1 + draw_below(random, (uint32_t)CLASSES - 1);
        label %= (uint32_t)CLASSES;
    }
    return (int32_t)(code * ((uint32_t)CLASSES + 1) + label);
}

/* Sets report i: header, an id and the channel's sample. */
static void
make_report(struct analyst_job *job, struct seeded *seeded, uint8_t *report)
{
    const struct channel_instance *channel =
        job->mechanism->likelihood[0].instance;
    uint8_t *id = report + REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE;
    int32_t q = draw_person(&seeded->random);
    job->truth[q]++;
    for (size_t i = 0; i < SOTTO_ID_SIZE; i += 4) {
        uint32_t word = random_u32(&seeded->random);
        memcpy(id + i, &word, sizeof word);
    }
    channel->channel->sample(channel, &q, &seeded->random,
                             report + REPORT_HEADER_SIZE);
}

/* Ends the window, and moves all of it on. */
static enum sotto_status
release(struct store *store, struct sotto_error *err)
{
    bool done = false, clean = false;
    enum sotto_status status = store_begin(store, err);
    status = HOST_THEN(status, store_end_window(store, err));
    status = HOST_THEN(status, store_commit(store, err));
    while (status == SOTTO_STATUS_OK && !done) {
        status = store_begin(store, err);
        status = HOST_THEN(status, store_advance(store, COMMIT, 2, &done, err));
        status = HOST_THEN(status, store_commit(store, err));
    }
    return HOST_THEN(status, store_scrub(store, &clean, err));
}

static enum sotto_status
put_reports(struct analyst_job *job, struct store *store, uint32_t campaign,
            struct sotto_error *err)
{
    uint8_t report[REPORT_HEADER_SIZE + 64] = REPORT_MAGIC_SIMULATED;
    struct seeded seeded;
    enum sotto_status status = SOTTO_STATUS_OK;
    memcpy(report + REPORT_MAGIC_SIZE, job->mechanism->shape.hash,
           SOTTO_HASH_SIZE);
    seeded_init(&seeded, 18, 0);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < job->reports;) {
        size_t end = job->reports - i < COMMIT ? job->reports : i + COMMIT;
        status = store_begin(store, err);
        for (; status == SOTTO_STATUS_OK && i < end; i++) {
            enum store_answer answer;
            make_report(job, &seeded, report);
            status = store_put(store, campaign, report, &answer, err);
        }
        status = HOST_THEN(status, store_commit(store, err));
        status = HOST_THEN(status, release(store, err));
    }
    return status;
}

static enum sotto_status
make_store(struct analyst_job *job, struct sotto_error *err)
{
    struct store *store = NULL;
    uint32_t campaign = 0;
    size_t payload = job->mechanism->shape.report_size - REPORT_HEADER_SIZE;
    enum sotto_status status = store_open(job->url, true, &store, err);
    status =
        HOST_THEN(status, store_campaign(store, job->mechanism->shape.hash,
                                         "analyst", payload, &campaign, err));
    status = HOST_THEN(status, put_reports(job, store, campaign, err));
    store_free(store);
    return status;
}

enum sotto_status
bench_analyst_make(const char *folder, const char *channel, size_t reports,
                   struct sotto_error *err)
{
    struct analyst_job job = {.reports = reports, .channel = channel};
    char *path = host_text_path("%s/%s.sotto", folder, channel);
    enum sotto_status status = SOTTO_STATUS_OK;
    job.url = host_text_path("sqlite:%s/%s.db", folder, channel);
    if (path == NULL || job.url == NULL) {
        status = host_fail_memory(err);
    }
    status = HOST_THEN(status, make_mechanism(&job, err));
    if (status == SOTTO_STATUS_OK) {
        status = host_file_write(path, 0644, true, job.mechanism->data,
                                 job.mechanism->size, err);
    }
    status = HOST_THEN(status, make_store(&job, err));
    free(path);
    free(job.url);
    sotto_mechanism_free(job.mechanism);
    return status;
}

/* ---- What is timed --------------------------------------------------------
 */

static enum sotto_status
open_stream(const struct analyst_job *job, struct sotto_report_stream **ret,
            struct sotto_error *err)
{
    return sotto_store_stream(job->mechanism, job->url, true, 0, ret, err);
}

static enum sotto_status
check_estimate(const struct analyst_job *job,
               const struct sotto_estimate *estimate, struct sotto_error *err)
{
    double n = (double)job->reports;
    for (size_t i = 0; i < SYMBOLS; i++) {
        struct sotto_estimate_row row;
        sotto_estimate_row(estimate, i, 1.96, &row);
        double off = row.value - (double)job->truth[i] / n;
        if (!(fabs(off) <= SIGMAS * row.noise_deviation + 3 / sqrt(n))) {
            return host_fail(err, SOTTO_STATUS_CHECK, i,
                             "symbol %zu: the estimate is off by %g", i, off);
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
decode_all(struct analyst_job *job, struct sotto_error *err)
{
    struct sotto_report_block block = {.count = 1};
    struct sotto_report_stream *stream = NULL;
    struct sotto_estimate *estimate = NULL;
    struct sotto_margins *margins = NULL;
    enum sotto_status status = open_stream(job, &stream, err);
    status =
        HOST_THEN(status, sotto_estimate_new(job->mechanism, &estimate, err));
    status =
        HOST_THEN(status, sotto_margins_new(job->mechanism, &margins, err));
    while (status == SOTTO_STATUS_OK && block.count > 0) {
        status = sotto_report_stream_next(stream, &block, err);
        if (status == SOTTO_STATUS_OK) {
            sotto_estimate_add_block(estimate, &block);
            sotto_margins_add_block(margins, &block);
        }
    }
    status = HOST_THEN(status, check_estimate(job, estimate, err));
    sotto_margins_free(margins);
    sotto_estimate_free(estimate);
    sotto_report_stream_free(stream);
    return status;
}

static enum sotto_status
export_all(struct analyst_job *job, enum sotto_report_form form,
           struct sotto_error *err)
{
    struct sotto_report_block block = {.count = 1};
    struct sotto_report_stream *stream = NULL;
    struct sotto_report_export *to = NULL;
    struct sotto_report_seen seen = {0};
    enum sotto_status status = open_stream(job, &stream, err);
    status = HOST_THEN(status, sotto_report_export_new(
                                   job->mechanism, job->file, form, &to, err));
    while (status == SOTTO_STATUS_OK && block.count > 0) {
        status = sotto_report_stream_next(stream, &block, err);
        status = HOST_THEN(status, sotto_report_export_add(to, &block, err));
    }
    if (status == SOTTO_STATUS_OK) {
        sotto_report_stream_seen(stream, &seen);
        status = sotto_report_export_commit(to, &seen, err);
    } else {
        sotto_report_export_free(to);
    }
    sotto_report_stream_free(stream);
    if (status == SOTTO_STATUS_OK && seen.reports != job->reports) {
        return host_fail(err, SOTTO_STATUS_CHECK, 0, "reports are missing");
    }
    return status;
}

static enum sotto_status
export_parquet(struct analyst_job *job, struct sotto_error *err)
{
    return export_all(job, SOTTO_FORM_PARQUET, err);
}

static enum sotto_status
export_csv(struct analyst_job *job, struct sotto_error *err)
{
    return export_all(job, SOTTO_FORM_CSV, err);
}

/* Records whose code is plain; without labels. */
static enum sotto_status
make_aux(struct sotto_table **ret_table, struct sotto_error *err)
{
    double number[AUX];
    struct sotto_table *table = NULL;
    struct seeded seeded;
    enum sotto_status status = sotto_table_new(AUX, &table, err);
    seeded_init(&seeded, 19, 0);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < CODES; i++) {
        for (size_t n = 0; n < AUX; n++) {
            double noise = (double)draw_below(&seeded.random, 1001) / 1e4;
            number[n] = (n % CODES == i ? 0.8 : 0) + noise;
        }
        status = sotto_table_add_numbers(table, names[i], number, err);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(table);
        return status;
    }
    *ret_table = table;
    return SOTTO_STATUS_OK;
}

/* Whether the model gives the records of each code its label. */
static enum sotto_status
check_model(struct sotto_model *model, const struct sotto_table *aux,
            struct sotto_error *err)
{
    size_t classes = sotto_model_classes(model), right = 0;
    double *p = calloc(AUX, (classes + 1) * sizeof *p);
    enum sotto_status status;
    if (p == NULL) {
        return host_fail_memory(err);
    }
    status = sotto_model_predict(model, aux, p, err);
    for (size_t n = 0; status == SOTTO_STATUS_OK && n < AUX; n++) {
        size_t best = 0;
        for (size_t y = 1; y < classes; y++) {
            best = p[n * classes + y] > p[n * classes + best] ? y : best;
        }
        right += best == n % CODES % CLASSES ? 1 : 0;
    }
    free(p);
    if (status == SOTTO_STATUS_OK && right < AUX * 9 / 10) {
        return host_fail(err, SOTTO_STATUS_CHECK, right,
                         "the model is right about %zu of %u records", right,
                         AUX);
    }
    return status;
}

static enum sotto_status
fit_all(struct analyst_job *job, struct sotto_error *err)
{
    const struct sotto_fit_options options = {.threads = 2};
    struct sotto_report_stream *stream = NULL;
    struct sotto_table *aux = NULL;
    struct sotto_model *model = NULL;
    enum sotto_status status = make_aux(&aux, err);
    status = HOST_THEN(status, open_stream(job, &stream, err));
    status =
        HOST_THEN(status, sotto_fit_stream(job->mechanism, stream, NULL, aux,
                                           &options, &model, NULL, err));
    status = HOST_THEN(status, check_model(model, aux, err));
    sotto_model_free(model);
    sotto_report_stream_free(stream);
    sotto_table_free(aux);
    return status;
}

/* ---- All of it ------------------------------------------------------------
 */

static enum sotto_status
time_step(struct analyst_job *job, const char *name,
          enum sotto_status (*step)(struct analyst_job *, struct sotto_error *),
          struct sotto_error *err)
{
    double start = host_seconds(), spent;
    enum sotto_status status = step(job, err);
    char setting[64];
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    spent = host_seconds() - start;
    (void)snprintf(setting, sizeof setting, "%zu reports, %s", job->reports,
                   job->channel);
    const struct sotto_bench_row row = {.name = name,
                                        .setting = setting,
                                        .rate = (double)job->reports / spent,
                                        .microseconds =
                                            1e6 * spent / (double)job->reports,
                                        .memory_ours = peer_own_memory()};
    job->row(job->context, &row);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
run_channel(struct analyst_job *job, struct sotto_error *err)
{
    static const struct {
        const char *name;
        enum sotto_status (*step)(struct analyst_job *, struct sotto_error *);
    } steps[] = {{"make-store", make_store},
                 {"decode", decode_all},
                 {"export-parquet", export_parquet},
                 {"export-csv", export_csv},
                 {"fit", fit_all}};
    enum sotto_status status = make_mechanism(job, err);
    memset(job->truth, 0, sizeof job->truth);
    status = HOST_THEN(status, collector_place_store(&job->place, job->channel,
                                                     &job->url, err));
    if (status == SOTTO_STATUS_OK) {
        job->file = host_text_path("%s/exported", job->place.folder);
        status = job->file != NULL ? status : host_fail_memory(err);
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        status = HOST_THEN(status,
                           time_step(job, steps[i].name, steps[i].step, err));
    }
    free(job->url);
    free(job->file);
    sotto_mechanism_free(job->mechanism);
    job->url = job->file = NULL;
    job->mechanism = NULL;
    return status;
}

enum sotto_status
bench_analyst_run(size_t reports,
                  void (*row)(void *context, const struct sotto_bench_row *),
                  void *context, struct sotto_error *err)
{
    static const char *const channels[] = {"flip", "subset"};
    struct analyst_job job = {
        .reports = reports, .row = row, .context = context};
    enum sotto_status status = collector_place_init(&job.place, NULL, err);
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        job.channel = channels[i];
        status = HOST_THEN(status, run_channel(&job, err));
    }
    collector_place_clear(&job.place);
    return status;
}
