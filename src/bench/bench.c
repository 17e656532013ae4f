/*
 * bench.c: timings of the device's path, each beside its limit or a peer; and
 * timing.c, whether they depend on the record; of training; of reading tables;
 * and of a collector.
 *
 * One thread, but for training, reading and a collector. Every benchmark checks
 * its answer before it times it, and runs what it is compared with in the same
 * run: machines differ, ratios less so.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/decimal.h"
#include "bench/bench_analyst.h"
#include "bench/bench_fit.h"
#include "bench/bench_forward.h"
#include "bench/bench_reading.h"
#include "bench/bench_step.h"
#include "bench/bench_task.h"
#include "bench/collector_bench.h"
#include "bench/postgres_bench.h"
#include "bench/sample_encoder.h"
#include "bench/timing.h"
#include "channel/channel.h"
#include "host/clock.h"
#include "host/error.h"
#include "mechanism/decompose.h"
#include "mechanism/stages.h"
#include "random/dlaplace.h"
#include "sotto/sotto.h"

#define SECONDS 0.5 /* a timing lasts at least this long */
#define CHUNK 16384u
#define CHECKED_SAMPLES 200000

/* Keeps results in use, so that the compiler computes them. */
static volatile double sink;

struct bench {
    void (*row)(void *context, const struct sotto_bench_row *row);
    void *context;
    double entropy_rate; /* bytes a second from the system */
};

/* Times a loop: while (watch_runs(&watch)) { ... } ends after SECONDS, and then
   `spent` is how long it took. */
struct watch {
    double start, spent;
};

static bool
watch_runs(struct watch *watch)
{
    double at = host_seconds();
    if (watch->start == 0) {
        watch->start = at;
    }
    watch->spent = at - watch->start;
    return watch->spent < SECONDS;
}

static void
emit(const struct bench *bench, const char *name, const char *setting,
     double rate, double ratio, const char *against)
{
    struct sotto_bench_row row = {.name = name,
                                  .setting = setting,
                                  .rate = rate,
                                  .microseconds = 1e6 / rate,
                                  .ratio = ratio,
                                  .against = against};
    bench->row(bench->context, &row);
}

/* ---- The limit: what the system gives ------------------------------------ */

static enum sotto_status
fill_chunk(uint8_t *chunk)
{
    size_t done = 0;
    while (done < CHUNK) {
        ssize_t got = getrandom(chunk + done, CHUNK - done, 0);
        if (got <= 0) {
            return SOTTO_STATUS_ENTROPY;
        }
        done += (size_t)got;
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
measure_entropy(struct bench *bench)
{
    uint8_t chunk[CHUNK];
    struct watch watch = {0, 0};
    size_t chunks = 0;
    while (watch_runs(&watch)) {
        if (fill_chunk(chunk) != SOTTO_STATUS_OK) {
            return SOTTO_STATUS_ENTROPY;
        }
        chunks++;
    }
    bench->entropy_rate = (double)chunks * CHUNK / watch.spent;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
bench_entropy(struct bench *bench, struct sotto_error *err)
{
    uint8_t bytes[64];
    struct watch watch = {0, 0};
    double rate;
    size_t calls = 0;
    (void)err;
    emit(bench, "entropy", "getrandom, bytes", bench->entropy_rate, 0, "");
    while (watch_runs(&watch)) {
        for (int i = 0; i < 1000; i++) {
            if (sotto_entropy(bytes, sizeof bytes) != 0) {
                return SOTTO_STATUS_ENTROPY;
            }
        }
        calls += 1000;
    }
    rate = (double)calls * sizeof bytes / watch.spent;
    emit(bench, "entropy", "sotto_entropy by 64 bytes", rate,
         rate / bench->entropy_rate, "getrandom");
    return SOTTO_STATUS_OK;
}

/* ---- Discrete Laplace ---------------------------------------------------- */

struct laplace_case {
    const char *setting;
    double scale;
    uint64_t eps; /* at l = 1: scale = 2/eps */
};

static const struct laplace_case laplace_cases[] = {
    {"scale 1", 1, 2 * DECIMAL_UNIT},
    {"scale 1e3", 1e3, 2 * DECIMAL_UNIT / 1000},
    {"scale 1e6", 1e6, 2 * DECIMAL_UNIT / 1000000},
};

/* Samples, with the tables made ready every DRAW_BATCH as a channel does. */
static double
sum_exact(const struct dlaplace *noise, struct random *random, size_t count,
          double *ret_squares)
{
    struct draw_tables tables;
    double sum = 0;
    *ret_squares = 0;
    for (size_t i = 0; i < count; i++) {
        double x;
        if (i % DRAW_BATCH == 0) {
            draw_tables(random, noise->threshold, noise->count, &tables);
        }
        x = (double)dlaplace_draw(noise, random, &tables);
        sum += x;
        *ret_squares += x * x;
    }
    return sum;
}

/* The textbook way, which is not private: ln of a 53-bit uniform. */
static double
sum_float(double scale, struct random *random, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = random_u56(random) >> 3;
        double u = ((double)(bits >> 1) + 0.5) * 0x1p-52 - 0.5;
        double size = -scale * log(1 - 2 * fabs(u));
        sum += u < 0 ? -size : size;
    }
    return sum;
}

/* Mean and variance within six standard errors. */
static bool
plausible(double sum, double squares, double scale, size_t count)
{
    double n = (double)count, r = exp(-1 / scale);
    double variance = 2 * r / ((1 - r) * (1 - r));
    double kurtosis = 6 + 1 / variance; /* at most; exact as scale grows */
    return fabs(sum / n) < 6 * sqrt(variance / n) &&
           fabs(squares / n - variance) < 6 * variance * sqrt(kurtosis / n);
}

static enum sotto_status
bench_laplace_case(struct bench *bench, const struct laplace_case *at,
                   struct sotto_error *err)
{
    static uint8_t buffer[CHUNK];
    struct entropy entropy;
    struct dlaplace noise;
    struct watch watch = {0, 0}, peer = {0, 0};
    double squares, sum, exact, bytes, floating;
    size_t count = 0;
    entropy_init(&entropy, buffer, sizeof buffer);
    dlaplace_init(&noise, 1, at->eps);
    sum = sum_exact(&noise, &entropy.random, CHECKED_SAMPLES, &squares);
    if (!plausible(sum, squares, at->scale, CHECKED_SAMPLES)) {
        return host_fail(err, SOTTO_STATUS_CHECK, 0,
                         "the sampler's moments are wrong at %s", at->setting);
    }
    while (watch_runs(&watch)) {
        (void)sum_exact(&noise, &entropy.random, 10000, &squares);
        count += 10000;
    }
    exact = (double)count / watch.spent;
    bytes = (double)dlaplace_draw_size(&noise) +
            (double)DRAW_TABLES_SIZE / DRAW_BATCH;
    emit(bench, "laplace exact", at->setting, exact,
         exact * bytes / bench->entropy_rate, "its entropy alone");
    count = 0;
    sum = 0;
    while (watch_runs(&peer)) {
        sum += sum_float(at->scale, &entropy.random, 10000);
        count += 10000;
    }
    floating = (double)count / peer.spent;
    sink = sum;
    emit(bench, "laplace floating point", at->setting, floating,
         floating / exact, "exact");
    return entropy.random.failed ? SOTTO_STATUS_ENTROPY : SOTTO_STATUS_OK;
}

static enum sotto_status
bench_laplace(struct bench *bench, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t count = sizeof laplace_cases / sizeof laplace_cases[0];
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        status = bench_laplace_case(bench, &laplace_cases[i], err);
    }
    return status;
}

/* ---- Subsets ------------------------------------------------------------- */

static enum sotto_status
time_subset(struct bench *bench, const struct channel_instance *instance,
            struct sotto_error *err)
{
    static uint8_t buffer[CHUNK];
    const struct channel *channel = instance->channel;
    struct entropy entropy;
    uint8_t wire[64];
    int32_t q = 123;
    struct watch watch = {0, 0};
    double rate;
    size_t count = 0;
    entropy_init(&entropy, buffer, sizeof buffer);
    for (int i = 0; i < 1000; i++) {
        channel->sample(instance, &q, &entropy.random, wire);
        if (!channel->valid(instance, wire)) {
            return host_fail(err, SOTTO_STATUS_CHECK, 0,
                             "the subset sampler made no subset");
        }
    }
    while (watch_runs(&watch)) {
        channel->sample(instance, &q, &entropy.random, wire);
        count++;
    }
    rate = (double)count / watch.spent;
    emit(bench, "subset", "k 500, eps 1", rate,
         rate * instance->entropy_size / bench->entropy_rate,
         "its entropy alone");
    return entropy.random.failed ? SOTTO_STATUS_ENTROPY : SOTTO_STATUS_OK;
}

static enum sotto_status
bench_subset(struct bench *bench, struct sotto_error *err)
{
    const struct channel *channel = channel_find(channel_exact, "subset", 6);
    struct channel_instance instance;
    void *own = malloc(channel->own_size);
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    status = channel_init(&instance, channel, 500, 0, 0, DECIMAL_UNIT, 0, own);
    status = HOST_THEN(status, time_subset(bench, &instance, err));
    free(own);
    return status;
}

/* ---- A whole record ------------------------------------------------------ */

/* Seconds it takes to read every weight once, copying them to a place that
   stays in the cache: the limit of one record's forward pass, which uses each
   weight for one multiplication. */
static double
time_weights(const struct sotto_mechanism *mechanism)
{
    static float place[1024];
    struct watch watch = {0, 0};
    size_t times = 0;
    while (watch_runs(&watch)) {
        times++;
        for (size_t i = 0; i < mechanism->shape.layers; i++) {
            const struct layer layer = decompose_layer(mechanism, i);
            size_t count = (size_t)layer_fan(&layer) * layer_biases(&layer);
            for (size_t j = 0; j + 1024 <= count; j += 1024) {
                memcpy(place, layer.weight + j, sizeof place);
                sink = (double)place[times % 1024];
            }
        }
    }
    return watch.spent / (double)times;
}

static enum sotto_status
time_privatise(struct bench *bench, struct sotto_mechanism *mechanism,
               struct sotto_error *err)
{
    struct sotto_client *client = sotto_mechanism_client(mechanism);
    uint8_t image[784], report[256];
    struct sotto_value value = {SOTTO_VALUE_BYTES, 0, image, sizeof image};
    size_t count = 0, size = sotto_client_report_size(client);
    struct watch watch = {0, 0};
    double limit = time_weights(mechanism);
    enum sotto_status status;
    for (size_t i = 0; i < sizeof image; i++) {
        image[i] = (uint8_t)(i * 37);
    }
    status = sotto_client_privatise(client, &value, 1, report, size);
    if (status == SOTTO_STATUS_OK && !stages_valid(mechanism, report, size)) {
        status = host_fail(err, SOTTO_STATUS_CHECK, 0,
                           "the report is not a valid one");
    }
    while (status == SOTTO_STATUS_OK && watch_runs(&watch)) {
        status = sotto_client_privatise(client, &value, 1, report, size);
        count++;
    }
    if (status == SOTTO_STATUS_OK) {
        emit(bench, "privatise", "784-400-150-50-8, laplace",
             (double)count / watch.spent, limit * (double)count / watch.spent,
             "reading its weights once");
    }
    return status;
}

static enum sotto_status
bench_privatise(struct bench *bench, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status = sample_encoder_new(&mechanism, err);
    status = HOST_THEN(status, time_privatise(bench, mechanism, err));
    sotto_mechanism_free(mechanism);
    return status;
}

static enum sotto_status
bench_forward(struct bench *bench, struct sotto_error *err)
{
    return bench_forward_run(SECONDS, bench->row, bench->context, err);
}

/* ---- Whether time tells ------------------------------------------------- */

static enum sotto_status
bench_timing(struct bench *bench, struct sotto_error *err)
{
    return timing_run(TIMING_RUNS, bench->row, bench->context, err);
}

/* ---- Learning ------------------------------------------------------------ */

static enum sotto_status
bench_fit(struct bench *bench, struct sotto_error *err)
{
    return bench_fit_run(&bench_fit_full, bench->row, bench->context, err);
}

static enum sotto_status
bench_task(struct bench *bench, struct sotto_error *err)
{
    return bench_task_run(&bench_task_full, bench->row, bench->context, err);
}

/* ---- Reading tables ------------------------------------------------------ */

static enum sotto_status
bench_reading(struct bench *bench, struct sotto_error *err)
{
    return bench_reading_run(&bench_reading_full, bench->row, bench->context,
                             err);
}

static enum sotto_status
bench_reading_pipe(struct bench *bench, struct sotto_error *err)
{
    return bench_reading_memory(BENCH_READING_MEMORY, BENCH_READING_STEP,
                                bench->row, bench->context, err);
}

/* ---- Collecting ---------------------------------------------------------- */

static enum sotto_status
bench_collector(struct bench *bench, struct sotto_error *err)
{
    return collector_bench_run(&collector_bench_full, bench->row,
                               bench->context, err);
}

static enum sotto_status
bench_collector_memory(struct bench *bench, struct sotto_error *err)
{
    return collector_memory_run(&collector_memory_full, bench->row,
                                bench->context, err);
}

static enum sotto_status
bench_analyst(struct bench *bench, struct sotto_error *err)
{
    return bench_analyst_run(BENCH_ANALYST_REPORTS, bench->row, bench->context,
                             err);
}

static enum sotto_status
bench_analyst_large(struct bench *bench, struct sotto_error *err)
{
    return bench_analyst_run(BENCH_ANALYST_LARGE, bench->row, bench->context,
                             err);
}

static enum sotto_status
bench_collector_postgres(struct bench *bench, struct sotto_error *err)
{
    return postgres_bench_run(&postgres_bench_full, bench->row, bench->context,
                              err);
}

#define GROWTH_STEP UINT64_C(5000000)
#define GROWTH_USUAL UINT64_C(10) /* million reports */

enum sotto_status
sotto_bench_growth(uint64_t millions,
                   void (*row)(void *context, const struct sotto_bench_row *),
                   void *context, struct sotto_error *err)
{
    if (millions == 0 || millions > 100000) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a store grows by 1 to 100000 million reports");
    }
    const struct collector_growth_size size = {GROWTH_STEP, millions * 1000000,
                                               1000, 64, NULL};
    return collector_growth_run(&size, row, context, err);
}

static enum sotto_status
bench_collector_growth(struct bench *bench, struct sotto_error *err)
{
    return sotto_bench_growth(GROWTH_USUAL, bench->row, bench->context, err);
}

/* ---- The list ------------------------------------------------------------ */

static const struct {
    const char *name, *about;
    enum sotto_status (*run)(struct bench *bench, struct sotto_error *err);
    bool long_one;                 /* runs only if it is named */
    const struct bench_step *step; /* of training: has a name and runs itself */
} benchmarks[] = {
    {"entropy", "what the system gives, and what sotto makes of it.",
     bench_entropy, false, NULL},
    {"laplace", "the exact sampler, beside the textbook's.", bench_laplace,
     false, NULL},
    {"subset", "a subset of 500 symbols.", bench_subset, false, NULL},
    {"privatise", "a record of 784 numbers, from its bytes to its report.",
     bench_privatise, false, NULL},
    {"forward", "an image through three convolutions.", bench_forward, false,
     NULL},
    {"timing",
     "a million reports of every channel, of one fixed record and of\n"
     "random ones in random order, compared by Welch's t-test: minutes.\n"
     "|t| of 4.5 or more means that time tells records apart: exit\n"
     "status 3. Two leaky controls must be seen first.",
     bench_timing, true, NULL},
    {NULL, NULL, NULL, true, &bench_step_vlm},
    {NULL, NULL, NULL, true, &bench_step_clm},
    {"fit",
     "learns from 13,500 reports as sotto fit does, beside PyTorch:\n"
     "minutes, on all cores.",
     bench_fit, true, NULL},
    {"task-linear",
     "the closed form of 100 linear outputs of 1,000 numbers, from 10,000\n"
     "records, beside NumPy: half a minute.",
     bench_task, true, NULL},
    {"reading",
     "megabytes of CSV a second on one thread and on two, beside wc -l,\n"
     "Python's csv module with float() on every number, and pandas: a\n"
     "minute.",
     bench_reading, true, NULL},
    {"reading-memory",
     "reads 10 GB of CSV from a pipe, and says after each how much memory\n"
     "was in use at most.",
     bench_reading_pipe, true, NULL},
    {"collector",
     "requests of 1, 10, 100 and 1,000 simulated reports over 64\n"
     "connections to a collector in this program, whose store is in a\n"
     "folder of its own in $TMPDIR or /var/tmp, removed afterwards:\n"
     "reports on disk a second, beside the store alone with as many\n"
     "reports a flush, in turns.",
     bench_collector, true, NULL},
    {"collector-memory",
     "sends it ten million reports, and says after each million how\n"
     "much memory it took at most meanwhile.",
     bench_collector_memory, true, NULL},
    {"analyst",
     "a store of a million simulated reports, made by the collector's own\n"
     "writer: decoded, exported as Parquet and CSV, and learnt from, by\n"
     "flip and by subset: reports a second, and the most memory so far.",
     bench_analyst, true, NULL},
    {"analyst-large", "the same of a hundred million: some 15 GB of disk.",
     bench_analyst_large, true, NULL},
    {"collector-postgres",
     "the same with its store on the PostgreSQL server that PGHOST,\n"
     "PGUSER and PGDATABASE name, beside COPY into a table with the same\n"
     "unique index, and two collectors on one store beside one.",
     bench_collector_postgres, true, NULL},
    {"collector-growth",
     "sends it ten million reports, or as many as --millions says, and\n"
     "says after each five million how many a second it took, in how\n"
     "many seconds it starts, the most memory it took meanwhile, but for\n"
     "the requests of the load, and bytes of its store a report.",
     bench_collector_growth, true, NULL},
};
#define BENCHMARKS (sizeof benchmarks / sizeof *benchmarks)

const char *
sotto_bench_at(size_t i, const char **ret_about)
{
    const struct bench_step *step = NULL;
    if (i >= BENCHMARKS) {
        return NULL;
    }
    step = benchmarks[i].step;
    *ret_about = step != NULL ? step->about : benchmarks[i].about;
    return step != NULL ? step->name : benchmarks[i].name;
}

/* Says which benchmarks there are. */
static enum sotto_status
fail_name(const char *name, struct sotto_error *err)
{
    char there[200] = "";
    size_t size = 0;
    const char *at, *about;
    for (size_t i = 0; (at = sotto_bench_at(i, &about)) != NULL; i++) {
        size += (size_t)snprintf(there + size, sizeof there - size, "%s%s",
                                 i > 0 ? ", " : "", at);
        size = size < sizeof there ? size : sizeof there - 1;
    }
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "there is no benchmark '%s': choose one of %s", name,
                     there);
}

enum sotto_status
sotto_bench_run(const char *name,
                void (*row)(void *context, const struct sotto_bench_row *),
                void *context, struct sotto_error *err)
{
    struct bench bench = {row, context, 0};
    enum sotto_status status = measure_entropy(&bench);
    bool found = false;
    for (size_t i = 0; i < BENCHMARKS && status == SOTTO_STATUS_OK; i++) {
        const struct bench_step *step = benchmarks[i].step;
        const char *about, *at = sotto_bench_at(i, &about);
        if (name == NULL ? benchmarks[i].long_one : strcmp(name, at) != 0) {
            continue;
        }
        found = true;
        status = step != NULL ? bench_step_run(step, &step->full, bench.row,
                                               bench.context, err)
                              : benchmarks[i].run(&bench, err);
    }
    if (status == SOTTO_STATUS_OK && !found) {
        return fail_name(name, err);
    }
    if (status == SOTTO_STATUS_ENTROPY) {
        return host_fail(err, status, 0, "the system gave no entropy");
    }
    return status;
}
